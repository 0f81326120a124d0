"""The answer to a question, in a notebook."""

from __future__ import annotations

from html import escape

from castwise.engine.decision import HAZARDS, Decision
from castwise.engine.explaining.explain import Explained, part_head, part_steps, place_of
from castwise.engine.explaining.parts import Taken
from castwise.report.answers.explanation import (
    Explanation,
    explained,
    explained_decision,
    hazards_of,
)
from castwise.report.look.card import card, dtype_html, hazards_html, items


def decision_card(decision: Decision) -> str:
    """What a decision says, and how it came about."""
    return _card(explained_decision(decision))


def explained_card(text: Explained) -> str:
    """What an explanation says."""
    return _card(explained(text.taken))


def _card(found: Explanation) -> str:
    costs = [
        f"<p>{hazards_html([hazard])} {escape(HAZARDS[hazard])}</p>"
        for hazard in hazards_of(found.taken)
        if isinstance(found.outcome, Decision)
    ]
    return card(_head(found), *(_steps(found.taken) if found.has_steps else ()), *costs)


def _head(found: Explanation) -> str:
    """The expression, and what becomes of it."""
    taken, outcome = found.taken, found.outcome
    asked = f"<code>{escape(taken.text)}</code> in {escape(taken.dialect.name)}"
    if not isinstance(outcome, Decision):
        return f'{asked} is <span class="refused">refused</span>{place_of(taken)}'
    shown = dtype_html(outcome.result, f"{outcome.result}{'*' * outcome.is_weak}")
    if outcome.has_kernel:
        return f"{asked} is {shown}"
    fails = f'<span class="refused">fails to run</span>{place_of(taken)}'
    return f"{asked} {fails}: it promotes to {shown}, then has no kernel"


def _steps(taken: Taken) -> list[str]:
    """The steps of each part, under its head if there are several."""
    shown = []
    for number, part in enumerate(taken.parts, 1):
        if taken.is_nested:
            shown.append(f"<p>{escape(part_head(number, part, taken.dialect))}</p>")
        shown.append(items(part_steps(part), "ol"))
    return shown
