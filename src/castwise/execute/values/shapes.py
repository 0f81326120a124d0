"""Rules about empty, 0-d and broadcast arrays, and about results that share memory."""

from __future__ import annotations

import math
from typing import Any

from castwise.errors import UsageError
from castwise.execute.backend import TakesConstants, known_number
from castwise.execute.functions.lookup import Function, function_for
from castwise.execute.values.casting import cast_under
from castwise.execute.values.place import Place
from castwise.rules.values import Values
from castwise.vocab.dtypes import dtype

_FLOAT32 = dtype("float32")


def made_array(at: Place, x: Any, y: Any) -> Any:
    """A number or an array, broadcast with another one."""
    return at.choose(at.do("eq", x, x), y, y)


def full_exponents(function: Function, at: Place) -> Function:
    """A power on a library that takes the square root if a single exponent is 0.5. Each element
    gets its own exponent, and there are always at least two."""

    def computed(x: Any, y: Any) -> Any:
        if not _may_be_half(at, y):
            return function(x, y)
        full = made_array(at, x, y)
        if math.prod(full.shape) != 1:
            return function(x, full)
        pair = function_for(at.backend, "stack", at.compute)
        base = made_array(at, full, x)
        return function(pair((base, base), axis=-1), pair((full, full), axis=-1))[..., 0]

    return computed


def _may_be_half(at: Place, exponents: Any) -> bool:
    """Whether an exponent may be 0.5; true if they cannot be read."""
    if not getattr(exponents, "shape", ()):
        return known_number(exponents, at.backend) in (0.5, None)
    is_half = at.do("eq", exponents, at.number(0.5))
    return not at.backend.is_concrete(is_half) or bool(is_half.any())


def cumulation_rule(function: Function, at: Place) -> Function:
    """A cumulative sum or product of a 0-d array, which is 0-d or has one element, and of an array
    with several dimensions if no axis is given."""
    if isinstance(at.backend, TakesConstants):
        return function  # a graph gets the shape when it is traced
    shape = () if at.values.reducing.cumulated_number == "0-d" else (1,)

    def computed(x: Any, *, axis: int | None = None, **options: Any) -> Any:
        if axis is None and len(x.shape) > 1:
            x, axis = _along_no_axis(at, x)
        if x.shape:
            return function(x, axis=axis, **options)
        found = function(x.reshape((1,)), axis=axis, **options)
        return found if options.get("include_initial") else found.reshape(shape)

    return computed


def _along_no_axis(at: Place, x: Any) -> tuple[Any, int]:
    """The array to accumulate if no axis is given, and the axis to use."""
    rule = at.values.reducing.cumulated_axis
    if rule == "refused":
        raise UsageError(
            f"{at.op} of an array with {len(x.shape)} dimensions needs an axis in this dialect."
        )
    return (x.reshape((-1,)) if rule == "flattened" else x), 0


