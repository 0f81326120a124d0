"""cw.compile: traced once a signature, the same results as eager."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw


def scaled(x: Any, factor: Any, axis: int = 0) -> Any:
    return cw.apply("sum", x * factor, axis=axis)


X = np.asarray([[1, 2, 3], [4, 5, 6]], "int8")


def test_it_gives_what_the_function_gives() -> None:
    compiled = cw.compile(scaled, dialect="torch")
    with cw.use("torch"):
        eager = scaled(cw.asarray(X), 0.5)
    got = compiled(X, 0.5)
    assert (got.dtype, got.tolist()) == (eager.dtype, eager.tolist())


def test_it_traces_once_a_signature() -> None:
    seen = []

    @cw.compile(dialect="torch")
    def watched(x: Any, factor: Any) -> Any:
        seen.append(1)
        return x * factor

    for _ in range(3):
        watched(X, 0.5)
    assert len(seen) == len(watched.graphs) == 1
    watched(X.astype("int16"), 0.5)
    watched(X[0], 0.5)
    watched(X, 2)
    watched(X, True)
    assert len(seen) == len(watched.graphs) == 5


def test_numbers_that_compare_equal_are_told_apart() -> None:
    compiled = cw.compile(lambda x, y: x / y, dialect="numpy")
    one = np.asarray([1.0])
    with np.errstate(divide="ignore"):
        assert compiled(one, 0.0).tolist() == [np.inf]
        assert compiled(one, -0.0).tolist() == [-np.inf]


def test_defaults_and_keywords_are_parameters() -> None:
    compiled = cw.compile(scaled)
    assert compiled(X, factor=2, axis=1).tolist() == [12, 30]
    assert compiled(X, 2).tolist() == [10, 14, 18]
    assert compiled.__name__ == "scaled"


def test_the_dialect_is_that_of_the_context_or_of_the_tensors() -> None:
    compiled = cw.compile(lambda x: x / 2)
    with cw.use("torch"):
        assert compiled(X).dtype.name == "float32"
    assert compiled(X).dtype.name == "float64"
    assert compiled(cw.asarray(X, dialect="jax")).dtype.name == "float32"


def test_what_eager_refuses_is_refused() -> None:
    compiled = cw.compile(lambda x, y: x + y, dialect="tensorflow")
    with pytest.raises(cw.PromotionError):
        compiled(X, X.astype("float32"))


def test_the_graph_that_runs_is_the_simplified_one() -> None:
    compiled = cw.compile(lambda x, y: (x + y) * (x - y), dialect="torch")
    compiled(X, X.astype("float32"))
    (graph,) = compiled.graphs.values()
    assert len(graph.casts) == 1
