"""Puts this folder on the path: the folders in it share recorded operands and values. And a fixture
that lets small arrays use kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from castwise.arrays import apply, fusing


def _forget() -> None:
    """Drops what is prepared: it knows from which size on kernels are used."""
    apply._known.clear()
    apply.forget_all()


@pytest.fixture
def kernels_from(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Sets the size from which kernels are used; they are compiled at once."""

    def from_size(size: int) -> None:
        monkeypatch.setitem(fusing.COSTS, "cpu", fusing.Costs(size, 0))
        _forget()

    yield from_size
    _forget()
