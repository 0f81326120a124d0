"""The calls that look the same in every framework: Python's operators, and questions on dtypes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "pow": operator.pow,
    "matmul": operator.matmul,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "bitwise_left_shift": operator.lshift,
    "bitwise_right_shift": operator.rshift,
    "bitwise_not": operator.invert,
    "neg": operator.neg,
    "positive": operator.pos,
}

# `a += b` and the others. Where an array has no such method Python takes `a + b`.
AUGMENTED_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.iadd,
    "sub": operator.isub,
    "mul": operator.imul,
    "div": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "remainder": operator.imod,
    "pow": operator.ipow,
    "matmul": operator.imatmul,
    "bitwise_and": operator.iand,
    "bitwise_or": operator.ior,
    "bitwise_xor": operator.ixor,
    "bitwise_left_shift": operator.ilshift,
    "bitwise_right_shift": operator.irshift,
}


def assigned(op: str, operands: Sequence[Any], copy: Callable[[Any], Any]) -> Any:
    """What the name is bound to after `a += b`. An array `a` is copied first, NumPy's by its own
    method and others by `copy`, since more is asked about it."""
    import numpy as np

    first, second = operands
    if isinstance(first, np.ndarray):
        first = first.copy()
    elif not isinstance(first, (int, float, complex, np.generic)):
        first = copy(first)
    return AUGMENTED_OPERATORS[op](first, second)


class RefusalError(TypeError):
    """A framework's plain no, where it answers a question instead of raising."""


def refusing(question: Callable[..., bool], yes: Any) -> Callable[..., Any]:
    """A yes-or-no function as the cells see it: `yes`, or a refusal."""

    def call(*operands: Any) -> Any:
        if not question(*operands):
            raise RefusalError
        return yes

    return call


def of_dtypes(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of dtypes, called with arrays that have them."""
    return lambda *arrays: function(*(array.dtype for array in arrays))


def of_sequence(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a sequence of arrays, called with the arrays."""
    return lambda *arrays, **named: function(arrays, **named)
