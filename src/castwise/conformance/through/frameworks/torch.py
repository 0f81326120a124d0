"""PyTorch's compilers, exporters, tracers and batchers."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from castwise.conformance.through.frameworks import torch_onnx, torch_script
from castwise.conformance.through.transformation import Function, Transformation

_MANY = 200  # a graph of so many calls compiles in seconds


def _compile(backend: str) -> Transformation:
    import torch

    logging.getLogger("torch").setLevel(logging.CRITICAL)  # it logs the stack of every refusal

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        torch._dynamo.reset()
        return torch.compile(function, backend=backend)(*arrays)

    name = "torch.compile" if backend == "inductor" else f"torch.compile:{backend}"
    said = "" if backend == "inductor" else f", backend={backend!r}"
    written = f"torch.compile({{f}}{said})({{arrays}})"
    return Transformation(name, run, written, "", _MANY, _declines)


def _export() -> Transformation:
    import torch

    logging.getLogger("torch").setLevel(logging.CRITICAL)

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        torch._dynamo.reset()
        program = torch.export.export(_module(function), tuple(arrays))
        return program.module()(*arrays)

    module = 'type("M", (torch.nn.Module,), {{"forward": lambda self, *a: ({f})(*a)}})()'
    written = f"torch.export.export({module}, ({{arrays}},)).module()({{arrays}})"
    return Transformation("torch.export", run, written, "", _MANY, _declines)


def _make_fx() -> Transformation:
    from torch._decomp import core_aten_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    table = core_aten_decompositions()

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        return make_fx(function, decomposition_table=table)(*arrays)(*arrays)

    imports = (
        "from torch._decomp import core_aten_decompositions\n"
        "from torch.fx.experimental.proxy_tensor import make_fx"
    )
    traced = "make_fx({f}, decomposition_table=core_aten_decompositions())({arrays})"
    return Transformation("make_fx", run, f"{traced}({{arrays}})", imports, 1)


def _trace() -> Transformation:
    import torch

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            traced = torch.jit.trace(lambda *x: function(*x), tuple(arrays), check_trace=False)
            return traced(*arrays)

    written = "torch.jit.trace({f}, ({arrays},), check_trace=False)({arrays})"
    return Transformation("torch.jit.trace", run, written, "", 1)


def _meta() -> Transformation:
    def run(function: Function, arrays: Sequence[Any]) -> Any:
        return function(*[array.to("meta") for array in arrays])

    written = '({f})(*[a.to("meta") for a in ({arrays},)])'
    return Transformation("meta", run, written, "", 1, computes=False)


def _vmap() -> Transformation:
    import torch

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        batched = torch.vmap(function)(*[torch.stack([array, array]) for array in arrays])
        return [result[0] for result in batched]

    written = "torch.vmap({f})(*[torch.stack([a, a]) for a in ({arrays},)])"
    return Transformation("vmap", run, written, "", 1)


def _declines(function: Function, arrays: Sequence[Any]) -> Exception | None:
    """What fake tensors raise: what is compiled or exported is first called with them."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        try:
            function(*[mode.from_tensor(array) for array in arrays])
        except Exception as error:
            return error
    return None


def _module(function: Function) -> Any:
    import torch

    body = {"forward": lambda self, *arrays: function(*arrays)}
    return type("Called", (torch.nn.Module,), body)()


TRANSFORMATIONS: dict[str, Callable[[], Transformation]] = {
    "torch.compile": partial(_compile, "inductor"),
    "torch.compile:aot_eager": partial(_compile, "aot_eager"),
    "torch.compile:eager": partial(_compile, "eager"),
    "torch.export": _export,
    torch_onnx.NAME: lambda: torch_onnx.transformation(_declines),
    torch_script.NAME: torch_script.transformation,
    "torch.jit.trace": _trace,
    "make_fx": _make_fx,
    "meta": _meta,
    "vmap": _vmap,
}
