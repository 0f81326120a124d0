"""Runs the program again with its fixes, in memory, and withdraws those that do harm.

A fix does harm if the program then ends otherwise, has more findings than promised, or gives other
results. What two plain runs already differ in is no result.
"""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from castwise.auditing.launch import run_audited
from castwise.auditing.origins import Audit, DtypeOrigin, make_audit, worst_first
from castwise.auditing.plans import NO_PLAN
from castwise.auditing.records import (
    FinalValues,
    Fix,
    Options,
    Outcome,
    Run,
    Seen,
    ValueChange,
    Withdrawal,
)
from castwise.auditing.source import edits_by_file, hindrance

# What a program printed, as words and numbers that can be compared.

_NUMBER = r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w])|\b(?:nan|inf)\b"
_WORD = re.compile(rf"(?P<number>{_NUMBER})|(?P<open>[(\[{{])|(?P<close>[)\]}}])|\w+|\S")
# How arrays print their dtype: a fix changes it on purpose.
_DTYPE_ARGUMENT = re.compile(r",\s*dtype=[\w.'<>]+")
_DTYPE = re.compile(r"\b(?:bfloat16|(?:float|complex)\d+)(?:_\w+)?\b")
_ENOUGH_DIGITS = 3  # from which on a last digit may differ, as rounding it may


class _Word(NamedTuple):
    """A number, a word or a sign."""

    text: str
    line: int  # from 1
    value: float | None  # None: not a number
    group: int  # the outermost brackets around it, 0 if there are none

    @property
    def is_whole(self) -> bool:
        """Whether it is a number without a fraction, which precision does not change."""
        return self.value is not None and self.text.lstrip("+-").isdigit()

    @property
    def last_digit(self) -> float:
        """What one unit of its last digit is worth; 0 if it has too few digits."""
        mantissa, _, exponent = self.text.lower().partition("e")
        digits = len(re.sub(r"^[-+0.]+|\D", "", mantissa))
        if "." not in mantissa or digits < _ENOUGH_DIGITS:
            return 0.0
        places = len(mantissa.partition(".")[2])
        return float(f"1e{int(exponent or 0) - places}")


def _words_in(printed: str) -> list[_Word]:
    """The words of an output. Spaces and line ends do not count, because arrays of a narrower dtype
    print fewer digits; nor do the names of float dtypes."""
    text = _DTYPE.sub("float", _DTYPE_ARGUMENT.sub("", printed))
    words: list[_Word] = []
    depth, group, line, place = 0, 0, 1, 0
    for found in _WORD.finditer(text):
        line += text.count("\n", place, found.start())
        place = found.start()
        if found["open"]:
            depth += 1
            group += depth == 1
        number = found["number"]
        value = float(number) if number else None
        words.append(_Word(found[0], line, value, group if depth else 0))
        if found["close"]:
            depth = max(0, depth - 1)
    return words


# Whether two runs of a program gave the same results.

_OUTPUT = "output"
_ADVICE = ". Fix the seed of its random numbers"
_LONGEST = 60  # characters of a line that is quoted


class Differences(NamedTuple):
    """Where two runs differ beyond a precision, by what differs, and the largest change anywhere
    else."""

    found: dict[Hashable, str]  # a name, the place of a word, or the whole output -> in words
    changes: list[ValueChange]  # one for each thing that is alike

    @property
    def largest(self) -> ValueChange | None:
        """The largest change within the precision; None if nothing was compared."""
        return max(self.changes, default=None)


def differences(
    before: Outcome, after: Outcome, precision: float, left_out: Collection[Hashable] = ()
) -> Differences:
    """The differences, except in what is left out."""
    result = Differences({}, [])
    for name, values in before.arrays.items():
        if name in left_out:
            continue
        change = _value_change(values, after.arrays.get(name))
        if math.isinf(change):
            result.found[name] = f"{name} has other values"
        elif change > (0 if values.is_exact else precision):
            result.found[name] = f"{name} changes by {change:.1e} of its size"
        else:
            result.changes.append(ValueChange(change, name))
    if _OUTPUT not in left_out:
        _compare_words(before.printed, after.printed, precision, left_out, result)
    return result


def _compare_words(
    before: str, after: str, precision: float, left_out: Collection[Hashable], result: Differences
) -> None:
    """Adds the differences between two outputs to others."""
    one, other = _words_in(before), _words_in(after)
    if len(one) != len(other):
        result.found[_OUTPUT] = _first_difference(before, after)
        return
    scales = _scales(one)
    for place, (a, b) in enumerate(zip(one, other, strict=True)):
        if place in left_out:
            continue
        change = _word_change(a, b, scales)
        if change is None or (change > precision and not _is_rounding(a, b)):
            result.found[place] = _quoted(a, b, before, after)
        elif a.value is not None:
            result.changes.append(ValueChange(change, "what it prints"))


