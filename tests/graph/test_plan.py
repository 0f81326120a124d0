"""Plans: a program is prepared once, and its values are dropped as soon as they can be."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named
from castwise.graph import run

SIZE = 1 << 18


def test_a_program_is_planned_once_for_each_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = cw.trace(lambda x: x * 2 + 1, "float32[n]", dialect="torch")
    first = graph(np.ones(3, "float32")).tolist()
    monkeypatch.setattr(run, "_Planner", None)
    assert graph(np.ones(3, "float32")).tolist() == first == [3, 3, 3]
    assert graph(np.ones(5, "float32")).tolist() == [3] * 5  # symbolic sizes are none of its parts


def test_a_copy_and_a_pickle_are_planned_anew() -> None:
    graph = cw.trace(lambda x: x / 3, "float32[2]", dialect="torch")
    x = np.ones(2, "float32")
    expected = graph(x).tolist()
    for again in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert not again.plans
        assert again(x).tolist() == expected


def test_values_are_dropped_as_soon_as_nothing_needs_them() -> None:
    def chain(x: Any) -> Any:
        for n in range(8):
            x = x * (n + 2)
        return x

    compiled = cw.compile(chain, dialect="torch")
    x = cw.asarray(np.ones(SIZE, "float32"), dialect="torch")
    compiled(x)
    tracemalloc.start()
    result = compiled(x)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.shape == (SIZE,)
    assert most < 2.5 * x.nbytes


def test_casts_are_left_to_ops_that_cast_while_they_compute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = cw.compile(lambda x, y: x * y, dialect="torch")
    x, y = cw.asarray(np.ones(SIZE, "int8")), cw.asarray(np.ones(SIZE, "float32"))
    expected = compiled(x, y)
    monkeypatch.setattr(type(backend_named("numpy")), "cast", None)
    assert compiled(x, y).dtype is expected.dtype is cw.dtype("float32")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: cw.asarray([1.0, 2.0], dtype="float32"),
        lambda x: cw.asarray([[1.0, 2.0]], dtype="float32")[0],
        lambda x: (x, cw.asarray([1.0, 2.0], dtype="float32")),
    ],
)
def test_no_result_shares_the_memory_of_a_constant(function: Any) -> None:
    compiled = cw.compile(function)
    for _ in range(3):
        found = compiled(cw.asarray([5.0]))
        result = found[1] if isinstance(found, tuple) else found
        assert result.tolist() == [1.0, 2.0]
        result[...] = 7.0


def test_a_graph_warns_where_eager_ops_do() -> None:
    silent = cw.trace(lambda x: x / 0.0, "float32[2]", dialect="jax")  # times the reciprocal of 0
    assert silent(np.ones(2, "float32")).tolist() == [np.inf, np.inf]
    graph = cw.trace(lambda x: x / 0.0, "float32[2]", dialect="numpy")
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            assert graph(np.ones(2, "float32")).tolist() == [np.inf, np.inf]


def test_all_ways_to_give_the_same_arguments_share_a_graph() -> None:
    def weighted(x: Any, y: Any = 2, *, scale: Any = 0.25) -> Any:
        return x * y + scale

    compiled = cw.compile(weighted, dialect="numpy")
    x = np.asarray([1.0, 2.0])
    calls = [
        compiled(x), compiled(x, 2), compiled(x, y=2), compiled(y=2, x=x),
        compiled(scale=0.25, y=2, x=x), compiled(cw.asarray(x), 2, scale=0.25),
    ]  # fmt: skip
    assert [found.tolist() for found in calls] == [[2.25, 4.25]] * len(calls)
    assert len(compiled.graphs) == 1
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        compiled(y=3)


def test_a_default_dialect_counts_from_the_next_call() -> None:
    compiled = cw.compile(lambda x: x / 2)
    x = cw.asarray([1, 2], dtype="int32")
    assert compiled(x).dtype.name == compiled(x).dtype.name == "float64"
    try:
        cw.set_default("torch")
        assert compiled(x).dtype.name == "float32"
    finally:
        cw.set_default(None)
    assert compiled(x).dtype.name == "float64"


def test_a_function_that_returns_nothing_runs_once_a_call() -> None:
    compiled = cw.compile(lambda x, k: None)
    for k in (0.3, 0.4, 0.3):
        assert compiled(cw.asarray([1.0]), k) is None
    assert len(compiled.graphs) == 1
