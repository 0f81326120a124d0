"""Observes what a program writes into arrays: `x[i] = value` becomes `x[i] = write(7, value, x)`.

The observer returns the value, and Python itself writes it. `f()[i] = value` becomes
`into(7, f())[i] = write(7, value)`, and so does each part of an assignment to several targets:
`x[i], y[j] = value, 3` becomes `into(7, x)[i], into(8, y)[j] = write(7, value), write(8, 3)`.
Each part runs once and in Python's order. What `f()` gives to `x[i], y = f()` shows only if it is
a list or a tuple, which can be read without side effects: `into(7, x)[i], y = part(7, f(), 0, 2)`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence

from castwise.auditing.rewriting.building import is_quiet, observed_by
from castwise.auditing.rewriting.expressions import is_plain, is_text

WRITE, INTO, PART = "_@cw_write", "_@cw_into", "_@cw_part"  # names that no source can contain

# Values that are neither an array nor a number, and comparisons, whose result fits everywhere.
_HARMLESS = (ast.Dict, ast.DictComp, ast.Set, ast.SetComp, ast.Lambda, ast.Compare)

_Visit = Callable[[ast.expr], ast.expr]
_Mark = Callable[[ast.AST], int]  # makes the mark of a write


def is_write(node: ast.Assign) -> bool:
    """Whether an assignment may write into an array: `x[i] = value`, where the index is not a
    text."""
    return any(_may_write(target, node.value) for target in node.targets)


def _may_write(target: ast.expr, value: ast.expr) -> bool:
    targets, values = _elements(target), _elements(value)
    if targets is None:
        return _is_item(target) and not (is_text(value) or isinstance(value, _HARMLESS))
    if values is None or len(values) != len(targets):
        return any(_is_item(element) for element in targets)
    return any(_may_write(t, v) for t, v in zip(targets, values, strict=True))


def _elements(node: ast.expr) -> list[ast.expr] | None:
    """The elements of a tuple or list, if all of them show."""
    if not isinstance(node, (ast.Tuple, ast.List)):
        return None
    return None if any(isinstance(e, ast.Starred) for e in node.elts) else node.elts


def _is_item(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and not is_text(target.slice)


def is_simple(node: ast.Assign) -> bool:
    """Whether an assignment consists only of operators, names and numbers."""
    return all(_is_plain(part) for part in (*node.targets, node.value))


def _is_plain(node: ast.expr) -> bool:
    elements = _elements(node)
    return is_plain(node) if elements is None else all(map(_is_plain, elements))


def are_quiet(marks: Sequence[int], quiet: str) -> ast.expr:
    """Whether all these sites are quiet; `quiet` is the name of the set of quiet sites."""
    tests = [is_quiet(mark, quiet) for mark in marks]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def observed_write(node: ast.Assign, mark: _Mark, visit: _Visit) -> ast.Assign:
    """The assignment with its observers; `visit` rewrites an expression in it."""
    target, *others = node.targets
    if others or not isinstance(target, ast.Subscript):
        value = visit(node.value)
        for target in node.targets:
            value = _observed(target, value, target, mark, visit)
        node.value = value
    elif isinstance(target.value, ast.Name):
        value, target.slice = visit(node.value), visit(target.slice)
        again = copy.copy(target.value)
        node.value = observed_by(node.value, WRITE, mark(node), value, again)
    else:
        node.value = _observed(target, visit(node.value), node, mark, visit)
    return node


def _observed(
    target: ast.expr, value: ast.expr, place: ast.AST, mark: _Mark, visit: _Visit
) -> ast.expr:
    """A value with the observers of what it is written to; the target gets its own. `place` is
    where the write is."""
    if not _may_write(target, value):
        visit(target)
        return value
    targets, values = _elements(target), _elements(value)
    if targets is None:
        number = _into(target, mark(place), visit)
        return observed_by(value, WRITE, number, value)
    if values is not None and len(values) == len(targets):
        pairs = zip(targets, values, strict=True)
        values[:] = [_observed(t, v, t, mark, visit) for t, v in pairs]
        return value
    for n, element in enumerate(targets):
        if not _is_item(element):
            visit(element)
            continue
        of, count = ast.Constant(n), ast.Constant(len(targets))
        value = observed_by(value, PART, _into(element, mark(element), visit), value, of, count)
    return value


def _into(target: ast.expr, mark: int, visit: _Visit) -> int:
    """Observes what is written to; gives its mark."""
    assert isinstance(target, ast.Subscript)  # by _is_item
    target.value = observed_by(target.value, INTO, mark, visit(target.value))
    target.slice = visit(target.slice)
    return mark
