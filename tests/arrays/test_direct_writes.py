"""In-place ops and out= compute straight into a large array, with the bits of a computed copy."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays import apply, fast_path, fusing
from castwise.arrays.backends import numpy
from castwise.arrays.fast_path import watched_by

each = pytest.mark.parametrize
LARGE = 1 << 20  # elements
SHAPE = (LARGE >> 8, 1 << 8)
FEW_BYTES = 3 << 19  # less than any of the arrays takes

CASES = [
    ("numpy", "add", "float32", "float32"),
    ("numpy", "mul", "float64", "int16"),
    ("numpy", "exp", "float32", None),
    ("torch", "add", "float32", "int8"),
    ("torch", "sub", "bfloat16", "bfloat16"),
    ("torch", "mul", "float32", 0.1),
    ("torch", "div", "float32", 3),
    ("torch", "bitwise_xor", "int32", "int8"),
    ("tensorflow:all", "mul", "float32", "float32"),
    ("tensorflow:all", "add", "float32", "bfloat16"),
]


@pytest.fixture(autouse=True)
def no_kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The plain path is meant, whether the machine has kernels or not."""
    monkeypatch.setattr(fusing, "are_there", lambda: False)
    monkeypatch.setattr(apply, "_known", {})
    fast_path.forget_all()
    yield
    fast_path.forget_all()


def tensor(dtype: str, dialect: str, seed: int = 1) -> Any:
    values = np.random.default_rng(seed).normal(0, 9, SHAPE) * np.array([1, 1e-38, 1e30, 0] * 64)
    with np.errstate(all="ignore"):
        held = cw.asarray(values, dialect="numpy").astype(dtype).array
    return cw.asarray(held.copy(), dialect=dialect)


def peak(compute: Callable[[], object]) -> int:
    """The most bytes that a computation takes at once."""
    tracemalloc.start()
    try:
        compute()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@each("dialect, op, dtype, other", CASES)
def test_in_place_and_out_have_the_bits_of_a_new_result(
    dialect: str, op: str, dtype: str, other: Any
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        x, out = tensor(dtype, dialect), tensor(dtype, dialect, 3)
        others = [tensor(other, dialect, 2) if isinstance(other, str) else other] * (
            other is not None
        )
        array = x.array
        new = cw.apply(op, x, *others).array
        assert peak(lambda: cw.apply(op, x, *others, out=out)) < FEW_BYTES
        assert out.array.tobytes() == new.tobytes()
        assert peak(lambda: cw.apply(op, x, *others, inplace=True)) < FEW_BYTES
        assert x.array is array
        assert array.tobytes() == new.tobytes()


@each("view", [lambda x: x[::-1], lambda x: x.T, lambda x: x, lambda x: x[:1]])
@each("dialect", ["numpy", "tensorflow:all"])
def test_operands_may_share_the_memory_of_the_target(dialect: str, view: Any) -> None:
    array = tensor("float32", dialect).array[: 1 << 8].copy()
    x, y = cw.asarray(array, dialect=dialect), cw.asarray(view(array), dialect=dialect)
    new = (array + view(array)).tobytes() if dialect == "numpy" else (x + y).array.tobytes()
    cw.apply("add", x, y, inplace=True)
    assert array.tobytes() == new


def test_elements_that_share_memory_are_written_as_before() -> None:
    base = np.arange(300.0)
    array = np.lib.stride_tricks.as_strided(base, (200, 300), (0, 8))
    x = cw.asarray(array)
    x += 1.0
    assert base.tolist() == np.arange(1.0, 301.0).tolist()


@each("setting", ["error state", "warning filter"])
def test_a_float_error_that_raises_leaves_the_target_unchanged(setting: str) -> None:
    x = cw.asarray(np.full(LARGE, 3e38, "float32"))
    with warnings.catch_warnings(), np.errstate(over="warn"):
        if setting == "error state":
            np.seterr(over="raise")
        else:
            warnings.simplefilter("error")
        with pytest.raises((FloatingPointError, RuntimeWarning)):
            x *= 2.0
    assert (x.array == np.float32(3e38)).all()


@each("dialect, op", [("numpy", "pow"), ("torch", "floor_divide"), ("tensorflow", "remainder")])
def test_an_op_that_raises_leaves_the_target_unchanged(dialect: str, op: str) -> None:
    array, other = np.full(LARGE, 7, "int32"), np.full(LARGE, 2, "int32")
    other[-1] = -1 if op == "pow" else 0
    x, y = cw.asarray(array, dialect=dialect), cw.asarray(other, dialect=dialect)
    with pytest.raises((ValueError, ArithmeticError, cw.CastwiseError)):
        cw.apply(op, x, y, inplace=True)
    assert (array == 7).all()


def test_a_float_error_warns_once() -> None:
    x = cw.asarray(np.full(LARGE, 3e38, "float32"))
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        x *= 2.0
    assert len(noted) == 1
    assert np.isinf(x.array).all()


def test_an_array_that_may_not_be_written_is_refused_as_before() -> None:
    array = np.ones(LARGE)
    array.flags.writeable = False
    x = cw.asarray(array)
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        x += 1.0


def test_a_watcher_sees_the_operands_before_they_are_written() -> None:
    class Watcher:
        seen: float

        def note(self, decision: Any, operands: Any, result: Any) -> None:
            self.seen = float(operands[0][0])

    watcher, x = Watcher(), cw.asarray(np.ones(LARGE, "float32"), dialect="torch")
    with watched_by(watcher):
        x += cw.asarray(np.ones(LARGE, "int8"), dialect="torch")
    assert watcher.seen == 1
    assert (x.array == 2).all()


def test_blocks_cover_arrays_of_any_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy, "BLOCK", 100)
    for array in (np.ones((300, 200), "float32").T, np.ones((3, 500, 90), "float32")[:, ::-2]):
        x = cw.asarray(array, dialect="tensorflow:all")
        row = cw.asarray(np.arange(array.shape[-1], dtype="float32"), dialect="tensorflow:all")
        x.add_(row)
        assert (array == 1 + row.array).all()


torch_cases = [("add", "float32"), ("add", "int8"), ("mul", 0.1), ("div", 3), ("neg", None)]


@each("op, other", torch_cases)
def test_torch_writes_into_the_tensor(op: str, other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    raw = torch.randn(SHAPE)
    x, out = cw.asarray(raw.clone()), cw.asarray(torch.zeros(SHAPE))
    given = cw.asarray((raw * 9).to(getattr(torch, other))) if isinstance(other, str) else other
    others = [] if other is None else [given]
    new = cw.apply(op, x, *others).array
    monkeypatch.setattr(type(x._kind.backend), "write", lambda *given: pytest.fail("a copy"))
    assert torch.equal(cw.apply(op, x, *others, out=out).array, new)
    assert torch.equal(cw.apply(op, x, *others, inplace=True).array, new)


def test_torch_tensors_that_share_memory_or_have_gradients_are_written_as_before() -> None:
    torch = pytest.importorskip("torch")
    raw = torch.randn(LARGE + 1)
    x, y = cw.asarray(raw[1:]), cw.asarray(raw[:-1])
    new = raw[1:] + raw[:-1]
    x += y
    assert torch.equal(raw[1:], new)
    leaf = torch.ones(LARGE, requires_grad=True)
    z = cw.asarray(leaf * 2)
    z += cw.asarray(leaf)
    z.array.sum().backward()
    assert (leaf.grad == 3).all()
