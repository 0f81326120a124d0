"""Observes what an index takes from an array: `x[i]` becomes `took(7, x[i], x)`.

NumPy's views name the array they belong to; a copy, as `x[mask]` makes, does not, and where its
dtype comes from would be lost. `f()[i]` becomes `took(7, base(7, f())[i])`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

from castwise.auditing.rewriting.building import observed_by
from castwise.auditing.rewriting.expressions import is_plain, literal

TOOK, BASE = "_@cw_took", "_@cw_base"  # names that no Python source can contain


def may_copy(node: ast.Subscript) -> bool:
    """Whether an index may take a copy of some elements: it is neither a number nor a slice."""
    if not isinstance(node.ctx, ast.Load):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return not all(_is_basic(part) for part in parts)


def _is_basic(part: ast.expr) -> bool:
    is_nothing = isinstance(part, ast.Constant) and part.value in (None, ...)
    return isinstance(part, ast.Slice) or is_nothing or literal(part) is not None


def observed_item(
    node: ast.Subscript, mark: int, visit: Callable[[ast.expr], ast.expr]
) -> ast.expr:
    """The expression with its observers; `visit` rewrites an expression in it."""
    if isinstance(node.value, ast.Name) and is_plain(node.slice):
        node.slice = visit(node.slice)
        return observed_by(node, TOOK, mark, node, copy.copy(node.value))
    node.value = observed_by(node.value, BASE, mark, visit(node.value))
    node.slice = visit(node.slice)
    return observed_by(node, TOOK, mark, node)
