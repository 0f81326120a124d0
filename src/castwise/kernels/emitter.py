"""Writes the steps of a program, in the place of a backend, which would compute.

castwise's own code for value rules runs on it unchanged, so no rule is written twice.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from castwise.catalog import DEFAULT, dialect_named
from castwise.errors import UsageError
from castwise.kernels import ops
from castwise.kernels.ops import choose, truth, within, written_op
from castwise.kernels.program import (
    BITS,
    BOOL,
    COMPUTED,
    CONVERT,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    NARROW,
    UNSIGNED,
    WIDEN,
    NotLoweredError,
    Value,
    known,
    step,
    stored_as,
    wrapped,
)
from castwise.rules.values import Values
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.operands import Scalar, held_value

_ARE_LOWERED = frozenset(d for d in DTYPES if d.kind != "complex" and d.bits <= 64)
# Ops that flush all their operands and results, and ops that change none. Choices are not among
# them: a maximum would choose a number that is not flushed, and `a if a < b else b` becomes one
# instruction of x86-64 that flushes.
_BY_PROCESSOR = frozenset({
    "add", "sub", "mul", "div", "square", "reciprocal", "eq", "ne", "lt", "le", "gt", "ge", "neg",
    "abs",
})  # fmt: skip
# Libraries differ in the signs of zeros and NaN of small dtypes, also after a cast to a wider one.
_OF_SIGNS = frozenset({"sign", "copysign", "signbit"})


@dataclass(frozen=True)
class Traits:
    """What steps may be made of, and what they must notice."""

    converts: frozenset[DType] = frozenset()  # small floats that the processor itself converts
    halves_doubles: bool = True  # it converts float64 to float16 with one rounding
    doubles_halve_once: bool = True  # the library does so too, instead of through float32
    own_casts: frozenset[DType] = frozenset()  # dtypes that the library rounds to in its own way
    flushes: bool = False  # the processor can take subnormal floats for zeros
    notices_errors: bool = False  # float errors end in a warning
    guards_casts: bool = False  # casts of floats beyond an integer's range are the library's


class _NoNamespace:
    def __getattr__(self, name: str) -> Any:
        raise NotLoweredError(name)


class Emitter:
    """A backend whose arrays are values of a program in the making."""

    name = "kernel"
    speaks = DEFAULT
    dtypes = _ARE_LOWERED
    namespace: Any = _NoNamespace()

    def __init__(self, traits: Traits) -> None:
        self.traits = traits

    @functools.cached_property
    def values(self) -> Values:
        """The value rules of the steps: NumPy's, and saturating casts."""
        plain = dialect_named(DEFAULT).values
        return replace(plain, casting=replace(plain.casting, float_to_int="saturates"))

    def owns(self, thing: Any) -> bool:
        return isinstance(thing, Value)

    def is_concrete(self, array: Any) -> bool:
        """Never: there are no elements yet."""
        return False

    def dtype_of(self, array: Any) -> DType:
        """The dtype that a value stands for."""
        return array.dtype  # type: ignore[no-any-return]

    def native(self, dtype: DType) -> DType:
        """The dtype itself."""
        if dtype not in _ARE_LOWERED:
            raise NotLoweredError(f"{dtype}")
        return dtype

    def make(self, data: Any, dtype: DType | None, *, copy: Any, device: Any) -> Any:
        """Raises: a program has no arrays of its own."""
        raise NotLoweredError("an array")

    def number(self, value: Scalar, dtype: DType) -> Value:
        """A known number; integers out of range wrap."""
        self.native(dtype)
        if isinstance(value, complex):
            raise NotLoweredError("a complex number")
        if dtype.kind == "bool":
            return known(bool(value), dtype)
        if dtype.kind == "int":
            is_float = isinstance(value, float)
            if is_float and not (math.isfinite(value) and dtype.min <= int(value) <= dtype.max):
                raise NotLoweredError("a float that is out of range")
            return known(wrapped(int(value), dtype), dtype)
        if dtype.specials != "ieee" and not dtype.min <= value <= dtype.max:
            raise NotLoweredError(f"{dtype} has no such number")
        try:
            return known(float(held_value(dtype, value).real), dtype)
        except UsageError:
            raise NotLoweredError(f"{dtype} has no such number") from None

    def cast(self, array: Value, target: DType) -> Value:
        """A value in another dtype."""
        self.native(target)
        dtype = array.dtype
        if dtype is target:
            return array
        if target in self.traits.own_casts:
            raise NotLoweredError(f"a cast to {target}")
        if array.is_known:
            return self.number(array.number, target)
        found = array if dtype in COMPUTED else self._widened(array)
        if found.dtype is not target:
            narrows = target not in COMPUTED
            found = self._narrowed(found, target) if narrows else self._converted(found, target)
        found.cast_from = array.cast_from or dtype
        return found

    def _converted(self, value: Value, target: DType) -> Value:
        if target.kind == "bool":
            return truth(value.dtype, value)
        if value.dtype.kind == "float" and target.kind == "int" and self.traits.guards_casts:
            assert value.writer
            is_within = within(value.dtype, value, target)
            value.writer.alarm(step("xor", BOOL, is_within, known(True, BOOL)))
        return step(CONVERT, target, value)

    def _widened(self, value: Value) -> Value:
        """A value of a small dtype, in one that steps compute in."""
        dtype = value.dtype
        if value.wide is not None:
            return value.wide
        if dtype in self.traits.converts:
            bits = value.standing_for(stored_as(dtype))
            return step(WIDEN, FLOAT32, bits, detail=dtype.name)
        if dtype.kind == "float":
            return ops.to_float32(value, dtype)
        number = step(CONVERT, INT32, value.standing_for(stored_as(dtype)))
        low = step("and", INT32, number, known((1 << dtype.bits) - 1, INT32))
        if not dtype.is_signed:
            return low
        sign = known(1 << (dtype.bits - 1), INT32)
        return step("sub", INT32, step("xor", INT32, low, sign), sign)

    def _narrowed(self, value: Value, target: DType) -> Value:
        """A value of a dtype that steps compute in, as the bits of a small one."""
        if target.kind == "float":
            return self._rounded(value, target)
        whole = value if value.dtype.kind == "int" else self._converted(value, INT32)
        low = step(CONVERT, stored_as(target), whole)
        mask = known((1 << target.bits) - 1, stored_as(target))
        return step("and", stored_as(target), low, mask).standing_for(target)

    def _rounded(self, value: Value, target: DType) -> Value:
        """A small float: through float32, as libraries do it, except for float16 in most."""
        traits, is_native = self.traits, target in self.traits.converts
        is_double = value.dtype is FLOAT64 and target is FLOAT16 and traits.doubles_halve_once
        if is_double and not (is_native and traits.halves_doubles):
            value = ops.rounded_to_odd(value)
        is_exact = target.holds(value.dtype)
        if not is_double and value.dtype is not FLOAT32:
            value = step(CONVERT, FLOAT32, value)
        if is_native:
            bits = step(NARROW, stored_as(target), value, detail=target.name)
            found = bits.standing_for(target)
        else:
            found = ops.from_float32(value, target)
        found.wide = value if is_exact else None
        return found

    def function(self, op: str, dtype: DType) -> Callable[..., Value] | None:
        """A function that writes the steps of an op; None for a dtype to compute in a wider one."""
        self.native(dtype)
        if op == "where":
            return functools.partial(self._chosen, dtype)
        if dtype not in COMPUTED:
            if op in _OF_SIGNS:
                raise NotLoweredError(op)
            return None
        found = written_op(op, dtype, notices_errors=self.traits.notices_errors)
        return found and functools.partial(_of_one_dtype, found, op, dtype)

    def _chosen(self, dtype: DType, condition: Value, x: Value, y: Value) -> Value:
        bits = [self._bits(value) for value in (x, y)]
        return choose(stored_as(dtype), condition, *bits).standing_for(dtype)

    def _bits(self, value: Value) -> Value:
        """A value as it is stored, also if it is a known number of a small dtype."""
        dtype = value.dtype
        if dtype in COMPUTED:
            return value
        if value.is_known:
            raise NotLoweredError(f"a known number of {dtype}")
        return value.standing_for(stored_as(dtype))

    def alarm(self, condition: Value) -> None:
        """Leaves elements for which a condition holds to the plain path."""
        if condition.writer:
            condition.writer.alarm(condition)


