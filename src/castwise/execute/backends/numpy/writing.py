"""Ops whose result is written straight into an array: by a ufunc, or block by block."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from castwise.execute.backend import Backend
from castwise.execute.backends.numpy.ufuncs import casting, casts_quietly, own_ufunc
from castwise.execute.steps.steps import Steps, Writer

_LEAST = 1 << 15  # elements; for fewer, memory does not matter
BLOCK = 1 << 16  # elements that are computed at once where no ufunc can write into the array
_WIDE = 32  # bits of floats that NumPy computes fast
_ALIGNED = 64  # a block is a multiple of this many elements, as vector instructions take them
# These round once, to the nearest number, whatever the layout of the arrays.
_EXACT = frozenset({
    "add", "sub", "mul", "div", "neg", "abs", "square", "sqrt", "floor", "ceil", "trunc", "round",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "logical_and", "logical_or",
    "logical_xor", "logical_not", "floor_divide", "remainder", "fmod", "positive",
    "bitwise_left_shift", "bitwise_right_shift",
})  # fmt: skip
_EXACT_IN_COMPLEX = frozenset({"add", "sub", "neg", "positive"})
# These never raise, so that no block is written before an error.
_BY_BLOCKS = frozenset({
    "add", "sub", "mul", "div", "rsub", "neg", "abs", "square", "mul_with_wide", "div_with_wide",
    "times_reciprocal", "reciprocal_times", "div_of_arrays",
})  # fmt: skip


def writer(
    steps: Steps, backend: Backend, run: Callable[..., Any], has_kernel: bool
) -> Writer | None:
    """A function of a target and raw operands that tells whether it has written the result."""
    if has_kernel and steps.compute.part.bits < _WIDE:
        return None  # NumPy is slow at small floats: a kernel and a copy are faster
    return _by_ufunc(steps, backend) or (None if has_kernel else _by_blocks(steps, backend, run))


def _by_ufunc(steps: Steps, backend: Backend) -> Writer | None:
    ufunc, native = own_ufunc(steps, backend), backend.native(steps.compute)
    if ufunc is None or steps.composed or not casts_quietly(steps, backend):
        return None
    if steps.op == "pow" and steps.compute.kind == "int":
        return None  # a negative exponent raises, when a part is written
    is_cast = any(entry and entry.source for entry in steps.entries)
    if is_cast and native.isbuiltin != 1:
        return None
    call = steps.quieted(casting(ufunc, native) if is_cast else ufunc, backend)
    casts = steps.entry_casts(backend)
    numbers = [e is not None and e.is_number for e in steps.entries]
    is_exact = steps.op in (_EXACT_IN_COMPLEX if steps.compute.kind == "complex" else _EXACT)
    result, is_silent = backend.native(steps.result), _is_silent(steps)

    def write(target: Any, operands: Sequence[Any]) -> bool:
        given = [
            cast(o) if is_number and cast else o
            for cast, is_number, o in zip(casts, numbers, operands, strict=True)
        ]
        if not _takes(target, given, result) or not (is_exact or _are_alike(target, given)):
            return False
        if not is_silent and _may_raise():
            return False
        call(*given, out=target)
        return True

    return write


def _by_blocks(steps: Steps, backend: Backend, run: Callable[..., Any]) -> Writer | None:
    is_float = steps.compute.kind == "float" and steps.result is steps.compute
    if steps.op not in _BY_BLOCKS or steps.composed or not (is_float and _is_silent(steps)):
        return None
    result = backend.native(steps.result)

    def write(target: Any, operands: Sequence[Any]) -> bool:
        arrays = [o for o in operands if isinstance(o, np.ndarray)]
        if not _takes(target, operands, result) or not _are_apart(target, arrays):
            return False
        _in_blocks(run, target, list(operands))
        return True

    return write


def _in_blocks(run: Callable[..., Any], target: Any, operands: list[Any]) -> None:
    """Computes halves of the outermost axis of the target, until they fit a block."""
    if target.size <= BLOCK:
        target[...] = run(*operands)
        return
    lengths = zip(target.shape, target.strides, strict=True)
    sizes = [abs(step) if length > 1 else -1 for length, step in lengths]
    axis = sizes.index(max(sizes))
    half = target.shape[axis] // 2
    half -= half % _ALIGNED if half > _ALIGNED else 0
    for part in (slice(None, half), slice(half, None)):
        key = (slice(None),) * axis + (part,)
        some = [_part(operand, axis - target.ndim, part) for operand in operands]
        _in_blocks(run, target[key], some)


def _part(operand: Any, axis: int, part: slice) -> Any:
    """The elements of an operand for a part of an axis that is counted from the end."""
    if not isinstance(operand, np.ndarray) or operand.ndim < -axis or operand.shape[axis] == 1:
        return operand
    key = (..., part) + (slice(None),) * (-axis - 1)
    return operand[key]


def _is_silent(steps: Steps) -> bool:
    return steps.values is not None and steps.values.arithmetic.float_errors == "silent"


def _takes(target: Any, operands: Sequence[Any], native: Any) -> bool:
    """Whether a target is a plain, large array with the dtype and the shape of the result."""
    if type(target) is not np.ndarray or target.size < _LEAST or target.dtype != native:
        return False
    if not target.flags.writeable or not _is_apart_in_itself(target):
        return False
    if any(isinstance(o, np.ndarray) and type(o) is not np.ndarray for o in operands):
        return False
    try:
        return bool(np.broadcast_shapes(*[np.shape(o) for o in operands]) == target.shape)
    except ValueError:  # the op itself says what is wrong
        return False


def _is_apart_in_itself(array: Any) -> bool:
    """Whether no two elements share memory, as far as the strides tell."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return True
    end = array.itemsize
    lengths = [(abs(step), n) for n, step in zip(array.shape, array.strides, strict=True) if n > 1]
    for step, length in sorted(lengths):
        if step < end:
            return False
        end = step * length
    return True


def _are_alike(target: Any, operands: Sequence[Any]) -> bool:
    """Whether all arrays lie in memory as a new result does: functions that do not round to the
    nearest number may give other bits in another layout."""
    arrays = [o for o in operands if isinstance(o, np.ndarray) and o.ndim]
    if not target.flags.c_contiguous or not _are_apart(target, arrays):
        return False
    return all(a.flags.c_contiguous and a.shape == target.shape for a in arrays)


def _are_apart(target: Any, arrays: Sequence[Any]) -> bool:
    """Whether each array is the target itself, or in other memory."""
    return all(
        _is_same(target, array) or not np.may_share_memory(target, array) for array in arrays
    )


def _is_same(target: Any, array: Any) -> bool:
    place, other = (x.__array_interface__["data"][0] for x in (target, array))
    has_same_form = (target.shape, target.strides) == (array.shape, array.strides)
    return place == other and has_same_form and target.dtype == array.dtype


def _may_raise() -> bool:
    """Whether a float warning would be an error, after the array is written."""
    if any(way not in ("warn", "ignore") for way in np.geterr().values()):
        return True
    for action, message, category, module, line in warnings.filters:
        if issubclass(RuntimeWarning, category):
            if action == "error":
                return True
            if not (message or module or line):  # it decides, before any that follow
                return False
    return False
