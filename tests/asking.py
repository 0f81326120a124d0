"""How the tests of dialects ask: an expression in notation, answered in a word."""

from __future__ import annotations

import castwise as cw
from castwise.engine.ask import answer, question_in


def result(expression: str, dialect: str) -> str:
    """The result dtype's name; "!" for a refusal, "!range" if a scalar's value is the reason."""
    try:
        return answer(question_in(expression, dialect)).result.name
    except cw.ScalarRangeError:
        return "!range"
    except cw.PromotionError:
        return "!"


def run(expression: str, dialect: str) -> str:
    """As `result`, but what is promoted and then has no kernel is refused too."""
    try:
        notes = answer(question_in(expression, dialect)).notes
    except cw.PromotionError:
        return "!"
    return "!" if notes else result(expression, dialect)
