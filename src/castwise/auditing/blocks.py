"""What a program itself uses: a block that audits, one that enforces, and functions they see.

`cw.audit()` logs what runs in a block. `cw.enforce(...)` raises an error before an operation runs
that its dialect refuses. `cw.audited` puts observers into one function.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
import warnings
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from pathlib import PurePath
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any, Generic, NamedTuple, TypeVar

from castwise.auditing import scopes
from castwise.auditing.arrays import NUMBERS, Note
from castwise.auditing.calls import has_observed, observed_code
from castwise.auditing.detect import as_observed
from castwise.auditing.hooks import all_hooks
from castwise.auditing.loading import CHECKED, prepare, register_sites, rewritten
from castwise.auditing.log import LOG, UNOBSERVED, Log, PendingOperation, Tally
from castwise.auditing.operations import Harmless, NotUnderstood, understand
from castwise.auditing.origins import Audit, make_audit
from castwise.auditing.patches.originals import keep_source
from castwise.auditing.port import Port, answer_to, make_port, questions_in
from castwise.auditing.records import (
    Coverage,
    EnforcedDialect,
    Finding,
    Operation,
    RunFacts,
    Seen,
    Unobserved,
)
from castwise.auditing.rewriting import full_path
from castwise.auditing.saved import running_frameworks, seen_in, site_at, tallied_event
from castwise.auditing.scopes import available_modes, enter_modes, leave_modes
from castwise.auditing.suppressions import without_expected
from castwise.catalog import to_dialect
from castwise.engine.ask import find_op
from castwise.errors import PromotionError, PromotionWarning, UsageError
from castwise.rules.dialect import Dialect
from castwise.showing import Shown, repr_line
from castwise.vocab.operands import value_class

# A block of the program that is observed.

_Entered = TypeVar("_Entered", bound="_ObservedBlock")


class _ObservedBlock:
    """A context manager that watches its thread or task while it is entered."""

    name: str  # the name users know it by
    log: Log | None
    is_checking: bool

    def check(self, pending: PendingOperation, frame: FrameType) -> None:
        """Looks at an operation that is about to run."""
        raise NotImplementedError

    def __enter__(self: _Entered) -> _Entered:
        _require_observers(self.name, for_checks=self.is_checking)
        scopes.enter(self)
        enter_modes()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        leave_modes()
        scopes.leave(self)


def _require_observers(name: str, *, for_checks: bool) -> None:
    """Raises UsageError, with advice, if a scope would see nothing."""
    if available_modes() or has_observed(only_functions=for_checks) or (for_checks and CHECKED):
        return
    option = "--enforceable " if for_checks else ""
    watched = " or ".join(hook.framework for hook in all_hooks() if hook.watching.mode)
    raise UsageError(
        f"{name} would see nothing here: no module was loaded for it. Run the program with "
        f"`castwise audit {option}script.py`, the tests with `pytest --castwise PACKAGE`, or put "
        f"@cw.audited on the function. Otherwise only {watched} is watched, once it is imported."
    )


# A block that audits: what its thread or task does, as findings or for other dialects.


def audit() -> AuditLog:
    """Watches what runs in a block.

    `with cw.audit() as log: ...` and then `log.findings`, `log.audit.origins`,
    `log.port("paddle")`.

    It sees this thread or asyncio task: functions under @cw.audited, modules that `castwise audit`,
    `pytest --castwise` or %%audit load, and frameworks with a mode that reports every call. Raises
    UsageError on entry if there is none of these.
    """
    return AuditLog()


class AuditLog(Shown, _ObservedBlock):
    """What was seen in a block; made by audit."""

    name = "cw.audit()"
    is_checking = False

    def __init__(self) -> None:
        self.log: Log | None = Log()

    def __repr__(self) -> str:
        return repr_line("AuditLog", self.audit.in_short)

    def check(self, pending: PendingOperation, frame: FrameType) -> None:
        """Refuses nothing."""

    @property
    def seen(self) -> Seen:
        """What was seen so far."""
        assert self.log is not None  # the constructor sets it
        return seen_in(self.log)

    @property
    def audit(self) -> Audit:
        """The findings so far by origin, worst first, with the coverage; those that are expected
        are apart, in `expected`."""
        return without_expected(make_audit(self.seen))

    @property
    def findings(self) -> list[Finding]:
        """The findings so far, without those that are expected."""
        return self.audit.findings

    @property
    def coverage(self) -> Coverage:
        """How much was seen so far."""
        return self.audit.coverage

    def port(self, target: str | Dialect, source: str | Dialect | None = None) -> Port:
        """What the operations seen so far would compute in the dialect `target`. `source` is the
        dialect they are written for: by default the one that ran most of them."""
        return make_port(self.seen, target, source)


# A block that enforces, also as a decorator of functions, coroutines and generators.

Function = TypeVar("Function", bound=Callable[..., Any])


class _Steps(Generator[Any, Any, Any]):
    """A generator that is in the scope while it runs, but not while its caller runs."""

    def __init__(self, inner: Generator[Any, Any, Any], scope: Enforcement) -> None:
        self._inner, self._scope = inner, scope

    def send(self, value: Any) -> Any:
        with self._scope:
            return self._inner.send(value)

    def throw(self, *error: Any) -> Any:
        with self._scope:
            return self._inner.throw(*error)


class _AsyncSteps(AsyncGenerator[Any, Any]):
    """An asynchronous generator that is in the scope while it runs."""

    def __init__(self, inner: AsyncGenerator[Any, Any], scope: Enforcement) -> None:
        self._inner, self._scope = inner, scope

    async def asend(self, value: Any) -> Any:
        with self._scope:
            return await self._inner.asend(value)

    async def athrow(self, *error: Any) -> Any:
        with self._scope:
            return await self._inner.athrow(*error)


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
    >>> from castwise.auditing.blocks import audited
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


class Enforcement(_ObservedBlock):
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
        self._verdict = _VerdictCache(self._asked)
        self.differences: list[str] = []

    def __call__(self, function: Function) -> Function:
        """Wraps a function so that it is held to the dialect."""
        wrapper: Any
        if inspect.isasyncgenfunction(function):

            def wrapper(*args: Any, **kwargs: Any) -> Any:
                return _AsyncSteps(function(*args, **kwargs), self)

        elif inspect.isgeneratorfunction(function):

            def wrapper(*args: Any, **kwargs: Any) -> Any:
                return _Steps(function(*args, **kwargs), self)

        elif inspect.iscoroutinefunction(function):

            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return await function(*args, **kwargs)

        else:

            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return function(*args, **kwargs)

        return functools.wraps(function)(wrapper)  # type: ignore[return-value]

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

    def _asked(self, operation: Operation | None, mark: int) -> _Verdict | None:
        if operation is None:
            return None
        dialect = self._dialect or operation.question.dialect
        verdict = _verdict(operation, dialect.vary(strict=True) if self._is_strict else dialect)
        if verdict is None or self._allowed.lets_through(verdict, mark):
            return None
        return verdict

    def refuse(self, verdict: _Verdict, mark: int) -> None:
        """Raises an error that says why the dialect refuses an operation."""
        __tracebackhide__ = True
        kind = type(verdict.refusal) if verdict.refusal is not None else PromotionError
        raise kind(f"{_place(mark)}: {verdict.message}")

    def report(self, verdict: _Verdict, mark: int, frame: FrameType) -> None:
        """Warns at the user's line and keeps the message."""
        text = f"{_place(mark)}: {verdict.message}"
        if text not in self.differences:
            self.differences.append(text)
        site = site_at(mark)
        registry = frame.f_globals.setdefault("__warningregistry__", {})
        warnings.warn_explicit(
            verdict.message, PromotionWarning, site.file, site.line, registry=registry
        )


