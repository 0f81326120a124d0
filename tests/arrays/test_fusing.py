"""Ops on large arrays by kernels: chosen where they pay, and otherwise as if there were none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays import apply, fusing
from castwise.errors import DivisionByZeroError

pytest.importorskip("llvmlite")
SIZE = 100


@pytest.fixture(autouse=True)
def from_size(kernels_from: Callable[[int], None]) -> None:
    kernels_from(SIZE)


class Runs:
    """Counts the runs of kernels."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from castwise.kernels import processor

        self.count, call = 0, processor.Launch.__call__

        def counted(launch: Any, addresses: Any) -> bool:
            is_right = call(launch, addresses)
            self.count += is_right
            return is_right

        monkeypatch.setattr(processor.Launch, "__call__", counted)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(monkeypatch)


def made(dtype: str, dialect: str, size: int = SIZE) -> cw.Tensor:
    return cw.asarray(np.arange(size) % 100, dtype=dtype, dialect=dialect)


def test_large_arrays_are_computed_by_a_kernel(runs: Runs) -> None:
    x, y = made("int8", "torch"), made("float16", "torch")
    assert (x + y).dtype == "float16"
    assert (x * 0.5).dtype == "float32"
    assert (x + y).tolist() == [2.0 * (n % 100) for n in range(SIZE)]
    assert runs.count == 3


def test_small_arrays_are_not(runs: Runs) -> None:
    x = made("int8", "torch", SIZE - 1)
    assert (x + x).dtype == "int8"
    assert runs.count == 0


def test_a_kernel_is_compiled_only_after_some_work(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("CASTWISE_CACHE", str(tmp_path))
    monkeypatch.setitem(fusing.COSTS, "cpu", fusing.Costs(SIZE, 3 * SIZE))
    x, y = made("int16", "torch"), made("uint8", "torch")
    counts = []
    for _ in range(5):
        x - y
        counts.append(runs.count)
    assert counts == [0, 0, 0, 1, 2]


def forget(processor: Any) -> None:
    """Drops all kernels from memory."""
    processor._kernels.clear()
    processor._launches.clear()


def test_a_kernel_on_disk_is_used_at_once(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    from castwise.kernels import processor

    monkeypatch.setenv("CASTWISE_CACHE", str(tmp_path))
    x, y = made("int32", "torch"), made("uint8", "torch")
    forget(processor)
    x - y
    forget(processor)
    monkeypatch.setitem(fusing.COSTS, "cpu", fusing.Costs(SIZE, 1 << 60))
    apply._known.clear()
    apply.forget_all()
    x - y
    assert runs.count == 2


def test_numpy_warns_as_it_does_without_a_kernel(runs: Runs) -> None:
    x = cw.asarray(np.full(SIZE, 3e38, np.float32), dialect="numpy")
    with pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
        x * np.float32(10)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        made("int32", "numpy") // made("int32", "numpy")
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        x * x
    assert runs.count == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (x / x).tolist() == [1.0] * SIZE
        assert np.isinf((cw.asarray(x.array, dialect="torch") * 10).array).all()  # silent there
    assert runs.count == 2


def test_what_raises_still_raises(runs: Runs) -> None:
    x = made("int32", "torch")
    with pytest.raises(DivisionByZeroError):
        x // made("int32", "torch")
    assert runs.count == 0
    assert (x // 3).tolist() == [n % 100 // 3 for n in range(SIZE)]


def test_subnormals_are_flushed_where_the_dialect_does(runs: Runs) -> None:
    tiny = np.full(SIZE, 1e-40, np.float32)
    x = cw.asarray(tiny, dialect="jax")
    assert (x * 2).tolist() == [0.0] * SIZE
    assert (cw.asarray(tiny, dialect="torch") * 2).array.all()
    assert runs.count == 2


@pytest.mark.parametrize("dialect", ["jax", "tensorflow"])
def test_a_choice_keeps_subnormals_beside_a_comparison_that_flushes(
    dialect: str, runs: Runs
) -> None:
    # On x86-64 one instruction does both, and flushes what it chooses.
    tiny = cw.asarray(np.full(SIZE, 1e-40, np.float32), dialect=dialect)
    one = cw.asarray(np.ones(SIZE, np.float32), dialect=dialect)

    def smaller(x: Any, y: Any) -> Any:
        return cw.apply("where", cw.apply("lt", x, y), x, y)

    compiled: Any = cw.compile(smaller, dialect=dialect)
    assert compiled(one, one).tolist() == [1.0] * SIZE
    assert runs.count == 1
    assert compiled(tiny, one).array.tobytes() == tiny.array.tobytes()


def test_kernels_write_into_arrays(runs: Runs) -> None:
    held = np.arange(SIZE, dtype=np.float16)
    x, y = cw.asarray(held, dialect="torch"), made("int8", "torch")
    x += y
    x.mul_(0.5)
    assert x.array is held
    assert held.tolist() == [float(n) for n in range(SIZE)]
    cw.apply("sub", y, 1, out=x)
    assert held.tolist() == [n - 1.0 for n in range(SIZE)]
    assert runs.count == 3


def test_threads_write_into_arrays_in_different_orders() -> None:
    shape = (256, 300)
    x = cw.asarray(np.arange(256 * 300).reshape(shape) % 100, dtype="int8", dialect="torch")
    y = cw.asarray(np.ones(shape), dtype="float32", dialect="torch")
    program = apply.prepare("add", (x, y), "operator")._fused.program  # type: ignore[union-attr]
    expected = (x + y).numpy()

    def write(number: int) -> None:
        wide = np.empty((256, 601), np.float32)
        targets = [np.empty(shape, np.float32, order) for order in ("C", "F")]
        targets += [wide[:, ::2][:, :300], wide[::-1, 1::2]]
        for n in range(60):
            target = targets[(n + number) % 4]
            target[...] = 0
            assert program.run((x.array, y.array), [target], may_compile=True)
            assert np.array_equal(target, expected)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4), timeout=60))


