"""Where else a program may use what an expression makes."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from castwise.auditing.records.places import SourcePlace

_Span: TypeAlias = "tuple[int, int, int, int]"


def is_operand_only(place: SourcePlace, operations: Iterable[SourcePlace]) -> bool:
    """Whether what an expression makes is only an operand of some operations: it stands in one of
    them, or its name stands nowhere else in the file."""
    around = [*operations]
    if any(_is_within(place, operation) for operation in around):
        return True
    tree = _tree("".join(linecache.getlines(place.file)))
    name = _assigned(tree, _span(place))
    if name is None or any(operation.file != place.file for operation in around):
        return False
    operands = [*_operands(tree, {_span(operation) for operation in around})]
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    uses = [node for node in names if isinstance(node.ctx, ast.Load)]
    return bool(uses) and all(any(use is operand for operand in operands) for use in uses)


def _is_within(inner: SourcePlace, outer: SourcePlace) -> bool:
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    ends = (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    return inner.file == outer.file and begins and ends


def _assigned(tree: ast.Module, span: _Span) -> str | None:
    """The name that an expression is assigned to, if that is all that is done with it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _span_of(node.value) == span:
            target = node.targets[0]
            return target.id if isinstance(target, ast.Name) and len(node.targets) == 1 else None
    return None


def _operands(tree: ast.Module, spans: set[_Span]) -> Iterator[ast.expr]:
    """The operands of some operations, without indices: of `x * rows[:, None]`, x and rows."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and _span_of(node) in spans:
            both = [node.value] if isinstance(node, ast.AugAssign) else [node.left, node.right]
            for operand in both:
                while isinstance(operand, ast.Subscript):
                    operand = operand.value
                yield operand


@functools.lru_cache(maxsize=16)
def _tree(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _span(place: SourcePlace) -> _Span:
    return place.line, place.column, place.end_line, place.end_column


def _span_of(node: ast.expr | ast.stmt) -> _Span:
    end = node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1
    return node.lineno, node.col_offset + 1, *end
