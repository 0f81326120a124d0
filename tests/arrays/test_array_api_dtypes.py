"""Which dtypes the functions of the namespace give, and under which dialect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise import array_api as xp


def test_the_standard_refuses_what_another_dialect_promotes() -> None:
    x, y = xp.asarray([1, 2], dtype=xp.int32), xp.asarray([0.5, 0.5], dtype=xp.float32)
    with pytest.raises(cw.PromotionError, match="array-api"):
        xp.add(x, y)
    with pytest.raises(cw.PromotionError, match="array-api"):
        x + y
    with cw.use("torch"):
        assert xp.add(x, y).dtype is xp.float32
    with cw.use("numpy"):
        assert (x + y).dtype is xp.float64


def test_a_tensor_may_carry_its_own_dialect() -> None:
    x = xp.asarray([1, 2], dtype="int32", dialect="torch")
    assert xp.multiply(x, 0.5).dtype is xp.float32
    assert xp.reshape(x, (2, 1)).dialect.name == "torch"
    assert xp.result_type(x, 0.5) is xp.float32


def test_functions_of_the_extensions_are_decided_by_ops_of_their_own() -> None:
    x = xp.asarray([[1, 0], [0, 2]], dtype=xp.int8)
    with pytest.raises(cw.PromotionError, match=r"linalg.inv\(int8\) is not defined in array"):
        xp.linalg.inv(x)
    with cw.use("numpy"):
        assert xp.linalg.inv(x).dtype is xp.float64
    with cw.use("jax"):
        assert xp.linalg.inv(x).dtype is xp.float32
    with cw.use("torch"):
        assert xp.fft.fft(x).dtype is xp.complex64


def test_elementary_functions_are_decided_by_ops_of_their_own() -> None:
    x = xp.asarray([1, 2], dtype=xp.int8)
    with pytest.raises(cw.PromotionError, match=r"cos\(int8\) is not defined"):
        xp.cos(x)
    with cw.use("numpy"):
        assert xp.cos(x).dtype.name == "float16"
    with cw.use("torch"):
        assert xp.log10(x).dtype is xp.float32
    with cw.use("numpy@1"):
        assert xp.ldexp(xp.asarray([0.5], dtype="float16"), 3).tolist() == [4.0]


def test_new_arrays_have_the_dialect_s_dtypes() -> None:
    made = [xp.zeros(2), xp.full(2, 1), xp.full(2, True), xp.arange(3), xp.arange(3.0),
            xp.linspace(0, 1, 3), xp.linspace(0, 1j, 3), xp.eye(2)]  # fmt: skip
    names = "float64 int64 bool int64 float64 float64 complex128 float64"
    assert " ".join(str(x.dtype) for x in made) == names
    assert xp.zeros(2, dialect="torch").dtype is xp.float32
    assert xp.zeros(2, dtype="bfloat16").dtype.name == "bfloat16"
    assert xp.fft.fftfreq(4).dtype is xp.float64
    assert xp.ones_like(xp.zeros(2), dtype=xp.int8).dtype is xp.int8


@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_a_dtype_that_is_asked_for_is_cast_to_first(name: str) -> None:
    x = xp.asarray([100, 100], dtype=xp.int8)
    axis: dict[str, Any] = {"axis": 0}
    function = getattr(xp, name)
    assert function(x, **axis).dtype is xp.int64
    narrow = function(x, dtype=xp.int8, **axis)
    assert narrow.dtype is xp.int8
    wide = function(x, **axis).numpy()
    np.testing.assert_array_equal(narrow.numpy(), wide.astype(np.int8))
    assert function(x, dtype=xp.float32, **axis).dtype is xp.float32


def test_places_and_counts_have_the_dialect_s_index_dtype() -> None:
    x = xp.asarray([3, 1, 1], dtype=xp.int8)
    found = [xp.argsort(x), xp.argmax(x), *xp.nonzero(x), xp.count_nonzero(x),
             xp.searchsorted(xp.sort(x), x), *xp.unique_all(x)[1:]]  # fmt: skip
    assert {y.dtype for y in found} == {xp.int64}
    with cw.use("jax"):
        assert xp.argsort(x).dtype is xp.int32
        assert xp.unique_counts(x).counts.dtype is xp.int32


def test_result_type_and_can_cast_ask_the_engine() -> None:
    assert xp.result_type(xp.int8, xp.uint8) is xp.int16
    assert xp.result_type(xp.zeros(2, dtype=xp.float32), 1.5) is xp.float32
    assert xp.can_cast(xp.int8, xp.int16)
    assert not xp.can_cast(xp.zeros(2), xp.float32)
    with cw.use("torch"):
        assert xp.can_cast(xp.float64, xp.float32)
        assert xp.result_type(xp.int64, xp.float32) is xp.float32
    with cw.use("numpy@1"):  # which looks at values
        assert xp.result_type(xp.int8, xp.asarray(300)) is xp.int16
        assert xp.result_type(xp.int8, xp.asarray(1)) is xp.int8
    with pytest.raises(cw.PromotionError):
        xp.result_type(xp.int8, xp.float32)
    with pytest.raises(cw.UsageError, match="at least one"):
        xp.result_type()


@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128", "float16"])
def test_finfo_is_numpy_s(name: str) -> None:
    ours, theirs = xp.finfo(cw.dtype(name)), np.finfo(name)
    fields = ["bits", "eps", "max", "min", "smallest_normal"]
    assert [getattr(ours, f) for f in fields] == [float(getattr(theirs, f)) for f in fields]
    assert str(ours.dtype) == str(theirs.dtype)


def test_iinfo_and_isdtype() -> None:
    assert (xp.iinfo(xp.uint8).max, xp.iinfo(xp.zeros(1, dtype=xp.int16)).min) == (255, -32768)
    assert xp.isdtype(xp.int8, ("bool", "signed integer"))
    assert not xp.isdtype(xp.int8, "unsigned integer")
    assert xp.isdtype(xp.float32, xp.float32)
    for wrong, function in ((xp.int8, xp.finfo), (xp.float32, xp.iinfo)):
        with pytest.raises(cw.UsageError):
            function(wrong)
    with pytest.raises(cw.UsageError, match="unknown kind"):
        xp.isdtype(xp.int8, "int")


def test_results_with_parts_of_another_dtype() -> None:
    x = xp.asarray([[2, 1j], [-1j, 2]], dtype=xp.complex64)
    values, vectors = xp.linalg.eigh(x)
    assert (values.dtype, vectors.dtype) == (xp.float32, xp.complex64)
    assert xp.linalg.svd(x).S.dtype is xp.float32
    assert xp.linalg.slogdet(x).logabsdet.dtype is xp.float32
    assert xp.linalg.matrix_rank(x).dtype is xp.int64
    assert xp.fft.rfft(xp.zeros(4, dtype=xp.float32)).dtype is xp.complex64
    assert xp.fft.irfft(x).dtype is xp.float32


def test_operands_of_two_dialects_do_not_mix() -> None:
    with pytest.raises(cw.UsageError, match="do not mix"):
        xp.add(xp.asarray([1], dialect="torch"), xp.asarray([1], dialect="jax"))
