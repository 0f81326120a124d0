"""PyTorch's compilers, exporters, tracers and batchers, and its distributed tensors."""

from __future__ import annotations

import functools
import importlib.util
import logging
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from castwise.conformance.onnx_models import model_session, require_packages, run_session
from castwise.conformance.programs import Step, statement
from castwise.conformance.questions import GridQuestion
from castwise.conformance.ranks import Ranks
from castwise.conformance.recorder import NoKernelError
from castwise.conformance.recorders.torch import TorchSpeaker
from castwise.conformance.through import (
    Function,
    Spread,
    Transformation,
    UnsupportedError,
    call_text,
    has_no_arrays,
    is_spelled,
)
from castwise.errors import UsageError

# PyTorch's ONNX exporter, and what onnxruntime makes of its models.

ONNX = "onnx:onnxruntime"
_MANY = 64
_NOT_IN_ONNX = ("complex32", "bcomplex32")
_PACKAGES = ("onnx", "onnxscript", "onnxruntime")


def onnx_exported(declines: Callable[..., Exception | None]) -> Transformation:
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
    return Transformation(ONNX, _run, exported, "", _MANY, declines_or_lacks, packages=_PACKAGES)


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


# TorchScript, which compiles source text: each question is written as a line of a function.

SCRIPTED = "torch.jit.script"


def scripted() -> Transformation:
    """Scripts a function that is written to a file, because a closure has no source to compile."""
    speaker = TorchSpeaker()

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        asked: Any = function
        called = _scripted(source(speaker, asked.questions, asked.places))
        try:
            return called(*arrays)
        except RuntimeError as error:  # whose last line is the reason, after where it happened
            raise RuntimeError(str(error).strip().rpartition("\n")[2]) from error

    def leaves_out(question: GridQuestion) -> bool:
        is_copied = question.form != "augmented" or question.operands[0].endswith("]")
        return not is_copied or not is_spelled(speaker, question)

    return Transformation(SCRIPTED, run, "", "", 1, leaves_out=leaves_out)


def source(speaker: TorchSpeaker, questions: Sequence[GridQuestion], places: dict[str, int]) -> str:
    """A module with a function that makes the calls, of arrays x0, x1 and so on."""
    given = ", ".join(f"x{at}" for at in places.values())
    lines = [speaker.prelude, "", f"def asked({given}):"]
    for number, question in enumerate(questions):
        words = [f"x{places[o]}" if o in places else o for o in question.operands]
        lines += [f"    {line}" for line in _lines(speaker, question, words, f"r{number}")]
    results = "".join(f"r{number}, " for number in range(len(questions)))
    return "\n".join([*lines, f"    return ({results})", ""])


def _lines(speaker: TorchSpeaker, question: GridQuestion, words: list[str], name: str) -> list[str]:
    """The lines that bind a name to the result; what is written into is a copy."""
    if question.form == "augmented":
        step = Step(name, question.op, "augmented", (name, words[1]))
        return [f"{name} = {words[0]}.clone()", statement(speaker, step)]
    if question.form == "inplace":
        words = [f"{words[0]}.clone()", *words[1:]]
    return [f"{name} = {call_text(speaker, question, words)}"]


def _scripted(text: str) -> Function:
    import torch

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that TorchScript is deprecated
        file = Path(folder, "asked_in_torch_script.py")
        file.write_text(text, "utf-8")
        spec: Any = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        scripted: Function = torch.jit.script(module.asked)
    return scripted


_MANY_OPS = 200  # a graph of so many calls compiles in seconds
_SILENT = logging.CRITICAL + 1  # Inductor logs code that it cannot write as critical
_RANKS = 3  # as many as an array has elements, so that no part is larger than another
_TO_MEET = timedelta(seconds=150)  # on a busy machine one may start long after another
# What a distributed tensor lacks whatever the dtypes are.
_UNSUPPORTED = re.compile("not have a sharding strategy|mixed torch.Tensor and DTensor")
_NOT_SENT = "Invalid scalar type"  # a dtype that gloo does not send


def _compile(backend: str) -> Transformation:
    import torch

    logging.getLogger("torch").setLevel(_SILENT)  # it logs the stack of every refusal

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        torch._dynamo.reset()
        return torch.compile(function, backend=backend)(*arrays)

    name = "torch.compile" if backend == "inductor" else f"torch.compile:{backend}"
    said = "" if backend == "inductor" else f", backend={backend!r}"
    written = f"torch.compile({{f}}{said})({{arrays}})"
    return Transformation(name, run, written, "", _MANY_OPS, _declines)


