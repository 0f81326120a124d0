"""What was seen, summed by site and signature, without references to arrays."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import sys
from _thread import allocate_lock, get_ident
from collections.abc import Callable, ItemsView, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from castwise.auditing.arrays import (
    ARRAYS,
    AliveResults,
    ArrayType,
    Note,
    Numbers,
    dtype_itemsize,
    find_maker,
    is_array_type,
    note,
    operand_signature,
    remember,
)
from castwise.auditing.calls import (
    NAMES,
    AnyCallee,
    PendingCall,
    returned_arrays,
    rewritten_files,
    shows,
)
from castwise.auditing.hook import Hook
from castwise.auditing.records import (
    CodeSpot,
    ComparedCompilation,
    Compilation,
    Crash,
    HeldState,
    Site,
    Unobserved,
)
from castwise.auditing.rewriting import first_mark

# What identifies an operation: the mark of its site, the callee (None: an operator), the signatures
# of its operands, how they were passed, and the result's signature, with the type of the list it is
# in, if any: only a type if it is a plain answer, None if it is another object or not there yet.
EventKey: TypeAlias = (
    "tuple[int, AnyCallee | None, tuple[Any, ...], tuple[Any, ...], tuple[Any, ...] | type | None]"
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
    """How often an operation ran with one signature, on how many elements, with an example."""

    __slots__ = (
        "alive", "count", "elements", "extremes", "is_maker", "names_dtype", "result", "seconds",
        "shapes",
    )  # fmt: skip

    def __init__(self, operands: tuple[Any, ...], result: tuple[int, ...] | None) -> None:
        self.count = 0
        self.elements = 0
        self.shapes = [_shape(operand) for operand in operands]
        self.result = result
        self.seconds = 0.0  # on the device, if measured
        self.alive: AliveResults | None = None  # None: it casts nothing to a new array
        self.is_maker = False  # a call that takes no arrays
        self.names_dtype = False  # a call that names the dtype of its result
        self.extremes: dict[int, tuple[Any, Any]] = {
            place: (value, value)
            for place, operand in enumerate(operands)
            if (value := _value(operand)) is not None
        }

    def run_again(self, operands: Sequence[Any], result: Any, shape: tuple[int, ...]) -> int:
        """Adds one more run, and returns how many there are."""
        self.count += 1
        elements = shape[0] if len(shape) == 1 else math.prod(shape)
        self.elements += elements
        if self.extremes:
            self.widen(operands)
        if self.alive is not None:
            self.alive.hold(result, elements)
        return self.count

    def widen(self, operands: Sequence[Any]) -> None:
        """Adds the numbers of one more run."""
        for place, (low, high) in self.extremes.items():
            value = _value(operands[place])
            if not low <= value <= high:  # in single steps: another thread may read them
                self.extremes[place] = (min(low, value), max(high, value))


def _shape(operand: Any) -> Any:
    """The shape of an array, or the shapes of a list of arrays."""
    if type(operand) is tuple:
        return tuple([_shape(element) for element in operand])
    if type(operand) is Numbers:
        return operand.values
    return operand.shape if type(operand) is Note else None


def _value(operand: Any) -> Any:
    """The known value of an operand, unless complex, which has no order."""
    kind = type(operand)
    if kind not in _ORDERED and kind in ARRAYS:
        operand = note(operand)
    value = operand.value if type(operand) is Note else operand
    return value if type(value) in _ORDERED else None


_ORDERED = frozenset({bool, int, float})


_NOW_AND_THEN = 15  # one in 16 runs of an operation checks whether a report is due


class Log:
    """Everything seen in this process."""

    def __init__(self) -> None:
        self.on_event: Callable[[bool], None] | None = None  # called with: is it new
        self.checks_values = False
        self.compares = False  # whether compiled functions also run without their compilers
        self.is_deep = False  # whether operations inside libraries are logged too
        self.before_report: list[Callable[[], None]] = []  # what completes it
        self.clear()

    def clear(self) -> None:
        """Forgets everything except the sites, which belong to the loaded modules."""
        self.events: dict[EventKey, Tally] = {}
        self.attempts: dict[EventKey, Tally] = {}  # operations refused before they ran
        self.quieted: set[int] = set()
        self.late: dict[int, int] = {}  # site -> number of results missed while it was quiet
        self.texts: dict[int, int] = {}  # site of exec or eval -> runs of code without observers
        # Values that were lost, by site, operation and how: runs, elements lost, all, an example.
        self.losses: dict[tuple[int, str, str], tuple[int, int, int, str]] = {}
        self.failures: dict[str, int] = {}  # internal errors of the auditor, by text
        self._alive: dict[tuple[int, Any], AliveResults] = {}  # by site and dtype
        self.crash: Crash | None = None  # the error that ended the program
        self.states: dict[Any, HeldState] = {}  # what optimizers keep
        self.autocast: Any = None  # what a patch has seen while autocast was on
        self.compilations: dict[tuple[str, str, int], list[Compilation]] = {}  # by function
        self.compared: list[ComparedCompilation] = []

    def again(self, mark: int, operands: tuple[Any, ...], result: Any) -> bool:
        """Counts an operator's run if its signature is known, and returns whether it is: the fast
        path for the common case. Operands are live objects or Notes."""
        kind = type(result)
        dtype, shape, is_weak, _ = ARRAYS[kind][0](result)
        signatures = tuple([operand_signature(operand) for operand in operands])
        made = (kind, dtype, not shape, is_weak, 0)
        tally = self.events.get((mark, None, signatures, (), made))
        if tally is None or not shape:
            return False
        count = tally.run_again(operands, result, shape)
        remember(result, mark)
        if self.on_event and not count & _NOW_AND_THEN:
            self.on_event(False)
        return True

    def call_again(self, mark: int, called: PendingCall, result: Any) -> bool:
        """Counts a call's run if it returns an array and its signature is known, and returns
        whether it is: the fast path for the common case."""
        kind = type(result)
        found = ARRAYS.get(kind)
        if found is None:
            return False
        dtype, shape, is_weak, _ = found[0](result)
        operands = called.notes
        signatures = tuple([o[0] if type(o) is Note else _key(o) for o in operands])
        made = (kind, dtype, not shape, is_weak, 0)
        tally = self.events.get((mark, called.callee, signatures, called.flags, made))
        if tally is None:
            return False
        count = tally.run_again(operands, result, shape)
        if tally.names_dtype or not find_maker(result):
            remember(result, mark)
            _remember_owner(result, found, mark, tally.is_maker)
        if self.on_event and not count & _NOW_AND_THEN:
            self.on_event(False)
        return True

    def operator(self, mark: int, operands: tuple[Any, ...], result: Any) -> None:
        """Counts an operator's run and records where its result comes from."""
        self.add(mark, None, operands, (), result)

    def call(self, mark: int, called: PendingCall, result: Any) -> bool:
        """Counts a call if it takes or returns arrays, and returns whether it does."""
        if self.call_again(mark, called, result):
            return True
        operands = tuple(called.notes)
        kind = type(result)
        if is_array_type(kind):
            self.add(mark, called.callee, operands, called.flags, result)
        elif any([type(o) in (Note, tuple) for o in operands]):
            parts = returned_arrays(result) if result is not None else ()
            if parts:
                self.add(mark, called.callee, operands, called.flags, parts[0], (kind,))
                for part in parts[1:]:
                    self.passed(mark, part)
            else:
                is_answer = result is not None and shows(result) <= NAMES
                answer = kind if is_answer else None
                self._count(mark, called.callee, operands, called.flags, answer, None)
        else:
            return False
        return True

    def attempt(self, pending: PendingOperation) -> None:
        """Counts an operation that is about to be refused."""
        tally = self.attempts.get(pending.key)
        is_new = tally is None
        if tally is None:
            tally = self.attempts[pending.key] = Tally(pending.operands, None)
        tally.count += 1
        tally.widen(pending.operands)
        if self.on_event:
            self.on_event(is_new)

    def write(self, mark: int, operands: tuple[Any, ...]) -> None:
        """Counts a write of a value into elements of an array."""
        target, value = operands
        kind, dtype, is_zero_d, is_weak, _ = target.signature
        shape = value.shape if type(value) is Note else ()
        self._count(mark, None, operands, (), (kind, dtype, is_zero_d, is_weak, 0), shape)

    def passed(self, mark: int, result: Any) -> None:
        """Records the maker of an array that a user's function returns, unless known."""
        if not find_maker(result, ARRAYS[type(result)].owner):
            remember(result, mark)

    def woken(self, mark: int) -> None:
        """Counts an array seen at a site after it was quieted."""
        self.late[mark] = self.late.get(mark, 0) + 1

    def add(
        self,
        mark: int,
        callee: AnyCallee | None,
        operands: tuple[Any, ...],
        flags: Any,
        result: Any,
        inside: tuple[type, ...] = (),
    ) -> Tally:
        """Counts a run that returned an array, perhaps inside a list, and records its maker."""
        kind = type(result)
        found = ARRAYS[kind]
        dtype, shape, is_weak, _ = found.read(result)
        made = (kind, dtype, not shape, is_weak, 0, *inside)
        tally = self._count(mark, callee, operands, flags, made, shape)
        if tally.count == 1:
            if shape and _casts_to_new(mark, callee, operands, flags, made):
                alive = self._alive.setdefault((mark, dtype), AliveResults(dtype_itemsize(dtype)))
                tally.alive = alive
            if callee is not None:
                tally.is_maker = not any([type(o) in (Note, tuple) for o in operands])
                # Its result may be its operand, unchanged.
                names_dtype = callee.name in _casts(found.hook)
                tally.names_dtype = names_dtype or bool(flags and flags[0] is not None)
        if tally.alive is not None:
            tally.alive.hold(result, math.prod(shape))
        if callee is None:
            remember(result, mark)
        elif tally.names_dtype or not find_maker(result):
            remember(result, mark)
            _remember_owner(result, found, mark, tally.is_maker)
        return tally

    def _count(
        self,
        mark: int,
        callee: AnyCallee | None,
        operands: tuple[Any, ...],
        flags: Any,
        made: tuple[Any, ...] | type | None,
        shape: tuple[int, ...] | None,
    ) -> Tally:
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
        return tally

    def lost(self, mark: int, what: str, loss: tuple[str, int, int, str]) -> None:
        """Counts the values that an operation lost."""
        how, lost, elements, example = loss
        runs, lost_before, before, first = self.losses.get((mark, what, how), (0, 0, 0, example))
        self.losses[mark, what, how] = (runs + 1, lost_before + lost, before + elements, first)

    def failed(self, error: Exception) -> None:
        """Counts an internal error of the auditor, which the program must not see."""
        text = f"{type(error).__name__}: {error}"[:200]
        self.failures[text] = self.failures.get(text, 0) + 1


