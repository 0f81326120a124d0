"""OneFlow, statement by statement; what an article says of it is in tests/documents."""

from __future__ import annotations

import itertools

import pytest

import castwise as cw
from asking import result


def in_oneflow(expression: str) -> str:
    return result(expression, "oneflow")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("bool[3] + bool[3]", "bool"),
        ("bool[3] - bool[3]", "bool"),
        ("bool[3] + uint8[3]", "uint8"),
        ("uint8[3] + int8[3]", "int16"),
        ("uint16[3] + int8[3]", "int32"),
        ("uint32[3] + int32[3]", "int64"),
        ("uint8[3] + int64[3]", "int64"),
        ("uint8[3] + uint64[3]", "uint64"),
        ("int64[3] + float16[3]", "float16"),
        ("int128[3] + float16[3]", "float16"),
        ("float32[3] + float64[3]", "float64"),
        ("float64[3] + bfloat16[3]", "bfloat16"),
        ("float16[3] + bfloat16[3]", "bfloat16"),
        ("concat(uint8[3], int8[3], float16[3])", "float16"),
    ],
)
def test_arrays_meet_in_one_table(expression: str, expected: str) -> None:
    assert in_oneflow(expression) == expected


@pytest.mark.parametrize("signed", ["int8", "int16", "int32", "int64", "int128"])
def test_uint64_with_any_signed_integer_is_int128(signed: str) -> None:
    assert in_oneflow(f"uint64[3] + {signed}[3]") == "int128"
    assert in_oneflow(f"{signed}[3] * uint64[3]") == "int128"


def test_any_real_dtype_with_bfloat16_is_bfloat16() -> None:
    for other in cw.dialect("oneflow").dtypes:
        assert cw.promote_types(other, "bfloat16", dialect="oneflow").name == "bfloat16"


def test_the_wider_of_two_signed_or_unsigned_integers_wins() -> None:
    for sign in ("int", "uint"):
        for narrow, wide in itertools.combinations((8, 16, 32, 64), 2):
            assert in_oneflow(f"{sign}{narrow}[3] + {sign}{wide}[3]") == f"{sign}{wide}"


