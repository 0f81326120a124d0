"""The hook for Dask arrays. Reading one computes nothing: dtype and shape are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from castwise.auditing.hook import Arrays, Callables, Calls, Hook, OwnRules, Read
from castwise.auditing.hooks.numpy import HOOK as NUMPY


def _read(array: Any) -> Read:
    """Reads an array; a size that depends on the data counts as 0."""
    return array.dtype, tuple([size if size == size else 0 for size in array.shape]), False, None


HOOK = Hook(
    framework="dask",
    rules=NUMPY.rules,
    related="numpy",
    arrays=Arrays(types="Array", read=_read, rebinds=True),
    callables=Callables(types="ufunc", operands=NUMPY.callables.operands),
    calls=Calls(
        casts="astype view",
        makes=f"{NUMPY.calls.makes} from_array from_delayed from_zarr from_npy_stack",
        keeps=f"{NUMPY.calls.keeps} compute persist rechunk visualize to_delayed store to_zarr "
        "map_blocks compute_chunk_sizes",
        like=NUMPY.calls.like,
    ),
    own_rules=OwnRules(
        computes="compute asarray array asanyarray ascontiguousarray",
        declares="map_blocks map_overlap apply_gufunc gufunc from_delayed blockwise reduction "
        "apply_along_axis apply_over_axes from_map",
    ),
    spelling=replace(NUMPY.spelling, names="dask.array", alias="da", takes_dtype="", functions={}),
)  # fmt: skip
