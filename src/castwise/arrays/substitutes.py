"""Computations that replace an op if a value rule requires it, under their own names."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from castwise.arrays.backend import Backend, known_number
from castwise.arrays.casting import own_values
from castwise.arrays.functions import Function, function_for
from castwise.errors import UsageError
from castwise.rules.values import Values
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Scalar, held_value

_UINT64 = dtype("uint64")
_FLOAT32, _FLOAT64 = dtype("float32"), dtype("float64")
_WITH_WIDE = ("mul", "div", "floor_divide", "lerp")
# The result of a comparison if its first operand is negative and the second is unsigned, and the
# other way round.
_OF_NEGATIVE = {
    "eq": (False, False), "ne": (True, True), "lt": (True, False), "le": (True, False),
    "gt": (False, True), "ge": (False, True),
}  # fmt: skip


def function_named(op: str, backend: Backend, compute: DType) -> Function:
    """The function for an op, or for the substitute that a rule chose."""
    substitute = _SUBSTITUTES.get(op)
    return substitute(backend, compute) if substitute else function_for(backend, op, compute)


def _reciprocal_times(backend: Backend, compute: DType) -> Function:
    """The array's reciprocal, rounded to its dtype, times the number, which may be wider."""

    def computed(number: Any, array: Any) -> Any:
        held, wide = backend.dtype_of(array), _dtype_of(backend, number, compute)
        inverse = function_for(backend, "reciprocal", held)(array)
        inverse = inverse if held is wide else backend.cast(inverse, wide)
        product = function_for(backend, "mul", wide)(inverse, number)
        return product if wide is compute else backend.cast(product, compute)

    return computed


def _dtype_of(backend: Backend, number: Any, otherwise: DType) -> DType:
    return backend.dtype_of(number) if hasattr(number, "dtype") else otherwise


def _pow_of_large(backend: Backend, compute: DType) -> Function:
    """Integers to the power of any positive number, by squaring.

    With wrapping, an even number to the power of at least the width in bits is zero, and the powers
    of an odd number repeat with a period of a quarter of all numbers.
    """
    times, width = function_for(backend, "mul", compute), compute.bits

    def computed(base: Any, exponent: int) -> Any:
        left = width + (exponent - width) % (1 << max(width - 2, 0))
        found = None
        while left:
            if left & 1:
                found = base if found is None else times(found, base)
            left >>= 1
            base = times(base, base) if left else base
        return found

    return computed


def _pow_by_products(backend: Backend, compute: DType) -> Function:
    """Floats to the power of an int, by squaring, with each product rounded."""
    times = function_for(backend, "mul", compute)

    def computed(base: Any, exponent: int) -> Any:
        left, found = abs(int(exponent)), None
        while left:
            if left & 1:
                found = base if found is None else times(found, base)
            left >>= 1
            base = times(base, base) if left else base
        if found is None:
            return function_for(backend, "pow", compute)(base, backend.number(0, compute))
        one = backend.number(1, compute)
        return function_for(backend, "div", compute)(one, found) if exponent < 0 else found

    return computed


def _times_reciprocal(backend: Backend, compute: DType) -> Function:
    """The array times the other's reciprocal, each rounded; a plain quotient if that is equal."""
    if "div" in own_values(backend).dividing.reciprocal_second.split():
        return function_for(backend, "div", compute)
    reciprocal, times = (function_for(backend, op, compute) for op in ("reciprocal", "mul"))
    return lambda array, number: times(array, reciprocal(number))


def _div_of_arrays(backend: Backend, compute: DType) -> Function:
    """A true quotient, on a library that multiplies by the reciprocal of a number: there the
    divisor is converted to an array."""
    divide, equal, choose = (function_for(backend, op, compute) for op in ("div", "eq", "where"))
    if not own_values(backend).dividing.reciprocal_second:
        return divide

    def computed(x: Any, y: Any) -> Any:
        is_single = bool(x.shape) and not y.shape
        return divide(x, choose(equal(x, x), y, y) if is_single else y)

    return computed


