"""JAX, eager and traced."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from castwise.arrays.backend import Backend, Region, lacking
from castwise.arrays.backends.numpy import NUMPY, dtype_of
from castwise.arrays.functions import Function, standard_name, vecdot
from castwise.errors import UsageError
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.dtypes import dtype as dtype_named
from castwise.vocab.operands import Scalar
from castwise.vocab.ops import LAYERS


def backend() -> Backend:
    """The JAX backend."""
    return JAX()


# JAX's own function for an op on arrays of a dtype.

# These move elements and never round, for any dtype.
_MOVES = frozenset({"where", "concat", "stack"})
_NOT_JOINED = ("int2", "uint2")  # XLA crashes when it compiles their concatenation
# These return an index or a count, which a small dtype could not hold.
_COUNTS = frozenset({"argmax", "argmin", "count_nonzero"})
# Each is one operation of XLA, which rounds 16-bit floats once. Others consist of several.
_ONCE = frozenset({
    "add", "sub", "mul", "div", "neg", "abs", "positive", "maximum", "minimum", "max", "min",
    "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "nextafter",
})  # fmt: skip
# These do not round, and compare with a constant zero. XLA compares a 16-bit float by its bits, but
# in float32 it would treat a subnormal bfloat16 as zero.
_TRUTHS = frozenset({"logical_and", "logical_or", "logical_xor", "logical_not"})
_FOR_BOOL = frozenset({
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "logical_not",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "any", "all",
})  # fmt: skip
_HALF = 16
# The fewest bits that XLA computes with correctly.
_SMALLEST = {"bool": 1, "int": 8, "float": 16, "complex": 64}


def _op_function(op: str, dtype: DType) -> Function | None:
    """JAX's function; None if it lacks the dtype or rounds more than once."""
    if op in LAYERS:  # a recipe calls JAX's
        return None
    if dtype.kind == "complex" and op in _NOT_FOR_COMPLEX:
        return _NOT_FOR_COMPLEX[op]
    found = _functions().get(op) or getattr(jnp, standard_name(op), None)
    if op == "concat" and dtype.name in _NOT_JOINED:
        return None
    if found is None or op in _MOVES:
        return found
    is_native = dtype.bits >= _SMALLEST[dtype.kind]
    if op in _COUNTS:
        return found if is_native else _of_wider(found)
    if dtype.kind == "bool":
        return found if op in _FOR_BOOL else None
    rounds_once = dtype.kind == "int" or dtype.bits >= 32 or op in _ONCE | _TRUTHS
    return found if is_native and rounds_once else None


def _own_function(op: str, dtype: DType) -> Function | None:
    """JAX's function for 16-bit floats, whatever it rounds on its way, and the mean that adds
    integers in their own dtype; None where it is no other than the above, or is not there."""
    if op == "mean" and dtype.kind == "int":
        return functools.partial(jnp.mean, dtype=dtype.name)
    is_half = dtype.kind == "float" and dtype.bits == _HALF
    if not is_half or op in LAYERS or _op_function(op, dtype) is not None:
        return None
    return _functions().get(op) or getattr(jnp, standard_name(op), None)


def _of_wider(function: Function) -> Function:
    """A function that does not return elements, for dtypes with fewer bits than XLA computes in."""

    def computed(array: Any, **options: Any) -> Any:
        wide = jnp.float32 if jnp.issubdtype(array.dtype, jnp.floating) else jnp.int32
        return function(array.astype(wide), **options)

    return computed


def _clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    """The bounds in the order of NumPy: by real part, then by imaginary part."""
    x = x if low is None else jnp.maximum(x, low)
    return x if high is None else jnp.minimum(x, high)


def _ldexp(x: Any, y: Any) -> Any:
    """x * 2**y; exact for integers y until the product is rounded."""
    return x * jnp.exp2(y) if jnp.issubdtype(y.dtype, jnp.inexact) else jnp.ldexp(x, y)


