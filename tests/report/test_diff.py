"""`castwise diff`: every difference is found once, and the reasons are true."""

from __future__ import annotations

from dataclasses import replace

import pytest

from castwise.engine.ask import resolve
from castwise.errors import PromotionError, UsageError
from castwise.frameworks.catalog import dialect_named
from castwise.report.diff import Diff, diff
from castwise.report.diff_text import diff_json, diff_text
from castwise.report.difference import Difference, Pair, reason_of, told
from castwise.vocab.notation import parse_operand
from castwise.vocab.ops import op


@pytest.fixture(scope="module")
def add() -> Diff:
    return diff("numpy", "torch", op="add")


def test_a_dialect_does_not_differ_from_itself() -> None:
    same = diff("torch", "torch", op="pow")
    assert same.count == 0
    assert str(same) == (
        "torch and torch were asked 1,800 questions about pow and answer all of them\nalike."
    )


def test_every_difference_is_one(add: Diff) -> None:
    questions = [d.question for group in add.groups for d in group.differences]
    assert len(questions) == len(set(questions)) == add.count
    for group in add.groups:
        for difference in group.differences:
            answers = set()
            for dialect in ("numpy", "torch"):
                pair = difference.pair
                try:
                    decision = resolve("add", pair.left, pair.right, dialect=dialect)
                    answers.add(decision.result.name)
                except PromotionError:
                    answers.add("refused")
            assert len(answers) == 2, difference.question


def test_no_difference_is_left_out(add: Diff) -> None:
    found = {d.question for group in add.groups for d in group.differences}
    dtypes = [d.name for d in add.first.dtypes if d in add.second.dtypes]
    for a in dtypes:
        for b in [f"{name}[]" for name in dtypes] + ["True", "1", "1.5", "1j"]:
            results = []
            for dialect in ("numpy", "torch"):
                try:
                    results.append(resolve("add", f"{a}[3]", b, dialect=dialect).result.name)
                except PromotionError:
                    results.append("refused")
            assert (f"{a}[3] + {b}" in found) == (results[0] != results[1])


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ("add", "int with float arrays: numpy widens to float32 or float64, torch keeps the float"),
        ("add", "int array with Python float: numpy makes float64, torch makes float32"),
        ("add", "numpy refuses the value of a scalar"),
        ("add", "torch refuses some mixes of int arrays"),
        ("div", "int arrays: numpy makes float64, torch makes float32"),
        ("sub", "torch has no such op for bool"),
        ("sum", "int arrays: numpy widens to uint64, torch widens to int64"),
        ("sum", "int arrays: numpy keeps the dtype, torch turns to int64"),
    ],
)
def test_reasons(op: str, reason: str) -> None:
    assert reason in [group.reason for group in diff("numpy", "torch", op=op).groups]


def test_a_role_is_told_where_it_matters() -> None:
    reasons = {group.reason for group in diff("numpy@1", "numpy", op="add").groups}
    assert (
        "float array with 0-d float: numpy@1 takes the array's dtype,"
        " numpy takes the 0-d array's dtype" in reasons
    )
    assert not any(reason.startswith("float arrays:") for reason in reasons)


def test_the_text_is_grouped_and_fits(add: Diff) -> None:
    told = diff_text(add)
    assert told.startswith("numpy and torch were asked 1,320 questions about add and answer ")
    assert "\n         int32[3] + float32[3]   float64 | float32\n" in told
    assert all(len(line) <= 80 for line in told.splitlines())
    counts = [len(group.differences) for group in add.groups]
    assert counts == sorted(counts, reverse=True)


def test_the_ops_are_told_where_there_are_several() -> None:
    found = diff("numpy", "torch", op="sum")
    assert str(replace(found, ops=("sum", "prod"))).endswith("\n         sum")
    assert not str(found).endswith("sum")


def test_the_json_lists_every_question(add: Diff) -> None:
    made = diff_json(add)
    assert made["only_second_has"] == ["float8_e4m3fn", "float8_e5m2", "complex32"]
    assert made["differ"] == sum(len(group["cells"]) for group in made["groups"])
    cells = [cell for group in made["groups"] for cell in group["cells"]]
    assert {"question": "int8[3] + 300", "first": None, "second": "int8"} in cells


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(UsageError, match="Did you mean 'torch'"):
        diff("numpy", "torhc")


def test_a_weak_result_is_a_difference_of_its_own() -> None:
    numpy, torch = dialect_named("numpy"), dialect_named("torch")
    pair = Pair(op("add"), parse_operand("int8[3]"), parse_operand("1"))
    first = resolve("add", "int8[3]", 1, dialect=numpy)
    second = replace(resolve("add", "int8[3]", 1, dialect=torch), is_weak=True)
    assert (told(first), told(second)) == ("int8", "int8*")
    why = reason_of(Difference(pair, first, second), numpy, torch)
    assert why.situation == "torch makes the result weak, numpy does not"
