"""`where` with conditions that are not bools: nonzero counts as true."""

from __future__ import annotations

from typing import Any

import ml_dtypes  # noqa: F401  (registers bfloat16)
import numpy as np
import pytest

import castwise as cw
from castwise.errors import PromotionError

DTYPES = ("int8", "uint64", "float16", "bfloat16", "float64", "complex64")
HELD = [0, 1, 2]


def chosen(condition: Any, dialect: str, backend: str | None = None) -> list[int]:
    x = cw.asarray([1, 2, 3], dtype="int8", dialect=dialect, backend=backend)
    return cw.apply("where", condition, x, -x).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("dialect", ["numpy", "jax", "mlx", "keras"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_any_dtype_choose(dialect: str, dtype: str) -> None:
    condition = cw.asarray(HELD, dtype=dtype, dialect=dialect)
    assert chosen(condition, dialect) == [-1, 2, 3]


@pytest.mark.parametrize("backend", ["torch", "dask", "jax"])
def test_on_every_backend(backend: str) -> None:
    pytest.importorskip(backend)
    condition = cw.asarray(HELD, dtype="float32", dialect="numpy", backend=backend)
    assert chosen(condition, "numpy", backend) == [-1, 2, 3]


@pytest.mark.parametrize("condition", [1j, 0.5, float("nan"), 2, True])
def test_numbers_choose(condition: complex) -> None:
    assert chosen(condition, "numpy") == [1, 2, 3]
    assert chosen(0 * 1j if isinstance(condition, complex) else 0, "numpy") == [-1, -2, -3]


def test_both_parts_of_a_complex_number_count() -> None:
    held = np.array([0, 1j, 1], dtype="complex64")
    for dialect in ("numpy", "jax"):  # though a cast of JAX's to bool looks at the real part
        condition = cw.asarray(held, dialect=dialect)
        assert chosen(condition, dialect) == [-1, 2, 3]


def test_numpy_arrays_choose_where_they_are_taken() -> None:
    assert chosen(np.array([0.0, 0.5, 1.0]), "tensorflow") == [-1, 2, 3]
    with pytest.raises(PromotionError, match=r"does not accept np\.float64.* as a condition"):
        chosen(np.array([0.0, 0.5, 1.0]), "torch")


def test_the_namespace_follows_its_dialect() -> None:
    from castwise import array_api as xp

    x = xp.asarray([1, 2, 3])
    with pytest.raises(PromotionError, match="where does not accept int64 as a condition"):
        xp.where(x, x, x)
    with cw.use("numpy"):
        assert xp.where(x - 1, x, -x).tolist() == [-1, 2, 3]


def test_a_graph_compares_with_zero() -> None:
    graph = cw.trace(
        lambda c, x: cw.apply("where", c, x, -x), "float32[3]", "int8[3]", dialect="numpy"
    )
    assert [node.op for node in graph.nodes if node.op == "ne"] == ["ne"]
    ran = graph(np.array([0, 0.5, 1], dtype="float32"), np.array([1, 2, 3], dtype="int8"))
    assert ran.tolist() == [-1, 2, 3]


def test_onnx_is_given_a_bool() -> None:
    onnx = pytest.importorskip("onnx")
    graph = cw.trace(
        lambda c, x: cw.apply("where", c, x, x + x), "float32[3]", "float32[3]", dialect="numpy"
    )
    from onnx.reference import ReferenceEvaluator

    model = graph.to_onnx()
    onnx.checker.check_model(model)
    given = {
        "c": np.array([0, 0.5, np.nan], dtype="float32"),
        "x": np.array([1, 2, 3], dtype="float32"),
    }
    (found,) = ReferenceEvaluator(model).run(None, given)
    assert found.tolist() == [2, 2, 3]


@pytest.mark.parametrize("dtype", ["complex32", "bcomplex32", "complex64"])
def test_the_truth_of_complex_numbers_is_zero_or_one(dtype: str) -> None:
    numbers = cw.asarray(np.asarray([3, 0, 1j, 2 + 1j]), dialect="torch").astype(dtype)
    truth = numbers.astype("bool")
    assert truth.array.view(np.uint8).tolist() == [1, 0, 1, 1]
    assert truth.astype("complex64").tolist() == [1, 0, 1, 1]