def _of_one_dtype(written: Callable[..., Value], op: str, dtype: DType, *values: Value) -> Value:
    """The steps of an op on values of its dtype; a library would cast others by its own rules."""
    if any(value.dtype is not dtype for value in values):
        raise NotLoweredError(f"{op} of several dtypes")
    before_casts = [value.cast_from for value in values if value.cast_from is not None]
    if op in _OF_SIGNS and any(d.kind == "float" and d not in COMPUTED for d in before_casts):
        raise NotLoweredError(f"{op} of small floats")
    return written(*values)


def _was_integer(value: Value) -> bool:
    """Whether it was an integer before casts, and so is zero or not small."""
    return value.cast_from is not None and value.cast_from.kind != "float"


class _FlushingEmitter(Emitter):
    """An emitter that flushes each subnormal float, if a dialect does."""

    def flushed(self, array: Value) -> Value:
        """A float, or a zero of the same sign if its exponent is that of subnormals."""
        if array.is_known or _was_integer(array):
            return array
        bits, dtype = _as_bits(array), array.dtype
        exponent = known(((1 << dtype.exponent_bits) - 1) << dtype.mantissa_bits, bits.dtype)
        zero = known(0, bits.dtype)
        is_tiny = step("eq", BOOL, step("and", bits.dtype, bits, exponent), zero)
        sign = step("and", bits.dtype, bits, known(1 << (dtype.bits - 1), bits.dtype))
        found = choose(bits.dtype, is_tiny, sign, bits)
        return found.standing_for(dtype) if dtype not in COMPUTED else step(BITS, dtype, found)


