"""State in graphs: variables, and tensors that a traced function writes to."""

from __future__ import annotations

import asyncio
import csv
import importlib.util
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castwise as cw

TABLES = Path(__file__).parents[1] / "documents" / "data" / "rfc431"
BACKENDS = [name for name in ("numpy", "torch") if importlib.util.find_spec(name)]
MODES = ("tensorflow", "tensorflow:all", "tensorflow:safe", "tensorflow:none")
NUMBERS: dict[str, Any] = {"i*": 1, "f*": 1.5, "c*": 1 + 1j}
ONES = np.ones(2, "float32")


def variable(data: Any = (1.0, 2.0), **options: Any) -> cw.Variable:
    return cw.Variable(list(data), **{"dtype": "float32", "dialect": "torch", **options})


def tensor(data: Any = (1.0, 2.0), **options: Any) -> cw.Tensor:
    return cw.asarray(list(data), **{"dtype": "float32", "dialect": "torch", **options})


def ops(graph: Any) -> list[str]:
    return [node.op for node in graph.nodes if node.inputs]


def pairs() -> list[tuple[str, str]]:
    """The dtypes of RFC 431's table of assign_add: of the variable, of the value."""
    with (TABLES / "assign_add-proposed.csv").open(encoding="utf-8", newline="") as file:
        rows = {row.pop(""): row for row in csv.DictReader(file)}
    names = {"b": "bool", "u8": "uint8", "i8": "int8"}  # terms that castwise refuses as ambiguous
    return [(names.get(r, r), names.get(c, c)) for r, row in rows.items() for c in row]


def outcome(v: cw.Variable, run: Any) -> Any:
    """The variable after a run, or the refusal that left it as it was."""
    before = v.tolist()
    try:
        run()
    except cw.PromotionError as error:
        assert v.tolist() == before
        return str(error)
    return v.dtype.name, v.tolist()


def by_every_way(v: Any, value: Any, mode: str) -> list[Any]:
    """What becomes of copies of a variable that a value is added to: eager, traced, compiled."""
    arrays = [value] if isinstance(value, cw.Tensor) else []
    found = []
    for way in ("eager", "traced", "compiled"):
        own = cw.Variable(v)

        def added(x: Any = value, own: Any = own) -> Any:
            return own.assign_add(x)

        def run(way: str = way, added: Any = added) -> Any:
            if way == "traced":
                return cw.trace(added, *arrays, dialect=mode)(*arrays)
            return (cw.compile(added, dialect=mode) if way == "compiled" else added)(*arrays)

        found.append(outcome(own, run))
    return found


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mode", MODES)
def test_the_tables_of_assign_add_hold_in_graphs(mode: str, backend: str) -> None:
    options = {"dialect": mode, "backend": backend}
    for held, given in pairs():
        v = cw.Variable([1, 1, 1], dtype=held, **options)
        value = NUMBERS.get(given) or cw.asarray([3, 0, 1], dtype=given, **options)
        eager, traced, compiled = by_every_way(v, value, mode)
        assert eager == traced == compiled, (held, given)


def test_a_variable_is_state_and_a_run_writes_it() -> None:
    v = variable()

    def step(x: Any) -> Any:
        old = v * 2
        v.assign_add(x)
        return old

    graph = cw.trace(step, "int8[2]", dialect="torch")
    assert v.tolist() == [1, 2]
    (state,) = graph.state
    assert (state.name, state.tensor is v, state.is_written) == ("v", True, True)
    assert graph(np.ones(2, "int8")).tolist() == [2, 4]
    assert graph(np.ones(2, "int8")).tolist() == [4, 6]
    assert v.tolist() == [3, 4]
    v.assign(0)
    assert graph(np.ones(2, "int8")).tolist() == [0, 0]


def test_the_text_shows_it() -> None:
    v, w = variable(), variable()

    def step(x: Any) -> Any:
        v.assign_sub(x * w)
        return v

    graph = cw.trace(step, "float32[2]", dialect="torch")
    assert graph.text(shows_origins=False).splitlines() == [
        "step(x: float32[2]) under torch",
        "  state w: float32[2]",
        "  state v: float32[2]",
        "  %0 = mul(x, w)   float32[2]",
        "  %1 = sub(v, %0)  float32[2]",
        "  v = %1",
        "  return %1",
    ]


def test_a_variable_that_is_only_read_is_read_by_each_run() -> None:
    v = variable()
    graph = cw.trace(lambda x: x + v, "float32[2]", dialect="torch")
    compiled = cw.compile(lambda x: x + v, dialect="torch")
    assert compiled(ONES).tolist() == [2, 3]
    v.assign_add(1)
    assert graph(ONES).tolist() == compiled(ONES).tolist() == [3, 4]
    assert not graph.state[0].is_written


