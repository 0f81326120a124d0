"""Observes what a program writes into arrays: `x[i] = value` becomes `x[i] = write(7, value, x)`.

The observer returns the value, and Python itself writes it. `f()[i] = value` becomes
`into(7, f())[i] = write(7, value)`: each part runs once and in Python's order.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

from castwise.auditing.rewriting.building import observed_by
from castwise.auditing.rewriting.expressions import is_text

WRITE, INTO = "_@cw_write", "_@cw_into"  # names that no Python source can contain

# Values that are neither an array nor a number, and comparisons, whose result fits everywhere.
_HARMLESS = (ast.Dict, ast.DictComp, ast.Set, ast.SetComp, ast.Lambda, ast.Compare)


def is_write(node: ast.Assign) -> bool:
    """Whether an assignment may write into an array: `x[i] = value`, where the index is not a
    text."""
    target = node.targets[0]
    if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
        return False
    return not (is_text(target.slice) or is_text(node.value) or isinstance(node.value, _HARMLESS))


def observed_write(
    node: ast.Assign, mark: int, visit: Callable[[ast.expr], ast.expr]
) -> ast.Assign:
    """The assignment with its observers; `visit` rewrites an expression in it."""
    target = node.targets[0]
    assert isinstance(target, ast.Subscript)  # is_write is true
    value, target.slice = visit(node.value), visit(target.slice)
    if isinstance(target.value, ast.Name):
        again = copy.copy(target.value)
        node.value = observed_by(node.value, WRITE, mark, value, again)
    else:
        node.value = observed_by(node.value, WRITE, mark, value)
        target.value = observed_by(target.value, INTO, mark, visit(target.value))
    return node
