"""Views, aliases and writes in place in graphs and compiled functions: as in eager tensors."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import aliasing
import numpy as np
import pytest

import castwise as cw
import cells
from castwise.errors import DivisionByZeroError, LibraryError
from castwise.graph.run import OtherMemoryError
from castwise.graph.traced import UnsureMemoryError

BACKENDS = [name for name in ("numpy", "torch") if importlib.util.find_spec(name)]
COUNT = 2000 if cells.takes_all else 150


def array(data: Any = ((1, 2, 3), (4, 5, 6)), backend: str = "numpy", **options: Any) -> cw.Tensor:
    return cw.asarray(data, **{"dtype": "int32", "dialect": "torch", "backend": backend, **options})


def listed(x: Any) -> Any:
    return None if x is None else x.tolist()


def slice_(t: Any) -> Any:
    u = t[1:]
    u += 10
    return t


def transposed(t: Any) -> Any:
    t.T[0] = 7
    return t * 1


def reshaped(t: Any) -> Any:
    u = t.reshape(-1)
    u[2:][0] *= 5
    return t


def seen_in_a_view(t: Any) -> Any:
    u = t[:, 1:]
    t += 10
    return u * 2


def of_a_view(t: Any) -> Any:
    u = t.T[1:].T
    u.mul_(2)
    return u


def nothing_returned(t: Any) -> None:
    t += 10


FUNCTIONS = [slice_, transposed, reshaped, seen_in_a_view, of_a_view, nothing_returned]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_a_write_shows_where_it_shows_in_the_function(fn: Any, backend: str, tmp_path: Any) -> None:
    expected = array(backend=backend)
    found = fn(expected)
    graph = cw.trace(fn, "int32[2,3]", dialect="torch")
    graph.save(tmp_path / "graph.json")
    ways = (graph, cw.load_graph(tmp_path / "graph.json"), graph.simplify().graph, cw.compile(fn))
    for way in ways:
        given = array(backend=backend)
        got = way(given)
        assert given.tolist() == expected.tolist() != array().tolist()
        assert listed(got) == listed(found)


@pytest.mark.parametrize("backend", BACKENDS)
def test_random_programs_do_the_same_in_every_way(backend: str) -> None:
    counts, differ = aliasing.search(range(COUNT), backend)
    assert not differ, differ[0]
    assert counts["agree"] > 0.8 * COUNT


def test_the_search_finds_what_differs() -> None:
    program = aliasing.Program("numpy", [("int32", (4,), "rows", None, "itself")])
    program.statements = [("view", 0, "getitem", slice(1, None)), ("augment", "add", 1, 1)]
    program.returned = [0]
    given = aliasing.arguments(program, "numpy", 0)
    expected = aliasing.outcome(program, given)
    lost = aliasing.outcome(lambda *xs: [xs[0].copy()], aliasing.arguments(program, "numpy", 0))
    assert aliasing.told("lost", expected, lost)
    assert not aliasing.differences(program, "numpy")


def test_the_search_runs_from_the_command_line() -> None:
    command = [sys.executable, Path(aliasing.__file__), "--programs", "3"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    assert "numpy: {" in run.stdout


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_the_library_refuses_is_said_as_by_an_eager_tensor(backend: str) -> None:
    floats = cw.asarray(np.zeros((2, 2), "float32"), dialect="numpy", backend=backend)
    whole = cw.asarray(np.ones((2, 2), "int32"), dialect="numpy", backend=backend)
    places = cw.asarray(np.asarray([0, 9]), dialect="numpy", backend=backend)
    for fn, given in (
        (lambda x: cw.apply("linalg.inv", x), (floats,)),
        (lambda x: cw.apply("linalg.inv", x * 2), (whole * 0,)),
        (lambda x, y: x[y], (whole, places)),
    ):
        said = []
        for way in (fn, cw.trace(fn, *given), cw.compile(fn)):
            with pytest.raises(LibraryError) as caught:
                way(*given)
            said.append((type(caught.value), str(caught.value)))
        assert said[1] == said[2] == said[0]


def test_an_error_comes_after_what_was_written_before_it() -> None:
    def fn(t: Any, y: Any) -> Any:
        t += 1
        z = t // y
        t += 1
        return z

    graph, compiled = cw.trace(fn, "int32[2]", "int32[2]", dialect="torch"), cw.compile(fn)
    zero, one = array([0, 1]), array([1, 1])
    for way in (fn, graph, compiled, compiled):
        t = array([5, 6])
        with pytest.raises(DivisionByZeroError, match="floor_divide of int32 by zero raises"):
            way(t, zero)
        assert t.tolist() == [6, 7]
        assert way(t, one).tolist() == [7, 8]
        assert t.tolist() == [8, 9]


@pytest.mark.parametrize("op", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_division_by_zero_raises_even_if_nothing_needs_it(op: str, backend: str) -> None:
    def fn(x: Any, y: Any) -> Any:
        cw.apply(op, x, y)
        return x

    def by_number(x: Any, y: Any) -> Any:
        return cw.apply(op, x, y)

    x, zero = array([5, 6], backend), array([0, 1], backend)
    for way in (cw.trace(fn, "int32[2]", "int32[2]", dialect="torch"), cw.compile(fn)):
        with pytest.raises(DivisionByZeroError):
            way(x, zero)
    compiled = cw.compile(by_number)
    assert compiled(x, 2).tolist() == by_number(x, 2).tolist()
    with pytest.raises(DivisionByZeroError):
        compiled(x, 0)


def test_results_share_memory_with_the_arguments_as_those_of_the_function() -> None:
    def fn(t: Any) -> Any:
        t += 1
        return t, t[1:], t.clone(), t[1:].copy()

    for way in (fn, cw.trace(fn, "int32[3]", dialect="torch"), cw.compile(fn)):
        t = array([1, 2, 3])
        same, view, clone, copy = way(t)
        t += 10
        found = [part.tolist() for part in (same, view, clone, copy)]
        assert found == [[12, 13, 14], [13, 14], [2, 3, 4], [3, 4]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_that_are_made_of_constants_share_memory_too(backend: str) -> None:
    def fn(t: Any) -> Any:
        t[...] = 1
        u = t * 2
        return u, u.T, u.reshape(-1), t.clone()

    for way in (fn, cw.trace(fn, "int32[2,3]", dialect="torch"), cw.compile(fn)):
        for _ in range(2):
            whole, turned, flat, other = way(array(backend=backend))
            turned += 1
            assert whole.tolist() == [[3, 3, 3], [3, 3, 3]]
            assert (flat.tolist(), other.tolist()) == ([3] * 6, [[1] * 3] * 2)


def test_results_that_are_weaker_than_what_was_written_share_memory_too() -> None:
    def fn(t: Any) -> Any:
        u = t * 2.0  # weak in Keras, and stays so
        cw.apply("maximum", u, t, out=u)
        return u, u.reshape(2, -1)

    given = cw.asarray(np.arange(4), dtype="int32", dialect="keras", backend="numpy")
    for way in (fn, cw.trace(fn, given, dialect="keras"), cw.compile(fn)):
        whole, square = way(given)
        assert whole.weak_type
        assert square.weak_type
        assert np.shares_memory(whole.numpy(), square.numpy())


def test_what_a_graph_cannot_do_as_the_function_does_is_refused_and_compile_runs_the_function() -> (
    None
):
    def flipped(t: Any) -> Any:
        u = t.flip()
        t += 1
        return u * 1

    with pytest.raises(UnsureMemoryError, match="flip copies in some libraries"):
        cw.trace(flipped, "int32[3]", dialect="torch")
    expected = flipped(array([1, 2, 3])).tolist()
    compiled = cw.compile(flipped)
    for _ in range(2):
        assert compiled(array([1, 2, 3])).tolist() == expected


@pytest.mark.parametrize("part", ["real", "imag"])
def test_a_write_to_a_part_of_complex_numbers_is_refused_or_done_by_the_function(part: str) -> None:
    def fn(t: Any) -> Any:
        u = getattr(t, part)
        u += 1
        return t

    with pytest.raises(UnsureMemoryError, match="differ in writes to a part of complex numbers"):
        cw.trace(fn, "complex64[2]", dialect="torch")
    given = cw.asarray(np.zeros(2, "complex64"), dialect="torch")
    found = cw.compile(fn)(given)
    assert found.tolist() == given.tolist() == [1 if part == "real" else 1j] * 2


def test_arrays_that_lie_otherwise_are_refused_by_a_graph() -> None:
    graph, compiled = cw.trace(reshaped, "int32[3,2]", dialect="torch"), cw.compile(reshaped)

    def columns() -> Any:
        return array().T

    with pytest.raises(OtherMemoryError, match=r"does not: pass a copy"):
        graph(columns())
    expected = reshaped(columns()).tolist()
    assert compiled(columns()).tolist() == expected


def test_arguments_that_share_memory_are_refused_by_a_graph() -> None:
    def fn(t: Any, u: Any) -> Any:
        t += 1
        return u * 1

    graph, compiled = cw.trace(fn, "int32[2]", "int32[2]", dialect="torch"), cw.compile(fn)
    for way in (fn, compiled):
        t = array([1, 2, 3])
        assert way(t[:2], t[1:]).tolist() == [3, 3]
    with pytest.raises(OtherMemoryError, match="shares memory with u"):
        graph(t[:2], t[1:])


def test_a_raw_array_is_written_to() -> None:
    given = np.zeros(3, "int32")
    cw.compile(nothing_returned, dialect="numpy")(given)
    cw.trace(nothing_returned, "int32[3]", dialect="numpy")(given)
    assert given.tolist() == [20, 20, 20]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_write_to_a_view_of_an_outside_tensor_is_one_of_each_run(backend: str) -> None:
    t = array([1, 2, 3], backend)

    def by_value(x: Any) -> Any:
        u = t[1:]
        u += x
        return t * 1

    def by_number(x: Any) -> Any:
        t[1:].add_(1)
        return t * x

    for fn in (by_value, by_number):
        graph, compiled = cw.trace(fn, "int32[]", dialect="torch"), cw.compile(fn)
        assert t.tolist() == [1, 2, 3]
        one = array(1, backend)
        assert graph(one).tolist() == [1, 3, 4]
        assert compiled(one).tolist() == [1, 4, 5]
        t -= array([0, 2, 2], backend)


def test_a_view_from_outside_of_what_is_written_is_no_constant() -> None:
    t = array([1, 2, 3])
    view = t[1:]

    def fn(x: Any) -> Any:
        nonlocal t
        t += x
        return view * 1

    with pytest.raises(UnsureMemoryError, match="another one shares its memory"):
        cw.trace(fn, "int32[]", dialect="torch")
    compiled = cw.compile(fn)
    assert compiled(array(1)).tolist() == [3, 4]
    assert compiled(array(1)).tolist() == [4, 5]
    assert t.tolist() == [3, 4, 5]


def test_an_op_that_is_declared_again_is_computed_by_its_new_kernel() -> None:
    compiled = cw.compile(lambda x: cw.apply("grown_in_graphs", x))
    graph = None
    for factor in (2, 3):
        cw.declare_op("grown_in_graphs", operands=1, compute=lambda x, f=factor: x * f)
        graph = graph or cw.trace(lambda x: cw.apply("grown_in_graphs", x), "int32[2]")
        for _ in range(2):
            assert compiled(array([1, 2])).tolist() == [factor, 2 * factor]
            assert graph(array([1, 2])).tolist() == [factor, 2 * factor]


@pytest.mark.parametrize("dialect", ["numpy", "mlx", "torch"])
def test_cumsum_has_the_shape_of_the_eager_one(dialect: str) -> None:
    for shape in ((), (3,), (2, 3)):
        given = cw.asarray(np.ones(shape, "float32"), dialect=dialect)

        def fn(x: Any) -> Any:
            return cw.apply("cumsum", x)

        try:
            expected = fn(given)
        except cw.UsageError:
            continue
        graph = cw.trace(fn, given, dialect=dialect)
        assert graph.outputs[0].shape == graph(given).shape == expected.shape
        assert cw.compile(fn)(given).tolist() == expected.tolist()


def test_the_sum_of_a_number_along_its_axis_can_be_traced() -> None:
    number = cw.asarray(np.float32(3), dialect="torch")
    for op in ("sum", "prod", "max", "any"):
        for axis in (0, -1):
            found = cw.compile(lambda x, op=op, axis=axis: cw.apply(op, x, axis=axis))(number)
            assert found.tolist() == cw.apply(op, number, axis=axis).tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_roots_and_powers_have_the_bits_of_the_eager_ones(backend: str) -> None:
    data = np.random.default_rng(0).random(40_000)
    for dtype in ("float32", "float64", "complex64"):
        x = cw.asarray(data.astype(dtype), dialect="torch", backend=backend)
        for fn in (lambda x: cw.apply("sqrt", x), lambda x: cw.apply("log1p", (x**0.7) ** 3)):
            for way in (cw.compile(fn), cw.trace(fn, x, dialect="torch")):
                assert way(x).numpy().tobytes() == fn(x).numpy().tobytes()


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_bool_divided_by_false_raises_where_integers_do(backend: str) -> None:
    for dialect, raises in (("torch", True), ("paddle", True), ("numpy", False), ("mlx", False)):
        x = cw.asarray([True, True], dialect=dialect, backend=backend)
        y = cw.asarray([True, False], dialect=dialect, backend=backend)
        for op in ("floor_divide", "remainder"):

            def divided(x: Any, y: Any, op: str = op) -> Any:
                return cw.apply(op, x, y)

            for way in (divided, cw.compile(divided)):
                if raises:
                    with pytest.raises(DivisionByZeroError, match=f"{op} of bool by zero"):
                        way(x, y)
                else:
                    assert way(x, y).tolist() == divided(x, y).tolist()


def test_a_value_that_would_broadcast_the_array_is_refused() -> None:
    def fn(x: Any, y: Any) -> Any:
        x[...] = y
        return x

    with pytest.raises(cw.UsageError, match=r"\[3, 1\] does not broadcast to \[1, 3\]"):
        cw.trace(fn, "int32[1,3]", "int32[3,1]")
    with pytest.raises(ValueError, match=r"shape \(3,1\) into shape \(1,3\)"):
        cw.compile(fn)(array([[1, 2, 3]]), array([[1], [2], [3]]))
