"""How to write a fix in the user's source."""

from __future__ import annotations

import ast
import functools
import linecache

from castwise.auditing.fixing.edits import (
    followed_by,
    operands_of,
    with_dtype,
    with_first_argument,
    with_operand,
)
from castwise.auditing.hook import Hook
from castwise.auditing.rewriting.compiled import imported_names
from castwise.vocab.dtypes import DType


def spelled(dtype: DType, hook: Hook, file: str) -> str:
    """A dtype as the file would name it: through its import of the framework, or as a string."""
    module = _module_in(file, hook)
    return f"{module}.{dtype}" if module else f"'{dtype}'"


def call_for(code: str, name: str, dtype: str, hook: Hook, has_dtype: bool) -> str | None:
    """The same call with another dtype, if it takes one."""
    if name in hook.takes_dtype_first.split() and not has_dtype:
        return with_first_argument(code, dtype)
    takes = set(hook.makes.split()) - set(hook.makes_without_dtype.split())
    if has_dtype or name in takes or name in hook.takes_dtype.split():
        return with_dtype(code, dtype)
    return None


def cast_to(code: str, dtype: str, hook: Hook) -> str:
    """An expression with an explicit cast, as the framework writes it."""
    if "{code}" in hook.cast:
        return hook.cast.format(dtype, code=code, module=dtype.rpartition(".")[0])
    return followed_by(code, hook.cast.format(dtype))


def operator_in(code: str, symbol: str, dtype: str, hook: Hook, file: str) -> str | None:
    """The same operation in another dtype: with the function that takes dtype=, or by casting the
    first operand."""
    operands = operands_of(code)
    if operands is None:
        return None
    function, module = hook.functions.get(symbol), _module_in(file, hook)
    if function and module:
        return f"{module}.{function}({', '.join(operands)}, dtype={dtype})"
    return with_operand(code, 0, cast_to(operands[0], dtype, hook))


def with_number(code: str, place: int, kind: str) -> str | None:
    """The same operation with one operand as a Python number, which adapts to the other dtype."""
    operands = operands_of(code)
    return with_operand(code, place, f"{kind}({operands[place]})") if operands else None


def with_cast_operand(code: str, place: int, dtype: str, hook: Hook) -> str | None:
    """The same operation with an explicit cast of one operand."""
    operands = operands_of(code)
    return with_operand(code, place, cast_to(operands[place], dtype, hook)) if operands else None


def _module_in(file: str, hook: Hook) -> str | None:
    """The name under which a file imports the framework's module."""
    names = _imports(file)
    return next((name for name, module in names.items() if module == hook.names), None)


@functools.lru_cache(maxsize=256)
def _imports(file: str) -> dict[str, str]:
    try:
        return imported_names(ast.parse("".join(linecache.getlines(file))))
    except SyntaxError:
        return {}
