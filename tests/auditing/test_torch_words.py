"""Calls that the torch hook says cast nothing: torch refuses arrays of two dtypes in them."""

from __future__ import annotations

from typing import Any

import pytest

from castwise.auditing.hooks import find_hook

torch = pytest.importorskip("torch")
functional: Any = torch.nn.functional

REFUSING = {
    "linear": lambda a, b: functional.linear(a, b),
    "bmm": lambda a, b: torch.bmm(a[None], b[None]),
    "mm": lambda a, b: torch.mm(a, b),
    "mv": lambda a, b: torch.mv(a, b[0]),
    "addmm": lambda a, b: torch.addmm(a, a, b),
    "baddbmm": lambda a, b: torch.baddbmm(a[None], a[None], b[None]),
    "einsum": lambda a, b: torch.einsum("ij,jk", a, b),
    "conv1d": lambda a, b: functional.conv1d(a[None], b[None, :, :2]),
    "conv2d": lambda a, b: functional.conv2d(a[None, None], b[None, None, :2, :2]),
    "scaled_dot_product_attention": lambda a, b: functional.scaled_dot_product_attention(
        a[None], b[None], b[None]
    ),
}
ONE_ARRAY = {
    "max_pool2d": lambda a: functional.max_pool2d(a[None], 2),
    "avg_pool2d": lambda a: functional.avg_pool2d(a[None], 2),
    "adaptive_avg_pool2d": lambda a: functional.adaptive_avg_pool2d(a[None], 1),
    "interpolate": lambda a: functional.interpolate(a[None], scale_factor=2),
    "pad": lambda a: functional.pad(a, (1, 1)),
    "dropout": lambda a: functional.dropout(a),
    "normalize": lambda a: functional.normalize(a),
    "silu": lambda a: functional.silu(a),
    "leaky_relu": lambda a: functional.leaky_relu(a),
    "elu": lambda a: functional.elu(a),
    "softplus": lambda a: functional.softplus(a),
    "embedding": lambda a: functional.embedding(torch.tensor([0, 1]), a),
    "masked_fill": lambda a: a.masked_fill(a > 0, 0.5),
}


def words() -> list[str]:
    hook = find_hook("torch")
    assert hook is not None
    return hook.calls.keeps.split()


@pytest.mark.parametrize("name", REFUSING)
def test_two_dtypes_are_refused(name: str) -> None:
    one, other = torch.ones(4, 4), torch.ones(4, 4, dtype=torch.bfloat16)
    assert name in words()
    assert REFUSING[name](one, one).dtype == torch.float32
    with pytest.raises(RuntimeError):
        REFUSING[name](one, other)


@pytest.mark.parametrize("name", ONE_ARRAY)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_dtype_is_kept(name: str, dtype: str) -> None:
    assert name in words()
    held = getattr(torch, dtype)
    assert ONE_ARRAY[name](torch.ones(4, 4, dtype=held)).dtype == held
