"""Layers in graphs: what runs eagerly is traced too, gives the same bits, and runs as ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
from layer_calls import LayerCall, layer_calls

X = np.asarray([[3.0, 1.0, 2.0], [0.0, 5.0, 5.0]], "float32")
TOPK = LayerCall("topk", (X,), {"k": 2}, None)
CALLS = [*layer_calls(), TOPK]


def traced(call: LayerCall, dialect: str) -> tuple[Any, list[Any], list[Any]]:
    """The graph of a layer, its operands and the tensors it gives eagerly."""
    with cw.use(dialect):
        operands = [cw.asarray(x) for x in call.operands]
        eager = cw.apply(call.op, *operands, **call.options)
        graph = cw.trace(lambda *given: cw.apply(call.op, *given, **call.options), *operands)
    return graph, operands, list(eager) if isinstance(eager, tuple) else [eager]


@pytest.mark.parametrize("dialect", ["torch", "numpy", "jax", "torch:autocast=bfloat16"])
def test_a_graph_gives_what_eager_gives(dialect: str) -> None:
    for call in CALLS:
        graph, operands, eager = traced(call, dialect)
        found = graph(*operands)
        several = list(found) if isinstance(found, tuple) else [found]
        for one, other in zip(several, eager, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape), call.op
            assert one.numpy().tobytes() == other.numpy().tobytes(), call.op


def test_a_graph_knows_the_shape_of_a_layer_with_symbolic_sizes() -> None:
    def layers(x: Any, y: Any) -> Any:
        padded = cw.apply("pad", x, [(1, 0), (1, 1), (1, 1)])
        windows = cw.apply("conv1d", x, cw.asarray(np.ones((4, 2, 2), "float32")))
        return cw.apply("einsum", "bij,...jk->bik", padded, y), windows

    product, windows = cw.trace(layers, "float32[n,2,3]", "float32[5,7]").outputs
    assert (product.shape, windows.shape) == (("n+1", 4, 7), ("n", 4, 2))


@pytest.mark.parametrize("judge", ["onnx", "onnxruntime"])
def test_a_layer_runs_as_onnx(judge: str) -> None:
    pytest.importorskip("onnx", minversion="1.23")
    runtime = pytest.importorskip(judge if judge == "onnxruntime" else "onnx.reference")
    for call in CALLS:
        graph, operands, eager = traced(call, "torch")
        if "label_smoothing" in call.options:
            with pytest.raises(cw.UsageError, match="ONNX has no cross entropy with label_smooth"):
                graph.to_onnx()
            continue
        model = graph.to_onnx(runtime="onnxruntime" if judge == "onnxruntime" else None)
        given = {i.name: x.numpy() for i, x in zip(model.graph.input, operands, strict=True)}
        if judge == "onnxruntime":
            found = runtime.InferenceSession(model.SerializeToString()).run(None, given)
        else:
            found = runtime.ReferenceEvaluator(model).run(None, given)
        for one, other in zip(found, eager, strict=True):
            near = {"rtol": 1e-4, "atol": 1e-5}
            np.testing.assert_allclose(one, other.numpy(), err_msg=call.op, **near)
            assert str(one.dtype) == other.dtype.name


def test_onnx_uses_the_op_of_a_layer() -> None:
    pytest.importorskip("onnx", minversion="1.23")
    expected = {
        "einsum": "Einsum", "pad": "Pad", "one_hot": "OneHot", "embedding": "Gather",
        "conv1d": "Conv", "conv2d": "Conv", "layer_norm": "LayerNormalization", "topk": "TopK",
        "cross_entropy": "SoftmaxCrossEntropyLoss", "scaled_dot_product_attention": "Softmax",
    }  # fmt: skip
    first = {call.op: call for call in reversed(CALLS)}
    for op, name in expected.items():
        graph, _, _ = traced(first[op], "torch")
        assert name in {node.op_type for node in graph.to_onnx().graph.node}
