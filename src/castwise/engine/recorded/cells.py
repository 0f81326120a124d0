"""Cells as questions: an op, a form and operands as recordings write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from castwise.engine.decision import NOTHING, Named, Question
from castwise.rules.dialect import Dialect
from castwise.vocab.cell_words import given_by_name
from castwise.vocab.dtypes import dtype
from castwise.vocab.notation import parse_operand, parse_scalar
from castwise.vocab.ops import op

# The form of a question by that of its cell; others are those of a function.
_FORMS = {"operator": "operator", "inplace": "operator", "augmented": "augmented"}


def question_of_cell(name: str, form: str, operands: Sequence[str], dialect: Dialect) -> Question:
    """The question a cell asks the engine."""
    kind, given = form.partition("=")[0], given_by_name(form)
    return Question(
        op(name),
        tuple([parse_operand(operand) for operand in operands]),
        dialect,
        form=_FORMS.get(kind, "function"),
        inplace=kind == "inplace",
        out=dtype(given["out"]) if "out" in given else None,
        alpha=parse_scalar(given["alpha"]) if "alpha" in given else None,
        named=_named(given) if given.keys() - {"out", "alpha"} else NOTHING,
    )


def _named(given: dict[str, str]) -> Named:
    """What a cell's form gives by name, looked up."""
    readers: dict[str, Callable[[str], Any]] = {
        "dtype": dtype,
        "where": parse_operand,
        "initial": parse_operand,
        "value": parse_scalar,
        "delta": parse_scalar,
    }
    others = [(name, text) for name, text in given.items() if name not in ("out", "alpha")]
    return Named(**{name: readers.get(name, str)(text) for name, text in others})
