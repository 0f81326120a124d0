"""Live Dask arrays are recognised and not computed."""

from __future__ import annotations

from typing import Any

import pytest
from expecting import expect

from castwise.vocab.notation import describe

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


def test_dask_arrays_are_described_without_computing() -> None:
    def explode(*_: Any, **__: Any) -> Any:
        raise AssertionError("dask computed something")

    lazy = da.ones((4, 3), chunks=2, dtype="float32")
    with dask.config.set(scheduler=explode):
        expect(describe(lazy), "float32[4,3]")
        expect(describe(lazy.sum()), "float32[]")
        expect(describe(lazy[lazy[:, 0] > 0]), "float32[d0,3]")  # a size dask does not know
