"""Finds the function for an op on a backend's arrays of one dtype."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple, TypeAlias

from castwise.arrays.backend import Backend
from castwise.catalog import STANDARD, dialect_named
from castwise.errors import ArgumentError, NoKernelError, ShapeError, UsageError
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.ops import OPS, known_op

# The error function, for namespaces that have none.


def erf(xp: Any, x: Any) -> Any:
    """The error function, within a few units of the last place of float64."""
    if x.dtype != xp.float64:
        return xp.astype(erf(xp, xp.astype(x, xp.float64)), x.dtype)
    away = xp.abs(x)
    near = xp.where(away < 2.5, away, xp.zeros_like(away))
    far = xp.where(away < 2.5, xp.full_like(away, 2.5), xp.minimum(away, xp.full_like(away, 7.0)))
    found = xp.where(away < 2.5, _erf_series(near), 1 - _erfc_fraction(xp, far))
    return xp.where(x < 0, -found, xp.where(xp.isnan(x), x, found))


def _erf_series(x: Any) -> Any:
    """2 / sqrt(pi) * the sum of x**(2n+1) 2**n exp(-x**2) / (1 * 3 * ... * (2n+1))."""
    square = x * x
    total = x * 0
    for n in range(60, 0, -1):
        total = (1 + total) * (2 * square / (2 * n + 1))
    return (2 / math.sqrt(math.pi)) * x * (1 + total) * math.e ** (-square)


def _erfc_fraction(xp: Any, x: Any) -> Any:
    """The continued fraction of erfc, which converges quickly from 2 on."""
    tail = x
    for n in range(60, 0, -1):
        tail = x + (n / 2) / tail
    return xp.exp(-x * x) / (math.sqrt(math.pi) * tail)


# Ops beyond the Array API standard, written once for any namespace of it.
#
# Each takes the namespace, then arrays of one dtype that is wide enough to compute in.


def div(xp: Any, x: Any, y: Any) -> Any:
    """The quotient of integers rounded towards zero, for frameworks that divide integers as C
    does."""
    if not xp.isdtype(x.dtype, "signed integer"):
        return xp.floor_divide(x, y)
    is_minus = y == -1  # the lowest number cannot be divided by it
    quotient = xp.floor_divide(x, xp.where(is_minus, xp.ones_like(y), y))
    is_cut = (quotient * y != x) & ((x < 0) != (y < 0)) & (y != 0)
    return xp.where(is_minus, -x, xp.where(is_cut, quotient + 1, quotient))


def fmod(xp: Any, x: Any, y: Any) -> Any:
    """The remainder with the sign of the dividend."""
    return xp.where(x < 0, -1, 1) * xp.remainder(xp.abs(x), xp.abs(y))


def float_power(xp: Any, x: Any, y: Any) -> Any:
    return xp.pow(x, y)


def fmax(xp: Any, x: Any, y: Any) -> Any:
    """The larger one; if one is NaN, the other."""
    return xp.where(y != y, x, xp.where(x != x, y, xp.maximum(x, y)))


def fmin(xp: Any, x: Any, y: Any) -> Any:
    """The smaller one; if one is NaN, the other."""
    return xp.where(y != y, x, xp.where(x != x, y, xp.minimum(x, y)))


def copysign(xp: Any, x: Any, y: Any) -> Any:
    """The size of one with the sign of the other, for integers."""
    return xp.where(y < 0, -xp.abs(x), xp.abs(x))


def atan2(xp: Any, y: Any, x: Any) -> Any:
    """The angle of complex numbers, by the definition for real ones."""
    return -1j * xp.log((x + 1j * y) / xp.sqrt(x * x + y * y))


def _floats(xp: Any, x: Any) -> Any:
    """Integers as floats, of 64 bits if available; other dtypes unchanged."""
    if not xp.isdtype(x.dtype, ("bool", "integral")):
        return x
    floats = xp.__array_namespace_info__().dtypes(kind="real floating")
    return xp.astype(x, floats.get("float64", xp.float32))


def logaddexp(xp: Any, x: Any, y: Any) -> Any:
    """The logarithm of the sum of exponentials, of complex numbers and of integers."""
    x, y = _floats(xp, x), _floats(xp, y)
    is_first = xp.real(x) >= xp.real(y)
    high, low = xp.where(is_first, x, y), xp.where(is_first, y, x)
    return high + xp.log(1 + xp.exp(low - high))


def logaddexp2(xp: Any, x: Any, y: Any) -> Any:
    """The same to base 2."""
    return logaddexp(xp, _floats(xp, x) * math.log(2), _floats(xp, y) * math.log(2)) / math.log(2)


def exp2(xp: Any, x: Any) -> Any:
    """2 to the power of each element, of complex numbers."""
    return xp.exp(x * math.log(2))


def cbrt(xp: Any, x: Any) -> Any:
    """The cube root: a power, made exact to the last place by one Newton step."""
    size = xp.abs(x)
    is_plain = (size > 0) & xp.isfinite(size)
    root = xp.where(is_plain, size, xp.ones_like(size)) ** (1 / 3)
    root = root - (root - xp.where(is_plain, size, root * root * root) / (root * root)) / 3
    return xp.where(is_plain, xp.where(x < 0, -root, root), x)


def degrees(xp: Any, x: Any) -> Any:
    return x * (180 / math.pi)


def radians(xp: Any, x: Any) -> Any:
    return x * (math.pi / 180)


def ldexp(xp: Any, x: Any, y: Any) -> Any:
    """x * 2**y; for integers y in three steps, none of which overflows before the product does."""
    if not xp.isdtype(y.dtype, ("bool", "integral")):
        return x * 2.0**y
    far = 2100 if x.dtype == xp.float64 else 300
    exponent = xp.clip(xp.astype(y, xp.float64), -far, far)
    third = xp.floor(exponent / 3)
    for part in (third, third, exponent - 2 * third):
        x = x * xp.astype(2.0**part, x.dtype)
    return x


def heaviside(xp: Any, x: Any, y: Any) -> Any:
    """0 below zero, 1 above, y at zero."""
    one, zero = xp.ones_like(x), xp.zeros_like(x)
    return xp.where(x == 0, y, xp.where(x < 0, zero, xp.where(x > 0, one, x)))


def xlogy(xp: Any, x: Any, y: Any) -> Any:
    """x * log(y), and 0 where x is."""
    is_zero = (x == 0) & ~xp.isnan(y)
    product = x * xp.log(xp.where(is_zero, xp.ones_like(y), y))
    return xp.where(is_zero, xp.zeros_like(product), product)


def clip_above(xp: Any, x: Any, high: Any) -> Any:
    """The smaller of each element and the bound."""
    return xp.clip(x, None, high)


def lerp(xp: Any, start: Any, end: Any, weight: Any) -> Any:
    """Interpolates from start to end, exact at both."""
    near = start + weight * (end - start)
    return xp.where(xp.abs(weight) < 0.5, near, end - (end - start) * (1 - weight))


def addcmul(xp: Any, x: Any, y: Any, z: Any, *, value: complex = 1) -> Any:
    """Adds the product, times a factor that is converted to the arrays' dtype."""
    is_integer = xp.isdtype(x.dtype, ("bool", "integral"))
    factor = int(value.real) if is_integer else value
    return x + (y if factor == 1 else y * factor) * z


