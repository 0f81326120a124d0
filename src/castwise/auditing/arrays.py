"""Arrays, as an observer sees them: which types are arrays, what is noted of one, where it was
made, and how much memory results take. No attribute of any other object is read."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from castwise.auditing.hook import Hook, Read
from castwise.auditing.hooks import find_hook, hooked_module

# Array types, and the notes of operands.

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


ARRAYS: dict[type, ArrayType] = {}
_others: set[int] = set()  # by id, so that no class of the user is kept alive


def is_array_type(kind: type) -> bool:
    """Whether a type is an array type, by its exact name and module."""
    if kind in ARRAYS:
        return True
    if kind in NUMBERS or id(kind) in _others:
        return False
    found = _array_type(kind)
    if found is None:
        _others.add(id(kind))
        return False
    ARRAYS[kind] = found
    return True


def _array_type(kind: type) -> ArrayType | None:
    hook = type_hook(kind)
    if hook is None or not hook.rules:
        return None
    arrays = hook.arrays
    if kind.__name__ in arrays.types.split():
        is_traced = kind.__name__ in arrays.traced.split()
        return ArrayType(arrays.read, arrays.owner, hook, False, is_traced)
    bases = {base.__name__ for base in kind.__mro__ if top_module(base) == hook.framework}
    is_scalar = bool(bases & set(arrays.scalars.split()))
    return ArrayType(arrays.read, "", hook, True, False) if is_scalar else None


def type_hook(kind: type) -> Hook | None:
    """The hook of the framework that a type belongs to."""
    return find_hook(top_module(kind))


def top_module(kind: type) -> str:
    """The module that stands for a type's module; "" if it has none."""
    module = getattr(kind, "__module__", None)
    return hooked_module(module) if type(module) is str else ""


def hooks_seen() -> set[Hook]:
    """The hooks of the frameworks whose arrays were seen."""
    return {found.hook for found in list(ARRAYS.values())}


_new = tuple.__new__  # the named tuple's own constructor takes three times as long


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
    made = MADE.get(id(thing))  # the first step of find_maker, inlined
    is_known = made is not None and made[0]() is thing
    maker = made[1] if is_known else find_maker(thing, found[1])  # type: ignore[index]
    signature = _new(Signature, (kind, dtype, not shape, is_weak, maker))
    return _new(Note, (signature, shape, value))


def operand_signature(thing: Any) -> Any:
    """A hashable signature: for an array or its Note a tuple equal to its Signature, otherwise the
    type of its note."""
    kind = type(thing)
    found = ARRAYS.get(kind)
    if found is not None:
        dtype, shape, is_weak, _ = found[0](thing)
        made = MADE.get(id(thing))  # the first step of find_maker, inlined
        is_known = made is not None and made[0]() is thing
        maker = made[1] if is_known else find_maker(thing, found[1])  # type: ignore[index]
        return kind, dtype, not shape, is_weak, maker
    if kind is Note:
        return thing[0]
    if kind in NUMBERS:
        return kind
    found = thing if kind is Numbers else note(thing)
    return Numbers(found.kind, ()) if type(found) is Numbers else type(found)


def numbers_in(things: Any) -> Numbers | None:
    """The record of a short list of Python numbers, nested or not; None if it holds others."""
    kinds: set[str] = set()
    values = _numbers(things, kinds, 1)
    if values is None:
        return None
    return Numbers(next((k for k in _KINDS if k in kinds), "float"), values)


_KINDS = ("complex", "float", "int", "bool")  # highest first
_MOST_NUMBERS = 64  # in a list, and in each list in it
_DEEPEST = 4


def _numbers(things: Any, kinds: set[str], depth: int) -> tuple[Any, ...] | None:
    """The numbers of nested lists as tuples, whose kinds are added; None if there are others."""
    if len(things) > _MOST_NUMBERS or depth > _DEEPEST:
        return None
    values = []
    for thing in things:
        kind = type(thing)
        if kind in NUMBERS:
            kinds.add(kind.__name__)
            values.append(thing)
            continue
        row = _numbers(thing, kinds, depth + 1) if kind in (list, tuple) else None
        if row is None:
            return None
        values.append(row)
    return tuple(values)


# Where each live array was created, without keeping it alive.

_SCALARS_KEPT = 4096
_LEAST_SWEEP = 4096

# By id. The entry of a dead array stays until the next sweep: for small arrays, a weak reference
# with a callback costs more than the array operation itself.
MADE: dict[int, tuple[weakref.ref[Any], int]] = {}
_sweep_at = _LEAST_SWEEP
# NumPy scalars support no weak references: the last few are kept alive so that their ids stay
# unique.
_scalars: dict[int, tuple[Any, int]] = {}

