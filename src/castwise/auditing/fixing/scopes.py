"""What surrounds a line of a file: the imports that it sees, and its statement."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from typing import NamedTuple

from castwise.auditing.rewriting.compiled import imported_names

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)


class _Imports(NamedTuple):
    """The imports of a module, or of a function in it."""

    first: int  # its lines
    last: int
    names: dict[str, str]  # what is imported -> the name it has


class _Source(NamedTuple):
    """What is known of a file's source."""

    lines: list[str]
    imports: list[_Imports]
    statements: dict[int, tuple[int, int]]  # a line -> the lines of the innermost statement there


def module_at(file: str, line: int, module: str) -> str | None:
    """The name by which an expression on a line refers to an imported module; None if no import
    of the module or of a function around the line binds one."""
    for first, last, names in _read(file).imports:
        if first <= line <= last and module in names:
            return names[module]
    return None


def statement_around(file: str, first: int, last: int) -> tuple[int, int]:
    """The lines of the innermost statement with these lines; the whole file if there is none."""
    known = _read(file)
    begins, ends = known.statements.get(first, (1, 0))
    return (begins, ends) if last <= ends else (1, len(known.lines))


_known: dict[str, _Source] = {}  # by file


def _read(file: str) -> _Source:
    lines = linecache.getlines(file)  # the same list as long as the file is the same
    known = _known.get(file)
    if known is None or known.lines is not lines:
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            tree = ast.Module([], [])
        known = _Source(lines, [*_imports_in(tree, len(lines))], _statements_in(tree))
        _known[file] = known
    return known


def _statements_in(tree: ast.Module) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    for node in ast.walk(tree):  # outer statements come first
        if isinstance(node, ast.stmt):
            place = node.lineno, node.end_lineno or node.lineno
            found.update(dict.fromkeys(range(place[0], place[1] + 1), place))
    return found


def _imports_in(tree: ast.Module, count: int) -> Iterator[_Imports]:
    yield _Imports(1, count, _names(tree))
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            yield _Imports(node.lineno, node.end_lineno or node.lineno, _names(node))


def _names(scope: ast.AST) -> dict[str, str]:
    statements = ast.Module([node for node in _walk(scope)], [])  # type: ignore[misc]
    return {module: name for name, module in imported_names(statements).items()}


def _walk(scope: ast.AST) -> Iterator[ast.AST]:
    """The imports of a scope, without those of the scopes in it."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif not isinstance(node, _SCOPES):
            yield from _walk(node)
