"""outer, inner, vecdot, cross and kron on every backend, in the shapes that NumPy takes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named, backend_names
from castwise.vocab.dtypes import dtype as dtype_named

Shape = tuple[int, ...]
SHAPES: list[tuple[Shape, Shape]] = [
    ((), ()), ((3,), ()), ((), (3,)), ((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)),
    ((2, 1, 3), (4, 3)), ((0, 3), (3,)),
]  # fmt: skip
DTYPES = ("int8", "uint64", "float16", "float64", "complex64")


@pytest.fixture(params=backend_names())
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each backend, set up to hold 64-bit dtypes."""
    try:
        backend_named(request.param)
    except cw.UsageError:
        pytest.skip(f"{request.param} is not installed")
    if request.param != "jax":
        yield request.param
        return
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield request.param
    jax.config.update("jax_enable_x64", before)


def counted(shape: Shape, dtype: str, start: int) -> Any:
    values = (np.arange(math.prod(shape)) % 5 + start).reshape(shape)
    return (values * (1 + 2j) if dtype.startswith("complex") else values).astype(dtype)


def check(op: str, x: Any, y: Any, expected: Any, backend: str, **options: Any) -> None:
    given = [cw.asarray(v, backend=backend, dialect="numpy") for v in (x, y)]
    found = cw.apply(op, *given, **options)
    assert found.dtype is dtype_named(x.dtype.name)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["outer", "inner", "kron"])
def test_products_of_any_shape(op: str, dtype: str, backend: str) -> None:
    for left, right in SHAPES:
        if backend == "dask" and op == "inner" and 0 in left:
            continue  # a product of chunks without elements
        x, y = counted(left, dtype, 1), counted(right, dtype, 2)
        check(op, x, y, getattr(np, op)(x, y), backend)


@pytest.mark.parametrize("dtype", DTYPES)
def test_vecdot_conjugates_its_first_operand(dtype: str, backend: str) -> None:
    x, y = counted((2, 3), dtype, 1), counted((4, 2, 3), dtype, 2)
    check("vecdot", x, y, np.sum(np.conj(x) * y, -1, dtype=dtype), backend)
    if dtype != "float16":
        check("vecdot", x, y, np.sum(np.conj(x) * y, -2, dtype=dtype), backend, axis=-2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cross_along_an_axis(dtype: str, backend: str) -> None:
    x, y = counted((2, 3), dtype, 1), counted((3,), dtype, 2)
    expected = np.cross(x, y)
    check("cross", x, y, expected, backend)
    check("cross", x.T.copy(), y[:, None], expected.T, backend, axis=0)


def test_a_cross_product_is_of_three_elements(backend: str) -> None:
    x = cw.asarray([1.0, 2.0, 3.0, 4.0], backend=backend, dialect="numpy")
    with pytest.raises((cw.UsageError, ValueError, TypeError)):
        cw.apply("cross", x, x).numpy()
    with pytest.raises(
        cw.UsageError, match="is not a cross product: each operand needs a dimension"
    ):
        cw.apply("cross", x, 2.0)


@pytest.mark.parametrize("op", ["outer", "inner", "kron"])
def test_a_number_beside_an_array(op: str, backend: str) -> None:
    """NumPy makes an array of it, JAX and MLX let it take the array's dtype."""
    x = counted((3,), "float32", 1)
    for dialect, wanted in (("numpy", "float64"), ("jax", "float32")):
        found = cw.apply(op, cw.asarray(x, backend=backend, dialect=dialect), 2.5)
        assert found.dtype is dtype_named(wanted)
        np.testing.assert_array_equal(found.numpy().ravel(), x * 2.5)


def test_0d_vecdot_as_torch_has_it() -> None:
    for name in [n for n in ("numpy", "torch") if n in backend_names()]:
        try:
            backend_named(name)
        except cw.UsageError:
            continue
        three = cw.asarray([1 + 1j, 2, 3], dtype="complex64", backend=name, dialect="torch")
        one = cw.asarray(2j, dtype="complex64", backend=name, dialect="torch")
        assert cw.apply("vecdot", three, one).item() == 2 + 12j
        assert cw.apply("vecdot", one, one).item() == 4


def test_a_traced_product_knows_its_shape() -> None:
    shapes = {"outer": (6, 3), "inner": (2,), "vecdot": (2,), "cross": (2, 3), "kron": (2, 9)}
    x, y = counted((2, 3), "float32", 1), counted((3,), "float32", 2)
    for op, shape in shapes.items():

        def product(a: Any, b: Any, op: str = op) -> Any:
            return cw.apply(op, a, b)

        graph = cw.trace(product, "float32[2,3]", "float32[3]", dialect="numpy")
        assert graph.outputs[0].shape == shape, op
        found, eager = graph(x, y), product(cw.asarray(x), cw.asarray(y))
        np.testing.assert_array_equal(np.asarray(found), eager.numpy(), op)
    free = cw.trace(lambda a, b: cw.apply("kron", a, b), "int8[n,2]", "int8[3]", dialect="numpy")
    assert free.outputs[0].shape == ("n", 6)
