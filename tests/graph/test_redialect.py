"""A graph under another dialect: what changes, and how its meaning is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
import castwise.array_api as xp


def mean_of_scaled(x: Any, y: Any) -> Any:
    scaled = x * 0.5
    total = scaled + y
    return cw.apply("sum", x), total


def outcomes(graph: cw.Graph, dialect: str) -> list[tuple[str, str]]:
    return [(change.op, change.outcome) for change in graph.redialect(dialect).changes]


def test_what_would_change_is_told_op_by_op() -> None:
    graph = cw.trace(mean_of_scaled, "int32[n]", "float32[n]", dialect="torch")
    assert outcomes(graph, "torch") == []
    assert outcomes(graph, "numpy") == [("mul", "changes dtype"), ("add", "changes dtype")]
    assert outcomes(graph, "jax") == [("sum", "changes dtype")]
    assert ("mul", "refused") in outcomes(graph, "tensorflow")


def test_a_change_says_where_and_what() -> None:
    graph = cw.trace(mean_of_scaled, "int32[n]", "float32[n]", dialect="torch")
    text = str(graph.redialect("numpy"))
    assert "mean_of_scaled: torch -> numpy: 2 of the ops change" in text
    assert "test_redialect.py:" in text
    assert "int32[n] * 0.5 gives float64, not float32" in text
    assert str(graph.redialect("torch")).endswith("nothing changes")


def test_after_a_refusal_the_old_dtype_goes_on() -> None:
    graph = cw.trace(lambda x, y: (x + y) * y, "int64[3]", "float32[3]", dialect="torch")
    changes = graph.redialect("paddle:documented").changes
    assert [(c.op, c.outcome) for c in changes] == [("add", "refused")]
    assert "is not defined in paddle:documented" in str(changes[0])


DIALECTS = ("torch", "numpy", "jax", "paddle", "tensorflow", "mlx", "oneflow", "array-api", "keras")
X = np.asarray([1, -2, 300], "int32")
Y = np.asarray([0.5, 1.5, -2.25], "float32")


def chain(x: Any, y: Any) -> Any:
    z = x * 2 + y
    return xp.where(z > 0, z, y), z / 3


@pytest.mark.parametrize("target", DIALECTS)
def test_preserve_keeps_every_value(target: str) -> None:
    graph = cw.trace(chain, "int32[n]", "float32[n]", dialect="torch")
    kept = graph.preserve(target)
    assert kept.dialect.name == target
    assert outcomes(kept, target) == []
    assert not any(cast.is_implicit for cast in kept.casts)
    for got, expected in zip(kept(X, Y), graph(X, Y), strict=True):
        assert got.dtype is expected.dtype
        np.testing.assert_array_equal(got.numpy(), expected.numpy())


def test_a_wider_sum_is_cut_back() -> None:
    graph = cw.trace(lambda x: cw.apply("sum", x), "int8[n]", dialect="jax")
    kept = graph.preserve("torch")
    assert [node.op for node in kept.nodes] == ["input", "cast", "sum", "cast"]
    x = np.full(100, 100, "int8")
    assert kept(x).item() == graph(x).item()


def test_what_has_no_equal_is_refused() -> None:
    graph = cw.trace(lambda x: x - x, "bool[3]", dialect="mlx")
    with pytest.raises(cw.PromotionError, match="minus on booleans"):
        graph.preserve("torch")


def test_a_simplified_graph_answers_for_the_program() -> None:
    """The cast to float32, with which add was written, goes when the graph is simplified."""
    graph = cw.trace(lambda x, y: x.astype("float32") + y, "float16[n]", "float64[n]",
                     dialect="torch")  # fmt: skip
    simplified = graph.simplify().graph
    assert len(simplified.casts) < len(graph.casts)
    for dialect in ("numpy", "tensorflow", "paddle:documented", "jax"):
        assert outcomes(simplified, dialect) == outcomes(graph, dialect)
    assert outcomes(simplified, "tensorflow") == [("add", "refused")]
    assert outcomes(simplified.simplify().graph, "tensorflow") == [("add", "refused")]


def test_a_cast_the_program_asks_for_keeps_its_dtype_there() -> None:
    """Under jax it is several nodes, since floats out of range become the nearest integer."""
    graph = cw.trace(lambda x: x.astype("int32") + 1, "float32[n]", dialect="jax")
    assert len(graph.nodes) > 4
    assert outcomes(graph, "numpy") == []


def test_what_the_framework_has_no_kernel_for_is_refused() -> None:
    graph = cw.trace(lambda x: cw.apply("hypot", x, x), "uint8[n]", dialect="mlx")
    assert outcomes(graph, "torch") == [("hypot", "refused")]


def test_an_input_that_the_other_dialect_truncates_is_not_preserved_used_or_not() -> None:
    unused = cw.asarray([1], dtype="int64", dialect="torch")
    used = cw.asarray([1], dtype="int32", dialect="torch")
    graph = cw.trace(lambda x, y: y + y, unused, used, dialect="torch")
    with pytest.raises(cw.PromotionError, match="is int64, which becomes int32 in jax"):
        graph.preserve("jax")
    assert graph.preserve("jax:x64")(unused, used).numpy().tolist() == [2]


def test_an_explicit_cast_to_the_dtype_it_has_makes_an_array_strong_elsewhere() -> None:
    """A bool and a number are int64 in torch, and weak in JAX: there the cast does something."""
    graph = cw.trace(lambda x, y: (x + 0).astype("int64") + y, "bool[]", "uint8[]", dialect="torch")
    assert outcomes(graph, "jax:x64") == []
