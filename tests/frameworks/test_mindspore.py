"""MindSpore, statement by statement."""

from __future__ import annotations

import pytest

import castwise as cw
from asking import result


def in_mindspore(expression: str) -> str:
    return result(expression, "mindspore")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("uint8[3] + int8[3]", "int16"),
        ("uint8[3] + int32[3]", "int32"),
        ("int64[3] + float16[3]", "float16"),
        ("float16[3] + bfloat16[3]", "float32"),
        ("float64[3] + complex64[3]", "complex128"),
        ("float32[3] + complex64[3]", "complex64"),
        ("float32[3] + float64[]", "float64"),
        ("int8[3] + int64[]", "int64"),
        ("maximum(int8[3], float64[])", "float64"),
        ("where(bool[3], int8[3], float64[])", "float64"),
    ],
)
def test_most_ops_join_by_a_table_whatever_the_rank(expression: str, expected: str) -> None:
    assert in_mindspore(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("float32[3] * float64[]", "float32"),
        ("int8[3] * int64[]", "int8"),
        ("int8[3] * float16[]", "float16"),
        ("int8[3] * uint8[3]", "int16"),
        ("float64[3] * complex64[]", "complex64"),
        ("int8[3] / float64[]", "float64"),
        ("int8[3] / int64[]", "float32"),
        ("float32[3] / float64[3]", "float64"),
    ],
)
def test_times_and_divide_count_ranks_and_kinds_before_them(expression: str, expected: str) -> None:
    assert in_mindspore(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("uint16[3] + uint16[3]", "uint16"),
        ("uint16[3] + uint32[3]", "!"),
        ("uint16[3] + int64[3]", "!"),
        ("uint16[3] + float32[3]", "!"),
        ("bool[3] + uint16[3]", "uint16"),
        ("bool[3] * uint16[3]", "!"),
        ("bool[3] * uint16[]", "uint16"),
        ("uint16[3] * int64[]", "uint16"),
    ],
)
def test_the_wide_unsigned_dtypes_mix_with_almost_nothing(expression: str, expected: str) -> None:
    assert in_mindspore(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + 1", "int8"),
        ("int8[] + 300", "int8"),
        ("int8[3] + True", "int8"),
        ("bool[3] + 1", "int64"),
        ("int64[3] + 1.5", "float32"),
        ("float16[3] + 1.5", "float16"),
        ("float16[3] + 1e39", "float16"),
        ("uint16[3] + 1", "!"),
        ("uint16[3] + 1.5", "!"),
        ("uint16[3] * 1", "uint16"),
        ("uint16[3] / 1.5", "float32"),
        ("int8[3] + 9223372036854775808", "!range"),
        ("float32[3] + 9223372036854775808", "!range"),
        ("complex64[3] + 1j", "!"),
        ("float_power(float32[3], 1j)", "complex128"),
    ],
)
def test_python_numbers_are_weak(expression: str, expected: str) -> None:
    assert in_mindspore(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[] * 1", "int8"),
        ("mul(int8[], 1)", "int64"),
        ("float16[] * 1.5", "float16"),
        ("mul(float16[], 1.5)", "float32"),
        ("div(uint16[], 1)", "!"),
        ("uint16[] / 1", "float32"),
        ("xlogy(float16[3], 1)", "float32"),
        ("bitwise_left_shift(uint16[3], 1)", "uint16"),
        ("clamp(uint16[3], 1, 1.5)", "float32"),
        ("clamp(uint16[3], 1, 2)", "uint16"),
    ],
)
def test_some_functions_make_tensors_of_numbers(expression: str, expected: str) -> None:
    assert in_mindspore(expression) == expected


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        ("add", ("int8[3]", "1.5"), "float32"),
        ("add", ("int8[3]", "float64[3]"), "float64"),
        ("add", ("bool[3]", "bool[3]"), "bool"),
        ("mul", ("float16[]", "1.5"), "float32"),
        ("div", ("int8[3]", "int8[3]"), "float32"),
    ],
)
def test_in_place_takes_the_dtype_of_the_result(
    op: str, operands: tuple[str, str], expected: str
) -> None:
    decision = cw.resolve(op, *operands, dialect="mindspore", inplace=True)
    assert decision.result.name == expected


def test_booleans_are_subtracted_by_the_operator_alone() -> None:
    assert in_mindspore("bool[3] - bool[3]") == "bool"
    assert in_mindspore("sub(bool[3], bool[3])") == "!"
    assert in_mindspore("True - bool[3]") == "!"
    with pytest.raises(cw.PromotionError):
        cw.resolve("sub", "bool[3]", "bool[3]", dialect="mindspore", inplace=True)


