"""The linalg extension: each function is an op, or made of ops."""

from __future__ import annotations

from typing import Literal, NamedTuple

from castwise.array_api.functions import (
    Axes,
    check_accepted,
    first_result,
    matmul,
    matrix_transpose,
    op,
    reduced,
    several,
    tensordot,
    vecdot,
)
from castwise.arrays.elements import as_index, check_tensor, moved
from castwise.arrays.kinds import raw_array
from castwise.arrays.tensor import Tensor
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip


class Eig(NamedTuple):
    """The eigenvalues of matrices and their eigenvectors, complex even if all are real."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class Eigh(NamedTuple):
    """The eigenvalues of symmetric matrices and their eigenvectors."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QR(NamedTuple):
    """An orthonormal and an upper triangular factor."""

    Q: Tensor
    R: Tensor


class Slogdet(NamedTuple):
    """The sign of a determinant and the logarithm of its magnitude."""

    sign: Tensor
    logabsdet: Tensor


class SVD(NamedTuple):
    """The factors of a singular value decomposition."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The triangular factor of positive definite matrices."""
    return first_result("linalg.cholesky", x, upper=upper)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The cross product of vectors with three elements."""
    return op("cross", x1, x2, axis=axis)


def det(x: Tensor, /) -> Tensor:
    """The determinants of matrices."""
    return first_result("linalg.det", x)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """The elements on a diagonal of matrices."""
    return moved("linalg.diagonal", x, offset=offset)


def eig(x: Tensor, /) -> Eig:
    """The eigenvalues and eigenvectors of matrices."""
    return Eig(*several("linalg.eig", x))


def eigvals(x: Tensor, /) -> Tensor:
    """The eigenvalues of matrices."""
    return first_result("linalg.eigvals", x)


def eigh(x: Tensor, /) -> Eigh:
    """The eigenvalues and eigenvectors of symmetric matrices."""
    return Eigh(*several("linalg.eigh", x))


def eigvalsh(x: Tensor, /) -> Tensor:
    """The eigenvalues of symmetric matrices."""
    return first_result("linalg.eigvalsh", x)


def inv(x: Tensor, /) -> Tensor:
    """The inverses of matrices."""
    return first_result("linalg.inv", x)


def matrix_norm(
    x: Tensor, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro"
) -> Tensor:
    """A norm of matrices, by default the Frobenius norm."""
    if ord in (2, -2, "nuc"):
        check_accepted("linalg.svdvals", x)
    return op("linalg.matrix_norm", x, keepdims=keepdims, ord=ord)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Square matrices to an integer power; to a negative one, their inverses to the positive."""
    if n < 0:
        return matrix_power(inv(x), -n)
    return first_result("linalg.matrix_power", x, n=n)


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """How many singular values of matrices are not negligible."""
    return as_index(first_result("linalg.matrix_rank", x, rtol=raw_array(rtol))._array, x)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """All products of an element of one vector with one of the other."""
    for x in (x1, x2):
        if check_tensor(x, "linalg.outer").ndim != 1:
            raise UsageError(
                "linalg.outer takes vectors: use castwise.array_api.outer for other shapes."
            )
    return op("outer", x1, x2)


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """The pseudo-inverses of matrices."""
    return first_result("linalg.pinv", x, rtol=raw_array(rtol))


def qr(x: Tensor, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QR:
    """The QR decompositions of matrices."""
    return QR(*several("linalg.qr", x, mode=mode))


def slogdet(x: Tensor, /) -> Slogdet:
    """The signs of determinants and the logarithms of their magnitudes."""
    return Slogdet(*several("linalg.slogdet", x))


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The solutions of linear systems."""
    return first_result("linalg.solve", x1, x2)


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVD:
    """The singular value decompositions of matrices."""
    return SVD(*several("linalg.svd", x, full_matrices=full_matrices))


def svdvals(x: Tensor, /) -> Tensor:
    """The singular values of matrices."""
    return first_result("linalg.svdvals", x)


def trace(x: Tensor, /, *, offset: int = 0, dtype: DType | None = None) -> Tensor:
    """The sums of the elements on a diagonal of matrices."""
    return reduced("sum", diagonal(x, offset=offset), dtype, axis=-1)


def vector_norm(
    x: Tensor, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2
) -> Tensor:
    """A norm of vectors, by default the Euclidean norm."""
    return op("linalg.vector_norm", x, axis=axis, keepdims=keepdims, ord=ord)
