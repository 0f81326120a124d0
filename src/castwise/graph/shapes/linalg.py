"""The shapes that products and the functions of linear algebra give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from castwise.errors import UsageError
from castwise.graph.program import Shape
from castwise.graph.shapes.arithmetic import broadcast, least, places, reduced
from castwise.graph.shapes.products import check_equal


def _tensordot(x: Shape, y: Shape, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Shape:
    left, right = contracted(x, y, axes)
    for one, other in zip(left, right, strict=True):
        check_equal("tensordot", x[one], y[other])
    return (
        *[size for n, size in enumerate(x) if n not in left],
        *[size for n, size in enumerate(y) if n not in right],
    )


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


def _square(name: str, left_out: int = 0) -> Callable[..., Shape]:
    """The shape of square matrices without the last dimensions."""

    def shaped(x: Shape, **options: Any) -> Shape:
        _, rows, columns = _matrix(x, name)
        if rows != columns:
            raise UsageError(f"{name} takes square matrices, not {rows} by {columns}.")
        return x[: len(x) - left_out]

    return shaped


def _eigen(name: str) -> Callable[..., list[Shape]]:
    def shaped(x: Shape) -> list[Shape]:
        whole = _square(name)(x)
        return [whole[:-1], whole]

    return shaped


def _slogdet(x: Shape) -> list[Shape]:
    return [_square("linalg.slogdet", 2)(x)] * 2


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


def _svdvals(x: Shape) -> Shape:
    return _svd(x)[1]


def _pinv(x: Shape, *, rtol: Any = None) -> Shape:
    stack, rows, columns = _matrix(x, "linalg.pinv")
    return (*stack, columns, rows)


def _matrix_rank(x: Shape, *, rtol: Any = None) -> Shape:
    return _matrix(x, "linalg.matrix_rank")[0]


def _matrix_norm(x: Shape, *, keepdims: bool = False, ord: Any = "fro") -> Shape:
    _matrix(x, "linalg.matrix_norm")
    return reduced(x, (-2, -1), keepdims)


def _vector_norm(x: Shape, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Shape:
    return reduced(x, axis, keepdims)


def _solve(x: Shape, y: Shape) -> Shape:
    matrix = _square("linalg.solve")(x)
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


Shapes = tuple[tuple[str, ...], Callable[..., Any]]

LINALG: dict[str, Shapes] = {
    "tensordot": (("same",), _tensordot),
    "linalg.cholesky": (("same",), _square("linalg.cholesky")),
    "linalg.det": (("same",), _square("linalg.det", 2)),
    "linalg.eig": (("complex", "complex"), _eigen("linalg.eig")),
    "linalg.eigh": (("part", "same"), _eigen("linalg.eigh")),
    "linalg.eigvals": (("complex",), _square("linalg.eigvals", 1)),
    "linalg.eigvalsh": (("part",), _square("linalg.eigvalsh", 1)),
    "linalg.inv": (("same",), _square("linalg.inv")),
    "linalg.matrix_norm": (("part",), _matrix_norm),
    "linalg.matrix_power": (("same",), _square("linalg.matrix_power")),
    "linalg.matrix_rank": (("index",), _matrix_rank),
    "linalg.pinv": (("same",), _pinv),
    "linalg.qr": (("same", "same"), _qr),
    "linalg.slogdet": (("same", "part"), _slogdet),
    "linalg.solve": (("same",), _solve),
    "linalg.svd": (("same", "part", "same"), _svd),
    "linalg.svdvals": (("part",), _svdvals),
    "linalg.vector_norm": (("part",), _vector_norm),
}
