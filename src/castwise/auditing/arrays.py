"""Which types are arrays, and how to read one. No attribute of any other object is read."""

from __future__ import annotations

import os
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from castwise.auditing.hook import Hook, Read
from castwise.auditing.hooks import find_hook, hooked_module
from castwise.auditing.records import CodeSpot

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


def drop(thing: Any) -> None:
    """Forgets the site that created an array."""
    MADE.pop(id(thing), None)


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
    return hooked_module(module) if isinstance(module, str) else None


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


def drop_alive(result: Any) -> None:
    """No longer counts a result, if it was counted."""
    for reference in weakref.getweakrefs(result):
        if isinstance(reference, _Held):
            _gone(reference)


def dtype_itemsize(dtype: Any) -> int:
    """The bytes of an element; 0 if unknown."""
    size = getattr(dtype, "itemsize", None) or getattr(dtype, "size", None)
    return size if isinstance(size, int) else 0


# Where arrays were made that another process of the program has sent.
#
# What a program sends does not change, so the processes tell each other in a file which line made
# the arrays of which dtype and shape. Marks are the same in all of them. If arrays that look alike
# come from two lines, nobody knows which one it was.

_MOST_KINDS = 1000  # of arrays; a program may send a new shape each time

_file: Path | None = None
_makers: dict[str, int] = {}  # how an array looks -> the mark of the site that made such ones
_read = 0  # bytes of the file that are in the table


def start(file: Path) -> None:
    """Shares what is told with the processes that have the same file."""
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
    """Adds what processes have told since the last time. Threads that do so at once add the same
    lines twice, which changes nothing."""
    global _read
    assert _file is not None  # start was called
    read = _read
    with open(_file, "rb") as file:
        file.seek(read)
        told = file.read()
    told = told[: told.rfind(b"\n") + 1]  # another process may be writing the rest
    for line in told.decode().splitlines():
        mark, _, look = line.partition(" ")
        is_same = _makers.get(look, int(mark)) == int(mark)
        _makers[look] = int(mark) if is_same else 0
    _read = read + len(told)


# What is recorded about the arguments of a call, and what may be hidden in the others.

_MOST_ELEMENTS = 64  # longest list of arrays that is read, as for concatenate and stack
_DEEPEST_ARGUMENT = 3  # of lists in lists
_PLAIN = frozenset({type(None), str, bytes, slice, type(...), range, types.ModuleType, *NUMBERS})
# Objects of frameworks that hold no numbers: what a device or a random generator is called
# everywhere.
_PLAIN_NAMES = frozenset(
    {"device", "Device", "Size", "layout", "memory_format", "Generator", "RandomState",
     "TensorShape"}
)  # fmt: skip
_DTYPE_NAMES = frozenset({"dtype", "DType"})
# What an argument may do without a note: nothing, name a dtype, hold arrays, run code.
SHOWS, NAMES, HIDES, CALLS = range(4)
_known: dict[int, int] = {}  # by the id of a type, so that no class of the user is kept alive


def noted(thing: Any) -> Any:
    """The note of an argument; a list or tuple with arrays becomes the tuple of their notes."""
    kind = type(thing)
    if kind is list or kind is tuple:
        return _listed(thing, 1)
    return note(thing)


def _listed(things: Any, depth: int) -> Any:
    if not things or len(things) > _MOST_ELEMENTS:
        return None
    kinds = set(map(type, things))
    if any([is_array_type(kind) for kind in kinds]):
        return tuple(
            [noted(thing) if depth < _DEEPEST_ARGUMENT else note(thing) for thing in things]
        )
    if list not in kinds and tuple not in kinds:
        return numbers_in(things)
    rows = [_listed(t, depth + 1) if type(t) in _LISTS else note(t) for t in things]
    if depth < _DEEPEST_ARGUMENT and any([type(row) is tuple for row in rows]):
        return tuple(rows)
    return numbers_in(things)


_LISTS = (list, tuple)


def shows(thing: Any) -> int:
    """What an argument without a note may do: SHOWS, NAMES, HIDES or CALLS."""
    kind = type(thing)
    if kind in _PLAIN:
        return SHOWS
    kinds = set(map(type, thing[:_MOST_ELEMENTS])) if kind in _LISTS else (kind,)
    return max([_kind_shows(k) for k in kinds], default=SHOWS)


def _kind_shows(kind: type) -> int:
    known = _known.get(id(kind))
    if known is None:
        names = {base.__name__ for base in kind.__mro__}
        if kind in _PLAIN or names & _PLAIN_NAMES:
            known = SHOWS
        elif issubclass(kind, type) or names & _DTYPE_NAMES:
            known = NAMES
        else:
            known = CALLS if any("__call__" in vars(base) for base in kind.__mro__) else HIDES
        _known[id(kind)] = known
    return known


