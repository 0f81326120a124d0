"""The backend: its arrays, and which file computes an op.

castwise decides every dtype on the client and passes it to Dask, so no function has to be tried on
empty arrays. Workers get plain data, so they need no dialect and no context.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import array_api_compat.dask.array as standard
import dask.array as da
import numpy as np

from castwise.errors import UsageError
from castwise.execute.backend import Backend, backend_named, lacking
from castwise.execute.backends.dask import (
    arguments,
    cumulative,
    indexing,
    products,
    reductions,
    regions,
)
from castwise.execute.backends.dask.chunks import (
    JOINING,
    cast_chunks,
    elementwise,
    function_of,
    isin,
    joined,
    median,
    named_array,
    sendable,
    softmax,
)
from castwise.execute.functions.alike import LIKE
from castwise.execute.regions import Region
from castwise.execute.steps.steps import Steps
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.live import to_dtype
from castwise.vocab.operands import Scalar
from castwise.vocab.ops import LAYERS, known_op

# Ops that chunks cannot compute separately; all other elementwise ops can.
_SPECIAL: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(reductions.FOLDS, reductions.folded),
    **dict.fromkeys(reductions.MOMENTS, reductions.moment),
    **dict.fromkeys(reductions.LOSSES, reductions.loss),
    **dict.fromkeys(("argmax", "argmin"), arguments.place),
    **dict.fromkeys(("softmax", "log_softmax"), softmax),
    **dict.fromkeys(("cumsum", "cumprod"), cumulative.running),
    **dict.fromkeys(JOINING, joined),
    "allclose": reductions.allclose,
    "isin": isin,
    "logsumexp": reductions.logsumexp,
    "matmul": products.matmul,
    "median": median,
    "lower_median": median,
    "dot": products.dot,
    "tensordot": products.tensordot,
    "outer": products.outer,
    "inner": products.inner,
    "vecdot": products.vecdot,
    "cross": products.cross,
    "kron": products.kron,
}
_INDEX = dtype("int64")


class Dask:
    """Dask, with chunks of NumPy arrays."""

    name = "dask"
    speaks = "numpy"
    namespace = standard

    @property
    def dtypes(self) -> Collection[DType]:
        """NumPy's dtypes, because NumPy computes the chunks."""
        return _numpy().dtypes

    def owns(self, thing: Any) -> bool:
        """Whether something is a Dask array."""
        return isinstance(thing, da.Array)

    def is_concrete(self, array: Any) -> bool:
        """Never true: reading a value would compute it."""
        return False

    def dtype_of(self, array: Any) -> DType:
        """The dtype of an array, as Dask was given it."""
        return _dtype_of(array.dtype)

    def native(self, dtype: DType) -> Any:
        """The NumPy dtype of the chunks."""
        if dtype not in self.dtypes:
            raise lacking(dtype, self)
        return _numpy().native(dtype)

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
        return named_array(_numpy().make(data, dtype, copy=True, device=device))

    def cast(self, array: Any, dtype: DType) -> Any:
        """The array in another dtype."""
        self.native(dtype)
        return array if self.dtype_of(array) is dtype else cast_chunks(array, dtype)

    def number(self, value: Scalar, dtype: DType) -> Any:
        """A NumPy scalar; integers out of range wrap."""
        self.native(dtype)
        return _numpy().number(value, dtype)

    def whole(self, steps: Steps) -> Callable[..., Any] | None:
        """One task per chunk: the casts, the op, the result's cast."""
        special = _SPECIAL.get(steps.op)
        if not steps.is_elementwise and (special is None or steps.composed):
            return None  # each step of a loss runs on all chunks
        return functools.partial(special or elementwise, steps)

    def takes(self, op: str, compute: DType | None, dtypes: Sequence[DType]) -> bool:
        """Whether chunks compute an op separately. Powers run alone: their rules look at the shape
        of the whole exponent."""
        return op not in _SPECIAL and op != "pow"

    def whole_region(self, region: Region) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """The region as one layer."""
        return functools.partial(regions.computed, region, self)

    def function(self, op: str, dtype: DType) -> Callable[..., Any] | None:
        """The function for an op on arrays that already have this dtype."""
        row = known_op(LIKE.get(op, op))
        if row is None or "." in op:
            return _cholesky if op == "linalg.cholesky" else None
        if op in LAYERS:
            return None
        return function_of(self.whole, op, dtype, _natural_result(row.result, dtype))

    def read(self, array: Any, key: Any) -> Any:
        """The elements at an index."""
        return indexing.read(array, key)

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """A new array with the values; Dask arrays that share chunks with this one do not
        change."""
        return indexing.write_at(array, key, values)

    def to_numpy(self, array: Any) -> Any:
        """The values, computed."""
        return np.asarray(sendable(array).compute())


def _cholesky(array: Any, *, upper: bool = False) -> Any:
    """The factor that the standard defines; array-api-compat mistakes Dask's upper one for the
    lower."""
    return da.linalg.cholesky(array, lower=not upper)


@functools.cache
def _numpy() -> Backend:
    return backend_named("numpy")


@functools.cache
def _dtype_of(native: Any) -> DType:
    return to_dtype(native)


def _natural_result(rule: str, compute: DType) -> DType:
    """The result dtype of an op if no dialect changes it."""
    if rule == "real":
        return compute.part
    if rule in ("same", "first"):
        return compute
    return _INDEX if rule == "index" else dtype(rule)
