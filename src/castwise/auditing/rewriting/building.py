"""New nodes of a syntax tree."""

from __future__ import annotations

import ast
from typing import TypeVar

_Node = TypeVar("_Node", bound=ast.AST)


def at(place: ast.AST, node: _Node) -> _Node:
    """A new node at the position of an old one, so that tracebacks point at the user's source."""
    return ast.copy_location(node, place)


def name_of(name: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(name, ast.Load())


def observed_by(place: ast.AST, observer: str, mark: int, *arguments: ast.expr) -> ast.expr:
    """A call to an observer, at the position of an expression."""
    return at(place, ast.Call(name_of(observer), [ast.Constant(mark), *arguments], []))


def is_quiet(mark: int, quiet: str) -> ast.expr:
    """Whether a site is quiet; `quiet` is the name of the set of quiet sites."""
    return ast.Compare(ast.Constant(mark), [ast.In()], [name_of(quiet)])


def first_statement(body: list[ast.stmt]) -> int:
    """The first position for a new statement: after the docstring and __future__ imports."""
    for place, statement in enumerate(body):
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (is_future or (is_text and place == 0)):
            return place
    return len(body)
