"""Declared ops and the devices of what they run on."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from castwise.arrays.calls import check_devices
from castwise.errors import UsageError
from castwise.vocab.ops import declare_op, op

HERE, THERE = SimpleNamespace(device="cpu"), SimpleNamespace(device="cuda:0")
NOWHERE = SimpleNamespace()  # an array that does not name its device


@pytest.fixture(autouse=True)
def _forget_declared_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castwise.vocab.ops._declared", {})


def test_arrays_of_two_devices_are_refused_by_name() -> None:
    row = declare_op("mine")
    with pytest.raises(UsageError, match=r"mine .* on cpu and on cuda:0.*same_device=False"):
        check_devices(row, [HERE, 2, THERE])


def test_arrays_of_one_device_numbers_and_arrays_without_one_go_together() -> None:
    row = declare_op("mine")
    for arrays in ([HERE, HERE], [THERE, THERE, 1.5], [HERE, NOWHERE], [1, 2]):
        check_devices(row, arrays)


def test_a_switch_lets_devices_differ() -> None:
    check_devices(declare_op("mine", same_device=False), [HERE, THERE])


def test_castwises_own_ops_are_left_to_the_backend() -> None:
    check_devices(op("add"), [HERE, THERE])


def test_torch_arrays_say_where_they_are() -> None:
    torch = pytest.importorskip("torch")
    here, there = torch.ones(3), torch.ones(3, device="meta")
    check_devices(declare_op("mine"), [here, here])
    with pytest.raises(UsageError, match="on cpu and on meta"):
        check_devices(declare_op("mine"), [here, there])