def why_not_comparable(first: Outcome, second: Outcome, noise: Differences) -> str:
    """Why the results of a program say nothing, from two runs of the same program; "" if they do.

    What both runs agree on can still be compared if only a few words differ, as a time does.
    """
    arrays = [name for name in noise.found if name in first.arrays]
    unseeded = [name for name in arrays if not first.arrays[str(name)].is_number]
    if unseeded:
        return f"{noise.found[unseeded[0]]} between two plain runs{_ADVICE}"
    has_arrays = any(not values.is_number for values in first.arrays.values())
    if not has_arrays and _is_random_output(first, noise):
        differing = next(text for what, text in noise.found.items() if what not in arrays)
        return f"{differing} between two plain runs{_ADVICE}"
    if not noise.changes:
        return "the program prints no number and its main module holds no array"
    return ""


def _is_random_output(first: Outcome, noise: Differences) -> bool:
    """Whether two plain runs differ in half of the numbers with a fraction, or print other text."""
    if _OUTPUT in noise.found:
        return True
    words = _words_in(first.printed)
    fractions = {n for n, word in enumerate(words) if word.value is not None and not word.is_whole}
    differing = fractions & set(noise.found)
    return bool(differing) and 2 * len(differing) >= len(fractions)


def _value_change(before: FinalValues, after: FinalValues | None) -> float:
    """The largest change of a value, relative to the largest value."""
    if after is None or len(before.values) != len(after.values):
        return math.inf
    scale = max((abs(value) for value in before.values if math.isfinite(value)), default=0.0)
    pairs = zip(before.values, after.values, strict=True)
    moved = max((_distance(a, b) for a, b in pairs), default=0.0)
    return moved / scale if scale else moved


def _distance(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    distance = abs(one - other)
    return math.inf if math.isnan(distance) else distance


def _scales(words: Sequence[_Word]) -> dict[int, float]:
    """The largest number of each group: what is printed in brackets is an array."""
    scales: dict[int, float] = {}
    for word in words:
        if word.group and word.value is not None and math.isfinite(word.value):
            scales[word.group] = max(scales.get(word.group, 0.0), abs(word.value))
    return scales


def _word_change(one: _Word, other: _Word, scales: dict[int, float]) -> float | None:
    """The change of a number, relative to its group; None if the words are not alike."""
    if one.value is None or other.value is None:
        return 0.0 if one.text == other.text else None
    distance = _distance(one.value, other.value)
    if distance and one.is_whole and other.is_whole:
        return None
    scale = scales.get(one.group, 0.0) or abs(one.value)
    return distance / scale if scale else distance


def _is_rounding(one: _Word, other: _Word) -> bool:
    """Whether two numbers differ in the last digit that is printed."""
    digit = min(one.last_digit, other.last_digit)
    assert one.value is not None  # only asked of numbers
    assert other.value is not None
    return _distance(one.value, other.value) <= 1.01 * digit


def _quoted(one: _Word, other: _Word, before: str, after: str) -> str:
    old, new = _line(before, one.line), _line(after, other.line)
    return f"line {one.line} of its output changes from {old!r} to {new!r}"


def _first_difference(before: str, after: str) -> str:
    """The first line of two outputs that differs."""
    one, other = _words_in(before), _words_in(after)
    for a, b in zip(one, other, strict=False):
        if a.text != b.text and (a.value is None or b.value is None):
            return _quoted(a, b, before, after)
    lengths = [f"{len(text.splitlines()):,}" for text in (before, after)]
    return f"its output changes from {lengths[0]} to {lengths[1]} lines"


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    line = "".join(lines[number - 1 : number]).strip()
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


# How a run ended: its status, and the error and line that ended it.

_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'^\s+File "(?P<file>.*)", line (?P<line>\d+)')
_LONGEST_LINE = 200  # characters of an error that are shown
INTERRUPTED = 128 + signal.SIGINT


class _Ending(NamedTuple):
    """The error that ended a program; empty texts if there is none."""

    error: str
    place: str  # file:line


def read_ending(said: str, files: Collection[str]) -> _Ending:
    """The last traceback in what a program said, and its innermost line in one of the files."""
    _, found, text = said.rpartition(_TRACEBACK)
    if not found:
        lines = said.strip().splitlines()
        return _Ending(lines[-1][:_LONGEST_LINE] if lines else "", "")
    place, error = "", ""
    for line in text.splitlines()[1:]:
        frame = _FRAME.match(line)
        if frame and frame["file"] in files:
            place = f"{Path(frame['file']).name}:{frame['line']}"
        elif line and not line[0].isspace():
            error = line[:_LONGEST_LINE]
            break
    return _Ending(error, place)


