"""Where a file uses what a line makes as an index or a size: there, integers must stay integers.

The log does not have these uses, so the source decides, by names alone: one index too many only
means one fix less.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from castwise.auditing.records.places import SourcePlace

_SIZES = frozenset({"range"})  # calls that take nothing but integers
_ASKING = frozenset({"len", "shape", "size", "numel", "ndim", "dim", "dtype"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class _Uses(NamedTuple):
    """What of a file goes into indices."""

    lines: list[str]
    names: frozenset[str]  # of variables, attributes, parameters and functions
    indices: list[ast.expr]
    flows: list[tuple[ast.AST, frozenset[str]]]  # values, and the names that they are given


def may_be_index(place: SourcePlace) -> bool:
    """Whether what an expression makes may be used as an index or a size in its file."""
    uses = _read(place.file)
    at = place.line, place.column - 1
    return any(_holds(node, *at) for node in uses.indices) or any(
        _holds(node, *at) for node, names in uses.flows if names & uses.names
    )


_known: dict[str, _Uses] = {}  # by file


def _read(file: str) -> _Uses:
    lines = linecache.getlines(file)  # the same list as long as the file is the same
    known = _known.get(file)
    if known is None or known.lines is not lines:
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            tree = ast.Module([], [])
        known = _known[file] = _uses_in(tree, lines)
    return known


def _uses_in(tree: ast.Module, lines: list[str]) -> _Uses:
    indices = [*_indices(tree)]
    flows = [*_flows(tree)]
    names = _names(indices)
    is_growing = True
    while is_growing:
        more = _names(node for node, into in flows if into & names)
        is_growing = not more <= names
        names |= more
    return _Uses(lines, names, indices, flows)


def _indices(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            yield node.slice
        elif isinstance(node, ast.Call) and _name(node.func) in _SIZES:
            yield from node.args


def _flows(tree: ast.Module) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """The values of a file, with the names that they are given: by an assignment, a loop, the call
    of a function of the file, or its return."""
    parameters: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            named = node.args
            every = [*named.posonlyargs, *named.args, *named.kwonlyargs]
            parameters.setdefault(node.name, set()).update(a.arg for a in every if a.arg != "self")
            for inner in ast.walk(node):
                if isinstance(inner, (ast.Return, ast.Yield)) and inner.value is not None:
                    yield inner.value, frozenset({node.name})
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in parameters:
            into = frozenset(parameters[_name(node.func)])
            yield from ((argument, into) for argument in node.args)
            yield from ((keyword.value, into) for keyword in node.keywords)
        yield from _assigned(node)


def _assigned(node: ast.AST) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    if isinstance(node, ast.Assign):
        yield node.value, _names(node.targets)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value:
        yield node.value, _names([node.target])
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield node.iter, _names([node.target])


def _names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names in expressions whose values they may give. An index gives none of them to what it
    takes, and a size does not to an array."""
    found: set[str] = set()
    waiting = [*nodes]
    while waiting:
        node = waiting.pop()
        name = _name(node.func if isinstance(node, ast.Call) else node)
        if name in _ASKING:
            continue
        if isinstance(node, ast.Subscript):
            waiting.append(node.value)
            continue
        if name != "self":
            found.add(name)
        waiting += ast.iter_child_nodes(node)
    return frozenset(found - {""})


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _holds(node: ast.AST, line: int, column: int) -> bool:
    """Whether an expression holds a place, given as the parser counts."""
    begins = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    ends = getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)
    return begins <= (line, column) < ends
