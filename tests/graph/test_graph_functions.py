"""Functions of the standard in a graph: each gives what it gives eagerly, in dtype and value."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import castwise as cw
import castwise.array_api as xp

M = np.asarray([[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]])
V = np.asarray([2.0, -1.0, 0.5, 3.0, -1.0, 0.0])
T = np.arange(24.0).reshape(2, 3, 4)
I = np.asarray([2, 0, -1], "int32")  # noqa: E741
Case = tuple[Callable[..., Any], tuple[Any, ...]]


def written(x: Any) -> Any:
    x[0] = 7
    x[1:, 0] = x[0, 1:]
    x[..., -1] = np.asarray([1, 2, 3], "float16")
    return x


def written_at(x: Any, i: Any) -> Any:
    x[i[:2]] = -1
    return x


def written_under(x: Any) -> Any:
    x[x > 2] = 0
    x[x[:, 0] < 1] = 9
    return x


CASES: dict[str, Case] = {
    "written": (written, (M,)),
    "written at": (written_at, (M, I)),
    "written under": (written_under, (M,)),
    "indexed by an array": (lambda x, i: x[i], (M, I)),
    "indexed by two": (lambda x, i: x[i, i], (M, I)),
    "indexed apart": (lambda x, i: x[i[:1], :, i], (T, np.asarray([0, 1]))),
    "indexed within": (lambda x, i: x[:, i, 1:], (T, I)),
    "indexed by a number": (lambda x, i: x[i[0]], (M, I)),
    "sort": (lambda x: xp.sort(x, axis=0, descending=True), (M,)),
    "argsort": (xp.argsort, (V,)),
    "take": (lambda x, i: xp.take(x, i, axis=1), (M, I)),
    "take_along_axis": (lambda x: xp.take_along_axis(x, xp.argsort(x), axis=-1), (M,)),
    "searchsorted": (lambda x, y: xp.searchsorted(xp.sort(x), y, side="right"), (V, M)),
    "with a sorter": (lambda x, y: xp.searchsorted(x, y, sorter=xp.argsort(x)), (V, V)),
    "tile": (lambda x: xp.tile(x, (2, 1, 3)), (M,)),
    "repeat": (lambda x: (xp.repeat(x, 2), xp.repeat(x, 3, axis=1)), (M,)),
    "unstack": (lambda x: xp.unstack(x, axis=1), (M,)),
    "meshgrid": (lambda x, y: xp.meshgrid(x, y), (V, I.astype("float64"))),
    "meshgrid ij": (lambda x, y: xp.meshgrid(x, y, indexing="ij"), (V, M[0])),
    "broadcast_arrays": (lambda x, y: xp.broadcast_arrays(x, y), (M, M[0])),
    "triangles": (lambda x: (xp.tril(x, k=1), xp.triu(x)), (M,)),
    "alike": (lambda x: (xp.zeros_like(x), xp.full_like(x, 3), xp.ones_like(x)), (M,)),
    "cumulative_sum": (lambda x: xp.cumulative_sum(x, axis=1, include_initial=True), (M,)),
    "tensordot": (lambda x, y: xp.tensordot(x, y, axes=((1, 0), (0, 1))), (T, T.swapaxes(0, 1))),
    "tensordot by number": (lambda x, y: xp.tensordot(x, y, axes=1), (T, T[0].T)),
    "vecdot": (lambda x, y: xp.vecdot(x, y, axis=0), (M, M)),
    "cross": (lambda x, y: xp.linalg.cross(x, y), (M, M[::-1].copy())),
    "outer": (lambda x, y: xp.linalg.outer(x, y), (V, M[0])),
    "diagonal": (lambda x: (xp.linalg.diagonal(x), xp.linalg.diagonal(x, offset=-1)), (M,)),
    "trace": (xp.linalg.trace, (M,)),
    "norms": (lambda x: (xp.linalg.matrix_norm(x), xp.linalg.vector_norm(x, axis=0)), (M,)),
    "det": (lambda x: (xp.linalg.det(x), *xp.linalg.slogdet(x)), (M,)),
    "inv": (lambda x: (xp.linalg.inv(x), xp.linalg.matrix_power(x, 3)), (M,)),
    "pinv": (lambda x: (xp.linalg.pinv(x[:2]), xp.linalg.matrix_rank(x)), (M,)),
    "solve": (lambda x, y: (xp.linalg.solve(x, y), xp.linalg.solve(x, x)), (M, M[0])),
    "cholesky": (xp.linalg.cholesky, (M,)),
    "eigh": (lambda x: (xp.linalg.eigh(x), xp.linalg.eigvalsh(x)), (M,)),
    "qr": (lambda x: (xp.linalg.qr(x), xp.linalg.qr(x[:2].T, mode="complete")), (M,)),
    "svd": (lambda x: (xp.linalg.svd(x[:2]), xp.linalg.svdvals(x)), (M,)),
    "svd reduced": (lambda x: xp.linalg.svd(x[:2], full_matrices=False), (M,)),
    "fft": (lambda x: (xp.fft.fft(x), xp.fft.rfft(x, n=5), xp.fft.fftn(x)), (M,)),
    "inverse fft": (lambda x: (xp.fft.ifft(x), xp.fft.irfft(xp.fft.fft(x))), (M,)),
    "inverse fft of all": (lambda x: xp.fft.irfftn(xp.fft.fft(x)), (M,)),
    "other fft": (lambda x: (xp.fft.hfft(x), xp.fft.ihfft(x)), (M,)),
    "several fft": (lambda x: xp.fft.rfftn(x, s=(2, 2), axes=(0, 1)), (M,)),
    "shifted": (lambda x: (xp.fft.fftshift(x), xp.fft.ifftshift(x, axes=0)), (M,)),
}  # fmt: skip


def flat(returned: Any) -> list[Any]:
    if isinstance(returned, (tuple, list)):
        return [one for part in returned for one in flat(part)]
    return [returned]


def operands(arrays: tuple[Any, ...], dtype: str, backend: str, dialect: str) -> list[Any]:
    return [
        cw.asarray(a if a.dtype.kind == "i" else a.astype(dtype), backend=backend, dialect=dialect)
        for a in arrays
    ]


def specs(tensors: list[Any]) -> list[str]:
    return [f"{t.dtype}[{','.join(map(str, t.shape))}]" for t in tensors]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_a_graph_gives_what_eager_gives(name: str, dtype: str) -> None:
    fn, arrays = CASES[name]
    given = operands(arrays, dtype, "numpy", "torch")
    try:
        eager = flat(fn(*given))
    except cw.PromotionError as refusal:  # torch has no inverses and transforms of halves
        with pytest.raises(cw.PromotionError, match=re.escape(str(refusal)[:30])):
            cw.trace(fn, *specs(given), dialect="torch")
        assert dtype == "float16"
        return
    graph = cw.trace(fn, *specs(given), dialect="torch")
    results = [graph(*given), graph.simplify().graph(*given), graph.preserve("torch")(*given)]
    for node, wanted in zip(graph.outputs, eager, strict=True):
        assert node.type == f"{wanted.dtype}[{','.join(map(str, wanted.shape))}]"
    for returned in results:
        for got, wanted in zip(flat(returned), eager, strict=True):
            assert got.dtype is wanted.dtype
            np.testing.assert_array_equal(got.numpy(), wanted.numpy())


@pytest.mark.parametrize("backend", ["torch", "jax"])
@pytest.mark.parametrize("name", CASES)
def test_it_runs_on_other_backends(name: str, backend: str) -> None:
    pytest.importorskip(backend)
    fn, arrays = CASES[name]
    # Each has the name of its dialect; that of JAX refuses x[i] = value.
    dialect = "torch" if name.startswith("written") else backend
    given = operands(arrays, "float32", backend, dialect)
    graph = cw.trace(fn, *specs(given), dialect=dialect)
    eager = flat(fn(*operands(arrays, "float32", backend, dialect)))
    for got, wanted in zip(flat(graph(*given)), eager, strict=True):
        assert got.dtype is wanted.dtype
        assert got.backend == backend
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_a_graph_writes_to_what_the_function_writes_to() -> None:
    graph = cw.trace(written, "float64[3,3]")
    given, expected = M.copy(), M.copy()
    found = written(cw.asarray(expected)).tolist()
    assert graph(given).tolist() == found
    assert given.tolist() == expected.tolist() != M.tolist()


def test_a_written_value_is_cast_by_promotion() -> None:
    def fn(x: Any, y: Any) -> Any:
        x[0] = y
        x[1] = y.astype("float16")
        return x

    graph = cw.trace(fn, "float16[2]", "float32[]", dialect="torch")
    assert [cast.is_implicit for cast in graph.casts] == [True, False]
    assert (
        graph.text(shows_origins=False).splitlines()[2] == "  %1 = x with [0] = %0      float16[2]"
    )


def test_tensors_from_outside_are_constants_of_every_function() -> None:
    table, bins = xp.asarray(M), xp.asarray([-1.0, 1.0])

    def fn(i: Any, x: Any) -> Any:
        return table[i], xp.take(table, i, axis=0), xp.searchsorted(bins, x), x[xp.asarray([1, 0])]

    graph = cw.trace(fn, "int64[n]", "float64[m]")
    rows, again, places, turned = graph(np.asarray([2, 0]), V)
    assert rows.tolist() == again.tolist() == M[[2, 0]].tolist()
    assert places.tolist() == np.searchsorted([-1.0, 1.0], V).tolist()
    assert turned.tolist() == [-1.0, 2.0]


def test_several_results_are_computed_once_and_read_line_by_line() -> None:
    graph = cw.trace(lambda x: xp.linalg.svd(x, full_matrices=False), "complex64[n,n]")
    assert graph.text(shows_origins=False).splitlines()[1:] == [
        "  %0 = linalg.svd(x)[0]  complex64[n,n]",
        "  %1 = linalg.svd(x)[1]  float32[n]",
        "  %2 = linalg.svd(x)[2]  complex64[n,n]",
        "  return %0, %1, %2",
    ]
    assert type(graph(M.astype("complex64"))).__name__ == "SVD"


def test_another_dialect_is_asked_for_functions_too() -> None:
    graph = cw.trace(lambda x: xp.linalg.svd(x)[1] + xp.fft.fft(x)[0], "int32[3,3]",
                     dialect="jax")  # fmt: skip
    there = graph.redialect("numpy")
    assert [(c.op, str(c.there.result)) for c in there.changes if c.there] == [
        ("linalg.svd", "float64"), ("fft.fft", "complex128"), ("add", "complex128"),
    ]  # fmt: skip


def test_a_mask_from_outside_names_places() -> None:
    mask = np.asarray([True, False, True])

    def fn(x: Any) -> Any:
        x[mask] = x[1:]
        x[cw.asarray(mask)] = x[[True, True, False]] * 2
        return x, x[mask], x[mask, 0], x[:, mask]

    eager = fn(cw.asarray(M.copy()))
    graph = cw.trace(fn, "float64[3,3]")
    for got, wanted in zip(graph(M), eager, strict=True):
        np.testing.assert_array_equal(got.numpy(), wanted.numpy())


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda x: x[x > 0], r"x\[mask\] gives depends on values"),
        (lambda x: xp.nonzero(x), "nonzero gives depends on values"),
        (lambda x: xp.unique_values(x), "different values"),
        (lambda x: xp.unique_all(x), "different values"),
        (lambda x: xp.repeat(x, x.astype("int64")), "repeat by an array"),
        (lambda x: x.__setitem__(x > 0, x[:1]), "depends on values"),
    ],
)
def test_what_depends_on_values_is_refused_with_its_line(fn: Any, words: str) -> None:
    with pytest.raises(cw.UsageError, match=words) as caught:
        cw.trace(fn, "float32[3]")
    assert "test_graph_functions.py:" in str(caught.value)
    assert "leave this part out of the traced function" in str(caught.value)