_PLACE = re.compile(r"(.+):(\d+)")


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

    def lets_through(self, verdict: _Verdict, mark: int) -> bool:
        if verdict.op in self._ops:
            return True
        site = site_at(mark)
        path = PurePath(site.file)
        return any(site.line == line and path.match(file) for file, line in self._places)


def _place(mark: int) -> str:
    site = site_at(mark)
    near = os.path.relpath(site.file)
    return f"{site.file if near.startswith('..') else near}:{site.line}"


# What another dialect decides about an operation that is about to run.


class _Verdict(NamedTuple):
    """What is wrong with an operation."""

    op: str
    message: str
    refusal: PromotionError | None = None  # None if only the dtype differs


_Answer = TypeVar("_Answer")
_MOST_KNOWN = 1 << 14


class _VerdictCache(Generic[_Answer]):
    """A cache of verdicts, keyed by place, dtypes and what rules can see of values."""

    def __init__(self, ask: Callable[[Operation | None, int], _Answer]) -> None:
        self._ask = ask
        self._known: dict[object, _Answer] = {}

    def __call__(self, pending: PendingOperation) -> _Answer:
        key = (pending.key, tuple([_class_of(operand) for operand in pending.operands]))
        try:
            return self._known[key]
        except KeyError:
            pass
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        found = self._known[key] = self._ask(_pending_operation(pending), pending.mark)
        return found


