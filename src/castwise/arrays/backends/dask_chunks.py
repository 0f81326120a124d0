"""Ops that compute each chunk separately, in one task that casts and computes."""

from __future__ import annotations

import functools
import math
import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize

from castwise.arrays.backends.numpy import NUMPY
from castwise.arrays.steps import Steps
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType
from castwise.vocab.live import to_dtype

# Sends chunks of every dtype between the processes of a cluster.
#
# Dask sends an array with the text of its dtype. NumPy cannot read the text of some dtypes, such as
# float8_e5m2 ("<f1") or complex32 ("<W4"), and a worker that gets one requests it again forever.
# Such arrays are sent with the dtype object instead, in a form that Dask reads.


@functools.cache
def _is_read_back(native: Any) -> bool:
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


def _teach_dask() -> None:
    """Lets this process send arrays of every dtype, once it belongs to a cluster."""
    if "distributed" in sys.modules:
        _taught()


@functools.cache
def _taught() -> None:
    from distributed.protocol import dask_serialize
    from distributed.protocol.numpy import serialize_numpy_ndarray

    def serialized(array: Any, context: Any = None) -> tuple[dict[str, Any], list[Any]]:
        if _is_read_back(array.dtype):
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


_teach_dask()

Indices = tuple[int, ...]
JOINING = ("concat", "stack")


@dataclass(frozen=True)
class Kernel:
    """All the steps of an op on one chunk of each operand."""

    steps: Steps
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, *chunks: Any) -> Any:
        steps = self.steps
        given = [as_chunk(chunk) for chunk in chunks]
        entered = steps.enter(given, NUMPY)
        function = steps.function(NUMPY)
        target = self._reusable(given, entered) if isinstance(function, np.ufunc) else None
        options = self.options if target is None else {**self.options, "out": target}
        return steps.as_result(steps.quieted(function, NUMPY)(*entered, **options), NUMPY)

    def _reusable(self, given: list[Any], entered: list[Any]) -> Any:
        """A cast operand that the result may overwrite, which halves the memory and is faster."""
        if self.steps.compute is not self.steps.result:
            return None
        native = NUMPY.native(self.steps.result)
        shape = np.broadcast_shapes(*[np.shape(array) for array in entered])
        for before, array in zip(given, entered, strict=True):
            is_new = array is not before and isinstance(array, np.ndarray) and array.flags.owndata
            if is_new and array.shape == shape and array.dtype == native:
                return array
        return None

    def __dask_tokenize__(self) -> Any:
        return as_text(self.steps), tokenize(self.options)


@dataclass(frozen=True)
class CastChunk:
    """A cast of one chunk."""

    dtype: DType

    def __call__(self, chunk: Any) -> Any:
        return NUMPY.cast(as_chunk(chunk), self.dtype)

    def __dask_tokenize__(self) -> Any:
        return "cast", self.dtype.name


def as_text(steps: Steps) -> tuple[Any, ...]:
    """The steps as text, for Dask's names: Dask itself treats all one-byte dtypes as the same."""
    entries = [entry and tuple(map(str, entry)) for entry in steps.entries]
    return steps.op, steps.compute.name, steps.result.name, entries, repr(steps.values)


def as_chunk(chunk: Any) -> Any:
    """A chunk as an array: a 0-d one may come as a NumPy scalar."""
    return np.asarray(chunk) if isinstance(chunk, np.generic) else chunk


def empty(dtype: DType, ndim: int) -> Any:
    """The empty array by which Dask knows the type, dtype and number of dimensions."""
    return np.zeros((0,) * ndim, NUMPY.native(dtype))


def named_array(array: Any) -> Any:
    """A NumPy array as a Dask array, with a name that contains its dtype."""
    return da.from_array(array, name=f"array-{tokenize(array, array.dtype.name)}")


def blocks(
    function: Callable[..., Any], indices: Indices, operands: Sequence[tuple[Any, Indices | None]],
    dtype: DType, **options: Any,
) -> Any:  # fmt: skip
    """One task per chunk, of a given dtype."""
    _teach_dask()  # the process may have joined a cluster since
    meta = empty(dtype, len(indices))
    pairs = [part for operand in operands for part in operand]
    return da.blockwise(function, indices, *pairs, dtype=meta.dtype, meta=meta, **options)


def aligned(operand: Any) -> tuple[Any, Indices | None]:
    """An operand and the indices of its dimensions, counted from the last; None for a number."""
    if not isinstance(operand, da.Array):
        return operand, None
    return operand, tuple(range(operand.ndim))[::-1]


def broadcast_indices(*operands: Any) -> Indices:
    """The indices of a result, counted from the last dimension.

    Raises ValueError if known shapes do not broadcast.
    """
    shapes = [operand.shape for operand in operands if isinstance(operand, da.Array)]
    if not any(math.isnan(size) for shape in shapes for size in shape):
        np.broadcast_shapes(*shapes)
    return tuple(range(max(getattr(operand, "ndim", 0) for operand in operands)))[::-1]


def elementwise(steps: Steps, *operands: Any, **options: Any) -> Any:
    """An op whose chunks are independent of each other."""
    indices, given = broadcast_indices(*operands), [aligned(operand) for operand in operands]
    return blocks(Kernel(steps, options), indices, given, steps.result, token=steps.op)


def cast_chunks(array: Any, dtype: DType) -> Any:
    """The array in another dtype."""
    indices = broadcast_indices(array)
    return blocks(CastChunk(dtype), indices, [(array, indices)], dtype, token="cast")


def sendable(array: Any) -> Any:
    """The array with chunks that any worker can send. The last task of each chunk is castwise's,
    because after Dask's own a worker would not know the dtype."""
    return array if _is_read_back(array.dtype) else cast_chunks(array, to_dtype(array.dtype))


