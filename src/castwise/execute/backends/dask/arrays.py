"""The backend: what it holds, and which file computes an op.

castwise decides every dtype on the client and tells Dask; no function is tried on empty arrays to
find out. What reaches a worker is plain data, so workers need no dialect and no context.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

import array_api_compat.dask.array as standard
import dask.array as da
import numpy as np

from castwise.errors import UsageError
from castwise.execute.backend import Backend, backend_named, lacking
from castwise.execute.backends.dask import arguments, cumulative, indexing, products, reductions
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
from castwise.execute.steps.steps import Steps
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.live import to_dtype
from castwise.vocab.operands import Scalar
from castwise.vocab.ops import known_op

# What no chunk computes on its own; every other op of one shape in, one shape out, does.
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
        """Those of NumPy, which computes the chunks."""
        return _numpy().dtypes

    def owns(self, thing: Any) -> bool:
        """Whether something is a Dask array."""
        return isinstance(thing, da.Array)

    def is_concrete(self, array: Any) -> bool:
        """They never are: a look at a value would compute it."""
        return False

    def dtype_of(self, array: Any) -> DType:
        """The dtype of an array, which Dask was told."""
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
            self.native(dtype)  # which has the error for a dtype there is not
        if self.owns(data):
            if type(data._meta) is not np.ndarray:
                raise UsageError(
                    f"the chunks of this Dask array are of {type(data._meta).__name__}: castwise "
                    "computes chunks of NumPy arrays."
                )
            wanted = dtype or self.dtype_of(data)
            return self.cast(data, wanted)  # chunks are never written to: no need for copies
        if copy is False:
            raise ValueError("a Dask array of other data is a copy of it.")
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
        """One task a chunk: the casts, the op, the result's cast."""
        special = _SPECIAL.get(steps.op)
        if not steps.is_elementwise and (special is None or steps.composed):
            return None  # the steps of a loss are each on all chunks
        return functools.partial(special or elementwise, steps)

    def function(self, op: str, dtype: DType) -> Callable[..., Any] | None:
        """What computes an op of castwise on arrays that have this dtype already."""
        row = known_op(LIKE.get(op, op))
        if row is None or "." in op:
            return _cholesky if op == "linalg.cholesky" else None
        return function_of(self.whole, op, dtype, _natural_result(row.result, dtype))

    def read(self, array: Any, key: Any) -> Any:
        """The elements at an index."""
        return indexing.read(array, key)

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """A new array with the values; Dask arrays that share chunks with this one stay."""
        return indexing.write_at(array, key, values)

    def to_numpy(self, array: Any) -> Any:
        """The values, computed."""
        return np.asarray(sendable(array).compute())


def _cholesky(array: Any, *, upper: bool = False) -> Any:
    """The factor the standard asks for; array-api-compat takes Dask's upper one for the lower."""
    return da.linalg.cholesky(array, lower=not upper)


@functools.cache
def _numpy() -> Backend:
    return backend_named("numpy")


@functools.cache
def _dtype_of(native: Any) -> DType:
    return to_dtype(native)


def _natural_result(rule: str, compute: DType) -> DType:
    """The dtype an op has of itself, where no dialect says otherwise."""
    if rule == "real":
        return compute.part
    if rule in ("same", "first"):
        return compute
    return _INDEX if rule == "index" else dtype(rule)
