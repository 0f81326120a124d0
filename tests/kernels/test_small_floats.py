"""Small floats by bit operations have the bits that ml_dtypes gives."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from castwise.kernels.emitter import Traits, emitters_with
from castwise.kernels.program import FLOAT32, FLOAT64, Writer
from castwise.vocab.dtypes import DTYPES, DType, dtype

kernels = pytest.importorskip("castwise.kernels.processor")
SMALL = [d for d in DTYPES if d.kind == "float" and d.bits < 32]


def native(held: DType) -> Any:
    return np.dtype(getattr(ml_dtypes, held.name, held.name))


def cast(values: Any, source: DType, target: DType) -> Any:
    """An array cast by a kernel that has nothing but bit operations."""
    emitter, writer = emitters_with(Traits(converts=frozenset()))[-1], Writer()
    result = emitter.cast(writer.operand(source), target)
    program = writer.finished([result], notices_float_errors=False)
    found = np.empty(values.shape, native(target))
    launch = kernels.launch_for(program, values.shape, (found.strides, values.strides))
    assert launch([a.__array_interface__["data"][0] for a in (found, values)])
    return found


def check(found: Any, expected: Any) -> None:
    """The same bits; one NaN is like another."""
    bits = f"u{found.itemsize}"
    are_nan = np.isnan(found.astype(np.float32)) & np.isnan(expected.astype(np.float32))
    assert ((found.view(bits) == expected.view(bits)) | are_nan).all()


def floats_around(held: DType, wide: Any) -> Any:
    """The numbers of a dtype, those halfway between two, the next ones to these, and any others."""
    codes = np.arange(1 << held.bits, dtype=f"u{native(held).itemsize}").view(native(held))
    exact = np.unique(codes.astype(np.float64))
    exact = exact[np.isfinite(exact)]
    halfway = (exact[1:] + exact[:-1]) / 2
    near = [np.nextafter(wide(halfway), wide(end)) for end in (-np.inf, np.inf)]
    rng = np.random.default_rng(0)
    bits = np.dtype(f"u{np.dtype(wide).itemsize}")
    wild = rng.integers(0, np.iinfo(bits).max, 20_000, dtype=bits, endpoint=True).view(wide)
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], wide)
    return np.concatenate([wide(exact), wide(halfway), *near, wild, ends])


@pytest.mark.parametrize("held", SMALL, ids=str)
def test_each_small_float_becomes_the_same_float32(held: DType) -> None:
    codes = np.arange(1 << held.bits, dtype=f"u{native(held).itemsize}").view(native(held))
    with np.errstate(invalid="ignore"):  # a signalling NaN
        check(cast(codes, held, FLOAT32), codes.astype(np.float32))


@pytest.mark.parametrize("wide", [FLOAT32, FLOAT64], ids=str)
@pytest.mark.parametrize("held", SMALL, ids=str)
def test_floats_are_rounded_alike(held: DType, wide: DType) -> None:
    with np.errstate(all="ignore"):
        values = floats_around(held, np.dtype(wide.name).type)
        expected = values.astype(native(held))
    found = cast(values, wide, held)
    if held.specials == "finite":  # NaN becomes a zero, whose sign is that of the NaN or not
        found, expected = found[~np.isnan(values)], expected[~np.isnan(values)]
    check(found, expected)


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2"])
def test_integers_below_a_byte_wrap_alike(name: str) -> None:
    held = dtype(name)
    values = np.arange(-300, 300, dtype=np.int32)
    found, expected = cast(values, dtype("int32"), held), values.astype(native(held))
    assert (found.view("u1") == expected.view("u1")).all()
    back = cast(found, held, dtype("int32"))
    assert (back == expected.astype(np.int32)).all()