def median_rule(function: Function, at: Place) -> Function:
    """The median, also of no elements."""

    def computed(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
        counted = x.shape if axis is None else (x.shape[axis],)
        if 0 not in counted:
            return function(x, axis=axis, keepdims=keepdims)
        if at.values.reducing.median_of_none == "raises":
            raise _of_nothing(at, x)
        empty = function_for(at.backend, "sum", at.compute)(x, axis=axis, keepdims=keepdims)
        nan = at.backend.number(math.nan, _FLOAT32)
        nans = function_for(at.backend, "mul", _FLOAT32)(at.backend.cast(empty, _FLOAT32), nan)
        return cast_under(at.values, at.backend, nans, at.compute)

    return computed


def logsumexp_rule(function: Function, at: Place) -> Function:
    """logsumexp, if it is refused for an array without elements."""
    if at.values.reducing.logsumexp_of_none != "raises":
        return function

    def computed(x: Any, **options: Any) -> Any:
        if 0 in x.shape:
            raise _of_nothing(at, x)
        return function(x, **options)

    return computed


def _of_nothing(at: Place, x: Any) -> UsageError:
    return UsageError(
        f"the {at.op} of an array without elements, of shape {tuple(x.shape)}, raises in this "
        "dialect: check x.size first."
    )


def shared_memory_rule(function: Function, at: Place) -> Function:
    """`+x`, real, imag and conj, which share the memory of x or copy it."""
    if isinstance(at.backend, TakesConstants):
        return function  # a graph has no memory to share
    is_shared, is_own = (at.op in v.memory.shares_memory.split() for v in (at.values, at.own))
    is_itself = at.op == "positive" or (at.op != "imag" and at.compute.kind != "complex")
    if is_shared and is_itself:  # computing small dtypes in wider ones would copy
        return lambda x: x[...]
    if is_shared or not is_own:
        return function
    return lambda x: at.backend.make(x if is_itself else function(x), None, copy=True, device=None)


def bound_shapes_rule(function: Function, at: Place) -> Function:
    """clamp, if bounds may not broadcast the array."""
    rule = at.values.clamping.bound_shapes
    if rule == "broadcast":
        return function

    def computed(x: Any, *bounds: Any) -> Any:
        xp = at.backend.namespace
        found = function(x, *(bounds if rule == "first" else [_one(xp, bound) for bound in bounds]))
        if _is_other(_shape(x), _shape(found)):
            raise UsageError(
                f"clamp keeps the shape {_shape(x)} in this dialect, but the bounds would "
                f"broadcast it to {_shape(found)}: broadcast x first."
            )
        return found

    return computed


def first_bound_rule(function: Function, at: Place) -> Function:
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
        raise UsageError(
            f"clamp takes bounds of one element in this dialect, not of shape {shape}."
        )
    return xp.reshape(bound, ())


def dimensions_rule(function: Function, at: Place) -> Function:
    """The function, or one that refuses 0-d arrays if the dialect does."""
    if at.op not in at.values.needs.dimension.split():
        return function

    def computed(x: Any, **options: Any) -> Any:
        if not x.shape:
            raise UsageError(
                f"{at.op} of a 0-d array, which has no axis, is refused in this dialect: use "
                "x[None], which has one."
            )
        return function(x, **options)

    return computed


def elements_rule(function: Function, at: Place) -> Function:
    """The function, or one that refuses arrays without elements if the dialect does."""
    if at.op not in at.values.needs.elements.split():
        return function

    def computed(*arrays: Any, **options: Any) -> Any:
        for array in arrays:
            if 0 in _shape(array):
                raise _of_nothing(at, array)
        return function(*arrays, **options)

    return computed


def vectors_rule(function: Function, at: Place) -> Function:
    """The function, or one that accepts only vectors if the dialect does."""
    if at.op not in at.values.needs.vectors.split():
        return function

    def computed(*arrays: Any) -> Any:
        check_vectors(at.op, at.values, *arrays)
        return function(*arrays)

    return computed


def check_vectors(op: str, values: Values | None, *arrays: Any) -> None:
    """Raises UsageError if a product that only takes vectors gets other shapes."""
    if values is None or op not in values.needs.vectors.split():
        return
    if any(len(_shape(array)) != 1 for array in arrays):
        shapes = " and ".join([str(_shape(array)) for array in arrays])
        raise UsageError(
            f"{op} takes arrays with one dimension in this dialect, not {shapes}: reshape them to "
            "(-1,)."
        )


def extremum_rule(function: Function, at: Place) -> Function:
    """max and min, also of no elements."""
    if at.values.reducing.extremes_of_none == "raises" or at.compute.kind not in ("int", "float"):
        return function
    end: int | float = math.inf
    if at.compute.kind == "int":
        end = int(at.compute.min if at.op == "max" else at.compute.max)
    elif at.op == "max":
        end = -math.inf

    def computed(x: Any, *, axis: Any = None, **options: Any) -> Any:
        if 0 not in x.shape:
            return function(x, axis=axis, **options)
        empty = function_for(at.backend, "sum", at.compute)(x, axis=axis, **options)
        zeros = at.backend.cast(empty, at.compute)
        return at.choose(at.do("eq", zeros, zeros), at.number(end), zeros)

    return computed


def mean_rule(function: Function, at: Place) -> Function:
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
        sums = function_for(at.backend, "sum", at.compute)(x, axis=axis, **options)
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
