"""Functions that torch has with other options or dtypes, written with the ones it has."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch


def where(condition: Any, x: Any, y: Any) -> Any:
    """One or the other; a nonzero number counts as true."""
    chosen = condition if condition.dtype is torch.bool else condition != 0
    signed = _SAME_BITS.get(str(x.dtype))
    if signed is None:
        return torch.where(chosen, x, y)
    return torch.where(chosen, x.view(signed), y.view(signed)).view(x.dtype)


# The replacements for unsigned dtypes, which where cannot take before torch 2.13.
_SAME_BITS = {
    "torch.uint16": torch.int16, "torch.uint32": torch.int32, "torch.uint64": torch.int64
}  # fmt: skip


def div(x: Any, y: Any) -> Any:
    """The quotient. For a number on the CPU torch uses the reciprocal, and rounds twice."""
    return torch.div(x, _on_device_of(x, y))


def floor_divide(x: Any, y: Any) -> Any:
    return torch.floor_divide(x, _on_device_of(x, y))


def pow(x: Any, y: Any) -> Any:
    """The power. For a number, torch multiplies small floats on a GPU, and rounds each time."""
    if isinstance(y, torch.Tensor):
        return torch.pow(x, _on_device_of(x, y))
    is_small = x.dtype in (torch.float16, torch.bfloat16) and not x.is_cpu
    return torch.pow(x.float(), y).type(x.dtype) if is_small else torch.pow(x, y)


_FAR = 1 << 20
_WIDER_THAN_INT32 = (torch.int64, torch.uint32, torch.uint64)


def ldexp(x: Any, y: Any) -> Any:
    """x * 2**y; exact for integers y until the product is rounded."""
    if y.is_floating_point() or y.is_complex():
        return x * torch.pow(2.0, _on_device_of(x, y))
    near = _on_device_of(x, y)
    if near.dtype in _WIDER_THAN_INT32:
        near = near.to(torch.float64).clamp(
            -_FAR, _FAR
        )  # beyond this there is nothing left to shift
    return torch.ldexp(x, near.to(torch.int32))


def _on_device_of(x: Any, y: Any) -> Any:
    """A number, which is created on the CPU, on the device of the other operand."""
    return y.to(x.device) if not y.ndim and y.is_cpu and not x.is_cpu else y


def clamp(x: Any, *bounds: Any) -> Any:
    """The elements, clamped between a lowest and a highest value."""
    moved = [bound.to(x.device) for bound in bounds]  # a number is created on the CPU
    return torch.clamp(x, *moved) if bounds else x.clone()


def matmul(x: Any, y: Any) -> Any:
    """The matrix product; torch's own takes integers only on the CPU."""
    if x.device.type == "cpu" or x.is_floating_point() or x.is_complex():
        return torch.matmul(x, y)
    rows = x[None, :] if x.ndim == 1 else x
    columns = y[:, None] if y.ndim == 1 else y
    product = torch.sum(rows[..., :, :, None] * columns[..., None, :, :], -2, dtype=x.dtype)
    product = product[..., 0] if y.ndim == 1 else product
    return product[..., 0] if x.ndim == y.ndim == 1 else (
        product[..., 0, :] if x.ndim == 1 else product
    )  # fmt: skip


def dot(x: Any, y: Any) -> Any:
    """The product summed over the last dimension of one and the one before last of the other."""
    if x.ndim == 0 or y.ndim == 0:
        return torch.mul(x, y)
    if y.ndim <= 2:
        return matmul(x, y)
    columns = torch.movedim(y, -2, 0)
    product = matmul(x, columns.reshape(columns.shape[0], -1))
    return product.reshape(*x.shape[:-1], *columns.shape[1:])


def inner(x: Any, y: Any) -> Any:
    """The product summed over the last dimension of both."""
    if x.ndim == 0 or y.ndim == 0:
        return torch.mul(x, y)
    rows, columns = [math.prod(z.shape[:-1]) for z in (x, y)]
    product = matmul(x.reshape(rows, x.shape[-1]), y.reshape(columns, y.shape[-1]).T)
    return product.reshape((*x.shape[:-1], *y.shape[:-1]))


def real(x: Any) -> Any:
    """The real part, sharing the array's memory."""
    return x.real


def imag(x: Any) -> Any:
    """The imaginary part; zeros for real numbers."""
    return x.imag if x.is_complex() else torch.zeros_like(x)


def conj(x: Any) -> Any:
    return torch.conj(x)


def exact_sqrt(x: Any) -> Any:
    """The square root rounded to the nearest number, which torch's own may not be on a CPU.

    For float32 it is computed in float64 and rounded. For float64 it is NumPy's, and torch's is
    used for the gradient.
    """
    if x.device.type != "cpu" or torch.compiler.is_compiling():
        return torch.sqrt(x)
    if x.dtype is torch.float32:
        return torch.sqrt(x.double()).float()
    found = torch.sqrt(x)
    try:
        values = x.detach().numpy(force=True)
    except (RuntimeError, TypeError):  # it wraps other tensors, as inside torch.func
        return found
    nearest = torch.from_numpy(np.asarray(np.sqrt(values)))
    if not found.requires_grad:
        return nearest
    return found + torch.where(found == nearest, 0.0, nearest - found.detach())


def threshold(x: Any, *, threshold: float = 0, value: float = 0) -> Any:
    """The value where x is not above the threshold."""
    return torch.nn.functional.threshold(x, threshold, value)


def softmax(x: Any, *, axis: int = -1) -> Any:
    return torch.softmax(x, axis)


def log_softmax(x: Any, *, axis: int = -1) -> Any:
    return torch.log_softmax(x, axis)


def _all_axes(x: Any, axis: Any) -> Any:
    return tuple(range(x.ndim)) if axis is None else axis


def logsumexp(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return torch.logsumexp(x, _all_axes(x, axis), keepdims)


def norm(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The square root of the sum of squares."""
    return torch.linalg.vector_norm(x, 2, axis, keepdims)


def median(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The middle one, or the mean of the middle two; NaN if there is a NaN."""
    flat, place = (x.reshape(-1), 0) if axis is None else (x, axis)
    ordered, count = torch.sort(flat, dim=place).values, flat.shape[place]
    low, high = (ordered.narrow(place, n, 1) for n in ((count - 1) // 2, count // 2))
    found = low if count % 2 else (low + high) / 2
    has_nan = torch.isnan(flat).any(place, keepdim=True)
    found = torch.where(has_nan, torch.full_like(found, math.nan), found)
    if axis is None:
        return found.reshape((1,) * x.ndim if keepdims else ())
    return found if keepdims else found.squeeze(axis)


def isclose(
    x: Any, y: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether each element is within the tolerance of the other."""
    if not (x.is_floating_point() or x.is_complex()):
        x, y = x.double(), y.double()
    return torch.isclose(x, y, rtol, atol, equal_nan)


def allclose(x: Any, y: Any, **tolerance: Any) -> Any:
    """Whether all elements are within the tolerance of one another."""
    return isclose(x, y, **tolerance).all()


REPLACEMENTS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        where, div, floor_divide, pow, ldexp, clamp, matmul, dot, inner, real, imag, conj,
        threshold, softmax, log_softmax, logsumexp, norm, median, isclose, allclose, exact_sqrt,
    )
}  # fmt: skip
