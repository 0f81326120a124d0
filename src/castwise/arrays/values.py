"""Adapts a backend's function to a dialect's value rules if they differ from its own.

A backend names the dialect whose rules it follows. If the two agree, a function is left unchanged.
If they differ, it is wrapped once, when the op is prepared.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Protocol, runtime_checkable

from castwise.arrays.backend import Backend, constant, known_number
from castwise.arrays.casting import cast_under, flushing, own_values
from castwise.arrays.functions import Function, function_for
from castwise.arrays.substitutes import variance_in_integers
from castwise.errors import (
    ArgumentError,
    AxisError,
    DivisionByZeroError,
    ScalarRangeError,
    ShapeError,
    UsageError,
)
from castwise.rules.values import Values
from castwise.vocab.dtypes import DType, dtype

# Place: the backend, op, dtype and rules that a value rule depends on.


@runtime_checkable
class TakesAlarms(Protocol):
    """A backend that writes a program, and leaves elements that would raise to another one."""

    def alarm(self, condition: Any) -> None:
        """Makes the program's results not count if a condition holds for any element."""


@runtime_checkable
class TakesChecks(Protocol):
    """A backend without values, which records what raises for some."""

    def check(self, condition: Any, error: Exception, among: Sequence[Any]) -> None:
        """Records an error that is raised if a condition holds for any element, and no array has
        none."""

    def sharing(self, function: Function, op: str, is_itself: bool) -> Function:
        """The function of an op, which gives an array in the memory of its operand."""


@runtime_checkable
class RunsItself(Protocol):
    """A backend whose own functions round more than once, as its library does."""

    def itself(self, op: str, compute: DType) -> Function | None:
        """The library's own function; None if it has none, or none that is any different."""


@dataclass(frozen=True)
class Place:
    """Where a function computes: on which backend, in which dtype, under which rules."""

    backend: Backend
    op: str
    compute: DType
    values: Values

    @property
    def own(self) -> Values:
        """The backend's own rules."""
        return own_values(self.backend)

    def differs(self, *fields: str) -> bool:
        """Whether the dialect and the backend disagree about a rule such as "casting.truth"."""
        return any(attrgetter(f)(self.values) != attrgetter(f)(self.own) for f in fields)

    def number(self, value: complex) -> Any:
        return self.backend.number(value, self.compute)

    def constant(self, value: int | float) -> Callable[[Any], Any]:
        """A function that returns the number to compute with an array, for repeated use."""
        return constant(self.backend, value, self.compute)

    def do(self, op: str, *arrays: Any, **options: Any) -> Any:
        """Another op in the same dtype."""
        return function_for(self.backend, op, self.compute)(*arrays, **options)

    def choose(self, condition: Any, x: Any, y: Any) -> Any:
        """x where the condition holds, y elsewhere."""
        return self.do("where", condition, x, y)

    def broadcast(self, x: Any, y: Any) -> Any:
        """y as an array, broadcast with x."""
        return self.choose(self.do("eq", x, x), y, y)

    def refuse(self, condition: Any, error: Callable[[], Exception], *among: Any) -> None:
        """Raises an error if a condition holds for any element, and no array among them has none;
        not if values cannot be read."""
        if any([0 in _shape(array) for array in among]):
            return
        if self._alarms:
            self._alarms.alarm(condition)
        elif self._checks:
            self._checks.check(condition, error(), among)
        elif self.backend.is_concrete(condition) and bool(condition.any()):
            raise error()

    @functools.cached_property
    def _alarms(self) -> TakesAlarms | None:
        return self.backend if isinstance(self.backend, TakesAlarms) else None

    @functools.cached_property
    def _checks(self) -> TakesChecks | None:
        return self.backend if isinstance(self.backend, TakesChecks) else None


def adapted(
    function: Function, backend: Backend, op: str, compute: DType, values: Values | None
) -> Function:
    """The function itself, or a wrapper that follows the dialect's rules."""
    if values is None:
        return function
    place = Place(backend, op, compute, values)
    if isinstance(backend, RunsItself) and values == place.own:
        function = backend.itself(op, compute) or function
    for rule in _RULES.get(op, ()):
        function = rule(function, place)
    is_flushing = values.casting.subnormals == "flushed" and place.differs("casting.subnormals")
    # A value that the processor flushed is lost.
    return flushing(function, backend, op, compute) if is_flushing else function


