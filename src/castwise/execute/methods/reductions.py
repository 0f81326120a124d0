"""Methods that reduce a tensor along dimensions. Written by castwise.array_api.write_methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from castwise.execute import handed
from castwise.execute.methods.spelling import Axes, Operand, corrected, given, reduced

if TYPE_CHECKING:
    from castwise.execute.tensor import Tensor


class Reductions:
    """Methods that reduce a tensor along dimensions."""

    __slots__ = ()

    def all(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """Whether all elements are true."""
        return handed.calls.op(
            "all", self, **reduced(axis, keepdims, dim, keepdim), **given(where=where)
        )

    def amax(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        initial: Operand | None = None,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The largest element."""
        return handed.calls.op(
            "max",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **given(initial=initial, where=where),
        )

    def amin(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        initial: Operand | None = None,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The smallest element."""
        return handed.calls.op(
            "min",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **given(initial=initial, where=where),
        )

    def any(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """Whether at least one element is true."""
        return handed.calls.op(
            "any", self, **reduced(axis, keepdims, dim, keepdim), **given(where=where)
        )

    def argmax(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The index of the largest element."""
        return handed.calls.op("argmax", self, **reduced(axis, keepdims, dim, keepdim))

    def argmin(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The index of the smallest element."""
        return handed.calls.op("argmin", self, **reduced(axis, keepdims, dim, keepdim))

    def count_nonzero(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """How many elements are not zero."""
        return handed.calls.op("count_nonzero", self, **reduced(axis, keepdims, dim, keepdim))

    def logsumexp(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The logarithm of the sum of exponentials."""
        return handed.calls.op("logsumexp", self, **reduced(axis, keepdims, dim, keepdim))

    def mean(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dtype: object = None,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The mean of the elements."""
        return handed.calls.op(
            "mean", self, **reduced(axis, keepdims, dim, keepdim), **given(dtype=dtype, where=where)
        )

    def prod(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dtype: object = None,
        initial: Operand | None = None,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The product of the elements."""
        return handed.calls.op(
            "prod",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **given(dtype=dtype, initial=initial, where=where),
        )

    def std(
        self,
        axis: Axes = None,
        *,
        correction: float | None = None,
        ddof: float | None = None,
        unbiased: bool | None = None,
        keepdims: bool = False,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The standard deviation of the elements."""
        return handed.calls.op(
            "std",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **corrected(correction, ddof, unbiased),
        )

    def sum(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dtype: object = None,
        initial: Operand | None = None,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The sum of the elements."""
        return handed.calls.op(
            "sum",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **given(dtype=dtype, initial=initial, where=where),
        )

    def var(
        self,
        axis: Axes = None,
        *,
        correction: float | None = None,
        ddof: float | None = None,
        unbiased: bool | None = None,
        keepdims: bool = False,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The variance of the elements."""
        return handed.calls.op(
            "var",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **corrected(correction, ddof, unbiased),
        )