_ref = weakref.ref


def remember(thing: Any, mark: int) -> None:
    """Records the site that created an array."""
    try:
        MADE[id(thing)] = (_ref(thing), mark)
    except TypeError:
        if len(_scalars) >= _SCALARS_KEPT:
            _scalars.clear()
        _scalars[id(thing)] = (thing, mark)
        return
    if len(MADE) > _sweep_at:
        _sweep()


def _sweep() -> None:
    """Drops the entries of dead arrays; the next sweep comes when the number has doubled."""
    global _sweep_at
    for place, (ref, _) in list(MADE.items()):
        if ref() is None:
            MADE.pop(place, None)
    _sweep_at = max(_LEAST_SWEEP, 2 * len(MADE))


def find_maker(thing: Any, owner: str = "") -> int:
    """The mark of the site that created an array or its base; 0 if unknown."""
    place = id(thing)
    found = MADE.get(place)
    if found is not None and found[0]() is thing:
        return found[1]
    scalar = _scalars.get(place)
    if scalar is not None:
        return scalar[1]
    owned = getattr(thing, owner, None) if owner else None
    return 0 if owned is None or owned is thing else find_maker(owned)


# Where arrays were made that another process of the program has sent.
#
# What a program sends does not change, so the processes tell each other in a file which line made
# the arrays of which dtype and shape. Marks are the same in all of them. If arrays that look alike
# come from two lines, nobody knows which one it was.

_MOST_KINDS = 1000  # of arrays; a program may send a new shape each time

_file: Path | None = None
_makers: dict[str, int] = {}  # how an array looks -> the mark of the site that made such ones
_read = 0  # bytes of the file that are in the table


def share_makers(file: Path) -> None:
    """Shares the makers of sent arrays with the processes that have the same file."""
    global _file
    _file = file


def share_maker(look: str, mark: int) -> None:
    """Tells where an array was made that is about to be sent; 0: nobody knows."""
    if _file is None or _makers.get(look) in (mark, 0) or len(_makers) >= _MOST_KINDS:
        return
    with open(_file, "ab", buffering=0) as file:
        file.write(f"{mark} {look}\n".encode())
    _read_new()


def find_sent_maker(look: str) -> int:
    """The mark of the site where an array that was received was made; 0 if unknown."""
    if _file is not None:
        with suppress(OSError):
            if os.stat(_file).st_size != _read:
                _read_new()
    return _makers.get(look, 0)


def _read_new() -> None:
    """Adds what processes have shared since the last time. Threads that do so at once add the same
    lines twice, which changes nothing."""
    global _read
    assert _file is not None  # share_makers was called
    read = _read
    with open(_file, "rb") as file:
        file.seek(read)
        lines = file.read()
    lines = lines[: lines.rfind(b"\n") + 1]  # another process may be writing the rest
    for line in lines.decode().splitlines():
        mark, _, look = line.partition(" ")
        is_same = _makers.get(look, int(mark)) == int(mark)
        _makers[look] = int(mark) if is_same else 0
    _read = read + len(lines)


# How much memory the results of an operation take at one time, without keeping them alive.


class _Held(weakref.ref[Any]):
    """A reference to a result, which tells when it is gone."""

    __slots__ = ("of", "size")
    of: AliveResults
    size: int


class AliveResults:
    """The results of one dtype at one site that are alive, and the most there were."""

    __slots__ = ("_held", "itemsize", "now", "peak")

    def __init__(self, itemsize: int) -> None:
        self.itemsize = itemsize
        self.now = 0
        self.peak = 0
        self._held: dict[int, _Held] = {}  # by their own ids, as arrays cannot be hashed

    def hold(self, result: Any, elements: int) -> None:
        """Counts a new result until it is gone."""
        try:
            held = _Held(result, _gone)
        except TypeError:  # a type without weak references
            return
        held.of = self
        size = held.size = elements * self.itemsize
        self._held[id(held)] = held
        self.now += size
        if self.now > self.peak:
            self.peak = self.now


def _gone(held: _Held) -> None:
    held.of.now -= held.size
    held.of._held.pop(id(held), None)


def drop(thing: Any) -> None:
    """Forgets the site that created an array, and no longer counts the array as alive."""
    MADE.pop(id(thing), None)
    for reference in weakref.getweakrefs(thing):
        if isinstance(reference, _Held):
            _gone(reference)


def dtype_itemsize(dtype: Any) -> int:
    """The bytes of an element; 0 if unknown."""
    size = getattr(dtype, "itemsize", None) or getattr(dtype, "size", None)
    return size if isinstance(size, int) else 0