def softmax(steps: Steps, x: Any, *, axis: int = -1) -> Any:
    """An op that needs all elements along an axis at once: they become one chunk."""
    return elementwise(steps, in_one_chunk(x, axis), axis=axis)


def median(steps: Steps, x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The median along an axis, or of all elements; they become one chunk."""
    flat, place = (x.ravel(), 0) if axis is None else (x, axis % x.ndim)
    whole = in_one_chunk(flat, place)
    indices = tuple(range(whole.ndim))
    kernel = Kernel(steps, {"axis": place, "keepdims": True})
    found = blocks(
        kernel, indices, [(whole, indices)], steps.result, adjust_chunks={place: 1}, token=steps.op
    )
    if axis is None:
        return found.reshape((1,) * x.ndim if keepdims else ())
    return found if keepdims else found[(slice(None),) * place + (0,)]


def in_one_chunk(x: Any, axis: int) -> Any:
    """The array with one chunk along an axis, and split along the others to keep chunks small."""
    place = axis % x.ndim if x.ndim else None
    if place is None or x.numblocks[place] == 1:
        return x
    return rechunked(x, {n: -1 if n == place else "auto" for n in range(x.ndim)})


def joined(steps: Steps, *operands: Any, axis: int | None = 0) -> Any:
    """The operands concatenated; chunks are only cast."""
    join = da.concatenate if steps.op == "concat" else da.stack
    arrays = [
        cast_chunks(operand, entry.dtype) if entry else operand
        for operand, entry in zip(operands, steps.entries, strict=True)
    ]
    found = join(arrays, axis=axis)
    is_right = found.dtype == NUMPY.native(steps.result)
    return found if is_right else cast_chunks(found, steps.result)


def isin(steps: Steps, x: Any, y: Any, *, invert: bool = False) -> Any:
    """Whether each element of x is in y, which may have any shape."""
    return da.isin(x, y, invert=invert)


def op_function(
    whole: Callable[[Steps], Callable[..., Any] | None], op: str, compute: DType, result: DType
) -> Callable[..., Any]:
    """A function that runs an op on any number of arrays of its compute dtype."""
    is_joining = op in JOINING

    def computed(*operands: Any, **options: Any) -> Any:
        arrays = tuple(operands[0]) if is_joining else operands
        steps = Steps(op, compute, result, (None,) * len(arrays), True, is_joining)
        run = whole(steps)
        assert run is not None  # an elementwise op always has one
        return run(*arrays, **options)

    return computed


# Indices that Dask lacks: 0-d masks, and new axes in assignments.


def read(array: Any, key: Any) -> Any:
    """The elements at an index."""
    mask = _zero_d_mask(key)
    if mask is None:
        return array[key]
    whole = array[None]  # the mask selects all of it or nothing
    return whole[mask.reshape((1,))] if isinstance(mask, da.Array) else whole[: int(mask)]


def write_at(array: Any, key: Any, values: Any) -> Any:
    """A new array with values of its dtype at an index."""
    mask = _zero_d_mask(key)
    if isinstance(mask, da.Array):
        return da.where(mask, _filling(values, array.shape), array)
    if mask is not None:
        return write_at(array, None, values) if mask else array
    if key is Ellipsis and isinstance(values, da.Array) and values.shape == array.shape:
        return values
    parts = key if isinstance(key, tuple) else (key,)
    if any(part is None for part in parts):
        values = _without_axes(values, _new_axes(parts, array.ndim), array[key].ndim)
        key = tuple([part for part in parts if part is not None])
    new = array.copy()
    new[key] = values
    return new


def _zero_d_mask(key: Any) -> Any:
    """The key if it is a 0-d mask, which Dask would treat as the index 1 or 0.

    Raises UsageError if there are other indices.
    """
    parts = key if isinstance(key, tuple) else (key,)
    for part in parts:
        if isinstance(part, bool) or (_is_mask(part) and part.ndim == 0):
            if len(parts) > 1:
                raise UsageError(
                    "on Dask a 0-d mask must be the only index: apply it first, x[mask][:, ...]."
                )
            return part
    return None


def _is_mask(part: Any) -> bool:
    return isinstance(part, (da.Array, np.ndarray, np.generic)) and part.dtype == np.bool_


def _filling(values: Any, shape: tuple[int, ...]) -> Any:
    """Values for all elements of a shape; they may have extra dimensions of length 1."""
    fitted = _without_axes(values, range(np.ndim(values) - len(shape)), np.ndim(values))
    if np.broadcast_shapes(np.shape(fitted), shape) != shape:
        raise ValueError(f"values of shape {np.shape(values)} do not fit shape {shape}.")
    return fitted


def _new_axes(parts: tuple[Any, ...], ndim: int) -> list[int]:
    """The positions of an index's new axes in its result."""
    consumed = sum(_consumes(part) for part in parts)
    axes, place = [], 0
    for part in parts:
        if part is None:
            axes.append(place)
            place += 1
        elif part is Ellipsis:
            place += ndim - consumed
        else:
            place += 1 if isinstance(part, slice) or _is_mask(part) else np.ndim(part)
    return axes


def _consumes(part: Any) -> int:
    """How many dimensions of an array a part of an index applies to."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if _is_mask(part) else 1


def _without_axes(values: Any, axes: Any, ndim: int) -> Any:
    """Values that broadcast to `ndim` dimensions, without some of these axes.

    Raises ValueError if they have several elements along one of them.
    """
    missing = ndim - np.ndim(values)
    return np.squeeze(values, tuple([axis - missing for axis in axes if axis >= missing]))
