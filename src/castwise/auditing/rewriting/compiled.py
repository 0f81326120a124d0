"""Functions that another compiler reads: decorated by it, or passed to it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from castwise.auditing.rewriting.expressions import dotted


class CompiledFunctions:
    """Which functions of a module are compiled, and by what."""

    def __init__(self, tree: ast.Module, compilers: Collection[str]) -> None:
        self._compilers = frozenset(compilers)
        self._imported = imported_names(tree)
        self._passed = dict(self._passed_to_compilers(tree))

    def compiler_of(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
        """The dotted name of the compiler that reads a function, or None."""
        for decorator in node.decorator_list:
            parts = [decorator]
            if isinstance(decorator, ast.Call):
                parts = [decorator.func, *decorator.args]  # @partial(compiler, ...)
            for part in parts:
                name = self._compiler(part)
                if name:
                    return name
        return self._passed.get(node.name)

    def _passed_to_compilers(self, tree: ast.Module) -> Iterator[tuple[str, str]]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
                name = self._compiler(node.func)
                if name:
                    yield node.args[0].id, name

    def _compiler(self, node: ast.expr) -> str | None:
        """The compiler that an expression refers to through the module's imports."""
        name_in_source = dotted(node)
        if not name_in_source:
            return None
        first, dot, rest = name_in_source.partition(".")
        name = f"{self._imported.get(first, first)}{dot}{rest}"
        is_one = name in self._compilers or f"{name.partition('.')[0]}.*" in self._compilers
        return name if is_one else None


def imported_names(tree: ast.Module) -> dict[str, str]:
    """The names that a module's imports bind, with what they refer to."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names
