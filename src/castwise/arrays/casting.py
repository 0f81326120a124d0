"""Casts as a dialect's framework does them: out of range, to bool, of subnormal floats; and ops
that flush subnormal floats to zero."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from castwise.arrays.backend import Backend, constant
from castwise.arrays.functions import SIGNLESS, Function, above_zero, function_for
from castwise.catalog import dialect_named
from castwise.rules.values import WRAPS_ON, Values, architecture
from castwise.vocab.dtypes import DType, dtype

_FLOAT32 = dtype("float32")
_INT32, _INT64 = dtype("int32"), dtype("int64")
_UINT8, _UINT32, _UINT64 = dtype("uint8"), dtype("uint32"), dtype("uint64")


@runtime_checkable
class HasValues(Protocol):
    """A backend whose value rules are not those of one dialect."""

    values: Values


@functools.lru_cache(maxsize=64)
def own_values(backend: Backend) -> Values:
    """A backend's own value rules."""
    if isinstance(backend, HasValues):
        return backend.values
    return dialect_named(backend.speaks).values


def is_plain_cast(values: Values | None, source: DType, target: DType) -> bool:
    """Whether no value rule applies to a cast."""
    if values is not None and target is SIGNLESS and source is not target:
        return False
    if values is None or source.kind not in ("float", "complex"):
        return True
    return target.kind in ("float", "complex") and values.casting.subnormals == "kept"


def cast_under(
    values: Values | None, backend: Backend, array: Any, target: DType, *, is_asked: bool = False
) -> Any:
    """The array in another dtype, cast as the dialect with these rules does. `is_asked` means that
    astype casts, not an op."""
    held = backend.dtype_of(array)
    if values is None or is_plain_cast(values, held, target):
        return backend.cast(array, target)
    if target is SIGNLESS:
        return _signless_cast(values, backend, array, held)
    if target.kind == "bool":
        return _truth(values, backend, array, target, is_asked)
    if target.kind != "int":
        return _flushed_cast(backend, array, held, target)
    rule, own = values.casting.float_to_int, own_values(backend)
    is_byte = target is _UINT8 and values.casting.float_to_byte != own.casting.float_to_byte
    if rule == own.casting.float_to_int and not is_byte:
        return backend.cast(array, target)
    if is_byte and values.casting.float_to_byte == "low bits of int64" and _INT64 in backend.dtypes:
        return backend.cast(cast_under(values, backend, array, _INT64), target)
    if rule == "wraps":
        rule = WRAPS_ON.get(architecture(), WRAPS_ON["x86_64"])
    real = function_for(backend, "real", held)(array) if held.kind == "complex" else array
    # float32 holds the limits of integers, exactly or nearly.
    wide = backend.cast(real, _FLOAT32) if backend.dtype_of(real).bits < 32 else real
    return _CONVERSIONS[rule](backend, wide, target)


def _flushed_cast(backend: Backend, array: Any, held: DType, target: DType) -> Any:
    """A cast that flushes subnormal floats, because the processor computes it: to or from
    float64."""
    is_own = own_values(backend).casting.subnormals == "flushed"
    if not is_own and _is_flushed(held) and held.bits < 64 == target.part.bits:
        array = _flusher(backend, held)(array)
    found = backend.cast(array, target)
    is_narrowed = held.bits == 64 and _is_flushed(target) and target.bits == 32
    return _flusher(backend, target)(found) if is_narrowed and not is_own else found


def _signless_cast(values: Values, backend: Backend, array: Any, held: DType) -> Any:
    """A cast to powers of two, which have neither a sign nor a zero."""
    if values.casting.signless == own_values(backend).casting.signless or held is SIGNLESS:
        return backend.cast(array, SIGNLESS)
    wide = backend.cast(array, _FLOAT32)
    if values.casting.signless == "nan":
        return backend.cast(above_zero(backend, wide, _FLOAT32), SIGNLESS)
    zero, least = backend.number(0.0, _FLOAT32), backend.number(float(SIGNLESS.min), _FLOAT32)
    size = function_for(backend, "abs", _FLOAT32)(wide)
    is_zero = function_for(backend, "eq", _FLOAT32)(wide, zero)
    return backend.cast(function_for(backend, "where", _FLOAT32)(is_zero, least, size), SIGNLESS)


