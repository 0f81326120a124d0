"""The recorder of Keras on JAX, where both are installed."""

from __future__ import annotations

import pytest
from recording import recorded


@pytest.mark.parametrize(
    ("op", "form", "operands", "expected"),
    [
        ("add", "function", "int8[3];uint8[3]", "int16"),
        ("add", "function", "int8[3];1.5", "float32*"),
        ("add", "function", "uint64[3];int8[3]", "int32"),
        ("result_type", "function", "uint64[3];int8[3]", "float32"),
        ("result_type", "function", "float16[3];1+1j", "complex64"),
        ("result_type", "function", "float32*[3];float16[3]", None),
        ("add", "function", "int8[3];2147483648", "!range"),
        ("pow", "function", "int8[3];int64[]", "int8"),
        ("pow", "function", "int8[3];2147483648", "!range"),
        ("pow", "operator", "int8[3];2147483648", "int8"),
        ("add", "augmented", "int32[3];1.5", "float32*"),
        ("matmul", "function", "int8[3];int8[3]", "int32"),
        ("atan2", "function", "float16[3];1.5", "float32"),
        ("atan2", "function", "float8_e5m2[3];float8_e5m2[3]", "!"),
        ("floor", "function", "int32[3]", "float32"),
        ("argmax", "function", "float8_e5m2[3]", "!"),
        ("argmax", "function", "float8_e5m2[]", "int32"),
        ("concat", "function", "int8[];int8[]", None),
    ],
)
def test_keras(op: str, form: str, operands: str, expected: str | None) -> None:
    assert recorded("keras", op, form, operands) == expected
