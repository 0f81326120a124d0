"""JAX, eager and traced: arrays and tracers are treated the same."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from castwise.errors import UsageError
from castwise.execute.backend import backend_named, lacking
from castwise.execute.backends import DEFAULT
from castwise.execute.backends.jax import regions
from castwise.execute.backends.jax.functions import function_of
from castwise.execute.regions import Region
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.dtypes import dtype as dtype_named
from castwise.vocab.live import to_dtype
from castwise.vocab.operands import Scalar

# JAX has these dtypes, but XLA cannot compute in them.
_NAMES_ONLY = frozenset({"int1", "uint1", "float6_e2m3fn", "float6_e3m2fn"})
_BYTE = 8  # on GPUs XLA loses elements in casts between two smaller dtypes
_WITH_X64 = frozenset(map(dtype_named, ("int64", "uint64", "float64", "complex128")))
_TAKE_MASKS = frozenset({"sum", "prod", "mean", "std", "var", "any", "all", "max", "min"})
_HINT = "JAX has it with x64 on: jax.config.update('jax_enable_x64', True) at the start."


class JAX:
    """The backend of JAX."""

    name = "jax"
    speaks = "jax"
    differentiates_with = "jax.grad"
    namespace = jnp

    def __init__(self) -> None:
        names = [d for d in DTYPES if hasattr(jnp, d.name) and d.name not in _NAMES_ONLY]
        self._native = {d: np.dtype(getattr(jnp, d.name)) for d in names}
        self._all = frozenset(self._native)
        self._narrow = self._all - _WITH_X64

    @property
    def dtypes(self) -> Collection[DType]:
        """All dtypes, or those of at most 32 bits per number if x64 is off."""
        return self._all if _has_x64() else self._narrow

    def owns(self, thing: Any) -> bool:
        """Whether something is an array or a tracer of JAX."""
        return isinstance(thing, jax.Array)

    def is_concrete(self, array: Any) -> bool:
        """Whether it is an array that was not donated, rather than a tracer."""
        if not isinstance(array, jax.Array) or isinstance(array, jax.core.Tracer):
            return False
        return array.is_fully_addressable and not array.is_deleted()

    def dtype_of(self, array: Any) -> DType:
        """The dtype of an array."""
        return _dtype_of(array.dtype)

    def native(self, dtype: DType) -> Any:
        """The NumPy dtype that JAX knows it by."""
        if dtype not in self.dtypes:
            raise lacking(dtype, self, _HINT if dtype in _WITH_X64 else "")
        return self._native[dtype]

    def make(self, data: Any, dtype: DType | None, *, copy: bool | None, device: Any) -> Any:
        """An array that is never weak: the tensor's kind says whether the tensor is."""
        if dtype is not None:
            self.native(dtype)  # raises before NumPy would
        if not self.owns(data):
            data = self._from_host(data, dtype)
        made = self.cast(data, dtype or self.dtype_of(data))
        return jnp.asarray(made, copy=copy, device=device)

    def _from_host(self, data: Any, dtype: DType | None) -> Any:
        """Numbers, lists or a NumPy array as a JAX array, in a dtype that JAX has."""
        if isinstance(data, jax.ShapeDtypeStruct):
            raise UsageError(
                "a ShapeDtypeStruct has no elements: pass an array, or let jax.eval_shape "
                "trace the function that makes the tensor."
            )
        host = backend_named(DEFAULT)
        made = data
        if not host.owns(data):
            made = host.make(data, dtype, copy=None, device=None)
        if dtype is not None and host.dtype_of(made) not in self.dtypes:
            made = host.cast(made, dtype)
        return jnp.asarray(made, dtype=self.native(host.dtype_of(made)))

    def cast(self, array: Any, dtype: DType) -> Any:
        """The array in another dtype; floats out of an integer's range become its limits."""
        native = self.native(dtype)
        if not self.owns(array):
            array = jnp.asarray(array)  # NumPy would cast a NumPy scalar by its own rules
        if array.dtype.kind == "c" and dtype.kind != "complex":
            array = array.real  # otherwise JAX warns
        held = self.dtype_of(array)
        if held is not dtype and max(held.bits, dtype.bits) < _BYTE:
            between = jnp.int8 if held.kind == dtype.kind == "int" else jnp.float32
            array = jax.lax.convert_element_type(array, between)
        return jax.lax.convert_element_type(array, native)

    def number(self, value: Scalar, dtype: DType) -> Any:
        """A NumPy scalar, which is never weak; integers out of range wrap."""
        self.native(dtype)
        return backend_named(DEFAULT).number(value, dtype)

    def function(self, op: str, dtype: DType) -> Callable[..., Any] | None:
        """JAX's function; None if it lacks the dtype or rounds more than once."""
        return function_of(op, dtype)

    def takes(self, op: str, compute: DType | None, dtypes: Sequence[DType]) -> bool:
        """Whether an op or a cast has the same bits in a region."""
        return regions.takes(op, compute, dtypes)

    def whole_region(self, region: Region) -> Callable[[Sequence[Any]], Any]:
        """The region as one jitted function."""
        return regions.jitted(region, self, _kept())

    def takes_mask(self, op: str) -> bool:
        """Whether a function takes where=: reductions do, ufuncs do not."""
        return op in _TAKE_MASKS

    def read(self, array: Any, key: Any) -> Any:
        """The elements at an index."""
        return array[key]

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """A new array with the values in it."""
        return array.at[key].set(values)

    def to_numpy(self, array: Any) -> Any:
        """The values as a NumPy array, which cannot be written to."""
        return np.asarray(array)


class _Kept(JAX):
    """JAX inside a region: what it rounds is not seen by XLA."""

    def make(self, data: Any, dtype: DType | None, *, copy: bool | None, device: Any) -> Any:
        """An array whose value XLA does not know."""
        return regions.kept_bits(super().make(data, dtype, copy=copy, device=device))

    def cast(self, array: Any, dtype: DType) -> Any:
        """The array in another dtype, rounded to it."""
        return regions.kept_bits(super().cast(array, dtype))

    def function(self, op: str, dtype: DType) -> Callable[..., Any] | None:
        """JAX's function."""
        found = super().function(op, dtype)
        return found and regions.keeping(op, found)


@functools.cache
def _kept() -> _Kept:
    return _Kept()


def _has_x64() -> bool:
    """Whether an array may have 64-bit numbers if they are requested."""
    asked = getattr(jax.config, "jax_explicit_x64_dtypes", None)  # in new versions of JAX
    return bool(jax.config.jax_enable_x64) or getattr(asked, "name", "") == "ALLOW"


@functools.cache
def _dtype_of(native: Any) -> DType:
    return to_dtype(native)
