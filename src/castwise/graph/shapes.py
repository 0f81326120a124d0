"""The dtypes and shapes that ops, functions and indices give, with sizes that may be symbolic.

It begins with what many of them share. `op_results` near the end answers for every op, and
`indexed` for x[key].
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from castwise.arrays.functions import (
    IGNORED,
    LIKE,
    check_attention,
    check_count,
    check_ignored,
    check_smoothing,
    class_axis,
    convolution,
    needed,
    normalized_axes,
    pad_widths,
    spread,
)
from castwise.errors import UsageError
from castwise.graph.program import Given, Node, Shape
from castwise.graph.sizes import (
    Size,
    difference,
    element_count,
    is_quotient,
    least,
    plus,
    quotient,
    size_terms,
    times,
    total,
)
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.ops import Op, op

# What many functions share: broadcasting, axes, reductions, joins and reshapes.


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The shape that shapes broadcast to; a symbolic size matches itself and 1.

    Raises UsageError if two sizes do not fit.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    sizes: list[int | str] = []
    for place in range(-rank, 0):
        given = {shape[place] for shape in shapes if len(shape) >= -place} - {1}
        if len(given) > 1:
            texts = " and ".join(f"[{','.join(map(str, shape))}]" for shape in shapes)
            raise UsageError(f"the shapes {texts} do not broadcast: sizes must be equal, or 1.")
        sizes.append(given.pop() if given else 1)
    return tuple(sizes)


def first(shape: Shape, *others: Shape, **options: Any) -> Shape:
    """The shape of the first operand, for any shapes of the others."""
    return shape


def places(axis: Any, rank: int) -> tuple[int, ...]:
    """The dimensions an axis argument names; None names all."""
    if axis is None:
        return tuple(range(rank))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    for place in given:
        if not -rank <= place < rank:
            raise UsageError(f"axis {place} is out of range for {rank} dimension(s).")
    return tuple(place % rank for place in given)


def reduced(shape: Shape, axis: Any = None, keepdims: bool = False) -> Shape:
    """The shape after a reduction, which a number has along axis 0 too."""
    gone = places(axis, len(shape) or 1)
    if keepdims:
        return tuple(1 if n in gone else size for n, size in enumerate(shape))
    return tuple(size for n, size in enumerate(shape) if n not in gone)


def multiplied(left: Shape, right: Shape) -> Shape:
    """The shape of a matrix product."""
    if not left or not right:
        raise UsageError("a matrix product does not take 0-d operands.")
    inner = (left[-1], right[-1] if len(right) == 1 else right[-2])
    if inner[0] != inner[1]:
        raise UsageError(
            f"a matrix product needs equal inner sizes, not {inner[0]} and {inner[1]}."
        )
    rows = left[-2:-1]
    columns = right[-1:] if len(right) > 1 else ()
    return broadcast([left[:-2], right[:-2]]) + rows + columns


def joined(shapes: Sequence[Shape], axis: int | None) -> Shape:
    """The shape of concatenated arrays."""
    if axis is None:
        return (total([element_count(shape) for shape in shapes]),)
    place = places(axis, len(shapes[0]))[0]
    for shape in shapes[1:]:
        if len(shape) != len(shapes[0]) or any(
            size != other
            for n, (size, other) in enumerate(zip(shape, shapes[0], strict=True))
            if n != place
        ):
            raise UsageError("concatenated arrays need equal shapes except in that dimension.")
    whole = total([shape[place] for shape in shapes])
    return (*shapes[0][:place], whole, *shapes[0][place + 1 :])


def stacked(shapes: Sequence[Shape], axis: int = 0) -> Shape:
    """The shape of arrays stacked along a new dimension."""
    if len(set(shapes)) > 1:
        raise UsageError("stacked arrays need equal shapes.")
    place = places(axis, len(shapes[0]) + 1)[0]
    return (*shapes[0][:place], len(shapes), *shapes[0][place:])


def reshaped(shape: Shape, wanted: Sequence[int | str]) -> Shape:
    """The shape that a reshape gives; -1 means the remaining size.

    If it depends on a remainder whether the sizes agree, as for n in n//2 by 2, the check happens
    when the graph runs.
    """
    known = tuple(size for size in wanted if size != -1)
    if len(known) == len(wanted):
        apart = plus(
            [size_terms(element_count(shape)), times({(): -1}, size_terms(element_count(known)))]
        )
        is_open = any(is_quotient(factor) for names in apart for factor in names if apart[names])
        if any(apart.values()) and not is_open:
            raise _unequal(shape, wanted)
        return known
    left = list(shape)
    for size in (size for size in known if isinstance(size, str)):
        if size not in left:
            raise _unequal(shape, wanted)
        left.remove(size)
    whole = element_count(tuple(left))
    given = math.prod(size for size in known if isinstance(size, int))
    if given == 0 or (isinstance(whole, int) and whole % given):
        raise _unequal(shape, wanted)
    rest = quotient(whole, given)
    return tuple(rest if size == -1 else size for size in wanted)


def _unequal(shape: Shape, wanted: Sequence[int | str]) -> UsageError:
    return UsageError(f"cannot reshape {list(shape)} to {list(wanted)}: the sizes do not agree.")


def accumulated(shape: Shape, axis: int | None = None, include_initial: bool = False) -> Shape:
    """The shape of cumulative sums: unchanged, or one longer if the initial value is included."""
    if not include_initial:
        return shape
    place = places(0 if axis is None and len(shape) == 1 else axis, len(shape))[0]
    return (*shape[:place], total([shape[place], 1]), *shape[place + 1 :])


# Layers.


def _einsum(*given: Shape, equation: str = "") -> Shape:
    terms, result = _labels(needed("einsum", "equation", equation or None), given)
    sizes: dict[str, int | str] = {}
    for term, shape in zip(terms, given, strict=True):
        for label, size in zip(term, shape, strict=True):
            sizes[label] = broadcast([(sizes.get(label, 1),), (size,)])[0]
    return tuple([sizes[label] for label in result])


def _labels(equation: str, given: tuple[Shape, ...]) -> tuple[list[str], str]:
    """A label for each dimension of each operand, and those of the result.

    >>> _labels("...ij,...jk", ((5, 2, 3), (5, 3, 4)))
    (['0ij', '0jk'], '0ik')

    Raises UsageError for an equation that does not fit the operands.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    named = [term.replace("...", "") for term in terms]
    more = [len(shape) - len(name) for shape, name in zip(given, named, strict=False)]
    is_fit = len(terms) == len(given) and all(
        n >= 0 and (n == 0 or "..." in term) for n, term in zip(more, terms, strict=True)
    )
    if not is_fit:
        ranks = " and ".join(str(len(shape)) for shape in given)
        raise UsageError(f"the equation {equation!r} does not fit operands of {ranks} dimensions.")
    dots = "".join(map(str, range(max(more, default=0))))
    spread = [
        term.replace("...", dots[len(dots) - n :]) for term, n in zip(terms, more, strict=True)
    ]
    if arrow:
        return spread, right.replace("...", dots)
    once = sorted({c for c in "".join(named) if "".join(named).count(c) == 1})
    return spread, dots + "".join(once)


