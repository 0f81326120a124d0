"""All methods of a tensor except operators and in-place methods."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from castwise.arrays.apply import apply_in_any_form, apply_op, apply_several
from castwise.arrays.backend import TakesConstants
from castwise.arrays.data import array_and_kind, known_dtype
from castwise.arrays.elements import (
    differences,
    expanded,
    insertion_places,
    moved,
    nonzero_indices,
    permuted,
    picked,
    slices,
    sorting_indices,
)
from castwise.arrays.kinds import TensorData
from castwise.arrays.operators import rounded
from castwise.arrays.own_functions import run_by_itself, runs_itself
from castwise.arrays.picking import Picking
from castwise.catalog import dialect_named, dialects
from castwise.errors import ArgumentError, AxisError, ShapeError, UsageError
from castwise.rules.values import ArrayMethods
from castwise.vocab.live import to_dtype
from castwise.vocab.ops import EXTENSIONS, OPS

if TYPE_CHECKING:
    from castwise.arrays.tensor import Tensor

# The arguments of methods, in the spellings of several frameworks.

Number: TypeAlias = bool | int | float | complex
Operand: TypeAlias = "Tensor | Number"
Axes: TypeAlias = int | Sequence[int] | None
Sizes: TypeAlias = int | Sequence[int]


def _axis_or_dim(axis: Any, dim: Any, default: Any = None) -> Any:
    """The axis or axes of a call, which may also be called dim.

    >>> _axis_or_dim(None, [0, 1])
    (0, 1)
    """
    if axis is not None and dim is not None:
        raise UsageError("axis and dim are the same: give one of them.")
    found = dim if axis is None else axis
    if found is None:
        return default
    if hasattr(found, "__index__"):
        return operator.index(found)
    if isinstance(found, str) or not hasattr(found, "__iter__"):
        raise ArgumentError(f"an axis is a whole number, or several are, not {found!r}.")
    return tuple(found)


def _reduced(
    axis: Any, keepdims: bool, dim: Any, keepdim: bool | None, **options: Any
) -> dict[str, Any]:
    """The axis of a reduction, whether its result keeps that dimension, and options that are not
    None."""
    keeps = keepdims if keepdim is None else keepdim
    if not isinstance(keeps, bool):
        raise UsageError(f"keepdims is True or False, not {keeps!r}: give others by name, dtype=.")
    return {"axis": _axis_or_dim(axis, dim), "keepdims": keeps, **_given(**options)}


def _corrected(
    correction: float | None, ddof: float | None, unbiased: bool | None
) -> dict[str, Any]:
    """What the count is reduced by in a variance; empty: by what the dialect says.

    >>> _corrected(None, None, True)
    {'correction': 1}
    """
    given = [n for n in (correction, ddof, None if unbiased is None else int(unbiased))
             if n is not None]  # fmt: skip
    if len(given) > 1:
        raise UsageError("correction, ddof and unbiased are the same: give one of them.")
    return {"correction": given[0]} if given else {}


def _given(**options: Any) -> dict[str, Any]:
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def _numbers(parts: Sequence[Any]) -> tuple[int, ...]:
    """Sizes or axes, given one by one or as one sequence.

    >>> _numbers((2, 3)), _numbers(((2, 3),))
    ((2, 3), (2, 3))
    """
    if len(parts) == 1 and isinstance(parts[0], (tuple, list)):
        return tuple(parts[0])
    return tuple(parts)


def _place(axis: int, x: Any) -> int:
    """An axis of a tensor, counted from the front.

    Raises AxisError if there is none.
    """
    found, ndim = operator.index(axis), x.ndim or int(_method_rules(x).axes_of_0d == "one")
    if not -ndim <= found < ndim:
        raise AxisError(f"axis {axis} is out of range for {x.ndim} dimension(s).")
    return found % ndim


def _method_rules(tensor: Any) -> ArrayMethods:
    """What methods give in the framework of a tensor's dialect."""
    found: ArrayMethods = tensor._kind.current_dialect.values.methods
    return found


def _into_out(op: str, x: Any, options: dict[str, Any]) -> Tensor:
    """The result of an op, written into out= if it is among the options."""
    if "out" not in options:
        return apply_op(op, x, **options)
    apply_in_any_form(x._of, op, (x,), **options)
    return options["out"]  # type: ignore[no-any-return]


def _averaged(op: str, x: Any, dtype: object, options: dict[str, Any]) -> Tensor:
    """The mean, the variance or its root. With dtype= a library may take some of its steps in
    the elements' own dtype, so its own method computes what it holds."""
    if dtype is None or not runs_itself(x.backend, (x,), {}):
        return _into_out(op, x, options | _given(dtype=dtype))
    native = x._kind.backend.native(to_dtype(dtype))
    named = {"ddof" if name == "correction" else name: n for name, n in options.items()}
    method = getattr(type(x._array), op)
    return run_by_itself(op, method, (x,), {**named, "dtype": native})  # type: ignore[no-any-return]


# Methods that are one call of an op.

_Method = TypeVar("_Method", bound=Callable[..., Any])


class _WithOther(Protocol):
    """A method with another operand, as a type checker sees it on a tensor."""

    def __call__(self, other: Operand) -> Tensor: ...


def one(op: str, about: str) -> Callable[[Any], Tensor]:
    """The method of an op that has no other operand."""

    def method(self: Any) -> Tensor:
        return apply_op(op, self)

    return _named(method, op, about)


def two(op: str, about: str) -> _WithOther:
    """The method of an op that has another operand."""

    def method(self: Any, other: Operand) -> Tensor:
        return apply_op(op, self, other)

    return cast(_WithOther, _named(method, op, about))


