"""Seed 004, MegEngine's MEP 3: the schemes of NumPy and PyTorch, its tables, its own scheme."""

from __future__ import annotations

import pytest
from asking import result

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
