"""Live Dask arrays are recognised and not computed."""

from __future__ import annotations

from typing import Any

import pytest

from castwise.vocab.live import describe
from castwise.vocab.notation import parse_operand
from castwise.vocab.operands import Operand

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


def expect(operand: Operand, text: str) -> None:
    """The operand is the one of a piece of notation, its value aside where the text shows none."""
    wanted = parse_operand(text)
    facts = [(o.dtype, o.role, o.shape, o.is_weak) for o in (operand, wanted)]
    assert facts[0] == facts[1]
    if wanted.value is not None:
        assert (type(operand.value), operand.value) == (type(wanted.value), wanted.value)


def test_dask_arrays_are_described_without_computing() -> None:
    def explode(*_: Any, **__: Any) -> Any:
        raise AssertionError("dask computed something")

    lazy = da.ones((4, 3), chunks=2, dtype="float32")
    with dask.config.set(scheduler=explode):
        expect(describe(lazy), "float32[4,3]")
        expect(describe(lazy.sum()), "float32[]")
        expect(describe(lazy[lazy[:, 0] > 0]), "float32[d0,3]")  # a size dask does not know