def _named(method: _Method, op: str, about: str) -> _Method:
    """A method as if it were written out in `Ops`."""
    del method.__annotations__["self"]
    method.__name__, method.__qualname__, method.__doc__ = op, f"Ops.{op}", about
    return method


class Ops:
    """The methods of a tensor that are one call of an op."""

    __slots__ = ()

    abs = absolute = one("abs", "The absolute value of each element.")
    acos = arccos = one("acos", "The inverse cosine of each element.")
    acosh = arccosh = one("acosh", "The inverse hyperbolic cosine of each element.")
    angle = one("angle", "The angle of each complex number; pi for a negative real one.")
    asin = arcsin = one("asin", "The inverse sine of each element.")
    asinh = arcsinh = one("asinh", "The inverse hyperbolic sine of each element.")
    atan = arctan = one("atan", "The inverse tangent of each element.")
    atanh = arctanh = one("atanh", "The inverse hyperbolic tangent of each element.")
    bitwise_not = one("bitwise_not", "Each element with its bits inverted.")
    cbrt = one("cbrt", "The cube root of each element.")
    ceil = one("ceil", "The next integer up, in the same dtype.")
    cos = one("cos", "The cosine of each element.")
    cosh = one("cosh", "The hyperbolic cosine of each element.")
    degrees = rad2deg = one("degrees", "Each angle, given in radians, in degrees.")
    erf = one("erf", "The error function of each element.")
    exp = one("exp", "e to the power of each element.")
    exp2 = one("exp2", "2 to the power of each element.")
    expm1 = one("expm1", "e to the power of each element, minus 1, exact near 0.")
    floor = one("floor", "The next integer down, in the same dtype.")
    gelu = one("gelu", "Each element times the probability that a normal variable is below it.")
    isfinite = one("isfinite", "Whether each element is neither infinite nor NaN.")
    isinf = one("isinf", "Whether each element is infinite.")
    isnan = one("isnan", "Whether each element is NaN.")
    log = one("log", "The natural logarithm of each element.")
    log10 = one("log10", "The logarithm to base 10 of each element.")
    log1p = one("log1p", "The logarithm of 1 plus each element, exact near 0.")
    log2 = one("log2", "The logarithm to base 2 of each element.")
    logical_not = one("logical_not", "Whether each element is false.")
    neg = negative = one("neg", "Each element with its sign flipped.")
    positive = one("positive", "Each element unchanged.")
    radians = deg2rad = one("radians", "Each angle, given in degrees, in radians.")
    reciprocal = one("reciprocal", "1 divided by each element.")
    relu = one("relu", "Each element, or 0 where it is negative.")
    rsqrt = one("rsqrt", "1 divided by the square root of each element.")
    sigmoid = one("sigmoid", "1 / (1 + exp(-x)).")
    sign = one("sign", "-1, 0 or 1; for complex numbers the number divided by its magnitude.")
    signbit = one("signbit", "Whether the sign bit of each element is set, including that of -0.")
    sin = one("sin", "The sine of each element.")
    sinh = one("sinh", "The hyperbolic sine of each element.")
    sqrt = one("sqrt", "The square root of each element.")
    square = one("square", "The square of each element.")
    tan = one("tan", "The tangent of each element.")
    tanh = one("tanh", "The hyperbolic tangent of each element.")
    trunc = fix = one("trunc", "Each element truncated towards zero, in the same dtype.")

    atan2 = arctan2 = two("atan2", "The angle of the points (x2, x1), in all four quadrants.")
    bitwise_and = two("bitwise_and", "The bits set in both operands.")
    bitwise_left_shift = two(
        "bitwise_left_shift", "The bits of one operand, shifted left by the other."
    )
    bitwise_or = two("bitwise_or", "The bits set in either operand.")
    bitwise_right_shift = two(
        "bitwise_right_shift", "The bits of one operand, shifted right by the other."
    )
    bitwise_xor = two("bitwise_xor", "The bits set in exactly one of two operands.")
    clamp_max = two("clamp_max", "Each element, no larger than the bound.")
    clamp_min = two("clamp_min", "Each element, no smaller than the bound.")
    copysign = two("copysign", "The magnitude of one operand with the sign of the other.")
    dot = two(
        "dot",
        "The sum of products over the last dimension of one and the one before last of the other.",
    )
    eq = two("eq", "Whether two operands are equal.")
    float_power = two(
        "float_power", "One operand to the power of the other, in float64 or complex128."
    )
    floor_divide = two("floor_divide", "The quotient of two operands, rounded down.")
    fmax = two("fmax", "The larger of two operands; if one is NaN, the other.")
    fmin = two("fmin", "The smaller of two operands; if one is NaN, the other.")
    fmod = two("fmod", "The remainder of a division, with the sign of the dividend.")
    ge = greater_equal = two("ge", "Whether one operand is greater than the other or equal to it.")
    gt = greater = two("gt", "Whether one operand is greater than the other.")
    heaviside = two("heaviside", "0 below zero, 1 above, and the second operand at zero.")
    hypot = two("hypot", "The length of the hypotenuse of a right triangle with these legs.")
    inner = two("inner", "The sum of products over the last dimension of both.")
    kron = two(
        "kron",
        "Each element of the first operand times the whole of the second, laid out as blocks.",
    )
    ldexp = two("ldexp", "The first operand times 2 to the power of the second.")
    le = less_equal = two("le", "Whether one operand is less than the other or equal to it.")
    logaddexp = two("logaddexp", "The logarithm of the sum of exponentials.")
    logaddexp2 = two("logaddexp2", "The logarithm to base 2 of the sum of powers of 2.")
    logical_and = two("logical_and", "Whether both operands are true.")
    logical_or = two("logical_or", "Whether either operand is true.")
    logical_xor = two("logical_xor", "Whether exactly one of two operands is true.")
    lt = less = two("lt", "Whether one operand is less than the other.")
    matmul = two("matmul", "The matrix product.")
    maximum = two("maximum", "The larger of two operands; NaN if one is NaN.")
    minimum = two("minimum", "The smaller of two operands; NaN if one is NaN.")
    mul = multiply = two("mul", "The product of two operands.")
    ne = not_equal = two("ne", "Whether two operands differ.")
    nextafter = two(
        "nextafter", "The next number of the dtype after one operand, towards the other."
    )
    outer = ger = two(
        "outer", "All products of an element of one with an element of the other, for any shapes."
    )
    pow = two("pow", "One operand to the power of the other.")
    remainder = two("remainder", "The remainder of a division, with the sign of the divisor.")
    vecdot = two("vecdot", "The sum of products over one dimension, the first operand conjugated.")
    xlogy = two(
        "xlogy", "The first operand times the logarithm of the second; 0 where the first is 0."
    )

    def clamp(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """Each element, no smaller than one bound and no larger than the other."""
        return apply_op("clamp", self, min, max)

    clip = clamp

    def cumprod(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None,
        out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The product of all elements up to each."""
        options = {"axis": _axis_or_dim(axis, dim), **_given(dtype=dtype, out=out)}
        return _into_out("cumprod", self, options)

    cumulative_prod = cumprod

    def cumsum(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None,
        out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The sum of all elements up to each."""
        options = {"axis": _axis_or_dim(axis, dim), **_given(dtype=dtype, out=out)}
        return _into_out("cumsum", self, options)

    cumulative_sum = cumsum

    def log_softmax(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None
    ) -> Tensor:
        """The logarithm of softmax."""
        along = _axis_or_dim(axis, dim, -1)
        return apply_op("log_softmax", self, axis=along, **_given(dtype=dtype))

    def softmax(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None
    ) -> Tensor:
        """The exponentials divided by their sum."""
        return apply_op("softmax", self, axis=_axis_or_dim(axis, dim, -1), **_given(dtype=dtype))

    def threshold(self, threshold: float = 0, value: float = 0) -> Tensor:
        """Each element, or the value where it is not above the threshold."""
        return apply_op("threshold", self, threshold=threshold, value=value)

    def add(self, other: Operand, *, alpha: Number | None = None) -> Tensor:
        """The sum of two operands."""
        return apply_op("add", self, other, **_given(alpha=alpha))

    def addcdiv(self, tensor1: Operand, tensor2: Operand, *, value: Number | None = None) -> Tensor:
        """The first operand plus the quotient of the others, times `value` if given."""
        return apply_op("addcdiv", self, tensor1, tensor2, **_given(value=value))

    def addcmul(self, tensor1: Operand, tensor2: Operand, *, value: Number | None = None) -> Tensor:
        """The first operand plus the product of the others, times `value` if given."""
        return apply_op("addcmul", self, tensor1, tensor2, **_given(value=value))

    def allclose(
        self, other: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Tensor:
        """Whether all elements are within the tolerance of one another."""
        return apply_op("allclose", self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)

    def cross(self, other: Tensor, axis: int | None = None, *, dim: int | None = None) -> Tensor:
        """The cross product of vectors with three elements."""
        return apply_op("cross", self, other, axis=_axis_or_dim(axis, dim, -1))

    def div(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """The quotient of two operands."""
        return apply_op("div", self, other, **_given(rounding_mode=rounding_mode))

    divide = true_divide = div

    def isclose(
        self, other: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Tensor:
        """Whether each element is within the tolerance of the other."""
        return apply_op("isclose", self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)

    def lerp(self, end: Operand, weight: Operand) -> Tensor:
        """The point between start and end at a weight."""
        return apply_op("lerp", self, end, weight)

    def sub(self, other: Operand, *, alpha: Number | None = None) -> Tensor:
        """The difference of two operands."""
        return apply_op("sub", self, other, **_given(alpha=alpha))

    subtract = sub

    def all(
        self, axis: Axes = None, keepdims: bool = False, *, where: Tensor | None = None,
        dim: Axes = None, keepdim: bool | None = None, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """Whether all elements are true."""
        return _into_out("all", self, _reduced(axis, keepdims, dim, keepdim, where=where, out=out))

    def amax(
        self, axis: Axes = None, keepdims: bool = False, *, initial: Operand | None = None,
        where: Tensor | None = None, dim: Axes = None, keepdim: bool | None = None, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The largest element."""
        options = _reduced(axis, keepdims, dim, keepdim, initial=initial, where=where, out=out)
        return _into_out("max", self, options)

    def amin(
        self, axis: Axes = None, keepdims: bool = False, *, initial: Operand | None = None,
        where: Tensor | None = None, dim: Axes = None, keepdim: bool | None = None, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The smallest element."""
        options = _reduced(axis, keepdims, dim, keepdim, initial=initial, where=where, out=out)
        return _into_out("min", self, options)

    def any(
        self, axis: Axes = None, keepdims: bool = False, *, where: Tensor | None = None,
        dim: Axes = None, keepdim: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """Whether at least one element is true."""
        return apply_op("any", self, **_reduced(axis, keepdims, dim, keepdim, where=where))

    def argmax(
        self, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None,
        keepdim: bool | None = None, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The index of the largest element."""
        return _into_out("argmax", self, _reduced(axis, keepdims, dim, keepdim, out=out))

    def argmin(
        self, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None,
        keepdim: bool | None = None, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The index of the smallest element."""
        return _into_out("argmin", self, _reduced(axis, keepdims, dim, keepdim, out=out))

    def count_nonzero(
        self, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """How many elements are not zero."""
        return apply_op("count_nonzero", self, **_reduced(axis, keepdims, dim, keepdim))

    def logsumexp(
        self, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """The logarithm of the sum of exponentials."""
        return apply_op("logsumexp", self, **_reduced(axis, keepdims, dim, keepdim))

    def mean(
        self, axis: Axes = None, keepdims: bool = False, *, dtype: object = None,
        where: Tensor | None = None, dim: Axes = None, keepdim: bool | None = None, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The mean of the elements."""
        options = _reduced(axis, keepdims, dim, keepdim, where=where, out=out)
        return _averaged("mean", self, dtype, options)

    def prod(
        self, axis: Axes = None, keepdims: bool = False, *, dtype: object = None,
        initial: Operand | None = None, where: Tensor | None = None, dim: Axes = None,
        keepdim: bool | None = None, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The product of the elements."""
        limits = {"initial": initial, "where": where}
        options = _reduced(axis, keepdims, dim, keepdim, dtype=dtype, out=out, **limits)
        return _into_out("prod", self, options)

    def std(  # noqa: PLR0913 -- the spellings of several frameworks
        self, axis: Axes = None, *, dtype: object = None, correction: float | None = None,
        ddof: float | None = None, unbiased: bool | None = None, keepdims: bool = False,
        dim: Axes = None, keepdim: bool | None = None, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The standard deviation of the elements."""
        options = _reduced(axis, keepdims, dim, keepdim, out=out)
        options |= _corrected(correction, ddof, unbiased)
        return _averaged("std", self, dtype, options)

    def sum(
        self, axis: Axes = None, keepdims: bool = False, *, dtype: object = None,
        initial: Operand | None = None, where: Tensor | None = None, dim: Axes = None,
        keepdim: bool | None = None, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The sum of the elements."""
        limits = {"initial": initial, "where": where}
        options = _reduced(axis, keepdims, dim, keepdim, dtype=dtype, out=out, **limits)
        return _into_out("sum", self, options)

    def var(  # noqa: PLR0913 -- the spellings of several frameworks
        self, axis: Axes = None, *, dtype: object = None, correction: float | None = None,
        ddof: float | None = None, unbiased: bool | None = None, keepdims: bool = False,
        dim: Axes = None, keepdim: bool | None = None, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The variance of the elements."""
        options = _reduced(axis, keepdims, dim, keepdim, out=out)
        options |= _corrected(correction, ddof, unbiased)
        return _averaged("var", self, dtype, options)


# Methods that a tensor does not have, or only in some dialects: the error says what to write.


class NoMethod:
    """A placeholder for a method that tensors lack: its error says how to apply the op."""

    def __init__(self, name: str) -> None:
        self._name = name

    def is_method_for(self, tensor: Any) -> bool:
        """Whether a tensor has the method after all."""
        return False

    def __get__(self, tensor: Any, owner: type) -> Any:
        raise AttributeError(
            f"a {owner.__name__} has no attribute {self._name!r}: use "
            f"cw.apply({self._name!r}, x), or a function of castwise.array_api."
        )


class OpsAreNoMethods:
    """A class with a placeholder for each op that is not a method, whose error says how to apply
    it.

    There is one attribute per op, because `__getattr__` would slow down every attribute.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in OPS.keys() - {*EXTENSIONS} - set(dir(cls)):
            setattr(cls, name, NoMethod(name))

    def __dir__(self) -> list[str]:
        absent = {
            name
            for owner in type(self).__mro__
            for name, attribute in vars(owner).items()
            if isinstance(attribute, NoMethod) and not attribute.is_method_for(self)
        }
        return sorted(set(super().__dir__()) - absent)


# Methods that cast, with the names that they have in the dialect's framework.

_INSTEAD = {"to": "x.astype(dtype), or x.to_device(device)", "type_as": "x.astype(y.dtype)"}


class _OfSomeDialects(NoMethod):
    """A method of the tensors whose dialect's framework has one of this name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function.__name__)
        self._function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = self._function.__name__ = name
        self._function.__qualname__ = f"{owner.__name__}.{name}"

    def is_method_for(self, tensor: Any) -> bool:
        return self._name in tensor._kind.current_dialect.naming.dtypes_of_casts

    def __get__(self, tensor: Any, owner: type) -> Any:
        if tensor is None:
            return self._function
        if self.is_method_for(tensor):
            return MethodType(self._function, tensor)
        raise AttributeError(
            f"a {owner.__name__} has no attribute {self._name!r} in "
            f"{tensor._kind.current_dialect.name}: write {_instead(self._name)}."
        )


def _instead(name: str) -> str:
    """What to write for a method that casts in another dialect."""
    known = (dialect_named(other).naming.dtypes_of_casts.get(name) for other in dialects())
    dtype = next(filter(None, known), None)
    return f"x.astype({dtype!r})" if dtype else _INSTEAD[name]


def _of_some_dialects(function: _Method) -> _Method:
    return cast(_Method, _OfSomeDialects(function))


def _casting(name: str) -> Callable[[Any], Tensor]:
    """The method that casts to the dtype that the dialect's framework means by its name."""

    def method(self: Any) -> Tensor:
        dtype = self._kind.current_dialect.naming.dtypes_of_casts[name]
        return self.astype(dtype, copy=False)  # type: ignore[no-any-return]

    method.__doc__ = f"A cast to {name}, in dialects whose framework has this method."
    return _of_some_dialects(method)


@_of_some_dialects
def _to(
    self: Any, *wanted: Any, dtype: object = None, device: Any = None, copy: bool = False
) -> Tensor:
    """The values in another dtype, on another device, or both, as those of another tensor; in
    dialects whose framework has this method."""
    for thing in wanted:
        if isinstance(thing, TensorData):
            dtype, device = thing.dtype, thing.device  # type: ignore[attr-defined]
        elif (found := known_dtype(thing)) is not None:
            dtype = found
        else:
            device = thing
    held: Tensor = self.astype(self.dtype if dtype is None else dtype, copy=copy)
    return held if device is None else on_device(held, device)


@_of_some_dialects
def _type_as(self: Any, other: Tensor) -> Tensor:
    """The values in the dtype of another tensor, in dialects whose framework has this method."""
    return self.astype(other.dtype, copy=False)  # type: ignore[no-any-return]


class Casts:
    """The methods of a tensor that cast, with the names of the dialect's framework."""

    __slots__ = ()

    bool = _casting("bool")
    byte = _casting("byte")
    char = _casting("char")
    short = _casting("short")
    int = _casting("int")
    long = _casting("long")
    half = _casting("half")
    bfloat16 = _casting("bfloat16")
    float = _casting("float")
    double = _casting("double")
    chalf = _casting("chalf")
    cfloat = _casting("cfloat")
    cdouble = _casting("cdouble")
    to = _to
    type_as = _type_as


# The other methods.


def _tensor_like(data: Any, like: TensorData) -> Tensor:
    """Data as a tensor to use together with another one."""
    if isinstance(data, TensorData):
        return data  # type: ignore[return-value]
    kind = like._kind
    backend = None if isinstance(kind.backend, TakesConstants) else kind.backend.name
    return like._of(*array_and_kind(data, dialect=kind.dialect, backend=backend, home=kind.home))


def on_device(tensor: Any, device: Any) -> Tensor:
    """The tensor on a device, itself if it is there."""
    here = tensor.device
    is_there = str(device) in (str(here), getattr(here, "platform", None))
    return tensor if is_there else tensor.to_device(device)  # type: ignore[no-any-return]


class ValuesAndIndices(NamedTuple):
    """Some elements of a tensor, and where they were along a dimension."""

    values: Tensor
    indices: Tensor


class Methods(Ops, Casts, Picking):
    """The methods of a tensor, with the names that they have in several frameworks."""

    __slots__ = ()

    if TYPE_CHECKING:

        def astype(self, dtype: object, *, copy: bool = True) -> Tensor: ...
        def to_device(self, device: Any) -> Tensor: ...
        def fill_(self, value: Any) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...

    # A tensor as a whole: copies of it, and facts about it.

    def clone(self) -> Tensor:
        """A copy of the tensor."""
        array = self._kind.backend.make(self._array, None, copy=True, device=None)
        return self._of(array, self._kind)

    copy = clone

    def fill(self, value: Any) -> None:
        """Sets every element to a number or to the value of a 0-d tensor."""
        self.fill_(value)

    def tobytes(self) -> bytes:
        """The elements as bytes."""
        found: bytes = self.numpy().tobytes()
        return found

    def contiguous(self) -> Tensor:
        """The tensor itself: how its elements lie in memory changes no result."""
        return self._of(self._array, self._kind)

    def cpu(self) -> Tensor:
        """The same values on the CPU."""
        return on_device(self, "cpu")

    def numel(self) -> int:
        """How many elements it has."""
        return self.size

    nelement = numel

    def dim(self) -> int:
        """How many dimensions it has."""
        return self.ndim

    ndimension = dim

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self.dtype.itemsize

    def element_size(self) -> int:
        """The size of an element in bytes."""
        return self.itemsize

    def is_floating_point(self) -> bool:
        """Whether its dtype is a float."""
        return self.dtype.kind == "float"

    def is_complex(self) -> bool:
        """Whether its dtype is complex."""
        return self.dtype.kind == "complex"

    # Computations whose arguments are not those of an op.

    @property
    def real(self) -> Tensor:
        """The real part of each element."""
        return apply_op("real", self)

    @property
    def imag(self) -> Tensor:
        """The imaginary part of each element."""
        return apply_op("imag", self)

    def conj(self) -> Tensor:
        """The complex conjugate of each element; a real tensor is unchanged."""
        is_complex = self._kind.dtype.kind == "complex"
        return apply_op("conj", self) if is_complex else self._of(self._array, self._kind)

    conjugate = conj

    def round(self, decimals: int = 0) -> Tensor:
        """The nearest integer, or number with so many decimals, in the same dtype."""
        found: Tensor = rounded(self, decimals)
        return found

    def mm(self, other: Tensor) -> Tensor:
        """The product of two matrices."""
        if self.ndim != 2 or other.ndim != 2:
            raise ShapeError(
                f"mm takes two matrices, not {self.ndim} and {other.ndim} dimensions: use matmul."
            )
        return apply_op("matmul", self, other)

    def norm(
        self, p: float | str | None = 2, axis: Axes = None, keepdims: bool = False, *,
        dim: Axes = None, keepdim: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """The vector norm of order p; by default the square root of the sum of squares."""
        options = _reduced(axis, keepdims, dim, keepdim)
        if p in (2, None, "fro"):
            return apply_op("norm", self, **options)
        return apply_op("linalg.vector_norm", self, ord=p, **options)

    def diff(
        self, n: int = 1, axis: int | None = None, *, dim: int | None = None,
        prepend: Tensor | None = None, append: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """The differences of neighbours along a dimension, taken n times."""
        return differences(self, _axis_or_dim(axis, dim, -1), n, prepend, append)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """The elements on a diagonal of two dimensions, as the last dimension."""
        return moved("linalg.diagonal", self.moveaxis((axis1, axis2), (-2, -1)), offset=offset)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """The sum of the elements on a diagonal."""
        return apply_op("sum", self.diagonal(offset, axis1, axis2), axis=-1)

    def tril(self, k: int = 0, *, diagonal: int | None = None) -> Tensor:
        """The lower triangle of matrices; the other elements are 0."""
        return moved("tril", self, k=k if diagonal is None else diagonal)

    def triu(self, k: int = 0, *, diagonal: int | None = None) -> Tensor:
        """The upper triangle of matrices; the other elements are 0."""
        return moved("triu", self, k=k if diagonal is None else diagonal)

    def det(self) -> Tensor:
        """The determinants of matrices."""
        return apply_several("linalg.det", self)[0]

    def inverse(self) -> Tensor:
        """The inverses of matrices."""
        return apply_several("linalg.inv", self)[0]

    def matrix_power(self, n: int) -> Tensor:
        """The products of matrices with themselves, or of their inverses."""
        if n < 0:
            return self.inverse().matrix_power(-n)
        return apply_several("linalg.matrix_power", self, n=n)[0]

    # The elements in another shape or order.

    def reshape(self, *shape: Sizes, copy: bool | None = None) -> Tensor:
        """The elements in another shape: `x.reshape(2, 3)` or `x.reshape((2, 3))`."""
        return moved("reshape", self, _numbers(shape), copy=copy)

    def view(self, *shape: Sizes) -> Tensor:
        """The elements in another shape, `x.view(2, 3)`; it does not reinterpret their bits."""
        wanted = _numbers(shape)
        if any(known_dtype(size) for size in wanted):
            raise UsageError("view takes sizes: to cast to another dtype, write x.astype(dtype).")
        return self.reshape(wanted)

    def reshape_as(self, other: Tensor) -> Tensor:
        """The elements in the shape of another tensor."""
        return self.reshape(other.shape)

    view_as = reshape_as

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """The elements in one dimension, or with some neighbouring dimensions joined.

        It is a copy if it is one in the dialect's framework.
        """
        ndim, is_copied = self.ndim, _method_rules(self).flatten == "copied"
        if not ndim and {start_dim, end_dim} <= {0, -1}:
            return self.reshape((1,), copy=is_copied or None)
        first, last = _place(start_dim, self), _place(end_dim, self)
        joined = -1 if 0 not in self.shape else math.prod(self.shape[first : last + 1])
        shape = (*self.shape[:first], joined, *self.shape[last + 1 :])
        return self.reshape(shape, copy=is_copied or None)

    def ravel(self) -> Tensor:
        """The elements in one dimension."""
        return self.reshape((-1,))

    def permute(self, *dims: Sizes) -> Tensor:
        """The tensor with its dimensions in another order: `x.permute(1, 0)`."""
        return permuted(self, _numbers(dims))

    def transpose(
        self, *axes: Sizes | None, dim0: int | None = None, dim1: int | None = None
    ) -> Tensor:
        """The tensor with its dimensions in another order; without arguments, in reverse.

        Two numbers are the dimensions to swap, if they are in the dialect's framework; otherwise
        all dimensions are given. `swapaxes` and `permute` mean the same in all dialects.
        """
        if dim0 is not None and dim1 is not None:
            return self.swapaxes(dim0, dim1)
        given = _numbers([axis for axis in axes if axis is not None])
        order = given or tuple(range(self.ndim))[::-1]
        if len(axes) == 2 and _method_rules(self).transpose == "swaps":
            return self.swapaxes(*order)
        if len(order) != self.ndim:
            raise ShapeError(
                f"transpose takes the new order of all {self.ndim} dimensions in "
                f"{self._kind.current_dialect.name}, not {order}: to swap two, write "
                "x.swapaxes(0, 1)."
            )
        return self.permute(order)

    def t(self) -> Tensor:
        """The transpose of a matrix; a vector is unchanged."""
        if self.ndim > 2:
            raise ShapeError(f"t() transposes a matrix, not {self.ndim} dimensions: use permute.")
        return self.transpose()

    def swapaxes(self, axis0: int, axis1: int) -> Tensor:
        """The tensor with two dimensions swapped."""
        order = list(range(self.ndim))
        first, second = _place(axis0, self), _place(axis1, self)
        if order:
            order[first], order[second] = second, first
        return self.permute(order)

    swapdims = swapaxes

    def moveaxis(self, source: Sizes, destination: Sizes) -> Tensor:
        """The tensor with some dimensions moved to other positions."""
        return moved("moveaxis", self, source, destination)

    movedim = moveaxis

    def squeeze(self, axis: Axes = None, *, dim: Axes = None) -> Tensor:
        """The tensor without all dimensions of length 1, or without the given ones."""
        asked = _axis_or_dim(axis, dim)
        if asked is None:
            gone = [n for n, size in enumerate(self.shape) if size == 1]
        else:
            axes = (asked,) if isinstance(asked, int) else asked
            is_none = not self.ndim and set(axes) <= {0, -1}  # NumPy and torch let these pass
            gone = [] if is_none else [_place(n, self) for n in axes]
            if _method_rules(self).squeeze == "kept":
                gone = [n for n in gone if self.shape[n] == 1]
        if not gone:
            return self.reshape(self.shape)
        return moved("squeeze", self, axis=tuple(gone))

    def unsqueeze(self, axis: int | None = None, *, dim: int | None = None) -> Tensor:
        """The tensor with a new dimension of length 1 at a position."""
        return expanded(self, axis=_axis_or_dim(axis, dim, 0))

    def expand_dims(self, axis: Sizes = 0) -> Tensor:
        """The tensor with new dimensions of length 1 at some positions."""
        return expanded(self, axis=_axis_or_dim(axis, None))

    def broadcast_to(self, *shape: Sizes) -> Tensor:
        """The tensor in a larger shape, with its elements repeated."""
        return moved("broadcast_to", self, _numbers(shape))

    def expand(self, *sizes: Sizes) -> Tensor:
        """The tensor in a larger shape, with its elements repeated; -1 keeps a size."""
        wanted = _numbers(sizes)
        new = len(wanted) - self.ndim
        if new < 0 or -1 in wanted[:new]:
            raise ShapeError(f"expand{wanted} gives no size for a new dimension, or too few sizes.")
        pairs = zip(wanted[new:], self.shape, strict=True)
        kept = [have if size == -1 else size for size, have in pairs]
        return self.broadcast_to((*wanted[:new], *kept))

    def expand_as(self, other: Tensor) -> Tensor:
        """The tensor in the shape of another, with its elements repeated."""
        return self.broadcast_to(other.shape)

    def flip(self, *axis: Sizes, dims: Axes = None) -> Tensor:
        """The elements in the opposite order, in all dimensions or some."""
        return moved("flip", self, axis=_numbers(axis) if axis else _axis_or_dim(None, dims))

    def roll(self, shifts: Sizes, axis: Axes = None, *, dims: Axes = None) -> Tensor:
        """The elements shifted; those beyond the end reappear at the start."""
        shift, along = _axis_or_dim(shifts, None), _axis_or_dim(axis, dims)
        return moved("roll", self, shift, axis=along)

    def tile(self, *repetitions: Sizes) -> Tensor:
        """The whole tensor several times along each dimension."""
        return moved("tile", self, _numbers(repetitions))

    def repeat(self, *repeats: Any, axis: int | None = None) -> Tensor:
        """Each element several times, `x.repeat(2, axis=0)`, or the whole tensor, `x.repeat(2, 1)`,
        as in the dialect's framework. `repeat_interleave` and `tile` mean the same in all dialects.
        """
        if _method_rules(self).repeat == "whole" and axis is None:
            times = _numbers(repeats)
            if len(times) < self.ndim:
                raise ShapeError(
                    f"repeat takes a number for each of {self.ndim} dimensions in "
                    f"{self._kind.current_dialect.name}, not {times}: tile takes fewer."
                )
            return self.tile(times)
        along = repeats[1] if len(repeats) == 2 else axis
        return self.repeat_interleave(repeats[0], along)

    def repeat_interleave(
        self, repeats: Any, axis: int | None = None, *, dim: int | None = None
    ) -> Tensor:
        """Each element several times, along a dimension or of all elements in one."""
        along = _axis_or_dim(axis, dim)
        times = _tensor_like(repeats, self) if isinstance(repeats, list) else repeats
        flat = self.reshape((-1,)) if along is None else self
        return moved("repeat", flat, times, axis=along or 0)

    def split(
        self, sizes: Sizes, axis: int | None = None, *, dim: int | None = None
    ) -> tuple[Tensor, ...]:
        """The parts of the tensor along a dimension.

        `sizes` is the length of each part, or the number of parts, as in the dialect's framework; a
        list names the length of each part. `chunk` means the same in all dialects.
        """
        along = _place(_axis_or_dim(axis, dim, 0), self)
        whole = self.shape[along]
        if isinstance(sizes, int) and sizes < 1:
            raise ShapeError(f"split needs a number above 0, not {sizes}.")
        if not isinstance(sizes, int):
            if sum(sizes) != whole:
                raise ShapeError(f"the lengths {tuple(sizes)} do not add up to {whole}.")
            return self._parts(sizes, along)
        if _method_rules(self).split == "parts":
            if whole % sizes:
                raise ShapeError(f"{whole} does not divide into {sizes} equal parts: use chunk.")
            return self._parts([whole // sizes] * sizes, along)
        return self._parts_of(sizes, along)

    def chunk(
        self, chunks: int, axis: int | None = None, *, dim: int | None = None
    ) -> tuple[Tensor, ...]:
        """At most so many parts of the tensor along a dimension; only the last may be shorter."""
        along = _place(_axis_or_dim(axis, dim, 0), self)
        if chunks < 1:
            raise ShapeError(f"chunk needs a number above 0, not {chunks}.")
        if not self.shape[along]:
            return self._parts([0] * chunks, along)
        return self._parts_of(-(-self.shape[along] // chunks), along)

    def _parts(self, lengths: Sequence[int], axis: int) -> tuple[Tensor, ...]:
        """Neighbouring parts of these lengths along a dimension."""
        ends = list(itertools.accumulate(lengths, initial=0))
        before = (slice(None),) * axis
        keys = [(*before, slice(start, end)) for start, end in itertools.pairwise(ends)]
        return tuple([self[key] for key in keys])

    def _parts_of(self, size: int, axis: int) -> tuple[Tensor, ...]:
        """Neighbouring parts of one length, of which the last may be shorter."""
        whole = self.shape[axis]
        return self._parts([min(size, whole - n) for n in range(0, whole, size)] or [0], axis)

    def unbind(self, axis: int | None = None, *, dim: int | None = None) -> tuple[Tensor, ...]:
        """The slices of the tensor along a dimension."""
        return slices(self, _axis_or_dim(axis, dim, 0))

    # Elements searched, sorted and picked.

    def max(
        self, axis: Axes | Tensor = None, keepdims: bool = False, *,
        initial: Operand | None = None, where: Tensor | None = None,
        dim: Axes = None, keepdim: bool | None = None,
    ) -> Any:  # fmt: skip
        """The largest element; along one dimension also the indices, if the dialect's framework
        gives them: a pair `(values, indices)`. `amax` gives the values in all dialects.

        With a tensor it is `maximum`.
        """
        options = _reduced(None if isinstance(axis, TensorData) else axis, keepdims, dim, keepdim)
        return self._extreme("max", axis, options, _given(initial=initial, where=where))

    def min(
        self, axis: Axes | Tensor = None, keepdims: bool = False, *,
        initial: Operand | None = None, where: Tensor | None = None,
        dim: Axes = None, keepdim: bool | None = None,
    ) -> Any:  # fmt: skip
        """The smallest element; along one dimension also the indices, if the dialect's framework
        gives them: a pair `(values, indices)`. `amin` gives the values in all dialects.

        With a tensor it is `minimum`.
        """
        options = _reduced(None if isinstance(axis, TensorData) else axis, keepdims, dim, keepdim)
        return self._extreme("min", axis, options, _given(initial=initial, where=where))

    def _extreme(self, op: str, other: Any, options: dict[str, Any], limits: dict[str, Any]) -> Any:
        if isinstance(other, TensorData):
            return apply_op(f"{op}imum", self, other)
        values = apply_op(op, self, **options, **limits)
        if options["axis"] is None or _method_rules(self).extremes == "values":
            return values
        if not isinstance(options["axis"], int):
            raise ArgumentError(
                f"{op} gives indices in {self._kind.current_dialect.name}, so it takes one "
                f"dimension: write a{op} for several."
            )
        # A framework may have these indices for booleans and yet no argmax of them.
        counted = self if self._kind.dtype.kind != "bool" else self.astype("uint8")
        return ValuesAndIndices(values, apply_op(f"arg{op}", counted, **options))

    def median(
        self, axis: int | None = None, keepdims: bool = False, *,
        dim: int | None = None, keepdim: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """The middle element, or the mean of the middle two.

        Raises UsageError along a dimension if the dialect's framework also gives indices.
        """
        options = _reduced(axis, keepdims, dim, keepdim)
        if options["axis"] is not None and _method_rules(self).extremes != "values":
            if runs_itself(self.backend, (self,), {}):
                given = (self, options["axis"], options["keepdims"])
                return run_by_itself("median", type(self._array).median, given, {})  # type: ignore[no-any-return]
            raise UsageError(
                f"median along a dimension gives indices in {self._kind.current_dialect.name}, "
                "which castwise does not: for the values, write cw.apply('median', x, axis=0)."
            )
        return apply_op("median", self, **options)

    def sort(
        self, axis: int | None = None, descending: bool = False, *,
        stable: bool = True, dim: int | None = None,
    ) -> Any:  # fmt: skip
        """The elements, sorted along a dimension, as in the dialect's framework: a new tensor, the
        pair `(values, indices)`, or None, and the tensor itself is sorted."""
        options = {"axis": _axis_or_dim(axis, dim, -1), "descending": descending, "stable": stable}
        rule = _method_rules(self).sort
        values = moved("sort", self, **options)
        if rule == "values and indices":
            return ValuesAndIndices(values, sorting_indices(self, **options))
        if rule == "values":
            return values
        self[...] = values
        return None

    def argsort(
        self, axis: int | None = None, descending: bool = False, *,
        stable: bool = True, dim: int | None = None,
    ) -> Tensor:  # fmt: skip
        """The indices that sort the elements along a dimension."""
        return sorting_indices(self, _axis_or_dim(axis, dim, -1), descending, stable)

    def nonzero(self, *, as_tuple: bool | None = None) -> Any:
        """The indices of all nonzero elements, as in the dialect's framework: an array per
        dimension, or one array with a row per element. `as_tuple` chooses."""
        is_split = _method_rules(self).nonzero == "by dimension" if as_tuple is None else as_tuple
        found: Any = nonzero_indices(self)
        return found if is_split else apply_op("stack", *found, axis=1)

    def take(self, indices: Any, axis: int | None = None, *, dim: int | None = None) -> Tensor:
        """The slices at some indices of a dimension, or of all elements in one."""
        along = _axis_or_dim(axis, dim)
        if along is not None:
            along = _place(along, self)
        source = self if along is not None and self.ndim else self.reshape((-1,))
        along = along or 0
        places = _tensor_like(indices, self)
        found = picked("take", source, places.reshape((-1,)), along)
        return found.reshape((*source.shape[:along], *places.shape, *source.shape[along + 1 :]))

    def index_select(self, dim: int, index: Any) -> Tensor:
        """The slices at some indices of a dimension."""
        return self.take(index, dim)

    def take_along_dim(self, indices: Tensor, dim: int = -1) -> Tensor:
        """The elements at the indices in another tensor, one per element of it."""
        return picked("take_along_axis", self, indices, dim)

    def where(self, condition: Any, other: Operand) -> Tensor:
        """The elements where a condition holds, and those of the other operand elsewhere."""
        return apply_op("where", condition, self, other)

    def searchsorted(
        self, v: Any, side: Literal["left", "right"] = "left", sorter: Tensor | None = None
    ) -> Tensor:
        """The positions where elements would be inserted into this sorted tensor."""
        sought = _tensor_like(v, self) if isinstance(v, list) else v
        return insertion_places(self, sought, side, sorter)