def _ending_text(run: Run, files: Collection[str]) -> str:
    """How a run ended that should have ended otherwise."""
    ending = read_ending(run.outcome.said if run.outcome else "", files)
    if ending.error:
        return f"{ending.place or 'it'} raises {ending.error} (exit status {run.status})"
    if run.status > 128:
        number = run.status - 128
        is_known = number in set(signal.Signals)
        return f"it is ended by {signal.Signals(number).name if is_known else f'signal {number}'}"
    return f"it exits with status {run.status}"


# The runs with fixes: all of them first, then halves, until those that do harm are found.

MOST_RUNS = 16  # with fixes; a search for those that do harm ends there
_ROUNDINGS = 100  # so many of a dtype may add up in a result
_TIMES_AS_LONG = 10  # a fix may make a loop endless that ends when a value is exact
_LEAST_LIMIT = 60.0  # seconds

# Runs the program: its options, what it is run for, and how many seconds it may take.
Runner = Callable[[Options, str, "float | None"], Run]


@dataclass(frozen=True, slots=True)
class Trial:
    """A program with its fixes, compared with the original."""

    fixes: tuple[Fix, ...] = ()  # that are left
    withdrawn: tuple[DtypeOrigin, ...] = ()
    findings: tuple[int, int] = (0, 0)  # before and after
    peak_memory: tuple[int, int] = (0, 0)  # in bytes
    change: ValueChange | None = None
    runs: int = 0
    not_compared: str = ""  # why the results cannot be compared
    left_out: tuple[str, ...] = ()  # what two plain runs already differ in
    stopped: str = ""  # why nothing was tried


class _Attempt(NamedTuple):
    """A run with some fixes."""

    origins: tuple[DtypeOrigin, ...]
    harm: str  # "" if it does none
    run: Run | None = None  # None: it did not end
    findings: int = 0
    change: ValueChange | None = None


class _Interrupted(Exception):  # noqa: N818 -- not an error: the user stopped it
    """Raised if the user stops a run."""


def try_fixes(
    program: Sequence[str],
    audit: Audit,
    first: Run,
    options: Options,
    read: Callable[[Seen], Audit] = make_audit,
    run: Runner | None = None,
) -> tuple[Audit, Trial]:
    """Tries the fixes of an audit: the audit without those that do harm, and what the others do.
    `read` turns what is seen into an audit, as for the first run."""

    def plainly(options: Options, _: str, limit: float | None) -> Run:
        return run_audited(program, options, limit=limit)

    if not any(origin.fixes for origin in audit.origins):
        return audit, Trial()
    search = _Search(audit, first, options, read, run or plainly)
    try:
        return search.result()
    except _Interrupted:
        return audit, Trial(stopped="the trial was interrupted")


