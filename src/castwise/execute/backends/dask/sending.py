"""Sends chunks of every dtype between the processes of a cluster.

Dask sends an array with the text of its dtype. NumPy cannot read the text of some dtypes, such as
float8_e5m2 ("<f1") or complex32 ("<W4"), and a worker that gets one requests it again forever.
Such arrays are sent with the dtype object instead, in a form that Dask reads.
"""

from __future__ import annotations

import functools
import pickle
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np


@functools.cache
def is_read_back(native: Any) -> bool:
    """Whether a process can read an array of a dtype that Dask sends."""
    try:
        return native.kind == "V" or bool(np.dtype(native.str) == native)
    except TypeError:
        return False


def rechunked(x: Any, chunks: Any) -> Any:
    """The array in other chunks, for any dtype. Dask's peer-to-peer method, used for many chunks,
    sends buffers, which NumPy cannot make of ml_dtypes' dtypes."""
    return x.rechunk(chunks, method=None if _has_buffers(x.dtype) else "tasks")


@functools.cache
def _has_buffers(native: Any) -> bool:
    try:
        memoryview(np.zeros(1, native))
    except ValueError:
        return False
    return True


def teach_dask() -> None:
    """Lets this process send arrays of every dtype, once it belongs to a cluster."""
    if "distributed" in sys.modules:
        _taught()


@functools.cache
def _taught() -> None:
    from distributed.protocol import dask_serialize
    from distributed.protocol.numpy import serialize_numpy_ndarray

    def serialized(array: Any, context: Any = None) -> tuple[dict[str, Any], list[Any]]:
        if is_read_back(array.dtype):
            return serialize_numpy_ndarray(array, context=context)  # type: ignore[no-any-return]
        bits = array.view(f"u{array.dtype.itemsize}")
        header, frames = serialize_numpy_ndarray(bits, context=context)
        return {**header, "dtype": (True, pickle.dumps(_Travelling(array.dtype)))}, frames

    dask_serialize.register(np.ndarray)(serialized)


@dataclass(frozen=True)
class _Travelling:
    """A dtype that imports this file where it arrives, so that Dask can send it on from there, even
    if that worker does nothing else for castwise."""

    native: Any

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return arrived, (self.native,)


def arrived(native: Any) -> Any:
    """The dtype of an array that another process sent."""
    return native


teach_dask()
