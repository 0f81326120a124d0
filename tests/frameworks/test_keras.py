"""Keras on JAX, statement by statement: where it follows JAX, and where it does not."""

from __future__ import annotations

import itertools

import pytest

import castwise as cw
from asking import result


def in_keras(expression: str) -> str:
    return result(expression, "keras")


@pytest.mark.parametrize(
    "op", ["add", "sub", "mul", "div", "maximum", "lt", "bitwise_and", "where"]
)
def test_binary_functions_are_jaxs_without_x64(op: str) -> None:
    dtypes = [d.name for d in cw.dialect("keras").dtypes]
    condition = "bool[3], " if op == "where" else ""
    for a, b in itertools.product(dtypes, (*dtypes, "1", "1.5", "1+1j", "2147483648")):
        asked = f"{op}({condition}{a}, {b})"
        assert in_keras(asked) == result(asked, "jax"), asked


@pytest.mark.parametrize(
    ("expression", "in_function", "in_operator"),
    [
        ("pow(int8[3], 2147483648)", "!range", "int8"),
        ("pow(int8[3], 2)", "int8", "int8"),
        ("pow(int8[3], int64[])", "int8", "int8"),
        ("pow(int8[3], -1)", "!range", "!range"),
        ("matmul(int8[3], int8[3])", "int32", "int8"),
        ("matmul(int8[3], uint8[3])", "int16", "int16"),
    ],
)
def test_operators_are_jaxs_own(expression: str, in_function: str, in_operator: str) -> None:
    assert in_keras(expression) == in_function
    name, _, operands = expression.rstrip(")").partition("(")
    symbol = {"pow": "**", "matmul": "@"}[name]
    assert in_keras(operands.replace(", ", f" {symbol} ")) == in_operator


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("atan2(float16[3], 1.5)", "float32"),  # a Python float is made a float32 array first
        ("logaddexp(bfloat16[3], 1.5)", "float32"),
        ("atan2(float16[3], 1)", "float16"),
        ("atan2(int8[3], int8[3])", "float32"),
        ("hypot(float16[3], 1.5)", "float16"),
        ("floor(int32[3])", "float32"),
        ("ceil(bool[3])", "float32"),
        ("trunc(int32[3])", "int32"),
        ("var(complex64[3])", "complex64"),
        ("std(complex64[3])", "float32"),
        ("mean(int8[3])", "float32"),
        ("angle(float16[3])", "float16"),
        ("angle(float16[])", "float32"),
        ("rsqrt(int32[3])", "!"),
        ("sigmoid(int32[3])", "!"),
        ("softmax(bool[3])", "!"),
        ("relu(bool[3])", "int32"),
    ],
)
def test_functions_with_rules_of_their_own(expression: str, expected: str) -> None:
    assert in_keras(expression) == expected


@pytest.mark.parametrize(
    "call", ["sin", "tanh", "floor", "ceil", "mean", "var", "angle", "argmax", "result_type"]
)
def test_8_bit_floats_are_refused_where_keras_promotes_by_itself(call: str) -> None:
    assert in_keras(f"{call}(float8_e4m3fn[3])") == "!"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("exp(float8_e4m3fn[3])", "float8_e4m3fn"),
        ("add(float8_e4m3fn[3], int8[3])", "float8_e4m3fn"),
        ("argmax(float8_e4m3fn[])", "int32"),
    ],
)
def test_and_taken_elsewhere(expression: str, expected: str) -> None:
    assert in_keras(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("result_type(uint64[3], int8[3])", "float32"),
        ("result_type(uint32[3], int32[3])", "int32"),
        ("result_type(float64[3], float64[3])", "float32"),
        ("result_type(int64[3], int64[3])", "int32"),
        ("result_type(int8[3], 1.5)", "float32"),
        ("result_type(float16[3], 1.5)", "float16"),
        ("result_type(float16[3], 1+1j)", "complex64"),
        ("result_type(bool[3], 1)", "int32"),
    ],
)
def test_result_type_is_of_dtypes_and_maps_64_bits_down(expression: str, expected: str) -> None:
    assert in_keras(expression) == expected
