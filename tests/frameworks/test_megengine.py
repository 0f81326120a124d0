"""MegEngine as shipped, statement by statement; MEP 3, its draft, is in tests/documents."""

from __future__ import annotations

import pytest

import castwise as cw
from asking import result


def in_megengine(expression: str) -> str:
    return result(expression, "megengine")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + int8[3]", "int8"),
        ("int8[3] + int16[3]", "int16"),
        ("uint8[3] + uint16[3]", "uint16"),
        ("bool[3] + int32[3]", "float32"),
        ("bool[3] + uint8[]", "float32"),
        ("float16[3] + float16[3]", "float16"),
        ("float16[3] + int8[3]", "float32"),
        ("float16[3] + float32[3]", "float32"),
        ("float16[3] + bfloat16[3]", "float32"),
        ("bfloat16[3] + int32[3]", "float32"),
        ("bool[3] + bool[3]", "!"),
        ("int8[3] + uint8[3]", "!"),
        ("uint16[3] + int32[3]", "!"),
        ("int8[3] < uint8[3]", "!"),
        ("bool[3] < int32[3]", "bool"),
    ],
)
def test_tensors_of_unequal_kinds_meet_in_float32(expression: str, expected: str) -> None:
    assert in_megengine(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("cos(int8[3])", "float32"),
        ("cos(float16[3])", "float16"),
        ("cos(bool[3])", "!"),
        ("cos(complex64[3])", "!"),
        ("atan(bool[3])", "float32"),  # it is atan2 with a float32 one
        ("atan(float16[3])", "float32"),
        ("atan(complex64[3])", "!"),
    ],
)
def test_elementary_functions(expression: str, expected: str) -> None:
    assert in_megengine(expression) == expected


def test_the_rank_of_a_tensor_makes_no_difference() -> None:
    spoken = cw.dialect("megengine")
    for a in spoken.dtypes:
        for b in spoken.dtypes:
            assert in_megengine(f"{a}[3] + {b}[]") == in_megengine(f"{a}[3] + {b}[3]")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + 1", "int8"),
        ("int8[3] + 1.5", "float32"),
        ("float16[3] + 1.5", "float16"),
        ("uint8[3] + True", "uint8"),
        ("bool[3] + 1", "float32"),
        ("bfloat16[3] + 1", "float32"),
        ("bfloat16[3] + True", "float32"),
        ("add(1, 1.5)", "float32"),
        ("uint8[3] + 300", "uint8"),
        (f"int32[3] + {2**31}", "int32"),
        (f"int32[3] + {2**63}", "!range"),
        (f"bool[3] + {2**63}", "!range"),
        (f"float16[3] + {2**63}", "float16"),
        ("int8[3] + 1j", "!"),
        ("bool[3] == 1j", "bool"),
    ],
)
def test_a_number_is_typed_by_the_highest_category_then_joined(
    expression: str, expected: str
) -> None:
    assert in_megengine(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + np.uint8[3]", "int16"),
        ("np.uint8[3] + int8[3]", "int16"),
        ("uint8[3] + np.int8[3]", "!"),
        ("float16[3] + np.int64[3]", "float16"),
        ("float16[3] + np.float32(1)", "float32"),
        ("bool[3] + np.int8[]", "float32"),
        ("int32[3] + np.int64[3]", "!"),
        ("float32[3] + np.float64(1)", "!"),
        ("bfloat16[3] + np.complex64[3]", "!"),
    ],
)
def test_numpy_operands_are_typed_with_the_numbers(expression: str, expected: str) -> None:
    assert in_megengine(expression) == expected


def test_both_rules_are_told() -> None:
    steps = cw.resolve("add", "bool[3]", 1, dialect="megengine").steps
    assert "1 becomes an array of int32, the dtype of the highest category." in steps


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("uint8[3] / uint8[3]", "float32"),
        ("float16[3] / float16[3]", "float16"),
        ("bool[3] / bool[3]", "!"),
        ("int8[3] ** 2", "float32"),
        ("exp(int8[3])", "float32"),
        ("exp(bool[3])", "!"),
        ("sigmoid(int8[3])", "!"),
        ("floor(int8[3])", "int8"),
        ("abs(int8[3])", "int8"),
        ("reciprocal(bool[3])", "float32"),
        ("clamp(int32[3], 0.5, 1.5)", "float32"),
        ("bool[3] & bool[3]", "bool"),
        ("int8[3] & int8[3]", "!"),
        ("int8[3] << 1", "int8"),
        ("complex64[3] * complex64[3]", "complex64"),
        ("complex64[3] / complex64[3]", "!"),
        ("complex64[3] + float32[3]", "!"),
    ],
)
def test_what_ops_compute_in(expression: str, expected: str) -> None:
    assert in_megengine(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] += 1.5", "float32"),
        ("float16[3] += float32[3]", "float32"),
        ("int8[3] /= int8[3]", "float32"),
    ],
)
def test_in_place_rebinds(expression: str, expected: str) -> None:
    assert in_megengine(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("concat(bool[3], int8[3])", "float32"),
        ("concat(bool[3], bool[3])", "bool"),
        ("concat(bool[3], uint8[3], int8[3])", "float32"),
        ("concat(uint8[3], int8[3], bool[3])", "!"),
        ("where(bool[3], int8[3], uint8[3])", "int16"),
        ("where(bool[3], bool[3], int32[3])", "int32"),
        ("where(bool[3], float16[3], int32[3])", "float16"),
        ("where(bool[3], bool[3], bool[3])", "!"),
        ("where(bool[3], int8[3], 1)", "!"),
        ("result_type(bool[3], int32[3])", "int32"),
        ("result_type(bfloat16[3], int16[3])", "int16"),
        ("result_type(bfloat16[3], bfloat16[3])", "!"),
    ],
)
def test_where_and_result_type_know_only_the_first_rule(expression: str, expected: str) -> None:
    assert in_megengine(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3,3] @ int8[3,3]", "int32"),
        ("int8[3,3] @ int16[3,3]", "int32"),
        ("float16[3,3] @ int8[3,3]", "float32"),
        ("uint8[3,3] @ uint8[3,3]", "!"),
        ("int32[3,3] @ int32[3,3]", "!"),
        ("int8[3] @ int8[3]", "int8"),
        ("int8[3] @ int16[3]", "!"),
        ("dot(int8[3], int16[3])", "!"),
    ],
)
def test_matrices_promote_and_vectors_do_not(expression: str, expected: str) -> None:
    assert in_megengine(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sum(bool[3])", "int32"),
        ("sum(uint8[3])", "uint8"),
        ("max(bool[3])", "bool"),
        ("mean(int8[3])", "float32"),
        ("mean(float16[3])", "float32"),
        ("argmax(int8[3])", "int32"),
        ("cumsum(int8[3])", "int8"),
        ("cumsum(bool[3])", "bool"),
    ],
)
def test_reductions(expression: str, expected: str) -> None:
    assert in_megengine(expression) == expected
