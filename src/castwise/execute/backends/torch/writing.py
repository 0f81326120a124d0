"""Ops whose result torch writes straight into a tensor on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from castwise.execute.backend import Backend
from castwise.execute.backends.torch.functions import COMPUTED, function_in
from castwise.execute.backends.torch.mixed import torch_agrees
from castwise.execute.steps.steps import Steps, Writer
from castwise.execute.values.adapting import adapted

_LEAST = 1 << 15  # elements; for fewer, memory does not matter
# These round once, to the nearest number, whatever the layout of the tensors, and never raise.
_FUNCTIONS = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "neg": torch.neg,
    "abs": torch.abs, "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor,
}  # fmt: skip


def writer(steps: Steps, backend: Backend) -> Writer | None:
    """A function of a target and raw operands that tells whether it has written the result."""
    function, compute = _FUNCTIONS.get(steps.op), steps.compute
    if function is None or compute.kind == "complex" or compute.name not in COMPUTED:
        return None
    own = function_in(steps.op, compute)
    if own is None or steps.composed or steps.result is not compute:
        return None
    if adapted(own, backend, steps.op, compute, steps.values) is not own:
        return None  # a value rule differs from torch's
    casts, native = steps.entry_casts(backend), backend.native(compute)
    is_mixed = len(casts) == 2 and torch_agrees(steps, backend)

    def write(target: Any, operands: Sequence[Any]) -> bool:
        arrays = [o for o in operands if isinstance(o, torch.Tensor)]
        if not _takes(target, arrays, native) or not all(map(backend.is_concrete, arrays)):
            return False
        if is_mixed and all(array.ndim for array in arrays):
            function(*operands, out=target)
            return True
        entered = [cast(o) if cast else o for cast, o in zip(casts, operands, strict=True)]
        function(*entered, out=target)
        return True

    return write


def _takes(target: Any, arrays: Sequence[Any], native: Any) -> bool:
    """Whether a target is a plain, large tensor with the dtype and the shape of the result, and no
    tensor has a gradient or shares a part of the target's memory."""
    if type(target) is not torch.Tensor or target.numel() < _LEAST or target.dtype is not native:
        return False
    if torch.compiler.is_compiling() or not target.is_cpu or target.is_neg():
        return False
    if not all(type(a) is torch.Tensor and _is_plain(a) for a in (target, *arrays)):
        return False
    if not _is_apart_in_itself(target) or not all(_is_apart(target, a) for a in arrays):
        return False
    return _gives_shape(target.shape, [array.shape for array in arrays])


def _gives_shape(shape: Sequence[int], shapes: Sequence[Sequence[int]]) -> bool:
    """Whether shapes broadcast to a shape. torch's own function for it loads half of its tracer."""
    if any(len(one) > len(shape) for one in shapes):
        return False
    full = [(1,) * (len(shape) - len(one)) + tuple(one) for one in shapes]
    sizes = [set(along) for along in zip(*full, strict=True)]
    return all({n} <= some <= {1, n} for n, some in zip(shape, sizes, strict=True))


def _is_plain(array: Any) -> bool:
    return array.is_cpu and not array.requires_grad and array.layout is torch.strided


def _is_apart(target: Any, array: Any) -> bool:
    """Whether an array is the target itself, or in other memory: torch refuses anything between."""
    one, other = target.untyped_storage(), array.untyped_storage()
    if one.data_ptr() != other.data_ptr():
        return True
    has_same_form = (target.shape, target.stride()) == (array.shape, array.stride())
    return target.data_ptr() == array.data_ptr() and has_same_form and target.dtype is array.dtype


def _is_apart_in_itself(array: Any) -> bool:
    """Whether no two elements share memory, as far as the strides tell."""
    end = 1
    pairs = [(step, n) for n, step in zip(array.shape, array.stride(), strict=True) if n > 1]
    for step, length in sorted(pairs):
        if step < end:
            return False
        end = step * length
    return True
