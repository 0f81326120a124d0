"""Adapts a backend's function to a dialect's value rules if they differ from its own.

A backend names the dialect whose rules it follows. If the two agree, a function is left unchanged.
If they differ, it is wrapped once, when the op is prepared.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from castwise.errors import UsageError
from castwise.execute.backend import Backend
from castwise.execute.functions.lookup import Function, function_for
from castwise.execute.values.flushing import FLUSHED, flushing
from castwise.execute.values.place import Place
from castwise.execute.values.powers import power_rule
from castwise.execute.values.quotients import (
    division_rule,
    quotient_rule,
    remainder_rule,
    truncated_quotient_rule,
)
from castwise.execute.values.shapes import (
    bound_shapes_rule,
    cumulation_rule,
    dimensions_rule,
    elements_rule,
    extremum_rule,
    first_bound_rule,
    logsumexp_rule,
    mean_rule,
    median_rule,
    shared_memory_rule,
    vectors_rule,
)
from castwise.execute.values.substitutes import variance_in_integers
from castwise.rules.values import Values
from castwise.vocab.dtypes import DType, dtype


def adapted(
    function: Function, backend: Backend, op: str, compute: DType, values: Values | None
) -> Function:
    """The function itself, or a wrapper that follows the dialect's rules."""
    if values is None:
        return function
    place = Place(backend, op, compute, values)
    for rule in _RULES.get(op, ()):
        function = rule(function, place)
    is_flushing = values.casting.subnormals == "flushed" and place.differs("casting.subnormals")
    if op in FLUSHED and is_flushing:  # a value that the processor flushed is lost
        return flushing(function, backend, op, compute)
    return function


def _truth_rule(function: Function, at: Place) -> Function:
    """any and all of complex numbers, which a rule counts as true or false."""
    if at.compute.kind != "complex" or not at.differs("casting.truth"):
        return function
    real = function_for(at.backend, at.op, at.compute.part)
    if at.values.casting.truth != "not zero":
        return lambda x, **options: real(at.do("real", x), **options)
    question = function_for(at.backend, at.op, dtype("bool"))
    return lambda x, **options: question(at.do("ne", x, at.number(0)), **options)


def _shift_rule(function: Function, at: Place) -> Function:
    """Shifts by a negative number of bits, or by at least the width."""
    rule = at.values.arithmetic.shifts
    if rule == "modulo width":
        width = at.constant(max(at.compute.bits, 32) - 1)
        return lambda x, y: function(x, at.do("bitwise_and", y, width(y)))
    if rule == "clamped":
        least, most = at.constant(0), at.constant(at.compute.bits - 1)
        return lambda x, y: function(x, at.do("minimum", at.do("maximum", y, least(y)), most(y)))
    return function


def _clamp_rule(function: Function, at: Place) -> Function:
    """clamp, if the lower bound wins when it is above the upper one."""
    rule = at.values.clamping.crossed_bounds
    if rule == "upper":
        return function

    if rule == "raises":
        return _within_order(function, at)

    def clamped(x: Any, *bounds: Any) -> Any:
        if len(bounds) < 2:
            return function(x, *bounds)
        return at.do("maximum", at.do("minimum", x, bounds[1]), bounds[0])

    return clamped


def _within_order(function: Function, at: Place) -> Function:
    """clamp, if the bounds must be in order; NaN is never in order, even with itself."""
    negation = function_for(at.backend, "logical_not", dtype("bool"))

    def clamped(x: Any, *bounds: Any) -> Any:
        if bounds and at.has_any(negation(at.do("le", bounds[0], bounds[-1]))):
            raise UsageError(
                "clamp raises in this dialect, because the lower bound is above the upper one, or "
                "a bound is NaN."
            )
        return function(x, *bounds)

    return clamped


def _variance_rule(function: Function, at: Place) -> Function:
    """The variance of integers, if it is computed in integers."""
    if at.compute.kind != "int" or at.values.reducing.integer_variance == "in floats":
        return function

    def computed(x: Any, **options: Any) -> Any:
        if 0 in x.shape:
            return function(x, **options)
        return variance_in_integers(at.backend, at.compute, x, **options)

    return computed


def _square_root_rule(function: Function, at: Place) -> Function:
    """The square root, if a library does not round it to the nearest number."""
    is_rounded = at.compute.kind == "float" and at.compute.bits >= 32
    if (
        not is_rounded
        or at.values.powers.square_root == "library"
        or not at.differs("powers.square_root")
    ):
        return function
    return at.backend.function("exact_sqrt", at.compute) or function


def _sign_rule(function: Function, at: Place) -> Function:
    if at.compute.kind != "float" or not at.differs("arithmetic.sign_of_nan"):
        return function
    of_nan = at.constant(0 if at.values.arithmetic.sign_of_nan == "zero" else float("nan"))
    return lambda x: at.choose(at.do("ne", x, x), of_nan(x), function(x))


def _place_of_nan_rule(function: Function, at: Place) -> Function:
    """The index of the largest or smallest number, if NaN does not count as one."""
    if at.compute.kind != "float" or at.values.reducing.place_of_nan == "taken":
        return function
    end = at.constant(float("-inf" if at.op == "argmax" else "inf"))
    return lambda x, **options: function(at.choose(at.do("ne", x, x), end(x), x), **options)


