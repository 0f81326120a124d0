"""Casts out of range as processors make them: both rules hold on every machine."""

from __future__ import annotations

import numpy as np
import pytest
from recorded_values import RECORDED_ON, computed, of_processor, quietly, recorded

import castwise as cw
from castwise.conformance.recorder import Cell
from castwise.conformance.values import CAST, read_held
from castwise.rules.values import architecture
from castwise.vocab.dtypes import dtype


def casts_to_integers(dialect: str, machine: str) -> list[Cell]:
    def is_one(cell: Cell) -> bool:
        kinds = (dtype(held.partition("=")[0]).kind for held in (*cell.operands, cell.answer))
        return cell.op == CAST and tuple(kinds) in (("float", "int"), ("complex", "int"))

    return [cell for cell in recorded(dialect, machine) if is_one(cell)]


# A library converts the bulk of an array by vector instructions, what remains and what does not lie
# side by side by others; beyond the range they do not always agree. The rule tells of the bulk, and
# these casts met the others somewhere.
_NUMPY_ON_ARM = (
    "float64 int8", "float64 uint32", "float16 uint8", "float16 uint16", "complex64 uint8",
    "complex64 uint16", "complex128 uint8", "complex128 uint16", "complex128 uint32",
)  # fmt: skip
_TO_UINT32_ON_X86_64 = ("bfloat16 uint32", "float32 uint32", "float64 uint32")
BY_OTHER_INSTRUCTIONS = {
    ("x86_64", "numpy"): _TO_UINT32_ON_X86_64,
    ("x86_64", "numpy@1"): _TO_UINT32_ON_X86_64,
    ("x86_64", "torch"): _TO_UINT32_ON_X86_64,
    ("aarch64", "numpy"): _NUMPY_ON_ARM,
    ("aarch64", "numpy@1"): _NUMPY_ON_ARM,
    ("aarch64", "torch"): ("float64 int8", "float64 uint32", "float16 uint16", "complex64 uint16"),
}


@pytest.mark.parametrize(("machine", "dialect"), BY_OTHER_INSTRUCTIONS)
def test_a_processor_s_casts_are_computed_on_any_other(machine: str, dialect: str) -> None:
    rules, cells = of_processor(dialect, machine), casts_to_integers(dialect, machine)
    assert len(cells) > 80
    with quietly():
        answers = [computed(cell, rules, "numpy") for cell in cells]
    pairs = [(cell, read_held(cell.answer), a) for cell, a in zip(cells, answers, strict=True)]
    found = {f"{read_held(c.operands[0]).dtype} {e.dtype}" for c, e, a in pairs if a != e}
    assert found == set(BY_OTHER_INSTRUCTIONS[machine, dialect])


FAR = [np.nan, np.inf, -np.inf, 300.7, -300.7, 3e9, -3e9]
CAST_AS = {
    ("x86_64", "float32", "int8"): [0, 0, 0, 44, -44, 0, 0],
    ("x86_64", "float32", "int32"): [-(2**31)] * 3 + [300, -300] + [-(2**31)] * 2,
    ("aarch64", "float32", "int8"): [0, -1, 0, 44, -44, -1, 0],
    ("aarch64", "float32", "int32"): [0, 2**31 - 1, -(2**31), 300, -300, 2**31 - 1, -(2**31)],
    ("aarch64", "float32", "uint32"): [0, 2**32 - 1, 0, 300, 0, 3 * 10**9, 0],
    ("aarch64", "float64", "int16"): [0, -1, 0, 300, -300, 24064, -24064],
    ("aarch64", "float64", "uint64"): [0, 2**64 - 1, 0, 300, 0, 3 * 10**9, 0],
}


@pytest.mark.parametrize(("machine", "source", "target"), CAST_AS)
@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_casts_of_floats_far_out_of_range(
    backend: str, machine: str, source: str, target: str
) -> None:
    pytest.importorskip(backend)
    if {source, target} & {"float64", "uint64"} and backend == "jax":
        pytest.skip("JAX has these with x64 alone")
    far = cw.asarray(np.array(FAR, source), dialect=of_processor("torch", machine), backend=backend)
    assert far.astype(target).tolist() == CAST_AS[machine, source, target]


@pytest.mark.parametrize("machine", RECORDED_ON)
def test_a_backend_that_converts_otherwise_follows_the_processor_at_hand(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jax")
    monkeypatch.setattr("castwise.arrays.casting.architecture", lambda: machine)
    far = cw.asarray(np.array(FAR, "float32"), dialect="torch", backend="jax")
    assert far.astype("int8").tolist() == CAST_AS[machine, "float32", "int8"]


@pytest.mark.parametrize(
    ("machine", "named"),
    [("AMD64", "x86_64"), ("x86_64", "x86_64"), ("arm64", "aarch64"), ("aarch64", "aarch64"),
     ("ARM64", "aarch64"), ("riscv64", "riscv64")],
)  # fmt: skip
def test_systems_name_processors_differently(
    machine: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert architecture() == named
