"""Operators between Python's own numbers, which Python computes before any framework sees them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from castwise.errors import UsageError
from castwise.vocab.operands import Scalar, scalar_text

_COMPUTED: dict[tuple[str, int], Callable[..., Any]] = {
    ("+", 2): operator.add, ("-", 2): operator.sub, ("*", 2): operator.mul,
    ("/", 2): operator.truediv, ("//", 2): operator.floordiv, ("%", 2): operator.mod,
    ("**", 2): operator.pow, ("@", 2): operator.matmul, ("&", 2): operator.and_,
    ("|", 2): operator.or_, ("^", 2): operator.xor, ("<<", 2): operator.lshift,
    (">>", 2): operator.rshift, ("==", 2): operator.eq, ("!=", 2): operator.ne,
    ("<", 2): operator.lt, ("<=", 2): operator.le, (">", 2): operator.gt, (">=", 2): operator.ge,
    ("-", 1): operator.neg, ("+", 1): operator.pos, ("~", 1): operator.invert,
}  # fmt: skip
_MOST_BITS = 1 << 12  # of a whole number: more than any dtype holds, and quick to compute


def computed(symbol: str, numbers: tuple[Scalar, ...]) -> Scalar:
    """What Python gives for an operator between numbers.

    >>> computed("/", (1, 2))
    0.5

    Raises UsageError where Python raises, or the number would be huge.
    """
    shown = numbers_text(symbol, numbers)
    if symbol in ("**", "<<") and all(isinstance(number, int) for number in numbers):
        base, amount = (int(number.real) for number in numbers)
        bits = base.bit_length() * amount if symbol == "**" else base.bit_length() + amount
        if abs(base) > 1 and bits > _MOST_BITS:
            raise UsageError(f"{shown} is a number of too many digits.")
    try:
        found = _COMPUTED[symbol, len(numbers)](*numbers)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise UsageError(f"Python cannot compute {shown}: {error}.") from None
    if isinstance(found, int) and found.bit_length() > _MOST_BITS:
        raise UsageError(f"{shown} is a number of too many digits.")
    return found  # type: ignore[no-any-return]


def numbers_text(symbol: str, numbers: tuple[Scalar, ...]) -> str:
    """An operator between numbers as text."""
    words = [scalar_text(number)[:40] for number in numbers]
    return f" {symbol} ".join(words) if len(words) > 1 else f"{symbol}{words[0]}"
