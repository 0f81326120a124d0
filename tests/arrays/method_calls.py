"""Calls of methods, as text: the frameworks' own arrays and castwise's tensors run the same."""

from __future__ import annotations

from typing import Any

import numpy as np

import castwise as cw

# x is a matrix, y another one of its shape, v a row of x, b a mask of its shape.
IN_BOTH = """
x.sum() | x.sum(0) | x.sum(axis=1) | x.sum(-1) | x.prod() | x.prod(1) | x.mean() | x.mean(0)
x.std() | x.std(0) | x.var() | x.var(axis=1) | x.any() | x.any(0) | x.all() | x.all(1) | x.max()
x.min() | x.argmax() | x.argmax(1) | x.argmin(0) | x.cumsum(0) | x.cumprod(1) | x.sum(axis=(0, 1))
x.sum(0, keepdims=True) | x.argmax(axis=0, keepdims=True) | x.reshape(3, 2) | x.reshape((3, 2))
x.reshape(-1) | x.flatten() | x.ravel() | x.T | x.swapaxes(0, 1) | x.reshape(1, 2, 1, 3).squeeze()
x.reshape(1, 6).squeeze(0) | x.clip(2, 4) | x.clip(min=3) | x.round() | x.diagonal() | x.trace()
v.dot(v) | x.conj() | x.real | x.argsort() | v.argsort(0) | x.nbytes | x.ndim | x.itemsize
x.tolist() | v.take(i) | x.take(i) | x.diagonal(1)
"""
IN_NUMPY = """
x.sum(where=b) | x.sum(0, where=b, initial=5) | x.max(initial=9) | x.min(1, where=b, initial=9)
x.mean(where=b) | x.any(where=b) | x.all(0, where=b) | x.prod(initial=2) | x.fill(1) or x
x.item(1) | x.item(1, 2) | x.tobytes() | x.transpose(None) | x.transpose() | x.transpose(1, 0)
x.transpose((1, 0)) | x.reshape(1, 2, 3).transpose(2, 0, 1) | x.reshape(1, 2, 3).transpose(0, 1)
x.max(0) | x.min(1, keepdims=True) | x.repeat(2) | x.copy() | x.repeat(2, 1) | x.repeat(2, axis=0)
x.nonzero() | x.cumsum() | x.std(ddof=1) | x.var(0, ddof=1) | x.squeeze(0) | x.reshape(1, 2, 3).T
v.T | x.take([0, 2], axis=1) | x.take([[0, 1]], 1) | x.imag | x.sum(dtype="float32")
x.conjugate() | v.searchsorted(2) | x.sort() or x | x.sort(axis=0) or x | x.round(1) | x.dot(y.T)
x.mean(dtype="float64") | x.astype("float16") | x.trace(1) | v.argmax()
"""
IN_TORCH = """
x.sum(dim=0) | x.sum(dim=(0, 1)) | x.sum(0, True) | x.sum(1, keepdim=True) | x.sum(dtype=float32)
x.max(0) | x.max(dim=1, keepdim=True) | x.min(1) | x.max(y) | x.amax(0) | x.amin(dim=1)
x.median() | x.std(unbiased=False) | x.var(dim=0, correction=0) | x.var(0, keepdim=True)
x.sort() | x.cumsum() | x.sort(0, descending=True) | x.sort(dim=1)
x.argsort(dim=0, descending=True) | x.nonzero() | x.nonzero(as_tuple=True) | x.view(3, 2)
x.view(-1) | x.permute(1, 0) | x.permute((1, 0)) | x.t() | x.transpose(0, 1)
x.view(1, 2, 3).transpose(0, 2) | x.transpose(dim0=0, dim1=1) | x.mT | x.squeeze(0)
x.unsqueeze(0) | x.unsqueeze(dim=-1) | x.view(2, 1, 3).squeeze(1) | x.flatten(0, 1) | x.mm(y.T)
x.view(1, 2, 3).flatten(1) | x.expand(4, 2, 3) | x.expand(2, -1, -1, 3) | v.expand_as(x)
x.clone() | x.repeat(2, 1) | v.repeat(2) | x.repeat_interleave(2, dim=1) | x.repeat_interleave(2)
x.split(1) | x.split(2, dim=1) | x.split([1, 2], 1) | x.chunk(2, 1) | v.chunk(4) | x.unbind()
x.unbind(1) | x.abs() | x.sqrt() | x.exp() | x.log() | x.sin() | x.tanh() | x.sigmoid() | x.relu()
x.rsqrt() | x.softmax(1) | x.softmax(dim=0) | x.log_softmax(-1) | x.clamp(2, 4) | x.clamp(max=2.5)
x.clamp_min(2) | x.floor() | x.ceil() | x.trunc() | x.round(decimals=1) | x.add(y) | x.add(2.5)
x.add(y, alpha=3) | x.sub(1) | x.mul(y) | x.div(2) | x.div(2, rounding_mode="trunc")
x.true_divide(y) | x.pow(2) | x.matmul(y.T) | x.eq(y) | x.ne(2) | x.lt(y) | x.le(2.5) | x.gt(1)
x.ge(y) | x.logical_and(y) | x.maximum(y) | x.fmod(2) | x.remainder(2) | x.floor_divide(2)
x.atan2(y) | x.hypot(y) | x.neg() | x.isnan() | x.isinf() | x.isfinite() | x.isclose(y)
x.where(b, y) | x.where(b, 0) | x.diff() | x.diff(n=2, dim=1) | x.norm() | x.norm(1)
x.norm(dim=0) | x.norm(2, 1, True) | x.logsumexp(0) | x.flip(0) | x.flip(0, 1) | x.flip(dims=(1,))
x.roll(1, 0) | x.roll((1, 2), (0, 1)) | x.tile(2, 1) | x.movedim(0, 1) | x.tril() | x.triu(1)
x.triu(diagonal=-1) | x.index_select(1, i) | v.outer(v) | x.count_nonzero()
x.count_nonzero(dim=0) | x.lerp(y, 0.5) | x.addcmul(x, y, value=2) | x.numel() | x.dim()
x.element_size() | x.is_floating_point() | x.is_complex() | x.contiguous() | x.cpu() | x.float()
x.double() | x.half() | x.bfloat16() | x.int() | x.long() | x.short() | x.byte() | x.char()
x.bool() | x.cfloat() | x.to(float32) | x.to("cpu") | x.to(y) | x.to("cpu", float32)
x.type_as(y) | x.to(dtype=float32) | x.cfloat().real | x.cfloat().imag | x.det()
x.double().view(6)[:4].view(2, 2).det() | x.swapdims(0, 1) | x.view_as(y) | x.reshape_as(y.T)
x.absolute() | x.multiply(y) | x.greater(2) | x.cumsum(dim=0) | x.cumsum(1, dtype=float32)
x.mean(dtype=float32) | x.mean(1, keepdim=True)
"""
VALUES = [[3, 0, 2], [2, 5, 1]]
OTHERS = [[1, 2, 2], [4, 5, 3]]
DTYPES = ("bool", "int8", "int64", "float32", "float64", "complex64")


def calls(text: str) -> list[str]:
    return [call.strip() for line in text.strip().splitlines() for call in line.split("|")]


def leaves(found: Any) -> list[Any]:
    """A result, or each of several, as castwise tensors and plain values."""
    if isinstance(found, (tuple, list)) and not isinstance(found, cw.Tensor):
        return [leaf for part in found for leaf in leaves(part)]
    return [
        cw.asarray(found) if hasattr(found, "dtype") and not isinstance(found, cw.Tensor) else found
    ]


def check_the_same(found: Any, expected: Any) -> None:
    """Both have the same dtypes, shapes and values, up to rounding."""
    pairs = zip(leaves(found), leaves(expected), strict=True)
    for mine, theirs in pairs:
        if not isinstance(theirs, cw.Tensor):
            assert mine == theirs
            continue
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        wide = "complex128" if theirs.dtype.kind == "complex" else "float64"
        values = [np.asarray(tensor.numpy()).astype(wide) for tensor in (mine, theirs)]
        np.testing.assert_allclose(*values, rtol=2e-3 if theirs.dtype.bits == 16 else 2e-6)