def _key(operand: Any) -> Any:
    """The part of an operand that belongs to the signature."""
    kind = type(operand)
    if kind is Note:
        return operand[0]
    if kind is tuple:
        return tuple([_key(o) for o in operand])
    return Numbers(operand.kind, ()) if kind is Numbers else kind


def _casts_to_new(
    mark: int, callee: AnyCallee | None, operands: tuple[Any, ...], flags: Any, made: Any
) -> bool:
    """Whether an operation makes a new array of another dtype than one of its operands."""
    kind, dtype = made[:2]
    if callee is None:
        is_in_place = SITES[mark].kind == "augmented"
    else:
        is_in_place = callee.name.endswith("_") or "out" in flags[4:]
    if is_in_place or ARRAYS[kind].is_traced or _is_bool(dtype):
        return False
    given = [part for o in operands for part in (o if type(o) is tuple else (o,))]
    dtypes = [part.signature.dtype for part in given if type(part) is Note]
    return any([d != dtype and not _is_bool(d) for d in dtypes])


def _is_bool(dtype: Any) -> bool:
    return "bool" in str(dtype)


@functools.cache
def _casts(hook: Hook) -> frozenset[str]:
    return frozenset(hook.calls.casts.split())


def _remember_owner(made: Any, found: ArrayType, mark: int, is_maker: bool) -> None:
    """Records the base array of a constructor's result, because views of the result refer to it,
    and the arrays inside it; of another call's result, a base array that nobody has seen."""
    held = found.hook.arrays.held
    if held is not None:
        for array in held(made):
            if is_maker or not find_maker(array):
                remember(array, mark)
    owned = getattr(made, found.owner or "_", None)
    if owned is not None and type(owned) in ARRAYS and (is_maker or not find_maker(owned)):
        remember(owned, mark)