def _export() -> Transformation:
    import torch

    logging.getLogger("torch").setLevel(_SILENT)

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        torch._dynamo.reset()
        program = torch.export.export(_module(function), tuple(arrays))
        return program.module()(*arrays)

    module = 'type("M", (torch.nn.Module,), {{"forward": lambda self, *a: ({f})(*a)}})()'
    written = f"torch.export.export({module}, ({{arrays}},)).module()({{arrays}})"
    return Transformation("torch.export", run, written, "", _MANY_OPS, _declines)


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
    return Transformation("vmap", run, written, "", 1, leaves_out=has_no_arrays)


def _dtensor() -> Transformation:
    import torch.distributed.tensor  # noqa: F401  (where it is missing, it is missed here)

    ranks = Ranks(_join, _RANKS)

    def run(function: Function, arrays: Sequence[Any]) -> list[Spread]:
        if any(array.device.type != "cpu" for array in arrays):
            raise UsageError("--through dtensor distributes arrays on the CPU, and no others.")
        task = function, [_packed(array) for array in arrays]
        return [_spread(told) for told in zip(*ranks.ask(task), strict=True)]

    # One process is enough to see a dtype: to this group the others seem to be there.
    imports = f"""\
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh
from torch.testing._internal.distributed.fake_pg import FakeStore
torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size={_RANKS})
mesh = init_device_mesh("cpu", ({_RANKS},))
spread = lambda a: distribute_tensor(
    a, mesh, [Shard(0) if a.ndim else Replicate()], src_data_rank=None
)"""
    return Transformation(
        "dtensor",
        run,
        "({f})(*map(spread, ({arrays},)))",
        imports,
        together=1,
        session=ranks.session,
        is_apart=True,
        computes=False,  # its parts have values, and only their dtypes are looked at
        dtypes_written="[(r.dtype, r.to_local().dtype) for r in [{r}]]",
    )


def _join(rank: int, count: int, folder: str) -> Callable[[Any], list[dict[str, Any]]]:
    """What each process does: the calls, with its part of the arrays."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    place = f"file://{folder}/store"
    dist.init_process_group("gloo", place, _TO_MEET, rank=rank, world_size=count)
    mesh = init_device_mesh("cpu", (count,))

    def answer(task: tuple[Function, Sequence[Any]]) -> list[dict[str, Any]]:
        function, packed = task
        try:
            arrays = [_distributed(_unpacked(*array), mesh) for array in packed]
            return [_told(result) for result in function(*arrays)]
        except Exception as error:
            raise _meant(error) from None

    return answer


def _meant(error: Exception) -> Exception:
    """The error behind one that the choice of a sharding ended in."""
    from torch._subclasses.fake_tensor import DataDependentOutputException

    cause = error.__cause__
    if isinstance(cause, DataDependentOutputException):
        return UnsupportedError(f"The result of {cause.func} depends on values.")
    if _UNSUPPORTED.search(str(error)):
        return UnsupportedError(str(error))
    return cause if isinstance(cause, Exception) else error


def _packed(array: Any) -> tuple[bytes, Any, tuple[int, ...]]:
    """An array as bytes, its dtype and its shape: not every dtype can be pickled."""
    import torch

    return bytes(array.reshape(-1).view(torch.uint8).tolist()), array.dtype, tuple(array.shape)


def _unpacked(held: bytes, dtype: Any, shape: tuple[int, ...]) -> Any:
    import torch

    return torch.tensor(list(held), dtype=torch.uint8).view(dtype).reshape(shape)


def _distributed(array: Any, mesh: Any) -> Any:
    """An array in parts, or whole in each process where it has no axis."""
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    placement = Shard(0) if array.ndim else Replicate()
    # Each process has the array and takes its part: gloo does not send all dtypes.
    return distribute_tensor(array, mesh, [placement], src_data_rank=None)


def _told(result: Any) -> dict[str, Any]:
    """The dtypes of a result in one process."""
    from torch.distributed.tensor import DTensor

    if not isinstance(result, DTensor):
        return {"declared": result.dtype}
    dtypes = {"declared": result.dtype, "local": result.to_local().dtype}
    try:
        return {**dtypes, "whole": result.full_tensor().dtype}
    except RuntimeError as error:
        if _NOT_SENT in str(error):
            return dtypes
        raise


def _spread(told: Sequence[dict[str, Any]]) -> Spread:
    """The dtypes of a result, which each process has told."""
    names = {"declared": "declared by rank", "local": "rank", "whole": "gathered by rank"}
    parts = {
        f"{names[what]} {rank}": dtype
        for rank, dtypes in enumerate(told)
        for what, dtype in dtypes.items()
    }
    return Spread(parts.pop("declared by rank 0"), parts)


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
    ONNX: lambda: onnx_exported(_declines),
    SCRIPTED: scripted,
    "torch.jit.trace": _trace,
    "make_fx": _make_fx,
    "meta": _meta,
    "vmap": _vmap,
    "dtensor": _dtensor,
}
