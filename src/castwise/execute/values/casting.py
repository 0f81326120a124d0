"""Casts as a dialect's framework does them: out of range, to bool, of subnormal floats."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from castwise.execute.backend import Backend
from castwise.execute.functions.lookup import SIGNLESS, above_zero, function_for
from castwise.execute.values.flushing import flusher, is_flushed
from castwise.rules.catalog import dialect_named
from castwise.rules.value_words import WRAPS_ON
from castwise.rules.values import Values
from castwise.vocab.architecture import architecture
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
    return _CONVERSIONS[rule](backend, _widened(backend, real), target)


def _flushed_cast(backend: Backend, array: Any, held: DType, target: DType) -> Any:
    """A cast that flushes subnormal floats, because the processor computes it: to or from
    float64."""
    is_own = own_values(backend).casting.subnormals == "flushed"
    if not is_own and is_flushed(held) and held.bits < 64 == target.part.bits:
        array = flusher(backend, held)(array)
    found = backend.cast(array, target)
    is_narrowed = held.bits == 64 and is_flushed(target) and target.bits == 32
    return flusher(backend, target)(found) if is_narrowed and not is_own else found


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
        if values.casting.truth == "not zero" or (
            is_asked and values.casting.truth == "implied real part"
        ):
            return function_for(backend, "ne", held)(array, backend.number(0, held))
        array = function_for(backend, "real", held)(array)
        held = held.part
    is_by_bits = is_asked and held.bits < 32
    if (
        values.casting.subnormals == "flushed" != own.casting.subnormals
        and is_flushed(held)
        and not is_by_bits
    ):
        array = flusher(backend, held)(array)
    return backend.cast(array, target)


def _widened(backend: Backend, array: Any) -> Any:
    """Floats in a dtype that holds the limits of integers, exactly or nearly."""
    return backend.cast(array, _FLOAT32) if backend.dtype_of(array).bits < 32 else array


def _saturated(backend: Backend, x: Any, target: DType) -> Any:
    """The nearest number of the dtype; NaN becomes 0."""
    held = backend.dtype_of(x)
    low, high = backend.number(int(target.min), held), backend.number(int(target.max) + 1, held)
    is_below = function_for(backend, "lt", held)(x, low)
    is_above = function_for(backend, "ge", held)(x, high)
    is_within = _both(backend, function_for(backend, "ge", held)(x, low),
                      function_for(backend, "lt", held)(x, high))  # fmt: skip
    within = backend.cast(_chosen(backend, held, is_within, x, 0), target)
    capped = _chosen(backend, target, is_above, backend.number(int(target.max), target), within)
    return _chosen(backend, target, is_below, backend.number(int(target.min), target), capped)


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
    held = backend.dtype_of(x)
    low, high = backend.number(int(middle.min), held), backend.number(int(middle.max) + 1, held)
    is_within = _both(backend, function_for(backend, "ge", held)(x, low),
                      function_for(backend, "lt", held)(x, high))  # fmt: skip
    within = backend.cast(_chosen(backend, held, is_within, x, 0), middle)
    least = backend.number(int(middle.min), middle)
    found = backend.cast(_chosen(backend, middle, is_within, within, least), target)
    return _upper_half(backend, x, found) if target is _UINT64 and middle is _INT64 else found


def _upper_half(backend: Backend, x: Any, found: Any) -> Any:
    """The numbers of uint64 above int64; from 2**64 the result is 0."""
    held, at_least = backend.dtype_of(x), function_for(backend, "ge", backend.dtype_of(x))
    is_high, is_beyond = (at_least(x, backend.number(2.0**n, held)) for n in (63, 64))
    high = backend.cast(_chosen(backend, held, is_beyond, backend.number(0, held), x), _UINT64)
    return _chosen(backend, _UINT64, is_high, high, found)


_CONVERSIONS: dict[str, Callable[[Backend, Any, DType], Any]] = {
    "saturates": _saturated,
    "wraps as x86-64": _wrapped_as_x86_64,
    "wraps as ARM": _wrapped_as_arm,
}


def _both(backend: Backend, one: Any, other: Any) -> Any:
    return function_for(backend, "logical_and", dtype("bool"))(one, other)


def _chosen(backend: Backend, held: DType, condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, y elsewhere."""
    y = backend.number(y, held) if isinstance(y, int) else y
    return function_for(backend, "where", held)(condition, x, y)
