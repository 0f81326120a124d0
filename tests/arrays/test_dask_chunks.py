"""Reductions and products over chunks, and chunks whose sizes nobody knows yet."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import castwise as cw
import castwise.array_api as xp

da = pytest.importorskip("dask.array")
dask_reductions = pytest.importorskip("castwise.arrays.backends.dask_reductions")

CUTS = ((5, 6, 4), (2, 6, 3), (1, 1, 4), ((3, 2), (1, 5), (2, 2)))
REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "count_nonzero", "mean", "var", "std",
              "norm", "logsumexp")  # fmt: skip
AXES: tuple[Any, ...] = (None, 0, -1, (0, 2), (1,))


def numbers(*shape: int, dtype: str = "float64") -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).uniform(0.5, 1.5, shape).astype(dtype)


def both(array: Any, cut: Any) -> tuple[cw.Tensor, cw.Tensor]:
    """The same values in chunks and in NumPy."""
    return cw.asarray(da.from_array(array, chunks=cut)), cw.asarray(array)


@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_over_any_axes(name: str, cut: Any) -> None:
    lazy, plain = both(numbers(5, 6, 4), cut)
    for axis in AXES:
        for keepdims in (False, True):
            if name == "norm" and isinstance(axis, tuple) and len(axis) == 2:
                expected = np.sqrt(np.sum(plain.numpy() ** 2, axis=axis, keepdims=keepdims))
            else:
                expected = cw.apply(name, plain, axis=axis, keepdims=keepdims).numpy()
            got = cw.apply(name, lazy, axis=axis, keepdims=keepdims)
            assert got.shape == expected.shape
            np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_of_equals_is_found(name: str, cut: Any) -> None:
    drawn = np.random.default_rng(2)
    for has_nan in (False, True):
        array = drawn.integers(0, 3, (5, 6, 4)).astype("float32")
        if has_nan:
            array[drawn.random(array.shape) < 0.1] = np.nan
        lazy, plain = both(array, cut)
        for axis in (None, 0, 1, -1):
            got = cw.apply(name, lazy, axis=axis)
            assert got.tolist() == cw.apply(name, plain, axis=axis).tolist(), axis
            assert got.dtype.name == "int64"
        assert cw.apply(name, lazy, axis=1, keepdims=True).shape == (5, 1, 4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_small_floats_accumulate_in_float32(dtype: str) -> None:
    """Summed in their own dtype, ones stay at 256 or 2048."""
    x = cw.asarray(da.ones(10_000, dtype="float32", chunks=97), dialect="torch").astype(dtype)
    total = cw.apply("sum", x)
    assert total.dtype.name == dtype
    assert total.item() == cw.asarray(10_000.0, dtype=dtype).item()
    assert cw.apply("mean", x).item() == 1
    assert cw.apply("cumsum", x, axis=0)[-1].item() == total.item()


@pytest.mark.parametrize("name", [*REDUCTIONS, "argmax", "argmin"])
def test_large_chunks_are_cast_piece_by_piece(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_reductions, "_PIECE", 7)
    lazy, plain = both(numbers(5, 6, 4, dtype="float16"), (5, 3, 2))
    for axis in (None, 0, 1, 2):
        got = cw.apply(name, lazy, axis=axis)
        # NumPy itself rounds a product of float16 at every step.
        expected = cw.apply(name, plain.astype("float64"), axis=axis)
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-3)


def test_a_sum_of_small_integers_makes_no_wide_copy_of_a_chunk() -> None:
    x = cw.asarray(da.ones(1 << 22, dtype="int8", chunks=-1), dialect="torch")
    total = cw.apply("sum", x)
    tracemalloc.start()
    assert total.array.compute(scheduler="sync") == 1 << 22
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total.dtype.name == "int64"
    assert peak < 2 << 22


def test_a_variance_beside_a_large_mean() -> None:
    lazy, plain = both(numbers(1000) + 1e8, 13)
    assert cw.apply("var", lazy).item() == pytest.approx(cw.apply("var", plain).item(), rel=1e-6)
    got, expected = (cw.apply("var", t, correction=1).item() for t in (lazy, plain))
    assert got == pytest.approx(expected, rel=1e-6)


def test_logsumexp_of_infinities() -> None:
    for values in ([-np.inf, -np.inf, -np.inf], [np.inf, 1.0, 2.0], [-np.inf, 1.0, 2.0]):
        lazy, _ = both(np.asarray(values), 1)
        assert cw.apply("logsumexp", lazy).item() == pytest.approx(np.logaddexp.reduce(values))


@pytest.mark.parametrize("shapes", [
    ((4, 6), (6, 5)), ((6,), (6, 5)), ((4, 6), (6,)), ((6,), (6,)), ((3, 4, 6), (6, 5)),
    ((3, 1, 4, 6), (2, 6, 5)), ((1, 4, 6), (3, 6, 5)),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("name", ["matmul", "dot"])
def test_products_in_chunks(name: str, shapes: Any) -> None:
    arrays = [numbers(*shape, dtype="float32") for shape in shapes]
    lazy = [cw.asarray(da.from_array(a, chunks=2), dialect="numpy") for a in arrays]
    got = cw.apply(name, *lazy)
    expected = getattr(np, name)(*arrays)
    assert got.shape == expected.shape
    assert got.array.dtype == got.numpy().dtype == np.float32
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-5)


def test_tensordot_and_vecdot_in_chunks() -> None:
    x, y = numbers(4, 5, 6), numbers(5, 4, 3)
    lazy_x, lazy_y = (cw.asarray(da.from_array(a, chunks=2)) for a in (x, y))
    got = xp.tensordot(lazy_x, lazy_y, axes=((0, 1), (1, 0)))
    np.testing.assert_allclose(got.numpy(), np.tensordot(x, y, axes=((0, 1), (1, 0))))
    np.testing.assert_allclose(xp.vecdot(lazy_x, lazy_x).numpy(), (x * x).sum(-1))
    turned = xp.vecdot(lazy_x, lazy_x, axis=-2)
    np.testing.assert_allclose(turned.numpy(), (x * x).sum(-2))


def test_integer_products_wrap() -> None:
    x = cw.asarray(da.full((3, 4), 100, dtype="int8", chunks=2), dialect="torch")
    assert (
        x @ cw.asarray(da.full((4, 2), 2, dtype="int8", chunks=1), dialect="torch")
    ).tolist() == [[32, 32]] * 3


@pytest.mark.parametrize("cut", [1, 3, 7])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_sums_in_chunks(name: str, cut: int) -> None:
    lazy, plain = both(numbers(7, 5), (cut, 2))
    for axis in (0, 1, -1):
        got, expected = (cw.apply(name, t, axis=axis) for t in (lazy, plain))
        np.testing.assert_allclose(got.numpy(), expected.numpy())
    started = xp.cumulative_sum(lazy, axis=0, include_initial=True)
    assert started.shape == (8, 5)
    assert started[0].tolist() == [0] * 5
    with pytest.raises(ValueError, match="needs an axis"):
        cw.apply(name, lazy)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "median"])
def test_ops_that_need_a_whole_axis(name: str) -> None:
    lazy, plain = both(numbers(5, 6), 2)
    for axis in (0, 1, -1):
        got, expected = (cw.apply(name, t, axis=axis) for t in (lazy, plain))
        np.testing.assert_allclose(got.numpy(), expected.numpy())
    if name == "median":
        assert cw.apply(name, lazy, keepdims=True).shape == (1, 1)
        assert cw.apply(name, lazy).item() == cw.apply(name, plain).item()


def chosen() -> tuple[cw.Tensor, cw.Tensor]:
    """Elements that a mask chose, of which one chunk has none."""
    array = np.asarray([5, 1, 0, 0, 0, 7, 2, 7, 3], "float32")
    lazy, plain = both(array, 3)
    return lazy[lazy > 0], plain[plain > 0]


def test_chunks_of_unknown_size_are_computed() -> None:
    lazy, plain = chosen()
    assert np.isnan(lazy.shape[0])
    assert "shape=(nan,)" in repr(lazy)
    assert (lazy * lazy + 1).tolist() == (plain * plain + 1).tolist()
    for name in (*REDUCTIONS, "argmax", "argmin"):
        got, expected = (cw.apply(name, t) for t in (lazy, plain))
        assert got.item() == pytest.approx(expected.item(), rel=1e-6), name
    assert cw.apply("cumsum", lazy, axis=0).tolist() == cw.apply("cumsum", plain, axis=0).tolist()


def test_what_needs_known_sizes_says_so() -> None:
    lazy, _ = chosen()
    with pytest.raises(ValueError, match="sizes are unknown"):
        cw.apply("median", lazy)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        _ = lazy + cw.asarray(da.ones(6, chunks=2))


def test_no_elements_at_all() -> None:
    lazy, _ = both(np.zeros((0, 3)), 2)
    assert cw.apply("sum", lazy).item() == 0
    assert cw.apply("max", lazy, axis=1).shape == (0,)
    for name in ("max", "argmin", "logsumexp"):
        with pytest.raises(ValueError, match=f"{name} of no elements"):
            cw.apply(name, lazy).item()
