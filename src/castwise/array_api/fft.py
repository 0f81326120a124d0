"""The fft extension: each transform is an op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from castwise.array_api.creation import DTypeLike, arange, zeros
from castwise.array_api.functions import first_result
from castwise.arrays.elements import moved
from castwise.arrays.tensor import Tensor

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip

Norm: TypeAlias = Literal["backward", "ortho", "forward"]
Several: TypeAlias = Sequence[int] | None  # sizes or axes


def fft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The discrete Fourier transform along a dimension."""
    return first_result("fft.fft", x, n=n, axis=axis, norm=norm)


def ifft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The inverse of fft."""
    return first_result("fft.ifft", x, n=n, axis=axis, norm=norm)


def fftn(
    x: Tensor, /, *, s: Several = None, axes: Several = None, norm: Norm = "backward"
) -> Tensor:
    """The discrete Fourier transform along several dimensions."""
    return first_result("fft.fftn", x, s=s, axes=axes, norm=norm)


def ifftn(
    x: Tensor, /, *, s: Several = None, axes: Several = None, norm: Norm = "backward"
) -> Tensor:
    """The inverse of fftn."""
    return first_result("fft.ifftn", x, s=s, axes=axes, norm=norm)


def rfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The discrete Fourier transform of real values: the half that does not follow by symmetry."""
    return first_result("fft.rfft", x, n=n, axis=axis, norm=norm)


def irfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The inverse of rfft."""
    return first_result("fft.irfft", x, n=n, axis=axis, norm=norm)


def rfftn(
    x: Tensor, /, *, s: Several = None, axes: Several = None, norm: Norm = "backward"
) -> Tensor:
    """The discrete Fourier transform of real values along several dimensions."""
    return first_result("fft.rfftn", x, s=s, axes=axes, norm=norm)


def irfftn(
    x: Tensor, /, *, s: Several = None, axes: Several = None, norm: Norm = "backward"
) -> Tensor:
    """The inverse of rfftn."""
    return first_result("fft.irfftn", x, s=s, axes=axes, norm=norm)


def hfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The discrete Fourier transform of a Hermitian-symmetric signal."""
    return first_result("fft.hfft", x, n=n, axis=axis, norm=norm)


def ihfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """The inverse of hfft."""
    return first_result("fft.ihfft", x, n=n, axis=axis, norm=norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike = None, device: Any = None) -> Tensor:
    """The frequencies of the elements of fft."""
    places = arange(n, dtype=_float(dtype), device=device)
    places[(n + 1) // 2 :] -= n
    return places / (n * d)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike = None, device: Any = None) -> Tensor:
    """The frequencies of the elements of rfft."""
    return arange(n // 2 + 1, dtype=_float(dtype), device=device) / (n * d)


def _float(dtype: DTypeLike) -> DTypeLike:
    """The requested dtype, or the dialect's for a Python float."""
    return zeros(()).dtype if dtype is None else dtype


def fftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """The elements with the zero frequency in the middle."""
    return moved("fft.fftshift", x, axes=axes)


def ifftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """The inverse of fftshift."""
    return moved("fft.ifftshift", x, axes=axes)
