"""What has no elements, one number or another array's memory, as each framework has it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.rules.values import architecture

BACKENDS = ["numpy", "torch", "jax"]
NAN_AS_INT32 = {"x86_64": -(2**31), "aarch64": 0}[architecture()]  # what NaN is cast to
OF_NO_INTEGERS = {"int8": 0, "int32": NAN_AS_INT32}


def on(backend: str, values: Any, dtype: str, dialect: str) -> cw.Tensor:
    pytest.importorskip(backend)
    return cw.asarray(np.asarray(values, dtype), backend=backend, dialect=dialect)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_median_of_nothing(backend: str) -> None:
    for dialect, dtype, expected in (
        ("torch", "float32", "float32"), ("numpy", "float32", "float32"),
    ):  # fmt: skip
        found = cw.apply("median", on(backend, [], dtype, dialect))
        assert (math.isnan(found.item()), found.dtype.name, found.shape) == (True, expected, ())
    for dtype, expected in OF_NO_INTEGERS.items():
        of_none = cw.apply("median", on(backend, [], dtype, "torch"))
        assert (of_none.item(), of_none.dtype.name) == (expected, dtype)
    rows = cw.apply("median", on(backend, np.zeros((2, 0)), "float32", "torch"), axis=1)
    assert (rows.shape, np.isnan(rows.numpy()).all()) == ((2,), True)
    for dialect in ("jax", "mlx"):
        with pytest.raises(cw.UsageError, match="median of an array without elements"):
            cw.apply("median", on(backend, [], "float32", dialect))


def test_the_median_of_nothing_is_torch_s_own() -> None:
    torch = pytest.importorskip("torch")
    assert math.isnan(torch.median(torch.zeros(0)).item())
    for dtype, expected in OF_NO_INTEGERS.items():
        assert torch.median(torch.zeros(0, dtype=getattr(torch, dtype))).item() == expected


@pytest.mark.parametrize("backend", [*BACKENDS, "dask"])
@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
def test_what_is_cumulated_of_one_number(backend: str, op: str) -> None:
    pytest.importorskip(backend)
    for dialect, shape in (("torch", ()), ("numpy", (1,)), ("jax", (1,)), ("mlx", (1,))):
        for dtype in ("float32", "bfloat16"):
            number = cw.asarray(on("numpy", 5, "float32", dialect).astype(dtype), backend=backend)
            for options in ({}, {"axis": 0}):
                found = cw.apply(op, number, **options)
                assert (found.shape, found.numpy().astype("float32").sum()) == (shape, 5)


SHARED = {"torch": {"positive", "real", "imag", "conj"}, "numpy": {"real", "imag"}, "mlx": set()}


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("op", ["positive", "real", "imag", "conj"])
@pytest.mark.parametrize("dialect", SHARED)
@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64"])
def test_a_write_shows_in_the_operand_where_it_does_in_the_framework(
    backend: str, op: str, dialect: str, dtype: str
) -> None:
    is_complex = dtype == "complex64"
    if op == "imag" and not is_complex:
        return  # separate zeros
    if (backend, op) == ("numpy", "conj") and is_complex:
        return  # NumPy has no view of conjugates
    x = on(backend, [1, 2, 3], dtype, dialect)
    cw.apply(op, x)[0] = 9
    assert (9 in (x.tolist()[0].real, x.tolist()[0].imag)) is (op in SHARED[dialect])


def test_torch_itself_shares_them() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([1 + 2j, 3])
    for view in (+x, x.real, x.imag, torch.conj(x)):
        assert view.data_ptr() in (x.data_ptr(), x.data_ptr() + 4)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dialect", ["jax", "paddle", "torch@2.1"])
@pytest.mark.parametrize(
    "shapes", [((1,), (1,)), ((3,), (1,)), ((2, 3), (2, 1)), ((), (1,)), ((3,), (3,))]
)
def test_an_exponent_that_serves_many_elements_is_no_square_root(
    backend: str, dialect: str, shapes: Any
) -> None:
    base, exponent = (
        on(backend, np.full(shape, number), "float32", dialect)
        for shape, number in zip(shapes, (-np.inf, 0.5), strict=True)
    )
    found = base**exponent
    assert found.shape == np.broadcast_shapes(*shapes)
    assert set(np.ravel(found.numpy()).tolist()) == {np.inf}


def test_python_s_functions_of_numbers_say_what_to_write() -> None:
    t = cw.asarray([1.5, 2.5])
    for call, told in (
        (lambda: pow(t, 2, 3), r"x\*\*y % z"),
        (lambda: round(t), r"cw\.apply\('round', x\)"),
        (lambda: round(t, 1), r"cw\.apply\('round', x\)"),
        (lambda: math.trunc(t), r"cw\.apply\('trunc', x\)"),
        (lambda: math.floor(t), "take an element"),
        (lambda: math.ceil(t), "take an element"),
    ):
        with pytest.raises(TypeError, match=told):
            call()
    assert (math.floor(t[0]), math.ceil(t[0])) == (1, 2)
    assert [part.tolist() for part in divmod(t, 2)] == [[0, 1], [1.5, 0.5]]


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("op", ["argmax", "argmin", "max"])
def test_complex_numbers_along_an_axis_of_arrays_without_elements(backend: str, op: str) -> None:
    for shape, axis in (((3, 0), 0), ((0, 3), 1)):
        found = cw.apply(op, on(backend, np.zeros(shape), "complex64", "numpy"), axis=axis)
        expected = getattr(np, op)(np.zeros(shape, "complex64"), axis=axis)
        assert (found.shape, found.dtype.name) == (expected.shape, expected.dtype.name)
