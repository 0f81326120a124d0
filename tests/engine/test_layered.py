"""Recorded answers count for more than the rules, and the rest is as the rules say."""

from __future__ import annotations

import pytest

import castwise as cw
import cells
from castwise.catalog import (
    dialect_named,
    layer_cells,
    layer_lines,
    layers,
    without_layers,
)
from castwise.comparing.verify import agrees, answer_for
from castwise.conformance.recorder import Cell

NAMES = list(layers())
ENOUGH = 150  # cells of a layer that are asked about, evenly spread; all with --all-cells


@pytest.mark.parametrize("name", NAMES)
def test_a_layer_answers_as_recorded(name: str) -> None:
    dialect = dialect_named(name)
    lines = [cell for op in layer_lines(name) for cell in layer_cells(name, op)]
    assert len(lines) == layers()[name].cells
    step = 1 if cells.takes_all else max(1, len(lines) // ENOUGH)
    asked = [Cell(c.op, c.form, tuple(c.operands.split(";")), c.answer) for c in lines[::step]]
    wrong = [(cell, answer_for(cell, dialect)) for cell in asked if not agrees(cell, dialect)]
    cells.fail_where_different(name, wrong)


def test_what_is_not_recorded_is_as_below() -> None:
    one, other = cw.dialect("numpy@2.2"), cw.dialect("numpy")
    for text in ("int8[3] + 1.5", "float32[3] * float64[]", "uint8[3] + 300", "sum(int8[3])"):
        answers = []
        for dialect in (one, other):
            try:
                answers.append(str(cw.explain(text, dialect=dialect)).partition("\n")[2])
            except cw.PromotionError as error:
                answers.append(str(error).partition(":")[2])
        assert answers[0] == answers[1]


def test_a_recorded_answer_says_where_it_is_from() -> None:
    found = cw.resolve("where", "bool[3]", "int8[3]", 7, dialect="numpy@2.5")
    assert found.result == "int8"
    with pytest.raises(cw.ScalarRangeError, match=r"numpy 2.5.4 refuses it, as recorded"):
        cw.resolve("where", "bool[3]", "int8[3]", 300, dialect="numpy@2.5")
    text = str(cw.explain("float16[3] ** 2", dialect="torch:cuda,autocast=float16"))
    assert (
        "Recorded from torch 2.11.0 on CUDA: float32. In torch:autocast=float16: float16." in text
    )


def test_a_question_in_place_finds_what_was_recorded_in_place() -> None:
    for op in ("bitwise_xor", "bitwise_right_shift"):
        found = cw.resolve(op, "uint16[3]", "int32[3]", inplace=True, dialect="torch:compiled")
        assert found.result == "uint16"
        with pytest.raises(cw.PromotionError):
            cw.resolve(op, "uint16[3]", "int32[3]", inplace=True, dialect="torch")
    # An op without an operator is asked as a function.
    asked = cw.resolve("ldexp", "int32[3]", "float32[3]", inplace=True, dialect="torch:compiled")
    assert asked.result == "int32"


def test_numbers_that_the_rules_treat_alike_have_one_recorded_answer() -> None:
    for number in (2, 5, 77):
        assert (
            cw.resolve("**", "float16[3]", number, dialect="torch:cuda,autocast=float16").result
            == "float32"
        )


@pytest.mark.parametrize(
    ("op", "operands", "hazards"),
    [
        ("clamp", ("uint8[3]", 0, 1.5), ((), (), ("changes-kind",))),
        ("clamp", ("uint8[3]", 0, 7), ((), (), ())),
        ("<<", ("int8[3]", 1.5), ((), ("changes-kind",))),
    ],
)
def test_a_number_that_the_recorded_dtype_does_not_hold_is_told(
    op: str, operands: tuple[object, ...], hazards: tuple[tuple[str, ...], ...]
) -> None:
    decision = cw.resolve(op, *operands, dialect="torch@1.11")
    assert tuple([cast.hazards if cast else () for cast in decision.casts]) == hazards


def test_a_comparison_that_the_rules_refuse_computes_in_what_a_sum_has() -> None:
    found = cw.resolve("lt", "int32[3]", "float32[3]", dialect="paddle@2.6")
    assert (found.result, found.compute) == ("bool", "int32")
    assert [cast.target if cast else None for cast in found.casts] == [None, "int32"]
    not_added = cw.resolve("isnan", "complex64[3]", dialect="torch:meta")
    assert (not_added.result, not_added.compute, not_added.casts) == ("bool", "complex64", (None,))
    one = cw.asarray([1, 3], dtype="int32", dialect="paddle@2.6")
    other = cw.asarray([2.5, 2.5], dtype="float32", dialect="paddle@2.6")
    assert (one < other).tolist() == [True, False]


def test_arguments_by_name_make_a_function_of_an_operator() -> None:
    found = cw.resolve("eq", "int32[3]", "int32[3]", dtype="int32", dialect="numpy@1.23")
    assert (found.result, found.compute, found.casts) == ("bool", "int32", (None, None))
    plain = cw.resolve("eq", "int32[3]", "int32[3]", dtype=None, dialect="numpy@1.23")
    assert plain.question.form == "operator"


def test_a_missing_kernel_is_that_of_the_device() -> None:
    on_cpu, on_gpu = (cw.resolve("*", "uint16[3]", 2, dialect=d) for d in ("torch", "torch:cuda"))
    assert (on_cpu.has_kernel, on_gpu.has_kernel) == (True, False)
    assert on_gpu.notes == ("mul has no kernel for it, as recorded.",)


def test_a_dtype_that_a_release_lacks_is_refused() -> None:
    assert "bfloat16" not in [d.name for d in cw.dialect("numpy:cupy").dtypes]
    with pytest.raises(cw.PromotionError, match=r"CuPy 14.2.0 has no dtype bfloat16"):
        cw.resolve("add", "bfloat16[3]", 1, dialect="numpy:cupy")


@pytest.mark.parametrize(
    ("name", "expected"), [("torch", False), ("torch@2.14", True), ("torch@2.15", True)]
)
def test_a_dtype_that_a_release_added_is_listed(name: str, expected: bool) -> None:
    assert ("bcomplex32" in [d.name for d in cw.dialect(name).dtypes]) is expected
    assert ("bc32" in str(cw.table("result_type", dialect=name))) is expected


def test_an_op_that_a_release_lacks_is_told() -> None:
    said = "array-api@2022.12 has no maximum: this follows from the rules of other releases."
    assert said in cw.explain("maximum", "int8[3]", "int8[3]", dialect="array-api@2022.12")
    assert "has no" not in cw.explain("add", "int8[3]", "int8[3]", dialect="array-api@2022.12")


def test_versions_of_a_standard_are_layers() -> None:
    sums = {
        version: str(cw.resolve("sum", "float32[3]", dialect=f"array-api@{version}").result)
        for version in ("2022.12", "2023.12", "2024.12", "2025.12")
    }
    assert sums == {"2022.12": "float64"} | dict.fromkeys(
        ("2023.12", "2024.12", "2025.12"), "float32"
    )
    with pytest.raises(cw.PromotionError, match=r"standard 2023.12 refuses it, as recorded"):
        cw.resolve("add", "int8[3]", 1, dialect="array-api@2023.12", form="function")
    assert cw.resolve("+", "int8[3]", 1, dialect="array-api@2023.12").result == "int8"
    newer = cw.resolve("add", "int8[3]", 1, dialect="array-api@2024.12", form="function")
    assert newer.result == "int8"


def test_guards_hold_for_recorded_answers() -> None:
    with pytest.raises(cw.PromotionError):
        cw.resolve(
            "**", "float16[3]", "float16[3]", dialect="torch:cuda,autocast=float16:strict=True"
        )


def test_a_variation_that_changes_answers_is_refused() -> None:
    with pytest.raises(cw.UsageError, match="is recorded as it is, without default_float"):
        cw.dialect("torch:cuda").vary(default_float="float64")


def test_the_rules_below_have_no_layers() -> None:
    assert without_layers(cw.dialect("torch:cuda")).evidence.layers == ()
    assert without_layers(cw.dialect("torch:cuda")).name == "torch:cuda"


def test_layers_stand_on_what_is_there_before() -> None:
    known = set(cw.dialects())
    for layer in layers().values():
        assert layer.below in known
        known.add(layer.name)
