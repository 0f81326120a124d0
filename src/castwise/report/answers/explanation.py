"""How a dialect arrives at a decision, in words: `castwise explain`."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from castwise.compare.outcome import Outcome, outcome_of
from castwise.engine.decision import HAZARDS, Decision, Question
from castwise.engine.explaining.explain import part_head, part_steps, place_of
from castwise.engine.explaining.parts import Part, Taken, of_question
from castwise.errors import PromotionError
from castwise.report.answers.as_json import decision_json, error_json
from castwise.report.terminal.colour import Paint, plain

_REFUSED = "Refused: "  # the start of the step that gives the reason; advice may follow it


@dataclass(frozen=True, slots=True)
class Explanation:
    """An expression, the steps to its answer, and the decision or the refusal they end in."""

    taken: Taken
    outcome: Outcome  # of the last part
    has_steps: bool = True

    @property
    def question(self) -> Question:
        return self.taken.last

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the last part, which gives the answer or fails."""
        return tuple(part_steps(self.taken.parts[-1])) if self.has_steps else ()

    @property
    def is_refused(self) -> bool:
        return isinstance(self.outcome, PromotionError)

    @property
    def is_run(self) -> bool:
        """Whether the framework runs it: it is not refused, and there is a kernel."""
        return isinstance(self.outcome, Decision) and self.outcome.has_kernel

    def __str__(self) -> str:
        return explanation_text(self)


def explained(asked: Question | Taken) -> Explanation:
    """The explanation of a question, or of an expression of several.

    Raises UsageError if the question makes no sense.
    """
    taken = of_question(asked) if isinstance(asked, Question) else asked
    return Explanation(taken, outcome_of(taken.last))


def explained_decision(decision: Decision) -> Explanation:
    """The explanation of a decision; one that was saved or observed has no steps."""
    return Explanation(of_question(decision.question), decision, decision.tell is not None)


def decision_text(decision: Decision) -> str:
    """A decision as its explanation."""
    return str(explained_decision(decision))


def explanation_json(explanation: Explanation, note: str = "") -> dict[str, Any]:
    """The answer as `castwise resolve` gives it, with the question and the steps. Where there are
    inner ops, `inner` has the answers to them, and `failed` the one that fails, if one does. `note`
    is about the dialect."""
    taken = explanation.taken
    answer = _answer(explanation.outcome)
    if note and "notes" in answer:
        answer["notes"] = [*answer["notes"], note]
    inner = {"inner": [_part_json(part) for part in taken.parts[:-1]]} if taken.is_nested else {}
    if not taken.is_whole:  # a result of the failed part is not that of the whole
        answer = {"failed": taken.parts[-1].text, **_only(answer, "error", "notes")}
    return {
        "question": taken.text,
        "dialect": taken.dialect.name,
        **inner,
        **answer,
        "steps": list(explanation.steps),
    }


def _only(answer: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: answer[name] for name in names if name in answer}


def _answer(outcome: Outcome) -> dict[str, Any]:
    return decision_json(outcome) if isinstance(outcome, Decision) else error_json(outcome)


def _part_json(part: Part) -> dict[str, Any]:
    """An inner op: its answer, and the operand that its result is."""
    answer = _answer(outcome_of(part.question)) if part.question else {}
    return {
        "question": part.text,
        **answer,
        "operand": str(part.result),
        "steps": part_steps(part),
    }


def explanation_text(explanation: Explanation, paint: Paint = plain, width: int = 80) -> str:
    """The answer on the first line, then the steps, then what the casts may cost."""
    taken = explanation.taken
    lines = [_headline(explanation, paint)]
    for number, part in enumerate(taken.parts if explanation.has_steps else (), 1):
        if taken.is_nested:
            lines += ["", part_head(number, part, taken.dialect)]
        lines += ["", *_numbered(part_steps(part), paint, width)]
    hazards = hazards_of(taken)
    if hazards and isinstance(explanation.outcome, Decision):
        longest = max(map(len, hazards))
        lines += ["", "What the casts may cost:"]
        for hazard in hazards:
            lines.append(f"  {paint(hazard.ljust(longest), 'hazard')}  {HAZARDS[hazard]}")
    return "\n".join(lines)


def _numbered(steps: list[str], paint: Paint, width: int) -> list[str]:
    lines = []
    for number, step in enumerate(steps, 1):
        is_reason = step.startswith(_REFUSED)
        folded = textwrap.wrap(step, width - 5, break_long_words=False, break_on_hyphens=False)
        for place, line in enumerate(folded):
            start = f"{number:3}. " if place == 0 else " " * 5
            lines.append(start + (paint(line, "refused") if is_reason else line))
    return lines


def hazards_of(taken: Taken) -> list[str]:
    """The hazards of all parts, each once."""
    outcomes = [outcome_of(part.question) for part in taken.parts if part.question]
    found = {h for outcome in outcomes if isinstance(outcome, Decision) for h in outcome.hazards}
    return [hazard for hazard in HAZARDS if hazard in found]


def _headline(explanation: Explanation, paint: Paint) -> str:
    taken, outcome = explanation.taken, explanation.outcome
    asked = f"{paint(taken.text, 'title')} in {taken.dialect.name}"
    if isinstance(outcome, PromotionError):
        return f"{asked} is {paint('refused', 'refused')}{place_of(taken)}"
    result = paint(f"{outcome.result}{'*' if outcome.is_weak else ''}", outcome.result.kind)
    if not outcome.has_kernel:
        fails = paint("fails to run", "refused")
        return f"{asked} {fails}{place_of(taken)}: it promotes to {result}, then has no kernel"
    return f"{asked} is {result}"