def _with_wide(op: str, backend: Backend, compute: DType) -> Function:
    """An op of small floats and a number of a wider dtype, rounded once. A library that follows the
    same rule does this itself."""
    is_own = op in own_values(backend).arithmetic.wide_scalars.split()
    own = backend.function(op, compute) if is_own else None

    def computed(*operands: Any) -> Any:
        held = [_dtype_of(backend, operand, compute) for operand in operands]
        if own:
            array, number = operands if held[0] is compute else operands[::-1]
            if array.shape:  # two numbers would be computed in the wider dtype
                return own(array, number)
        wide = next((dtype for dtype in held if dtype is not compute), compute)
        function = function_for(backend, op, wide)
        pairs = zip(operands, held, strict=True)
        widened = [o if dtype is wide else backend.cast(o, wide) for o, dtype in pairs]
        return backend.cast(function(*widened), compute)

    return computed


def _truncated_quotient(backend: Backend, compute: DType) -> Function:
    """A quotient of floats truncated towards zero; for small floats before it is rounded."""
    held = _FLOAT32 if compute.bits < _FLOAT32.bits else compute
    divide, cut = (function_for(backend, op, held) for op in ("div", "trunc"))

    def computed(x: Any, y: Any) -> Any:
        if held is not compute:
            x, y = backend.cast(x, held), backend.cast(y, held)
        found = cut(divide(x, y))
        return found if held is compute else backend.cast(found, compute)

    return computed


@runtime_checkable
class TakesAlpha(Protocol):
    """A backend whose own sums and differences of floats take a factor."""

    takes_alpha: bool


