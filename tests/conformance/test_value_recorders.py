"""The recorders of values: their notation, their grid, and a few answers everybody knows."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from castwise.conformance.questions import GridQuestion
from castwise.conformance.recorder import ValueRecorder
from castwise.conformance.recorders import find_value_recorder, valued_frameworks
from castwise.conformance.values import (
    DTYPES,
    OPS,
    Held,
    edges,
    ordinary,
    paired,
    read_held,
    single,
    value_questions,
    vector,
    written,
)
from cell_files import read_cells, value_header
from processes import compiled_let_go
from record import ask_values, main

RECORDED = Path(__file__).parents[1] / "conformance" / "values"


def place(path: Path) -> str:
    return path.relative_to(RECORDED).as_posix()


def installed(framework: str, mode: str = "") -> ValueRecorder:
    try:
        return find_value_recorder(framework, mode)
    except ImportError as error:
        pytest.skip(str(error))


@pytest.fixture(params=valued_frameworks())
def recorder(request: pytest.FixtureRequest) -> ValueRecorder:
    return installed(request.param)


def answer(recorder: ValueRecorder, op: str, *operands: str, form: str = "function") -> str | None:
    with recorder.session():
        return ask_values(recorder, GridQuestion(op, form, operands))


@pytest.mark.parametrize(
    ("notation", "held"),
    [
        ("int8=1,-128[2]", Held("int8", (2,), (1, -128))),
        ("uint64=18446744073709551615[]", Held("uint64", (), (2**64 - 1,))),
        ("float32=0.5,inf,-inf[3]", Held("float32", (3,), (0.5, math.inf, -math.inf))),
        ("bool=True,False[2]", Held("bool", (2,), (True, False))),
        ("complex64=1.0+2.0j[1,1]", Held("complex64", (1, 1), (1 + 2j,))),
        ("300", Held(None, (), (300,))),
        ("0.1+1.0j", Held(None, (), (0.1 + 1j,))),
    ],
)
def test_values_are_written_and_read(notation: str, held: Held) -> None:
    assert read_held(notation) == held
    assert str(held) == notation


@pytest.mark.parametrize("value", [-0.0, 5e-324, 1 / 3, complex(-0.0, -0.0), complex(1, -0.0)])
def test_a_number_is_read_back_with_its_signs(value: complex) -> None:
    read = read_held(f"complex128={written(value)}[]").values[0]
    assert written(read) == written(value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_dtype_holds_what_it_is_asked_with(recorder: ValueRecorder, dtype: str) -> None:
    if dtype not in recorder.dtypes:
        pytest.skip(f"{recorder.dialect} has no {dtype}")
    asked = vector(dtype, (*edges(dtype), *ordinary(dtype)))
    with recorder.session():
        assert str(recorder.held_by(recorder.hold(asked))) == str(asked)


def test_pairs_meet_several_of_each_other() -> None:
    left, right = paired((0.0, -0.0, 1.0), (1, 2), (7, 8))
    assert (left[-1], right[-1]) == (7, 8)
    assert len({(repr(a), repr(b)) for a, b in zip(left, right, strict=True)}) == len(left)


def test_no_question_is_asked_twice(recorder: ValueRecorder) -> None:
    asked = list(value_questions(recorder.scope.forms, recorder.dtypes))
    assert len(set(asked)) == len(asked)
    assert {question.op for question in asked} <= set(OPS)


def test_values_everybody_knows(recorder: ValueRecorder) -> None:
    ints = "int8=-128,100,7[3]"
    assert answer(recorder, "add", ints, "int8=-1,100,1[3]") == "int8=127,-56,8[3]"
    assert answer(recorder, "abs", ints) == "int8=-128,100,7[3]"
    assert answer(recorder, "where", "bool=True,False[2]", "int8=1,2[2]", "int8=3,4[2]") == (
        "int8=1,4[2]"
    )
    assert answer(recorder, "astype", "float32=1.5,-1.5[2]", form="to=int32") == "int32=1,-1[2]"
    assert answer(recorder, "sqrt", str(single("float32", 4.0))) == "float32=2.0[]"


def test_a_division_by_zero_is_an_answer() -> None:
    asked = ("floor_divide", "int32=7[1]", "int32=0[1]")
    assert answer(installed("numpy"), *asked) == "int32=0[1]"
    assert answer(installed("torch"), *asked) == "!zero"
    assert answer(installed("jax"), *asked) == "int32=-2[1]"


def test_a_negative_power_is_an_answer() -> None:
    asked = ("pow", "int32=2,-1[2]", "int32=-1,-3[2]")
    assert answer(installed("numpy"), *asked) == "!range"
    assert answer(installed("torch"), *asked) == "int32=0,-1[2]"


def test_what_is_refused_for_its_dtypes_is_no_value() -> None:
    assert answer(installed("numpy"), "sub", "bool=True[1]", "bool=True[1]") is None


def test_command_line_records_values(recorder: ValueRecorder, tmp_path: Path) -> None:
    for name in ("a", "b"):
        main([recorder.name, "--values", "--op", "neg", "-o", str(tmp_path / name)])
    first, recorded = read_cells(tmp_path / "a")
    assert first == value_header(recorder)
    assert {cell.op for cell in recorded} == {"neg"}
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_framework_without_recorded_values_is_refused() -> None:
    with pytest.raises(ValueError, match="no values are recorded of 'mindspore'"):
        find_value_recorder("mindspore")


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*/*.tsv.gz")), ids=place)
def test_recorded_values_are_what_is_computed_here(path: Path) -> None:
    first, recorded = read_cells(path)
    assert first["machine"] == path.parent.name
    framework, _, mode = first["dialect"].partition(":")
    recorder = installed(framework.partition("@")[0], mode)
    if value_header(recorder) != first:
        pytest.skip("recorded with other versions, or on another kind of processor")
    with recorder.session():
        for cell in compiled_let_go(random.Random(0).sample(recorded, 100)):
            assert ask_values(recorder, GridQuestion(*cell[:3])) == cell.answer, cell
