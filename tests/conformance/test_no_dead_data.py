"""No data in a dialect is dead: without any one edge or rule, some recorded cell changes."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

import cells
from castwise.catalog import dialect_named
from castwise.conformance.recorder import Cell
from castwise.engine.decide import composition, decide
from castwise.engine.decision import Question, Refusal
from castwise.engine.plan import op_plan
from castwise.engine.recorded import cell_question
from castwise.engine.writes import rebinds
from castwise.rules.dialect import Dialect, parse_edges
from castwise.rules.rule import Joins, Rule, combined, given_fields, without
from cells import Group, Recorded

WORDS = ("because",)  # only shown to people, decides nothing
# Fields of a framework's dialects that no cell is about, and what covers them.
_NOT_EQUAL = "x == [1, 2] is False, which is no dtype to record; tests/engine/test_lists.py says it"
UNRECORDED = {
    "torch": {"numbers.lists": _NOT_EQUAL},
    "mlx": {"numbers.lists": _NOT_EQUAL},
    "mindspore": {"numbers.lists": _NOT_EQUAL},
    "paddle": {
        "numbers.places": "add was recorded when 'must be Tensor, but got int' was no answer, and"
        " matmul, the losses and the like are asked with tensors alone; the source says it",
    },
}


SHARE = 41  # one edge or rule in so many is left out, without --all-cells
PRIME = 1_000_003


class Answers:
    """What a dialect answers to its recorded cells: of each op the first, the one far from it..."""

    def __init__(self, file: Recorded, dialect: Dialect) -> None:
        self.dialect = dialect
        self._groups: dict[str, list[Group]] = {}
        for group in file.groups:
            if group.op != "can_cast":
                self._groups.setdefault(group.op, []).append(group)
        self.counts = {op: sum(len(g.lines) for g in gs) for op, gs in self._groups.items()}

    @functools.cache  # noqa: B019  (as long-lived as the test)
    def at(self, op: str, place: int) -> tuple[Cell, object]:
        """A cell and its answer. Neighbours in a file are alike, so places are far apart, and a
        change is met early."""
        number = place * PRIME % self.counts[op]
        for group in self._groups[op]:
            if number < len(group.lines):
                (cell,) = group.cells(len(group.lines), number)
                return cell, answered(cell, self.dialect)
            number -= len(group.lines)
        raise IndexError(place)


def answered(cell: Cell, dialect: Dialect) -> object:
    question = cell_question(cell.op, cell.form, cell.operands, dialect)
    try:
        decision = decide(question)
    except Refusal as refusal:
        return "!", refusal.by_value
    has_notes, is_new = bool(decision.notes), rebinds(question)
    steps = steps_that_show(question)
    told = (decision.is_weak, decision.hazards, has_notes, is_new, steps)
    return decision.result, decision.compute, *told


def steps_that_show(question: Question) -> str:
    """The steps of an op that are seen in its values, though they may change no dtype."""
    if question.op.name not in question.dialect.values.arithmetic.stepwise.split():
        return ""
    plan = op_plan(question.op, question.dialect, question.form)
    composed = composition(plan, question.operands)
    return composed.program if composed else ""


def changes_an_answer(varied: Dialect, answers: Answers, ops: list[str]) -> bool:
    asked = {op: answers.counts.get(op, 0) for op in ops} if ops else answers.counts
    for place in range(max(asked.values(), default=0)):
        for op, count in asked.items():
            if place < count:
                cell, answer = answers.at(op, place)
                if answered(cell, varied) != answer:
                    return True
    return False


def without_one_edge(reaches: str, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Each edge of a text, and the text without it."""
    edges = [
        (f"{source} {'->' if goes_on else '=>'} {target}")
        for source, target, goes_on in parse_edges(reaches, dialect.dtypes)
    ]
    for edge in edges:
        yield edge, "\n".join(other for other in edges if other != edge)


def without_each_edge(dialect: Dialect) -> Iterator[tuple[str, Dialect, list[str]]]:
    for edge, rest in without_one_edge(dialect.reaches, dialect):
        yield edge, dialect.vary(reaches=rest), ["result_type", "add", "atan2", "where", "matmul"]
    for names, rule in dialect.ops.items():
        for edge, rest in without_one_edge(rule.joins.reaches or "", dialect):
            less = {**dialect.ops, names: combined(rule, Rule(joins=Joins(reaches=rest)))}
            ops = [word.partition("/")[0] for word in names.split()]
            yield f"{names}: {edge}", dialect.vary(ops=less), ops


def without_each_rule(dialect: Dialect) -> Iterator[tuple[str, Dialect, list[str]]]:
    for names, rule in dialect.ops.items():
        if is_inherited(dialect, names, rule):
            continue
        ops = [word.partition("/")[0] for word in names.split()]
        unrecorded = UNRECORDED.get(dialect.framework, {})
        recorded = [field for field in given_fields(rule) if field not in (*unrecorded, *WORDS)]
        if not recorded:
            continue
        for field in recorded:
            less = {**dialect.ops, names: without(rule, field)}
            asked = [] if "*" in ops else ops
            yield f"{names}: {field}", dialect.vary(ops=less), asked
        for word, op in zip(names.split(), ops, strict=True):
            if len(ops) > 1:
                less = renamed(dialect, names, word)
                yield f"{names}: {word}", dialect.vary(ops=less), [] if op == "*" else [op]


def is_inherited(dialect: Dialect, names: str, rule: Rule) -> bool:
    """Whether a parent has the same rule, and tests it."""
    parent = dialect_named(dialect.framework)
    return parent is not dialect and parent.ops.get(names) is rule


def renamed(dialect: Dialect, names: str, word: str) -> dict[str, Rule]:
    """The rules with one word less in one key, each in its place."""
    less = " ".join(other for other in names.split() if other != word)
    return {less if key == names else key: rule for key, rule in dialect.ops.items()}


def test_each_edge_and_rule_changes_some_recorded_cell(cell_file: Recorded) -> None:
    if "=" in cell_file.dialect:
        pytest.skip("an option changes no rule")
    dialect = dialect_named(cell_file.dialect)
    answers = Answers(cell_file, dialect)
    varied = [*without_each_edge(dialect), *without_each_rule(dialect)]
    dead = [
        what
        for what, less, ops in varied[:: 1 if cells.takes_all else SHARE]
        if not changes_an_answer(less, answers, ops)
    ]
    assert dead == []
