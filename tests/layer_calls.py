"""A call of each layer, and what NumPy makes of it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np


class LayerCall(NamedTuple):
    """The op, its operands, what else it is given, and the values it should have."""

    op: str
    operands: tuple[Any, ...]
    options: dict[str, Any]
    expected: Any


def _softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _conv(x: Any, weight: Any, bias: Any, stride: int, padding: int, dilation: int) -> Any:
    """A convolution in one group, element by element."""
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * rank])
    reach = [dilation * (n - 1) + 1 for n in weight.shape[2:]]
    sizes = [(n - r) // stride + 1 for n, r in zip(x.shape[2:], reach, strict=True)]
    found = np.empty((len(x), len(weight), *sizes))
    for place in np.ndindex(*sizes):
        parts = [slice(p * stride, p * stride + r, dilation)
                 for p, r in zip(place, reach, strict=True)]  # fmt: skip
        window = x[(slice(None), slice(None), *parts)]
        found[(slice(None), slice(None), *place)] = np.tensordot(
            window, weight, axes=(list(range(1, x.ndim)), list(range(1, x.ndim)))
        )
    return found + bias.reshape(-1, *[1] * rank)


def layer_calls() -> list[LayerCall]:
    """Every layer, some of them in more than one way."""
    rng = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return rng.standard_normal(shape).astype("float32")

    x, y, table = floats(2, 3), floats(3, 4), floats(5, 4)
    places, classes = np.asarray([[0, 4], [2, 2]]), np.asarray([2, 0])
    length, kernel = floats(2, 4, 9), floats(6, 4, 3)
    image, filters, bias = floats(1, 2, 5, 6), floats(3, 2, 2, 2), floats(3)
    query, key, value = floats(2, 3, 4), floats(2, 5, 4), floats(2, 5, 6)
    scores = query @ key.swapaxes(-1, -2)
    masked = np.where(np.tri(3, 5, dtype=bool), scores, -math.inf)
    away = x - x.mean(-1, keepdims=True)
    normal = away / np.sqrt((away**2).mean(-1, keepdims=True) + 1e-5)
    logs = np.log(_softmax(x))
    likely = -np.asarray([logs[0, 2], logs[1, 0]])
    shares = _softmax(floats(2, 3))
    grouped = np.concatenate([
        _conv(length[:, :2], kernel[:3, :2], np.zeros(3), 1, 0, 1),
        _conv(length[:, 2:], kernel[3:, :2], np.zeros(3), 1, 0, 1),
    ], axis=1)  # fmt: skip
    strided = {"stride": 2, "padding": 1, "dilation": 2}
    return [
        LayerCall("einsum", (x, y), {"equation": "ij,jk->ik"}, x @ y),
        LayerCall("einsum", (x,), {"equation": "ij->ji"}, x.T),
        LayerCall("einsum", (query, key), {"equation": "...ie,...je"}, scores),
        LayerCall("pad", (x,), {"pad_width": ((0, 1), (2, 0)), "constant_values": 7},
                  np.pad(x, ((0, 1), (2, 0)), constant_values=7)),
        LayerCall("one_hot", (classes,), {"num_classes": 4}, np.eye(4)[classes]),
        LayerCall("embedding", (places, table), {}, table[places]),
        LayerCall("conv1d", (length, kernel, floats(6) * 0), strided,
                  _conv(length, kernel, np.zeros(6), 2, 1, 2)),
        LayerCall("conv1d", (length, kernel[:, :2]), {"groups": 2}, grouped),
        LayerCall("conv2d", (image, filters, bias), {}, _conv(image, filters, bias, 1, 0, 1)),
        LayerCall("layer_norm", (x,), {}, normal),
        LayerCall("layer_norm", (x, y[:, 0], y[:, 1]), {"normalized_shape": (3,)},
                  normal * y[:, 0] + y[:, 1]),
        LayerCall("scaled_dot_product_attention", (query, key, value), {},
                  _softmax(scores / 2) @ value),
        LayerCall("scaled_dot_product_attention", (query, key, value),
                  {"is_causal": True, "scale": 1.0}, _softmax(masked) @ value),
        LayerCall("cross_entropy", (x, classes), {}, likely.mean()),
        LayerCall("cross_entropy", (x, classes), {"reduction": "none"}, likely),
        LayerCall("cross_entropy", (x, shares), {"reduction": "sum"}, -(logs * shares).sum()),
        LayerCall("cross_entropy", (x, np.asarray([2, -100])), {}, likely[0]),
        LayerCall("cross_entropy", (x, classes), {"ignore_index": 2}, likely[1]),
        LayerCall("cross_entropy", (x, classes), {"ignore_index": 0, "reduction": "none"},
                  likely * [1, 0]),
        LayerCall("cross_entropy", (x, classes), {"label_smoothing": 0.3},
                  (0.7 * likely - 0.3 * logs.mean(-1)).mean()),
        LayerCall("cross_entropy", (x, np.asarray([2, -100])), {"label_smoothing": 0.3},
                  0.7 * likely[0] - 0.3 * logs[0].mean()),
        LayerCall("cross_entropy", (x, shares), {"label_smoothing": 0.3},
                  -(logs * (0.7 * shares + 0.1)).sum(-1).mean()),
    ]  # fmt: skip
