"""Whether a program means the dtype that a line makes."""

from __future__ import annotations

import ast

from castwise.auditing.fixing.edits import dtype_argument
from castwise.auditing.hook import Hook
from castwise.auditing.records.events import SeenCall

# Words for a kind: they are written for "a float", and happen to be 64 bits.
_KINDS = frozenset({"float", "complex"})


def is_meant(code: str, call: SeenCall | None, hook: Hook) -> bool:
    """Whether a call names the dtype of its result: by a dtype, by a variable, or by its own name
    as `.double()` does. `float` names a kind."""
    if call is None:
        return False
    argument = _dtype_of(code, call, hook)
    if argument is not None:
        return not _is_kind(argument)
    return call.gives_dtype or call.name in hook.calls.casts.split()


def is_constant(code: str, call: SeenCall, hook: Hook, module: str | None) -> bool:
    """Whether a call names its dtype as a text or as a constant of the framework's module; `module`
    is the name that the module has there."""
    argument = _dtype_of(code, call, hook)
    if isinstance(argument, ast.Attribute) and isinstance(argument.value, ast.Name):
        return argument.value.id == module
    return isinstance(argument, ast.Constant) and isinstance(argument.value, str)


def _dtype_of(code: str, call: SeenCall, hook: Hook) -> ast.expr | None:
    spelling = hook.spelling
    is_first = call.name in spelling.takes_dtype_first.split()
    place = 0 if is_first else spelling.dtype_places.get(call.name)
    return dtype_argument(code, place)


def _is_kind(argument: ast.expr) -> bool:
    if isinstance(argument, ast.Name):
        return argument.id in _KINDS
    return isinstance(argument, ast.Constant) and argument.value in _KINDS
