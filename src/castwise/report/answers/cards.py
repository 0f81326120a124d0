"""The answer to a question, in a notebook."""

from __future__ import annotations

from html import escape

from castwise.engine.decision import HAZARDS, Decision
from castwise.engine.explain import Explained
from castwise.report.answers.explanation import Explanation, explained, explained_decision
from castwise.report.look.card import card, dtype_html, hazards_html, items


def decision_card(decision: Decision) -> str:
    """What a decision says, and how it came about."""
    return _card(explained_decision(decision))


def explained_card(text: Explained) -> str:
    """What an explanation says."""
    return _card(explained(text.question))


def _card(found: Explanation) -> str:
    asked = f"<code>{escape(str(found.question))}</code>"
    where = f"in {escape(found.question.dialect.name)} is"
    steps = items(found.steps, "ol") if found.steps else ""
    if not isinstance(found.outcome, Decision):
        return card(f'{asked} {where} <span class="refused">refused</span>', steps)
    result = found.outcome.result
    shown = dtype_html(result, f"{result}{'*' * found.outcome.is_weak}")
    costs = [
        f"<p>{hazards_html([hazard])} {escape(HAZARDS[hazard])}</p>"
        for hazard in found.outcome.hazards
    ]
    return card(f"{asked} {where} {shown}", steps, *costs)
