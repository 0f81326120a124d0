"""MLX, statement by statement."""

from __future__ import annotations

import pytest

from asking import result


def in_mlx(expression: str) -> str:
    return result(expression, "mlx")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + uint8[3]", "int16"),
        ("uint32[3] + int32[3]", "int64"),
        ("uint64[3] + int8[3]", "float32"),
        ("int64[3] + float16[3]", "float16"),
        ("float16[3] + bfloat16[3]", "float32"),
        ("float64[3] + complex64[3]", "complex64"),
        ("int8[3] + int32[]", "int32"),
        ("bool[3] + bool[3]", "bool"),
    ],
)
def test_arrays_join_in_a_lattice_whatever_their_rank(expression: str, expected: str) -> None:
    assert in_mlx(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + 1", "int8"),
        ("int64[3] + 1.5", "float32"),
        ("float16[3] + 1.5", "float16"),
        ("float16[3] + 1j", "complex64"),
        ("float64[3] + 1j", "complex64"),
        ("bool[3] + 1", "int32"),
        ("bool[3] + True", "bool"),
        ("where(bool[3], 1, 1.5)", "float32"),
    ],
)
def test_python_numbers_are_weak(expression: str, expected: str) -> None:
    assert in_mlx(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + 300", "!range"),
        ("uint8[3] + -1", "!range"),
        ("int8[3] / 300", "!range"),
        ("uint64[3] + -1", "uint64"),
        ("bool[3] + 2147483648", "int32"),
        ("float16[3] + 70000.0", "float16"),
        ("float32[3] + 9223372036854775808", "!range"),
        ("logical_and(int8[3], 300)", "bool"),
    ],
)
def test_a_python_int_must_fit_the_array_it_stands_beside(expression: str, expected: str) -> None:
    assert in_mlx(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + np.float32[3]", "int8"),
        ("int8[3] + np.float32[]", "int8"),
        ("int8[3] + np.complex128(1)", "int8"),
        ("bool[3] + np.int64[3]", "bool"),
        ("int8[3] + np.float64(1)", "float32"),
        ("add(np.float32[3], int8[3])", "int8"),
        ("np.float32[3] + int8[3]", "float32"),
        ("np.float64(1) + int8[3]", "float64"),
        ("np.int8[3] / int8[3]", "float64"),
        ("np.complex128[3] + int8[3]", "complex128"),
        ("np.float32[3] + bfloat16[3]", "!"),
        ("np.bool[3] - bool[3]", "!"),
    ],
)
def test_numpy_adapts_but_decides_on_the_left_of_an_operator(
    expression: str, expected: str
) -> None:
    assert in_mlx(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] += float32[3]", "float32"),
        ("float16[3] += float32[3]", "float32"),
        ("int8[3] /= int8[3]", "!"),
        ("float16[3] /= int8[3]", "float16"),
    ],
)
def test_in_place_takes_the_promoted_dtype(expression: str, expected: str) -> None:
    assert in_mlx(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int64[3] / int64[3]", "float32"),
        ("bool[3] // bool[3]", "bool"),
        ("bool[3] - bool[3]", "bool"),
        ("bool[3] << bool[3]", "uint8"),
        ("int8[3] ** -1", "int8"),
        ("complex64[3] // complex64[3]", "complex64"),
        ("complex64[3] % complex64[3]", "!"),
        ("atan2(complex64[3], complex64[3])", "!"),
        ("int8[3] & float32[3]", "!"),
        ("int8[3] & uint64[3]", "!"),
        ("int8[3] @ int8[3]", "!"),
        ("-bool[3]", "!"),
        ("sigmoid(complex64[3])", "!"),
        ("exp(int64[3])", "float32"),
    ],
)
def test_ops_that_deviate(expression: str, expected: str) -> None:
    assert in_mlx(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sum(bool[3])", "int32"),
        ("sum(uint16[3])", "uint32"),
        ("sum(int64[3])", "int64"),
        ("sum(bool[])", "bool"),
        ("prod(int8[])", "int8"),
        ("softmax(int8[3])", "float32"),
        ("softmax(int8[])", "int8"),
        ("cumsum(int8[3])", "int8"),
        ("cumsum(bool[3])", "int32"),
        ("cumprod(bool[3])", "bool"),
        ("mean(int64[3])", "float32"),
        ("var(complex64[3])", "float32"),
        ("argmax(float32[3])", "uint32"),
        ("count_nonzero(int8[3])", "int32"),
    ],
)
def test_reductions_widen_arrays_and_keep_single_elements(expression: str, expected: str) -> None:
    assert in_mlx(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("result_type(uint64[3], int8[3], float16[3])", "float32"),
        ("result_type(float16[3], uint64[3], int8[3])", "float16"),
        ("concat(uint64[3], int8[3], float16[3])", "float32"),
    ],
)
def test_several_arrays_are_joined_pair_by_pair(expression: str, expected: str) -> None:
    assert in_mlx(expression) == expected
