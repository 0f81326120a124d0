"""Live JAX dtypes, arrays and tracers are recognised, weak types included."""

from __future__ import annotations

from typing import Any

import pytest
from expecting import expect

from castwise.vocab.dtypes import DTYPES, dtype
from castwise.vocab.live import is_plain_array, to_dtype
from castwise.vocab.notation import describe

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")


JAX_NAMES = [d.name for d in DTYPES if hasattr(jnp, d.name) or d.name == "bool"]


@pytest.mark.parametrize("name", JAX_NAMES)
def test_every_dtype_of_jax(name: str) -> None:
    scalar_type = getattr(jnp, "bool_" if name == "bool" else name)
    assert to_dtype(scalar_type) is dtype(name)
    assert to_dtype(jnp.dtype(name)) is dtype(name)
    assert to_dtype(f"jnp.{name}") is dtype(name)


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (jnp.zeros(3, "int8"), "int8[3]"),
        (jnp.asarray(5), "int32*[]"),
        (jnp.asarray(5.0), "float32*[]"),
        (jnp.float32(5), "float32[]"),
        (jnp.zeros(3, jnp.bfloat16), "bfloat16[3]"),
        (jnp.full(3, 5), "int32*[3]"),
        (jax.ShapeDtypeStruct((2, 3), jnp.float16), "float16[2,3]"),
    ],
    ids=str,
)
def test_jax_arrays_and_their_weakness(array: Any, text: str) -> None:
    expect(describe(array), text)


def test_jax_tracers_are_described_under_jit_grad_and_vmap() -> None:
    seen = []

    def look(x: Any, y: Any) -> Any:
        seen.extend([describe(x), describe(y)])
        return (x * y).sum()

    jax.jit(look)(jnp.zeros(3, "float16"), 2.0)
    jax.grad(look)(jnp.zeros((2, 3)), 2.0)
    jax.vmap(lambda x: look(x, x))(jnp.zeros((4, 3)))
    texts = [str(operand) for operand in seen]
    assert texts == ["float16[3]", "float32*[]", "float32[2,3]", "2.0", "float32[3]", "float32[3]"]


def test_a_weak_array_is_not_plain() -> None:
    assert not is_plain_array(jnp.asarray(5))