def _class_of(operand: Any) -> object:
    """The part of an operand's value that a rule can see."""
    value = operand.value if type(operand) is Note else operand
    return value_class(value) if type(value) in NUMBERS else None


def _pending_operation(pending: PendingOperation) -> Operation | None:
    """The operation that is about to run; None if the program requests its casts, or if castwise
    knows no rule for it and its arrays have one dtype."""
    event = tallied_event(pending.key, Tally(pending.operands, None))
    dialects = RunFacts(running_frameworks()).dialects
    with contextlib.suppress(Harmless, NotUnderstood):
        try:
            found = understand(event, site_at(pending.mark).site, dialects)
        except NotUnderstood:
            return as_observed(event, dialects)
        return None if found.is_asked else found
    return None


_STRICT = "no implicit cast"  # the guard of a strict dialect
_FLOATING = ("float", "complex")


def _verdict(operation: Operation, dialect: Dialect) -> _Verdict | None:
    """How a dialect decides an operation differently; None if it decides the same."""
    if operation.is_observed:
        return _mixed_verdict(operation) if _STRICT in dialect.joining.guards else None
    try:
        found = answer_to(next(questions_in(operation, dialect)))
    except UsageError:
        return None
    name = operation.question.op.name
    if found.result is None:
        refusal = found.refusal or PromotionError(
            f"{found.question} does not run in {dialect.name}: {found.why}."
        )
        return _Verdict(name, str(refusal), refusal)
    expected = operation.decision
    if expected is None or expected.result is found.result:
        return None
    running = operation.question.dialect.name
    return _Verdict(
        name, f"{found.question} is {found.result} in {dialect.name}, but {expected.result} in "
        f"{running}.",
    )  # fmt: skip


def _mixed_verdict(operation: Operation) -> _Verdict:
    """The refusal of a call that no dialect has a rule for."""
    question = operation.question
    dtypes = dict.fromkeys(str(o.dtype) for o in question.operands if o.kind in _FLOATING)
    refusal = PromotionError(
        f"{question} mixes {' and '.join(dtypes)}, and no implicit cast is allowed. castwise has "
        f"no rule for {question.op.name}: cast its arrays to one dtype."
    )
    return _Verdict(question.op.name, str(refusal), refusal)


# A whole program that is held to a dialect, and one whose refused operations are logged.

_STRICTLY = "strict"


def enforced_dialect(named: str, differs: str, allow: Iterable[str]) -> EnforcedDialect:
    """The options that hold a program's process to a dialect. "strict" means its own dialect with
    every implicit cast refused.

    Raises UsageError as enforce does.
    """
    dialect = None if named == _STRICTLY else named
    wanted = EnforcedDialect(dialect, named == _STRICTLY, differs, tuple(allow))
    ProcessEnforcement.from_options(wanted)  # errors are raised before the program runs
    return wanted