def _pad(x: Shape, *, pad_width: Any = None, constant_values: Any = 0) -> Shape:
    widths = pad_widths(needed("pad", "pad_width", pad_width), len(x))
    return tuple([total([size, sum(pair)]) for size, pair in zip(x, widths, strict=True)])


def topk_shapes(x: Shape, *, k: int | None = None, axis: int = -1) -> list[Shape]:
    """The shape of the values and that of their places."""
    count = needed("topk", "k", k)
    if not x:
        return [(), ()]
    place = places(axis, len(x))[0]
    check_count(count, x[place])
    return [(*x[:place], count, *x[place + 1 :])] * 2


def _conv(op: str, x: Shape, weight: Shape, *bias: Shape, **options: Any) -> Shape:
    return (*x[:1], *weight[:1], *convolution(op, x, weight, **options).sizes)


def _layer_norm(x: Shape, *others: Shape, normalized_shape: Any = None, eps: float = 1e-5) -> Shape:
    normalized_axes(x, normalized_shape)
    return x


def _attention(query: Shape, key: Shape, value: Shape, **options: Any) -> Shape:
    check_attention(query, key, value)
    scores = multiplied(query, (*key[:-2], key[-1], key[-2]))
    return multiplied(scores, value)


def _cross_entropy(
    x: Shape, target: Shape, *, reduction: str = "mean", ignore_index: int = IGNORED,
    label_smoothing: float = 0.0,
) -> Shape:  # fmt: skip
    axis = class_axis(x, target)
    check_smoothing(label_smoothing)
    if len(target) == len(x):
        check_ignored(ignore_index)
    return reduced(x, axis) if reduction == "none" else ()


