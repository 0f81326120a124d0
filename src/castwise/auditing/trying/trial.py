"""Runs the program again with its fixes, in memory, and withdraws those that do harm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from castwise.auditing.fixing.applying import edits_of, hindrance
from castwise.auditing.judging.audited import Audit, audit_of, worst_first
from castwise.auditing.judging.origins import DtypeOrigin
from castwise.auditing.proving.plans import NO_PLAN
from castwise.auditing.records.findings import Fix, Withdrawal
from castwise.auditing.records.runs import Options, Outcome, Run, ValueChange
from castwise.auditing.records.seen import Seen
from castwise.auditing.running.launch import run_audited
from castwise.auditing.trying.comparing import Differences, differences, why_not_comparable
from castwise.auditing.trying.endings import INTERRUPTED, crash_text, ending_of
from castwise.vocab.dtypes import DType

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
    read: Callable[[Seen], Audit] = audit_of,
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
            why = crash_text(self.second, self.first.seen.files)
            return self.audit, Trial(stopped=f"in a second plain run {why}")
        before = [len(self.audit.findings), len(self.read(self.second.seen).findings)]
        self.before = max(before)
        self.noise = differences(*self._plain(), _precision(every))
        self.not_compared = why_not_comparable(*self._plain(), self.noise)
        attempt = self._attempt(every)
        if attempt.harm:
            attempt = self._search(_Attempt((), ""), attempt)
        return self._judged(attempt)

    def _plain(self) -> tuple[Outcome, Outcome]:
        assert self.first.outcome is not None  # kept, as the options say
        assert self.second.outcome is not None
        return self.first.outcome, self.second.outcome

    def _chosen(self) -> tuple[DtypeOrigin, ...]:
        """The origins whose fixes do not overlap; worse origins take precedence."""
        chosen: list[DtypeOrigin] = []
        for position, origin in enumerate(self.audit.origins):
            other = hindrance(origin.fixes, _fixes_of(chosen))
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
        is_over = self.runs >= MOST_RUNS
        if len(new) == 1 or is_over:
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
        fixes = _fixes_of(origins)
        options = replace(self.options, edits=edits_of(fixes), is_shown=False)
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
            return _Attempt(origins, crash_text(run, self.first.seen.files), run)
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
        return _Attempt(origins, _harm_of(changed), run, found, changed.largest)

    def _ended(self, options: Options, doing: str, limit: float | None) -> Run:
        run = self.run(options, doing, limit)
        if run.status == INTERRUPTED != self.first.status:
            raise _Interrupted
        return run

    def _changes_ending(self, run: Run) -> bool:
        """Whether a run ends otherwise than the first one, or with another error."""
        if run.status != self.first.status or run is self.second:
            return run.status != self.first.status
        files = self.first.seen.files
        said = [r.outcome.said if r.outcome else "" for r in (self.second, run)]
        kinds = [ending_of(text, files).kind for text in said]
        return bool(run.status) and kinds[0] != kinds[1]

    def _judged(self, attempt: _Attempt) -> tuple[Audit, Trial]:
        origins = [
            _withdrawn(origin, self.harms[position]) if position in self.harms else origin
            for position, origin in enumerate(self.audit.origins)
        ]
        audit = replace(self.audit, origins=worst_first(origins, self.audit.target))
        run = attempt.run or self.second
        trial = Trial(
            tuple(_fixes_of(attempt.origins)),
            tuple(origin for origin in audit.origins if origin.withdrawn),
            (len(self.audit.findings), attempt.findings if attempt.run else self.before),
            (self.first.seen.facts.peak_memory, run.seen.facts.peak_memory),
            attempt.change,
            self.runs + 1,
            self.not_compared,
            tuple(self.noise.found.values()),
        )
        return audit, trial


def _fixes_of(origins: Sequence[DtypeOrigin]) -> list[Fix]:
    return list(dict.fromkeys(fix for origin in origins for fix in origin.fixes))


def _withdrawn(origin: DtypeOrigin, why: str) -> DtypeOrigin:
    return replace(origin, plan=NO_PLAN, withdrawn=Withdrawal(origin.fixes, why))


def _harm_of(changed: Differences) -> str:
    return next(iter(changed.found.values()), "")


def _precision(origins: Sequence[DtypeOrigin]) -> float:
    """How much of its size a value may change: by some roundings of the narrowest dtype that the
    fixes lead to, and by no more than half of its digits."""
    dtypes = [fix.target for fix in _fixes_of(origins)]
    dtypes += [o.dtype for origin in origins for f in origin.findings for o in f.operands]
    digits = min([d.mantissa_bits for d in dtypes if _is_inexact(d)], default=52)  # type: ignore[union-attr]
    return min(_ROUNDINGS * 2.0**-digits, math.sqrt(2.0**-digits))


def _is_inexact(dtype: DType | None) -> bool:
    return dtype is not None and dtype.kind in ("float", "complex")