class ProcessEnforcement(Enforcement):
    """Holds a whole program to a dialect. Differences appear in the report at its end."""

    @classmethod
    def from_options(cls, wanted: EnforcedDialect) -> ProcessEnforcement:
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

    def report(self, verdict: _Verdict, mark: int, frame: FrameType) -> None:
        """Does nothing: the operation runs and appears in the report."""


class Attempts:
    """Logs operations that the running framework is about to refuse, which would otherwise leave no
    trace."""

    log: Log | None = None
    is_checking = True

    def __init__(self) -> None:
        self._refused = _VerdictCache(lambda found, _: found is not None and found.decision is None)

    def check(self, pending: PendingOperation, frame: FrameType) -> None:
        """Logs an operation that its dialect refuses."""
        try:
            if self._refused(pending):
                LOG.attempt(pending)
        except Exception as error:
            LOG.failed(error)


# Observers for one function, by recompiling its source; the function object stays the same.

_KIND = 0x3FF  # flags of a code object that say what it is; the rest come from __future__


def audited(function: Function) -> Function:
    """Lets `cw.audit()` and `cw.enforce` observe a function wherever it runs.

    Its code is compiled again from its source, with observers around its operations; it is the same
    object, with its closure, defaults and attributes. A function under other decorators is reached
    through their __wrapped__. One that another compiler reads stays unchanged and is listed as not
    observed.

    >>> import numpy as np
    >>> from castwise.auditing.blocks import audit
    >>> @audited
    ... def scaled(x, by):
    ...     return x * by
    >>> with audit() as log:
    ...     y = scaled(np.ones(3, dtype=np.float32), np.arange(3))
    >>> [str(finding) for finding in log.findings]
    ['float32[3] * int64[3] -> float64']

    Raises UsageError if the source cannot be read or does not match the function.
    """
    inner = inspect.unwrap(getattr(function, "__func__", function))
    if not isinstance(inner, FunctionType):
        raise UsageError(
            f"@cw.audited rewrites a Python function, not a {type(inner).__name__}. Put it below "
            "decorators that compile or hide the function."
        )
    code = _new_code(inner)
    if code is not None:
        prepare()
        observed_code(code)
        inner.__code__ = code
    return function


def _new_code(function: FunctionType) -> CodeType | None:
    """The function's code with its observers; None if another compiler reads the function."""
    old = function.__code__
    try:
        lines, _ = inspect.findsource(old)
    except (OSError, TypeError):
        raise UsageError(
            f"the source of {function.__qualname__} cannot be read, and @cw.audited rewrites it. "
            "Write the function to a file."
        ) from None
    source = "".join(lines).encode()
    module, sites, unobserved = rewritten(source, old.co_filename, checks=True)
    code = code_like(old, module)
    if code is None:
        raise UsageError(
            f"{function.__qualname__} is not found in {old.co_filename}: the file has changed "
            "since it was loaded, or there are several on the line."
        )
    register_sites(old.co_filename, sites)
    own = unobserved_as(old, [Unobserved(*fields) for fields in unobserved])
    if own:
        UNOBSERVED.setdefault(full_path(old.co_filename), []).extend(own)
        return None
    keep_source(old.co_filename, source, checks=True)
    return code


def unobserved_as(code: CodeType, left: Iterable[Unobserved]) -> list[Unobserved]:
    """Those of the functions left unchanged in a file that are this one."""
    first = code.co_firstlineno
    last = max((line for _, _, line in code.co_lines() if line), default=first)
    return [u for u in left if u.name == code.co_name and first <= u.line <= last]


def code_like(old: CodeType, module: CodeType) -> CodeType | None:
    """The code of the same function in a rewritten module, if there is exactly one: observers add
    no variables and no lines."""
    alike = [new for new in _codes(module) if _identity(new) == _identity(old)]
    return alike[0] if len(alike) == 1 else None


def _identity(code: CodeType) -> tuple[Any, ...]:
    kind = code.co_flags & _KIND
    return code.co_name, code.co_firstlineno, code.co_varnames, code.co_freevars, kind


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
