"""No data in a dialect is dead: without any one edge or rule, some recorded cell changes."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from castwise.conformance.recorder import Cell, read_cells, read_header
from castwise.engine.composed import composition
from castwise.engine.decide import decide
from castwise.engine.decision import Question, Refusal
from castwise.engine.forms import rebinds
from castwise.engine.plan import plan_of
from castwise.report.verify import question_for
from castwise.rules.catalog import dialect_named
from castwise.rules.dialect import Dialect
from castwise.rules.dialect_data import parse_edges
from castwise.rules.parts import Arrays
from castwise.rules.rule import Rule, combined, given_fields, without

CELLS = Path(__file__).parents[2] / "conformance" / "cells"
FILES = {
    header["dialect"]: path
    for path in sorted(CELLS.glob("*.tsv.gz"))
    if "=" not in (header := read_header(path))["dialect"]  # an option changes no rule
}
WORDS = ("because",)  # told to a person, decides nothing
# Fields of a framework's dialects of which no cell speaks, and what does.
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


@functools.lru_cache(maxsize=1)  # a dialect is asked about in one test
def cells_by_op(name: str) -> dict[str, list[Cell]]:
    """The recorded cells of a dialect by op, shuffled so that a change is met early."""
    _, cells = read_cells(FILES[name])
    random.Random(0).shuffle(cells)
    by_op: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.op != "can_cast":
            by_op.setdefault(cell.op, []).append(cell)
    return by_op


def answered(cell: Cell, dialect: Dialect) -> object:
    question = question_for(cell, dialect)
    try:
        decision = decide(question)
    except Refusal as refusal:
        return "!", refusal.by_value
    has_notes, is_new = bool(decision.notes), rebinds(question)
    steps = steps_that_show(question)
    return decision.result, decision.compute, decision.is_weak, has_notes, is_new, steps


def steps_that_show(question: Question) -> str:
    """The steps of an op that are seen in its values, though they may change no dtype."""
    if question.op.name not in question.dialect.values.stepwise.split():
        return ""
    plan = plan_of(question.op, question.dialect, question.form)
    composed = composition(plan, question.operands)
    return composed.program if composed else ""


def changes_an_answer(varied: Dialect, original: Dialect, ops: list[str]) -> bool:
    by_op = cells_by_op(original.name)
    asked = ops if ops else list(by_op)
    longest = max((len(by_op.get(op, ())) for op in asked), default=0)
    for place in range(longest):
        for op in asked:
            cells = by_op.get(op, [])
            if place < len(cells) and answered(cells[place], varied) != answered(
                cells[place], original
            ):
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
        for edge, rest in without_one_edge(rule.arrays.reaches or "", dialect):
            less = {**dialect.ops, names: combined(rule, Rule(arrays=Arrays(reaches=rest)))}
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
    """Whether a parent has the same rule, where it is tested."""
    parent = dialect_named(dialect.framework)
    return parent is not dialect and parent.ops.get(names) is rule


def renamed(dialect: Dialect, names: str, word: str) -> dict[str, Rule]:
    """The rules with one word less in one key, each in its place."""
    less = " ".join(other for other in names.split() if other != word)
    return {less if key == names else key: rule for key, rule in dialect.ops.items()}


@pytest.mark.parametrize("name", FILES)
def test_each_edge_and_rule_changes_some_recorded_cell(name: str) -> None:
    dialect = dialect_named(name)
    dead = [
        what
        for what, varied, ops in [*without_each_edge(dialect), *without_each_rule(dialect)]
        if not changes_an_answer(varied, dialect, ops)
    ]
    assert dead == []
