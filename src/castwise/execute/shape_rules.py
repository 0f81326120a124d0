"""Rules about values that look at shapes: what is empty, 0-d, broadcast, or shares its memory."""

from __future__ import annotations

import math
from typing import Any

from castwise.errors import UsageError
from castwise.execute.backend import TakesConstants, known_number
from castwise.execute.functions import Function, function_for
from castwise.execute.place import Place


def made_array(at: Place, x: Any, y: Any) -> Any:
    """A number or an array in the shape that it and another one are broadcast to."""
    return at.choose(at.do("eq", x, x), y, y)


def full_exponents(function: Function, at: Place) -> Function:
    """A power on a library that takes the square root where one exponent of a half serves many
    elements, or the only one: each is given its own, and never one alone."""

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
    """Whether one of them is a half, as far as they are there to be read."""
    if not getattr(exponents, "shape", ()):
        return known_number(exponents, at.backend) in (0.5, None)
    is_half = at.do("eq", exponents, at.number(0.5))
    return not at.backend.is_concrete(is_half) or bool(is_half.any())


def is_cumulation(function: Function, at: Place) -> Function:
    """A cumulative sum or product of a 0-d array, which is 0-d or has one element."""
    if isinstance(at.backend, TakesConstants):
        return function  # a graph is told the shape when it is traced
    shape = () if at.values.cumulated_number == "0-d" else (1,)

    def computed(x: Any, **options: Any) -> Any:
        if x.shape:
            return function(x, **options)
        found = function(x.reshape((1,)), **options)
        return found if options.get("include_initial") else found.reshape(shape)

    return computed


def is_median(function: Function, at: Place) -> Function:
    """The median, of no elements too."""

    def computed(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
        counted = x.shape if axis is None else (x.shape[axis],)
        if 0 not in counted:
            return function(x, axis=axis, keepdims=keepdims)
        if at.values.median_of_none == "raises":
            raise _of_nothing(at, x)
        empty = function_for(at.backend, "sum", at.compute)(x, axis=axis, keepdims=keepdims)
        zeros = at.backend.cast(empty, at.compute)
        is_integer = at.compute.kind in ("bool", "int")
        return zeros if is_integer else at.do("mul", zeros, at.number(math.nan))

    return computed


def is_logsumexp(function: Function, at: Place) -> Function:
    """logsumexp, where there is none of an array without elements."""
    if at.values.logsumexp_of_none != "raises":
        return function

    def computed(x: Any, **options: Any) -> Any:
        if 0 in x.shape:
            raise _of_nothing(at, x)
        return function(x, **options)

    return computed


def _of_nothing(at: Place, x: Any) -> UsageError:
    return UsageError(
        f"the {at.op} of no elements, of the shape {tuple(x.shape)}, raises in this dialect: look "
        "at x.size first."
    )


def is_part_or_self(function: Function, at: Place) -> Function:
    """`+x`, real, imag and conj, which lie in the memory of x or do not."""
    if isinstance(at.backend, TakesConstants):
        return function  # a graph has values, and no memory
    is_shared, is_own = (at.op in v.shares_memory.split() for v in (at.values, at.own))
    if is_shared == is_own:
        return function
    is_itself = at.op == "positive" or (at.op != "imag" and at.compute.kind != "complex")
    if not is_shared:
        return lambda x: at.backend.make(
            x if is_itself else function(x), None, copy=True, device=None
        )
    return (lambda x: x[...]) if is_itself else function
