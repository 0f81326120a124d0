"""What the installed onnx and onnxruntime support: opsets and models."""

from __future__ import annotations

import functools
from typing import Any

import castwise
from castwise.conformance.through.onnx_models import model_session
from castwise.errors import UsageError
from castwise.graph.onnx.dtypes import onnx_package
from castwise.graph.onnx.runtimes import Runtime

OLDEST = 18  # the first opset with axes as inputs of reductions, and with bitwise ops


def current_opset() -> int:
    """The newest opset that onnx knows and, if installed, onnxruntime supports."""
    newest: int = onnx_package().defs.onnx_opset_version()
    return next((n for n in range(newest, OLDEST, -1) if _is_supported(n)), OLDEST)


@functools.cache
def _is_supported(opset: int) -> bool:
    """Whether the installed onnxruntime loads models of an opset; true if it is not installed."""
    helper = onnx_package().helper
    x, y = (helper.make_tensor_value_info(name, 1, ()) for name in ("x", "y"))
    body = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "probe", [x], [y])
    return runtime_loads(stamped_model(body, opset)) is not False


def runtime_loads(model: Any) -> bool | None:
    """Whether the installed onnxruntime has everything a model needs; None if it is not
    installed."""
    try:
        runtime_session(model)
    except ImportError:
        return None
    except Exception:  # its errors have no other common class
        return False
    return True


def runtime_session(model: Any) -> Any:
    """A session of the installed onnxruntime on the CPU, without its optimisations."""
    return model_session(model, is_optimised=False)


def chosen_opset(opset: int | None, runtime: Runtime | None) -> int:
    """The requested opset, or the newest that is known and supported."""
    newest: int = onnx_package().defs.onnx_opset_version()
    if opset is None:
        return min(newest, runtime.opset) if runtime else current_opset()
    known = f"with {runtime.name} {runtime.version}" if runtime else "with the installed onnx"
    last = min(newest, runtime.opset) if runtime else newest
    if not OLDEST <= opset <= last:
        raise UsageError(f"opset must be {OLDEST} to {last} {known}, not {opset}.")
    return opset


def stamped_model(body: Any, opset: int) -> Any:
    """A model of an opset, in the oldest file format that has it."""
    helper = onnx_package().helper
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(
        body,
        opset_imports=opsets,
        ir_version=helper.find_min_ir_version_for(opsets),
        producer_name="castwise",
        producer_version=castwise.__version__,
    )
