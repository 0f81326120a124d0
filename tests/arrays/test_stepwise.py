"""Ops that torch composes of others, which affects the values: each step rounds to its dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named, backend_names

DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int32", "complex64")
SHAPES = [((4,), (4,)), ((4,), ()), ((), (4,)), ((), ())]


def numbers(shape: tuple[int, ...], values: list[float]) -> Any:
    return np.asarray(values if shape else values[1])


def on(values: Any, dtype: str, backend: str) -> cw.Tensor:
    return cw.asarray(values, dialect="torch", backend=backend).astype(dtype)


@pytest.mark.parametrize("backend", ["numpy", "torch", "dask"])
def test_the_power_of_ldexp_has_the_dtype_of_the_exponent(backend: str) -> None:
    if backend not in backend_names() or not is_installed(backend):
        pytest.skip(f"{backend} is not installed")
    x, y = on([1.0, 0.5], "float64", backend), on([1.0, 16.0], "float16", backend)
    found = cw.apply("ldexp", x, y)
    assert (found.dtype.name, found.numpy().tolist()) == ("float64", [2.0, np.inf])
    single = cw.apply("ldexp", on([0.5], "float32", backend), on(17.0, "float16", backend))
    assert single.numpy().tolist() == [np.inf]
    exact = cw.apply("ldexp", on([0.5], "float64", backend), on(17.0, "float16", backend))
    assert exact.numpy().tolist() == [65536.0]


@pytest.mark.parametrize("backend", ["numpy", "torch", "dask"])
def test_integers_are_multiplied_as_integers_in_poisson_nll_loss(backend: str) -> None:
    if backend not in backend_names() or not is_installed(backend):
        pytest.skip(f"{backend} is not installed")
    x, y = on([0, 1], "int8", backend), on([3, 127], "int8", backend)
    twice = on([2, 2], "int8", backend)
    found = cw.apply("poisson_nll_loss", twice, y, reduction="none")
    np.testing.assert_allclose(found.numpy(), np.exp(2) - [6.0, -2.0], rtol=1e-6)
    total = cw.apply("poisson_nll_loss", x, y, reduction="sum")
    np.testing.assert_allclose(total.numpy(), 1 + np.e - 127, rtol=1e-6)
    other = cw.apply("poisson_nll_loss", x + 1.0, y, log_input=False)
    np.testing.assert_allclose(other.numpy(), np.mean([1, 2 - 127 * np.log(2)]), rtol=1e-5)


def is_installed(backend: str) -> bool:
    try:
        backend_named(backend)
    except cw.UsageError:
        return False
    return True


@pytest.mark.filterwarnings("ignore:.*was resized")
@pytest.mark.parametrize("op", ["ldexp", "poisson_nll_loss"])
def test_the_values_are_those_of_torch(op: str) -> None:
    torch = pytest.importorskip("torch")
    function = {"ldexp": torch.ldexp, "poisson_nll_loss": torch.nn.functional.poisson_nll_loss}[op]
    for left in DTYPES:
        for right in DTYPES:
            for shapes in SHAPES:
                x = torch.tensor(numbers(shapes[0], [0.5, 3, -70, 100])).to(getattr(torch, left))
                y = torch.tensor(numbers(shapes[1], [1.5, 17, -20, 5])).to(getattr(torch, right))
                try:
                    expected = function(x, y)
                except NotImplementedError:
                    continue  # a kernel is missing, which castwise has
                given = [cw.asarray(v, dialect="torch") for v in (x, y)]
                for found in (cw.apply(op, *given), in_numpy(op, given)):
                    assert f"torch.{found.dtype}" == str(expected.dtype), (left, right, shapes)
                    np.testing.assert_allclose(
                        found.numpy().astype("complex128"),
                        expected.to(torch.complex128).numpy(),
                        rtol=2e-2 if found.dtype.bits == 16 else 1e-5,
                        err_msg=str((left, right, shapes)),
                    )


def in_numpy(op: str, given: list[cw.Tensor]) -> cw.Tensor:
    return cw.apply(op, *[cw.asarray(t, backend="numpy", dialect="torch") for t in given])


def test_under_autocast_the_steps_are_cast_first() -> None:
    x = cw.asarray([1.0, 2.0], dtype="bfloat16", dialect="torch:autocast=bfloat16")
    found = cw.apply("poisson_nll_loss", x, x)
    assert found.dtype.name == "float32"
    np.testing.assert_allclose(found.numpy(), np.mean([np.e - 1, np.exp(2) - 4]), rtol=1e-6)


@pytest.mark.parametrize("backend", ["numpy", "torch", "dask"])
def test_the_losses_of_mlx_subtract_and_square_integers(backend: str) -> None:
    if backend not in backend_names() or not is_installed(backend):
        pytest.skip(f"{backend} is not installed")

    def loss(name: str, x: list[int], y: list[int], dtype: str) -> float:
        arrays = [cw.asarray(np.array(v, dtype), dialect="mlx", backend=backend) for v in (x, y)]
        found = cw.apply(name, *arrays)
        assert found.dtype.name == "float32"
        return float(found.numpy())

    assert loss("mse_loss", [1], [100], "uint8") == 73.0  # 157 squared, of 8 bits
    assert loss("l1_loss", [-3], [32767], "int16") == 32766.0
    assert loss("huber_loss", [1], [9], "uint8") == 247.5
    assert loss("mse_loss", [1, 3], [2, 5], "int32") == 2.5
    assert loss("huber_loss", [1 + 1j, 4], [1 + 1j, 1], "complex64") == 1.25
