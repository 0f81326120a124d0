"""The standard's functions on tensors: how they run, under the standard's dialect if no other is
chosen; those that are one call of an op; and those that move, join, sort and compare elements, or
reduce them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from castwise.arrays.calls import asked
from castwise.arrays.elements import (
    as_index,
    backend_result,
    check_tensor,
    constants_together,
    differences,
    expanded,
    insertion_places,
    moved,
    nonzero_indices,
    permuted,
    picked,
    slices,
    sorting_indices,
    with_array,
)
from castwise.arrays.functions import standard_name
from castwise.arrays.kinds import truncated_dtype
from castwise.arrays.tensor import Tensor, compute, compute_several
from castwise.catalog import STANDARD
from castwise.engine.ask import answer
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType
from castwise.vocab.live import to_dtype

__all__ = [
    "abs", "acos", "acosh", "add", "all", "any", "argmax", "argmin", "argsort", "asin", "asinh",
    "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "broadcast_arrays", "broadcast_shapes", "broadcast_to",
    "ceil", "clip", "concat", "conj", "copysign", "cos", "cosh", "count_nonzero", "cumulative_prod",
    "cumulative_sum", "diff", "divide", "equal", "exp", "expand_dims", "expm1", "flip", "floor",
    "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isin", "isinf",
    "isnan", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "matmul", "matrix_transpose", "max", "maximum",
    "mean", "meshgrid", "min", "minimum", "moveaxis", "multiply", "negative", "nextafter",
    "nonzero", "not_equal", "permute_dims", "positive", "pow", "prod", "real", "reciprocal",
    "remainder", "repeat", "reshape", "roll", "round", "searchsorted", "sign", "signbit", "sin",
    "sinh", "sort", "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum", "take",
    "take_along_axis", "tan", "tanh", "tensordot", "tile", "tril", "triu", "trunc", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where",
]  # fmt: skip

Number: TypeAlias = bool | int | float | complex
Operand: TypeAlias = Tensor | Number
Bound: TypeAlias = Tensor | int | float | None
Pairs: TypeAlias = int | tuple[Sequence[int], Sequence[int]]
Axes: TypeAlias = int | tuple[int, ...] | None


def op(name: str, *operands: Any, **options: Any) -> Tensor:
    """An op of the engine, under the standard's dialect if no other is chosen."""
    return compute(name, *operands, home=STANDARD, **options)


def several(name: str, *operands: Any, **options: Any) -> tuple[Tensor, ...]:
    """A function with several results, or with one whose dtype is not the compute dtype."""
    return compute_several(name, *operands, home=STANDARD, **options)


def first_result(name: str, *operands: Any, **options: Any) -> Tensor:
    """A function with one result whose dtype is not the compute dtype."""
    return several(name, *operands, **options)[0]


def check_accepted(name: str, x: Tensor) -> None:
    """Raises PromotionError if an op, which another is computed with, does not take a tensor."""
    answer(asked(name, (x,), "function", home=STANDARD))


def reduced(name: str, x: Tensor, dtype: object, **options: Any) -> Tensor:
    """A sum or product, in the dialect's accumulator dtype or in the requested one."""
    if dtype is None:
        return op(name, x, **options)
    target = truncated_dtype(to_dtype(dtype), check_tensor(x, name)._kind.current_dialect)
    return op(name, x.astype(target, copy=False), **options).astype(target, copy=False)


# What makes the functions that are one call of an op.

_Made = TypeVar("_Made", bound=Callable[..., Tensor])


