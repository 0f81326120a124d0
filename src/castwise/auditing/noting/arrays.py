"""Which types are arrays, and how to read one. No attribute of any other object is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from castwise.auditing.hook import Hook, Read, find_hook, module_of
from castwise.auditing.noting.makers import MADE, maker_of

NUMBERS = frozenset({bool, int, float, complex})


class Signature(NamedTuple):
    """The properties of an array that distinguish operations."""

    kind: type
    dtype: Any
    is_zero_d: bool
    is_weak: bool
    maker: int  # the mark of the site that made it, 0 if unknown


class Note(NamedTuple):
    """What an observer records about an array, without a reference to it."""

    signature: Signature
    shape: tuple[int, ...]
    value: Any  # of a 0-d array, if it is free to read


class Numbers(NamedTuple):
    """What an observer records about a list of Python numbers."""

    kind: str  # the highest kind among them
    values: tuple[Any, ...]  # nested as in the list; () in a signature


class ArrayType(NamedTuple):
    """A type whose instances are arrays."""

    read: Callable[[Any], Read]
    owner: str
    hook: Hook
    is_scalar: bool
    is_traced: bool
    held: Callable[[Any], Iterable[Any]] | None = None  # the arrays inside it


ARRAYS: dict[type, ArrayType] = {}
_others: set[int] = set()  # by id, so that no class of the user is kept alive


def is_array_type(kind: type) -> bool:
    """Whether a type is an array type, by its exact name and module."""
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
    if hook is None or not hook.rules:
        return None
    if kind.__name__ in hook.arrays.types.split():
        is_traced = kind.__name__ in hook.arrays.traced.split()
        arrays = hook.arrays
        return ArrayType(arrays.read, arrays.owner, hook, False, is_traced, arrays.held)
    bases = {base.__name__ for base in kind.__mro__ if _top_module(base) == hook.framework}
    is_scalar = bool(bases & set(hook.arrays.scalars.split()))
    return ArrayType(hook.arrays.read, "", hook, True, False) if is_scalar else None


def _top_module(kind: type) -> str | None:
    module = getattr(kind, "__module__", None)
    return module_of(module) if isinstance(module, str) else None


def note(thing: Any) -> Any:
    """The record of an operand: a Note for an array, Numbers for a list of Python numbers, a Python
    number itself, None for anything else."""
    kind = type(thing)
    found = ARRAYS.get(kind)
    if found is None:
        if kind in NUMBERS:
            return thing
        if not is_array_type(kind):
            return numbers_in(thing) if kind is list or kind is tuple else None
        found = ARRAYS[kind]
    dtype, shape, is_weak, value = found[0](thing)
    made = MADE.get(id(thing))  # the first step of maker_of, inlined
    is_known = made is not None and made[0]() is thing
    maker = made[1] if is_known else maker_of(thing, found[1])  # type: ignore[index]
    signature = _new(Signature, (kind, dtype, not shape, is_weak, maker))
    return _new(Note, (signature, shape, value))


def signature_of(thing: Any) -> Any:
    """A hashable signature: for an array or its Note a tuple equal to its Signature, otherwise the
    type of its note."""
    kind = type(thing)
    found = ARRAYS.get(kind)
    if found is not None:
        dtype, shape, is_weak, _ = found[0](thing)
        made = MADE.get(id(thing))  # the first step of maker_of, inlined
        is_known = made is not None and made[0]() is thing
        maker = made[1] if is_known else maker_of(thing, found[1])  # type: ignore[index]
        return kind, dtype, not shape, is_weak, maker
    if kind is Note:
        return thing[0]
    if kind in NUMBERS:
        return kind
    found = thing if kind is Numbers else note(thing)
    return Numbers(found.kind, ()) if type(found) is Numbers else type(found)


def numbers_in(things: Any) -> Numbers | None:
    """The record of a short list of Python numbers, nested or not; None if it holds others."""
    values, kinds = _numbers(things, 1)
    if values is None:
        return None
    return Numbers(next((k for k in _KINDS if k in kinds), "float"), values)


_KINDS = ("complex", "float", "int", "bool")  # highest first
_MOST_NUMBERS = 64  # in a list, and in each list in it
_DEEPEST = 4


def _numbers(things: Any, depth: int) -> tuple[tuple[Any, ...] | None, set[str]]:
    """The numbers of nested lists as tuples, and their kinds; None if there are others."""
    kinds: set[str] = set()
    values = []
    if len(things) > _MOST_NUMBERS or depth > _DEEPEST:
        return None, kinds
    for thing in things:
        kind = type(thing)
        if kind in NUMBERS:
            kinds.add(kind.__name__)
            values.append(thing)
            continue
        row, found = _numbers(thing, depth + 1) if kind in (list, tuple) else (None, kinds)
        if row is None:
            return None, kinds
        kinds |= found
        values.append(row)
    return tuple(values), kinds


_new = tuple.__new__  # the named tuple's own constructor takes three times as long
