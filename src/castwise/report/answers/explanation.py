"""How a dialect arrives at a decision, in words: `castwise explain`."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from castwise.compare.outcome import Outcome, outcome_of
from castwise.engine.decide import steps_of
from castwise.engine.decision import HAZARDS, Decision, Question
from castwise.errors import PromotionError
from castwise.report.answers.as_json import decision_json, error_json
from castwise.report.terminal.colour import Paint, plain

_REFUSED = "Refused: "  # the start of the step that gives the reason; advice may follow it


@dataclass(frozen=True, slots=True)
class Explanation:
    """A question, the steps to its answer, and the decision or the refusal they end in."""

    question: Question
    steps: tuple[str, ...]
    outcome: Outcome

    @property
    def is_refused(self) -> bool:
        return isinstance(self.outcome, PromotionError)

    def __str__(self) -> str:
        return explanation_text(self)


def explained(question: Question) -> Explanation:
    """The explanation of a question.

    Raises UsageError if the question makes no sense.
    """
    return Explanation(question, tuple(steps_of(question)), outcome_of(question))


def explained_decision(decision: Decision) -> Explanation:
    """The explanation of a decision; one that was saved or observed has no steps."""
    return Explanation(decision.question, decision.steps, decision)


def decision_text(decision: Decision) -> str:
    """A decision as its explanation."""
    return str(explained_decision(decision))


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """The answer as `castwise resolve` gives it, with the question and the steps."""
    outcome = explanation.outcome
    answer = decision_json(outcome) if isinstance(outcome, Decision) else error_json(outcome)
    return {
        "question": str(explanation.question),
        "dialect": explanation.question.dialect.name,
        **answer,
        "steps": list(explanation.steps),
    }


def explanation_text(explanation: Explanation, paint: Paint = plain, width: int = 80) -> str:
    """The answer on the first line, then the steps, then what the casts may cost."""
    lines = [_headline(explanation, paint), *[""] * bool(explanation.steps)]
    for number, step in enumerate(explanation.steps, 1):
        is_reason = step.startswith(_REFUSED)
        folded = textwrap.wrap(step, width - 5, break_long_words=False, break_on_hyphens=False)
        for place, line in enumerate(folded):
            start = f"{number:3}. " if place == 0 else " " * 5
            lines.append(start + (paint(line, "refused") if is_reason else line))
    if isinstance(explanation.outcome, Decision) and explanation.outcome.hazards:
        longest = max(map(len, explanation.outcome.hazards))
        lines += ["", "What the casts may cost:"]
        for hazard in explanation.outcome.hazards:
            lines.append(f"  {paint(hazard.ljust(longest), 'hazard')}  {HAZARDS[hazard]}")
    return "\n".join(lines)


def _headline(explanation: Explanation, paint: Paint) -> str:
    question, outcome = explanation.question, explanation.outcome
    asked = paint(str(question), "title")
    if isinstance(outcome, PromotionError):
        return f"{asked} in {question.dialect.name} is {paint('refused', 'refused')}"
    result = paint(f"{outcome.result}{'*' if outcome.is_weak else ''}", outcome.result.kind)
    return f"{asked} in {question.dialect.name} is {result}"