def _place(farthest: Function, x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first NaN or, if there is none, of the extreme element."""
    is_nan = jnp.isnan(x)
    has_nan = jnp.any(is_nan, axis=axis, keepdims=True)
    is_it = jnp.where(has_nan, is_nan, x == farthest(x, axis=axis, keepdims=True))
    return jnp.argmax(is_it, axis=axis, keepdims=keepdims)


# JAX itself does not take complex numbers here; None means that the recipe does.
_NOT_FOR_COMPLEX: dict[str, Function | None] = {
    "clamp": _clamp, "argmax": functools.partial(_place, jnp.max),
    "argmin": functools.partial(_place, jnp.min), "median": None, "gelu": None,
}  # fmt: skip


@functools.cache
def _functions() -> dict[str, Function]:
    """The ops that JAX has outside jax.numpy, or under another name than the standard."""
    return {
        "ldexp": _ldexp, "vecdot": functools.partial(vecdot, jnp),
        "erf": jax.lax.erf, "rsqrt": jax.lax.rsqrt, "norm": jnp.linalg.norm,
        "xlogy": jax.scipy.special.xlogy, "logsumexp": jax.nn.logsumexp, "relu": jax.nn.relu,
        "sigmoid": jax.nn.sigmoid, "softmax": jax.nn.softmax, "log_softmax": jax.nn.log_softmax,
        "gelu": functools.partial(jax.nn.gelu, approximate=False),
    }  # fmt: skip


# Regions of a program in one jitted function, with the bits that eager JAX gives.
#
# XLA compiles an eager op alone, but rounds differently within one program: it drops casts to small
# floats, joins a product and a sum into one operation, chooses instead of multiplying by a cast
# truth value, reorders factors, and on x86-64 makes `a if a < b else b` a minimum, which flushes
# subnormal floats. Neither reduce_precision nor an optimization barrier prevents this on a CPU. So
# each cast, each rounded result and the first of two choices is joined with zero by an `or` of
# bits. This zero is an argument, so XLA does not know it. (Two exclusive ors would cancel each
# other.) A choice has a zero of its own, because what it compares may be joined with the other. The
# same is done to numbers, because eager ops get them as arguments.

# Ops of floats that are exact or rounded correctly, so that their bits depend on nothing else. The
# others run alone. The bits of exp, erf, atan and others depend on the loop that XLA puts them
# into, whose last elements are not vectorized, and those of sums on their order. Where something is
# compared with a constant zero, as by logical ops, sign and casts to bool, a subnormal float is
# sometimes zero and sometimes not. Quotients are left out: XLA divides one element by a number in
# one program, and multiplies it by the reciprocal in another (on arm64: x / 3 of shape (1,)).
_ROUNDED = frozenset({"add", "sub", "mul", "square", "sqrt"})
_EXACT = frozenset({
    "neg", "abs", "positive", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge", "where",
    "clamp", "isnan", "isinf", "isfinite", "floor", "ceil", "trunc", "round",
})  # fmt: skip
_OF_FLOATS = _ROUNDED | _EXACT
# All ops of integers are exact; these need no value that only eager arrays have.
_OF_INTEGERS = _OF_FLOATS | {
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_left_shift",
    "bitwise_right_shift", "floor_divide", "remainder", "fmax", "fmin", "sign", "relu",
    "logical_and", "logical_or", "logical_xor", "logical_not",
}  # fmt: skip
_BYTE = 8
_zeros: ContextVar[Any] = ContextVar("zeros of the region that is traced")


def _takes(op: str, compute: DType | None, dtypes: Sequence[DType]) -> bool:
    """Whether an op, or a cast, has the same bits in a region."""
    if not all(map(_has_bits, dtypes)):
        return False
    if compute is None:
        return dtypes[0].kind != "bool" or dtypes[1].kind != "float"
    return op in (_OF_FLOATS if compute.kind == "float" else _OF_INTEGERS)


def _has_bits(held: DType) -> bool:
    """Whether the bits of a dtype can be joined: XLA has none for complex numbers and for less than
    a byte, and on x86-64 LLVM aborts the process while it compiles those of bfloat16."""
    is_whole = held.bits >= _BYTE or held.kind == "bool"
    return is_whole and held.kind != "complex" and held.name != "bfloat16"


def jitted(region: Region, eager: Backend, kept: Backend) -> Callable[[Sequence[Any]], Any]:
    """The region as one program of XLA. Tracers are computed node by node: they are part of a
    program that the user compiles, and gradients do not pass through bits."""

    def traced(zeros: Any, *arrays: Any) -> list[Any]:
        token = _zeros.set(zeros)
        try:
            return region.compute(kept, arrays)
        finally:
            _zeros.reset(token)

    whole = jax.jit(traced)

    def run(arrays: Sequence[Any]) -> Any:
        if any(isinstance(array, jax.core.Tracer) for array in arrays):
            return region.compute(eager, arrays)
        return whole(np.zeros(2, np.uint32), *arrays)

    return run


def keeping(op: str, function: Function) -> Function:
    """A function inside a region, with the bits it has outside."""

    @functools.wraps(function)
    def computed(*operands: Any, **options: Any) -> Any:
        given = [_as_argument(operand) for operand in operands]
        if op == "where":  # if both choices were joined, LLVM would join them after the choice
            given[1] = _kept_bits(given[1], at=1)
        result = function(*given, **options)
        return _kept_bits(result) if op in _ROUNDED else result

    return computed


def _as_argument(operand: Any) -> Any:
    """A number as an array whose value XLA does not know."""
    is_number = isinstance(operand, np.generic)
    return _kept_bits(jnp.asarray(operand, dtype=operand.dtype)) if is_number else operand


def _kept_bits(array: Any, at: int = 0) -> Any:
    """The same array, past which XLA sees nothing. `at` is the place of the zero."""
    native = array.dtype
    if not jnp.issubdtype(native, jnp.floating):
        return array
    bits = np.dtype(f"u{native.itemsize}")
    zero = jax.lax.convert_element_type(_zeros.get()[at], bits)
    found = jax.lax.bitcast_convert_type(array, bits) | zero
    return jax.lax.bitcast_convert_type(found, native)


# JAX, eager and traced: arrays and tracers are treated the same.

# JAX has these dtypes, but XLA cannot compute in them.
_NAMES_ONLY = frozenset({"int1", "uint1", "float6_e2m3fn", "float6_e3m2fn"})
_WITH_X64 = frozenset(map(dtype_named, ("int64", "uint64", "float64", "complex128")))
_TAKE_MASKS = frozenset({"sum", "prod", "mean", "std", "var", "any", "all", "max", "min"})
_HINT = "JAX has it with x64 on: jax.config.update('jax_enable_x64', True) at the start."


class JAX:
    """The backend of JAX."""

    name = "jax"
    speaks = "jax"
    differentiates_with = "jax.grad"
    namespace = jnp
    function = staticmethod(_op_function)
    itself = staticmethod(_own_function)
    takes = staticmethod(_takes)

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
        return dtype_of(array.dtype)

    def native(self, dtype: DType) -> Any:
        """The NumPy dtype that JAX knows it by."""
        if dtype not in self.dtypes:
            raise lacking(dtype, self.name, _HINT if dtype in _WITH_X64 else "")
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
        made = data if NUMPY.owns(data) else NUMPY.make(data, dtype, copy=None, device=None)
        if dtype is not None and NUMPY.dtype_of(made) not in self.dtypes:
            made = NUMPY.cast(made, dtype)
        return jnp.asarray(made, dtype=self.native(NUMPY.dtype_of(made)))

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
        return NUMPY.number(value, dtype)

    def whole_region(self, region: Region) -> Callable[[Sequence[Any]], Any]:
        """The region as one jitted function."""
        return jitted(region, self, _kept())

    def takes_mask(self, op: str) -> bool:
        """Whether a function takes where=: reductions do, ufuncs do not."""
        return op in _TAKE_MASKS

    def read(self, array: Any, key: Any) -> Any:
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
        return _kept_bits(super().make(data, dtype, copy=copy, device=device))

    def cast(self, array: Any, dtype: DType) -> Any:
        """The array in another dtype, rounded to it."""
        return _kept_bits(super().cast(array, dtype))

    def function(self, op: str, dtype: DType) -> Function | None:
        """JAX's function."""
        found = super().function(op, dtype)
        return found and keeping(op, found)


@functools.cache
def _kept() -> _Kept:
    return _Kept()


def _has_x64() -> bool:
    """Whether an array may have 64-bit numbers if they are requested."""
    asked = getattr(jax.config, "jax_explicit_x64_dtypes", None)  # in new versions of JAX
    return bool(jax.config.jax_enable_x64) or getattr(asked, "name", "") == "ALLOW"