# Rules about empty, 0-d and broadcast arrays, and about results that share memory.

_FLOAT32 = dtype("float32")


def _cumulation_rule(function: Function, at: Place) -> Function:
    """A cumulative sum or product of a 0-d array, which is 0-d or has one element, and of an array
    with several dimensions if no axis is given."""
    shape = () if at.values.reducing.cumulated_number == "0-d" else (1,)
    reshape = at.backend.namespace.reshape

    def computed(x: Any, *, axis: int | None = None, **options: Any) -> Any:
        if axis is None and len(x.shape) > 1:
            x, axis = _along_no_axis(at, x)
        if x.shape:
            return function(x, axis=axis, **options)
        if axis not in (None, 0, -1):
            raise AxisError(f"axis {axis} is out of range for 0 dimensions.")
        # It is the number itself: 1 * inf+0j would be inf+nanj.
        if not shape and not options and at.backend.is_concrete(x):
            return at.backend.make(x, None, copy=True, device=None)
        found = function(reshape(x, (1,)), axis=axis, **options)
        return found if options.get("include_initial") else reshape(found, shape)

    return computed


def _along_no_axis(at: Place, x: Any) -> tuple[Any, int]:
    """The array to accumulate if no axis is given, and the axis to use."""
    rule = at.values.reducing.cumulated_axis
    if rule == "refused":
        raise ArgumentError(
            f"{at.op} of an array with {len(x.shape)} dimensions needs an axis in this dialect."
        )
    return (at.backend.namespace.reshape(x, (-1,)) if rule == "flattened" else x), 0


