"""Flushes subnormal floats to zero, if a dialect does and a backend does not."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from castwise.execute.backend import Backend, constant
from castwise.execute.functions.lookup import Function, function_for
from castwise.vocab.dtypes import DType

# Ops that treat floats as numbers; the others move bits, or flip the sign.
FLUSHED = frozenset({
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "eq", "ne", "lt", "le",
    "gt", "ge", "maximum", "minimum", "atan2", "hypot", "heaviside", "xlogy", "clamp", "relu",
    "ceil", "sign", "log", "sqrt", "rsqrt", "reciprocal", "square", "logical_and", "logical_or",
    "logical_xor", "logical_not", "count_nonzero", "times_reciprocal", "div_of_arrays",
    "argmax", "argmin", "outer", "kron", "real_div", "floor_div", "truncate_div", "div_no_nan",
    "multiply_no_nan",
})  # fmt: skip
_BY_BITS = frozenset({"logical_and", "logical_or", "logical_xor", "logical_not", "count_nonzero"})
_SUMS = frozenset({"add", "sub"})


Test = Callable[[Any], bool]


@runtime_checkable
class FindsSmall(Protocol):
    """A backend that finds small numbers faster than by comparisons."""

    def finder_below(self, dtype: DType, limit: float) -> Test:
        """A function that tells whether an array has a nonzero float below the limit."""


@runtime_checkable
class Flushes(Protocol):
    """A backend that flushes by the bits of a number, whatever it is."""

    def flushed(self, array: Any) -> Any:
        """The array with zeros of the same sign for subnormal floats."""


def is_flushed(held: DType) -> bool:
    """Whether a processor that flushes subnormals flushes those of a dtype. float16 is computed in
    float32, where they are normal numbers; a dtype of powers of two has none."""
    is_wide = held.bits >= 32 or held.exponent_bits >= 8
    return held.kind == "float" and is_wide and held.mantissa_bits > 0


@functools.lru_cache(maxsize=64)
def flusher(backend: Backend, held: DType) -> Function:
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
    if not is_flushed(compute) or (op in _BY_BITS and compute.bits < 32):
        return function  # it distinguishes small numbers from zero by their bits
    flushed = flusher(backend, compute)

    def flush_operand(array: Any) -> Any:
        return flushed(array) if backend.dtype_of(array) is compute else array

    if op == "pow":  # only its result is arithmetic
        return lambda x, y: flush_operand(function(x, y))
    if op in ("remainder", "fmod"):  # a small dividend already is the remainder
        return lambda x, y: function(x, flush_operand(y))

    def computed(*arrays: Any, **options: Any) -> Any:
        return flush_operand(function(*map(flush_operand, arrays), **options))

    looks_first = op in _SUMS and not isinstance(backend, Flushes)
    return _by_the_sum(function, computed, backend, compute) if looks_first else computed


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


def _finder(backend: Backend, held: DType, limit: float) -> Test:
    """A function that tells whether any float is small; true if values cannot be read."""
    if isinstance(backend, FindsSmall):
        return backend.finder_below(held, limit)
    size, below = function_for(backend, "abs", held), function_for(backend, "lt", held)
    end = constant(backend, limit, held)

    def has_below(array: Any) -> bool:
        is_small = below(size(array), end(array))
        return not backend.is_concrete(is_small) or bool(is_small.any())

    return has_below
