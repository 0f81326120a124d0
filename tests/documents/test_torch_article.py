"""Seed 001, "Demystifying Dtype Promotion in PyTorch": its questions, rules, steps and table."""

from __future__ import annotations

import itertools

import pytest
from asking import result

import castwise as cw

DIALECTS = ["torch", "torch@2.1"]
SHORT = {
    "u1": "uint8", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "f2": "float16",
    "f4": "float32", "f8": "float64", "c2": "complex32", "c4": "complex64", "c8": "complex128",
    "b1": "bool", "bf": "bfloat16",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _forget_declared_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castwise.vocab.ops._declared", {})


# Sections 0 and 3: the questions and their answers.


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int32[1] + 5", "int32"),
        ("int32[1] + 5.5", "float32"),
        ("int32[1] / 5", "float32"),
        ("int32[1] + int64[]", "int32"),
        ("int64[1] + int32[1]", "int64"),
        ("bool[1] + int64[1]", "int64"),
        ("bool[1] + uint8[1]", "uint8"),
        ("float32[1] + float64[1]", "float64"),
        ("complex64[1] + complex128[1]", "complex128"),
        ("bool[1] + int32[1]", "int32"),
        ("torch.add(int64[1], float32[1])", "float32"),
    ],
)
def test_the_questions_of_the_introduction(question: str, expected: str, dialect: str) -> None:
    assert result(question, dialect) == expected


# Section 1: the rules.


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("bool[1] + 5", "int64"),
        ("bool[1] + 5.5", "float32"),
        ("uint8[1] + 5.5", "float32"),
        ("int64[1] + 5.5", "float32"),
        ("int32[1] + 2j", "complex64"),
        ("float16[1] + 2j", "complex32"),
        ("float64[1] + 2j", "complex128"),
    ],
)
def test_a_scalar_of_a_higher_category_promotes(question: str, expected: str, dialect: str) -> None:
    assert result(question, dialect) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int32[1] + True", "int32"),
        ("uint8[1] + 5", "uint8"),
        ("float16[1] + 5", "float16"),
        ("bfloat16[1] + 5.5", "bfloat16"),
        ("float64[1] + 5.5", "float64"),
        ("complex64[1] + 5.5", "complex64"),
        ("complex128[1] + 2j", "complex128"),
    ],
)
def test_any_other_scalar_leaves_the_tensors_dtype(
    question: str, expected: str, dialect: str
) -> None:
    assert result(question, dialect) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("bool[1] + uint8[]", "uint8"),
        ("int32[1] + float64[]", "float64"),
        ("int64[1] + float16[]", "float16"),
        ("int32[1] + complex128[]", "complex128"),
        ("float32[1] + complex128[]", "complex64"),  # a float keeps its width
    ],
)
def test_a_0d_tensor_of_a_higher_category_promotes(
    question: str, expected: str, dialect: str
) -> None:
    assert result(question, dialect) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int8[1] + int64[]", "int8"),
        ("float32[1] + float64[]", "float32"),
        ("complex64[1] + complex128[]", "complex64"),
        ("result_type(int8[1], int16[1], int64[])", "int16"),
        ("result_type(uint8[1], int8[1], float32[1], float64[])", "float32"),
    ],
)
def test_else_the_dimensioned_operands_decide(question: str, expected: str, dialect: str) -> None:
    assert result(question, dialect) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_an_integer_divided_by_an_integer_is_a_float(dtype: str, dialect: str) -> None:
    assert result(f"{dtype}[1] / 5", dialect) == "float32"
    assert result(f"{dtype}[1] / {dtype}[1]", dialect) == "float32"