def test_overlapping_arrays_are_not_written_over(runs: Runs) -> None:
    held = np.ones(SIZE + 1, np.float16)
    x = cw.asarray(held, dialect="torch")
    x[1:].add_(x[:-1])
    assert held.tolist() == [1.0] + [2.0] * SIZE


def test_nothing_is_written_before_an_error() -> None:
    x = made("int32", "torch")
    with pytest.raises(DivisionByZeroError):
        x.floor_divide_(made("int32", "torch"))
    assert x.tolist() == [n % 100 for n in range(SIZE)]


def test_an_array_keeps_its_order() -> None:
    x = cw.asarray(np.asfortranarray(np.ones((20, 30), np.int8)), dialect="torch")
    assert (x + 1.5).array.flags.f_contiguous
    assert (x.T + 1.5).array.flags.c_contiguous


def test_another_byte_order_is_left_to_numpy(runs: Runs) -> None:
    swapped = cw.asarray(np.arange(SIZE).astype(">f4"), dialect="numpy")
    assert (swapped + swapped).tolist() == [2.0 * n for n in range(SIZE)]
    assert runs.count == 0


def test_shapes_that_do_not_fit_are_the_library_s_error() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        made("int8", "torch") + made("int8", "torch", SIZE + 1)


def test_a_kernel_that_cannot_be_compiled_is_told_once(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from castwise.kernels import processor

    monkeypatch.setenv("CASTWISE_CACHE", "off")
    monkeypatch.setattr(processor, "generated", lambda *given: "no IR")
    monkeypatch.setattr(processor, "_broken", set())
    forget(processor)
    x, y = made("int16", "torch"), made("uint8", "torch")
    with pytest.warns(RuntimeWarning, match="could not compile a kernel"):
        assert (x - y).tolist() == [0] * SIZE
    assert (x - y).tolist() == [0] * SIZE
    assert runs.count == 0


def test_without_kernels_everything_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusing, "are_there", lambda: False)
    assert (made("int8", "torch") + made("float16", "torch")).dtype == "float16"