def returned_arrays(result: Any) -> list[Any]:
    """The arrays that a call returned in a list or tuple, if not too many."""
    for kind in _LISTS:
        if issubclass(type(result), kind):  # read as such, because a subclass may run code
            parts = zip(range(_MOST_ELEMENTS), kind.__iter__(result), strict=False)
            return [part for _, part in parts if is_array_type(type(part))]
    return []


# Identifies what a call calls, without side effects.

_FUNCTIONS_KEPT = 1024
_CONTAINERS = frozenset({list, dict, set, frozenset, tuple, str, bytes})  # they compute nothing
_METHOD_TYPES = frozenset({types.BuiltinMethodType, types.MethodType})
rewritten_files: set[str] = set()
_rewritten_codes: dict[int, types.CodeType] = {}  # by id, because code objects are slow to hash
_NO, _FUNCTION, _OBJECT = 0, 1, 2
_callable_types: dict[int, int] = {}  # what a call of an instance is


class Callee(NamedTuple):
    """A function, by its top-level module and its name there."""

    module: str
    name: str
    is_method: bool = False


class InsideCallee(NamedTuple):
    """An operation inside a library, and how the program reached it."""

    module: str
    name: str
    backward_of: str  # the operation whose gradient it computes, "" in forward
    autocast: str  # the autocast dtype, "" if autocast was off or does not matter
    spot: CodeSpot | None  # the innermost Python expression
    is_method: bool = False


AnyCallee: TypeAlias = "Callee | InsideCallee"


class PendingCall:
    """A call whose arguments are being noted."""

    __slots__ = (
        "arguments", "arguments_seen", "callee", "dtype", "hides", "is_complete", "keywords",
    )  # fmt: skip

    def __init__(self, callee: Callee, arguments: list[Any]) -> None:
        self.callee = callee
        self.arguments = arguments
        self.keywords: dict[str, Any] = {}
        self.dtype: Any = None  # the value of dtype=
        self.is_complete = True  # False: some arguments could not be seen, or are functions
        self.hides = False  # whether an object that takes part may hold arrays or name a dtype
        self.arguments_seen = 0  # counts arguments while scopes watch, see scopes.py

    @property
    def notes(self) -> list[Any]:
        """The notes of all arguments, those by name last."""
        return [*self.arguments, *self.keywords.values()] if self.keywords else self.arguments

    @property
    def flags(self) -> tuple[Any, ...]:
        """What distinguishes two calls with the same operands."""
        return self.dtype, self.is_complete, self.hides, len(self.arguments), *self.keywords

    def add(self, name: int | str, thing: Any) -> None:
        """Records an argument."""
        if isinstance(name, int):
            kind = type(thing)  # most arguments are arrays or numbers
            is_noted = kind in ARRAYS or kind in NUMBERS
            self.arguments.append(note(thing) if is_noted else self._noted(thing))
        elif name == "*":
            self._spread(thing)
        elif name == "**":
            if type(thing) is dict:
                for key, value in thing.items():
                    self.add(key, value)
            else:
                self.is_complete = False
        elif name == "dtype":
            self.dtype = given_dtype(thing)
        else:
            self.keywords[name] = self._noted(thing)

    def _spread(self, thing: Any) -> None:
        if type(thing) in (list, tuple):
            self.arguments.extend([self._noted(element) for element in thing])
        else:
            self.is_complete = False

    def _noted(self, thing: Any) -> Any:
        found = noted(thing)
        if found is None and thing is not None:
            hidden = shows(thing)
            if hidden == CALLS:
                self.is_complete = False
            elif hidden >= NAMES:
                self.hides = True
        return found


def given_dtype(thing: Any) -> Any:
    """The value given as a dtype; `...` if it is not hashable, such as a list."""
    return ... if type(thing).__hash__ is None else thing


def observed_file(path: str) -> None:
    """Registers a file whose functions are observed."""
    rewritten_files.add(path)


def observed_code(code: types.CodeType) -> None:
    """Registers a function as observed, with all functions defined in it."""
    _rewritten_codes[id(code)] = code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            observed_code(constant)


def has_observed(*, only_functions: bool) -> bool:
    """Whether there are any observed functions or files."""
    return bool(_rewritten_codes or (rewritten_files and not only_functions))


def is_observed(code: types.CodeType) -> bool:
    """Whether a function is observed."""
    return code.co_filename in rewritten_files or id(code) in _rewritten_codes