# By the names of the ops.
LAYERS: dict[str, Callable[..., Shape]] = {
    "einsum": _einsum, "pad": _pad,
    "one_hot": lambda x, *, num_classes=None: (*x, needed("one_hot", "num_classes", num_classes)),
    "embedding": lambda indices, weight: (*indices, *weight[1:]),
    "conv1d": partial(_conv, "conv1d"), "conv2d": partial(_conv, "conv2d"),
    "layer_norm": _layer_norm, "scaled_dot_product_attention": _attention,
    "cross_entropy": _cross_entropy,
}  # fmt: skip

# Products of vectors and matrices, and linear algebra.


def _check_equal(name: str, one: int | str, other: int | str) -> None:
    """Raises UsageError if a product would sum over two different sizes."""
    if one != other:
        raise UsageError(f"{name} needs equal sizes to sum over, not {one} and {other}.")


def _inner(x: Shape, y: Shape) -> Shape:
    if not x or not y:
        return broadcast([x, y])
    _check_equal("inner", x[-1], y[-1])
    return (*x[:-1], *y[:-1])


def _vecdot(x: Shape, y: Shape, *, axis: int = -1) -> Shape:
    if not x or not y:
        return reduced(x or y, axis) if x or y else ()
    one, other = places(axis, len(x))[0] - len(x), places(axis, len(y))[0] - len(y)
    _check_equal("vecdot", x[one], y[other])
    return broadcast([reduced(x, one), reduced(y, other)])


def _cross(x: Shape, y: Shape, *, axis: int = -1) -> Shape:
    for shape in (x, y):
        _check_equal("cross", shape[places(axis, len(shape))[0]], 3)
    return broadcast([x, y])


def _kron(x: Shape, y: Shape) -> Shape:
    left, right = spread(x, y)
    pairs = zip(left[::2], right[1::2], strict=True)
    return tuple([element_count(pair) for pair in pairs])


# By the names of the ops.
PRODUCTS: dict[str, Callable[..., Shape]] = {
    "matmul": multiplied, "dot": lambda x, y: multiplied(x, y) if x and y else broadcast([x, y]),
    "outer": lambda x, y: (element_count(x), element_count(y)), "inner": _inner, "vecdot": _vecdot,
    "cross": _cross, "kron": _kron,
}  # fmt: skip