def _median_rule(function: Function, at: Place) -> Function:
    """The median, also of no elements."""

    def computed(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
        counted = x.shape if axis is None else (x.shape[axis],)
        if 0 not in counted:
            return function(x, axis=axis, keepdims=keepdims)
        if at.values.reducing.median_of_none == "raises":
            raise _of_nothing(at, x)
        empty = at.do("sum", x, axis=axis, keepdims=keepdims)
        if at.compute.kind == "complex":
            return at.do("mul", empty, at.number(complex(math.nan, math.nan)))
        nan = at.backend.number(math.nan, _FLOAT32)
        nans = function_for(at.backend, "mul", _FLOAT32)(at.backend.cast(empty, _FLOAT32), nan)
        return cast_under(at.values, at.backend, nans, at.compute)

    return computed


def _of_nothing(at: Place, x: Any) -> UsageError:
    return ShapeError(
        f"the {at.op} of an array without elements, of shape {tuple(x.shape)}, raises in this "
        "dialect: check x.size first."
    )


def _shared_memory_rule(function: Function, at: Place) -> Function:
    """`+x`, real, imag and conj, which share the memory of x or copy it."""
    is_shared, is_own = (at.op in v.memory.shares_memory.split() for v in (at.values, at.own))
    is_itself = at.op == "positive" or (at.op != "imag" and at.compute.kind != "complex")
    if isinstance(at.backend, TakesChecks):
        return at.backend.sharing(function, at.op, is_itself) if is_shared else function
    if is_shared and is_itself:  # computing small dtypes in wider ones would copy
        return lambda x: x[...]
    if is_shared or not is_own:
        return function
    return lambda x: at.backend.make(x if is_itself else function(x), None, copy=True, device=None)


def _bound_shapes_rule(function: Function, at: Place) -> Function:
    """clamp, if bounds may not broadcast the array."""
    rule = at.values.clamping.bound_shapes
    if rule == "broadcast":
        return function

    def computed(x: Any, *bounds: Any) -> Any:
        xp = at.backend.namespace
        found = function(x, *(bounds if rule == "first" else [_one(xp, bound) for bound in bounds]))
        if _is_other(_shape(x), _shape(found)):
            raise ShapeError(
                f"clamp keeps the shape {_shape(x)} in this dialect, but the bounds would "
                f"broadcast it to {_shape(found)}: broadcast x first."
            )
        return found

    return computed


def _first_bound_rule(function: Function, at: Place) -> Function:
    """clamp, if only the first element of a bound counts."""
    xp = at.backend.namespace
    return lambda x, *bounds: function(
        x, *[xp.reshape(bound, (-1,))[0] if _shape(bound) else bound for bound in bounds]
    )


def _one(xp: Any, bound: Any) -> Any:
    """The number in a bound."""
    shape = _shape(bound)
    if not shape:
        return bound
    if math.prod(shape) != 1:
        raise ShapeError(
            f"clamp takes bounds of one element in this dialect, not of shape {shape}."
        )
    return xp.reshape(bound, ())


def _dimensions_rule(function: Function, at: Place) -> Function:
    """The function, or one that refuses 0-d arrays if the dialect does."""
    if at.op not in at.values.needs.dimension.split():
        return function

    def computed(x: Any, **options: Any) -> Any:
        if not x.shape:
            raise ShapeError(
                f"{at.op} of a 0-d array, which has no axis, is refused in this dialect: use "
                "x[None], which has one."
            )
        return function(x, **options)

    return computed


def _elements_rule(function: Function, at: Place) -> Function:
    """The function, or one that refuses arrays without elements if the dialect does."""
    is_refused = at.op == "logsumexp" and at.values.reducing.logsumexp_of_none == "raises"
    if not is_refused and at.op not in at.values.needs.elements.split():
        return function

    def computed(*arrays: Any, **options: Any) -> Any:
        for array in arrays:
            if 0 in _shape(array):
                raise _of_nothing(at, array)
        return function(*arrays, **options)

    return computed


def _vectors_rule(function: Function, at: Place) -> Function:
    """The function, or one that accepts only vectors if the dialect does."""
    if at.op not in at.values.needs.vectors.split():
        return function

    def computed(*arrays: Any) -> Any:
        check_vectors(at.op, at.values, *arrays)
        return function(*arrays)

    return computed


def check_vectors(op: str, values: Values | None, *arrays: Any) -> None:
    """Raises ShapeError if a product that only takes vectors gets other shapes."""
    if values is None or op not in values.needs.vectors.split():
        return
    if any(len(_shape(array)) != 1 for array in arrays):
        shapes = " and ".join([str(_shape(array)) for array in arrays])
        raise ShapeError(
            f"{op} takes arrays with one dimension in this dialect, not {shapes}: reshape them to "
            "(-1,)."
        )


def _extremum_rule(function: Function, at: Place) -> Function:
    """max and min, also of no elements."""
    if at.values.reducing.extremes_of_none == "raises" or at.compute.kind not in ("int", "float"):
        return function
    is_whole = at.compute.kind == "int"
    least, most = (int(at.compute.min), int(at.compute.max)) if is_whole else (-math.inf, math.inf)
    end = least if at.op == "max" else most

    def computed(x: Any, *, axis: Any = None, **options: Any) -> Any:
        if 0 not in x.shape:
            return function(x, axis=axis, **options)
        empty = at.do("sum", x, axis=axis, **options)
        zeros = at.backend.cast(empty, at.compute)
        return at.choose(at.do("eq", zeros, zeros), at.number(end), zeros)

    return computed


def _mean_rule(function: Function, at: Place) -> Function:
    """The mean of 64-bit integers, which a float cannot hold exactly."""
    is_long = at.compute.kind == "int" and at.compute.bits == 64
    if not is_long or at.values.reducing.integer_means == "in floats":
        return function

    def computed(x: Any, *, axis: Any = None, **options: Any) -> Any:
        axes = axis if isinstance(axis, tuple) else (axis,)
        lengths = x.shape if axis is None else [x.shape[a] for a in axes]
        count = math.prod(lengths) if all(isinstance(n, int) for n in lengths) else 0
        if not count:
            return function(x, axis=axis, **options)
        sums = at.do("sum", x, axis=axis, **options)
        divisor = at.number(count)
        return at.do("floor_divide", at.do("sub", sums, at.do("fmod", sums, divisor)), divisor)

    return computed


def _shape(array: Any) -> tuple[Any, ...]:
    return tuple(getattr(array, "shape", ()))


def _is_other(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two shapes differ, as far as they are known."""
    if len(one) != len(other):
        return True
    pairs = [pair for pair in zip(one, other, strict=True) if all(isinstance(n, int) for n in pair)]
    return any(first != second for first, second in pairs)


# Powers, if a dialect's rule differs from the backend's.


def _power_rule(function: Function, at: Place) -> Function:
    """Integers to the power of integers, and floats to the power of a single exponent."""
    if at.compute.kind == "float":  # some libraries take a root if the exponent is broadcast
        takes_root = at.own.powers.by_one_exponent == "square root"
        is_root = at.values.powers.by_one_exponent == "square root"
        return _full_exponents(function, at) if takes_root and not is_root else function
    if at.compute.kind != "int":
        return function
    rule = at.values.powers.of_integers
    if rule == "in float64":
        return functools.partial(_float_power, at)
    if at.own.powers.of_integers == rule != "negative raises":
        return function
    if at.own.powers.of_integers == "six bits":
        function = functools.partial(_wrapping_power, at)
    return functools.partial(_POWERS[rule], function, at)


def _full_exponents(function: Function, at: Place) -> Function:
    """A power on a library that takes the square root if a single exponent is 0.5. Each element
    gets its own exponent, and there are always at least two."""

    def computed(x: Any, y: Any) -> Any:
        if not _may_be_half(at, y):
            return function(x, y)
        full = at.broadcast(x, y)
        if math.prod(full.shape) != 1:
            return function(x, full)
        base = at.broadcast(full, x)
        pairs = [at.do("stack", (one, one), axis=-1) for one in (base, full)]
        return function(*pairs)[..., 0]

    return computed


def _may_be_half(at: Place, exponents: Any) -> bool:
    """Whether an exponent may be 0.5; true if they cannot be read."""
    if not getattr(exponents, "shape", ()):
        return known_number(exponents, at.backend) in (0.5, None)
    is_half = at.do("eq", exponents, at.number(0.5))
    return not at.backend.is_concrete(is_half) or bool(is_half.any())


def _float_power(at: Place, x: Any, y: Any) -> Any:
    wide, backend = dtype("float64"), at.backend
    power = function_for(backend, "pow", wide)(backend.cast(x, wide), backend.cast(y, wide))
    return cast_under(at.values, backend, power, at.compute)


def _wrapping_power(at: Place, x: Any, y: Any) -> Any:
    """The power of non-negative exponents, bit by bit."""
    one, power = at.number(1), at.do("add", at.do("mul", x, at.number(0)), at.number(1))
    for _ in range(at.compute.bits):
        is_odd = at.do("eq", at.do("bitwise_and", y, one), one)
        power = at.choose(is_odd, at.do("mul", power, x), power)
        x, y = at.do("mul", x, x), at.do("bitwise_right_shift", y, one)
    return power


def _raising(function: Function, at: Place, x: Any, y: Any) -> Any:
    if at.compute.is_signed:
        at.refuse(at.do("lt", y, at.number(0)), lambda: ScalarRangeError(
            f"this dialect refuses {at.compute} to a negative power: cast the base to a float, "
            "x.astype('float64')."
        ), x)  # fmt: skip
    return function(x, y)


def _split(function: Function, at: Place, x: Any, y: Any, negative: Any) -> Any:
    """The power where the exponent is not negative, and the given values elsewhere."""
    zero = at.number(0)
    is_negative = at.do("lt", y, zero)
    return at.choose(is_negative, negative, function(x, at.choose(is_negative, zero, y)))


def _truncating(function: Function, at: Place, x: Any, y: Any) -> Any:
    if not at.compute.is_signed:
        return function(x, y)
    zero, one, minus = at.number(0), at.number(1), at.number(-1)
    is_odd = at.do("eq", at.do("bitwise_and", y, one), one)
    of_minus = at.choose(is_odd, minus, one)
    of_others = at.choose(at.do("eq", x, one), one, zero)
    return _split(function, at, x, y, at.choose(at.do("eq", x, minus), of_minus, of_others))


def _vanishing(function: Function, at: Place, x: Any, y: Any) -> Any:
    if not at.compute.is_signed:
        return function(x, y)
    return _split(function, at, x, y, at.number(0))


def _by_six_bits(function: Function, at: Place, x: Any, y: Any) -> Any:
    if not y.shape:  # a single exponent uses all its bits, for any dtype
        return function(x, at.backend.cast(y, at.compute))
    zero = at.number(0)
    power = function(x, at.do("bitwise_and", y, at.number(63)))
    both = function_for(at.backend, "logical_and", dtype("bool"))
    is_zero = both(at.do("eq", x, zero), at.do("ne", y, zero))
    return at.choose(is_zero, zero, power)


_POWERS: dict[str, Function] = {
    "negative raises": _raising, "negative truncates": _truncating,
    "negative is zero": _vanishing, "six bits": _by_six_bits,
}  # fmt: skip

# Quotients and remainders, if a dialect's rule differs from the backend's.


def _quotient_rule(function: Function, at: Place) -> Function:
    """`//`: its direction, how floats are rounded, and division of integers by zero."""
    if at.values.dividing.rounds == "truncates":
        function = functools.partial(_truncated, at)
    elif at.compute.kind == "float":
        is_rounded = at.values.dividing.float_quotient == "rounded"
        return (lambda x, y: at.do("floor", at.do("div", x, y))) if is_rounded else function
    if at.compute.kind not in ("bool", "int"):
        return function
    rule = at.values.dividing.quotient_by_zero
    if at.compute.kind == "bool":  # on which libraries differ, if they have it at all
        return _by_zero(function, at, rule)
    is_own = not at.differs("dividing.quotient_by_zero", "dividing.rounds") and rule != "raises"
    return function if is_own else _by_zero(function, at, rule)


def _truncated_quotient_rule(function: Function, at: Place) -> Function:
    """A truncated quotient: how floats are rounded, and division of integers by zero."""
    if at.compute.kind == "int":
        return _by_zero(function, at, at.values.dividing.quotient_by_zero)
    is_rounded = at.compute.kind == "float" and at.values.dividing.float_quotient == "rounded"
    return functools.partial(_truncated, at) if is_rounded else function


def _remainder_rule(function: Function, at: Place) -> Function:
    """`%` and fmod: the sign, and division of integers by zero."""
    if at.op == "remainder" and at.values.dividing.rounds == "truncates":
        function = function_for(at.backend, "fmod", at.compute)
    rule = at.values.dividing.remainder_by_zero
    is_own = not at.differs("dividing.remainder_by_zero", "dividing.rounds") and rule != "raises"
    if at.compute.kind == "bool" or (at.compute.kind == "int" and not is_own):
        return _by_zero(function, at, rule)
    return function


def _truncated(at: Place, x: Any, y: Any) -> Any:
    """The truncated quotient, exact for integers."""
    if at.compute.kind == "float":
        return at.do("trunc", at.do("div", x, y))
    return at.do("floor_divide", at.do("sub", x, at.do("fmod", x, y)), y)


def _by_zero(function: Function, at: Place, rule: str) -> Function:
    def computed(x: Any, y: Any) -> Any:
        is_zero = at.do("eq", y, at.number(0))
        if rule == "raises":
            at.refuse(is_zero, lambda: DivisionByZeroError(
                f"{at.op} of {at.compute} by zero raises in this dialect: replace the zeros "
                "first, cw.apply('where', y == 0, 1, y)."
            ), x)  # fmt: skip
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


def _division_rule(function: Function, at: Place) -> Function:
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
        return function(x, at.broadcast(x, y) if is_single else y)

    return computed


# Other rules, each about one op or two.


def _truth_rule(function: Function, at: Place) -> Function:
    """any and all of complex numbers, if they count as true by another rule than the library's."""
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
        if bounds:
            at.refuse(negation(at.do("le", bounds[0], bounds[-1])), lambda: UsageError(
                "clamp raises in this dialect, because the lower bound is above the upper one, or "
                "a bound is NaN."
            ))  # fmt: skip
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
    is_exact = at.values.powers.square_root != "library" and at.differs("powers.square_root")
    if at.compute.kind != "float" or at.compute.bits < 32 or not is_exact:
        return function
    return at.backend.function("exact_sqrt", at.compute) or function


def _of_nan_rule(function: Function, at: Place) -> Function:
    """sign and heaviside of NaN."""
    field = {"sign": "sign_of_nan", "heaviside": "step_of_nan"}[at.op]
    if at.compute.kind != "float" or not at.differs(f"arithmetic.{field}"):
        return function
    of_nan = at.constant(0 if getattr(at.values.arithmetic, field) == "zero" else math.nan)
    return lambda x, *y: at.choose(at.do("ne", x, x), of_nan(x), function(x, *y))


def _place_of_nan_rule(function: Function, at: Place) -> Function:
    """The index of the largest or smallest number, if NaN does not count as one."""
    if at.compute.kind != "float" or at.values.reducing.place_of_nan == "taken":
        return function
    end = at.constant(-math.inf if at.op == "argmax" else math.inf)
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


def _xlogy_rule(function: Function, at: Place) -> Function:
    """xlogy of 0 and NaN, if it is 0."""
    if at.compute.kind != "float" or at.values.arithmetic.zero_log_of_nan == "nan":
        return function
    zero = at.constant(0)
    return lambda x, y: at.choose(at.do("eq", x, zero(x)), zero(x), function(x, y))


def _logaddexp_rule(function: Function, at: Place) -> Function:
    """logaddexp and logaddexp2 of complex numbers, if their imaginary part wraps around."""
    is_wrapped = at.values.arithmetic.summed_angles == "wrapped"
    if at.compute.kind != "complex" or not (is_wrapped and at.differs("arithmetic.summed_angles")):
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
    """round, if it takes halves away from zero and the library's own does not."""
    if at.compute.kind != "float" or not at.differs("arithmetic.halves"):
        return function

    def away(x: Any) -> Any:
        whole = at.do("trunc", x)
        rest = at.do("abs", at.do("sub", x, whole))
        further = at.do("add", whole, at.do("copysign", at.number(1), x))
        return at.choose(at.do("ge", rest, at.number(0.5)), further, whole)

    return away


_RULES: dict[str, tuple[Callable[[Function, Place], Function], ...]] = {
    "div": (_division_rule,), "truncate_div": (_truncated_quotient_rule,), "pow": (_power_rule,),
    **dict.fromkeys(("floor_divide", "floor_div"), (_quotient_rule,)),
    **dict.fromkeys(("remainder", "fmod"), (_remainder_rule,)),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), (_shift_rule,)),
    "clamp": (_clamp_rule, _bound_shapes_rule), "clamp_by_first": (_clamp_rule, _first_bound_rule),
    "angle": (_angle_rule,), "mean": (_mean_rule,), "var": (_variance_rule,),
    "xlogy": (_xlogy_rule,), "sqrt": (_square_root_rule,), "round": (_rounding_rule,),
    **dict.fromkeys(("sign", "heaviside"), (_of_nan_rule,)),
    **dict.fromkeys(("logaddexp", "logaddexp2"), (_logaddexp_rule,)),
    **dict.fromkeys(("argmax", "argmin"), (_place_of_nan_rule, _dimensions_rule, _elements_rule)),
    **dict.fromkeys(("kron", "logsumexp"), (_elements_rule,)),
    **dict.fromkeys(("softmax", "log_softmax"), (_dimensions_rule,)),
    **dict.fromkeys(("dot", "outer"), (_vectors_rule,)),
    **dict.fromkeys(("max", "min"), (_extremum_rule,)),
    **dict.fromkeys(("any", "all"), (_truth_rule,)),
    **dict.fromkeys(("cumsum", "cumprod"), (_cumulation_rule,)),
    **dict.fromkeys(("median", "lower_median"), (_median_rule,)),
    **dict.fromkeys(("positive", "real", "imag", "conj"), (_shared_memory_rule,)),
}  # fmt: skip