def variance_in_integers(
    backend: Backend, held: DType, x: Any, *, axis: Any = None, correction: float = 0,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """The variance from a truncated mean, itself truncated."""
    do = functools.partial(function_for, backend, compute=held)
    axis = axis if x.shape else None  # a single number has no axis, and any axis is accepted
    axes = axis if isinstance(axis, tuple) else (axis,)
    count = math.prod(x.shape if axis is None else [x.shape[a] for a in axes])
    away = x
    if 0 not in x.shape:
        mean = do("mean")(x, axis=axis, keepdims=True)
        away = do("sub")(x, backend.cast(mean, held))
    squares = do("sum")(do("mul")(away, away), axis=axis, keepdims=keepdims)
    divisor = backend.number(max(count - int(correction), 1), held)
    squares = backend.cast(squares, held)
    whole = do("sub")(squares, do("fmod")(squares, divisor))
    return do("floor_divide")(whole, divisor)


def _scaled(op: str, backend: Backend, compute: DType) -> Function:
    """x + alpha * y, rounded after each step."""
    function, times = function_for(backend, op, compute), function_for(backend, "mul", compute)

    def computed(x: Any, y: Any, *, alpha: Scalar) -> Any:
        return function(x, times(y, backend.number(alpha, compute)))

    return computed


def _scaled_once(op: str, backend: Backend, compute: DType) -> Function:
    """x + alpha * y. float32 is rounded once, because float64 holds the product exactly; smaller
    floats are rounded after each step."""
    if isinstance(backend, TakesAlpha) and compute.kind in ("float", "complex"):
        own = backend.function(op, compute)
        if own is not None:
            return own
    by_steps = _scaled(op, backend, compute)
    if compute is not _FLOAT32 or _FLOAT64 not in backend.dtypes:
        return by_steps
    wide = _scaled(op, backend, _FLOAT64)

    def computed(x: Any, y: Any, *, alpha: Scalar) -> Any:
        if _is_power_of_two(alpha):
            return by_steps(x, y, alpha=alpha)
        # The factor is rounded to float32 before it is multiplied in float64.
        factor = held_value(_FLOAT32, alpha)
        found = wide(backend.cast(x, _FLOAT64), backend.cast(y, _FLOAT64), alpha=factor)
        return backend.cast(found, compute)

    return computed


def _is_power_of_two(number: Scalar) -> bool:
    """Whether a product with a number is exact, so that only the sum is rounded."""
    return not isinstance(number, complex) and abs(math.frexp(number)[0]) == 0.5


@runtime_checkable
class TakesExponents(Protocol):
    """A backend whose own power takes a Python number unchanged."""

    takes_exponents: bool


def power_name(values: Values) -> str:
    """The name of the function for the power of a Python number that is not rounded."""
    is_short = values.powers.by_one_exponent == "short cuts"
    return "pow_by_short_cuts" if is_short else "pow_of_number"


def _pow_of_number(backend: Backend, compute: DType) -> Function:
    """The power of a Python number that is not rounded to float32."""
    own = backend.function("pow", compute)
    if own and isinstance(backend, TakesExponents):
        return own
    power = function_for(backend, "pow", compute)
    is_widened = compute is _FLOAT32 and _FLOAT64 in backend.dtypes

    def computed(x: Any, exponent: Scalar) -> Any:
        if not is_widened or _is_exact(exponent):
            return power(x, backend.number(exponent, compute))
        wide = function_for(backend, "pow", _FLOAT64)
        found = wide(backend.cast(x, _FLOAT64), backend.number(exponent, _FLOAT64))
        return backend.cast(found, compute)

    return computed


@functools.lru_cache(maxsize=256)
def _is_exact(number: Scalar) -> bool:
    """Whether float32 holds a number exactly, or rounds it to infinity like float64."""
    try:
        return held_value(_FLOAT32, number) == number
    except UsageError:
        return True


def _pow_by_short_cuts(backend: Backend, compute: DType) -> Function:
    """The power of a Python number, computed for some by a root or products. A library that has
    these short cuts uses them itself."""
    power = _pow_of_number(backend, compute)
    is_own = isinstance(backend, TakesExponents)
    if is_own or compute.kind != "float" or compute.name == "float16":
        return power
    times = function_for(backend, "mul", compute)

    def computed(base: Any, exponent: Scalar) -> Any:
        if exponent in _ROOTS:
            return function_for(backend, _ROOTS[exponent], compute)(base)
        if exponent not in _PRODUCTS:
            return power(base, exponent)
        square = times(base, base)
        if exponent == -2:
            return function_for(backend, "reciprocal", compute)(square)
        return square if exponent == 2 else times(square, base)

    return computed


_ROOTS: dict[Scalar, str] = {0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal"}
_PRODUCTS = (2, 3, -2)


def _power_or_root(backend: Backend, compute: DType) -> Function:
    """A power, with the square root for 0.5: not every version of a library does this itself."""
    power, equal, choose = (function_for(backend, op, compute) for op in ("pow", "eq", "where"))
    is_exact = own_values(backend).powers.square_root == "exact" or compute.bits < 32
    root = function_for(backend, "sqrt" if is_exact else "exact_sqrt", compute)

    def computed(base: Any, exponent: Any) -> Any:
        known = known_number(exponent, backend)
        if known is not None:
            return root(base) if known == 0.5 else power(base, exponent)
        is_half = equal(exponent, backend.number(0.5, compute))
        return choose(is_half, root(base), power(base, exponent))

    return computed


def _of_mixed_signs(op: str, backend: Backend, compute: DType) -> Function:
    """A comparison of a signed and an unsigned integer: by the sign, otherwise as unsigned ones."""
    compare, (of_first, of_second) = function_for(backend, op, _UINT64), _OF_NEGATIVE[op]
    choose = function_for(backend, "where", dtype("bool"))

    def computed(x: Any, y: Any) -> Any:
        found = compare(backend.cast(x, _UINT64), backend.cast(y, _UINT64))
        for array, answer in ((x, of_first), (y, of_second)):
            held = backend.dtype_of(array)
            if held.is_signed:
                is_negative = function_for(backend, "lt", held)(array, backend.number(0, held))
                found = choose(is_negative, backend.number(answer, dtype("bool")), found)
        return found

    return computed


_SUBSTITUTES: dict[str, Callable[[Backend, DType], Function]] = {
    "reciprocal_times": _reciprocal_times, "times_reciprocal": _times_reciprocal,
    "pow_of_large": _pow_of_large, "pow_of_number": _pow_of_number,
    "pow_by_products": _pow_by_products,
    "pow_by_short_cuts": _pow_by_short_cuts, "pow_or_root": _power_or_root,
    "div_of_arrays": _div_of_arrays, "truncated_quotient": _truncated_quotient,
    "clamp_by_first": lambda backend, compute: function_for(backend, "clamp", compute),
    **{f"{op}_scaled": functools.partial(_scaled, op) for op in ("add", "sub")},
    **{f"{op}_scaled_once": functools.partial(_scaled_once, op) for op in ("add", "sub")},
    **{f"{op}_with_wide": functools.partial(_with_wide, op) for op in _WITH_WIDE},
    **{f"{op}_of_mixed_signs": functools.partial(_of_mixed_signs, op) for op in _OF_NEGATIVE},
}  # fmt: skip
