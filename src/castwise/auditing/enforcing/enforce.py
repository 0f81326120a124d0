"""Holds a program to a dialect: an operation it refuses raises an error before it runs."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable
from pathlib import PurePath
from types import FrameType

from castwise.auditing.enforcing.block import Block
from castwise.auditing.enforcing.decorating import Decorator, Wrapped
from castwise.auditing.enforcing.verdicts import Remembered, Verdict, judged
from castwise.auditing.noting.log import LOG, Log, PendingOperation
from castwise.auditing.noting.seen import site_of
from castwise.auditing.records.findings import Operation
from castwise.auditing.records.runs import EnforcedDialect
from castwise.engine.op_names import find_op
from castwise.errors import PromotionError, PromotionWarning, UsageError
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect

_PLACE = re.compile(r"(.+):(\d+)")
_STRICT = "strict"


def enforce(
    dialect: str | Dialect | None = None,
    *,
    strict: bool = False,
    differs: str = "report",
    allow: Iterable[str] = (),
) -> Enforcement:
    """Holds what runs in a block, or in a function it decorates, to a dialect.

    If the dialect refuses an operation, PromotionError is raised at its line before it runs. If it
    gives another dtype, `differs="report"` warns (PromotionWarning) and adds it to `differences`;
    `differs="raise"` raises too. No result is ever changed. The default dialect is that of the
    running framework; with `strict` every implicit cast is refused. `allow` names ops ("add") and
    places ("train.py:12") that are exempt.

    >>> import numpy as np
    >>> from castwise.auditing.enforcing.decorated import audited
    >>> @audited
    ... def scaled(x, by):
    ...     return x * by
    >>> with enforce("tensorflow:safe"):  # doctest: +ELLIPSIS
    ...     scaled(np.ones(3, dtype=np.float32), np.arange(3))
    Traceback (most recent call last):
        ...
    castwise.errors.PromotionError: ...: float32[3] * int64[3] is not defined in tensorflow:safe...

    It holds for this thread or asyncio task, and covers functions under @cw.audited, modules that
    `castwise audit --enforceable`, `pytest --castwise` or %%audit load, and frameworks with a mode
    that reports every call. Raises UsageError on entry if there is none of these.
    """
    return Enforcement(dialect, strict=strict, differs=differs, allow=allow)


class Enforcement(Block, Decorator):
    """A scope that refuses operations; made by enforce."""

    name = "cw.enforce"
    log: Log | None = None
    is_checking = True

    def __init__(
        self,
        dialect: str | Dialect | None,
        *,
        strict: bool,
        differs: str,
        allow: Iterable[str],
    ) -> None:
        if dialect is None and not strict:
            raise UsageError("enforce needs a dialect, or strict=True.")
        if differs not in ("raise", "report"):
            raise UsageError(f"differs must be 'raise' or 'report', not {str(differs)[:40]!r}.")
        self._dialect = None if dialect is None else to_dialect(dialect)
        self._is_strict, self._differs = strict, differs
        self._allowed = _Allowed(allow, self._dialect)
        self._verdict = Remembered(self._asked)
        self.differences: list[str] = []

    def __call__(self, function: Wrapped) -> Wrapped:
        """Wraps a function so that it is held to the dialect."""
        return self.decorate(function)

    def check(self, pending: PendingOperation, frame: FrameType) -> None:
        """Raises PromotionError if the operation is refused."""
        try:
            verdict = self._verdict(pending)
        except Exception as error:  # an internal error, which the program must not see
            LOG.failed(error)
            return
        if verdict is None:
            return
        if verdict.refusal is not None or self._differs == "raise":
            self.refuse(verdict, pending.mark)
        else:
            self.report(verdict, pending.mark, frame)

    def _asked(self, operation: Operation | None, mark: int) -> Verdict | None:
        if operation is None:
            return None
        dialect = self._dialect or operation.question.dialect
        verdict = judged(operation, dialect.vary(strict=True) if self._is_strict else dialect)
        if verdict is None or self._allowed.lets_through(verdict, mark):
            return None
        return verdict

    def refuse(self, verdict: Verdict, mark: int) -> None:
        """Raises an error that says why the dialect refuses an operation."""
        __tracebackhide__ = True
        kind = type(verdict.refusal) if verdict.refusal is not None else PromotionError
        raise kind(f"{_place(mark)}: {verdict.message}")

    def report(self, verdict: Verdict, mark: int, frame: FrameType) -> None:
        """Warns at the user's line and keeps the message."""
        text = f"{_place(mark)}: {verdict.message}"
        if text not in self.differences:
            self.differences.append(text)
        site = site_of(mark)
        registry = frame.f_globals.setdefault("__warningregistry__", {})
        warnings.warn_explicit(
            verdict.message, PromotionWarning, site.file, site.line, registry=registry
        )


class _Allowed:
    """Ops and places that are exempt."""

    def __init__(self, allow: Iterable[str], dialect: Dialect | None) -> None:
        if isinstance(allow, str):
            raise UsageError(f"allow must be a list of ops and places: [{allow[:40]!r}].")
        self._ops: set[str] = set()
        self._places: set[tuple[str, int]] = set()
        for entry in allow:
            place = _PLACE.fullmatch(entry)
            if place:
                self._places.add((place[1], int(place[2])))
            else:
                self._ops.add(find_op(entry, to_dialect(dialect)).name)

    def lets_through(self, verdict: Verdict, mark: int) -> bool:
        if verdict.op in self._ops:
            return True
        site = site_of(mark)
        path = PurePath(site.file)
        return any(site.line == line and path.match(file) for file, line in self._places)


def _place(mark: int) -> str:
    site = site_of(mark)
    near = os.path.relpath(site.file)
    return f"{site.file if near.startswith('..') else near}:{site.line}"


def enforced_dialect(named: str, differs: str, allow: Iterable[str]) -> EnforcedDialect:
    """The options that hold a program's process to a dialect. "strict" means its own dialect with
    every implicit cast refused.

    Raises UsageError as enforce does.
    """
    dialect = None if named == _STRICT else named
    wanted = EnforcedDialect(dialect, named == _STRICT, differs, tuple(allow))
    ProcessEnforcement.of(wanted)  # errors are raised before the program runs
    return wanted


class ProcessEnforcement(Enforcement):
    """Holds a whole program to a dialect. Differences appear in the report at its end."""

    @classmethod
    def of(cls, wanted: EnforcedDialect) -> ProcessEnforcement:
        """Builds the enforcement from its options."""
        return cls(wanted.dialect, strict=wanted.strict, differs=wanted.differs, allow=wanted.allow)

    def check(self, pending: PendingOperation, frame: FrameType) -> None:
        """Raises PromotionError if the operation is refused; the report lists it even if the
        program catches the error."""
        __tracebackhide__ = True
        try:
            super().check(pending, frame)
        except PromotionError:
            LOG.attempt(pending)
            raise

    def report(self, verdict: Verdict, mark: int, frame: FrameType) -> None:
        """Does nothing: the operation runs and appears in the report."""


class Attempts:
    """Logs operations that the running framework is about to refuse, which would otherwise leave no
    trace."""

    log: Log | None = None
    is_checking = True

    def __init__(self) -> None:
        self._refused = Remembered(_is_refused)

    def check(self, pending: PendingOperation, frame: FrameType) -> None:
        """Logs an operation that its dialect refuses."""
        try:
            if self._refused(pending):
                LOG.attempt(pending)
        except Exception as error:
            LOG.failed(error)


def _is_refused(operation: Operation | None, mark: int) -> bool:
    return operation is not None and operation.decision is None
