"""Live Paddle dtypes, tensors and values of a static graph are recognised."""

from __future__ import annotations

import pytest
from expecting import expect

from castwise.vocab.dtypes import DTYPES, dtype
from castwise.vocab.live import to_dtype
from castwise.vocab.notation import describe

paddle = pytest.importorskip("paddle")

NAMES = [d.name for d in DTYPES if isinstance(getattr(paddle, d.name, None), paddle.dtype)]


@pytest.mark.parametrize("name", NAMES)
def test_every_dtype_of_paddle(name: str) -> None:
    own = getattr(paddle, name)
    assert to_dtype(own) is dtype(name)
    assert to_dtype(f"paddle.{name}") is dtype(name)
    expect(describe(paddle.ones([2, 3]).cast(own)), f"{name}[2,3]")
    expect(describe(paddle.ones([]).cast(own)), f"{name}[]")


def test_a_parameter_is_a_tensor() -> None:
    expect(describe(paddle.nn.Linear(2, 3).weight), "float32[2,3]")


def test_a_value_of_a_static_graph() -> None:
    paddle.enable_static()
    try:
        expect(describe(paddle.static.data("x", [None, 3], "float16")), "float16[d0,3]")
    finally:
        paddle.disable_static()
