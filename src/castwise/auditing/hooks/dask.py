"""The hook for Dask arrays. Reading one computes nothing: dtype and shape are known."""

from __future__ import annotations

from typing import Any

from castwise.auditing.hook import Hook, Read
from castwise.auditing.hooks.numpy import HOOK as NUMPY


def _read(array: Any) -> Read:
    """Reads an array; a size that depends on the data counts as 0."""
    return array.dtype, tuple([size if size == size else 0 for size in array.shape]), False, None


HOOK = Hook(
    framework="dask",
    dialect=NUMPY.dialect,
    arrays="Array",
    read=_read,
    callables="ufunc",
    related="numpy",
    rebinds=True,
    casts="astype view",
    makes=f"{NUMPY.makes} from_array from_delayed from_zarr from_npy_stack",
    keeps=f"{NUMPY.keeps} compute persist rechunk visualize to_delayed store to_zarr map_blocks "
    "compute_chunk_sizes",
    computes="compute asarray array asanyarray ascontiguousarray",
    declares="map_blocks map_overlap apply_gufunc gufunc from_delayed blockwise reduction "
    "apply_along_axis apply_over_axes from_map",
    like=NUMPY.like,
    operands=NUMPY.operands,
    names="dask.array",
    alias="da",
    makes_without_dtype=NUMPY.makes_without_dtype,
    dtypes=NUMPY.dtypes,
    dtype_places=NUMPY.dtype_places,
    takes_dtype_first="astype",
)  # fmt: skip