def test_a_variable_as_an_argument_is_written() -> None:
    def step(v: Any, x: Any) -> Any:
        v += x
        return v * 2

    traced, used = variable(), variable([5, 6])
    graph = cw.trace(step, traced, "float32[2]", dialect="torch")
    assert graph(used, ONES).tolist() == [12, 14]
    assert graph(v=used, x=ONES).tolist() == [14, 16]
    assert (traced.tolist(), used.tolist()) == ([1, 2], [7, 8])
    compiled = cw.compile(step, dialect="torch")
    for expected in ([16, 18], [18, 20]):
        assert compiled(used, ONES).tolist() == expected
    assert compiled(traced, ONES).tolist() == [4, 6]
    assert len(compiled.graphs) == 1
    array = np.ones(2, "float32")
    assert graph(array, ONES).tolist() == [4, 4]
    assert array.tolist() == [2, 2]
    with pytest.raises(cw.UsageError, match="assigns to v, which shares memory with x"):
        graph(array, array)
    before = used.tolist()
    cw.compile(lambda v, w: v.assign_add(w), dialect="torch")(used, used)
    assert used.tolist() == [2 * n for n in before]


def test_variables_stand_in_lists_and_dicts_of_a_compiled_function() -> None:
    a, b = variable(), variable([3, 4])

    @cw.compile(dialect="torch")
    def swapped(pair: Any) -> Any:
        old = pair["a"] + 0
        pair["a"].assign(pair["b"])
        pair["b"].assign(old)

    swapped({"a": a, "b": b})
    assert (a.tolist(), b.tolist()) == ([3, 4], [1, 2])


def test_an_argument_that_is_only_read_may_be_any_array() -> None:
    graph = cw.trace(lambda v: v + 1, variable(), dialect="torch")
    assert graph(ONES).tolist() == [2, 2]