def test_a_promotion_that_no_kernel_follows_is_noted() -> None:
    noted = cw.resolve("add", "uint8", "int8", dialect="oneflow").notes
    assert "no CPU kernel for int16" in noted[0]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] * float64[]", "int8"),
        ("int8[3] * int64[]", "int8"),
        ("bool[3] + float32[]", "bool"),
        ("float16[] + int8[3]", "int8"),
        ("int8[] + float64[]", "float64"),
        ("int8[] + int64[]", "int64"),
        ("atan2(int8[3], float64[])", "float64"),
    ],
)
def test_a_0d_array_beside_an_array_does_not_count(expression: str, expected: str) -> None:
    assert in_oneflow(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] * 1.0", "float32"),
        ("int64[3] + 1.5", "float32"),
        ("float16[3] + 1e39", "float16"),
        ("float64[3] + 1", "float64"),
        ("int8[3] + 300", "int8"),
        (f"int8[3] * {2**63 - 1}", "int8"),
        (f"int8[3] * {2**63}", "!range"),
        ("bool[3] + 1", "int64"),
        ("bool[3] + True", "int64"),
        ("int8[] + 1.5", "float32"),
        ("1.5 - int8[3]", "float32"),
        ("int8[3] * True", "!"),
        ("int8[3] < True", "bool"),
        ("int8[3] + 1j", "!"),
        ("1 // int8[3]", "!"),
        ("maximum(int8[3], 1)", "!"),
    ],
)
def test_a_python_number_counts_where_it_is_of_a_higher_kind(
    expression: str, expected: str
) -> None:
    assert in_oneflow(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] / int8[3]", "float32"),
        ("int64[3] / int64[3]", "float32"),
        ("int8[3] / float64[]", "float32"),
        ("bool[3] / int8[]", "float32"),
        ("bool[3] / bool[3]", "bool"),
        ("bool[3] / float32[]", "bool"),
        ("float16[3] / int64[3]", "float16"),
        ("int8[3] / 2", "float32"),
        ("bool[3] / 2", "int64"),
        ("2 / bool[3]", "float32"),
        ("int32[3] ** int32[3]", "float32"),
        ("int8[3] ** 2", "int8"),
        ("int8[3] // int8[3]", "int8"),
    ],
)
def test_division_and_powers(expression: str, expected: str) -> None:
    assert in_oneflow(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] += float32[3]", "int8"),
        ("int8[3] += 1.5", "!"),
        ("int8[3] -= float32[3]", "!"),
        ("int8[3] *= float64[]", "int8"),
        ("int8[3] /= int8[3]", "!"),
        ("float32[3] /= True", "float32"),
        ("int32[3] **= int32[3]", "float32"),
    ],
)
def test_in_place(expression: str, expected: str) -> None:
    assert in_oneflow(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("where(bool[3], float32[3], 1.5)", "float64"),
        ("where(bool[3], int8[3], 1.5)", "float64"),
        ("where(bool[3], int64[3], 1)", "int64"),
        ("where(bool[3], int8[3], 1)", "!"),
        ("where(bool[3], bool[3], True)", "bool"),
        ("where(bool[3], int8[3], int16[3])", "!"),
        ("where(bool[3], 1.5, 1.5)", "float32"),
        ("stack(int8[3], int16[3])", "!"),
        ("dot(int32[3], float32[3])", "!"),
        ("dot(float32[3], float32[3])", "float32"),
    ],
)
def test_ops_of_one_dtype(expression: str, expected: str) -> None:
    assert in_oneflow(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("uint8[2,3] @ float32[3,2]", "uint8"),
        ("uint8 @ float32", "uint8"),
        ("float32[2,3] @ uint8[3,2]", "!"),
        ("float32[2,3] @ float32[3]", "float32"),
        ("float32[3] @ float32[3]", "!"),
    ],
)
def test_matmul_takes_anything_beside_integers_but_no_two_vectors(
    expression: str, expected: str
) -> None:
    assert in_oneflow(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("-int8[3]", "float32"),
        ("square(int64[3])", "float32"),
        ("exp(bool[3])", "float32"),
        ("abs(int8[3])", "int8"),
        ("relu(int8[3])", "int8"),
        ("int8[3] & float32[3]", "bool"),
        ("~bool[3]", "bool"),
        ("~int8[3]", "!"),
    ],
)
def test_unary_ops_and_logic(expression: str, expected: str) -> None:
    assert in_oneflow(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sum(bool[3])", "int64"),
        ("sum(uint32[3])", "int64"),
        ("sum(float16[3])", "float16"),
        ("sum(int16[3])", "int16"),  # the priorities of 0.9 are off by one from int16 on
        ("sum(uint64[3])", "uint64"),
        ("sum(int8[])", "int8"),
        ("cumsum(int8[3])", "int64"),
        ("prod(bool[3])", "int64"),
        ("prod(int8[3])", "int8"),
        ("mean(int8[3])", "!"),
        ("std(int8[3])", "int8"),
        ("argmax(int8[3])", "int64"),
        ("argmax(int8[])", "!"),
        ("logsumexp(float64[])", "float32"),
    ],
)
def test_reductions_have_a_lowest_dtype(expression: str, expected: str) -> None:
    assert in_oneflow(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + np.int8[3]", "!"),
        ("int8[3] + np.float32(1)", "!"),
        ("int8[3] + np.float64(1)", "float32"),
        ("np.int8[3] + int64[3]", "int64"),
        ("np.float16[3] + bfloat16[3]", "float32"),
    ],
)
def test_numpy_operands_are_refused_but_decide_on_the_left(expression: str, expected: str) -> None:
    assert in_oneflow(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("tan(int8[3])", "float32"),
        ("clamp_min(int8[3], 1.5)", "int8"),
        ("clamp_max(float32[3], 1)", "float32"),
        ("clamp_min(1, int8[3])", "!"),
        ("clamp_min(bool[3], 1)", "!"),
        ("isclose(int8[3], int8[3])", "bool"),
        ("isclose(int8[3], int32[3])", "!"),
        ("where(int64[3], float32[3], float32[3])", "float32"),
        ("where(float32[3], float32[3], float32[3])", "!"),
    ],
)
def test_bounds_conditions_and_closeness(expression: str, expected: str) -> None:
    assert in_oneflow(expression) == expected


@pytest.mark.parametrize("op", ["acos", "cosh"])
def test_two_functions_leave_integers_without_a_kernel(op: str) -> None:
    found = cw.resolve(op, "int32[3]", dialect="oneflow")
    assert (found.result.name, found.has_kernel) == ("int32", False)
