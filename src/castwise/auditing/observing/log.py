"""What was seen, summed by site and signature; nothing in it keeps an array alive."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from castwise.auditing.observing.arrays import ARRAYS, Note, is_array_type, note, signature_of
from castwise.auditing.observing.callees import AnyCallee, PendingCall
from castwise.auditing.observing.origins import origin_of, remember
from castwise.auditing.records.places import Site, Unobserved

# What tells one operation from another: the mark of its site, the callee (None: an operator), the
# signatures of its operands, how a call was given them, and the result's signature (None: it has
# no array as its result, or none yet).
EventKey: TypeAlias = (
    "tuple[int, AnyCallee | None, tuple[Any, ...], tuple[Any, ...], tuple[Any, ...] | None]"
)


class PendingOperation(NamedTuple):
    """An operation whose operands are known, before it runs."""

    mark: int
    callee: AnyCallee | None
    operands: tuple[Any, ...]  # their notes
    flags: tuple[Any, ...] = ()

    @property
    def key(self) -> EventKey:
        """The signature of an operation that has no result yet."""
        return self.mark, self.callee, tuple([_key(o) for o in self.operands]), self.flags, None


class Tally:
    """How often an operation ran with one signature, on how much, and a first example."""

    __slots__ = ("count", "elements", "extremes", "result", "shapes")

    def __init__(self, operands: tuple[Any, ...], result: tuple[int, ...] | None) -> None:
        self.count = 0
        self.elements = 0
        self.shapes = [_shape(operand) for operand in operands]
        self.result = result
        self.extremes: dict[int, tuple[Any, Any]] = {
            place: (value, value)
            for place, operand in enumerate(operands)
            if (value := _value(operand)) is not None
        }

    def widen(self, operands: tuple[Any, ...]) -> None:
        """Takes in the numbers of one more run."""
        for place, (low, high) in self.extremes.items():
            value = _value(operands[place])
            if not low <= value <= high:  # one step at a time: another thread may read them
                self.extremes[place] = (min(low, value), max(high, value))


def _shape(operand: Any) -> Any:
    """The shape of an array; of a list of them, theirs."""
    if type(operand) is tuple:
        return tuple([_shape(element) for element in operand])
    return operand.shape if type(operand) is Note else None


def _value(operand: Any) -> Any:
    """The number an operand is known to be; complex ones have no order."""
    kind = type(operand)
    if kind not in _ORDERED and kind in ARRAYS:
        operand = note(operand)
    value = operand.value if type(operand) is Note else operand
    return value if type(value) in _ORDERED else None


_ORDERED = frozenset({bool, int, float})


_NOW_AND_THEN = 15  # of an operation's runs, one in 16 asks whether it is time for a report


class Log:
    """All that is seen in this process."""

    def __init__(self) -> None:
        self.on_event: Callable[[bool], None] | None = None  # told whether it is new
        self.is_deep = False  # whether what runs inside libraries is logged too
        self.clear()

    def clear(self) -> None:
        """Forgets everything except the sites, which belong to the loaded modules."""
        self.events: dict[EventKey, Tally] = {}
        self.attempts: dict[EventKey, Tally] = {}  # what was about to run and is refused
        self.quieted: set[int] = set()
        self.late: dict[int, int] = {}  # site -> results missed while it was quiet
        self.failures: dict[str, int] = {}  # errors of the auditor itself, by text

    def again(self, mark: int, operands: tuple[Any, ...], result: Any) -> bool:
        """Counts an operator's run if it ran with this signature before, and says whether it did:
        the short way for what happens most. Operands are as they are, or Notes."""
        kind = type(result)
        dtype, shape, is_weak, _ = ARRAYS[kind][0](result)
        signatures = tuple([signature_of(operand) for operand in operands])
        made = (kind, dtype, not shape, is_weak, 0)
        tally = self.events.get((mark, None, signatures, (), made))
        if tally is None or not shape:
            return False
        count = tally.count = tally.count + 1
        tally.elements += shape[0] if len(shape) == 1 else math.prod(shape)
        if tally.extremes:
            tally.widen(operands)
        for signature in signatures:
            if type(signature) is not type and signature[4]:
                held = signature[1]
                if held is dtype or held == dtype:
                    mark = signature[4]
                    break
        remember(result, mark)
        if self.on_event and not count & _NOW_AND_THEN:
            self.on_event(False)
        return True

    def operator(self, mark: int, operands: tuple[Any, ...], result: Any) -> None:
        """Counts an operator's run and files its result."""
        self._add(mark, None, operands, (), result)

    def call(self, mark: int, called: PendingCall, result: Any) -> bool:
        """Counts a call if it takes or makes arrays, and says whether it does."""
        operands = (*called.arguments, *called.keywords.values())
        is_array = is_array_type(type(result))
        if is_array:
            self._add(mark, called.callee, operands, called.flags, result)
        elif any([type(o) in (Note, tuple) for o in operands]):
            self._count(mark, called.callee, operands, called.flags, None, None)
        else:
            return False
        return True

    def attempt(self, pending: PendingOperation) -> None:
        """Counts an operation that is about to be refused, and so never ends."""
        tally = self.attempts.get(pending.key)
        is_new = tally is None
        if tally is None:
            tally = self.attempts[pending.key] = Tally(pending.operands, None)
        tally.count += 1
        tally.widen(pending.operands)
        if self.on_event:
            self.on_event(is_new)

    def call_inside(
        self, mark: int, callee: AnyCallee, operands: tuple[Any, ...], flags: Any, result: Any
    ) -> None:
        """Counts an operation that the user's source does not call by name."""
        self._add(mark, callee, operands, flags, result)

    def passed(self, mark: int, result: Any) -> None:
        """Files an array that a user's function returns, if it is not known yet."""
        if not origin_of(result, ARRAYS[type(result)].owner):
            remember(result, mark)

    def woken(self, mark: int) -> None:
        """Counts an array that came to a site after it was quieted."""
        self.late[mark] = self.late.get(mark, 0) + 1

    def _add(
        self,
        mark: int,
        callee: AnyCallee | None,
        operands: tuple[Any, ...],
        flags: Any,
        result: Any,
    ) -> None:
        """Counts a run that made an array, and files the array under the site it comes from."""
        kind = type(result)
        dtype, shape, is_weak, _ = ARRAYS[kind].read(result)
        made = (kind, dtype, not shape, is_weak, 0)
        self._count(mark, callee, operands, flags, made, shape)
        if callee is None or not origin_of(result):
            is_scalar = ARRAYS[kind].is_scalar  # each is a new one: its own site is the nearest
            remember(result, mark if is_scalar else _dtype_origin(mark, operands, dtype))
            if callee is not None and not any([type(o) in (Note, tuple) for o in operands]):
                _remember_owner(result, mark)

    def _count(
        self,
        mark: int,
        callee: AnyCallee | None,
        operands: tuple[Any, ...],
        flags: Any,
        made: tuple[Any, ...] | None,
        shape: tuple[int, ...] | None,
    ) -> None:
        key = (mark, callee, tuple([_key(o) for o in operands]), flags, made)
        tally = self.events.get(key)
        if tally is None:
            tally = self.events[key] = Tally(operands, shape)
        count = tally.count = tally.count + 1
        if shape:
            tally.elements += shape[0] if len(shape) == 1 else math.prod(shape)
        elif shape is not None:
            tally.elements += 1
        if tally.extremes:
            tally.widen(operands)
        if self.on_event and (count == 1 or not count & _NOW_AND_THEN):
            self.on_event(count == 1)

    def failed(self, error: Exception) -> None:
        """Counts an error of the auditor itself, which the program must not see."""
        text = f"{type(error).__name__}: {error}"[:200]
        self.failures[text] = self.failures.get(text, 0) + 1


def _key(operand: Any) -> Any:
    """All of an operand that tells one signature from another."""
    kind = type(operand)
    if kind is Note:
        return operand[0]
    if kind is tuple:
        return tuple([_key(o) for o in operand])
    return kind


def _dtype_origin(mark: int, operands: tuple[Any, ...], dtype: Any) -> int:
    """The site a result's dtype comes from: an operand's that has it already, or this one."""
    for operand in operands:
        if type(operand) is Note:
            _, held, _, _, origin = operand[0]
            if origin and held == dtype:
                return origin
        elif type(operand) is tuple:  # the arrays of concatenate and stack
            origin = _dtype_origin(mark, operand, dtype)
            if origin != mark:
                return origin
    return mark


def _remember_owner(made: Any, mark: int) -> None:
    """Files the array that a constructor's result looks at, since views of the result name it."""
    owned = getattr(made, ARRAYS[type(made)].owner or "_", None)
    if type(owned) in ARRAYS:
        remember(owned, mark)


LOG = Log()
SITES: dict[int, Site] = {}
FILES: dict[int, str] = {}  # the first mark of a file -> its path
UNOBSERVED: dict[str, list[Unobserved]] = {}  # path -> the functions left as they are
