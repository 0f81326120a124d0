"""Calls of functions that a framework compiles for each combination of dtypes and shapes."""

from __future__ import annotations

import types
from typing import Any, NamedTuple

from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.noting.arrays import ARRAYS, NUMBERS
from castwise.auditing.noting.log import LOG
from castwise.auditing.noting.makers import maker_of
from castwise.auditing.noting.seen import dtype_name
from castwise.auditing.observing.comparing import compare
from castwise.auditing.records.beyond import Compilation, SeenArgument
from castwise.auditing.rewriting.marks import full_path

_MOST_UNFINISHED = 8
_MOST_COMPILATIONS = 16  # of one function
_MOST_LEAVES = 10_000
_STATIC = "static"


class AbstractLeaf(NamedTuple):
    """What a compiler sees of a value: a part of an argument, or all of it."""

    path: str  # within the argument
    value: Any
    dtype: Any  # None: it is no array and no number, so it is part of the program
    shape: tuple[int, ...]
    is_weak: bool


class CompiledCall:
    """A call of a compiled function, while it runs. It holds the arguments until it ends, as the
    call itself does."""

    __slots__ = ("before", "events", "function", "given", "hook", "mark", "named", "written")

    def __init__(self, mark: int, written: Any, function: Any, hook: Hook, before: int) -> None:
        self.mark = mark
        self.written = written  # what the program calls: the function, or a method of an object
        self.function = function
        self.hook = hook
        self.before = before
        self.events = len(LOG.events) if LOG.compares else 0  # how many there were before
        self.given: list[Any] = []
        self.named: dict[str, Any] = {}

    def add(self, name: int | str, thing: Any) -> None:
        """Records an argument."""
        if name == "*":
            self.given += thing
        elif name == "**":
            self.named |= thing
        elif isinstance(name, int):
            self.given.append(thing)
        else:
            self.named[name] = thing

    def clear(self) -> None:
        """Lets the arguments go."""
        self.given.clear()
        self.named.clear()


# Calls that raised never end: only the arguments of the last few are kept.
_unfinished: list[CompiledCall] = []
_hooks: dict[int, Hook | None] = {}  # by the id of a type


def compiled_call(mark: int, function: Any) -> CompiledCall | None:
    """The call of a compiled function that is about to happen; None for any other function."""
    written = function
    if type(function) is types.MethodType:
        function = function.__func__
    hook = _hook_of(type(function))
    if hook is None or hook.compiling.compilations is None:
        return None
    call = CompiledCall(mark, written, function, hook, hook.compiling.compilations(function))
    _unfinished.append(call)
    if len(_unfinished) > _MOST_UNFINISHED:
        _unfinished.pop(0).clear()
    return call


def _hook_of(kind: type) -> Hook | None:
    key = id(kind)
    if key not in _hooks:
        module = getattr(kind, "__module__", None)
        hook = find_hook(module.partition(".")[0]) if isinstance(module, str) else None
        is_compiled = hook is not None and kind.__name__ in hook.compiling.compiled.split()
        _hooks[key] = hook if is_compiled else None
    return _hooks[key]


def compiled(call: CompiledCall, result: Any) -> None:
    """Records the arguments of a call that ended, if its function was compiled for them."""
    if call in _unfinished:
        _unfinished.remove(call)
    compilations = call.hook.compiling.compilations
    count = compilations(call.function) if compilations else 0
    given: list[tuple[int | str, Any]] = [*enumerate(call.given), *call.named.items()]
    if count <= call.before or not given:
        return
    name, file, line, parameters = _definition(call.function)
    known = LOG.compilations.setdefault((name, file, line), [])
    if LOG.compares and len(known) < _MOST_COMPILATIONS:
        compare(call, (name, file, line), result)
    if len(known) < _MOST_COMPILATIONS:
        arguments = [a for entry in given for a in _arguments(call.hook, parameters, *entry)]
        known.append(Compilation(call.mark, name, file, line, tuple(arguments[:_MOST_LEAVES])))


def compare_refused() -> None:
    """Compares the calls that never returned: those that raised an error. The last few of them,
    at the end of the program."""
    for call in _unfinished:
        compare(call, _definition(call.function)[:3], None, has_raised=True)


def _definition(function: Any) -> tuple[str, str, int, tuple[str, ...]]:
    """The name of a function, its file and line, and its parameters."""
    name = str(getattr(function, "__name__", "a function"))
    code = getattr(getattr(function, "__wrapped__", None), "__code__", None)
    if not isinstance(code, types.CodeType):
        return name, "", 0, ()
    parameters = code.co_varnames[: code.co_argcount]
    if parameters[:1] == ("self",):  # a method, whose calls do not name its object
        parameters = parameters[1:]
    return name, full_path(code.co_filename), code.co_firstlineno, parameters


def _arguments(
    hook: Hook, parameters: tuple[str, ...], place: int | str, thing: Any
) -> list[SeenArgument]:
    is_named = isinstance(place, int) and place < len(parameters)
    label = parameters[place] if is_named else str(place)  # type: ignore[index]
    leaves = hook.compiling.leaves(thing) if hook.compiling.leaves else []
    return [_argument(str(place), label, AbstractLeaf(*leaf)) for leaf in leaves]


def _argument(place: str, label: str, leaf: AbstractLeaf) -> SeenArgument:
    kind = type(leaf.value)
    array = ARRAYS.get(kind)
    dtype = _STATIC if leaf.dtype is None else dtype_name(leaf.dtype) or str(leaf.dtype)
    return SeenArgument(
        place,
        label + leaf.path,
        dtype,
        leaf.is_weak,
        tuple(leaf.shape),
        repr(leaf.value) if kind in NUMBERS else "",
        array is not None and array.is_scalar,
        maker_of(leaf.value, array.owner) if array else 0,
    )
