"""PyTorch's compilers, exporters, tracers and batchers, and its distributed tensors."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from castwise.conformance.through.frameworks import torch_onnx, torch_script
from castwise.conformance.through.ranks import Ranks
from castwise.conformance.through.transformation import (
    Function,
    Spread,
    Transformation,
    UnsupportedError,
    has_no_arrays,
)
from castwise.errors import UsageError

_MANY = 200  # a graph of so many calls compiles in seconds
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
    return Transformation(name, run, written, "", _MANY, _declines)


def _export() -> Transformation:
    import torch

    logging.getLogger("torch").setLevel(_SILENT)

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
    torch_onnx.NAME: lambda: torch_onnx.transformation(_declines),
    torch_script.NAME: torch_script.transformation,
    "torch.jit.trace": _trace,
    "make_fx": _make_fx,
    "meta": _meta,
    "vmap": _vmap,
    "dtensor": _dtensor,
}