def test_booleans_are_added_by_the_operator_alone() -> None:
    assert in_mindspore("bool[3] + bool[3]") == "bool"
    assert in_mindspore("add(bool[3], bool[3])") == "!"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int32[2] + [1.5, 2]", "int32"),
        ("[1+2j, 3] - float16[2]", "float16"),
        ("bool[2] // [[1, 2]]", "bool"),
        ("[1, 2] ** uint16[2]", "uint16"),
        ("uint16[2] ** [1, 2]", "!"),
        ("bool[2] + [True, True]", "!"),  # as the function
        ("int32[2] * [1, 2]", "!"),
        ("add(int32[2], [1, 2])", "!"),
    ],
)
def test_older_operators_cast_lists_to_the_tensor(expression: str, expected: str) -> None:
    assert in_mindspore(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[2] + [9223372036854775808, 1]", "int8"),
        ("int8[2] + [18446744073709551616, 1]", "!range"),
        ("float32[1] + [[18446744073709551616]]", "!range"),
        ("int8[2] + [9223372036854775808, 1.5]", "!range"),  # of two types, each is read on its own
        ("uint64[2] + [9223372036854775808, 1.5]", "uint64"),
        ("float32[2] + [18446744073709551616, 1.5]", "float32"),
        ("complex64[2] + [1, 1+2j]", "!"),
        ("complex64[2] + [1+2j, 1]", "complex64"),
    ],
)
def test_lists_hold_what_the_cast_takes(expression: str, expected: str) -> None:
    assert in_mindspore(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("uint16[3] == int8[3]", "bool"),
        ("uint16[3] < int8[3]", "bool"),
        ("uint16[3] != int8[3]", "!"),
        ("uint16[3] > int8[3]", "!"),
        ("uint16[3] < 1", "bool"),
        ("1 < uint16[3]", "!"),
        ("1 > uint16[3]", "bool"),
    ],
)
def test_equal_and_less_cast_nothing(expression: str, expected: str) -> None:
    assert in_mindspore(expression) == expected


def test_what_casts_nothing_shows_no_cast() -> None:
    assert cw.resolve("lt", "int8[3]", "float32[3]", dialect="mindspore").casts == (None, None)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("remainder(bool[3], uint16[3])", "uint16"),
        ("remainder(uint16[3], bool[3])", "!"),
        ("uint16[3] % uint16[3]", "!"),
        ("fmod(int8[3], int64[])", "int8"),
        ("fmod(int64[], int8[3])", "int64"),
        ("huber_loss(float16[], float16[])", "float32"),
    ],
)
def test_functions_made_of_others_promote_step_by_step(expression: str, expected: str) -> None:
    assert in_mindspore(expression) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "matmul(float16[3], float32[3])",
        "dot(int8[3], int16[3])",
        "stack(int8[3], int16[3])",
        "nextafter(float32[3], float64[3])",
        "bitwise_left_shift(int8[3], int16[3])",
        "allclose(float32[3], float64[3])",
        "addcmul(int8[3], int8[3], int16[3])",
    ],
)
def test_some_ops_want_one_dtype(expression: str) -> None:
    assert in_mindspore(expression) == "!"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sum(uint8[3])", "int64"),
        ("sum(uint16[3])", "uint16"),
        ("mean(int8[3])", "int8"),
        ("cumsum(int8[3])", "int8"),
        ("cumprod(uint16[3])", "int64"),
        ("any(uint8[3])", "uint8"),
        ("argmax(int8[3])", "int64"),
        ("argmin(int8[3])", "int32"),
        ("argmin(int8[])", "int64"),
        ("abs(complex64[3])", "complex64"),
        ("sqrt(int8[3])", "float32"),
        ("exp(int8[3])", "!"),
        ("~int8[3]", "bool"),
        ("bitwise_not(int8[3])", "int8"),
        ("softmax(float32[])", "!"),
    ],
)
def test_one_operand(expression: str, expected: str) -> None:
    assert in_mindspore(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + np.float64(1)", "float32"),
        ("int8[3] + np.int64(300)", "int8"),
        ("int8[3] + np.float32[3]", "!"),
        ("np.float32[3] + int8[3]", "float32"),
        ("np.float32[3] + bfloat16[3]", "!"),
    ],
)
def test_numpy_scalars_are_numbers_and_arrays_are_refused_on_the_right(
    expression: str, expected: str
) -> None:
    assert in_mindspore(expression) == expected


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        ("uint16[3], int8[3]", "int32"),
        ("uint64[3], int8[3]", "float64"),
        ("uint64[3], float16[3]", "float16"),
        ("uint16[3], float64[3]", "float32"),
        ("int8[3], 1", "int32"),
        ("float16[3], 1.5", "float32"),
        ("uint64[3], int8[3], float16[3]", "float64"),
        ("float16[3], uint64[3], int8[3]", "float16"),
        ("bfloat16[3], float32[3]", "!"),
        ("bfloat16[3], bfloat16[3]", "bfloat16"),
        ("float32[3], complex64[3]", "!"),
    ],
)
def test_result_type_reads_another_table_than_the_ops(dtypes: str, expected: str) -> None:
    assert in_mindspore(f"result_type({dtypes})") == expected
