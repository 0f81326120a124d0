"""Declared ops with a kernel: eager, in place, with out=, traced, in ONNX, on every backend."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.vocab import ops

BACKENDS = [name for name in ("numpy", "torch", "jax", "dask") if importlib.util.find_spec(name)]


@pytest.fixture(autouse=True)
def _forgets_declared_ops() -> Iterator[None]:
    before = dict(ops._declared)
    yield
    ops._declared.clear()
    ops._declared.update(before)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def mine() -> str:
    """An op of two operands that becomes a float."""
    cw.declare_op(
        "mine", compute=lambda x, y: x * y + 1, computes="float", integers_become_float=True
    )
    return "mine"


def tensor(data: Any, dtype: str, backend: str, dialect: str = "torch") -> cw.Tensor:
    return cw.asarray(np.asarray(data, dtype), dialect=dialect, backend=backend)


def test_it_runs_on_cast_operands(backend: str, mine: str) -> None:
    x, y = tensor([1, 2], "int32", backend), tensor([0.5, 2], "float32", backend)
    found = cw.apply(mine, x, y)
    assert (found.dtype.name, found.tolist()) == ("float32", [1.5, 5.0])
    assert cw.apply(mine, x, x).dtype.name == "float32"
    assert cw.apply(mine, x, 3).tolist() == [4.0, 7.0]


def test_a_kernel_is_given_the_dtype_that_was_decided(backend: str) -> None:
    seen: list[str] = []

    def kernel(x: Any, y: Any) -> Any:
        seen.extend(str(a.dtype).rpartition(".")[2] for a in (x, y))
        return x

    cw.declare_op("spied", compute=kernel)
    for dtypes in (("uint8", "int8"), ("int8", "float32"), ("float16", "float16")):
        seen.clear()
        x, y = (tensor([1, 2], dtype, backend) for dtype in dtypes)
        found = cw.apply("spied", x, y)
        assert set(seen) == {found.dtype.name}


def test_in_place_and_into_out(backend: str, mine: str) -> None:
    x, y = tensor([1.0, 2.0], "float32", backend), tensor([2, 3], "int8", backend)
    assert cw.apply(mine, x, y, inplace=True) is x
    assert x.tolist() == [3.0, 7.0]
    with pytest.raises(cw.PromotionError, match="cannot be written into int8"):
        cw.apply(mine, y, x, inplace=True)
    out = tensor([0.0, 0.0], "float32", backend)
    assert cw.apply(mine, y, y, out=out) is out
    assert out.tolist() == [5.0, 10.0]


@pytest.mark.parametrize("dialect", cw.dialects())
def test_every_dialect_decides_and_runs(dialect: str, mine: str) -> None:
    x = cw.asarray(np.ones(2, "float32"), dialect=dialect)
    assert cw.apply(mine, x, x).tolist() == [2.0, 2.0]
    graph = cw.trace(lambda t: cw.apply(mine, t, t), "float32[2]", dialect=dialect)
    assert graph(x).tolist() == [2.0, 2.0]


def test_it_is_a_node_of_a_graph(backend: str, mine: str) -> None:
    graph = cw.trace(lambda a, b: cw.apply(mine, a, b) - 1, "int32[n]", "float16[n]",
                     dialect="torch")  # fmt: skip
    assert "%1 = mine(%0, b)" in graph.text()
    x, y = tensor([1, 2], "int32", backend), tensor([1, 2], "float16", backend)
    assert graph(x, y).tolist() == [1.0, 4.0]
    assert cw.compile(lambda a, b: cw.apply(mine, a, b))(x, y).tolist() == [2.0, 5.0]


@pytest.mark.parametrize("kernel", [lambda x: x.sum(), lambda x: _total(x)])
def test_a_kernel_may_reduce(kernel: Any) -> None:
    cw.declare_op("reduced", operands=1, compute=kernel, computes="float")
    x = tensor([1, 2, 3], "float32", "numpy")
    assert cw.apply("reduced", x).shape == ()
    graph = cw.trace(lambda t: cw.apply("reduced", t) + t, "float32[3]", dialect="torch")
    assert graph(x).tolist() == [7.0, 8.0, 9.0]


def _total(x: Any) -> Any:
    return x.__array_namespace__().sum(x)


def test_a_graph_knows_the_shape_that_methods_give() -> None:
    cw.declare_op("summed", operands=1, compute=lambda x: x.sum(), computes="float")
    graph = cw.trace(lambda t: cw.apply("summed", t) + t, "float32[n]", dialect="torch")
    assert graph(tensor([1, 2, 3], "float32", "numpy")).tolist() == [7.0, 8.0, 9.0]


def test_a_shape_that_a_graph_could_not_know_is_told() -> None:
    cw.declare_op("opaque", operands=1, compute=np.logaddexp.reduce, computes="float")
    graph = cw.trace(lambda t: cw.apply("opaque", t) + t, "float32[n]", dialect="torch")
    with pytest.raises(cw.UsageError, match="kernel of opaque gave another shape"):
        graph(tensor([1, 2, 3], "float32", "numpy"))


def test_a_kernel_is_written_out_in_onnx(mine: str) -> None:
    pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    graph = cw.trace(lambda a, b: cw.apply(mine, a, b), "int32[n]", "float32[n]", dialect="torch")
    model = graph.to_onnx()
    assert [node.op_type for node in model.graph.node] == ["Cast", "Mul", "Add"]
    given = {"a": np.array([1, 2], "int32"), "b": np.array([0.5, 2], "float32")}
    assert ReferenceEvaluator(model).run(None, given)[0].tolist() == [1.5, 5.0]

    def distance(x, y):  # which asks for numbers, and a graph has none
        return np.array([abs(float(a) - float(b)) for a, b in zip(x, y, strict=True)], "float32")

    cw.declare_op("foreign", compute=distance, computes="float")
    opaque = cw.trace(lambda a: cw.apply("foreign", a, a), "float32[2]", dialect="torch")
    assert opaque(np.array([3, 3], "float32")).dtype.name == "float32"
    with pytest.raises(cw.UsageError, match="foreign"):
        opaque.to_onnx()


def test_a_name_may_be_declared_again(mine: str) -> None:
    x = tensor([1.0, 2.0], "float32", "numpy")
    for _ in range(3):
        assert cw.apply(mine, x, x).tolist() == [2.0, 5.0]
    cw.declare_op(mine, compute=lambda x, y: x - y)
    assert cw.apply(mine, x, x).tolist() == [0.0, 0.0]


def test_a_kernel_named_like_a_librarys_function_is_the_one_that_runs(backend: str) -> None:
    cw.declare_op("sinc", operands=1, compute=lambda x: x * 0 + 42, computes="float")
    assert cw.apply("sinc", tensor([8.0], "float32", backend)).tolist() == [42.0]


def test_an_op_without_a_kernel_says_how_to_give_it_one() -> None:
    cw.declare_op("decided")
    with pytest.raises(cw.UsageError, match=r"cw.declare_op\('decided', compute=...\)"):
        cw.apply("decided", tensor([1], "int32", "numpy"), 1)
    with pytest.raises(cw.UsageError, match="compute is a function of arrays, not 5"):
        cw.declare_op("wrong", compute=5)  # type: ignore[arg-type]


def test_casts_of_a_declared_op_are_counted(mine: str) -> None:
    x, y = tensor([1, 2], "int32", "numpy"), tensor([0.5, 2], "float32", "numpy")
    with cw.count_casts() as counts:
        cw.apply(mine, x, y)
    assert counts.total.casts == 1
