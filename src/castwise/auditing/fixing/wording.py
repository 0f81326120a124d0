"""How to write a fix in the user's source."""

from __future__ import annotations

from castwise.auditing.fixing.edits import followed_by, operands_of, with_dtype, with_operand
from castwise.auditing.fixing.scopes import module_at
from castwise.auditing.hook import Hook
from castwise.auditing.records.places import SourcePlace
from castwise.vocab.dtypes import DType


def spelled(dtype: DType, hook: Hook, place: SourcePlace) -> str | None:
    """A dtype as the source at a place may name it: through its import of the framework, or as a
    string; None if neither works."""
    if dtype.name not in hook.spelling.dtypes.split():
        return None
    module = module_at(place.file, place.line, hook.spelling.names)
    if module:
        return f"{module}.{dtype}"
    return f"'{dtype}'" if hook.spelling.takes_dtype_names else None


def call_with(code: str, name: str, dtype: str, hook: Hook) -> str | None:
    """The same call with another dtype; None if it takes none, or where it is does not show."""
    if name in hook.spelling.takes_dtype_first.split():
        return with_dtype(code, dtype, 0)
    takes = set(hook.calls.makes.split()) - set(hook.spelling.makes_without_dtype.split())
    if name in takes or name in hook.spelling.takes_dtype.split():
        return with_dtype(code, dtype, hook.spelling.dtype_places.get(name))
    return None


def cast_to(code: str, dtype: str, hook: Hook, module: str | None) -> str | None:
    """An expression with an explicit cast, as the framework writes it. `module` is the name by
    which the source knows the framework's module."""
    if "{code}" not in hook.spelling.cast:
        return followed_by(code, hook.spelling.cast.format(dtype))
    return hook.spelling.cast.format(dtype, code=code, module=module) if module else None


def operator_in(
    code: str, symbol: str, dtype: str, hook: Hook, place: SourcePlace, array: int
) -> str | None:
    """The same operation in another dtype: with the function that takes dtype=, or with a cast of
    an operand that is an array."""
    operands = operands_of(code)
    if operands is None:
        return None
    function = hook.spelling.functions.get(symbol)
    module = module_at(place.file, place.line, hook.spelling.names)
    if function and module:
        return f"{module}.{function}({', '.join(operands)}, dtype={dtype})"
    return with_cast_operand(code, array, dtype, hook, place)


def with_number(code: str, place: int, kind: str) -> str | None:
    """The same operation with one operand as a Python number, which adapts to the other dtype."""
    operands = operands_of(code)
    return with_operand(code, place, f"{kind}({operands[place]})") if operands else None


def with_cast_operand(
    code: str, operand: int, dtype: str, hook: Hook, place: SourcePlace
) -> str | None:
    """The same operation with an explicit cast of one operand."""
    operands = operands_of(code)
    if operands is None:
        return None
    module = module_at(place.file, place.line, hook.spelling.names)
    text = cast_to(operands[operand], dtype, hook, module)
    return with_operand(code, operand, text) if text else None
