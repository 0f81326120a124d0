"""ONNX models in the installed onnxruntime: sessions, and arrays of every dtype in and out."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any


def require_packages(*packages: str) -> None:
    """Checks that packages are installed.

    Raises ImportError, which names all that are missing.
    """
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        listed = " ".join(missing)
        raise ImportError(f"not installed: {', '.join(missing)}. Install: pip install {listed}")


def model_session(model: Any, *, is_optimised: bool = True) -> Any:
    """A session on the CPU; optimised, as users run models, or computing node by node."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if not is_optimised:
        levels = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    packed, providers = model.SerializeToString(), ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(packed, options, providers=providers)


def run_session(
    session: Any, arrays: Iterable[Any], outputs: Sequence[str] | None = None
) -> list[Any]:
    """The outputs, or some of them, as NumPy arrays; the inputs are given in order."""
    names = [value.name for value in session.get_inputs()]
    given = {name: _to_runtime(array) for name, array in zip(names, arrays, strict=True)}
    return list(map(_from_runtime, session.run_with_ort_values(outputs, given)))


def _to_runtime(array: Any) -> Any:
    """An array for onnxruntime, whose own functions do not take every dtype."""
    import onnx
    from onnxruntime import OrtValue

    element = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    value = OrtValue.ortvalue_from_shape_and_type(list(array.shape), element)
    ctypes.memmove(value.data_ptr(), array.tobytes(), array.nbytes)
    return value


def _from_runtime(value: Any) -> Any:
    """A result as a NumPy array of its declared element type.

    Raises TypeError for what is no tensor.
    """
    import numpy as np
    import onnx

    if not value.is_tensor():
        raise TypeError(f"{value.data_type()} is no tensor")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.element_type())
    shape = tuple(value.shape())
    size = dtype.itemsize * int(np.prod(shape))
    memory = ctypes.string_at(value.data_ptr(), size) if size else b""
    return np.ndarray(shape, dtype, memory).copy()
