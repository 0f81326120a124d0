"""Runs a function that was just compiled without its compiler too, on the same arguments."""

from __future__ import annotations

import contextlib
import sys
from _thread import get_ident
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any, Protocol

from castwise.auditing.hook import CannotRunPlainlyError, Hook
from castwise.auditing.noting.arrays import ARRAYS
from castwise.auditing.noting.aside import aside
from castwise.auditing.noting.log import LOG, EventKey
from castwise.auditing.noting.seen import dtype_name, site_of
from castwise.auditing.records.beyond import ComparedCompilation, CompiledDifference

_Made = tuple[str | None, bool]  # the dtype of a result, and whether it is weak


class Call(Protocol):
    """What is known of a call of a compiled function."""

    mark: int
    written: Any  # what the program calls
    hook: Hook
    given: list[Any]
    named: dict[str, Any]
    events: int  # how many events the log had before the call


def compare(
    call: Call, definition: tuple[str, str, int], result: Any, *, has_raised: bool = False
) -> None:
    """Notes what a compiled function gives otherwise than the function itself."""
    compiling = call.hook.compiling
    if compiling.plainly is None or compiling.leaves is None:
        return
    compiled = [] if has_raised else compiling.leaves(result)
    traced = _results(islice(LOG.events, call.events, None))
    note = _noter(compiling.name, definition)
    site = site_of(call.mark)
    place = site.file, site.line
    with aside() as events, _silenced():
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


def _noter(compiler: str, definition: tuple[str, str, int]) -> Callable[..., None]:
    def note(differences: Iterable[CompiledDifference] = (), skipped: str = "") -> None:
        compared = ComparedCompilation(compiler, *definition, tuple(differences), skipped)
        LOG.compared.append(compared)

    return note


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
            site = site_of(mark)
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


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    with (
        contextlib.redirect_stdout(_Silent(sys.stdout)),
        contextlib.redirect_stderr(_Silent(sys.stderr)),
    ):
        yield
