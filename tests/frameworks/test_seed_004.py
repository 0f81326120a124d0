"""Seed 004, MegEngine's MEP 3: the schemes of NumPy and PyTorch, its tables, its own scheme."""

from __future__ import annotations

import itertools

import pytest
from asking import result

import castwise as cw

# NumPy's scheme. The NumPy of 2020 is numpy@1.


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int32[3] + float32[]", "float64"),  # the scalar's category is higher: both count
        ("float32[3] + int32[]", "float32"),  # it is not: the arrays alone count
        ("bool[3] + int64=300[]", "int64"),
        ("int16[3] + int64=300[]", "int16"),
        ("float16[3] + float64[]", "float16"),
        ("result_type(int8[3], int16[3], int64[])", "int16"),
        ("result_type(int8[], int16[])", "int16"),  # scalars alone: the smallest both cast to
        ("result_type(int32[], float32[])", "float64"),
    ],
)
def test_numpys_scheme(question: str, expected: str) -> None:
    assert result(question, "numpy@1") == expected


# PyTorch's scheme: dimensioned tensors, then 0-d tensors, then scalars; float, int, bool.


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int8[2] + int64[]", "int8"),
        ("int8[2] + 1", "int8"),
        ("int8[] + 1", "int8"),
        ("result_type(int8[2], int16[], 1)", "int8"),
        ("result_type(int8[], 1, 2)", "int8"),
        ("float16[2] + float64[]", "float16"),
    ],
)
def test_pytorchs_operands_of_the_highest_priority_are_promoted(
    question: str, expected: str
) -> None:
    assert result(question, "torch") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int8[2] + float64[]", "float64"),
        ("int8[2] + 1.0", "float32"),
        ("int8[] + 1.0", "float32"),
        ("result_type(int8[2], int64[], 1.0)", "float32"),
        # The MEP prints float, bool, int; a bool gives way to an int, as its summary says.
        ("bool[2] + int8[]", "int8"),
        ("bool[2] + 1", "int64"),
        ("int8[2] + bool[]", "int8"),
    ],
)
def test_pytorchs_lower_priority_counts_where_its_type_is_higher(
    question: str, expected: str
) -> None:
    assert result(question, "torch") == expected


# The example table. tensor(1) is a 0-d int64 in both.


@pytest.mark.parametrize(
    ("question", "in_numpy", "in_torch"),
    [
        ("int8[2] + 1", "int8", "int8"),
        ("int8[] + 1", "int64", "int8"),
        ("int8[2] + int64[]", "int8", "int8"),
        ("int8[] + int64[]", "int64", "int64"),
        ("int8[] + 1.0", "float64", "float32"),
    ],
)
def test_the_table_of_examples(question: str, in_numpy: str, in_torch: str) -> None:
    assert result(question, "numpy@1") == in_numpy
    assert result(question, "torch") == in_torch


# The summary table.


@pytest.mark.parametrize(
    ("scalar", "expected"),
    [
        ("255", "uint8"),
        ("50000", "uint16"),
        ("-1", "int16"),
        ("70000", "uint32"),
        ("-70000", "int32"),
        ("5000000000", "uint64"),
        ("-5000000000", "int64"),
    ],
)
def test_numpy_looks_at_the_size_of_a_scalar(scalar: str, expected: str) -> None:
    assert result(f"{scalar} + uint8[2]", "numpy@1") == expected


@pytest.mark.parametrize(
    ("scalar", "expected"), [("1.5", "float16"), ("1e5", "float32"), ("1e39", "float64")]
)
def test_numpy_looks_at_the_size_of_a_float(scalar: str, expected: str) -> None:
    assert result(f"{scalar} + float16[2]", "numpy@1") == expected


@pytest.mark.parametrize("scalar", ["255", "50000", "-1", "70000", "5000000000"])
def test_pytorch_does_not(scalar: str) -> None:
    assert result(f"{scalar} + uint8[2]", "torch") == "uint8"
    assert result(f"result_type({scalar})", "torch") == "int64"


def test_numpy_keeps_precision_and_pytorch_the_highest_types() -> None:
    assert result("float32[2] + int32[2]", "numpy@1") == "float64"
    assert result("float32[2] + int32[2]", "torch") == "float32"


# MegEngine's own scheme: PyTorch's, with float > int > bool and 32-bit Python numbers.

MEP3 = "megengine:mep3"


def test_the_opening_example_is_float32() -> None:
    assert result("int32[1] + float32[1]", MEP3) == "float32"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int8[2] + 1", "int8"),
        ("int8[] + 1", "int8"),
        ("int8[2] + int32[]", "int8"),
        ("int8[] + int32[]", "int32"),
        ("int8[] + 1.0", "float32"),
        ("int8[2] + 1.0", "float32"),
        ("int8[2] + float16[]", "float16"),
        ("float16[2] + 1.0", "float16"),
        ("bool[2] + 1", "int32"),
        ("bool[2] + True", "bool"),
        ("result_type(1)", "int32"),
        ("result_type(1.0)", "float32"),
        ("result_type(1, 1.0)", "float32"),
    ],
)
def test_its_operands_rank_as_in_pytorch(question: str, expected: str) -> None:
    assert result(question, MEP3) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("float32[2] + int32[2]", "float32"),
        ("float16[2] + int32[2]", "float16"),
        ("float16[2] + float32[2]", "float32"),
        ("int32[2] + bool[2]", "int32"),
        ("uint8[2] + int8[2]", "int16"),
        ("int8[2] / int8[2]", "float32"),
    ],
)
def test_only_the_highest_type_keeps_its_precision(question: str, expected: str) -> None:
    assert result(question, MEP3) == expected