class Reduction(Protocol):
    """A function that reduces a tensor along some dimensions."""

    def __call__(self, x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor: ...


class IndexReduction(Protocol):
    """A function that reduces a tensor along one dimension, or all of them."""

    def __call__(
        self, x: Tensor, /, *, axis: int | None = None, keepdims: bool = False
    ) -> Tensor: ...


def one(name: str, about: str = "") -> Callable[[Tensor], Tensor]:
    """The function of an op with one operand."""

    def function(x: Tensor, /) -> Tensor:
        return op(name, x)

    return _named(function, name, about)


def two(name: str, about: str = "") -> Callable[[Operand, Operand], Tensor]:
    """The function of an op with two operands."""

    def function(x1: Operand, x2: Operand, /) -> Tensor:
        return op(name, x1, x2)

    return _named(function, name, about)


def reduction(name: str, about: str = "") -> Reduction:
    """The function of an op that reduces a tensor along some dimensions."""

    def function(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
        return op(name, x, axis=axis, keepdims=keepdims)

    return _named(function, name, about)


def index_reduction(name: str, about: str = "") -> IndexReduction:
    """The function of an op that reduces a tensor along one dimension, or all of them."""

    def function(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
        return op(name, x, axis=axis, keepdims=keepdims)

    return _named(function, name, about)


def _named(function: _Made, name: str, about: str) -> _Made:
    """A function as the namespace has it: its name is the standard's; without a sentence about it
    its docstring is that of the tensor's method."""
    function.__name__ = function.__qualname__ = standard_name(name)
    function.__module__ = "castwise.array_api"
    function.__doc__ = about or getattr(Tensor, name).__doc__
    return function


# One call of an op each, with the docstring of its method.

abs = one("abs")
acos = one("acos")
acosh = one("acosh")
asin = one("asin")
asinh = one("asinh")
atan = one("atan")
atanh = one("atanh")
bitwise_invert = one("bitwise_not")
ceil = one("ceil")
conj = one("conj", "The complex conjugate of each element.")
cos = one("cos")
cosh = one("cosh")
exp = one("exp")
expm1 = one("expm1")
floor = one("floor")
imag = one("imag", "The imaginary part of each element.")
isfinite = one("isfinite")
isinf = one("isinf")
isnan = one("isnan")
log = one("log")
log10 = one("log10")
log1p = one("log1p")
log2 = one("log2")
logical_not = one("logical_not")
negative = one("neg")
positive = one("positive")
real = one("real", "The real part of each element.")
reciprocal = one("reciprocal")
round = one("round", "The nearest integer, ties to even, in the same dtype.")
sign = one("sign")
signbit = one("signbit")
sin = one("sin")
sinh = one("sinh")
sqrt = one("sqrt")
square = one("square")
tan = one("tan")
tanh = one("tanh")
trunc = one("trunc")

add = two("add")
atan2 = two("atan2")
bitwise_and = two("bitwise_and")
bitwise_left_shift = two("bitwise_left_shift")
bitwise_or = two("bitwise_or")
bitwise_right_shift = two("bitwise_right_shift")
bitwise_xor = two("bitwise_xor")
copysign = two("copysign")
divide = two("div")
equal = two("eq")
floor_divide = two("floor_divide")
greater = two("gt")
greater_equal = two("ge")
hypot = two("hypot")
less = two("lt")
less_equal = two("le")
logaddexp = two("logaddexp")
logical_and = two("logical_and")
logical_or = two("logical_or")
logical_xor = two("logical_xor")
maximum = two("maximum")
minimum = two("minimum")
multiply = two("mul")
nextafter = two("nextafter")
not_equal = two("ne")
pow = two("pow")
remainder = two("remainder")
subtract = two("sub")

all = reduction("all")
any = reduction("any")
count_nonzero = reduction("count_nonzero")
max = reduction("max", "The largest element.")
mean = reduction("mean")
min = reduction("min", "The smallest element.")

argmax = index_reduction("argmax")
argmin = index_reduction("argmin")

# Computations.


def clip(x: Tensor, /, min: Bound = None, max: Bound = None) -> Tensor:
    """Each element, no smaller than one bound and no larger than the other."""
    return op("clamp", check_tensor(x, "clip"), min, max)


def where(condition: Tensor, x1: Operand, x2: Operand, /) -> Tensor:
    """Elements of x1 where the condition holds, of x2 elsewhere."""
    return op("where", condition, x1, x2)


def isin(x1: Operand, x2: Operand, /, *, invert: bool = False) -> Tensor:
    """Whether each element of x1 equals one of x2, or none if inverted."""
    return op("isin", x1, x2, invert=invert)


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The matrix product."""
    return op("matmul", x1, x2)


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Pairs = 2) -> Tensor:
    """The sum of products over some dimensions of each."""
    return op("tensordot", x1, x2, axes=axes)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The sum of products over one dimension, the first operand conjugated."""
    return op("vecdot", x1, x2, axis=axis)


# Reductions, in the dialect's accumulator dtype or in the requested one.


def sum(
    x: Tensor, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False
) -> Tensor:
    """The sum of the elements."""
    return reduced("sum", x, dtype, axis=axis, keepdims=keepdims)


def prod(
    x: Tensor, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False
) -> Tensor:
    """The product of the elements."""
    return reduced("prod", x, dtype, axis=axis, keepdims=keepdims)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None,
    include_initial: bool = False,
) -> Tensor:  # fmt: skip
    """The sum of all elements up to each."""
    return reduced("cumsum", x, dtype, axis=axis, include_initial=include_initial)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None,
    include_initial: bool = False,
) -> Tensor:  # fmt: skip
    """The product of all elements up to each."""
    return reduced("cumprod", x, dtype, axis=axis, include_initial=include_initial)


def std(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The standard deviation of the elements."""
    return op("std", x, axis=axis, correction=correction, keepdims=keepdims)


def var(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The variance of the elements."""
    return op("var", x, axis=axis, correction=correction, keepdims=keepdims)


def diff(
    x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The differences of neighbours, taken n times."""
    return differences(x, axis, n, prepend, append, STANDARD)


# Shapes.


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The elements in another shape."""
    return moved("reshape", x, shape, copy=copy)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """The array with its dimensions in another order."""
    return permuted(x, axes)


def moveaxis(
    x: Tensor, source: int | tuple[int, ...], destination: int | tuple[int, ...], /
) -> Tensor:
    """The array with some dimensions moved to other positions."""
    return moved("moveaxis", x, source, destination)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The transpose of each matrix in the last two dimensions."""
    return moved("matrix_transpose", x)


def expand_dims(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """The array with new dimensions of length 1, at the given positions in the result."""
    return expanded(x, axis)


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """The array without some dimensions of length 1."""
    return moved("squeeze", x, axis=axis)


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """The array in a larger shape, with its elements repeated."""
    return moved("broadcast_to", x, shape)


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """The arrays, broadcast to a common shape; each keeps its dtype."""
    if not arrays:
        return ()
    arrays = constants_together(*arrays)
    found = backend_result("broadcast_arrays", *arrays)
    return tuple([with_array(x, array) for array, x in zip(found, arrays, strict=True)])


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to.

    Raises ValueError if they do not broadcast.
    """
    found = []
    for sizes in zip_longest(*[shape[::-1] for shape in shapes], fillvalue=1):
        longer = {size for size in sizes if size != 1}
        if len(longer) > 1:
            raise ValueError(
                f"the shapes {', '.join(map(str, shapes))} do not broadcast: the sizes of "
                "each dimension must be equal, or 1."
            )
        found.append(longer.pop() if longer else 1)
    return tuple(found[::-1])


def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> tuple[Tensor, ...]:
    """A grid of coordinates: each vector along its own dimension, repeated along the others."""
    if not arrays:
        return ()
    arrays = constants_together(*arrays)
    found = backend_result("meshgrid", *arrays, indexing=indexing)
    return tuple([with_array(x, array) for array, x in zip(found, arrays, strict=True)])


# Parts joined, taken apart, repeated and shifted.


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Arrays joined along a dimension, or flattened first if axis is None."""
    _check(arrays, "concat")
    if axis is None:
        return op("concat", *[reshape(x, (-1,)) for x in arrays], axis=0)
    return op("concat", *arrays, axis=axis)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Arrays joined along a new dimension."""
    _check(arrays, "stack")
    return op("stack", *arrays, axis=axis)


def _check(arrays: Sequence[Tensor], name: str) -> None:
    if not arrays:
        raise UsageError(f"{name} takes at least one tensor.")


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of an array along a dimension."""
    return slices(x, axis)


def flip(x: Tensor, /, *, axis: Axes = None) -> Tensor:
    """The elements in the opposite order."""
    return moved("flip", x, axis=axis)


def roll(x: Tensor, /, shift: int | tuple[int, ...], *, axis: Axes = None) -> Tensor:
    """The elements shifted; those beyond the end reappear at the start."""
    return moved("roll", x, shift, axis=axis)


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element several times."""
    return moved("repeat", x, repeats, axis=axis)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The whole array several times along each dimension."""
    return moved("tile", x, repetitions)


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The lower triangles of matrices, zeros elsewhere."""
    return moved("tril", x, k=k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The upper triangles of matrices, zeros elsewhere."""
    return moved("triu", x, k=k)


# Elements picked, sorted and searched; indices and counts have the dialect's dtype for them.


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The slices at the given indices of a dimension."""
    return picked("take", x, indices, axis)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """The elements at the indices in another array, one per element of it."""
    return picked("take_along_axis", x, indices, axis)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The indices of all nonzero elements, one array per dimension."""
    return nonzero_indices(x)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements, sorted."""
    return moved("sort", x, axis=axis, descending=descending, stable=stable)


def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """The indices that sort the elements."""
    return sorting_indices(x, axis, descending, stable)


def searchsorted(
    x1: Tensor, x2: Tensor | int | float, /, *, side: Literal["left", "right"] = "left",
    sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The positions where elements of x2 would be inserted into x1, which is sorted or has a
    sorter."""
    return insertion_places(x1, x2, side, sorter, STANDARD)


class UniqueAll(NamedTuple):
    """The distinct values, their first indices, the value index of each element, and the counts."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The distinct values, and the count of each."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The distinct values, and the value index of each element."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Tensor, /) -> UniqueAll:
    """The distinct values of an array, with their indices and counts."""
    return UniqueAll(*_unique("unique_all", x))


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The distinct values of an array, and the count of each."""
    return UniqueCounts(*_unique("unique_counts", x))


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The distinct values of an array, and the value index of each element."""
    return UniqueInverse(*_unique("unique_inverse", x))


def unique_values(x: Tensor, /) -> Tensor:
    """The distinct values of an array."""
    return moved("unique_values", x)


def _unique(name: str, x: Tensor) -> list[Tensor]:
    values, *places = backend_result(name, x)
    return [with_array(x, values), *[as_index(place, x) for place in places]]
