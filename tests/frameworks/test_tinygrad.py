"""tinygrad, statement by statement."""

from __future__ import annotations

import pytest

import castwise as cw
from asking import result
from castwise.engine.ask import answer, question_in


def in_tinygrad(expression: str) -> str:
    """The result in a word; a weak one ends in a star, as tinygrad shows weakint and weakfloat."""
    found = result(expression, "tinygrad")
    if found.startswith("!"):
        return found
    is_weak = answer(question_in(expression, "tinygrad")).is_weak
    return f"{found}*" if is_weak else found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + uint8[3]", "int16"),
        ("uint32[3] + int32[3]", "int64"),
        ("uint64[3] + int8[3]", "float32*"),
        ("int64[3] + float16[3]", "float16"),
        ("int32[3] + float8_e4m3fn[3]", "float8_e4m3fn"),
        ("float8_e4m3fn[3] + float8_e5m2[3]", "float16"),
        ("float8_e5m2[3] + bfloat16[3]", "bfloat16"),
        ("float16[3] + bfloat16[3]", "float32"),
        ("int8[3] + int32[]", "int32"),
        ("concat(uint64[3], int8[3], float16[3])", "float16"),
    ],
)
def test_tensors_join_in_a_lattice_whatever_their_rank(expression: str, expected: str) -> None:
    assert in_tinygrad(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + 1", "int8"),
        ("int32[3] + 1.5", "float32*"),
        ("float16[3] + 1.5", "float16"),
        ("bool[3] + 1", "int32*"),
        ("bool[3] + True", "bool"),
        ("float32*[3] + float16[3]", "float16"),
        ("int32*[3] + int8[3]", "int8"),
        ("int32*[3] + 1", "int32*"),
        ("float32*[3] + int64[3]", "float32*"),
        ("int8[3] + 18446744073709551616", "int8"),
        ("int8[3] + 1j", "!"),
    ],
)
def test_weak_results_stay_visible_and_no_int_is_too_large(expression: str, expected: str) -> None:
    assert in_tinygrad(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + np.int8[3]", "!"),
        ("int8[3] + np.float32(1)", "!"),
        ("int8[3] + np.float64(1)", "float32*"),
        ("float16[3] + np.float64(1)", "float16"),
    ],
)
def test_of_numpy_only_what_is_a_python_float_is_taken(expression: str, expected: str) -> None:
    assert in_tinygrad(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] += bool[3]", "int8"),
        ("int8[3] += 300", "int8"),
        ("int8[3] += float32[3]", "!"),
        ("bool[3] += 1", "!"),
        ("int32[3] /= int32[3]", "!"),
        ("int32*[3] += 1", "int32"),
        ("int8[3] %= float32[3]", "float32"),
    ],
)
def test_in_place_demands_the_dtype_of_the_target(expression: str, expected: str) -> None:
    assert in_tinygrad(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int64[3] / int64[3]", "float32"),
        ("int8[3] / 2.5", "float32*"),
        ("bool[3] / 2", "float32"),
        ("uint64[3] / int8[3]", "float32*"),
        ("bool[3] // bool[3]", "float32"),
        ("bool[3] % bool[3]", "float32"),
        ("bool[3] - bool[3]", "bool"),
        ("-bool[3]", "bool"),
        ("int8[3] ** 2.0", "float32*"),
        ("int8[3] ** -1", "!range"),
        ("float32[3] ** -1", "float32"),
        ("(-1) ** int8[3]", "!range"),
        ("bool[3] << 1", "int32*"),
        ("bool[3] << bool[3]", "!"),
        ("1 << int8[3]", "int32*"),
        ("float32[3] << 1", "!"),
    ],
)
def test_operators_that_deviate(expression: str, expected: str) -> None:
    assert in_tinygrad(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("exp(int8[3])", "float32"),
        ("exp(int32*[3])", "float32*"),
        ("exp(float8_e5m2[3])", "float8_e5m2"),
        ("tanh(int8[3])", "float32*"),
        ("sigmoid(bool[3])", "float32*"),
        ("round(int8[3])", "float32*"),
        ("floor(bool[3])", "int32*"),
        ("floor(int8[3])", "int8"),
        ("relu(bool[3])", "int32*"),
        ("sum(int8[3])", "int32"),
        ("sum(uint8[])", "uint32"),
        ("sum(float32*[3])", "float32"),
        ("cumsum(bool[3])", "int32"),
        ("prod(int8[3])", "int8"),
        ("mean(int8[3])", "float32"),
        ("argmax(int8[3])", "int32"),
        ("matmul(int8[3], uint8[3])", "int16"),
    ],
)
def test_functions_and_reductions(expression: str, expected: str) -> None:
    assert in_tinygrad(expression) == expected


def test_bits_of_floats_are_promoted_and_then_not_computed() -> None:
    decision = cw.resolve("bitwise_and", "int8[3]", "float16[3]", dialect="tinygrad")
    assert decision.result.name == "float16"
    assert "no CPU kernel" in decision.notes[0]