# Section 2.1: a scalar is wrapped into a 0-d tensor.


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("scalar", "expected"),
    [("True", "bool"), ("5", "int64"), ("5.5", "float32"), ("2j", "complex64")],
)
def test_a_wrapped_scalar_has_the_dtype_of_its_type(
    scalar: str, expected: str, dialect: str
) -> None:
    assert result(f"result_type({scalar})", dialect) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("default", "of_float", "of_complex"),
    [
        ("float16", "float16", "complex32"),
        ("float32", "float32", "complex64"),
        ("float64", "float64", "complex128"),
    ],
)
def test_wrapped_floats_and_complexes_take_the_default_dtype(
    default: str, of_float: str, of_complex: str, dialect: str
) -> None:
    varied = f"{dialect}:default_float={default}"
    assert result("int32[1] + 5.5", varied) == of_float
    assert result("int32[1] + 2j", varied) == of_complex
    assert result("int32[1] / 5", varied) == default
    assert result("int32[1] + 5", varied) == "int32"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_one_add_serves_tensors_and_scalars(dialect: str) -> None:
    """add.Scalar is not dispatched to: `+`, add() and add_() wrap the scalar alike."""
    for question in ("int32[1] + 5", "torch.add(int32[1], 5)", "int32[1] += 5"):
        assert result(question, dialect) == "int32"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_add_takes_an_alpha(dialect: str) -> None:
    decision = cw.resolve("add", "int32[1]", "int64[]", alpha=2, dialect=dialect)
    assert decision.result.name == "int32"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_bitwise_and_computes_in_integers_and_bool(dialect: str) -> None:
    """The kernel the article shows is dispatched for integers and bool alone."""
    assert result("int32[1] & 5", dialect) == "int32"
    assert result("bool[1] & True", dialect) == "bool"
    noted = cw.resolve("bitwise_and", "float32[1]", "float32[1]", dialect=dialect)
    assert "has no CPU kernel for float32" in noted.notes[0]


# Section 2.2: compute_types, compute_common_dtype, combine_categories.


@pytest.mark.parametrize("dialect", DIALECTS)
def test_without_promote_inputs_to_common_dtype_nothing_is_inferred(dialect: str) -> None:
    cw.declare_op("keeps_inputs", promotes=False)
    decision = cw.resolve("keeps_inputs", "int32[1]", "float64[1]", dialect=dialect)
    assert decision.casts == (None, None)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_with_it_every_input_is_cast_to_the_common_dtype(dialect: str) -> None:
    cw.declare_op("promotes_inputs", promotes=True)
    decision = cw.resolve("promotes_inputs", "int32[1]", "float64[1]", dialect=dialect)
    assert decision.compute.name == "float64"
    assert [str(cast) if cast else None for cast in decision.casts] == ["int32 -> float64", None]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_promote_integer_inputs_to_float_gives_the_default_dtype(dialect: str) -> None:
    cw.declare_op("float_op", integers_become_float=True)
    for name in ("bool", "uint8", "int64"):
        assert cw.resolve("float_op", name, name, dialect=dialect).result.name == "float32"
    assert cw.resolve("float_op", "float16", "int8", dialect=dialect).result.name == "float16"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_static_dtype_is_the_result_whatever_the_inputs(dialect: str) -> None:
    cw.declare_op("static_op", result="bool")
    decision = cw.resolve("static_op", "int8[1]", "float16[1]", dialect=dialect)
    assert (decision.result.name, decision.compute.name) == ("bool", "float16")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_outputs_are_cast_and_checked_as_the_configuration_says(dialect: str) -> None:
    cw.declare_op("strict_out", casts_to_output=False)
    cw.declare_op("safe_out", safe_output=True)
    cw.declare_op("any_out", safe_output=False)
    narrowed = ("float32[1]", "float32[1]")
    for name in ("strict_out", "safe_out"):
        with pytest.raises(cw.PromotionError):
            cw.resolve(name, *narrowed, out="int32", dialect=dialect)
    with pytest.raises(cw.PromotionError):
        cw.resolve("strict_out", *narrowed, out="float64", dialect=dialect)
    assert (
        cw.resolve("safe_out", *narrowed, out="float16", dialect=dialect).result.name == "float16"
    )
    assert cw.resolve("any_out", *narrowed, out="int32", dialect=dialect).result.name == "int32"