class _AlarmingEmitter(Emitter):
    """An emitter that sounds the alarm where it finds a subnormal float, if a dialect flushes them.
    That takes fewer steps than flushing, and there hardly ever is one."""

    def finder_below(self, dtype: DType, limit: float) -> Callable[[Value], bool]:
        """A function that sounds the alarm for a float that is small and not zero.

        Doubling the bits drops the sign. Subtracting one then makes zero the largest of all.
        """
        exponent = int(math.log2(limit)) + dtype.bias
        end = (exponent << (dtype.mantissa_bits + 1)) - 1

        def sound(value: Value) -> bool:
            if not (value.is_known or _was_integer(value)):
                bits = _as_bits(value)
                one, kind = known(1, bits.dtype), bits.dtype
                doubled = step("sub", kind, step("shl", kind, bits, one), one)
                self.alarm(step("lt", BOOL, doubled, known(end, kind)))
            return False

        return sound


class _ProcessorEmitter(Emitter):
    """An emitter that leaves it to the processor to take subnormal floats for zeros, if a dialect
    does. It costs nothing, and is right for ops whose operands and results are all flushed."""

    def finder_below(self, dtype: DType, limit: float) -> Callable[[Value], bool]:
        """A function that lets the processor flush."""

        def noted(value: Value) -> bool:
            if value.writer:
                value.writer.flushes = True
            return False

        return noted

    def function(self, op: str, dtype: DType) -> Callable[..., Value] | None:
        """A function that writes the steps of an op that is flushed, or that moves bits."""
        if dtype.kind == "float" and op not in _BY_PROCESSOR:
            raise NotLoweredError(op)
        return super().function(op, dtype)

    def _converted(self, value: Value, target: DType) -> Value:
        if value.dtype.kind == "float" and target.kind == "bool":
            raise NotLoweredError("whether a float is zero")  # some dialects ask its bits
        return super()._converted(value, target)


def _as_bits(value: Value) -> Value:
    """The bits of a float."""
    bits = UNSIGNED[value.dtype.bits]
    return step(BITS, bits, value) if value.dtype in COMPUTED else value.standing_for(bits)


@functools.lru_cache(maxsize=64)
def emitters_with(traits: Traits) -> tuple[Emitter, ...]:
    """The emitters for a processor and a library, one object each, in the order in which their
    programs are tried."""
    first = (_ProcessorEmitter(traits),) if traits.flushes else ()
    return (*first, _AlarmingEmitter(traits), _FlushingEmitter(traits))
