"""Regions of a program in one jitted function, with the bits that eager JAX gives.

XLA compiles an eager op alone, but rounds differently within one program: it drops casts to small
floats, joins a product and a sum into one operation, chooses instead of multiplying by a cast
truth value, reorders factors, and on x86-64 makes `a if a < b else b` a minimum, which flushes
subnormal floats. Neither reduce_precision nor an optimization barrier prevents this on a CPU. So
each cast, each rounded result and the first of two choices is joined with zero by an `or` of
bits. This zero is an argument, so XLA does not know it. (Two exclusive ors would cancel each
other.) A choice has a zero of its own, because what it compares may be joined with the other. The
same is done to numbers, because eager ops get them as arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from castwise.execute.backend import Backend
from castwise.execute.functions.lookup import Function
from castwise.execute.regions import Region
from castwise.vocab.dtypes import DType

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


def takes(op: str, compute: DType | None, dtypes: Sequence[DType]) -> bool:
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
            given[1] = kept_bits(given[1], at=1)
        result = function(*given, **options)
        return kept_bits(result) if op in _ROUNDED else result

    return computed


def _as_argument(operand: Any) -> Any:
    """A number as an array whose value XLA does not know."""
    is_number = isinstance(operand, np.generic)
    return kept_bits(jnp.asarray(operand, dtype=operand.dtype)) if is_number else operand


def kept_bits(array: Any, at: int = 0) -> Any:
    """The same array, past which XLA sees nothing. `at` is the place of the zero."""
    native = array.dtype
    if not jnp.issubdtype(native, jnp.floating):
        return array
    bits = np.dtype(f"u{native.itemsize}")
    zero = jax.lax.convert_element_type(_zeros.get()[at], bits)
    found = jax.lax.bitcast_convert_type(array, bits) | zero
    return jax.lax.bitcast_convert_type(found, native)