def _truth(values: Values, backend: Backend, array: Any, target: DType, is_asked: bool) -> Any:
    """Whether each number counts as true."""
    held, own = backend.dtype_of(array), own_values(backend)
    if held.kind == "complex":
        if values.casting.truth == "not zero" == own.casting.truth:
            return backend.cast(array, target)
        is_implied = is_asked and values.casting.truth == "implied real part"
        if values.casting.truth == "not zero" or is_implied:
            return function_for(backend, "ne", held)(array, backend.number(0, held))
        array = function_for(backend, "real", held)(array)
        held = held.part
    is_by_bits = is_asked and held.bits < 32
    is_flushing = values.casting.subnormals == "flushed" != own.casting.subnormals
    if is_flushing and _is_flushed(held) and not is_by_bits:
        array = _flusher(backend, held)(array)
    return backend.cast(array, target)


def _saturated(backend: Backend, x: Any, target: DType) -> Any:
    """The nearest number of the dtype; NaN becomes 0."""
    held, least, most = backend.dtype_of(x), int(target.min), int(target.max)
    is_below = function_for(backend, "lt", held)(x, backend.number(least, held))
    is_above = function_for(backend, "ge", held)(x, backend.number(most + 1, held))
    is_within = _is_within(backend, x, target)
    within = backend.cast(_chosen(backend, held, is_within, x, 0), target)
    capped = _chosen(backend, target, is_above, most, within)
    return _chosen(backend, target, is_below, least, capped)


def _is_within(backend: Backend, x: Any, target: DType) -> Any:
    held = backend.dtype_of(x)
    low, high = backend.number(int(target.min), held), backend.number(int(target.max) + 1, held)
    both = function_for(backend, "logical_and", dtype("bool"))
    at_least, below = (function_for(backend, op, held) for op in ("ge", "lt"))
    return both(at_least(x, low), below(x, high))


def _wrapped_as_arm(backend: Backend, x: Any, target: DType) -> Any:
    """Casts through the nearest number of int32 or int64; wide unsigned dtypes use their own."""
    held = backend.dtype_of(x)
    is_direct = target.bits == 64 or (target is _UINT32 and held.bits == 32)
    narrowed = _INT64 if held.bits == 64 else _INT32
    return backend.cast(_saturated(backend, x, target if is_direct else narrowed), target)


def _wrapped_as_x86_64(backend: Backend, x: Any, target: DType) -> Any:
    """Casts through int32 or int64, whose lowest number replaces all that are out of range."""
    is_wide = target.bits == 64 or (target.bits == 32 and not target.is_signed)
    middle = _INT64 if is_wide and _INT64 in backend.dtypes else _INT32
    held, is_within = backend.dtype_of(x), _is_within(backend, x, middle)
    within = backend.cast(_chosen(backend, held, is_within, x, 0), middle)
    least = int(middle.min)
    found = backend.cast(_chosen(backend, middle, is_within, within, least), target)
    return _upper_half(backend, x, found) if target is _UINT64 and middle is _INT64 else found


def _upper_half(backend: Backend, x: Any, found: Any) -> Any:
    """The numbers of uint64 above int64; from 2**64 the result is 0."""
    held = backend.dtype_of(x)
    at_least = function_for(backend, "ge", held)
    is_high, is_beyond = (at_least(x, backend.number(2.0**n, held)) for n in (63, 64))
    high = backend.cast(_chosen(backend, held, is_beyond, 0, x), _UINT64)
    return _chosen(backend, _UINT64, is_high, high, found)


_CONVERSIONS: dict[str, Callable[[Backend, Any, DType], Any]] = {
    "saturates": _saturated,
    "wraps as x86-64": _wrapped_as_x86_64,
    "wraps as ARM": _wrapped_as_arm,
}