def _tensordot(x: Shape, y: Shape, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Shape:
    left, right = contracted(x, y, axes)
    for one, other in zip(left, right, strict=True):
        _check_equal("tensordot", x[one], y[other])
    return reduced(x, left) + reduced(y, right)


def contracted(x: Shape, y: Shape, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions of each that tensordot sums over."""
    if isinstance(axes, int):
        if not 0 <= axes <= min(len(x), len(y)):
            raise UsageError(f"tensordot needs {axes} dimensions to sum over, but there are fewer.")
        return tuple(range(len(x) - axes, len(x))), tuple(range(axes))
    left, right = axes
    if len(left) != len(right):
        raise UsageError("tensordot needs equally many axes for both operands.")
    return places(tuple(left), len(x)), places(tuple(right), len(y))


def _matrix(x: Shape, name: str) -> tuple[Shape, int | str, int | str]:
    """The sizes before the last two, and those two."""
    if len(x) < 2:
        raise UsageError(f"{name} takes matrices, not {len(x)} dimension(s).")
    return x[:-2], x[-2], x[-1]


def _square(name: str, left_out: int, x: Shape, **options: Any) -> Shape:
    """The shape of square matrices without the last dimensions."""
    _, rows, columns = _matrix(x, name)
    if rows != columns:
        raise UsageError(f"{name} takes square matrices, not {rows} by {columns}.")
    return x[: len(x) - left_out]


def _qr(x: Shape, *, mode: str = "reduced") -> list[Shape]:
    stack, rows, columns = _matrix(x, "linalg.qr")
    if mode == "complete":
        return [(*stack, rows, rows), x]
    inner = least(rows, columns, "linalg.qr")
    return [(*stack, rows, inner), (*stack, inner, columns)]


def _svd(x: Shape, *, full_matrices: bool = True) -> list[Shape]:
    stack, rows, columns = _matrix(x, "linalg.svd")
    inner = least(rows, columns, "linalg.svd")
    if full_matrices:
        return [(*stack, rows, rows), (*stack, inner), (*stack, columns, columns)]
    return [(*stack, rows, inner), (*stack, inner), (*stack, inner, columns)]


def _pinv(x: Shape, *, rtol: Any = None) -> Shape:
    stack, rows, columns = _matrix(x, "linalg.pinv")
    return (*stack, columns, rows)


def _matrix_norm(x: Shape, *, keepdims: bool = False, ord: Any = "fro") -> Shape:
    _matrix(x, "linalg.matrix_norm")
    return reduced(x, (-2, -1), keepdims)


def _vector_norm(x: Shape, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Shape:
    return reduced(x, axis, keepdims)


def _solve(x: Shape, y: Shape) -> Shape:
    matrix = _square("linalg.solve", 0, x)
    if len(y) == 1:
        return (*matrix[:-2], y[0])
    return (*broadcast([matrix[:-2], y[:-2]]), *y[-2:])


def diagonal(x: Shape, offset: int = 0) -> Shape:
    """The shape of the elements on a diagonal of matrices."""
    stack, rows, columns = _matrix(x, "linalg.diagonal")
    if offset == 0:
        return (*stack, least(rows, columns, "linalg.diagonal"))
    if not (isinstance(rows, int) and isinstance(columns, int)):
        raise UsageError("the size of a diagonal with an offset is not known: fix the sizes.")
    length = min(rows, columns - offset) if offset > 0 else min(rows + offset, columns)
    return (*stack, max(length, 0))


# The kind of each result, relative to the compute dtype, and the function for the shapes.
_Results = tuple[tuple[str, ...], Callable[..., Any]]

_LINALG: dict[str, _Results] = {
    "tensordot": (("same",), _tensordot),
    "linalg.cholesky": (("same",), partial(_square, "linalg.cholesky", 0)),
    "linalg.det": (("same",), partial(_square, "linalg.det", 2)),
    "linalg.eig": (("complex", "complex"), lambda x: [_square("linalg.eig", 1, x), x]),
    "linalg.eigh": (("part", "same"), lambda x: [_square("linalg.eigh", 1, x), x]),
    "linalg.eigvals": (("complex",), partial(_square, "linalg.eigvals", 1)),
    "linalg.eigvalsh": (("part",), partial(_square, "linalg.eigvalsh", 1)),
    "linalg.inv": (("same",), partial(_square, "linalg.inv", 0)),
    "linalg.matrix_norm": (("part",), _matrix_norm),
    "linalg.matrix_power": (("same",), partial(_square, "linalg.matrix_power", 0)),
    "linalg.matrix_rank": (("index",), lambda x, *, rtol=None: _matrix(x, "linalg.matrix_rank")[0]),
    "linalg.pinv": (("same",), _pinv),
    "linalg.qr": (("same", "same"), _qr),
    "linalg.slogdet": (("same", "part"), lambda x: [_square("linalg.slogdet", 2, x)] * 2),
    "linalg.solve": (("same",), _solve),
    "linalg.svd": (("same", "part", "same"), _svd),
    "linalg.svdvals": (("part",), lambda x: _svd(x)[1]),
    "linalg.vector_norm": (("part",), _vector_norm),
}

# Fourier transforms.

Length = Callable[["int | str"], "int | str"]


def _whole(size: int | str) -> int | str:
    return size


def _half(size: int | str) -> int | str:
    """The size of a transform of real values, without the half that follows by symmetry."""
    return total([quotient(size, 2), 1])


def _doubled(size: int | str) -> int | str:
    """The default number of real values for a half transform."""
    before = difference(size, 1)
    if before is None:
        raise UsageError(f"cannot subtract one from the symbolic size {size}: fix it, or give n.")
    return element_count((2, before))


def _along(length: Length, x: Shape, *, n: Any = None, axis: int = -1, norm: Any = None) -> Shape:
    """A transform along one dimension; `n` is the number of its real or whole values."""
    return _along_several(length, x, s=None if n is None else (n,), axes=(axis,))


def _along_several(
    length: Length, x: Shape, *, s: Any = None, axes: Any = None, norm: Any = None
) -> Shape:
    """A transform along several dimensions, the last of which may be halved or doubled."""
    chosen = places(None if axes is None else tuple(axes), len(x))
    if axes is None and s is not None:
        chosen = chosen[len(x) - len(s) :]
    sizes = list(x)
    for count, place in enumerate(chosen):
        rule = length if count == len(chosen) - 1 else _whole
        if s is None:
            sizes[place] = rule(x[place])
        else:
            sizes[place] = s[count] if rule is _doubled else rule(s[count])
    return tuple(sizes)


_FFT: dict[str, _Results] = {
    **dict.fromkeys(("fft.fft", "fft.ifft"), (("complex",), partial(_along, _whole))),
    **dict.fromkeys(("fft.rfft", "fft.ihfft"), (("complex",), partial(_along, _half))),
    **dict.fromkeys(("fft.irfft", "fft.hfft"), (("part",), partial(_along, _doubled))),
    **dict.fromkeys(("fft.fftn", "fft.ifftn"), (("complex",), partial(_along_several, _whole))),
    "fft.rfftn": (("complex",), partial(_along_several, _half)),
    "fft.irfftn": (("part",), partial(_along_several, _doubled)),
}

# The dtypes and shapes of all results.

# Functions that are decided like some op but have results of their own.
_FUNCTIONS: dict[str, _Results] = {
    **_LINALG,
    **_FFT,
    "isin": (("bool",), first),
    "topk": (("same", "index"), topk_shapes),
}


def op_results(
    name: str, compute: DType, given: Sequence[Shape], options: Mapping[str, Any]
) -> list[tuple[DType, Shape]]:
    """The dtype and shape of each result."""
    if name in _FUNCTIONS:
        kinds, shaped = _FUNCTIONS[name]
        found = shaped(*given, **options)
        several = found if isinstance(found, list) else [found]
        return [(_kind_dtype(kind, compute), s) for kind, s in zip(kinds, several, strict=True)]
    row = op(LIKE.get(name, name))
    return [(_op_dtype(row, compute), _op_shape(row, given, options))]


def has_own_dtype(name: str) -> bool:
    """Whether the dtype of a function's results follows from its compute dtype, not from the
    decision of the op that it is decided like."""
    return name in _FUNCTIONS


def result_dtype(name: str, compute: DType, part: int | None = None) -> DType:
    """The dtype of a result of such a function, for a compute dtype."""
    return _kind_dtype(_FUNCTIONS[name][0][part or 0], compute)


def _kind_dtype(kind: str, compute: DType) -> DType:
    if kind in ("index", "bool"):
        return dtype("int64" if kind == "index" else "bool")
    if kind == "complex":
        return compute.of_parts
    return compute.part if kind == "part" else compute


def _op_dtype(row: Op, compute: DType) -> DType:
    if row.result in ("same", "first"):
        return compute
    if row.result == "real":
        return compute.part
    return dtype("int64" if row.result == "index" else row.result)


def _op_shape(row: Op, given: Sequence[Shape], options: Mapping[str, Any]) -> Shape:
    """The shape of an op's result."""
    if row.family == "joining":
        if row.name == "stack":
            return stacked(given, options.get("axis", 0))
        return joined(given, options.get("axis", 0))
    if row.family == "layers":
        return LAYERS[row.name](*given, **options)
    if row.family == "products":
        return PRODUCTS[row.name](*given, **options)
    if row.family == "reductions":
        if row.call.along_axis:
            return accumulated(given[0], **options)
        return reduced(given[0], options.get("axis"), options.get("keepdims", False))
    if row.shapes.gives_one:
        return ()
    shape = broadcast(given)
    return () if row.family == "losses" and options.get("reduction") != "none" else shape


# Indices of traced arrays: x[key] and x[key] = values, as nodes whose shapes are known.

_TAKEN = "index a graph by integers, slices, None, ... and arrays of integers"


def split_key(
    key: Any, first: int, index_node: Callable[[Any], Node]
) -> tuple[Any, tuple[Node, ...]]:
    """A key with its arrays as inputs of a node, numbered from `first`."""
    nodes: list[Node] = []

    def plain(part: Any) -> Any:
        if part is None or part is Ellipsis:
            return part
        if isinstance(part, slice):
            step = None if part.step is None else operator.index(part.step)
            return slice(_bound(part.start), _bound(part.stop), step)
        if isinstance(part, (bool, str, float, complex)):
            raise UsageError(f"{_TAKEN}, not by {part!r}.")
        if hasattr(part, "shape") or isinstance(part, (list, tuple)):
            nodes.append(index_node(part))
            return Given(first + len(nodes) - 1)
        return operator.index(part)

    given = key if isinstance(key, tuple) else (key,)
    parts = [plain(one) for part in given for one in _unmasked(part)]
    return (parts[0] if len(parts) == 1 else tuple(parts)), tuple(nodes)


def _bound(part: Any) -> int | Size | None:
    return part if part is None or isinstance(part, Size) else operator.index(part)


def _unmasked(part: Any) -> tuple[Any, ...]:
    """A mask from outside the graph, whose values are known, as the indices it selects."""
    import numpy as np

    if isinstance(part, (np.ndarray, list)):
        array = np.asarray(part)
        if array.dtype == bool and array.ndim:
            return np.nonzero(array)
    return (part,)


def full_key(key: Any, rank: int) -> list[Any]:
    """A key with an entry for each dimension and each new one, with `...` expanded.

    Raises UsageError if it has too many entries.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(1 for part in keys if part is not None and part is not Ellipsis)
    if used > rank:
        raise UsageError(f"too many indices for {rank} dimension(s).")
    place = next((n for n, part in enumerate(keys) if part is Ellipsis), len(keys))
    return [*keys[:place], *[slice(None)] * (rank - used), *keys[place + 1 :]]


def indexed(shape: Shape, key: Any, arrays: Sequence[Shape] = ()) -> Shape:
    """The shape of x[key]; `arrays` are the shapes of the node's inputs.

    If index arrays are adjacent, their dimensions replace them in place. Otherwise their dimensions
    come first. Integers mixed with arrays count as 0-d arrays.
    """
    keys = full_key(key, len(shape))
    has_arrays = any(isinstance(part, Given) for part in keys)
    sizes: list[int | str] = []
    spread: list[int] = []  # the positions of arrays in the key
    at = 0  # the position of their dimensions in the shape
    place = 0
    for n, part in enumerate(keys):
        if part is None:
            sizes.append(1)
            continue
        if has_arrays and not isinstance(part, slice):
            at = at if spread else len(sizes)
            spread.append(n)
        sizes.extend(_indexed_dimension(shape[place], part))
        place += 1
    given = [arrays[part.number] for part in keys if isinstance(part, Given)]
    if spread and spread[-1] - spread[0] >= len(spread):
        at = 0
    return (*sizes[:at], *broadcast(given), *sizes[at:])


def _indexed_dimension(size: int | str, part: Any) -> tuple[int | str, ...]:
    """The remaining sizes of an indexed dimension."""
    if isinstance(part, slice):
        is_known = not any(isinstance(n, str) for n in (size, part.start, part.stop))
        return (len(range(*part.indices(int(size)))) if is_known else _slice_length(size, part),)
    if isinstance(part, int) and isinstance(size, int) and not -size <= part < size:
        raise UsageError(f"index {part} is out of range for a size of {size}.")
    return ()


def _slice_length(size: int | str, part: slice) -> int | str:
    """The length of a slice with symbolic sizes that is certainly within the dimension.

    Raises UsageError if it may reach beyond it.
    """
    start = 0 if part.start is None else part.start
    stop = size if part.stop is None else part.stop
    is_forward = part.step in (None, 1) and not (isinstance(start, int) and start < 0)
    length = difference(stop, start) if is_forward else None
    if length is None or difference(size, stop) is None:
        raise UsageError(
            f"a slice {key_text(part)} of size {size} has no known length: fix the size, or take a "
            "part that is never longer, such as [:n//2]."
        )
    return length


def key_text(key: Any) -> str:
    """An index as text between brackets."""
    if isinstance(key, tuple):
        return ", ".join(map(key_text, key))
    if isinstance(key, slice):
        start, stop, step = ["" if n is None else str(n) for n in (key.start, key.stop, key.step)]
        return f"{start}:{stop}{':' if step else ''}{step}"
    return "..." if key is Ellipsis else str(key)
