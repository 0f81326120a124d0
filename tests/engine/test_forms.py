"""The five forms of an op, and what `x += y` comes to in each dialect."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import castwise as cw
from asking import result
from castwise.comparing.verify import answer_for
from castwise.conformance.recorder import AUGMENTED_OPERATORS
from castwise.engine.ask import question_in
from castwise.engine.writes import rebinds
from castwise.vocab.ops import OPS
from cell_files import read_cells

CELLS = Path(__file__).parents[2] / "conformance" / "cells"
# Dialects in which x += y means x = x + y for every op, and those with no other in-place form.
REBINDING = ("jax", "jax:x64", "jax:strict", "keras", "tensorflow", "tensorflow:np-all",
             "tensorflow:all", "tensorflow:safe", "paddle", "paddle:documented")  # fmt: skip
WITHOUT_METHODS = ("array-api", "mlx", "tinygrad", "megengine")


@pytest.mark.parametrize(
    ("dialect", "expression", "expected"),
    [
        ("jax", "int32[3] += 0.5", "float32"),
        ("jax", "bool[3] += bool[3]", "bool"),
        ("jax", "int8[3] **= int16[]", "int8"),
        ("keras", "int32[3] += 0.5", "float32"),
        ("tensorflow", "int32[3] /= 2", "float64"),
        ("tensorflow", "int32[3] += 0.5", "!"),
        ("tensorflow", "bool[3] *= bool[3]", "bool"),
        ("tensorflow:np-all", "int32[3] += float32[3]", "float32"),
        ("tensorflow:all", "int8[3] += uint8[3]", "int16"),
        ("paddle", "float32[3] += 1", "float32"),
        ("paddle", "float32[3] += float64[3]", "float64"),
        ("paddle", "int32[3] += int64[3]", "!"),
        ("paddle", "float32[3] += np.float32[3]", "float32"),
        ("paddle", "np.float32[3] += float32[3]", "!"),
        ("paddle", "np.float64(1) += float32[3]", "float32"),
        ("paddle:documented", "int32[3] /= 1", "float32"),
        ("mindspore", "int32[3] += 0.5", "float32"),
        ("mindspore", "bool[3] -= bool[3]", "!"),
        ("mlx", "int32[3] += 0.5", "float32"),
        ("mlx", "int32[3] /= 2", "!"),
        ("megengine", "int8[3] += 1.5", "float32"),
        ("oneflow", "int32[3] **= int32[3]", "float32"),
        ("oneflow", "float32[3,3] @= float32[3,3]", "float32"),
        ("tinygrad", "int8[3] %= float32[3]", "float32"),
        ("tinygrad", "int8[3] += float32[3]", "!"),
        ("torch", "int32[3] += 1.5", "!"),
        ("torch", "uint8[3] += int64[3]", "uint8"),
        ("torch", "int32[3] += np.float32[3]", "float64"),
        ("torch", "int32[3] += np.float32(1)", "!"),
        ("torch", "float32[3] @= float32[3]", "float32"),
        ("numpy", "int8[3] += int64[3]", "int8"),
        ("numpy", "float32[3,3] @= float32[3,3]", "float32"),
        ("numpy@1", "float32[3,3] @= float32[3,3]", "!"),
        ("array-api", "int8[3] += int16[3]", "!"),
    ],
)
def test_what_an_augmented_assignment_gives(dialect: str, expression: str, expected: str) -> None:
    assert result(expression, dialect) == expected


@pytest.mark.parametrize("dialect", REBINDING)
def test_where_the_name_is_bound_anew_the_operator_answers(dialect: str) -> None:
    some = ("bool[3]", "uint8[3]", "int32[3]", "float16[3]", "float32[3]", "complex64[3]")
    others = (*some, "int8[]", "True", "2", "1.5", "np.float32[3]")
    for op, first, second in itertools.product(AUGMENTED_OPERATORS, some, others):
        symbol = OPS[op].symbol
        there = f"{first} {symbol}= {second}"
        assert result(there, dialect) == result(f"{first} {symbol} {second}", dialect), there
        assert rebinds(question_in(there, dialect)), there


@pytest.mark.parametrize("name", WITHOUT_METHODS)
def test_in_place_is_an_augmented_assignment_where_there_is_no_method(name: str) -> None:
    _, cells = read_cells(CELLS / f"{name}.tsv.gz")
    cells = [c for c in cells if c.form == "augmented" and c.op != "matmul"]
    assert "inplace" not in {cell.form for cell in cells}
    for cell in cells[:: len(cells) // 500]:
        if not cell.operands[0].endswith("]") or cell.operands[0].startswith("np."):
            continue  # nothing to write into
        asked = cell._replace(form="inplace")
        assert answer_for(asked, name) == answer_for(cell, name), cell


@pytest.mark.parametrize("dialect", ["numpy", "torch", "jax", "paddle", "array-api", "mlx"])
def test_a_number_is_never_written_into(dialect: str) -> None:
    for number in ("2", "1.5", "np.float32(1)"):
        assert result(f"{number} += float32[3]", dialect) == result(
            f"{number} + float32[3]", dialect
        )


def test_numpy_writes_into_its_own_arrays_unless_it_leaves_that_to_the_other() -> None:
    assert result("np.int8[3] += int16[3]", "mlx") == "int8"
    assert result("np.int8[3] += int16[3]", "jax") == "int16"
    assert not rebinds(question_in("np.int8[3] += int16[3]", "mlx"))


def test_the_forms_are_asked_by_name() -> None:
    def asked(**parts: Any) -> str:
        return cw.resolve("add", "float32[3]", "float64[3]", dialect="jax:x64", **parts).result.name

    assert asked(form="augmented") == asked(form="operator") == asked(form="function") == "float64"
    assert asked(inplace=True) == "float32"


def test_a_call_whose_name_ends_in_an_underscore_is_in_place() -> None:
    question = question_in("add_(float32[3], float64[3])", "jax:x64")
    assert (question.op.name, question.inplace) == ("add", True)
    assert str(question) == "add_(float32[3], float64[3])"
    assert result("add_(float32[3], float64[3])", "jax:x64") == "float32"


def test_a_question_is_written_as_it_is_asked() -> None:
    augmented = question_in("int32[3] += 5", "torch")
    assert (augmented.form, str(augmented)) == ("augmented", "int32[3] += 5")


@pytest.mark.parametrize("dialect", ["jax", "mindspore", "torch"])
def test_steps_say_that_the_name_is_bound_to_a_new_array(dialect: str) -> None:
    told = cw.explain("float32[3] *= np.float32(2)", dialect=dialect)
    step = "`x *= y` is `x = x * y`: the name is bound to a new array."
    assert (step in told) is (dialect != "torch")
    assert ("must be written into float32" in told) is (dialect == "torch")


def test_steps_say_that_an_array_becomes_the_result() -> None:
    assert "The array itself becomes the float32 result." in cw.explain(
        "int32[3] += 0.5", dialect="mlx"
    )


@pytest.mark.parametrize(
    ("op", "parts", "message"),
    [
        ("abs", {}, r"abs has no operator such as \+=: use inplace=True"),
        ("lt", {}, r"lt has no operator such as \+="),
        ("maximum", {}, "maximum has no operator"),
        ("add", {"inplace": True}, r"x \+= y takes no inplace=: leave out either it or form="),
        ("add", {"out": "float32"}, r"x \+= y takes no out="),
        ("add", {"alpha": 2}, r"x \+= y takes no alpha="),
    ],
)
def test_what_has_no_augmented_assignment(op: str, parts: dict[str, Any], message: str) -> None:
    operands = ["int8[3]"] if op == "abs" else ["int8[3]", "int8[3]"]
    with pytest.raises(cw.UsageError, match=message):
        cw.resolve(op, *operands, dialect="numpy", form="augmented", **parts)


def test_an_augmented_assignment_has_two_operands() -> None:
    with pytest.raises(cw.UsageError, match="has two operands, not 1"):
        cw.resolve("add", "int8[3]", dialect="numpy", form="augmented")
