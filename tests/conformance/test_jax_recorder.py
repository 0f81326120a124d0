"""The recorder of JAX, where JAX is installed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from recording import recorded

from castwise.conformance.recorders import find_recorder


@pytest.mark.parametrize(
    ("op", "form", "operands", "x32", "x64"),
    [
        ("add", "operator", "int8[3];uint8[3]", "int16", "int16"),
        ("add", "function", "int64[3];int8[3]", "int32", "int64"),
        ("add", "function", "uint64[3];int8[3]", "int32", "float64*"),
        ("add", "function", "int8[3];1.5", "float32*", "float64*"),
        ("add", "function", "uint32[3];2147483648", "!range", "uint32"),
        ("add", "inplace", "uint32[3];2147483648", "uint32", "uint32"),
        ("add", "inplace", "int8[];int8[3]", None, None),
        ("add", "augmented", "int8[];int8[3]", "int8", "int8"),
        ("add", "augmented", "int32[3];1.5", "float32*", "float64*"),
        ("add", "augmented", "np.int8[3];int16[3]", "int16", "int16"),
        ("add", "operator", "int4[3];int8[3]", "!", "!"),
        ("add", "operator", "np.int64[3];int8[3]", "int32", "int64"),
        ("lt", "function", "int8[3];1", "bool", "bool"),
        ("pow", "operator", "int8[3];int64[]", "int8", "int8"),
        ("pow", "function", "int8[3];-1", "!range", "!range"),
        ("matmul", "operator", "int8[3];int8[]", None, None),
        ("where", "function", "int8[3];bool[3];1", "int32*", "int64*"),
        ("concat", "function", "int8[3];uint8[3];float16[3]", "float16", "float16"),
        ("sum", "function", "uint8[3]", "uint32", "uint64"),
        ("argmax", "function", "complex64[3]", "!", "!"),
        ("hypot", "function", "complex64[3];1", "!", "!"),
        ("promote_types", "function", "uint64[3];int8[3]", "int32", "float64"),
        ("add", "function", "int2[3];int2[3]", "int2", "int2"),
        ("add", "function", "float6_e2m3fn[3];int8[3]", *["no-kernel:float6_e2m3fn"] * 2),
        ("sum", "function", "int1[3]", "!", "!"),
        ("eq", "function", "uint1[3];uint1[3]", "no-kernel:bool", "no-kernel:bool"),
        ("result_type", "function", "uint1[3];True", "uint1", "uint1"),
    ],
)
def test_jax(op: str, form: str, operands: str, x32: str | None, x64: str | None) -> None:
    answers = [recorded("jax", op, form, operands, mode) for mode in ("", "x64")]
    assert answers == [x32, x64]


@pytest.mark.parametrize(
    ("operands", "strict", "explicit"),
    [
        ("int32[3];int64[3]", "!", "int64"),
        ("int8[3];1", "int8", "int8"),
        ("int32[3];np.int64(1)", "!", "int32"),
        ("uint64[3];int8[3]", "!", "float32*"),
    ],
)
def test_other_modes(operands: str, strict: str, explicit: str) -> None:
    modes = ("strict", "explicit-x64")
    answers = [recorded("jax", "add", "function", operands, mode) for mode in modes]
    assert answers == [strict, explicit]


def test_settings_are_restored() -> None:
    jax = pytest.importorskip("jax")
    names = ("jax_enable_x64", "jax_explicit_x64_dtypes", "jax_numpy_dtype_promotion")
    before = [getattr(jax.config, name) for name in names]
    with find_recorder("jax", "strict").session():
        assert jax.config.jax_enable_x64
    assert [getattr(jax.config, name) for name in names] == before


def test_unknown_modes_are_refused() -> None:
    pytest.importorskip("jax")
    with pytest.raises(ValueError, match="jax is recorded as jax, jax:x64"):
        find_recorder("jax", "x16")


def test_a_release_whose_shapes_do_not_say_what_is_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of 0.4.20: its results are as weak as today's."""
    jax = pytest.importorskip("jax")
    eval_shape = jax.eval_shape

    def told(function: Any) -> Any:
        result = eval_shape(function)
        return SimpleNamespace(shape=result.shape, dtype=result.dtype)

    monkeypatch.setattr(jax, "eval_shape", told)
    assert recorded("jax", "add", "operator", "int32[3];1.5") == "float32*"
    assert recorded("jax", "add", "operator", "int32[3];int8[3]") == "int32"