LOG = Log()
SITES: dict[int, Site] = {}
FILES: dict[int, str] = {}  # the first mark of a file -> its path
DIGESTS: dict[str, str] = {}  # a path -> the digest of the source that was read there
UNOBSERVED: dict[str, list[Unobserved]] = {}  # path -> the functions left unchanged
PLAIN: dict[int, int] = {}  # thread -> operations inside libraries whose arrays had one dtype
INCLUDED: set[str] = set()  # the packages asked for of which some source is observed

# Keeps what one thread does for a while out of the log.

_one_at_a_time = allocate_lock()


class _ThreadDict:
    """A dictionary that has another one in its place for one thread."""

    def __init__(self, shared: dict[Any, Any], own: dict[Any, Any]) -> None:
        self._shared, self._own, self._thread = shared, own, get_ident()

    def _mine(self) -> dict[Any, Any]:
        return self._own if get_ident() == self._thread else self._shared

    def get(self, key: Any, default: Any = None) -> Any:
        return self._mine().get(key, default)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._mine()[key] = value

    def __len__(self) -> int:
        return len(self._mine())

    def items(self) -> ItemsView[Any, Any]:
        """What a report has: that of all other threads."""
        return self._shared.items()


@contextlib.contextmanager
def thread_log() -> Iterator[dict[EventKey, Tally] | None]:
    """Gives this thread a log of its own, in the order in which things happen; None if another
    thread has one now."""
    if not _one_at_a_time.acquire(blocking=False):
        yield None
        return
    events: dict[EventKey, Tally] = {}
    log: Any = LOG  # whose dictionaries are exchanged for something like them
    kept = log.events, log.losses
    log.events, log.losses = _ThreadDict(kept[0], events), _ThreadDict(kept[1], {})
    try:
        yield events
    finally:
        log.events, log.losses = kept
        _one_at_a_time.release()


