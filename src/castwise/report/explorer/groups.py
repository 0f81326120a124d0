"""Which ops a dialect treats alike: their tables are the same, so that one is asked and stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from castwise.engine.decision import Question
from castwise.engine.plan import plan_of
from castwise.rules.catalog import dialect_named
from castwise.rules.dialect import Dialect, rule_for
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand
from castwise.vocab.ops import OPS, Op

FORMS = ("operator", "function", "augmented", "inplace")
# Where the op's name and symbol stand in a sentence. No framework's text has these letters.
OP_NAME, OP_SYMBOL = "\ue010", "\ue011"
# What the engine reads of an op's row besides its name: all but what only other parts look at.
_UNREAD = ("name", "symbol", "ulps", "meaning", "compute", "family", "call")
_READ = tuple([field.name for field in dataclasses.fields(Op) if field.name not in _UNREAD])
_READ_FAMILIES = ("layers", "questions")


class Asked(NamedTuple):
    """An op in a form."""

    op: Op
    form: str

    def question(self, dialect: Dialect, operands: tuple[Operand, ...]) -> Question:
        is_in_place = self.form == "inplace"
        form = "function" if is_in_place else self.form
        return Question(self.op, operands, dialect, form, is_in_place)


def every_asked() -> list[Asked]:
    """Every op in every form it has."""
    return [Asked(op, form) for op in OPS.values() for form in forms_of(op)]


def forms_of(op: Op) -> list[str]:
    """The forms of an op, the usual one first."""
    forms = ["operator", "function"] if op.symbol else ["function"]
    return [*forms, "augmented", "inplace"] if op.augments else forms


def forms_behind(form: str) -> tuple[str, ...]:
    """The forms whose rules decide about a form: `x += y` may be `x = x + y`, or write into x."""
    return ("augmented", "rebinding", "operator", "inplace") if form == "augmented" else (form,)


def alike(dialect: Dialect, asked: Iterable[Asked]) -> list[list[Asked]]:
    """Ops in forms, in groups that the dialect gives the same answers to."""
    groups: dict[Hashable, list[Asked]] = {}
    for one in asked:
        groups.setdefault(_rules_of(dialect, one), []).append(one)
    return list(groups.values())


def _rules_of(dialect: Dialect, asked: Asked) -> Hashable:
    """All that the answers of an op can depend on."""
    op, form = asked
    read = [repr(getattr(op, name)) for name in _READ]
    family = op.family if op.family in _READ_FAMILIES else ""
    rules = tuple([_rule_of(dialect, op, one) for one in forms_behind(form)])
    # A function and an operator with the same rules differ in nothing, unless a sentence quotes
    # the question that another dialect is asked.
    is_quoted = any(rule.asks for rule in rules)
    shown_form = form if is_quoted or form in ("augmented", "inplace") else ""
    return shown_form, tuple(read), family, op.name in dialect.unrecorded, rules


class _OpRule(NamedTuple):
    """What a dialect does for an op in a form, and the rules of the dialects it asks instead."""

    text: str
    no_kernel: frozenset[DType]
    name: str
    asks: tuple[Hashable, ...]


def _rule_of(dialect: Dialect, op: Op, form: str) -> _OpRule:
    rule = rule_for(dialect, op, form)
    plan = plan_of(op, dialect, form)
    # The steps of a composition are other questions, which may name the op itself.
    name = op.name if rule.composes else ""
    others = {rule.borrows, plan.numpy.decider, plan.numpy.left_decider}
    asks = [
        _rule_of(dialect_named(other), op, one)
        for other in sorted(filter(None, others))
        for one in ("function", "operator")
    ]
    return _OpRule(repr(rule), plan.loops.no_kernel, name, tuple(asks))


class _Said(str):
    """A name that stands in sentences as a mark, and is itself everywhere else."""

    __slots__ = ("mark",)

    mark: str

    def __new__(cls, text: str, mark: str) -> _Said:
        made = super().__new__(cls, text)
        made.mark = mark
        return made

    def __format__(self, spec: str) -> str:
        return self.mark


def marked(op: Op) -> Op:
    """The same op, which sentences name by marks."""
    symbol = _Said(op.symbol, OP_SYMBOL) if op.symbol else None
    return dataclasses.replace(op, name=_Said(op.name, OP_NAME), symbol=symbol)
