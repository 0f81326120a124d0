"""Dask: lazy arrays in chunks, which NumPy computes in this process or on workers."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import array_api_compat.dask.array as standard
import dask.array as da
import numpy as np

from castwise.arrays.backend import Backend, Region, lacking
from castwise.arrays.backends import dask_chunks as chunks
from castwise.arrays.backends import dask_reductions as trees
from castwise.arrays.backends.numpy import NUMPY, dtype_of
from castwise.arrays.functions import LIKE, Function
from castwise.arrays.steps import Steps
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Scalar
from castwise.vocab.ops import LAYERS, known_op


def backend() -> Backend:
    """The Dask backend."""
    return Dask()


# Regions of a program as one layer: each task runs the whole region on one chunk of each array.

_TOKEN = "region"


@dataclass(frozen=True)
class RegionOfChunks:
    """A region on one chunk of each array: its result, or a tuple of its results."""

    region: Region

    def __call__(self, *parts: Any) -> Any:
        found = self.region.compute(NUMPY, [chunks.as_chunk(part) for part in parts])
        return found[0] if len(found) == 1 else tuple(found)

    def __dask_tokenize__(self) -> Any:
        return _TOKEN, self.region.text


def computed(region: Region, backend: Backend, arrays: Sequence[Any]) -> Sequence[Any]:
    """The results of a region. Arrays whose chunks differ are rechunked, as often as the nodes
    require, so they are computed node by node."""
    if not _are_chunked_alike(arrays):
        return region.compute(backend, arrays)
    indices, dtypes = chunks.broadcast_indices(*arrays), region.dtypes
    operands = [chunks.aligned(array) for array in arrays]
    whole = chunks.blocks(RegionOfChunks(region), indices, operands, dtypes[0], token=_TOKEN)
    if len(dtypes) == 1:
        return [whole]
    return [
        chunks.blocks(operator.itemgetter(n), indices, [(whole, indices)], dtype, token="picked")
        for n, dtype in enumerate(dtypes)
    ]


def _are_chunked_alike(arrays: Sequence[Any]) -> bool:
    """Whether all arrays have the same chunks along each dimension, if they are not broadcast
    along it."""
    found: dict[int, Any] = {}
    for array in arrays:
        operand, indices = chunks.aligned(array)
        for n, index in enumerate(indices or ()):
            sizes = operand.chunks[n]
            if sizes != (1,) and found.setdefault(index, sizes) != sizes:
                return False
    return any(isinstance(array, da.Array) for array in arrays)


# The backend: its arrays, and which file computes an op.
#
# castwise decides every dtype on the client and passes it to Dask, so no function has to be tried
# on empty arrays. Workers get plain data, so they need no dialect and no context.

# Ops that chunks cannot compute separately; all other elementwise ops can.
_SPECIAL: dict[str, Function] = {
    **dict.fromkeys(trees.FOLDS, trees.folded),
    **dict.fromkeys(trees.MOMENTS, trees.moment),
    **dict.fromkeys(trees.LOSSES, trees.loss),
    **dict.fromkeys(("argmax", "argmin"), trees.place),
    **dict.fromkeys(("softmax", "log_softmax"), chunks.softmax),
    **dict.fromkeys(("cumsum", "cumprod"), trees.running),
    **dict.fromkeys(chunks.JOINING, chunks.joined),
    **dict.fromkeys(("median", "lower_median"), chunks.median),
    "allclose": trees.allclose, "isin": chunks.isin, "logsumexp": trees.logsumexp,
    "matmul": trees.matmul, "dot": trees.dot, "tensordot": trees.tensordot, "outer": trees.outer,
    "inner": trees.inner, "vecdot": trees.vecdot, "cross": trees.cross, "kron": trees.kron,
}  # fmt: skip
_INDEX = dtype("int64")


class Dask:
    """Dask, with chunks of NumPy arrays."""

    name = "dask"
    speaks = "numpy"
    namespace = standard

    @property
    def dtypes(self) -> Collection[DType]:
        """NumPy's dtypes, because NumPy computes the chunks."""
        return NUMPY.dtypes

    def owns(self, thing: Any) -> bool:
        return isinstance(thing, da.Array)

    def is_concrete(self, array: Any) -> bool:
        """Never true: reading a value would compute it."""
        return False

    def dtype_of(self, array: Any) -> DType:
        """The dtype of an array, as Dask was given it."""
        return dtype_of(array.dtype)

    def native(self, dtype: DType) -> Any:
        """The NumPy dtype of the chunks."""
        if dtype not in self.dtypes:
            raise lacking(dtype, self.name)
        return NUMPY.native(dtype)

    def make(self, data: Any, dtype: DType | None, *, copy: bool | None, device: Any) -> Any:
        """An array of numbers, nested lists or an array; in one chunk unless it is large.

        Raises UsageError for a Dask array whose chunks are not NumPy's.
        """
        if dtype is not None:
            self.native(dtype)  # raises the error for a dtype that NumPy lacks
        if self.owns(data):
            if type(data._meta) is not np.ndarray:
                raise UsageError(
                    f"this Dask array has {type(data._meta).__name__} chunks: castwise only "
                    "computes chunks of NumPy arrays."
                )
            wanted = dtype or self.dtype_of(data)
            return self.cast(data, wanted)  # chunks are never written to, so no copy is needed
        if copy is False:
            raise ValueError("a Dask array can only be made from other data by a copy.")
        return chunks.named_array(NUMPY.make(data, dtype, copy=True, device=device))

    def cast(self, array: Any, dtype: DType) -> Any:
        self.native(dtype)
        return array if self.dtype_of(array) is dtype else chunks.cast_chunks(array, dtype)

    def number(self, value: Scalar, dtype: DType) -> Any:
        self.native(dtype)
        return NUMPY.number(value, dtype)

    def whole(self, steps: Steps) -> Function | None:
        """One task per chunk: the casts, the op, the result's cast."""
        special = _SPECIAL.get(steps.op)
        if not steps.is_elementwise and (special is None or steps.composed):
            return None  # each step of a loss runs on all chunks
        return functools.partial(special or chunks.elementwise, steps)

    def takes(self, op: str, compute: DType | None, dtypes: Sequence[DType]) -> bool:
        """Whether chunks compute an op separately. Powers run alone: their rules look at the shape
        of the whole exponent."""
        return op not in _SPECIAL and op != "pow"

    def whole_region(self, region: Region) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """The region as one layer."""
        return functools.partial(computed, region, self)

    def function(self, op: str, dtype: DType) -> Function | None:
        """The function for an op on arrays that already have this dtype."""
        row = known_op(LIKE.get(op, op))
        if row is None or "." in op:
            return _cholesky if op == "linalg.cholesky" else self._solution(op, dtype)
        if op in LAYERS:
            return None
        return chunks.op_function(self.whole, op, dtype, _natural_result(row.result, dtype))

    def _solution(self, op: str, dtype: DType) -> Function | None:
        """An inverse or a solution, which Dask computes in float64."""
        if op not in ("linalg.inv", "linalg.solve"):
            return None
        function = getattr(da.linalg, op.partition(".")[2])
        return lambda *matrices: self.cast(function(*matrices), dtype)

    def read(self, array: Any, key: Any) -> Any:
        return chunks.read(array, key)

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """A new array with the values; Dask arrays that share chunks with this one do not
        change."""
        return chunks.write_at(array, key, values)

    def to_numpy(self, array: Any) -> Any:
        return np.asarray(chunks.sendable(array).compute())


def _cholesky(array: Any, *, upper: bool = False) -> Any:
    """The factor that the standard defines; array-api-compat mistakes Dask's upper one for the
    lower."""
    return da.linalg.cholesky(array, lower=not upper)


def _natural_result(rule: str, compute: DType) -> DType:
    """The result dtype of an op if no dialect changes it."""
    if rule == "real":
        return compute.part
    if rule in ("same", "first"):
        return compute
    return _INDEX if rule == "index" else dtype(rule)