def pending_call(function: Any) -> PendingCall | None:
    """The call that is about to happen, or None if its body is observed or the auditor cannot
    identify it."""
    kind = type(function)
    if kind is types.FunctionType:
        if is_observed(function.__code__) or _is_of_the_user(function.__module__):
            return None  # the latter: a user function that something has wrapped
        return _named(function.__module__, function.__name__)
    if kind in _METHOD_TYPES:
        return _method(function)
    if kind is type:
        return _named(function.__module__, function.__name__) if is_array_type(function) else None
    called = _callable_types.get(id(kind))
    if called is None:
        called = _callable_types[id(kind)] = _call_kind(kind)
    if called == _FUNCTION:
        known = _functions.get(id(function))
        if known is not None and known[0] is function:
            return PendingCall(known[1], [])
        return _framework_function(function)
    return _with_state(_named(kind.__module__, kind.__name__)) if called == _OBJECT else None


# The most recently called framework functions, by id; kept alive so that ids stay unique.
_functions: dict[int, tuple[Any, Callee]] = {}


def _framework_function(function: Any) -> PendingCall | None:
    module = getattr(function, "__module__", None) or type(function).__module__
    name = getattr(function, "__name__", None)
    called = None if _is_of_the_user(module) else _named(module, name)
    if called is not None:
        if len(_functions) >= _FUNCTIONS_KEPT:
            _functions.clear()
        _functions[id(function)] = (function, called.callee)
    return called


def _method(function: Any) -> PendingCall | None:
    """The callee of a bound method of an array, or of a built-in function, whose owner is its
    module."""
    owner = function.__self__
    kind = type(owner)
    if kind in _CONTAINERS:
        return None
    is_python = type(function) is types.MethodType
    code = getattr(function.__func__, "__code__", None) if is_python else None
    if code is not None and is_observed(code):
        return None
    if is_array_type(kind):
        callee = Callee(hooked_module(kind.__module__), function.__name__, True)
        return PendingCall(callee, [note(owner)])
    if is_python:
        if code is None:
            return None
        return _update(function, owner) or _with_state(
            _named(function.__func__.__module__, function.__name__)
        )
    if _is_function_type(kind):  # a method of a function, such as outer
        return _named(kind.__module__, f"{owner.__name__}.{function.__name__}")
    module = function.__module__ or (owner.__module__ if kind is type else None) or "builtins"
    return _named(module, function.__name__)


def _is_function_type(kind: type) -> bool:
    """Whether a type is that of a framework's functions, even if none of them was called yet."""
    known = _callable_types.get(id(kind))
    if known is not None or type(kind.__module__) is not str:
        return known == _FUNCTION
    hook = find_hook(hooked_module(kind.__module__))
    return hook is not None and kind.__name__ in hook.callables.types.split()


def _update(function: Any, owner: Any) -> PendingCall | None:
    """The call of a method that updates the array an object refers to; it is named as one in
    place."""
    kind = type(owner)
    hook = find_hook(hooked_module(kind.__module__)) if type(kind.__module__) is str else None
    attribute = hook.callables.updates.get(kind.__name__) if hook else None
    if hook is None or attribute is None:
        return None
    callee = Callee(hook.framework, f"{function.__name__}_", True)
    return PendingCall(callee, [note(getattr(owner, attribute))])


def _with_state(called: PendingCall | None) -> PendingCall | None:
    """The call of an object or its method; what the object holds takes part."""
    if called is not None:
        called.hides = True
    return called


def _is_of_the_user(module: Any) -> bool:
    """Whether a module's functions are observed."""
    if type(module) is not str:
        return False
    known = _users_modules.get(module)
    if known is None:
        known = getattr(sys.modules.get(module), "__file__", None) in rewritten_files
        _users_modules[module] = known
    return known


_users_modules: dict[str, bool] = {}


def _named(module: Any, name: Any) -> PendingCall | None:
    if type(module) is not str or type(name) is not str:
        return None
    return PendingCall(Callee(hooked_module(module), name), [])


def _call_kind(kind: type) -> int:
    """What a call of an instance is: of a framework's function, of an object of a library, or
    something else."""
    module = getattr(kind, "__module__", None)
    if type(module) is not str:
        return _NO
    top = hooked_module(module)
    hook: Hook | None = find_hook(top)
    if hook and kind.__name__ in hook.callables.types.split():
        return _FUNCTION
    if any(["__name__" in vars(base) and "__call__" in vars(base) for base in kind.__mro__]):
        return _FUNCTION  # of a compiled extension
    if issubclass(kind, type) or top in sys.stdlib_module_names or _is_of_the_user(module):
        return _NO
    return _OBJECT