def _chosen(backend: Backend, held: DType, condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, y elsewhere."""
    x, y = (backend.number(n, held) if isinstance(n, int) else n for n in (x, y))
    return function_for(backend, "where", held)(condition, x, y)


# Functions that flush subnormal floats to zero, if a dialect does and a backend does not.

# Ops that treat floats as numbers; the others move bits, or flip the sign.
_FLUSHED = frozenset({
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "eq", "ne", "lt", "le",
    "gt", "ge", "maximum", "minimum", "atan2", "hypot", "heaviside", "xlogy", "clamp", "relu",
    "ceil", "sign", "log", "sqrt", "rsqrt", "reciprocal", "square", "logical_and", "logical_or",
    "logical_xor", "logical_not", "count_nonzero", "times_reciprocal", "div_of_arrays",
    "argmax", "argmin", "outer", "kron", "real_div", "floor_div", "truncate_div", "div_no_nan",
    "multiply_no_nan",
})  # fmt: skip
# Those of them that tell small numbers from zero by the bits, in dtypes of less than 32.
_BY_BITS = frozenset({"logical_and", "logical_or", "logical_xor", "logical_not", "count_nonzero"})


@runtime_checkable
class FindsSmall(Protocol):
    """A backend that finds small numbers faster than by comparisons."""

    def finder_below(self, dtype: DType, limit: float) -> Callable[[Any], bool]:
        """A function that tells whether an array has a nonzero float below the limit."""


@runtime_checkable
class Flushes(Protocol):
    """A backend that flushes by the bits of a number, whatever it is."""

    def flushed(self, array: Any) -> Any:
        """The array with zeros of the same sign for subnormal floats."""


def _is_flushed(held: DType) -> bool:
    """Whether a processor that flushes subnormals flushes those of a dtype. float16 is computed in
    float32, where they are normal numbers; a dtype of powers of two has none."""
    is_wide = held.bits >= 32 or held.exponent_bits >= 8
    return held.kind == "float" and is_wide and held.mantissa_bits > 0


@functools.lru_cache(maxsize=64)
def _flusher(backend: Backend, held: DType) -> Function:
    """A function that flushes subnormal floats to zeros of the same sign."""
    if isinstance(backend, Flushes):
        return backend.flushed
    least, zero = constant(backend, _least(held), held), constant(backend, 0, held)
    size, below, times, choose = (
        function_for(backend, op, held) for op in ("abs", "lt", "mul", "where")
    )
    has_small = _finder(backend, held, _least(held))

    def flushed(array: Any) -> Any:
        if not has_small(array):
            return array  # the usual case
        return choose(below(size(array), least(array)), times(array, zero(array)), array)

    return flushed


def flushing(function: Function, backend: Backend, op: str, compute: DType) -> Function:
    """A function that flushes subnormal operands and results to zero."""
    if op not in _FLUSHED or not _is_flushed(compute) or (op in _BY_BITS and compute.bits < 32):
        return function
    flushed = _flusher(backend, compute)

    def flush_operand(array: Any) -> Any:
        return flushed(array) if backend.dtype_of(array) is compute else array

    if op == "pow":  # only its result is arithmetic
        return lambda x, y: flush_operand(function(x, y))
    if op in ("remainder", "fmod"):  # a small dividend already is the remainder
        return lambda x, y: function(x, flush_operand(y))

    def computed(*arrays: Any, **options: Any) -> Any:
        return flush_operand(function(*map(flush_operand, arrays), **options))

    is_shown = op in ("add", "sub") and not isinstance(backend, Flushes)
    return _by_the_sum(function, computed, backend, compute) if is_shown else computed


def _by_the_sum(
    function: Function, otherwise: Function, backend: Backend, compute: DType
) -> Function:
    """A sum or difference, whose result alone shows whether subnormal operands matter.

    A result that is zero, or too large for a subnormal number to change its last bit, is already
    right: a subnormal operand is lost in rounding, or cancelled by its opposite.
    """
    has_small = _finder(backend, compute, _least(compute) * 2.0 ** (compute.mantissa_bits + 3))

    def computed(x: Any, y: Any, **options: Any) -> Any:
        found = function(x, y, **options)
        return otherwise(x, y, **options) if has_small(found) else found

    return computed


def _least(held: DType) -> float:
    return float(2.0 ** (1 - held.bias))


def _finder(backend: Backend, held: DType, limit: float) -> Callable[[Any], bool]:
    """A function that tells whether any float is small; true if values cannot be read."""
    if isinstance(backend, FindsSmall):
        return backend.finder_below(held, limit)
    size, below = function_for(backend, "abs", held), function_for(backend, "lt", held)
    end = constant(backend, limit, held)

    def has_below(array: Any) -> bool:
        is_small = below(size(array), end(array))
        return not backend.is_concrete(is_small) or bool(is_small.any())

    return has_below
