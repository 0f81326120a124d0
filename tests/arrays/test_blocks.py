"""Reductions of a cast NumPy array in blocks: the bits of the whole one, and little memory."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import numpy_reductions
from castwise.arrays.backends.numpy_reductions import IN_TURN

each = pytest.mark.parametrize
# NumPy before 2.3 adds in pieces of its buffer, and blocks have to be a multiple of it.
BLOCK = np.getbufsize() if numpy_reductions.reduction_order(np.add) is IN_TURN else 256
N = 2 * BLOCK + 37
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "a run": lambda x: x[: N * 3],
    "the last axis": lambda x: x[: 7 * N].reshape(7, N),
    "short rows": lambda x: x[: N * 3].reshape(N, 3),
    "few short rows": lambda x: x[: N * 3].reshape(3, N),
    "transposed": lambda x: x[: 5 * N].reshape(5, N).T,
    "reversed": lambda x: x[: 5 * N].reshape(5, N)[::-1, ::-1],
    "strided": lambda x: x[: 8 * N].reshape(4, 2 * N)[::2, 1::3],
    "three axes": lambda x: x[: 6 * N].reshape(3, N, 2),
    "permuted": lambda x: x[: 6 * N].reshape(3, N, 2).transpose(1, 2, 0),
    "wide layers": lambda x: x[: 6 * N].reshape(2, 3, N),
    "broadcast": lambda x: np.broadcast_to(x[:N, None], (N, 5)),
    "broadcast rows": lambda x: np.broadcast_to(x[:N], (5, N)),
}
AXES = [None, 0, -1, (0, 1), (0, 2), (1, 2)]
OPS = [
    "sum", "prod", "mean", "max", "min", "any", "all", "argmax", "argmin", "var", "std",
    "count_nonzero",
]  # fmt: skip
CASES = [("numpy", "int8"), ("numpy", "float16"), ("jax", "bool"), ("jax", "uint16"),
         ("jax", "bfloat16"), ("tensorflow", "int8"), ("torch", "int32")]  # fmt: skip


def numbers(dtype: str) -> Any:
    """Zeros, numbers of any size and, last, a NaN, so that few places have one."""
    rng = np.random.default_rng(7)
    found = rng.normal(0, 30, 8 * N)
    found[rng.random(8 * N) < 0.1] = 0
    with np.errstate(all="ignore"):
        array = cw.asarray(found, dialect="numpy").astype(dtype).array.copy()
    if dtype in ("float16", "bfloat16"):
        array[3 * N - 1] = np.nan
    return array


def outcome(op: str, array: Any, dialect: str, axis: Any) -> Any:
    """All that can be seen of a result: bits, dtype, shape and strides, or the error."""
    options = {} if axis is None else {"axis": axis}
    try:
        found = cw.apply(op, cw.asarray(array, dialect=dialect), **options).array
    except (cw.CastwiseError, ValueError, TypeError, IndexError) as error:
        return type(error), str(error)
    strides = [step for n, step in zip(found.shape, found.strides, strict=True) if n > 1]
    return found.dtype, found.shape, strides, found.tobytes()


@each("dialect, dtype", CASES)
@each("layout", LAYOUTS)
def test_a_reduction_in_blocks_has_the_bits_of_the_whole_one(
    dialect: str, dtype: str, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = LAYOUTS[layout](numbers(dtype))
    cases = [(op, axis) for op in OPS for axis in AXES]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        monkeypatch.setattr(numpy_reductions, "BLOCK", 1 << 60)
        whole = [outcome(op, array, dialect, axis) for op, axis in cases]
        monkeypatch.setattr(numpy_reductions, "BLOCK", BLOCK)
        found = [outcome(op, array, dialect, axis) for op, axis in cases]
    differing = [c for c, one, other in zip(cases, found, whole, strict=True) if one != other]
    assert differing == []


@each("count", [BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 7, 2 * BLOCK + 8, 5 * BLOCK - 1])
def test_the_bits_are_right_around_the_ends_of_blocks(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numpy_reductions, "BLOCK", BLOCK)
    array = numbers("float16")[:count]
    wide = array.astype("float32")
    x = cw.asarray(array, dialect="jax")  # under NumPy's own dialect, NumPy adds halves itself
    assert x.sum().array == np.float16(wide.sum())
    assert x.var().array == np.float16(wide.var())
    assert cw.asarray(array.astype("int8"), dialect="jax").mean().array == np.mean(
        array.astype("int8").astype("float32")
    )


def test_an_unknown_order_of_sums_means_no_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from castwise.arrays.backends import numpy_reductions

    monkeypatch.setattr(numpy_reductions, "BLOCK", BLOCK)
    monkeypatch.setattr(numpy_reductions, "reduction_order", lambda ufunc: None)
    array = numbers("float16")[: 3 * N - 1]
    x = cw.asarray(array, dialect="jax")
    assert x.sum().array == np.float16(array.astype("float32").sum())


def peak(compute: Callable[[], object]) -> int:
    """The most bytes that a computation takes at once, with its result."""
    compute()
    tracemalloc.start()
    try:
        compute()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


LARGE = 4 << 20  # elements
FEW_BYTES = 5 << 20  # a block in float64, and the rest of the computation


@each("op", ["sum", "prod", "mean", "max", "any", "argmax", "var", "count_nonzero"])
@each("dialect, dtype", [("numpy", "int8"), ("jax", "float16")])
def test_a_large_reduction_takes_little_memory(op: str, dialect: str, dtype: str) -> None:
    x = cw.asarray(np.ones((4, LARGE // 4), dtype), dialect=dialect)
    assert peak(lambda: cw.apply(op, x)) < FEW_BYTES
    assert peak(lambda: cw.apply(op, x, axis=1)) < FEW_BYTES


def test_a_number_and_a_large_array_take_the_memory_of_the_result() -> None:
    x = cw.asarray(np.ones(LARGE, "uint8"))
    assert peak(lambda: x / 2) < 8 * LARGE + FEW_BYTES
    assert peak(lambda: 2.5 - x) < 8 * LARGE + FEW_BYTES


@each("count", [3, LARGE >> 4])
def test_a_number_and_an_array_give_the_same_bits_for_any_size(count: int) -> None:
    array = np.arange(count).astype("uint8")
    x = cw.asarray(array, dialect="torch")
    for _ in range(2):  # the second time on the fast path
        assert (x * 0.1).array.tobytes() == (array.astype("float32") * np.float32(0.1)).tobytes()
        assert (7 - cw.asarray(array)).array.tobytes() == (7 - array).tobytes()