def addcdiv(xp: Any, x: Any, y: Any, z: Any, *, value: complex = 1) -> Any:
    """Adds the quotient, with a factor for the dividend."""
    return x + (y if value == 1 else y * value) / z


def rsub(xp: Any, x: Any, y: Any) -> Any:
    """The second operand minus the first."""
    return xp.subtract(y, x)


def clamp_min(xp: Any, x: Any, low: Any) -> Any:
    return xp.maximum(x, low)


def clamp_max(xp: Any, x: Any, high: Any) -> Any:
    return xp.minimum(x, high)


def real_div(xp: Any, x: Any, y: Any) -> Any:
    return xp.divide(x, y)


def floor_div(xp: Any, x: Any, y: Any) -> Any:
    return xp.floor_divide(x, y)


def truncate_div(xp: Any, x: Any, y: Any) -> Any:
    """The quotient without its fraction."""
    return div(xp, x, y) if xp.isdtype(x.dtype, "integral") else xp.trunc(x / y)


def div_no_nan(xp: Any, x: Any, y: Any) -> Any:
    """The quotient; 0 where the divisor is 0."""
    is_zero = y == 0
    quotient = x / xp.where(is_zero, xp.ones_like(y), y)
    return xp.where(is_zero, xp.zeros_like(quotient), quotient)


def multiply_no_nan(xp: Any, x: Any, y: Any) -> Any:
    """The product; 0 where the second operand is 0, for any first operand."""
    product = x * y
    return xp.where(y == 0, xp.zeros_like(product), product)


def mean(xp: Any, x: Any, **options: Any) -> Any:
    """The mean, of integers too."""
    return xp.mean(_floats(xp, x), **options)