def _angle_rule(function: Function, at: Place) -> Function:
    """The angle of real numbers, if that of NaN or -0.0 differs from the library's."""
    if at.compute.kind != "float" or not at.differs("arithmetic.real_angles"):
        return function
    rule, zero, pi = at.values.arithmetic.real_angles, at.constant(0), at.constant(math.pi)
    if rule == "sign":
        return lambda x: at.do("atan2", zero(x), x)

    def computed(x: Any) -> Any:
        angles = at.choose(at.do("lt", x, zero(x)), pi(x), zero(x))
        return angles if rule == "below zero" else at.choose(at.do("ne", x, x), x, angles)

    return computed


def _heaviside_rule(function: Function, at: Place) -> Function:
    """heaviside of NaN."""
    if at.compute.kind != "float" or not at.differs("arithmetic.step_of_nan"):
        return function
    of_nan = at.constant(0 if at.values.arithmetic.step_of_nan == "zero" else float("nan"))
    return lambda x, y: at.choose(at.do("ne", x, x), of_nan(x), function(x, y))


def _xlogy_rule(function: Function, at: Place) -> Function:
    """xlogy of 0 and NaN, if it is 0."""
    if at.compute.kind != "float" or at.values.arithmetic.zero_log_of_nan == "nan":
        return function
    zero = at.constant(0)
    return lambda x, y: at.choose(at.do("eq", x, zero(x)), zero(x), function(x, y))


def _logaddexp_rule(function: Function, at: Place) -> Function:
    """logaddexp and logaddexp2 of complex numbers, if their imaginary part wraps around."""
    is_wrapped = at.values.arithmetic.summed_angles == "wrapped" and at.differs(
        "arithmetic.summed_angles"
    )
    if at.compute.kind != "complex" or not is_wrapped:
        return function
    return functools.partial(_wrapped_angle, function, at)


def _wrapped_angle(function: Function, at: Place, x: Any, y: Any) -> Any:
    found, part, backend = function(x, y), at.compute.part, at.backend
    of_part = functools.partial(function_for, backend, compute=part)
    angle = function_for(backend, "imag", at.compute)(found)
    half = math.pi if at.op == "logaddexp" else math.pi / math.log(2)
    pi, round_ = (backend.number(turn, part) for turn in (half, 2 * half))
    turned = of_part("sub")(of_part("remainder")(of_part("add")(angle, pi), round_), pi)
    turns = backend.cast(of_part("sub")(turned, angle), at.compute)
    moved = at.do("add", found, at.do("mul", turns, backend.number(1j, at.compute)))
    is_within = of_part("le")(of_part("abs")(angle), pi)
    return at.choose(is_within, found, moved)


def _rounding_rule(function: Function, at: Place) -> Function:
    if at.compute.kind != "float" or not at.differs("arithmetic.halves"):
        return function

    def away(x: Any) -> Any:
        whole = at.do("trunc", x)
        rest = at.do("abs", at.do("sub", x, whole))
        further = at.do("add", whole, at.do("copysign", at.number(1), x))
        return at.choose(at.do("ge", rest, at.number(0.5)), further, whole)

    return away


Rules = tuple[Callable[[Function, Place], Function], ...]
_RULES: dict[str, Rules] = {
    "div": (division_rule,),
    "floor_divide": (quotient_rule,),
    "floor_div": (quotient_rule,),
    "truncate_div": (truncated_quotient_rule,),
    "remainder": (remainder_rule,),
    "fmod": (remainder_rule,),
    "pow": (power_rule,),
    "bitwise_left_shift": (_shift_rule,),
    "bitwise_right_shift": (_shift_rule,),
    "clamp": (_clamp_rule, bound_shapes_rule),
    "clamp_by_first": (_clamp_rule, first_bound_rule),
    "angle": (_angle_rule,),
    "mean": (mean_rule,),
    "var": (_variance_rule,),
    "heaviside": (_heaviside_rule,),
    "xlogy": (_xlogy_rule,),
    **dict.fromkeys(("logaddexp", "logaddexp2"), (_logaddexp_rule,)),
    **dict.fromkeys(("argmax", "argmin"), (_place_of_nan_rule, dimensions_rule, elements_rule)),
    "kron": (elements_rule,),
    **dict.fromkeys(("softmax", "log_softmax"), (dimensions_rule,)),
    **dict.fromkeys(("dot", "outer"), (vectors_rule,)),
    **dict.fromkeys(("max", "min"), (extremum_rule,)),
    "any": (_truth_rule,),
    "all": (_truth_rule,),
    "sign": (_sign_rule,),
    "sqrt": (_square_root_rule,),
    "round": (_rounding_rule,),
    **dict.fromkeys(("cumsum", "cumprod"), (cumulation_rule,)),
    "logsumexp": (logsumexp_rule,),
    **dict.fromkeys(("median", "lower_median"), (median_rule,)),
    **dict.fromkeys(("positive", "real", "imag", "conj"), (shared_memory_rule,)),
}
