"""The dtypes and shapes of the results of ops and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from castwise.execute.functions.alike import LIKE
from castwise.graph.program import Shape
from castwise.graph.shapes import arithmetic as shapes
from castwise.graph.shapes import layers
from castwise.graph.shapes.fft import FFT
from castwise.graph.shapes.linalg import LINALG
from castwise.graph.shapes.products import PRODUCTS
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.ops import Op, op

# Functions that are decided like some op but have other shapes: the kind of each result, relative
# to the compute dtype, and the function for the shapes.
_FUNCTIONS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    **LINALG,
    **FFT,
    "isin": (("bool",), shapes.first),
    "topk": (("same", "index"), layers.topk_shapes),
}


def results_of(
    name: str, compute: DType, given: Sequence[Shape], options: Mapping[str, Any]
) -> list[tuple[DType, Shape]]:
    """The dtype and shape of each result."""
    if name in _FUNCTIONS:
        kinds, shaped = _FUNCTIONS[name]
        found = shaped(*given, **options)
        several = found if isinstance(found, list) else [found]
        return [(_of_kind(kind, compute), s) for kind, s in zip(kinds, several, strict=True)]
    row = op(LIKE.get(name, name))
    return [(_of_row(row, compute), _shape_of(row, given, options))]


def has_own_dtype(name: str) -> bool:
    """Whether the dtype of a function's results follows from its compute dtype, not from the
    decision of the op that it is decided like."""
    return name in _FUNCTIONS


def result_dtype(name: str, compute: DType, part: int | None = None) -> DType:
    """The dtype of a result of such a function, for a compute dtype."""
    return _of_kind(_FUNCTIONS[name][0][part or 0], compute)


def _of_kind(kind: str, compute: DType) -> DType:
    if kind in ("index", "bool"):
        return dtype("int64" if kind == "index" else "bool")
    if kind == "complex" and compute.kind != "complex":
        return dtype("complex128" if compute.bits == 64 else "complex64")
    return compute.part if kind == "part" else compute


def _of_row(row: Op, compute: DType) -> DType:
    if row.result in ("same", "first"):
        return compute
    named = {"bool": "bool", "index": "int64"}.get(row.result)
    return compute.part if row.result == "real" else dtype(named or row.result)


def _shape_of(row: Op, given: Sequence[Shape], options: Mapping[str, Any]) -> Shape:
    """The shape of an op's result."""
    if row.family == "joining":
        if row.name == "stack":
            return shapes.stacked(given, options.get("axis", 0))
        return shapes.joined(given, options.get("axis", 0))
    if row.family == "layers":
        return layers.SHAPES[row.name](*given, **options)
    if row.family == "products":
        return PRODUCTS[row.name](*given, **options)
    if row.family == "reductions" and row.call.along_axis:
        return shapes.accumulated(given[0], **options)
    if row.family == "reductions":
        return shapes.reduced(given[0], options.get("axis"), options.get("keepdims", False))
    if row.shapes.gives_one:
        return ()
    shape = shapes.broadcast(given)
    return () if row.family == "losses" and options.get("reduction") != "none" else shape