@dataclass
class _Search:
    """A search for the fixes that do no harm."""

    audit: Audit
    first: Run
    options: Options
    read: Callable[[Seen], Audit]
    run: Runner
    runs: int = 0
    harms: dict[int, str] = field(default_factory=dict)  # by the position of the origin

    def result(self) -> tuple[Audit, Trial]:
        """The audit without the fixes that do harm, and the trial of the others."""
        every = self._chosen()
        hidden = replace(self.options, is_shown=False)
        self.second = self._ended(hidden, "a plain run", None)
        if self._changes_ending(self.second):
            why = _ending_text(self.second, self.first.seen.files)
            return self.audit, Trial(stopped=f"in a second plain run {why}")
        self.before = max(len(self.audit.findings), len(self.read(self.second.seen).findings))
        self.noise = differences(*self._plain(), _precision(every))
        self.not_compared = why_not_comparable(*self._plain(), self.noise)
        attempt = self._attempt(every)
        if attempt.harm:
            attempt = self._search(_Attempt((), ""), attempt)
        return self._conclusion(attempt)

    def _plain(self) -> tuple[Outcome, Outcome]:
        assert self.first.outcome is not None  # kept, as the options say
        assert self.second.outcome is not None
        return self.first.outcome, self.second.outcome

    def _chosen(self) -> tuple[DtypeOrigin, ...]:
        """The origins whose fixes do not overlap; worse origins take precedence."""
        chosen: list[DtypeOrigin] = []
        for position, origin in enumerate(self.audit.origins):
            other = hindrance(origin.fixes, _all_fixes(chosen))
            if other:
                line = other.place.line
                self.harms[position] = f"line {line} would be changed twice; audit it again"
            elif origin.fixes:
                chosen.append(origin)
        return tuple(chosen)

    def _search(self, kept: _Attempt, failed: _Attempt) -> _Attempt:
        """The largest attempt that does no harm, from one that does none and one that does: by
        halves of what is new."""
        new = [origin for origin in failed.origins if origin not in kept.origins]
        if len(new) == 1 or self.runs >= MOST_RUNS:
            harm = f"not tried, after {MOST_RUNS} runs" if len(new) > 1 else failed.harm
            for origin in new:
                self.harms[self.audit.origins.index(origin)] = harm
            return kept
        middle = len(new) // 2
        for half in (new[:middle], new[middle:]):
            attempt = self._attempt((*kept.origins, *half))
            kept = self._search(kept, attempt) if attempt.harm else attempt
        return kept

    def _attempt(self, origins: tuple[DtypeOrigin, ...]) -> _Attempt:
        if self.runs >= MOST_RUNS:
            return _Attempt(origins, f"not tried, after {MOST_RUNS} runs")
        self.runs += 1
        fixes = _all_fixes(origins)
        options = replace(self.options, edits=edits_by_file(fixes), is_shown=False)
        count = "1 fix" if len(fixes) == 1 else f"{len(fixes)} fixes"
        limit = max(_LEAST_LIMIT, _TIMES_AS_LONG * max(self.first.seconds, self.second.seconds))
        try:
            run = self._ended(options, f"run {self.runs} with {count}", limit)
        except TimeoutError:
            seconds = f"{self.second.seconds:.0f} s"
            return _Attempt(origins, f"it does not end after {limit:.0f} s, {seconds} without it")
        if not run.seen.facts.versions:
            return _Attempt(origins, "its run could not be observed", run)
        if self._changes_ending(run):
            return _Attempt(origins, _ending_text(run, self.first.seen.files), run)
        found = len(self.read(run.seen).findings)
        promised = self.before - sum(o.removed - len(o.plan.added) for o in origins)
        if found > promised:
            casts = "1 implicit cast is" if found == 1 else f"{found:,} implicit casts are"
            return _Attempt(origins, f"{casts} left, not {promised:,}", run, found)
        return self._compared(origins, run, found)

    def _compared(self, origins: tuple[DtypeOrigin, ...], run: Run, found: int) -> _Attempt:
        if self.not_compared:
            return _Attempt(origins, "", run, found)
        assert run.outcome is not None  # kept, as the options say
        changed = differences(self._plain()[0], run.outcome, _precision(origins), self.noise.found)
        harm = next(iter(changed.found.values()), "")
        return _Attempt(origins, harm, run, found, changed.largest)

    def _ended(self, options: Options, doing: str, limit: float | None) -> Run:
        run = self.run(options, doing, limit)
        if run.status == INTERRUPTED != self.first.status:
            raise _Interrupted
        return run

    def _changes_ending(self, run: Run) -> bool:
        """Whether a run ends otherwise than the first one, or with another error."""
        if run.status != self.first.status:
            return True
        files = self.first.seen.files
        said = [r.outcome.said if r.outcome else "" for r in (self.second, run)]
        kinds = {read_ending(text, files).error.partition(":")[0] for text in said}  # their types
        return bool(run.status) and len(kinds) > 1

    def _conclusion(self, attempt: _Attempt) -> tuple[Audit, Trial]:
        origins = list(self.audit.origins)
        for position, harm in self.harms.items():
            withdrawn = Withdrawal(origins[position].fixes, harm)
            origins[position] = replace(origins[position], plan=NO_PLAN, withdrawn=withdrawn)
        audit = replace(self.audit, origins=worst_first(origins, self.audit.target))
        run = attempt.run or self.second
        trial = Trial(
            tuple(_all_fixes(attempt.origins)),
            tuple(origin for origin in audit.origins if origin.withdrawn),
            (len(self.audit.findings), attempt.findings if attempt.run else self.before),
            (self.first.seen.facts.peak_memory, run.seen.facts.peak_memory),
            attempt.change,
            self.runs + 1,
            self.not_compared,
            tuple(self.noise.found.values()),
        )
        return audit, trial


def _all_fixes(origins: Sequence[DtypeOrigin]) -> list[Fix]:
    return list(dict.fromkeys(fix for origin in origins for fix in origin.fixes))


def _precision(origins: Sequence[DtypeOrigin]) -> float:
    """How much of its size a value may change: by some roundings of the narrowest dtype that the
    fixes lead to, and by no more than half of its digits."""
    dtypes = [fix.target for fix in _all_fixes(origins)]
    dtypes += [o.dtype for origin in origins for f in origin.findings for o in f.operands]
    inexact = [d for d in dtypes if d is not None and d.kind in ("float", "complex")]
    digits = min([d.mantissa_bits for d in inexact], default=52)
    return min(_ROUNDINGS * 2.0**-digits, math.sqrt(2.0**-digits))
