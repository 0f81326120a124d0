"""cw.count_casts sees the same in a function, its graph and the compiled function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw

HALF, FLOAT, INT = (np.ones((4, 3), dtype) for dtype in ("float16", "float32", "int8"))
FIXED = cw.asarray([1, 2, 3], dtype="float16", dialect="torch")
PROGRAMS: dict[str, Any] = {
    "two casts": lambda x, y: (x + y) * (x - y),
    "numbers": lambda x, y: (x / 3 + 300) * y,
    "a number that wraps": lambda x, y: x.astype("uint8") + 300,
    "layouts": lambda x, y: x[0] + y.mT[:, 0] + x[:, 1:2] * y,
    "reductions": lambda x, y: cw.apply("sum", x, axis=0) + cw.apply("mean", y),
    "where": lambda x, y: cw.apply("where", x > y, x, y),
    "joining": lambda x, y: cw.apply("concat", x, y),
    "of a constant alone": lambda x, y: (FIXED + np.ones(3, "float32")) + x,
    "what nobody needs": lambda x, y: (x + y, x)[1],
    "a cast that is asked for": lambda x, y: x.astype("float32") + y,
    "functions": lambda x, y: cw.apply("exp", x) + cw.apply("lerp", y, y, 0.5),
}


def figures(counts: Any) -> Any:
    parts = {key: (c.casts, c.elements, c.bytes) for key, c in counts.by.items()}
    return parts, counts.total.casts, counts.total.elements, counts.total.bytes


def counted(fn: Any, *arguments: Any) -> Any:
    with cw.count_casts() as counts:
        fn(*arguments)
    return figures(counts)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_every_run_counts_as_eager_does(program: Any) -> None:
    x, y = (cw.asarray(array, dialect="torch") for array in (INT, HALF))
    eager = counted(program, x, y)
    compiled = cw.compile(program, dialect="torch")
    assert counted(compiled, x, y) == counted(compiled, x, y) == eager
    for specs in (["int8[4,3]", "float16[4,3]"], ["int8[n,3]", "float16[n,3]"]):
        graph = cw.trace(program, *specs, dialect="torch")
        assert counted(graph, x, y) == counted(graph.simplify().graph, x, y) == eager


def test_the_programs_count_something() -> None:
    x, y = (cw.asarray(array, dialect="torch") for array in (INT, HALF))
    found = {name: counted(program, x, y)[1] for name, program in PROGRAMS.items()}
    assert min(found.values()) > 0, found


def test_tracing_counts_nothing() -> None:
    with cw.count_casts() as counts:
        cw.trace(PROGRAMS["two casts"], INT, HALF, dialect="torch")
    assert counts.total.casts == 0


def test_state_and_in_place_count() -> None:
    def made() -> tuple[Any, Any]:
        t = cw.asarray([1, 2, 3], dtype="float16", dialect="torch")
        v = cw.Variable([1, 2, 3], dtype="float32", dialect="torch")

        def step(x: Any) -> None:
            nonlocal t
            t += x
            v.assign_add(x)
            v.mul_(t)

        return step, x

    x = cw.asarray(FLOAT[0], dialect="torch")
    step, _ = made()
    expected = counted(step, x)
    assert expected[1] == 3
    compiled = cw.compile(made()[0], dialect="torch")
    assert counted(compiled, x) == counted(compiled, x) == expected
    assert counted(cw.trace(made()[0], x, dialect="torch"), x) == expected


def test_a_graph_within_a_graph_counts() -> None:
    inner = cw.compile(lambda x, y: x + y, dialect="torch")

    def outer(x: Any, y: Any) -> Any:
        return inner(x, y) * inner(y, x)

    x, y = (cw.asarray(array, dialect="torch") for array in (INT, HALF))
    eager = counted(lambda: (x + y) * (y + x))
    graph = cw.trace(outer, "int8[n,3]", "float16[n,3]", dialect="torch")
    assert counted(outer, x, y) == counted(graph, x, y) == eager
    assert eager[1] == 2


def test_what_was_preserved_casts_only_where_it_is_asked_to() -> None:
    graph = cw.trace(PROGRAMS["two casts"], "int8[n]", "float32[n]", dialect="torch")
    kept = graph.preserve("numpy")
    assert counted(kept, INT[0], FLOAT[0])[1] == 0
    assert counted(graph, INT[0], FLOAT[0])[1] == 2