def test_it_agrees_with_pytorch_on_every_pair_of_its_dtypes() -> None:
    """Only Python ints and sums differ."""
    own = cw.dialect(MEP3).dtypes
    for a, b in itertools.product(own, repeat=2):
        for question in (f"{a}[2] * {b}[2]", f"{a}[2] * {b}[]", f"{a}[] * {b}[]"):
            assert result(question, MEP3) == result(question, "torch")


def test_complex_is_unknown_to_the_draft() -> None:
    assert result("float32[2] + 1j", MEP3) == "!"
    assert result("complex64[2] + 1", MEP3) == "!"


# The points left open. As decided: 64-bit results, values ignored, scalars rank below tensors.


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int32[2] + int64[2]", "int64"),
        ("float32[2] + float64[2]", "float64"),
        ("int32[2] + float64[]", "float64"),
        ("uint8[2] + 50000", "uint8"),
        ("float16[2] + 1e39", "float16"),
        ("int8[] + 50000", "int8"),
        # Beyond int32, the dtype of a Python int, too.
        (f"int64[2] + {2**31}", "int64"),
        (f"float32[2] + {2**31}", "float32"),
        (f"int32[2] + {2**31}", "int32"),
        (f"bool[2] + {2**64}", "int32"),
        (f"int8[] + {-(2**31) - 1}", "int8"),
        (f"result_type({2**31})", "int32"),
    ],
)
def test_the_open_points(question: str, expected: str) -> None:
    assert result(question, MEP3) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int32[2] + int64[2]", "!"),
        ("float32[2] + float64[2]", "!"),
        ("int32[2] + float64[]", "!"),
        ("int64[2] + int64[2]", "int64"),  # nothing is promoted
        ("int32[2] + float32[2]", "float32"),
    ],
)
def test_without_promotion_to_64_bits_it_is_an_error(question: str, expected: str) -> None:
    assert result(question, f"{MEP3}:promote_64=False") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("uint8[2] + 5", "uint8"),
        ("int8[2] + 5", "int8"),
        ("int8[2] + 300", "int16"),
        ("uint8[2] + 50000", "int32"),  # uint8, int8, int16 or int32: MegEngine has no uint16 here
        ("float16[2] + 1.5", "float16"),
        ("float16[2] + 1e5", "float32"),
        ("float16[2] + 1e300", "float32"),  # float16 or float32: it overflows
        ("bfloat16[2] + 1.5", "bfloat16"),
        # Also where the scalar's kind is higher than the tensor's.
        ("bool[2] + 1", "uint8"),
        ("bool[2] + -1", "int8"),
        ("bool[2] + 300", "int16"),
        ("int8[2] + 1.5", "float16"),
        ("int8[2] + 1e5", "float32"),
        ("int32[2] + 1.5", "float16"),  # as beside a float16 tensor
        # A 0-d tensor is no scalar: its dtype counts as it did.
        ("int8[2] + int32[]", "int8"),
        ("int8[] + 1", "int8"),
        ("int8[] + 300", "int16"),
        ("int32[] + 1", "int32"),
        # MEP 3 does not say what an int beyond int32 is; here, what holds it.
        (f"int8[2] + {2**31}", "int64"),
        (f"int8[2] + {2**64}", "!range"),
        ("result_type(1)", "int32"),  # with nothing beside it
    ],
)
def test_a_scalar_may_be_looked_at_by_value(question: str, expected: str) -> None:
    assert result(question, f"{MEP3}:scalars=by value") == expected


def test_a_float_beyond_the_widest_is_told_to_overflow() -> None:
    told = cw.explain("float16[2] + 1e300", dialect=f"{MEP3}:scalars=by value")
    assert "1e+300 is looked at by value: it is beyond float32, the widest" in told
    assert "Python scalar -> float32 overflows beyond 3.40282e+38" in told
    assert "1e+300 fits" not in told


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int8[2] + 1", "int8"),
        ("int8[2] + 1.5", "float32"),
        ("float16[2] + 1.5", "float16"),
        ("int8[2] + int64[]", "int8"),
        ("int8[] + 1", "int32"),  # two 0-d tensors
        ("int8[] + 1.5", "float32"),
        ("float16[] + 1.5", "float32"),
        (f"int64[2] + {2**31}", "int64"),
    ],
)
def test_a_scalar_may_be_turned_into_a_0d_tensor(question: str, expected: str) -> None:
    assert result(question, f"{MEP3}:scalars=as 0-d tensors") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int8[2] + 1", "int32"),
        ("int8[2] + 1.5", "float32"),
        ("float16[2] + 1.5", "float32"),
        ("int8[2] + int64[]", "int64"),  # with no tiers left, 0-d tensors count as all do
        ("int8[] + 1", "int32"),
    ],
)
def test_a_scalar_may_be_turned_into_a_tensor(question: str, expected: str) -> None:
    assert result(question, f"{MEP3}:scalars=as tensors") == expected


def test_in_place_rebinds_as_in_megengine() -> None:
    assert result("int8[2] += 1.5", MEP3) == "float32"
