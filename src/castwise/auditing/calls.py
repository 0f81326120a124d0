"""Calls, as an observer sees them: what is called, without side effects, and the notes of its
arguments."""

from __future__ import annotations

import sys
import types
from typing import Any, NamedTuple, TypeAlias

from castwise.auditing.arrays import (
    ARRAYS,
    NUMBERS,
    is_array_type,
    note,
    numbers_in,
    top_module,
    type_hook,
)
from castwise.auditing.hooks import hooked_module
from castwise.auditing.records import CodeSpot


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
            if type(thing) in _LISTS:
                self.arguments.extend([self._noted(element) for element in thing])
            else:
                self.is_complete = False
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

    def _noted(self, thing: Any) -> Any:
        found = _argument_note(thing)
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


# What is recorded about the arguments of a call, and what may be hidden in the others.

_MOST_ELEMENTS = 64  # longest list of arrays that is read, as for concatenate and stack
_DEEPEST_ARGUMENT = 3  # of lists in lists
_LISTS = (list, tuple)
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


def _argument_note(thing: Any) -> Any:
    """The note of an argument; a list or tuple with arrays becomes the tuple of their notes."""
    return _listed(thing, 1) if type(thing) in _LISTS else note(thing)


def _listed(things: Any, depth: int) -> Any:
    if not things or len(things) > _MOST_ELEMENTS:
        return None
    kinds = set(map(type, things))
    if any([is_array_type(kind) for kind in kinds]):
        noted = _argument_note if depth < _DEEPEST_ARGUMENT else note
        return tuple([noted(thing) for thing in things])
    if list not in kinds and tuple not in kinds:
        return numbers_in(things)
    rows = [_listed(t, depth + 1) if type(t) in _LISTS else note(t) for t in things]
    if depth < _DEEPEST_ARGUMENT and any([type(row) is tuple for row in rows]):
        return tuple(rows)
    return numbers_in(things)


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


# Which functions are observed: their calls need no note, because what they do is seen.

rewritten_files: set[str] = set()  # all their functions are
_rewritten_codes: dict[int, types.CodeType] = {}  # by id, because code objects are slow to hash


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


# What is about to be called.

_FUNCTIONS_KEPT = 1024
_CONTAINERS = frozenset({list, dict, set, frozenset, tuple, str, bytes})  # they compute nothing
_METHOD_TYPES = frozenset({types.BuiltinMethodType, types.MethodType})
_NO, _FUNCTION, _OBJECT = 0, 1, 2
_callable_types: dict[int, int] = {}  # what a call of an instance is


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
    if known is not None:
        return known == _FUNCTION
    hook = type_hook(kind)
    return hook is not None and kind.__name__ in hook.callables.types.split()


def _update(function: Any, owner: Any) -> PendingCall | None:
    """The call of a method that updates the array an object refers to; it is named as one in
    place."""
    hook = type_hook(type(owner))
    attribute = hook.callables.updates.get(type(owner).__name__) if hook else None
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
    top, hook = top_module(kind), type_hook(kind)
    if not top:
        return _NO
    if hook and kind.__name__ in hook.callables.types.split():
        return _FUNCTION
    if any(["__name__" in vars(base) and "__call__" in vars(base) for base in kind.__mro__]):
        return _FUNCTION  # of a compiled extension
    if issubclass(kind, type) or top in sys.stdlib_module_names or _is_of_the_user(kind.__module__):
        return _NO
    return _OBJECT
