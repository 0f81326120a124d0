"""Methods that compute, and whose arguments are not those of an op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from castwise.errors import UsageError
from castwise.execute import handed
from castwise.execute.kinds import Kind
from castwise.execute.methods.spelling import Axes, axis_of, reduced

if TYPE_CHECKING:
    from castwise.execute.tensor import Tensor


class Computing:
    """The methods of a tensor that compute with more than an op's own arguments."""

    __slots__ = ()
    _array: Any
    _kind: Kind

    if TYPE_CHECKING:

        @property
        def ndim(self) -> int: ...
        @classmethod
        def _of(cls, array: Any, kind: Kind) -> Tensor: ...
        def moveaxis(self, source: Any, destination: Any) -> Tensor: ...

    @property
    def real(self) -> Tensor:
        """The real part of each element."""
        return handed.calls.op("real", self)

    @property
    def imag(self) -> Tensor:
        """The imaginary part of each element."""
        return handed.calls.op("imag", self)

    def conj(self) -> Tensor:
        """The complex conjugate of each element; a real tensor is unchanged."""
        is_complex = self._kind.dtype.kind == "complex"
        return handed.calls.op("conj", self) if is_complex else self._of(self._array, self._kind)

    conjugate = conj

    def round(self, decimals: int = 0) -> Tensor:
        """The nearest integer, or number with so many decimals, in the same dtype."""
        return handed.calls.rounded(self, decimals)

    def mm(self, other: Tensor) -> Tensor:
        """The product of two matrices."""
        if self.ndim != 2 or other.ndim != 2:
            raise UsageError(
                f"mm takes two matrices, not {self.ndim} and {other.ndim} dimensions: use matmul."
            )
        return handed.calls.op("matmul", self, other)

    def norm(
        self, p: float | str | None = 2, axis: Axes = None, keepdims: bool = False, *,
        dim: Axes = None, keepdim: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """The vector norm of order p; by default the square root of the sum of squares."""
        options = reduced(axis, keepdims, dim, keepdim)
        if p in (2, None, "fro"):
            return handed.calls.op("norm", self, **options)
        return handed.calls.function("linalg.vector_norm", self, ord=p, **options)

    def diff(
        self, n: int = 1, axis: int | None = None, *, dim: int | None = None,
        prepend: Tensor | None = None, append: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """The differences of neighbours along a dimension, taken n times."""
        along = axis_of(axis, dim, -1)
        return handed.calls.function("diff", self, n=n, axis=along, prepend=prepend, append=append)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """The elements on a diagonal of two dimensions, as the last dimension."""
        matrices = self.moveaxis((axis1, axis2), (-2, -1))
        return handed.calls.function("linalg.diagonal", matrices, offset=offset)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """The sum of the elements on a diagonal."""
        matrices = self.moveaxis((axis1, axis2), (-2, -1))
        return handed.calls.function("linalg.trace", matrices, offset=offset)

    def tril(self, k: int = 0, *, diagonal: int | None = None) -> Tensor:
        """The lower triangle of matrices; the other elements are 0."""
        return handed.calls.function("tril", self, k=k if diagonal is None else diagonal)

    def triu(self, k: int = 0, *, diagonal: int | None = None) -> Tensor:
        """The upper triangle of matrices; the other elements are 0."""
        return handed.calls.function("triu", self, k=k if diagonal is None else diagonal)

    def det(self) -> Tensor:
        """The determinants of matrices."""
        return handed.calls.function("linalg.det", self)

    def inverse(self) -> Tensor:
        """The inverses of matrices."""
        return handed.calls.function("linalg.inv", self)

    def matrix_power(self, n: int) -> Tensor:
        """The products of matrices with themselves."""
        return handed.calls.function("linalg.matrix_power", self, n)
