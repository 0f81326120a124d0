"""What another dialect decides about an operation that is about to run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from castwise.auditing.finding.observed import as_mixed
from castwise.auditing.finding.operations import Harmless, NotUnderstood, understand
from castwise.auditing.noting.arrays import NUMBERS, Note
from castwise.auditing.noting.log import PendingOperation, Tally
from castwise.auditing.noting.seen import event_of, running_frameworks, site_of
from castwise.auditing.porting.answers import answer_to, questions_in
from castwise.auditing.records.findings import Operation
from castwise.auditing.records.seen import RunFacts
from castwise.errors import PromotionError, UsageError
from castwise.rules.dialect import Dialect
from castwise.vocab.operands import value_class


class Verdict(NamedTuple):
    """What is wrong with an operation."""

    op: str
    message: str
    refusal: PromotionError | None = None  # None if only the dtype differs


Judged = TypeVar("Judged")


class Remembered(Generic[Judged]):
    """A cache of verdicts, keyed by place, dtypes and what rules can see of values."""

    def __init__(self, ask: Callable[[Operation | None, int], Judged]) -> None:
        self._ask = ask
        self._known: dict[object, Judged] = {}

    def __call__(self, pending: PendingOperation) -> Judged:
        key = (pending.key, tuple([_class_of(operand) for operand in pending.operands]))
        try:
            return self._known[key]
        except KeyError:
            pass
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        found = self._known[key] = self._ask(about_to_run(pending), pending.mark)
        return found


_MOST_KNOWN = 1 << 14


def _class_of(operand: Any) -> object:
    """The part of an operand's value that a rule can see."""
    value = operand.value if type(operand) is Note else operand
    return value_class(value) if type(value) in NUMBERS else None


def about_to_run(pending: PendingOperation) -> Operation | None:
    """The operation that is about to run; None if the program requests its casts, or if castwise
    knows no rule for it and its arrays have one dtype."""
    event = event_of(pending.key, Tally(pending.operands, None))
    dialects = RunFacts(running_frameworks()).dialects
    try:
        found = understand(event, site_of(pending.mark).site, dialects)
    except Harmless:
        return None
    except NotUnderstood:
        return as_mixed(event, dialects)
    return None if found.is_asked else found


def _mixed(operation: Operation) -> Verdict:
    """The refusal of a call that no dialect has a rule for."""
    question = operation.question
    dtypes = dict.fromkeys(str(o.dtype) for o in question.operands if o.kind in _FLOATING)
    refusal = PromotionError(
        f"{question} mixes {' and '.join(dtypes)}, and no implicit cast is allowed. castwise has "
        f"no rule for {question.op.name}: cast its arrays to one dtype."
    )
    return Verdict(question.op.name, str(refusal), refusal)


_STRICT = "no implicit cast"  # the guard of a strict dialect
_FLOATING = ("float", "complex")


def judged(operation: Operation, dialect: Dialect) -> Verdict | None:
    """How a dialect decides an operation differently; None if it decides the same."""
    if operation.is_observed:
        return _mixed(operation) if _STRICT in dialect.joining.guards else None
    try:
        found = answer_to(next(questions_in(operation, dialect)))
    except UsageError:
        return None
    name = operation.question.op.name
    if found.result is None:
        refusal = found.refusal or PromotionError(
            f"{found.question} does not run in {dialect.name}: {found.why}."
        )
        return Verdict(name, str(refusal), refusal)
    expected = operation.decision
    if expected is None or expected.result is found.result:
        return None
    running = operation.question.dialect.name
    return Verdict(
        name, f"{found.question} is {found.result} in {dialect.name}, but {expected.result} in "
        f"{running}.",
    )  # fmt: skip
