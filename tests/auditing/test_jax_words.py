"""Calls that the JAX hook says cast as an op does: asked of JAX itself."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import castwise as cw
from castwise.auditing.hooks import find_hook

jnp: Any = pytest.importorskip("jax.numpy")

DTYPES = ["bool", "int8", "uint8", "int32", "float16", "bfloat16", "float32", "complex64"]
HOOK = find_hook("jax")
assert HOOK is not None
CASES = [(op, name) for op, names in HOOK.calls.like.items() for name in names.split()]


@pytest.mark.parametrize(("op", "name"), CASES, ids=lambda case: case)
def test_it_casts_as_the_op_does(op: str, name: str) -> None:
    for dtypes in itertools.product(DTYPES, repeat=1 if op == "sin" else 2):
        arrays = [jnp.ones(2, dtype) for dtype in dtypes]
        given = [arrays] if op == "concat" else arrays
        answered = str(getattr(jnp, name)(*given).dtype)
        expected = cw.resolve(op, *[f"{d}[2]" for d in dtypes], dialect="jax").result
        assert answered == expected.name, dtypes
