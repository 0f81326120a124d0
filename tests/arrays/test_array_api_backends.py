"""The functions of the namespace on every backend: the dtypes and values of NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise import array_api as xp
from castwise.array_api import beyond
from castwise.vocab.ops import OPS

Make = Callable[..., cw.Tensor]
M, V, MASK = [[4.0, 1.0], [1.0, 3.0]], [1, 2, 3], [True, False, True]
# JAX without its 64-bit mode has no dtypes for the standard's Python numbers.
UNDER = {"jax": "jax"}
LACKING = {
    "torch": {"unique_all"},
    "dask": {
        "repeat by tensor", "take_along_axis", "linalg.det", "linalg.eig",
        "linalg.eigh", "linalg.eigvals", "linalg.eigvalsh", "linalg.matrix_power",
        "linalg.matrix_rank", "linalg.pinv", "linalg.slogdet", "linalg.svd", "linalg.svdvals",
        "from_dlpack",
    },
}  # fmt: skip


def assigned(x: cw.Tensor, key: Any, value: Any) -> cw.Tensor:
    if hasattr(x, "at"):  # arrays never change in its dialect
        return x.at[key].set(value)
    x[key] = value
    return x


LAYOUT: dict[str, Callable[[Make], Any]] = {
    "zeros_like": lambda a: xp.zeros_like(a(V)),
    "full_like": lambda a: xp.full_like(a(V), 5),
    "tril": lambda a: xp.tril(a(M)),
    "meshgrid": lambda a: xp.meshgrid(a(V), a(V)),
    "reshape": lambda a: xp.reshape(a(M), (4, 1)),
    "permute_dims": lambda a: xp.permute_dims(a(M), (1, 0)),
    "moveaxis": lambda a: xp.moveaxis(a(M), 0, 1),
    "mT": lambda a: a(M).mT,
    "flip": lambda a: xp.flip(a(V)),
    "roll": lambda a: xp.roll(a(V), 1),
    "tile": lambda a: xp.tile(a(V), (2,)),
    "repeat": lambda a: xp.repeat(a(V), 2),
    "repeat by tensor": lambda a: xp.repeat(a(V), a(V)),
    "unstack": lambda a: xp.unstack(a(M)),
    "broadcast_arrays": lambda a: xp.broadcast_arrays(a(V), a([[1], [2]])),
    "concat": lambda a: xp.concat([a([1], dtype="int8"), a([2], dtype="uint8")]),
    "concat flat": lambda a: xp.concat([a(M), a([2.0])], axis=None),
    "stack": lambda a: xp.stack([a(V), a(V)], axis=1),
    "squeeze": lambda a: xp.squeeze(xp.expand_dims(a(V), 0), 0),
    "sort": lambda a: xp.sort(a(V), descending=True),
    "argsort": lambda a: xp.argsort(a([3, 1, 2])),
    "take": lambda a: xp.take(a(M), a([0]), axis=1),
    "take_along_axis": lambda a: xp.take_along_axis(a(M), a([[0], [1]])),
    "unique_all": lambda a: xp.unique_all(a([3, 1, 1])),
    "unique_counts": lambda a: xp.unique_counts(a([3, 1, 1])),
    "unique_inverse": lambda a: xp.unique_inverse(a([3, 1, 1])),
    "nonzero": lambda a: xp.nonzero(a(V)),
    "searchsorted": lambda a: xp.searchsorted(a(V), a([2], dtype="int8")),
    "searchsorted of a number": lambda a: xp.searchsorted(a(V), 2, side="right"),
    "searchsorted of a 0-d tensor": lambda a: xp.searchsorted(a(V), a(2)),
    "expand_dims by several": lambda a: xp.expand_dims(a(M), (0, -1)),
    "permute_dims from the end": lambda a: xp.permute_dims(a([M]), (-1, 0, -2)),
    "isin": lambda a: xp.isin(a(V), a([[2, 5]], dtype="int8")),
    "isin of a number": lambda a: xp.isin(a(V), 2, invert=True),
    "a number isin": lambda a: xp.isin(2, a(V)),
    "isin of small floats": lambda a: xp.isin(
        a([1, 2], dtype="float32", dialect="torch"), a([2.0], dtype="float32", dialect="torch")
    ),
    "by mask": lambda a: a(V)[a(MASK)],
    "by tensor": lambda a: a(V)[a([0, 2])],
    "assigned by mask": lambda a: assigned(a(V), a(MASK), 9),
    "from_dlpack": lambda a: xp.from_dlpack(a(V)),
    "to_device": lambda a: a(V).to_device(a(V).device),
}
COMPUTING: dict[str, Callable[[Make], Any]] = {
    "cos": lambda a: xp.cos(a(M)),
    "expm1": lambda a: xp.expm1(a(M)),
    "signbit": lambda a: xp.signbit(a([-0.0, 1.0])),
    "clip": lambda a: xp.clip(a(V), 2, 2),
    "clip above": lambda a: xp.clip(a(V), None, 2),
    "nextafter": lambda a: xp.nextafter(a([1.0]), a([2.0])),
    "sum": lambda a: xp.sum(a(V, dtype="int8")),
    "sum in int8": lambda a: xp.sum(a([100, 100], dtype="int8"), dtype="int8"),
    "cumulative_sum": lambda a: xp.cumulative_sum(a(V), include_initial=True),
    "cumulative_prod": lambda a: xp.cumulative_prod(a(V), dtype="int16"),
    "std": lambda a: xp.std(a(M), correction=1),
    "mean": lambda a: xp.mean(a(M), keepdims=True),
    "max": lambda a: xp.max(a(M), axis=(0, 1)),
    "argmax": lambda a: xp.argmax(a(M), axis=1),
    "count_nonzero": lambda a: xp.count_nonzero(a(V)),
    "where": lambda a: xp.where(a(MASK), a(V), 5),
    "diff": lambda a: xp.diff(a(V)),
    "tensordot": lambda a: xp.tensordot(a(M), a(M), axes=1),
    "vecdot": lambda a: xp.vecdot(a(M), a(M)),
    "linalg.cross": lambda a: xp.linalg.cross(a(V), a([2, 1, 0])),
    "linalg.diagonal": lambda a: xp.linalg.diagonal(a(M)),
    "linalg.trace": lambda a: xp.linalg.trace(a([[1, 2], [3, 4]], dtype="int8")),
    "linalg.outer": lambda a: xp.linalg.outer(a(V), a(V)),
    "linalg.solve": lambda a: xp.linalg.solve(a(M), a([1.0, 2.0])),
    "linalg.svd": lambda a: xp.linalg.svd(a(M)).S,
    "linalg.eigh": lambda a: xp.linalg.eigh(a(M)).eigenvalues,
    "linalg.eig": lambda a: abs(xp.linalg.eig(a(M)).eigenvectors),
    "linalg.qr": lambda a: abs(xp.linalg.qr(a(M)).R),
    "linalg.matrix_power": lambda a: xp.linalg.matrix_power(a(M), 2),
    **{
        f"linalg.{name}": lambda a, name=name: getattr(xp.linalg, name)(a(M))
        for name in ("cholesky", "det", "eigvals", "eigvalsh", "inv", "matrix_norm", "matrix_rank",
                     "pinv", "slogdet", "svdvals", "vector_norm")
    },
    **{
        f"fft.{name}": lambda a, name=name: getattr(xp.fft, name)(a(M))
        for name in ("rfft", "rfftn", "ihfft", "fftshift")
    },
    **{
        f"fft.{name}": lambda a, name=name: getattr(xp.fft, name)(a([[1 + 1j, 2], [3, 4]]))
        for name in ("fft", "ifft", "fftn", "ifftn")
    },
    "fft.irfft": lambda a: xp.fft.irfft(a([1 + 1j, 2, 3])),
    "fft.hfft": lambda a: xp.fft.hfft(a([1 + 1j, 2, 3])),
    **{
        name: lambda a, name=name: getattr(xp, name)(*[a(M[0])] * OPS[name].arity[0])
        for name in beyond.__all__
    },
    "cross": lambda a: xp.cross(a(V), a([2, 1, 0])),
    # Not every dialect takes a float exponent, nor an integer one.
    "ldexp": lambda a: xp.ldexp(
        a(M[0], dialect="torch"), a([1, 2], dtype="int32", dialect="torch")
    ),
}  # fmt: skip
CASES = {**LAYOUT, **COMPUTING}


def results(case: Callable[[Make], Any], backend: str) -> list[cw.Tensor]:
    found = case(lambda data, **options: xp.asarray(data, backend=backend, **options))
    return [found] if isinstance(found, cw.Tensor) else list(found)


def same(one: cw.Tensor, other: cw.Tensor, backend: str) -> None:
    values = one.numpy()
    assert one.backend == backend
    assert (one.dtype, str(values.dtype)) == (other.dtype, str(other.dtype))
    np.testing.assert_allclose(values, other.numpy(), rtol=1e-5, atol=1e-6)
    assert values.shape == other.shape


@pytest.mark.parametrize("backend", ["torch", "jax", "dask"])
@pytest.mark.parametrize("name", CASES)
def test_a_function_gives_on_every_backend_what_it_gives_on_numpy(name: str, backend: str) -> None:
    pytest.importorskip(backend)
    with cw.use(UNDER[backend]) if backend in UNDER else nullcontext():
        expected = results(CASES[name], "numpy")
        if name in LACKING.get(backend, ()):
            with pytest.raises((cw.UsageError, NotImplementedError, TypeError, ValueError)):
                results(CASES[name], backend)
            return
        for one, other in zip(results(CASES[name], backend), expected, strict=True):
            same(one, other, backend)


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax", "dask"])
def test_new_arrays_on_every_backend(backend: str) -> None:
    pytest.importorskip(backend)
    options: dict[str, Any] = {"backend": backend, "dialect": "jax", "dtype": "bfloat16"}
    made = [
        xp.zeros(2, **options), xp.ones((2, 1), **options), xp.full(2, 3, **options),
        xp.eye(2, **options), xp.empty(2, **options), xp.asarray([1, 2], **options),
    ]  # fmt: skip
    assert {(str(x.dtype), x.backend, x.dialect.name) for x in made} == {
        ("bfloat16", backend, "jax")
    }
    options["dtype"] = "float32"
    assert xp.linspace(0, 1, 3, **options).tolist() == [0.0, 0.5, 1.0]
    assert xp.arange(1, 6, 2, **options).tolist() == [1.0, 3.0, 5.0]


def test_operands_of_two_backends_do_not_mix() -> None:
    pytest.importorskip("torch")
    with pytest.raises(cw.UsageError, match="do not mix"):
        xp.take(xp.asarray([1]), xp.asarray([0], backend="torch"))