WRITES = {
    "+=": lambda t, x: t.__iadd__(x),
    "add_": lambda t, x: t.add_(x),
    "[...] =": lambda t, x: t.__setitem__(..., t + x),
    "[i] =": lambda t, x: [t.__setitem__(n, t[n] + x[n]) for n in range(2)],
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_tensor_that_is_written_to_is_state_from_the_beginning(write: Any, backend: str) -> None:
    t = tensor(backend=backend)

    def step(x: Any) -> Any:
        before, first, cast = t * 2, t[0] + 0, t.astype("float64")
        write(t, x)
        return before, first, cast, t.shape[0]

    x = cw.asarray([1, 1], dtype="float32", dialect="torch", backend=backend)
    graph = cw.trace(step, x, dialect="torch")
    assert (type(t), t.tolist()) == (cw.Tensor, [1, 2])
    assert [part.tolist() for part in graph(x)] == [[2, 4], 1, [1, 2], 2]
    assert [part.tolist() for part in graph(x)] == [[4, 6], 2, [2, 3], 2]
    assert t.tolist() == [3, 4]
    assert [state.name for state in graph.state] == ["t"]


def test_a_name_that_is_bound_anew_makes_no_state() -> None:
    t = cw.asarray([1, 2], dtype="int32", dialect="jax")

    def step(x: Any) -> Any:
        mine = t
        mine += x
        return mine

    graph = cw.trace(step, cw.asarray([0.5, 0.5], dtype="float32", dialect="jax"), dialect="jax")
    assert graph.state == ()
    assert graph(cw.asarray([0.5, 1.5], dtype="float32", dialect="jax")).tolist() == [1.5, 3.5]
    assert t.tolist() == [1, 2]


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writing_a_number_alone_writes_nothing_while_tracing(write: Any) -> None:
    t = tensor()
    graph = cw.trace(lambda: write(t, tensor([1, 1])), dialect="torch")
    assert t.tolist() == [1, 2]
    graph()
    graph()
    assert t.tolist() == [3, 4]


def test_what_is_only_read_is_a_constant_as_it_was() -> None:
    array = np.asarray([1, 2], "float32")
    t = cw.asarray(array, dialect="torch")
    graph = cw.trace(lambda x: x + t, "float32[2]", dialect="torch")
    array += 1
    assert graph(ONES).tolist() == [2, 3]
    assert graph.state == ()


def test_what_the_function_makes_itself_is_its_own() -> None:
    def fn(x: Any) -> Any:
        total = cw.asarray([0, 0], dtype="float32")
        total[0] = 7
        known = total * 2
        total += x
        total[1] = x[0]
        own = cw.Variable([0, 0], dtype="float32")
        own.assign_add(total)
        copied = cw.Variable(x)
        copied.assign_sub(1)
        return known, total, own, copied

    graph = cw.trace(fn, "float32[2]", dialect="torch")
    assert graph.state == ()
    for _ in range(2):
        assert [t.tolist() for t in graph(ONES)] == [[14, 0], [8, 1], [8, 1], [0, 0]]


def test_views_see_what_a_run_writes_and_copies_do_not() -> None:
    v = variable()
    view = v[:1]

    def step(x: Any) -> Any:
        old, new = v.clone(), v[:]
        v.assign_add(x)
        return old, new

    old, new = cw.trace(step, "float32[2]", dialect="torch")(ONES)
    assert (view.tolist(), old.tolist(), new.tolist()) == ([2], [1, 2], [2, 3])
    v.assign_add(1)
    assert (old.tolist(), new.tolist()) == ([1, 2], [3, 4])


def test_variables_are_exchanged() -> None:
    a, b = variable(), variable([3, 4])

    def exchange() -> None:
        old = a.clone()
        a.assign(b)
        b.assign(old)

    assert cw.trace(exchange, dialect="torch")() is None
    assert (a.tolist(), b.tolist()) == ([3, 4], [1, 2])


def test_after_an_error_is_written_what_the_function_had_written() -> None:
    v = variable([1, 2], dtype="int32", dialect="numpy")

    def fn(x: Any) -> Any:
        v.assign_add(x)
        power = v**x
        v.assign_add(x)
        return power

    graph = cw.trace(fn, "int32[2]", dialect="numpy")
    with cw.count_casts() as counts, pytest.raises(cw.ScalarRangeError):
        graph(np.asarray([-1, -1], "int32"))
    assert (v.tolist(), counts.total.casts) == ([0, 1], 0)
    with pytest.raises(cw.PromotionError):
        cw.trace(lambda x: v.assign_add(x), "float32[2]", dialect="numpy")
    assert v.tolist() == [0, 1]


def test_another_dtype_is_refused_by_a_graph_and_traced_anew_by_compile() -> None:
    t = tensor(dtype="float16", dialect="mlx")

    def grown(x: Any) -> Any:
        return t.add_(x)

    compiled = cw.compile(grown, dialect="mlx")
    graph = cw.trace(grown, "float32[2]", dialect="mlx")
    for expected in ([2, 3], [3, 4]):
        assert compiled(ONES).tolist() == t.tolist() == expected
        assert t.dtype.name == "float32"
    with pytest.raises(cw.UsageError, match=r"t was traced as float16\[2\], but is float32\[2\]"):
        graph(ONES)
    assert t.tolist() == [3, 4]


def test_a_value_of_state_is_not_there_while_tracing() -> None:
    v, t = variable([1]), tensor([1])
    reads = (lambda: float(v[0]), v.tolist, lambda: bool(v[0] > 0), lambda: float((t.add_(1))[0]))
    for needs in reads:
        with pytest.raises(cw.UsageError, match="a graph is traced without values"):
            cw.trace(lambda f=needs: f(), dialect="torch")
    assert (v.tolist(), t.tolist(), type(t)) == ([1], [1], cw.Tensor)


class Layer:
    """Its state is found in attributes, lists and dicts."""

    def __init__(self) -> None:
        self.weights = variable()
        self.parts = [variable(), variable()]
        self.named = {"bias": variable()}

    def step(self, x: Any) -> Any:
        return x * self.weights + self.parts[1] + self.named["bias"]

    @cw.compile(dialect="torch")
    def compiled(self, weights: Any) -> Any:
        self.weights.assign_add(weights)


GLOBAL = variable()


def test_state_has_the_names_it_has_in_the_function() -> None:
    layer, v = Layer(), variable()
    graph = cw.trace(layer.step, "float32[2]", dialect="torch")
    assert [state.name for state in graph.state] == ["weights", "parts_1", "bias"]
    graph = cw.trace(lambda v_0: v_0 + v + GLOBAL, "float32[2]", dialect="torch")
    assert [state.name for state in graph.state] == ["v", "GLOBAL"]
    graph = cw.trace(lambda x, hidden=(v,): x + hidden[0], "float32[2]", dialect="torch")
    assert [state.name for state in graph.state] == ["state0"]
    layer.compiled(ONES)
    (compiled,) = Layer.compiled.graphs.values()
    assert [state.name for state in compiled.state] == ["weights_0"]
    assert layer.weights.tolist() == [2, 3]


def test_a_compiled_function_inside_of_a_traced_one() -> None:
    v, t = variable(), tensor()

    @cw.compile(dialect="torch")
    def inner(x: Any) -> Any:
        v.assign_add(x)
        t.add_(x)
        return v + t

    def outer(x: Any) -> Any:
        return inner(x) + inner(x)

    eager = outer(cw.asarray(ONES))
    assert (eager.tolist(), v.tolist(), t.tolist()) == ([10, 14], [3, 4], [3, 4])
    graph = cw.trace(outer, "float32[2]", dialect="torch")
    assert (v.tolist(), t.tolist()) == ([3, 4], [3, 4])
    assert [state.name for state in graph.state] == ["v", "t"]
    assert graph(ONES).tolist() == [18, 22]
    assert (v.tolist(), t.tolist(), type(t)) == ([5, 6], [5, 6], cw.Tensor)


def test_other_dialects_and_fewer_casts_keep_the_state() -> None:
    v = variable()

    def step(x: Any) -> Any:
        v.assign_add(x)
        return v.astype("float64").astype("float32")

    graph = cw.trace(step, "int8[2]", dialect="torch")
    shorter, kept = graph.simplify().graph, graph.preserve("numpy")
    assert ops(shorter) == ["cast", "add"]
    for number, other in enumerate((graph, shorter, kept), 1):
        assert other(np.ones(2, "int8")).tolist() == v.tolist() == [1 + number, 2 + number]
    changes = graph.redialect("tensorflow").changes
    assert [(change.op, change.outcome) for change in changes] == [("add", "refused")]


def test_pictures_show_the_state() -> None:
    v = variable()
    graph = cw.trace(lambda x: v.assign_add(x), "float32[2]", dialect="torch")
    for picture in (graph.to_svg(), graph.to_dot()):
        assert "state v" in picture
        assert "written to v" in picture


def test_state_is_inputs_and_outputs_of_an_onnx_model() -> None:
    pytest.importorskip("onnx", minversion="1.23")
    from onnx_judges import by_reference, by_runtime, runtime_session

    momentum, weights, scale = variable([0, 0]), variable(), variable([2, 2])

    def step(gradient: Any) -> Any:
        momentum.assign(momentum * 0.5 + gradient)
        weights.assign_sub(momentum * scale)
        return cw.apply("sum", weights)

    graph = cw.trace(step, "float32[2]", dialect="torch")
    model = graph.to_onnx()
    assert [v.name for v in model.graph.input] == ["gradient", "momentum", "scale", "weights"]
    assert [v.name for v in model.graph.output] == ["out0", "momentum_out", "weights_out"]
    judges = [by_reference]
    if importlib.util.find_spec("onnxruntime"):
        judges.append(lambda m, arrays: by_runtime(runtime_session(m), arrays))
    arrays = [t.numpy().copy() for t in (tensor([1, 3]), momentum, scale, weights)]
    expected = [graph(arrays[0]), momentum, weights]
    for judge in judges:
        for found, wanted in zip(judge(model, arrays), expected, strict=True):
            np.testing.assert_array_equal(found, wanted.numpy())


def test_an_argument_is_one_input_of_the_model() -> None:
    pytest.importorskip("onnx", minversion="1.23")
    model = cw.trace(lambda v, x: v.assign(x), variable(), ONES, dialect="torch").to_onnx()
    assert [v.name for v in model.graph.input] == ["v", "x"]
    assert [v.name for v in model.graph.output] == ["out0", "v_out"]


def test_other_threads_and_tasks_see_the_value_while_it_is_traced() -> None:
    v, t = variable(), tensor()
    seen: list[Any] = []

    def look() -> None:
        seen.append((v.tolist(), t.tolist(), (v + t).tolist()))
        v.assign_add(10)
        t.add_(10)

    def fn(x: Any) -> Any:
        v.assign_add(x)
        t.add_(x)
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return v + t

    graph = cw.trace(fn, "float32[2]", dialect="torch")
    # Twice, because the function writes to a tensor that is not a variable.
    assert seen == [([1, 2], [1, 2], [2, 4]), ([11, 12], [11, 12], [22, 24])]
    assert (v.tolist(), t.tolist(), type(t)) == ([21, 22], [21, 22], cw.Tensor)
    assert ops(graph) == ["add", "add", "add"]


def test_traces_of_two_tasks_keep_apart() -> None:
    t = tensor()

    async def traced(turns: int) -> Any:
        def fn(x: Any) -> Any:
            for _ in range(turns):
                t.add_(x)
            return t

        return cw.trace(fn, "float32[2]", dialect="torch")

    async def both() -> Any:
        return await asyncio.gather(traced(1), traced(3))

    one, three = asyncio.run(both())
    one(ONES)
    three(ONES)
    assert (t.tolist(), type(t)) == ([5, 6], cw.Tensor)


def test_state_on_another_backend_is_refused() -> None:
    torch = pytest.importorskip("torch")
    v = variable()
    graph = cw.trace(lambda x: v.assign_add(x), "float32[2]", dialect="torch")
    with pytest.raises(cw.UsageError, match="backends torch and numpy do not mix"):
        graph(torch.ones(2))
