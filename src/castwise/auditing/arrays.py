"""Which types are arrays, and what one shows of itself. No attribute of anything else is read."""

from __future__ import annotations

from typing import Any, NamedTuple

from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.origins import origin_of

NUMBERS = frozenset({bool, int, float, complex})


class Note(NamedTuple):
    """What an observer keeps of an array: nothing that keeps the array alive."""

    kind: type
    dtype: Any
    shape: tuple[int, ...]
    is_weak: bool
    value: Any  # of a 0-d array, where reading it costs nothing
    origin: int  # the mark of the site where it was made, 0 where that was not seen


class ArrayType(NamedTuple):
    """A type whose instances are arrays."""

    hook: Hook
    is_scalar: bool
    is_traced: bool


ARRAYS: dict[type, ArrayType] = {}
_others: set[int] = set()  # by id: the auditor keeps no class of the user's alive


def is_array_type(kind: type) -> bool:
    """Whether instances of a type are arrays, by its exact name and module."""
    if kind in ARRAYS:
        return True
    if kind in NUMBERS or id(kind) in _others:
        return False
    return _learn(kind)


def _learn(kind: type) -> bool:
    found = _array_type(kind)
    if found is None:
        _others.add(id(kind))
        return False
    ARRAYS[kind] = found
    return True


def _array_type(kind: type) -> ArrayType | None:
    module = _top_module(kind)
    hook = find_hook(module) if module else None
    if hook is None or not hook.dialect:
        return None
    if kind.__name__ in hook.arrays.split():
        return ArrayType(hook, False, kind.__name__ in hook.traced.split())
    bases = {base.__name__ for base in kind.__mro__ if _top_module(base) == hook.framework}
    return ArrayType(hook, True, False) if bases & set(hook.scalars.split()) else None


def _top_module(kind: type) -> str | None:
    module = getattr(kind, "__module__", None)
    return module.partition(".")[0] if isinstance(module, str) else None


def note(thing: Any) -> Any:
    """What to keep of an operand: a Note of an array, a Python number itself, None of all else."""
    kind = type(thing)
    if kind in NUMBERS:
        return thing
    if not is_array_type(kind):
        return None
    hook = ARRAYS[kind].hook
    dtype, shape, is_weak, value = hook.read(thing)
    return Note(kind, dtype, shape, is_weak, value, origin_of(thing, hook.owner))