def _reduced(xp: Any, losses: Any, reduction: str) -> Any:
    """A loss as its mean, its sum, or per element."""
    if reduction == "none":
        return losses
    return mean(xp, losses) if reduction == "mean" else xp.sum(losses)


def mse_loss(xp: Any, x: Any, y: Any, *, reduction: str = "mean") -> Any:
    return _reduced(xp, (x - y) * (x - y), reduction)


def l1_loss(xp: Any, x: Any, y: Any, *, reduction: str = "mean") -> Any:
    return _reduced(xp, xp.abs(x - y), reduction)


def huber_loss(xp: Any, x: Any, y: Any, *, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Half the square up to delta, and linear from there."""
    away = xp.abs(x - y)
    losses = xp.where(away <= delta, 0.5 * away * away, delta * (away - 0.5 * delta))
    return _reduced(xp, losses, reduction)


def poisson_nll_loss(
    xp: Any, x: Any, y: Any, *, reduction: str = "mean", log_input: bool = True
) -> Any:
    """The negative log likelihood of counts, without the constant term."""
    losses = xp.exp(x) - y * x if log_input else x - y * xp.log(x + 1e-8)
    return _reduced(xp, losses, reduction)


def relu(xp: Any, x: Any) -> Any:
    return xp.maximum(x, xp.zeros_like(x))


def threshold(xp: Any, x: Any, *, threshold: float = 0, value: float = 0) -> Any:
    """The value where x is not above the threshold."""
    return xp.where(x <= threshold, xp.full_like(x, value), x)  # NaN stays


def rsqrt(xp: Any, x: Any) -> Any:
    return 1 / xp.sqrt(x)


def sigmoid(xp: Any, x: Any) -> Any:
    """1 / (1 + exp(-x)), without overflow for large negative x."""
    if not xp.isdtype(x.dtype, "real floating"):
        return 1 / (1 + xp.exp(-x))
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1 / (1 + small), small / (1 + small))


def gelu(xp: Any, x: Any) -> Any:
    return 0.5 * x * (1 + erf(xp, x / math.sqrt(2.0)))


def silu(xp: Any, x: Any) -> Any:
    return x * sigmoid(xp, x)


def gelu_tanh(xp: Any, x: Any) -> Any:
    """The approximation of gelu by tanh."""
    return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def _highest(xp: Any, x: Any, axis: Any) -> Any:
    """The largest element along an axis, which is kept; zero if there is none."""
    farthest = xp.sum if 0 in x.shape else xp.max
    return farthest(x, axis=axis, keepdims=True)


def softmax(xp: Any, x: Any, *, axis: int = -1) -> Any:
    """The exponentials divided by their sum."""
    powers = xp.exp(x - _highest(xp, x, axis))
    return powers / xp.sum(powers, axis=axis, keepdims=True)


def log_softmax(xp: Any, x: Any, *, axis: int = -1) -> Any:
    away = x - _highest(xp, x, axis)
    return away - xp.log(xp.sum(xp.exp(away), axis=axis, keepdims=True))


def logsumexp(xp: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials, without overflow."""
    real = xp.real(x) if xp.isdtype(x.dtype, "complex floating") else x
    highest = _highest(xp, real, axis)
    highest = xp.where(xp.isfinite(highest), highest, xp.zeros_like(highest))
    total = xp.log(xp.sum(xp.exp(x - highest), axis=axis, keepdims=keepdims))
    return total + (highest if keepdims else xp.max(highest, axis=axis))


def angle(xp: Any, x: Any) -> Any:
    """The angle of a complex number; pi for a negative real one."""
    if xp.isdtype(x.dtype, "complex floating"):
        return xp.atan2(xp.imag(x), xp.real(x))
    turned = xp.where(x < 0, xp.full_like(x, math.pi), xp.zeros_like(x))
    return xp.where(xp.isnan(x), x, turned)


def norm(xp: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The square root of the sum of squares."""
    away = xp.abs(x)
    return xp.sqrt(xp.sum(away * away, axis=axis, keepdims=keepdims))


def median(xp: Any, x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The middle one, or the mean of the middle two."""
    return _middle(xp, x, axis, keepdims, lambda low, high: (low + high) / 2)


def lower_median(xp: Any, x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The middle one, or the lower of the middle two."""
    return _middle(xp, x, axis, keepdims, lambda low, high: low)


def _middle(
    xp: Any, x: Any, axis: int | None, keepdims: bool, between: Callable[[Any, Any], Any]
) -> Any:
    """The middle one, or a value between the middle two; NaN if there is a NaN."""
    flat, place = (xp.reshape(x, (-1,)), 0) if axis is None else (x, axis)
    ordered, count = xp.sort(flat, axis=place), flat.shape[place]
    before = (slice(None),) * (place % ordered.ndim)
    parts = [slice(n, n + 1) for n in ((count - 1) // 2, count // 2)]
    low, high = (ordered[before + (part,)] for part in parts)  # noqa: RUF005 -- Python 3.10
    found = between(low, high) if count % 2 == 0 else low
    if xp.isdtype(x.dtype, "real floating"):
        has_nan = xp.any(flat != flat, axis=place, keepdims=True)
        found = xp.where(has_nan, xp.full_like(found, math.nan), found)
    if axis is None:
        return xp.reshape(found, (1,) * x.ndim if keepdims else ())
    return found if keepdims else xp.squeeze(found, axis=axis)


def isclose(
    xp: Any, x: Any, y: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether each element is within the tolerance of the other."""
    is_near = (x == y) | (xp.isfinite(y) & (xp.abs(x - y) <= atol + rtol * xp.abs(y)))
    return is_near | ((x != x) & (y != y)) if equal_nan else is_near


def allclose(xp: Any, x: Any, y: Any, **tolerance: Any) -> Any:
    """Whether all elements are within the tolerance of one another."""
    return xp.all(isclose(xp, x, y, **tolerance))


def isin(xp: Any, x: Any, y: Any, *, invert: bool = False) -> Any:
    return xp.isin(x, y, invert=invert)


def _eig(xp: Any, x: Any) -> Any:
    """Eigenvalues and eigenvectors, complex even if the backend gives real ones."""
    return tuple([_as_complex(xp, part) for part in _of_linalg(xp, "eig")(x)])


def _eigvals(xp: Any, x: Any) -> Any:
    """Eigenvalues, complex even if the backend gives real ones."""
    return _as_complex(xp, _of_linalg(xp, "eigvals")(x))


def _of_linalg(xp: Any, name: str) -> Any:
    found = getattr(xp.linalg, name, None)
    if found is None:
        raise UsageError(f"this backend has no linalg.{name}: convert the tensor to one that does.")
    return found


def _as_complex(xp: Any, x: Any) -> Any:
    if xp.isdtype(x.dtype, "complex floating"):
        return x
    return xp.astype(x, xp.complex128 if x.dtype == xp.float64 else xp.complex64)


Function: TypeAlias = Callable[..., Any]

SIGNLESS = dtype("float8_e8m0fnu")  # powers of two, without a sign and without a zero
# Small dtypes are computed in a wider one and rounded, or wrapped, once; bool as in C.
WIDER = {
    "bool": dtype("int32"), "int": dtype("int32"), "float": dtype("float32"),
    "complex": dtype("complex64"),
}  # fmt: skip


def standard_name(op: str) -> str:
    """The name of an op in the array API standard."""
    return dialect_named(STANDARD).naming.aliases.get(op, op)


@functools.lru_cache(maxsize=4096)
def function_for(backend: Backend, op: str, compute: DType) -> Function:
    """The function for an op in a dtype: the backend's own, or a recipe.

    Raises UsageError if there is neither.
    """
    own = backend.function(op, compute)
    if own is not None:
        return own
    wider = widened_to(backend, op, compute)
    if wider is None:
        return _recipe(backend, op, compute)
    wide = backend.function(op, wider) or _recipe(backend, op, compute)
    return _widened(backend, wide, compute, wider)


def widened_to(backend: Backend, op: str, compute: DType) -> DType | None:
    """The wider dtype in which an op of a small one is computed; None if it is not."""
    wider = WIDER[compute.kind]
    is_small = compute.bits < wider.bits and wider in backend.dtypes
    return wider if is_small and backend.function(op, compute) is None else None


def _recipe(backend: Backend, op: str, compute: DType) -> Function:
    recipe = RECIPES.get(op)
    if recipe is not None:
        return functools.partial(recipe, backend.namespace)
    part, _, name = op.rpartition(".")  # linalg.inv is in an extension of the standard
    found: Function | None = getattr(getattr(backend.namespace, part, None), name, None)
    if found is None:
        row = known_op(op)
        is_declared = row is not None and row.family == "declared"
        way = f" Declare it with a kernel: cw.declare_op({op!r}, compute=...)."
        message = f"the backend {backend.name} cannot compute {op} in {compute}."
        raise NoKernelError(f"{message}{way if is_declared else ''}")
    return found


def _widened(backend: Backend, function: Function, compute: DType, wider: DType) -> Function:
    """A function that computes in a wider dtype and casts its results back."""

    def widen(array: Any) -> Any:
        if isinstance(array, (list, tuple)):
            return list(map(widen, array))
        return backend.cast(array, wider) if backend.dtype_of(array) is compute else array

    def computed(*arrays: Any, **options: Any) -> Any:
        result = function(*[widen(array) for array in arrays], **options)
        return tuple(map(narrow, result)) if isinstance(result, tuple) else narrow(result)

    def narrow(result: Any) -> Any:
        if not backend.owns(result):  # a scalar of the library
            result = backend.make(result, None, copy=None, device=None)
        if backend.dtype_of(result) is not wider:
            return result
        positive = above_zero(backend, result, wider) if compute is SIGNLESS else result
        return backend.cast(positive, compute)

    return computed


def above_zero(backend: Backend, array: Any, held: DType) -> Any:
    """The array with NaN for numbers that are not positive, whose sign a library would drop."""
    zero, nan = backend.number(0.0, held), backend.number(math.nan, held)
    is_none = function_for(backend, "le", held)(array, zero)
    return function_for(backend, "where", held)(is_none, nan, array)


# Other computations of an op, which the rules about values or the arguments of a call choose: each
# is decided as the op itself.
LIKE = {"clip_above": "clamp", "gelu_tanh": "gelu", "lower_median": "median"}

# Products of vectors and matrices beyond the Array API standard, written once for any namespace of
# it, like the other recipes.


def dot(xp: Any, x: Any, y: Any) -> Any:
    """The product summed over the last dimension of one and the one before last of the other."""
    if x.ndim == y.ndim == 1:
        return xp.vecdot(xp.conj(x), y)
    return xp.tensordot(x, y, axes=((-1,), (max(y.ndim - 2, 0),)))


def outer(xp: Any, x: Any, y: Any) -> Any:
    """All products of an element of one with an element of the other, for any shapes."""
    return xp.reshape(x, (math.prod(x.shape), 1)) * xp.reshape(y, (1, math.prod(y.shape)))


def inner(xp: Any, x: Any, y: Any) -> Any:
    """The products summed over the last dimension of both; a number multiplies."""
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    return xp.tensordot(x, y, axes=((x.ndim - 1,), (y.ndim - 1,)))


def vecdot(xp: Any, x: Any, y: Any, *, axis: int = -1) -> Any:
    """The products summed over one dimension, with the first operand conjugated. 0-d arrays, which
    the standard's vecdot does not take, are repeated along it."""
    if x.ndim and y.ndim:
        return xp.vecdot(x, y, axis=axis)
    products = xp.conj(x) * y
    return xp.sum(products, axis=axis, dtype=products.dtype) if products.ndim else products


def cross(xp: Any, x: Any, y: Any, *, axis: int = -1) -> Any:
    """The cross product of vectors with three elements."""
    if x.shape[axis] != 3 or y.shape[axis] != 3:
        raise ShapeError(
            f"a cross product needs vectors with 3 elements, not {x.shape[axis]} and"
            f" {y.shape[axis]}: choose another axis."
        )
    x, y = xp.moveaxis(x, axis, -1), xp.moveaxis(y, axis, -1)
    parts = [x[..., n] * y[..., m] - x[..., m] * y[..., n] for n, m in ((1, 2), (2, 0), (0, 1))]
    return xp.moveaxis(xp.stack(parts, axis=-1), -1, axis)


def kron(xp: Any, x: Any, y: Any) -> Any:
    """Each element of x times the whole of y, laid out as blocks."""
    left, right = spread(x.shape, y.shape)
    product = xp.reshape(x, left) * xp.reshape(y, right)
    return xp.reshape(product, tuple([n * m for n, m in zip(left[::2], right[1::2], strict=True)]))


def spread(x: tuple[Any, ...], y: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Two shapes with alternating dimensions of length 1, so that all pairs of elements combine.

    >>> spread((2,), (3, 4))
    ((1, 1, 2, 1), (1, 3, 1, 4))
    """
    rank = max(len(x), len(y))
    left, right = [(1,) * (rank - len(shape)) + tuple(shape) for shape in (x, y)]
    return (
        tuple([size for n in left for size in (n, 1)]),
        tuple([size for n in right for size in (1, n)]),
    )


# Which shapes layers take, and what follows from what they are given besides their operands.


def needed(op: str, name: str, given: Any) -> Any:
    """What an op cannot do without.

    Raises UsageError if it is not given.
    """
    if given is None:
        raise UsageError(
            f"{op} needs {name}=, which was not given: cw.apply({op!r}, ..., {name}=)."
        )
    return given


def check_count(count: int, size: Any) -> None:
    """Raises UsageError if topk is asked for more elements than there are."""
    if not 0 <= count <= (size if isinstance(size, int) else count):
        raise ShapeError(f"topk of {size} elements cannot give {count}: choose a smaller k.")


def check_attention(query: Sequence[Any], key: Sequence[Any], value: Sequence[Any]) -> None:
    """Raises UsageError if queries, keys and values do not fit."""
    is_fit = min(map(len, (query, key, value))) > 1
    if not is_fit or query[-1] != key[-1] or key[-2] != value[-2]:
        raise UsageError(
            "attention takes queries (..., n, e), keys (..., m, e) and values (..., m, v), not"
            f" {list(query)}, {list(key)} and {list(value)}."
        )


class Convolution(NamedTuple):
    """A convolution whose sizes fit, per dimension of its kernel."""

    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]  # before and after
    dilation: tuple[int, ...]
    groups: int
    sizes: tuple[int, ...]  # of the result


def convolution(
    op: str, x: Sequence[Any], weight: Sequence[Any], *, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Convolution:  # fmt: skip
    """How a convolution of these shapes is computed.

    >>> convolution("conv1d", (1, 2, 9), (4, 2, 3), stride=2, padding=1).sizes
    (5,)

    Raises UsageError if they do not fit.
    """
    rank = 2 + (1 if op == "conv1d" else 2)
    are_known = all(isinstance(size, int) for size in (*x[1:], *weight))  # a graph has names too
    if len(x) != rank or len(weight) != rank or not are_known:
        raise ShapeError(
            f"{op} takes an array and a kernel of {rank} dimensions, of which only the batch may"
            f" have an unknown size, not {list(x)} and {list(weight)}."
        )
    if x[1] != weight[1] * groups or weight[0] % groups:
        raise ShapeError(
            f"{op} of {x[1]} channels with a kernel of shape {list(weight)} in {groups} group(s):"
            " the kernel's second size is the channels of a group."
        )
    strides, dilations = _each(stride, rank - 2), _each(dilation, rank - 2)
    reach = [d * (n - 1) for d, n in zip(dilations, weight[2:], strict=True)]
    widths = _paddings(padding, reach)
    windows = zip(x[2:], widths, reach, strides, strict=True)
    sizes = tuple([(n + before + after - r - 1) // s + 1 for n, (before, after), r, s in windows])
    if any(size < 1 for size in sizes):
        raise ShapeError(f"{op}: the kernel {list(weight)} does not fit into {list(x)}.")
    return Convolution(strides, widths, dilations, groups, sizes)


def _paddings(padding: Any, reach: list[int]) -> tuple[tuple[int, int], ...]:
    if padding == "same":
        return tuple([(n // 2, n - n // 2) for n in reach])
    sizes = _each(0 if padding == "valid" else padding, len(reach))
    return tuple([(size, size) for size in sizes])


def _each(number: Any, count: int) -> tuple[int, ...]:
    """A number for each of so many dimensions."""
    return (number,) * count if isinstance(number, int) else tuple(number)


def normalized_axes(shape: Sequence[Any], normalized: Any) -> tuple[int, ...]:
    """The dimensions that layer_norm works over; the last, where none are named.

    Raises UsageError if they are not the last ones.
    """
    sizes = shape[-1:] if normalized is None else _each(normalized, 1)
    if not sizes or tuple(shape[-len(sizes) :]) != tuple(sizes):
        raise ShapeError(
            f"layer_norm of an array of shape {tuple(shape)} is over its last dimensions, which are"
            f" not {tuple(sizes)}."
        )
    return tuple(range(-len(sizes), 0))


def class_axis(scores: Sequence[Any], target: Sequence[Any]) -> int:
    """The dimension of the scores that has a place for each class.

    Raises UsageError if the shapes do not fit.
    """
    axis = min(1, len(scores) - 1)
    rest = (*scores[:axis], *scores[axis + 1 :])
    if not scores or tuple(target) not in (tuple(scores), rest):
        raise ShapeError(
            f"cross_entropy of scores of shape {tuple(scores)} takes a target of shape"
            f" {rest} (classes) or {tuple(scores)} (probabilities), not {tuple(target)}."
        )
    return axis


IGNORED = -100  # what cross_entropy ignores where no ignore_index is given


def check_ignored(ignore_index: int) -> None:
    """Raises UsageError if a class is ignored where the target is a probability of each."""
    if ignore_index != IGNORED:
        raise ArgumentError(
            "cross_entropy takes ignore_index with classes, not with the probability of each: give"
            " those elements a weight of their own."
        )


def check_smoothing(label_smoothing: float) -> None:
    """Raises UsageError if a part that is smoothed is not one."""
    if not 0 <= label_smoothing <= 1:
        raise ArgumentError(
            f"cross_entropy takes label_smoothing from 0 to 1, not {label_smoothing}."
        )


def pad_widths(given: Any, rank: int) -> list[tuple[int, int]]:
    """How much is added before and after each dimension.

    >>> pad_widths(1, 2), pad_widths((1, 0), 1), pad_widths([(0, 0), (1, 2)], 2)
    ([(1, 1), (1, 1)], [(1, 0)], [(0, 0), (1, 2)])

    Raises UsageError for another number of dimensions, or for a negative width.
    """
    if isinstance(given, int):
        given = (given, given)
    pairs = [given] * rank if len(given) == 2 and isinstance(given[0], int) else list(given)
    if len(pairs) != rank or any(size < 0 for pair in pairs for size in pair):
        raise ShapeError(
            f"pad_width is a number, a pair, or a pair for each of {rank} dimensions, none of them"
            f" negative, not {given!r}."
        )
    return [(before, after) for before, after in pairs]


# The layers that models are made of, written once for any namespace of the Array API standard,
# like the other recipes. An index among the operands keeps its own dtype.

_ALL = (slice(None), slice(None))  # the batch and the channels


def einsum(xp: Any, *operands: Any, equation: str = "") -> Any:
    """The products that an equation such as ij,jk->ik names, summed; every library has it."""
    needed("einsum", "equation", equation or None)
    return xp.einsum(equation, *operands)


def pad(xp: Any, x: Any, *, pad_width: Any = None, constant_values: float = 0) -> Any:
    """The array with a number added at both ends of each dimension."""
    widths = pad_widths(needed("pad", "pad_width", pad_width), x.ndim)
    for axis, width in enumerate(widths):
        edges = [
            xp.full((*x.shape[:axis], size, *x.shape[axis + 1 :]), constant_values, dtype=x.dtype)
            for size in width
        ]
        x = xp.concat([edges[0], x, edges[1]], axis=axis)
    return x


def one_hot(xp: Any, x: Any, *, num_classes: int | None = None) -> Any:
    """A new last dimension, with a 1 at the place that each element names."""
    classes = xp.arange(needed("one_hot", "num_classes", num_classes), dtype=x.dtype)
    return xp.astype(xp.expand_dims(x, axis=-1) == classes, xp.int32)


def embedding(xp: Any, indices: Any, weight: Any) -> Any:
    """The rows of the weight that the indices name."""
    rows = xp.take(weight, xp.reshape(indices, (-1,)), axis=0)
    return xp.reshape(rows, (*indices.shape, *weight.shape[1:]))


def topk(xp: Any, x: Any, *, k: int | None = None, axis: int = -1) -> Any:
    """The largest elements along an axis, the largest first, and their places."""
    count = needed("topk", "k", k)
    if not x.ndim:
        check_count(count, 1)
        return x, xp.zeros((), dtype=xp.int64)
    check_count(count, x.shape[axis])
    if not hasattr(xp, "take_along_axis"):
        raise UsageError("this backend has no topk: convert the tensor to one that does.")
    first = (*[slice(None)] * (axis % x.ndim), slice(count))
    places = xp.argsort(x, axis=axis, descending=True, stable=True)[first]
    return xp.take_along_axis(x, places, axis=axis), places


def conv1d(xp: Any, x: Any, weight: Any, *bias: Any, **options: Any) -> Any:
    """The products of a kernel with each window of x, summed; x is (batch, channels, length)."""
    return _convolved(xp, convolution("conv1d", x.shape, weight.shape, **options), x, weight, *bias)


def conv2d(xp: Any, x: Any, weight: Any, *bias: Any, **options: Any) -> Any:
    """The same in two dimensions; x is (batch, channels, height, width)."""
    return _convolved(xp, convolution("conv2d", x.shape, weight.shape, **options), x, weight, *bias)


def _convolved(xp: Any, how: Convolution, x: Any, weight: Any, *bias: Any) -> Any:
    """Sums the product of each element of the kernel with the part of x that it meets."""
    x = pad(xp, x, pad_width=[(0, 0), (0, 0), *how.padding])
    batch, channels, outputs = x.shape[0], x.shape[1] // how.groups, weight.shape[0] // how.groups
    total = None
    for place in itertools.product(*map(range, weight.shape[2:])):
        steps = zip(place, how.dilation, how.stride, how.sizes, strict=True)
        window = [slice(n * d, n * d + s * (size - 1) + 1, s) for n, d, s, size in steps]
        part, element = (*_ALL, *window), (*_ALL, *place)
        met = xp.reshape(x[part], (batch, how.groups, channels, -1))
        kernel = xp.reshape(weight[element], (how.groups, outputs, channels))
        product = xp.matmul(kernel, met)
        total = product if total is None else total + product
    found = xp.reshape(total, (batch, weight.shape[0], *how.sizes))
    return found + xp.reshape(bias[0], (-1, *[1] * len(how.sizes))) if bias else found


def layer_norm(
    xp: Any, x: Any, *parameters: Any, normalized_shape: Any = None, eps: float = 1e-5
) -> Any:
    """The elements less their mean, divided by their deviation, over the last dimensions; times a
    weight and plus a bias if given."""
    axes = normalized_axes(x.shape, normalized_shape)
    away = x - xp.mean(x, axis=axes, keepdims=True)
    found = away / xp.sqrt(xp.mean(away * away, axis=axes, keepdims=True) + eps)
    for parameter, combine in zip(parameters, (xp.multiply, xp.add), strict=False):
        found = combine(found, parameter)
    return found


def scaled_dot_product_attention(
    xp: Any, query: Any, key: Any, value: Any, *, is_causal: bool = False, scale: Any = None
) -> Any:
    """The values, weighted by the softmax of how well the queries match the keys."""
    check_attention(query.shape, key.shape, value.shape)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = xp.matmul(query, xp.matrix_transpose(key)) * factor
    if is_causal:
        rows, columns = (xp.arange(n) for n in scores.shape[-2:])
        is_later = xp.expand_dims(columns, axis=0) > xp.expand_dims(rows, axis=1)
        scores = xp.where(is_later, xp.full_like(scores, -math.inf), scores)
    powers = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    return xp.matmul(powers / xp.sum(powers, axis=-1, keepdims=True), value)


def cross_entropy(
    xp: Any, x: Any, target: Any, *, reduction: str = "mean", ignore_index: int = IGNORED,
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The loss of scores for classes: how unlikely they make the target, which is a class, or the
    probability of each class. What has the ignored class counts for nothing, in the mean too; a
    part of each target is smoothed over all classes."""
    check_smoothing(label_smoothing)
    is_of_classes = len(target.shape) < len(x.shape)
    axis, share = class_axis(x.shape, target.shape), 1 - label_smoothing
    away = x - xp.max(x, axis=axis, keepdims=True)
    logs = away - xp.log(xp.sum(xp.exp(away), axis=axis, keepdims=True))
    if not is_of_classes:
        check_ignored(ignore_index)
        losses = -xp.sum(logs * target, axis=axis)
    else:
        places = xp.arange(x.shape[axis], dtype=target.dtype)
        places = xp.reshape(places, (-1, *[1] * (x.ndim - axis - 1)))
        is_it = xp.expand_dims(target, axis=axis) == places
        if 0 <= ignore_index < x.shape[axis]:  # what is no class at all is no place either
            is_it = is_it & (places != ignore_index)
        losses = -xp.sum(xp.where(is_it, logs, xp.zeros_like(logs)), axis=axis)
    if label_smoothing:
        over_all = -xp.sum(logs, axis=axis) * (label_smoothing / x.shape[axis])
        losses = losses * share + over_all
    if not is_of_classes:
        return _reduced(xp, losses, reduction)
    counts = xp.any(is_it, axis=axis)
    if label_smoothing:
        losses = xp.where(counts, losses, xp.zeros_like(losses))
    if reduction != "mean":
        return _reduced(xp, losses, reduction)
    return xp.sum(losses) / xp.sum(xp.astype(counts, losses.dtype))


_PARTS_OF_OPS = frozenset(LIKE)

# A recipe has the name of its op, or is part of one.
RECIPES: dict[str, Callable[..., Any]] = {
    **{
        name: found
        for name, found in globals().items()
        if isinstance(found, FunctionType) and (name in OPS or name in _PARTS_OF_OPS)
    },
    "linalg.eig": _eig,
    "linalg.eigvals": _eigvals,
}
