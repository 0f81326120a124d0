"""Quotients and remainders, if a dialect's rule differs from the backend's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from castwise.errors import DivisionByZeroError
from castwise.execute.functions.lookup import Function, function_for
from castwise.execute.values.place import Place
from castwise.execute.values.shapes import made_array


def quotient_rule(function: Function, at: Place) -> Function:
    """`//`: its direction, how floats are rounded, and division of integers by zero."""
    if at.values.dividing.rounds == "truncates":
        function = functools.partial(_truncated, at)
    elif at.compute.kind == "float":
        is_rounded = at.values.dividing.float_quotient == "rounded"
        return functools.partial(_floored, at) if is_rounded else function
    if at.compute.kind != "int":
        return function
    rule = at.values.dividing.quotient_by_zero
    is_own = not at.differs("dividing.quotient_by_zero", "dividing.rounds") and rule != "raises"
    return function if is_own else _by_zero(function, at, rule)


def truncated_quotient_rule(function: Function, at: Place) -> Function:
    """A truncated quotient: how floats are rounded, and division of integers by zero."""
    if at.compute.kind == "int":
        return _by_zero(function, at, at.values.dividing.quotient_by_zero)
    is_rounded = at.compute.kind == "float" and at.values.dividing.float_quotient == "rounded"
    return functools.partial(_truncated, at) if is_rounded else function


def remainder_rule(function: Function, at: Place) -> Function:
    """`%` and fmod: the sign, and division of integers by zero."""
    if at.op == "remainder" and at.values.dividing.rounds == "truncates":
        function = function_for(at.backend, "fmod", at.compute)
    rule = at.values.dividing.remainder_by_zero
    is_own = not at.differs("dividing.remainder_by_zero", "dividing.rounds") and rule != "raises"
    kinds = ("bool", "int") if rule == "dividend" else ("int",)
    return function if is_own or at.compute.kind not in kinds else _by_zero(function, at, rule)


def _floored(at: Place, x: Any, y: Any) -> Any:
    return at.do("floor", at.do("div", x, y))


def _truncated(at: Place, x: Any, y: Any) -> Any:
    """The truncated quotient, exact for integers."""
    if at.compute.kind == "float":
        return at.do("trunc", at.do("div", x, y))
    return at.do("floor_divide", at.do("sub", x, at.do("fmod", x, y)), y)


def _by_zero(function: Function, at: Place, rule: str) -> Function:
    def computed(x: Any, y: Any) -> Any:
        is_zero = at.do("eq", y, at.number(0))
        if rule == "raises" and 0 not in x.shape and at.has_any(is_zero):
            raise DivisionByZeroError(
                f"{at.op} of {at.compute} by zero raises in this dialect: replace the zeros "
                "first, cw.apply('where', y == 0, 1, y)."
            )
        found = function(x, at.choose(is_zero, at.number(1), y))
        return at.choose(is_zero, _QUOTIENTS[rule](at, x), found)

    return computed


def _minus_one_or_two(at: Place, x: Any) -> Any:
    if not at.compute.is_signed:
        return at.number(int(at.compute.max))
    return at.choose(at.do("eq", x, at.number(0)), at.number(-1), at.number(-2))


def _saturated(at: Place, x: Any) -> Any:
    zero = at.number(0)
    above = at.choose(at.do("gt", x, zero), at.number(int(at.compute.max)), zero)
    return at.choose(at.do("lt", x, zero), at.number(int(at.compute.min)), above)


_QUOTIENTS: dict[str, Callable[[Place, Any], Any]] = {
    "raises": lambda at, x: at.number(0),  # if values cannot be read
    "zero": lambda at, x: at.number(0),
    "dividend": lambda at, x: x,
    "minus one or two": _minus_one_or_two,
    "saturates": _saturated,
}


def division_rule(function: Function, at: Place) -> Function:
    """`/`: bools divided by False, if they stay bools. On a library that multiplies by the
    reciprocal of a number, the number is converted to an array."""
    if at.compute.kind == "bool" and at.values.dividing.quotient_by_zero == "raises":
        return _by_zero(function, at, "raises")
    if at.compute.kind != "float" or not at.differs("dividing.reciprocal_second"):
        return function
    if at.values.dividing.reciprocal_second:
        return function

    def computed(x: Any, y: Any) -> Any:
        is_single = bool(getattr(x, "shape", ())) and not getattr(y, "shape", ())
        return function(x, made_array(at, x, y) if is_single else y)

    return computed
