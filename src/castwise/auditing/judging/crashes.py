"""Why a program ended with an error about dtypes, and what to write instead."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from castwise.auditing.finding.operations import Harmless, NotUnderstood, framework_of, understand
from castwise.auditing.fixing.applying import applies
from castwise.auditing.fixing.refusals import instead_of
from castwise.auditing.hook import find_hook
from castwise.auditing.judging.inside_findings import spot_text
from castwise.auditing.records.crashes import Crash, CrashedOperation
from castwise.auditing.records.events import SeenArray, SeenList, SeenOperand
from castwise.auditing.records.findings import Fix, Operation
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.records.seen import Seen
from castwise.auditing.rewriting.source import text_at
from castwise.engine.ask import answer
from castwise.errors import CastwiseError, PromotionError
from castwise.rules.catalog import dialect_named


@dataclass(frozen=True, slots=True)
class ExplainedCrash:
    """An error about dtypes that ended a program."""

    place: SourcePlace
    code: str
    error: str  # the framework's own words
    operation: str  # with the dtypes of its operands; "" if castwise could not see them
    why: str = ""  # the dialect's reason; "" if it has no rule for the operation
    dialect: str = ""
    advice: str = ""
    inside: str = ""  # the library's line that raised it
    fix: Fix | None = None
    result: str = ""  # what the fixed operation returns


def crashes_in(seen: Seen) -> tuple[ExplainedCrash, ...]:
    """The crashes that are about dtypes, explained."""
    found = [_explained(crash, seen) for crash in seen.crashes]
    return tuple(dict.fromkeys(crash for crash in found if crash is not None))


def _explained(crash: Crash, seen: Seen) -> ExplainedCrash | None:
    dialects = _in_force(crash, seen.facts.dialects)
    for crashed in crash.operations:
        operation = _operation(crashed, dialects)
        refusal = _refusal(operation) if operation else None
        if operation is not None and refusal is not None:
            return _refused(crash, crashed, operation, refusal)
    if not crash.is_about_dtypes:
        return None
    shown = [o for o in crash.operations if not (o.event.call and o.event.call.hides)]
    first = next(iter((*shown, *crash.operations)), None)
    return _plain(crash, _operation_text(first) if first else "")


def _in_force(crash: Crash, at_exit: dict[str, str]) -> dict[str, str]:
    """The dialects when the error was raised: a block that switched to a stricter one has ended
    since, but the message tells."""
    found = dict(at_exit)
    for framework, name in at_exit.items():
        hook = find_hook(framework)
        if hook and re.search(hook.inside.strict_error, crash.error):
            found[framework] = hook.inside.stricter.get(name, name)
    return found


def _operation(crashed: CrashedOperation, dialects: dict[str, str]) -> Operation | None:
    try:
        found = understand(crashed.event, crashed.located.site, dialects)
    except (Harmless, NotUnderstood):
        return None
    # Not in a mode that would accept it: the operation was refused.
    named = dialect_named(dialects[framework_of(crashed.event)])
    return replace(found, question=replace(found.question, dialect=named))


def _refusal(operation: Operation) -> tuple[str, str] | None:
    """Why a dialect refuses an operation, and its advice; None if it does not."""
    try:
        decision = answer(operation.question)
    except PromotionError as error:
        _, _, advice = str(error).partition(f"{error.why}. ")
        return error.why, advice
    except CastwiseError as error:
        return str(error), ""
    return None if decision.has_kernel else (" ".join(decision.notes).rstrip("."), "")


def _plain(crash: Crash, operation: str) -> ExplainedCrash:
    place = crash.spot.place
    inside = spot_text(crash.inside) if crash.inside else ""
    code = text_at(place) if place.end_column > 1 else ""
    return ExplainedCrash(place, code, crash.error, operation, inside=inside)


def _refused(
    crash: Crash, crashed: CrashedOperation, operation: Operation, refusal: tuple[str, str]
) -> ExplainedCrash:
    question, located = operation.question, crashed.located
    is_users = crashed.event.mark != 0
    place = located.place if is_users else crash.spot.place
    inside = "" if is_users else spot_text(crash.inside)
    fix, result = _fix(operation, crashed) if is_users else (None, "")
    why, advice = refusal
    return ExplainedCrash(
        place, text_at(place), crash.error, str(question), why, question.dialect.name,
        "" if fix else advice, inside, fix, result,
    )  # fmt: skip


def _fix(operation: Operation, crashed: CrashedOperation) -> tuple[Fix | None, str]:
    """The first way to write the operation that its dialect accepts."""
    hook = find_hook(framework_of(crashed.event))
    place = crashed.located.place
    if hook is None:
        return None, ""
    for text, question, does in instead_of(operation.question, crashed.located, hook):
        try:
            decision = answer(question)
        except CastwiseError:
            continue
        fix = Fix(place, text, does, decision.result, crashed.event.mark)
        if decision.has_kernel and applies([fix]):
            return fix, str(decision.result)
    return None, ""


def _operation_text(crashed: CrashedOperation) -> str:
    """An operation without a rule, with the dtypes of its operands."""
    event, symbol = crashed.event, crashed.located.site.name
    words = [_operand_text(operand) for operand in event.operands]
    if event.call is None:
        return f" {symbol} ".join(words) if len(words) > 1 else f"{symbol}{words[0]}"
    named = event.call.keywords
    free = len(words) - len(named)
    given = [*words[:free], *(f"{n}={w}" for n, w in zip(named, words[free:], strict=True))]
    return f"{event.call.name}({', '.join(given)})"


def _operand_text(operand: SeenOperand | None) -> str:
    if operand is None:
        return "..."
    if isinstance(operand, SeenList):
        return f"[{', '.join(map(_operand_text, operand.elements))}]"
    if isinstance(operand, SeenArray):
        shape = ",".join(map(str, operand.shape or ()))
        return f"{operand.dtype or 'an unknown dtype'}[{shape}]"
    return operand.kind if operand.low is None else str(operand.low)
