"""What was seen, summed by site and signature; nothing in it keeps an array alive."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from castwise.auditing.arrays import ARRAYS, Note, is_array_type
from castwise.auditing.callees import Called, Callee
from castwise.auditing.origins import origin_of, remember
from castwise.auditing.sites import Site, Unobserved


class Tally:
    """How often an operation ran with one signature, on how much, and a first example."""

    __slots__ = ("count", "elements", "extremes", "result", "shapes")

    def __init__(self, operands: tuple[Any, ...], result: Note) -> None:
        self.count = 0
        self.elements = 0
        self.shapes = [o.shape if type(o) is Note else None for o in operands]
        self.result = result
        self.extremes: list[tuple[Any, Any] | None] = [None] * len(operands)

    def add(self, operands: tuple[Any, ...], result: Note) -> None:
        """Counts one more run."""
        self.count += 1
        self.elements += math.prod(result.shape)
        for place, operand in enumerate(operands):
            value = operand.value if type(operand) is Note else operand
            if value is not None and type(value) is not complex:
                known = self.extremes[place]
                if known is None:
                    self.extremes[place] = (value, value)
                elif not known[0] <= value <= known[1]:
                    self.extremes[place] = (min(known[0], value), max(known[1], value))


class Log:
    """All that is seen in this process."""

    def __init__(self) -> None:
        self.on_event: Callable[[], None] | None = None
        self.clear()

    def clear(self) -> None:
        """Forgets everything but the sites, which belong to the loaded modules."""
        self.events: dict[tuple[Any, ...], Tally] = {}
        self.quieted: set[int] = set()
        self.late: dict[int, int] = {}  # site -> results missed while it was quiet
        self.failures: dict[str, int] = {}  # errors of the auditor's own, by text

    def operator(self, mark: int, first: Any, second: Any, result: Any) -> None:
        """Counts an operator's run and files its result."""
        try:
            literals = SITES[mark].literals
            operands: tuple[Any, ...] = (first if literals[0] is None else literals[0],)
            if len(literals) == 2:
                operands = (*operands, second if literals[1] is None else literals[1])
            self._add(mark, None, operands, (), result)
        except Exception as error:
            self._failed(error)

    def call(self, mark: int, called: Called, result: Any) -> None:
        """Counts a call that takes or makes arrays."""
        try:
            operands = (*called.arguments, *called.keywords.values())
            is_array = is_array_type(type(result))
            if not is_array and not any([type(o) in (Note, tuple) for o in operands]):
                return
            flags = (called.has_dtype, called.is_complete, len(called.arguments),
                     *called.keywords)  # fmt: skip
            if is_array:
                self._add(mark, called.callee, operands, flags, result)
            else:
                self._add_other(mark, called.callee, operands, flags)
        except Exception as error:
            self._failed(error)

    def passed(self, mark: int, result: Any) -> None:
        """Files an array that a function of the user's returns, if it is not known yet."""
        try:
            if not origin_of(result, ARRAYS[type(result)].hook.owner):
                remember(result, mark)
        except Exception as error:
            self._failed(error)

    def woken(self, mark: int) -> None:
        """Counts an array that came to a site after it was quieted."""
        self.late[mark] = self.late.get(mark, 0) + 1

    def _add(
        self, mark: int, callee: Callee | None, operands: tuple[Any, ...], flags: Any, result: Any
    ) -> None:
        kind = type(result)
        hook = ARRAYS[kind].hook
        dtype, shape, is_weak, _ = hook.read(result)
        seen = Note(kind, dtype, shape, is_weak, None, 0)
        key = (mark, callee, tuple([_key(o) for o in operands]), flags, _key(seen))
        tally = self.events.get(key)
        if tally is None:
            tally = self.events[key] = Tally(operands, seen)
        tally.add(operands, seen)
        if self.on_event:
            self.on_event()
        if callee is None or not origin_of(result):
            remember(result, _born(mark, operands, dtype))

    def _add_other(self, mark: int, callee: Callee, operands: tuple[Any, ...], flags: Any) -> None:
        """Counts a call on arrays that returns something else."""
        key = (mark, callee, tuple([_key(o) for o in operands]), flags, None)
        tally = self.events.get(key)
        if tally is None:
            tally = self.events[key] = Tally(operands, _NOTHING)
        tally.add(operands, _NOTHING)

    def _failed(self, error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"[:200]
        self.failures[text] = self.failures.get(text, 0) + 1


_NOTHING = Note(type(None), None, (0,), False, None, 0)


def _key(operand: Any) -> Any:
    """All of an operand that tells one signature from another."""
    kind = type(operand)
    if kind is Note:
        return operand.kind, operand.dtype, operand.shape == (), operand.is_weak, operand.origin
    if kind is tuple:
        return tuple([_key(o) for o in operand])
    return kind


def _born(mark: int, operands: tuple[Any, ...], dtype: Any) -> int:
    """The site a result's dtype comes from: an operand's that has it already, or this one."""
    for operand in operands:
        if type(operand) is Note and operand.origin and operand.dtype == dtype:
            return operand.origin
    return mark


LOG = Log()
SITES: dict[int, Site] = {}
FILES: dict[int, str] = {}  # the first mark of a file -> its path
UNOBSERVED: dict[str, list[Unobserved]] = {}  # path -> the functions left as they are
