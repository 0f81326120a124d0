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


class Layer:
    weights = cw.asarray([1.0, 2.0], dtype="float32")

    @cw.compile(dialect="torch")
    def __call__(self, x: Any, *, scale: Any = 1) -> Any:
        return x * self.weights * scale


def test_methods_are_bound() -> None:
    layer = Layer()
    assert layer(X[0, :2], scale=2).tolist() == [2, 8]
    assert Layer()(X[0, :2]).tolist() == [1, 4]
    assert repr(Layer.__dict__["__call__"]) == "<compiled Layer.__call__>"


@pytest.mark.parametrize(
    ("fn", "arguments", "keywords"),
    [
        (lambda *xs, **more: sum(xs) * more["k"], (X, X), {"k": 3}),
        (lambda pair: pair[0] + pair[1], ([X, X.astype("float32")],), {}),
        (lambda named: named["x"] * named["k"], ({"x": X, "k": 2},), {}),
        (lambda x, /, axis: cw.apply("sum", x, axis=axis), (X,), {"axis": (0, 1)}),
        (lambda x, dtype: x.astype(dtype), (X, cw.dtype("float16")), {}),
        (lambda x, names: x + len(names), (X, {"a", "b"}), {}),
    ],
)
def test_arrays_stand_anywhere_and_the_rest_is_the_signature(
    fn: Any, arguments: Any, keywords: Any
) -> None:
    compiled = cw.compile(fn, dialect="torch")
    got = compiled(*arguments, **keywords)
    again = compiled(*arguments, **keywords)
    with cw.use("torch"):
        eager = fn(*map(wrapped, arguments), **keywords)
    assert len(compiled.graphs) == 1
    assert got.dtype is eager.dtype
    assert got.tolist() == again.tolist() == eager.tolist()


def wrapped(argument: Any) -> Any:
    if isinstance(argument, list):
        return [wrapped(part) for part in argument]
    if isinstance(argument, dict):
        return {key: wrapped(part) for key, part in argument.items()}
    return cw.asarray(argument) if isinstance(argument, np.ndarray) else argument


def test_arrays_inside_arguments_keep_apart_from_arguments_of_such_names() -> None:
    a, b = cw.asarray([1.0], dialect="torch"), cw.asarray([5.0], dialect="torch")

    @cw.compile
    def listed(x: list[cw.Tensor], x_0: cw.Tensor) -> cw.Tensor:
        return x[0] - x_0

    @cw.compile
    def named(given: dict[str, Any]) -> cw.Tensor:
        return given["a"][0] - given["a_0"]  # type: ignore[no-any-return]

    assert listed([a], b).tolist() == named({"a": [a], "a_0": b}).tolist() == [-4.0]


def test_the_oldest_graph_goes_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castwise.graph.compile._MOST_GRAPHS", 3)
    compiled = cw.compile(lambda x, k: x * k)
    for k in range(5):
        assert compiled(X, k).tolist() == (X * k).tolist()
    assert len(compiled.graphs) == 3
    assert compiled(X, 0).tolist() == (X * 0).tolist()


def test_two_backends_are_refused() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(cw.UsageError, match="backends numpy and torch do not mix"):
        cw.compile(lambda x, y: x + y)(X, torch.ones(3))