KINDS = {"b": "bool", "u": "int", "i": "int", "f": "float", "c": "complex"}
COMPLEX_OF = {"f2": "c2", "f4": "c4", "f8": "c8", "bf": "c4"}
WRAPPED = {"True": "b1", "5": "i8", "5.5": "f4", "2j": "c4"}


def kind(short: str) -> str:
    return "float" if short == "bf" else KINDS[short[0]]


def promoted(a: str | None, b: str | None) -> str | None:
    """promote_skip_undefined."""
    return CELLS[a, b] if a and b else a or b


def combined(higher: str | None, lower: str | None) -> str | None:
    """combine_categories: what the tier above decides with the one below it."""
    if higher is None or lower is None:
        return higher or lower
    ranks = ["bool", "int", "float", "complex"]
    if ranks.index(kind(higher)) >= ranks.index(kind(lower)):
        return higher
    if kind(lower) == "complex":
        return COMPLEX_OF.get(higher, lower)
    return promoted(higher, lower)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_three_results_are_combined_tensors_first_then_0d_then_wrapped(dialect: str) -> None:
    """dimResult, zeroResult and wrappedResult, over every choice of the three."""
    tiers = itertools.product([None, *SHORT], [None, *SHORT], [None, *WRAPPED])
    for dimensioned, zero_d, wrapped in tiers:
        operands = [f"{SHORT[dimensioned]}[1]"] if dimensioned else []
        operands += [f"{SHORT[zero_d]}[]"] if zero_d else []
        operands += [wrapped] if wrapped else []
        if operands:
            found = combined(dimensioned, combined(zero_d, WRAPPED.get(wrapped or "")))
            assert result(f"result_type({', '.join(operands)})", dialect) == SHORT[found or ""]


# The lookup table of promoteTypes.

TABLE = """
         u1  i1  i2  i4  i8  f2  f4  f8  c2  c4  c8  b1  bf
    u1   u1  i2  i2  i4  i8  f2  f4  f8  c2  c4  c8  u1  bf
    i1   i2  i1  i2  i4  i8  f2  f4  f8  c2  c4  c8  i1  bf
    i2   i2  i2  i2  i4  i8  f2  f4  f8  c2  c4  c8  i2  bf
    i4   i4  i4  i4  i4  i8  f2  f4  f8  c2  c4  c8  i4  bf
    i8   i8  i8  i8  i8  i8  f2  f4  f8  c2  c4  c8  i8  bf
    f2   f2  f2  f2  f2  f2  f2  f4  f8  c2  c4  c8  f2  f4
    f4   f4  f4  f4  f4  f4  f4  f4  f8  c4  c4  c8  f4  f4
    f8   f8  f8  f8  f8  f8  f8  f8  f8  c8  c8  c8  f8  f8
    c2   c2  c2  c2  c2  c2  c2  c4  c8  c2  c4  c8  c2  c4
    c4   c4  c4  c4  c4  c4  c4  c4  c8  c4  c4  c8  c4  c4
    c8   c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8
    b1   u1  i1  i2  i4  i8  f2  f4  f8  c2  c4  c8  b1  bf
    bf   bf  bf  bf  bf  bf  f4  f4  f8  c4  c4  c8  bf  bf
"""
_HEAD, *_ROWS = [line.split() for line in TABLE.split("\n") if line]
CELLS = {
    (row, column): cell for row, *cells in _ROWS for column, cell in zip(_HEAD, cells, strict=True)
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("row", "column"), CELLS)
def test_each_cell_of_the_lookup_table(row: str, column: str, dialect: str) -> None:
    a, b, expected = SHORT[row], SHORT[column], SHORT[CELLS[row, column]]
    assert cw.promote_types(a, b, dialect=dialect).name == expected
    assert result(f"{a}[1] * {b}[1]", dialect) == expected


def test_the_dtypes_of_the_table_are_those_of_torch_2_1() -> None:
    assert {d.name for d in cw.dialect("torch@2.1").dtypes} == set(SHORT.values())
