"""`castwise diff`: every difference is found once, and the reasons are true."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from castwise.catalog import dialect_named
from castwise.comparing.diff import Diff, count, diff, weak_dtypes
from castwise.engine.ask import resolve
from castwise.errors import PromotionError, UsageError
from castwise.report.diff import (
    DIFF_FORMATS,
    diff_csv,
    diff_json,
    diff_markdown,
    diff_text,
    question_text,
)
from castwise.rules.rule import Joins, Rule, Weakness, Writes

# A dialect whose 64-bit arrays are 32 bits wide, and one with weak arrays.
NARROW = dialect_named("numpy").vary(
    mode="narrow",
    becomes=replace(
        dialect_named("numpy").becomes,
        truncates="int64 -> int32; float64 -> float32; complex128 -> complex64",
    ),
)
WEAK = dialect_named("numpy").vary(
    mode="weak",
    order="bool int* int8 int32 float* float16 float32 complex* complex64",
    reaches="bool -> int*; int* -> int8; int8 -> int32; int32 -> float*; float* -> float16"
    " complex*; float16 -> float32; float32 complex* -> complex64",
    joining=replace(
        dialect_named("numpy").joining, only_absorbed="", weak_arrays="keep their width"
    ),
    python={"bool": "bool", "int": "int32", "float": "float32", "complex": "complex64"},
    becomes=replace(dialect_named("numpy").becomes, accumulates=""),
    ops={
        "*": replace(
            dialect_named("numpy").ops["*"], scalars="as nodes", joins=Joins("common dtype")
        )
    },
)


@pytest.fixture(scope="module")
def add() -> Diff:
    return diff("numpy", "torch", op="add")


def test_a_dialect_does_not_differ_from_itself() -> None:
    same = diff("torch", "torch", op="pow")
    assert same.count == 0
    assert str(same) == (
        "torch and torch were asked 3,381 questions about pow and give the same answer to\n"
        "all of them."
    )


def answer(dialect: str, op: str, *operands: object, form: str = "operator") -> str:
    """The result, or "refused"."""
    try:
        return resolve(op, *operands, dialect=dialect, form=form).result.name
    except PromotionError:
        return "refused"


def questions(found: Diff) -> list[str]:
    return [question_text(found, d) for group in found.groups for d in group.differences]


def test_every_difference_is_one(add: Diff) -> None:
    assert len(questions(add)) == len(set(questions(add))) == add.count
    for group in add.groups:
        for (_, left, right, is_augmented), first, second in group.differences:
            form = "augmented" if is_augmented else "operator"
            answers = [
                answer(dialect, "add", left, right, form=form) for dialect in ("numpy", "torch")
            ]
            assert answers == [first.text, second.text]
            assert first.text != second.text


def test_no_difference_is_left_out(add: Diff) -> None:
    found = set(questions(add))
    dtypes = [d.name for d in add.first.dtypes if d in add.second.dtypes]
    for a in [f"{name}[3]" for name in dtypes]:
        for b in [f"{name}[]" for name in dtypes] + ["True", "1", "1.5", "1j"]:
            for written, form in ((f"{a} + {b}", "operator"), (f"{a} += {b}", "augmented")):
                answers = {answer(d, "add", a, b, form=form) for d in ("numpy", "torch")}
                assert (written in found) == (len(answers) == 2)


def test_as_much_is_asked_as_is_counted(add: Diff) -> None:
    assert add.asked == count(add.first, add.second, "add")


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
        ("add", "numpy does not write the result into x, int arrays"),
        ("heaviside", "torch refuses int with float arrays"),
    ],
)
def test_reasons(op: str, reason: str) -> None:
    assert reason in [group.reason for group in diff("numpy", "torch", op=op).groups]


@pytest.mark.parametrize(
    ("op", "section", "example"),
    [
        ("add", "Arrays", "int32[3] + float32[3]"),
        ("add", "0-d arrays", "int16[3] + int32[]"),
        ("add", "Python scalars", "int32[3] + 1.5"),
        ("add", "numpy refuses, torch answers", "int8[3] + 300"),
        ("add", "torch refuses, numpy answers", "int32[3] + uint32[3]"),
        ("add", "No kernel", "uint32[3] + int32[]"),
        ("mul", "numpy refuses, torch answers", "uint8[3] *= int32[3]"),
        ("div", "Division and other ops that compute in floats", "int32[3] / int32[3]"),
        ("sum", "Sums and products", "sum(uint8[3])"),
    ],
)
def test_sections(op: str, section: str, example: str) -> None:
    found = diff("numpy", "torch", op=op)
    inside = [d for group in found.sections[section] for d in group.differences]
    assert example in [question_text(found, d) for d in inside]
    assert sum(map(len, found.sections.values())) == len(found.groups)


def test_in_place_is_told_where_it_matters() -> None:
    rebinding = dialect_named("numpy").vary(
        mode="rebinds",
        ops={**dialect_named("numpy").ops, "*/inplace": Rule(writes=Writes(into="rebinds"))},
    )
    found = diff("numpy", rebinding, op="add")
    assert {group.section for group in found.groups} == {
        "`x += y`",
        "numpy refuses, numpy:rebinds answers",
    }
    reasons = [group.reason for group in found.sections["`x += y`"]]
    assert "int arrays: numpy keeps the dtype, numpy:rebinds takes the result's dtype" in reasons


def test_narrower_arrays_are_a_reason_of_their_own() -> None:
    found = diff("numpy", NARROW, op="add")
    (group,) = found.sections["Narrower arrays"]
    assert group.reason == "numpy:narrow holds some dtypes as narrower ones"
    assert "int64[3] + int64[3]" in [question_text(found, d) for d in group.differences]


def test_weak_arrays_are_asked_where_both_have_them() -> None:
    assert weak_dtypes(WEAK, dialect_named("numpy")) == []
    assert [d.name for d in weak_dtypes(WEAK, WEAK)] == ["int32", "float32", "complex64"]
    strong = WEAK.vary(
        mode="strong", ops={**WEAK.ops, "add": Rule(weakness=Weakness(makes_strong=True))}
    )
    found = diff(WEAK, strong, op="add")
    (group,) = found.groups
    assert (group.section, group.reason) == (
        "Weak results",
        "numpy:weak makes the result weak, numpy:strong does not",
    )
    assert "int32*[3] + int32*[3]" in questions(found)
    assert group.differences[0].first.text.endswith("*")


def test_a_weak_result_is_no_difference_where_one_has_no_weak_arrays() -> None:
    blind = WEAK.vary(mode="blind", joining=replace(WEAK.joining, weak_arrays="none"))
    assert diff(WEAK, blind, op="add").count == 0


def test_a_role_is_told_where_it_matters() -> None:
    reasons = {group.reason for group in diff("numpy@1", "numpy", op="add").groups}
    assert (
        "float array with 0-d float: numpy@1 takes the array's dtype,"
        " numpy takes the 0-d array's dtype" in reasons
    )
    assert not any(reason.startswith("float arrays:") for reason in reasons)


def test_the_text_is_grouped_and_fits(add: Diff) -> None:
    told = diff_text(add)
    assert told.startswith("numpy and torch were asked 1,875 questions about add and answer ")
    assert "\n         int32[3] + float32[3]   float64 | float32\n" in told
    assert all(len(line) <= 80 for line in told.splitlines())
    counts = [len(group.differences) for group in add.groups]
    assert counts == sorted(counts, reverse=True)


def test_dtypes_only_one_has_are_told_by_themselves(add: Diff) -> None:
    assert (
        "\n\nDtypes only one of them has\n"
        "         torch: float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz,\n"
        "         float8_e8m0fnu, complex32\n\n" in diff_text(add)
    )


def test_long_sections_are_cut_unless_all_is_wanted(add: Diff) -> None:
    longest = max(add.sections.values(), key=len)
    assert len(longest) > 6
    rest = sum(len(group.differences) for group in longest[6:])
    assert f"{rest:7,}  for {len(longest) - 6} more reasons; --cells lists them\n" in diff_text(add)
    whole = diff_text(add, shows_all=True)
    assert "more reason" not in whole
    assert all(f"         {question}   " in whole for question in questions(add))


def test_the_ops_are_told_where_there_are_several() -> None:
    found = diff("numpy", "torch", op="sum")
    assert str(replace(found, ops=("sum", "prod"))).endswith("\n         sum")
    assert not str(found).endswith("sum")


def test_the_json_lists_every_question(add: Diff) -> None:
    made = diff_json(add)
    float8 = "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu"
    assert made["only_second_has"] == [*float8.split(), "complex32"]
    assert made["differ"] == sum(len(group["cells"]) for group in made["groups"])
    cells = [cell for group in made["groups"] for cell in group["cells"]]
    assert {"question": "int8[3] + 300", "first": None, "second": "int8"} in cells


def test_csv_and_markdown_list_every_question(add: Diff) -> None:
    head, *rows = csv.reader(diff_csv(add).splitlines())
    assert head == ["section", "reason", "question", "numpy", "torch"]
    assert [row[2] for row in rows] == questions(add)
    lines = diff_markdown(add).splitlines()
    assert len(lines) == add.count + 2
    assert lines[0] == "| section | reason | question | numpy | torch |"


def test_every_format_ends_without_a_newline(add: Diff) -> None:
    for render in DIFF_FORMATS.values():
        written = render(add)
        assert isinstance(written, str)
        assert not written.endswith("\n")


def test_a_dialect_that_refuses_nearly_all_can_be_compared() -> None:
    strict = dialect_named("numpy").vary(
        mode="strict",
        reaches="",
        joining=replace(
            dialect_named("numpy").joining, only_absorbed="", alone="bool int float complex"
        ),
    )
    found = diff(strict, "numpy", op="add")
    assert "numpy:strict refuses int with float arrays" in [group.reason for group in found.groups]
    assert len(str(found).splitlines()) < 60


def test_two_releases_name_the_command_that_tells_the_rest() -> None:
    told = " ".join(str(diff("torch@2.15", "torch@2.8", op="clamp")).split())
    assert "`castwise history torch --since 2.8.0 --op clamp` also tells of kernels" in told
    assert "castwise history" not in str(diff("torch@2.8", "torch:cuda", op="neg"))


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(UsageError, match="Did you mean 'torch'"):
        diff("numpy", "torhc")


def test_an_op_that_is_recorded_of_one_alone_is_compared_only_where_it_is_named() -> None:
    found = diff("array-api", "tinygrad")
    of_first, of_second = found.recorded_of_one
    assert "hypot" in of_first
    assert "lerp" in of_second
    assert not {"hypot", "lerp", "huber_loss"} & set(found.ops)
    assert "huber_loss" not in (*of_first, *of_second)  # of neither
    title = "Ops recorded for only one of them, so not compared"
    assert title in str(found)
    assert diff_json(found)["recorded_of_second_only"] == list(of_second)
    named = diff("array-api", "tinygrad", op="lerp")
    assert named.ops == ("lerp",)
    assert title not in str(named)
