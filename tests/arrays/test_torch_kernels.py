"""Kernels on torch tensors: only where torch itself would not notice the difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import castwise as cw

torch = pytest.importorskip("torch")
pytest.importorskip("llvmlite")
SIZE = 64


@pytest.fixture(autouse=True)
def from_size(kernels_from: Callable[[int], None]) -> None:
    kernels_from(SIZE)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What each launch of a kernel returned."""
    from castwise.kernels.processor import Launch

    found: list[bool] = []
    call = Launch.__call__

    def noted(launch: Any, addresses: Any) -> bool:
        found.append(call(launch, addresses))
        return found[-1]

    monkeypatch.setattr(Launch, "__call__", noted)
    return found


def test_mixed_tensors_have_torch_s_bits(runs: list[bool]) -> None:
    i8 = (torch.arange(1000) % 200 - 100).to(torch.int8)
    bf16 = torch.linspace(-3, 3, 1000).to(torch.bfloat16)
    x, y = cw.asarray(i8), cw.asarray(bf16)
    pairs = [(x * y, i8 * bf16), (x / 3, i8 / 3), (3 / y, 3 / bf16), (x < y, i8 < bf16)]
    for found, expected in pairs:
        assert found.array.dtype is expected.dtype
        assert torch.equal(found.array, expected)
    assert runs == [True] * 4


def test_strides_and_broadcasts(runs: list[bool]) -> None:
    wide = torch.arange(600, dtype=torch.int16).reshape(20, 30)
    column = torch.linspace(0, 1, 20).reshape(20, 1)
    for a, b in ((wide, column), (wide.T, column.T), (wide[::2, 1::2], column[::2]), (wide, wide)):
        found = (cw.asarray(a) * cw.asarray(b)).array
        assert torch.equal(found, a * b)
        assert found.stride() == (a * b).stride()
    assert len(runs) == 3  # torch computes the last itself


def test_gradients_go_through_torch(runs: list[bool]) -> None:
    x, two = torch.ones(SIZE, requires_grad=True), torch.full((SIZE,), 2, dtype=torch.int8)
    (cw.asarray(x) * cw.asarray(two)).sum().backward()
    assert x.grad.tolist() == [2.0] * SIZE
    assert runs == []
    with torch.no_grad():
        assert not (cw.asarray(x) * cw.asarray(two)).array.requires_grad
    assert runs == [True]


def test_torch_computes_what_it_computes_as_fast(runs: list[bool]) -> None:
    x, half = cw.asarray(torch.ones(SIZE)), cw.asarray(torch.ones(SIZE, dtype=torch.float16))
    assert (x + x).tolist() == (x * 2.0).tolist() == [2.0] * SIZE
    assert runs == []
    assert (half + half).tolist() == [2.0] * SIZE
    assert runs == [True]


def test_modes_that_watch_ops_see_them(runs: list[bool]) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Watching(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    x = cw.asarray(torch.ones(SIZE, dtype=torch.bfloat16))
    with Watching():
        x * 2.5
    assert any("mul" in name for name in seen)
    assert runs == []


def test_vmap_and_other_devices_are_torch_s(runs: list[bool]) -> None:
    rows = torch.arange(4.0 * SIZE, dtype=torch.bfloat16).reshape(4, SIZE)
    doubled = torch.func.vmap(lambda row: (cw.asarray(row) * 2).array)(rows)
    assert torch.equal(doubled, rows * 2)
    meta = cw.asarray(torch.ones(SIZE, device="meta", dtype=torch.bfloat16)) * 2
    assert meta.array.device.type == "meta"
    assert runs == []


def test_compiled_functions_of_torch(runs: list[bool]) -> None:
    x, y = torch.arange(1000, dtype=torch.int32), torch.linspace(0, 1, 1000, dtype=torch.float16)

    found = cw.compile(lambda x, y: ((x * y + 1) / 3 - y) * 2)(cw.asarray(x), cw.asarray(y))
    assert torch.equal(found.array, ((x * y + 1) / 3 - y) * 2)
    assert runs == [True]


def test_writes_are_counted(runs: list[bool]) -> None:
    weight = torch.ones(SIZE, requires_grad=True)
    held = torch.ones(SIZE)
    product = (weight * held).sum()
    cw.asarray(held).add_(cw.asarray(torch.ones(SIZE, dtype=torch.int8)))
    assert held.tolist() == [2.0] * SIZE
    assert runs == [True]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


def test_a_negative_view_is_read_as_such() -> None:
    flipped = torch.randn(SIZE, dtype=torch.complex64).conj().imag  # its sign is a flag
    assert torch.equal((cw.asarray(flipped) + 1).array, flipped + 1)
