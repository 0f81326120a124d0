"""A mixed-dtype function as an ONNX model: two runtimes give the same dtypes and values.

python examples/export_onnx.py

The pixels are int16, the offsets float16 and the gain is a Python number: promotion decides which
dtype each step computes in. In the traced graph and in the model every cast is explicit.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

import castwise as cw
from castwise import array_api as xp


def brighten(pixels: Any, offset: Any) -> Any:
    """Pixels centred, scaled and converted back to bytes, and their mean."""
    centred = (pixels - 128) * 1.5 + offset
    clipped = xp.clip(xp.round(centred + 128), 0, 255)
    return clipped.astype("uint8"), xp.mean(centred)


def main() -> None:
    graph = cw.trace(brighten, "int16[n,3]", "float16[3]", dialect="torch").simplify().graph
    print(graph)

    with TemporaryDirectory() as folder:
        path = Path(folder, "brighten.onnx")
        model = graph.to_onnx(path)
        onnx.checker.check_model(path, full_check=True)
        options = onnxruntime.SessionOptions()  # optimisations would skip float16 roundings
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(path, options)
    print(f"\n{len(model.graph.node)} nodes of opset {model.opset_import[0].version}")

    arrays = {
        "pixels": np.random.default_rng(0).integers(0, 256, (4, 3), dtype=np.int16),
        "offset": np.array([0.5, -3, 12], np.float16),
    }
    expected = [tensor.numpy() for tensor in graph(*arrays.values())]
    compare("reference evaluator", expected, ReferenceEvaluator(model).run(None, arrays))
    compare("onnxruntime", expected, session.run(None, arrays))


def compare(runtime: str, expected: list[Any], found: list[Any]) -> None:
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    dtypes = ", ".join(str(array.dtype) for array in found)
    print(f"{runtime}: equal in dtype ({dtypes}) and value")


if __name__ == "__main__":
    main()
