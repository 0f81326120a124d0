"""Functions beyond the standard: ops with a typed signature, and a function made from its
row for each op that has none."""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Parameter, Signature
from typing import Any, Literal, TypeAlias

from castwise.array_api.functions import (
    Axes,
    Number,
    Operand,
    index_reduction,
    one,
    op,
    reduction,
    two,
)
from castwise.arrays.functions import standard_name
from castwise.arrays.tensor import Tensor
from castwise.vocab.ops import EXTENSIONS, OPS, Op

__all__ = [
    "addcdiv", "addcmul", "allclose", "angle", "cbrt", "clamp_max", "clamp_min", "cross", "degrees",
    "div_no_nan", "dot", "erf", "exp2", "float_power", "floor_div", "fmax", "fmin", "fmod", "gelu",
    "heaviside", "huber_loss", "inner", "isclose", "kron", "l1_loss", "ldexp", "lerp",
    "log_softmax", "logaddexp2", "logsumexp", "median", "mse_loss", "multiply_no_nan", "norm",
    "outer", "poisson_nll_loss", "radians", "real_div", "relu", "rsqrt", "rsub", "sigmoid", "silu",
    "softmax", "threshold", "truncate_div", "xlogy",
]  # fmt: skip

Reduction: TypeAlias = Literal["mean", "sum", "none"]


angle = one("angle")
cbrt = one("cbrt")
degrees = one("degrees")
erf = one("erf")
exp2 = one("exp2")
gelu = one("gelu")
radians = one("radians")
relu = one("relu")
rsqrt = one("rsqrt")
sigmoid = one("sigmoid")
silu = one("silu", "Each element times its sigmoid.")

clamp_max = two("clamp_max")
clamp_min = two("clamp_min")
div_no_nan = two("div_no_nan", "The quotient of two operands; 0 where the divisor is 0.")
dot = two("dot")
float_power = two("float_power")
floor_div = two("floor_div", "The quotient of two operands, rounded down.")
fmax = two("fmax")
fmin = two("fmin")
fmod = two("fmod")
heaviside = two("heaviside")
inner = two("inner")
kron = two("kron")
ldexp = two("ldexp")
logaddexp2 = two("logaddexp2")
multiply_no_nan = two(
    "multiply_no_nan",
    "The product of two operands; 0 where the second is 0, for any first operand.",
)
outer = two("outer")
real_div = two("real_div", "The quotient of two operands, in their own dtype.")
rsub = two("rsub", "The second operand minus the first.")
truncate_div = two("truncate_div", "The quotient of two operands, truncated towards zero.")
xlogy = two("xlogy")

logsumexp = reduction("logsumexp")

median = index_reduction("median", "The middle element, or the mean of the middle two.")


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The cross product of vectors with three elements."""
    return op("cross", x1, x2, axis=axis)


def lerp(start: Operand, end: Operand, weight: Operand, /) -> Tensor:
    """The point between start and end at a weight."""
    return op("lerp", start, end, weight)


def addcmul(x1: Operand, x2: Operand, x3: Operand, /, *, value: Number | None = None) -> Tensor:
    """The first operand plus the product of the others, times `value` if given."""
    return op("addcmul", x1, x2, x3, value=value)


def addcdiv(x1: Operand, x2: Operand, x3: Operand, /, *, value: Number | None = None) -> Tensor:
    """The first operand plus the quotient of the others, times `value` if given."""
    return op("addcdiv", x1, x2, x3, value=value)


def mse_loss(x1: Operand, x2: Operand, /, *, reduction: Reduction = "mean") -> Tensor:
    """The squares of the differences: their mean, their sum, or each."""
    return op("mse_loss", x1, x2, reduction=reduction)


def l1_loss(x1: Operand, x2: Operand, /, *, reduction: Reduction = "mean") -> Tensor:
    """The sizes of the differences: their mean, their sum, or each."""
    return op("l1_loss", x1, x2, reduction=reduction)


def huber_loss(
    x1: Operand, x2: Operand, /, *, reduction: Reduction = "mean", delta: float = 1.0
) -> Tensor:
    """Half the square of each difference up to delta, and linear from there."""
    return op("huber_loss", x1, x2, reduction=reduction, delta=delta)


def poisson_nll_loss(
    x1: Operand, x2: Operand, /, *, reduction: Reduction = "mean", log_input: bool = True
) -> Tensor:
    """The negative log likelihood of counts x2 at rates x1, or at rates exp(x1)."""
    return op("poisson_nll_loss", x1, x2, reduction=reduction, log_input=log_input)


def threshold(x: Tensor, /, *, threshold: float = 0, value: float = 0) -> Tensor:
    """Each element, or the value where it is not above the threshold."""
    return op("threshold", x, threshold=threshold, value=value)


def softmax(x: Tensor, /, *, axis: int = -1) -> Tensor:
    """The exponentials divided by their sum."""
    return op("softmax", x, axis=axis)


def log_softmax(x: Tensor, /, *, axis: int = -1) -> Tensor:
    """The logarithm of softmax."""
    return op("log_softmax", x, axis=axis)


def norm(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The square root of the sum of squares."""
    return op("norm", x, axis=axis, keepdims=keepdims)


def isclose(
    x1: Operand, x2: Operand, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether each element is within the tolerance of the other."""
    return op("isclose", x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan)


def allclose(
    x1: Operand, x2: Operand, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether all elements are within the tolerance of one another."""
    return op("allclose", x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan)


# Functions for the ops that no file defines, made from their rows.


def functions_from_rows(known: Collection[str]) -> dict[str, Callable[..., Tensor]]:
    """A function for each op that is missing from a namespace with these names.

    >>> [*functions_from_rows({standard_name(op) for op in OPS if op != "erf"})]
    ['erf']
    """
    return {
        name: _function(row)
        for name, row in OPS.items()
        if row.family != "questions"
        and name not in EXTENSIONS
        and {name, standard_name(name)}.isdisjoint(known)
    }


def _function(row: Op) -> Callable[..., Tensor]:
    def computed(*operands: Operand, **options: Any) -> Tensor:
        return op(row.name, *operands, **options)

    count = row.arity[0]
    names = ["x"] if count == 1 else [f"x{place + 1}" for place in range(count)]
    given = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names]
    options = Parameter("options", Parameter.VAR_KEYWORD)
    computed.__name__ = computed.__qualname__ = row.name
    computed.__doc__ = f"The op {row.name}; its result has the dtype that the dialect decides."
    computed.__signature__ = Signature([*given, options])  # type: ignore[attr-defined]
    return computed
