"""Which names the imports of a file bind at a line."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator

from castwise.auditing.rewriting.compiled import imported_names

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def module_at(file: str, line: int, module: str) -> str | None:
    """The name by which an expression on a line refers to an imported module; None if no import
    that runs before it binds one there."""
    tree = _tree(file)
    if tree is None:
        return None
    for scope in _scopes_around(tree, line):
        for name, bound in imported_names(_own_statements(scope)).items():
            if bound == module:
                return name
    return None


@functools.lru_cache(maxsize=256)
def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def _tree(file: str) -> ast.Module | None:
    return _parsed("".join(linecache.getlines(file)))


def _scopes_around(tree: ast.Module, line: int) -> list[ast.AST]:
    """The module, and the functions around a line. A class's names do not reach into its
    methods."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return [tree, *around]


def _own_statements(scope: ast.AST) -> ast.Module:
    """The imports of a scope without those of the scopes in it."""
    return ast.Module([node for node in _walk(scope) if isinstance(node, ast.stmt)], [])


def _walk(scope: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif not isinstance(node, _SCOPES):
            yield from _walk(node)
