"""PyTorch's ONNX exporter, and what onnxruntime makes of its models."""

from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

from castwise.conformance.recorder import NoKernelError
from castwise.conformance.through.onnx_models import model_session, require_packages, run_session
from castwise.conformance.through.transformation import Function, Transformation

NAME = "onnx:onnxruntime"
_MANY = 64
_NOT_IN_ONNX = ("complex32", "bcomplex32")
_PACKAGES = ("onnx", "onnxscript", "onnxruntime")


def transformation(declines: Callable[..., Exception | None]) -> Transformation:
    """Exports a function by torch.export to ONNX, and runs the model in onnxruntime.

    Raises ImportError where a package is missing.
    """
    require_packages(*_PACKAGES)

    def declines_or_lacks(function: Function, arrays: Sequence[Any]) -> Exception | None:
        return _lacking(arrays) or declines(function, arrays)

    for name in ("torch", "onnxscript"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    module = 'type("M", (torch.nn.Module,), {{"forward": lambda self, *a: ({f})(*a)}})()'
    exported = f"torch.onnx.export({module}, ({{arrays}},), dynamo=True)({{arrays}})[0]"
    return Transformation(NAME, _run, exported, "", _MANY, declines_or_lacks, packages=_PACKAGES)


def _lacking(arrays: Sequence[Any]) -> Exception | None:
    """That ONNX has no such dtype, which the exporter would find out at the end."""
    for array in arrays:
        name = str(array.dtype).removeprefix("torch.")
        if name in _NOT_IN_ONNX:
            return ExporterError(f"ONNX has no {name}")
    return None


def _run(function: Function, arrays: Sequence[Any]) -> list[Any]:
    """The result of each call; an error in its place where onnxruntime gives none.

    The calls are exported together, which is slow, and run one by one, because a model in which
    one node has no kernel does not run at all.
    """
    import onnx

    model, are_complex = _exported(function, arrays)
    given = [_to_numpy(array) for array in arrays]
    parts = onnx.utils.Extractor(model)
    names = [value.name for value in model.graph.input]
    outputs = [value.name for value in model.graph.output]
    return [
        _result(parts.extract_model(names, [output]), given, is_complex)
        for output, is_complex in zip(outputs, are_complex, strict=True)
    ]


def _exported(function: Function, arrays: Sequence[Any]) -> tuple[Any, list[bool]]:
    """The model, and which of its outputs are pairs of real numbers that stand for complex ones."""
    import torch
    from torch.onnx import OnnxExporterError

    body = {"forward": lambda self, *given: function(*given)}
    module = type("Called", (torch.nn.Module,), body)()
    torch._dynamo.reset()
    failed: Exception | None = None
    try:
        with warnings.catch_warnings(), _one_registry():
            warnings.simplefilter("ignore")
            program: Any = torch.onnx.export(module, tuple(arrays), dynamo=True, verbose=False)
    except OnnxExporterError as error:
        failed = _reason(error)
    if failed is not None:
        raise failed  # here, where no other error is its context
    results = program.exported_program.graph.output_node().args[0]
    return program.model_proto, [result.meta["val"].is_complex() for result in results]


class ExporterError(Exception):
    """What PyTorch's exporter has no ONNX for. PyTorch's refusals are RuntimeErrors, as the
    exporter's own errors are, too: this tells them apart."""


def _reason(error: BaseException) -> Exception:
    """What an error of the exporter, which says only at which step it failed, was caused by."""
    from torch.onnx import OnnxExporterError

    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, Exception) and not isinstance(error, OnnxExporterError):
        return error
    return ExporterError(str(error))


@contextmanager
def _one_registry() -> Iterator[None]:
    """The exporter reads its table of functions anew for each model, which takes two thirds of the
    time; here it reads it once."""
    try:
        from torch.onnx._internal.exporter._registration import ONNXRegistry
    except ImportError:  # a version with another inside
        yield
        return
    once = _kept(ONNXRegistry.from_torchlib)
    with mock.patch.object(ONNXRegistry, "from_torchlib", staticmethod(once)):
        yield


_kept = functools.cache(functools.cache)  # of one function always the same cache


def _result(model: Any, given: Sequence[Any], is_complex: bool) -> Any:
    from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoImplementation

    try:
        found = run_session(model_session(model), given)[0]
    except NoImplementation as error:
        lacking = NoKernelError(None)
        lacking.__cause__ = error
        return lacking
    except Exception as error:  # its errors have no other class in common
        return error
    return _to_tensor(found, is_complex)


def _to_numpy(tensor: Any) -> Any:
    """A tensor as the exporter's models take it: complex numbers are pairs of real ones."""
    import ml_dtypes  # noqa: F401  (registers bfloat16 and the small floats)
    import numpy as np
    import torch

    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    name = str(tensor.dtype).removeprefix("torch.")
    if not tensor.dtype.is_floating_point or tensor.dtype.itemsize > 2:
        return tensor.numpy()
    bits = getattr(torch, f"int{8 * tensor.dtype.itemsize}")  # NumPy has no other way to them
    return tensor.view(bits).numpy().view(np.dtype(name))


def _to_tensor(array: Any, is_complex: bool) -> Any:
    import torch

    dtype = getattr(torch, array.dtype.name)
    is_small = array.dtype.itemsize <= 2 and dtype.is_floating_point
    bits = array.view(f"int{8 * array.dtype.itemsize}") if is_small else array
    tensor = torch.from_numpy(bits)
    tensor = tensor.view(dtype) if is_small else tensor
    return torch.view_as_complex(tensor) if is_complex else tensor
