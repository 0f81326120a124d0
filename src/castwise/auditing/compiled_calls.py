"""Calls of functions that a framework compiles for each combination of dtypes and shapes: for what
they were compiled, and whether they then give what the functions themselves give."""

from __future__ import annotations

import contextlib
import sys
import types
from _thread import get_ident
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any

from castwise.auditing.arrays import ARRAYS, NUMBERS, find_maker, type_hook
from castwise.auditing.hook import CannotRunPlainlyError, Hook
from castwise.auditing.log import LOG, EventKey, thread_log
from castwise.auditing.records import (
    ComparedCompilation,
    Compilation,
    CompiledDifference,
    SeenArgument,
)
from castwise.auditing.rewriting import full_path
from castwise.auditing.saved import dtype_name, site_at

_MOST_UNFINISHED = 8
_MOST_COMPILATIONS = 16  # of one function
_MOST_LEAVES = 10_000
_STATIC = "static"


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
    hook = _compiled_hook(type(function))
    if hook is None or hook.compiling.compilations is None:
        return None
    call = CompiledCall(mark, written, function, hook, hook.compiling.compilations(function))
    _unfinished.append(call)
    if len(_unfinished) > _MOST_UNFINISHED:
        _unfinished.pop(0).clear()
    return call


def _compiled_hook(kind: type) -> Hook | None:
    key = id(kind)
    if key not in _hooks:
        hook = type_hook(kind)
        is_compiled = hook is not None and kind.__name__ in hook.compiling.compiled.split()
        _hooks[key] = hook if is_compiled else None
    return _hooks[key]


def log_compilation(call: CompiledCall, result: Any) -> None:
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
        _compare(call, (name, file, line), result)
    if len(known) < _MOST_COMPILATIONS:
        arguments = [a for entry in given for a in _arguments(call.hook, parameters, *entry)]
        known.append(Compilation(call.mark, name, file, line, tuple(arguments[:_MOST_LEAVES])))


def compare_refused() -> None:
    """Compares the calls that never returned: those that raised an error. The last few of them,
    at the end of the program."""
    for call in _unfinished:
        _compare(call, _definition(call.function)[:3], None, has_raised=True)


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
) -> Iterator[SeenArgument]:
    is_named = isinstance(place, int) and place < len(parameters)
    label = parameters[place] if is_named else str(place)  # type: ignore[index]
    leaves = hook.compiling.leaves
    for path, value, dtype, shape, is_weak in leaves(thing) if leaves else ():
        array = ARRAYS.get(type(value))
        name = _STATIC if dtype is None else dtype_name(dtype) or str(dtype)
        number = repr(value) if type(value) in NUMBERS else ""
        is_scalar = array is not None and array.is_scalar
        maker = find_maker(value, array.owner) if array else 0
        yield SeenArgument(str(place), label + path, name, is_weak, tuple(shape), number,
                           is_scalar, maker)  # fmt: skip


# The same call without the compiler, on the same arguments.

_Made = tuple[str | None, bool]  # the dtype of a result, and whether it is weak


def _compare(
    call: CompiledCall, definition: tuple[str, str, int], result: Any, *, has_raised: bool = False
) -> None:
    """Notes what a compiled function gives otherwise than the function itself."""
    compiling = call.hook.compiling
    if compiling.plainly is None or compiling.leaves is None:
        return
    compiled = [] if has_raised else compiling.leaves(result)
    traced = _results(islice(LOG.events, call.events, None))

    def note(differences: Iterable[CompiledDifference] = (), skipped: str = "") -> None:
        compared = ComparedCompilation(compiling.name, *definition, tuple(differences), skipped)
        LOG.compared.append(compared)

    site = site_at(call.mark)
    place = site.file, site.line
    with (
        thread_log() as events,
        contextlib.redirect_stdout(_Silent(sys.stdout)),
        contextlib.redirect_stderr(_Silent(sys.stderr)),
    ):
        if events is None:
            note(skipped="another thread compared a function meanwhile")
            return
        try:
            plain = compiling.leaves(compiling.plainly(call.written, call.given, call.named))
        except CannotRunPlainlyError as error:
            note(skipped=str(error))
        except Exception as error:
            message = f"{type(error).__name__}: {error}".splitlines()[0]
            refused = CompiledDifference("the call", "", _summary(compiled), *place, message)
            note([] if has_raised else [refused])
        else:
            if has_raised:
                note([CompiledDifference("the call", _summary(plain), "", *place)])
            else:
                place = _first_other(_results(events), traced) or place
                note(_differences(plain, compiled, place))


def _differences(
    plain: Sequence[Any], compiled: Sequence[Any], place: tuple[str, int]
) -> Iterator[CompiledDifference]:
    """The results whose dtypes differ; a result of the one that the other lacks is one, too."""
    for one, other in zip_longest(plain, compiled):
        texts = _leaf_text(one), _leaf_text(other)
        if texts[0] != texts[1]:
            path = (one or other)[0]
            yield CompiledDifference(f"result{path}", *texts, *place)


def _summary(leaves: Sequence[Any]) -> str:
    return ", ".join(dict.fromkeys(map(_leaf_text, leaves)))


def _leaf_text(leaf: Any) -> str:
    """A result's dtype, with * if it is weak."""
    if leaf is None:
        return "nothing"
    _, value, dtype, _, is_weak = leaf
    name = type(value).__name__ if dtype is None else dtype_name(dtype) or str(dtype)
    return f"{name}*" if is_weak else name


def _results(events: Iterable[EventKey]) -> dict[int, list[_Made]]:
    """The dtypes of the results at each site, sites in the order in which they ran."""
    found: dict[int, list[_Made]] = {}
    for mark, _, _, _, made in list(events):
        if isinstance(made, tuple) and made[0] in ARRAYS:
            found.setdefault(mark, []).append((dtype_name(made[1]), bool(made[3])))
    return found


def _first_other(
    plain: dict[int, list[_Made]], traced: dict[int, list[_Made]]
) -> tuple[str, int] | None:
    """The file and line of the first operation that gives a dtype that it did not give when it was
    traced."""
    for mark, made in plain.items():
        if mark in traced and any(one not in traced[mark] for one in made):
            site = site_at(mark)
            return site.file, site.line
    return None


class _Silent:
    """A stream that drops what one thread writes: the program has said it before."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._thread = stream, get_ident()

    def write(self, text: str) -> int:
        return len(text) if get_ident() == self._thread else int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
