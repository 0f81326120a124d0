"""uint32 and uint64, for which torch has casts and little else, computed on int64.

uint32 is computed on its values. uint64 is computed on its bits: sums and products are the same
with and without a sign, the order is the same once the highest bit is flipped, and the rest is
written here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from castwise.execute.backends.torch.functions import function_in
from castwise.vocab.dtypes import dtype

Function: TypeAlias = Callable[..., Any]

_INT64 = dtype("int64")
_HIGHEST = -(1 << 63)  # only the highest bit
_REST = (1 << 63) - 1  # the others
# Ops that torch itself has for every unsigned dtype.
_OWN = frozenset({
    "where", "concat", "stack", "positive", "conj", "real", "floor", "ceil", "round", "trunc",
    "isnan", "isinf", "isfinite", "signbit", "isclose", "allclose",
})  # fmt: skip
_NOT_NUMBERS = frozenset({"argmax", "argmin", "count_nonzero"})  # they return indices and counts
_ORDERED = frozenset({
    "lt", "le", "gt", "ge", "maximum", "minimum", "fmax", "fmin", "max", "min", "argmax", "argmin",
    "clamp",
})  # fmt: skip
_SAME_BITS = frozenset({
    "add", "sub", "mul", "neg", "square", "addcmul", "eq", "ne", "logical_and", "logical_or",
    "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not",
    "bitwise_left_shift", "matmul", "dot", "outer", "inner", "vecdot", "cross", "kron", "sum",
    "prod", "cumsum", "cumprod", "any", "all", "count_nonzero", "imag",
})  # fmt: skip


def unsigned_function(op: str, native: Any) -> Function | None:
    """The function for an op on torch's uint32 or uint64."""
    plain = function_in(op, _INT64)
    if op in _OWN:
        return plain
    if native is torch.uint32:
        return plain and _around(plain, _values, _wrapped, op)
    if op in _SAME_BITS and plain:
        return _around(plain, _bits, _from_bits, op)
    if op in _ORDERED and plain:
        return _around(plain, _flipped, _from_flipped, op)
    own = _OWN_KERNELS.get(op)
    return own and _around(own, _bits, _from_bits, op)


def _around(function: Function, enter: Function, leave: Function, op: str) -> Function:
    """A function of int64 for arrays that are converted before and after."""

    def computed(*arrays: Any, **options: Any) -> Any:
        result = function(*[enter(array) for array in arrays], **options)
        is_number = result.dtype is torch.int64 and op not in _NOT_NUMBERS
        return leave(result) if is_number else result

    return computed


def _values(x: Any) -> Any:
    return x.type(torch.int64)


def _wrapped(x: Any) -> Any:
    return x.type(torch.uint32)


def _bits(x: Any) -> Any:
    return x.view(torch.int64)


def _from_bits(x: Any) -> Any:
    return x.view(torch.uint64)


def _flipped(x: Any) -> Any:
    return x.view(torch.int64) ^ _HIGHEST


def _from_flipped(x: Any) -> Any:
    return (x ^ _HIGHEST).view(torch.uint64)


def _is_below(x: Any, y: Any) -> Any:
    return (x ^ _HIGHEST) < (y ^ _HIGHEST)


def _floor_divide(x: Any, y: Any) -> Any:
    """Half the dividend fits a signed number: its quotient, doubled, is right or one too small."""
    is_large = y < 0  # 2**63 or more fits into any number at most once
    divisor = torch.where(is_large, torch.ones_like(y), y)
    quotient = torch.floor_divide((x >> 1) & _REST, divisor) << 1
    quotient = quotient + ~_is_below(x - quotient * divisor, divisor)
    return torch.where(is_large, (~_is_below(x, y)).type(torch.int64), quotient)


def _remainder(x: Any, y: Any) -> Any:
    return x - _floor_divide(x, y) * y


def _right_shift(x: Any, y: Any) -> Any:
    """Shifts in zeros from the left; torch's shift of signed numbers shifts in the sign."""
    count = torch.where(_is_below(y, torch.full_like(y, 64)), y, torch.full_like(y, 64))
    first = ((x >> 1) & _REST) >> (count - 1)
    return torch.where(count == 0, x, first)


def _pow(x: Any, y: Any) -> Any:
    """The highest bit of the exponent is handled as the square of the power of 2**62."""
    power = torch.pow(x, y & _REST)
    root = torch.pow(x, 1 << 62)
    return torch.where(y < 0, power * root * root, power)


def _heaviside(x: Any, y: Any) -> Any:
    return torch.where(x == 0, y, torch.ones_like(x))


_OWN_KERNELS: dict[str, Function] = {
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "fmod": _remainder,
    "bitwise_right_shift": _right_shift,
    "pow": _pow,
    "heaviside": _heaviside,
    "abs": torch.clone,
    "relu": torch.clone,
    "sign": lambda x: (x != 0).type(torch.int64),
}
