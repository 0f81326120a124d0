"""The shapes that Fourier transforms give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from castwise.errors import UsageError
from castwise.graph.program import Shape
from castwise.graph.shapes.arithmetic import difference, places, quotient, size_of, total

Length = Callable[["int | str"], "int | str"]


def _whole(size: int | str) -> int | str:
    return size


def _half(size: int | str) -> int | str:
    """The size of a transform of real values, without the half that follows by symmetry."""
    return total([quotient(size, 2), 1])


def _doubled(size: int | str) -> int | str:
    """The default number of real values for a half transform."""
    before = difference(size, 1)
    if before is None:
        raise UsageError(f"cannot subtract one from the symbolic size {size}: fix it, or give n.")
    return size_of((2, before))


def _along(length: Length) -> Callable[..., Shape]:
    """A transform along one dimension; `n` is the number of its real or whole values."""

    def shaped(x: Shape, *, n: int | None = None, axis: int = -1, norm: Any = None) -> Shape:
        place = places(axis, len(x))[0]
        return (*x[:place], _length(length, x[place], n), *x[place + 1 :])

    return shaped


def _along_several(length: Length) -> Callable[..., Shape]:
    """A transform along several dimensions, the last of which may be halved or doubled."""

    def shaped(
        x: Shape,
        *,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: Any = None,
    ) -> Shape:
        chosen = places(None if axes is None else tuple(axes), len(x))
        if axes is None and s is not None:
            chosen = chosen[len(x) - len(s) :]
        sizes = list(x)
        for count, place in enumerate(chosen):
            rule = length if count == len(chosen) - 1 else _whole
            sizes[place] = _length(rule, x[place], None if s is None else s[count])
        return tuple(sizes)

    return shaped


def _length(rule: Length, size: int | str, asked: int | None) -> int | str:
    if asked is None:
        return rule(size)
    return asked if rule is _doubled else rule(asked)


FFT: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "fft.fft": (("complex",), _along(_whole)),
    "fft.ifft": (("complex",), _along(_whole)),
    "fft.rfft": (("complex",), _along(_half)),
    "fft.irfft": (("part",), _along(_doubled)),
    "fft.hfft": (("part",), _along(_doubled)),
    "fft.ihfft": (("complex",), _along(_half)),
    "fft.fftn": (("complex",), _along_several(_whole)),
    "fft.ifftn": (("complex",), _along_several(_whole)),
    "fft.rfftn": (("complex",), _along_several(_half)),
    "fft.irfftn": (("part",), _along_several(_doubled)),
}