# Which of the user's lines a running operation belongs to, by the frames above it.

_LINES = 1 << 19  # marks of lines follow those of a file's operations
_Found = TypeVar("_Found")


def by_instruction(find: Callable[[FrameType], _Found]) -> Callable[[FrameType], _Found]:
    """Makes a function look only once at each instruction that a frame may be at."""
    # Each code object is kept alive so that its id stays unique.
    known: dict[tuple[int, int], tuple[_Found, CodeType]] = {}

    @functools.wraps(find)
    def find_once(frame: FrameType) -> _Found:
        key = id(frame.f_code), frame.f_lasti
        found = known.get(key)
        if found is None:
            found = known[key] = (find(frame), frame.f_code)
        return found[0]

    return find_once


def users_frame(frame: FrameType | None, below: CodeType | None = None) -> FrameType | None:
    """The innermost frame of an audited file; None if there is none, or if `below` runs inside
    it."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename in rewritten_files:
            return frame
        if code is below:
            return None
        frame = frame.f_back
    return None


@by_instruction
def frame_spot(frame: FrameType) -> CodeSpot:
    """The expression a frame is at."""
    return instruction_spot(frame.f_code, frame.f_lasti, frame.f_lineno or 0)


def instruction_spot(code: CodeType, instruction: int, line: int) -> CodeSpot:
    """The expression of an instruction; only its line before Python 3.11."""
    if sys.version_info >= (3, 11):
        at = next(itertools.islice(code.co_positions(), instruction // 2, None))
        first, last, column, end = at
        if None not in at:
            return CodeSpot(code.co_filename, first or line, column or 0, last or line, end or 0)
    return CodeSpot(code.co_filename, line, 0, line, 0)


@by_instruction
def frame_mark(frame: FrameType) -> int:
    """The mark of the operation where a user's frame is, or one for its whole line."""
    spot = frame_spot(frame)
    known = _marks_in(spot.file).get(spot[1:])
    if known is not None:
        return known
    mark = first_mark(spot.file) + _LINES + spot.line
    SITES.setdefault(mark, Site(*spot[1:], "line", "", ()))
    return mark


@functools.cache
def _marks_in(file: str) -> dict[tuple[int, int, int, int], int]:
    """The marks of a file's operations, by their places."""
    first = first_mark(file)
    return {SITES[mark][:4]: mark for mark in list(SITES) if first <= mark < first + _LINES}
