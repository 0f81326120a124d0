"""Powers of one exponent and square roots: what frameworks make of them, on any backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.tensor import apply

EXPONENTS = (0.5, -0.5, -1, 2, 3, -2, 1.3, 0.1)


def units_apart(x: Any, y: Any) -> int:
    bits = f"i{x.dtype.itemsize}"
    return int(np.abs(x.view(bits).astype("int64") - y.view(bits).astype("int64")).max())


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_powers_of_numbers_are_pytorch_s(dtype: str, exponent: float) -> None:
    """Of few elements: in the vectorised part of a large array torch rounds exponents too."""
    torch = pytest.importorskip("torch")
    base = np.array([0.3, 7.0, 1000.5, 1.0, 0.001, 13.7, 2.5], dtype)
    expected = (torch.from_numpy(base) ** exponent).numpy()
    with np.errstate(over="ignore"):
        on_numpy = (cw.asarray(base, dialect="torch") ** exponent).numpy()
    assert units_apart(on_numpy, expected) <= 1
    on_torch = (cw.asarray(base, dialect="torch", backend="torch") ** exponent).numpy()
    np.testing.assert_array_equal(on_torch, expected)


def test_an_exponent_beside_float32_is_not_rounded_in_pytorch() -> None:
    base = np.array([2.0**120], "float32")
    assert (cw.asarray(base, dialect="torch") ** 0.1).tolist() == [4096.0]
    wide = np.float64(np.float32(0.1))
    assert (cw.asarray(base, dialect="numpy") ** 0.1).tolist() == [np.float32(2.0 ** (120 * wide))]


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax", "dask"])
def test_whether_the_power_of_a_half_is_a_square_root(backend: str) -> None:
    pytest.importorskip(backend)
    array = np.array([-np.inf, 4.0], "float32")

    def power(dialect: str, exponent: Any, form: str) -> Any:
        return apply(
            "pow", cw.asarray(array, dialect=dialect, backend=backend), exponent, form=form
        )

    with np.errstate(invalid="ignore"):
        for form in ("function", "operator"):
            assert np.isnan(power("numpy", 0.5, form).numpy()[0])
            assert np.isnan(power("torch", 0.5, form).numpy()[0])
            assert power("jax", 0.5, form).tolist() == [np.inf, 2.0]
        assert np.isnan(power("numpy@1", 0.5, "operator").numpy()[0])
        assert power("numpy@1", 0.5, "function").tolist() == [np.inf, 2.0]
        half = cw.asarray(np.array(0.5, "float32"), dialect="torch", backend=backend)
        assert power("torch", half, "operator").tolist() == [np.inf, 2.0]


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax", "dask"])
@pytest.mark.parametrize(("dialect", "is_root"), [("numpy", True), ("jax", False)])
def test_whether_it_is_one_in_a_graph(backend: str, dialect: str, is_root: bool) -> None:
    pytest.importorskip(backend)
    base, half = np.array([-np.inf, 4.0], "float32"), np.array(0.5, "float32")
    known = cw.trace(lambda x: x**0.5, base, dialect=dialect)
    given = cw.trace(lambda x, y: x**y, base, half, dialect=dialect)
    assert [node.op for node in known.nodes if node.inputs] == ["sqrt" if is_root else "pow"]
    with np.errstate(invalid="ignore"):
        for graph, arrays in ((known, [base]), (given, [base, half])):
            for kept in (graph, graph.preserve("jax"), graph.preserve("numpy")):
                found = kept(*arrays, backend=backend).numpy()
                np.testing.assert_array_equal(found, [np.nan if is_root else np.inf, 2.0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_square_root_is_rounded_correctly_where_the_dialect_says_so(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(0).uniform(0, 100, 4096).astype(dtype)
    tensor = cw.asarray(values, dialect="numpy", backend="torch")
    for strided in (tensor, tensor[::3]):
        np.testing.assert_array_equal(apply("sqrt", strided).numpy(), np.sqrt(strided.numpy()))
    own = apply("sqrt", tensor.under("torch")).numpy()
    np.testing.assert_array_equal(own, torch.sqrt(torch.from_numpy(values)).numpy())


def test_a_square_root_rounded_correctly_has_a_gradient() -> None:
    torch = pytest.importorskip("torch")
    leaf = torch.tensor([2.0, 0.5, 9.0], dtype=torch.float64, requires_grad=True)
    root = apply("sqrt", cw.asarray(leaf, dialect="numpy"))
    assert root.tolist() == np.sqrt(leaf.detach().numpy()).tolist()
    root.backward(cw.asarray(torch.ones(3, dtype=torch.float64), dialect="numpy"))
    np.testing.assert_allclose(leaf.grad, 0.5 / np.sqrt([2.0, 0.5, 9.0]), rtol=1e-12)
    assert torch.func.grad(lambda x: apply("sqrt", cw.asarray(x, dialect="numpy"))._array.sum())(
        torch.tensor([4.0], dtype=torch.float64)
    ).tolist() == [0.25]


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "uint64", "int64"])
def test_an_exponent_beyond_the_dtype_counts_as_it_is_in_jax(name: str) -> None:
    """JAX squares as often as the number requires; only the product wraps."""
    t = cw.asarray([1, 2, 3, 7], dtype=name, dialect="jax:x64")
    for exponent in (2**63, 2**63 + 5):
        bits = cw.dtype(name).bits
        wanted = [pow(base, exponent, 1 << bits) for base in (1, 2, 3, 7)]
        assert [value % (1 << bits) for value in cw.apply("pow", t, exponent).tolist()] == wanted
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        live = jax.numpy.asarray([1, 2, 3, 7], name) ** 2**63
        assert cw.apply("pow", t, 2**63).tolist() == live.tolist()
