"""Tracing: the program as a graph with each cast written down."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import castwise as cw
import castwise.array_api as xp
from castwise.graph.program import CAST


def test_dynamic_equals_static_as_in_seed_000() -> None:
    """Paddle's own example: c = a + b, d = b + a, add(a, b), and the static graph agree."""
    with cw.use("paddle:documented"):
        a = cw.asarray(np.random.default_rng(0).random((3, 3)), dtype="float16")
        b = cw.asarray(np.random.default_rng(1).random((3, 3)), dtype="float32")
        c, d, e = a + b, b + a, cw.apply("add", a, b)
    graph = cw.trace(lambda a, b: cw.apply("add", a, b), a, b, dialect="paddle:documented")
    f = graph(a, b)
    for other in (d, e, f):
        assert other.dtype.name == c.dtype.name == "float32"
        assert bool(cw.apply("allclose", c, other))
    assert [(cast.inputs[0].name, cast.dtype.name) for cast in graph.casts] == [("a", "float32")]


def mixed(x: Any, y: Any) -> Any:
    total = x + y
    return total.astype("float16") * 2, total > 0


def test_every_line_is_typed_and_tells_where_it_came_from() -> None:
    first = inspect.getsourcelines(mixed)[1]
    graph = cw.trace(mixed, "int32[n]", "float32[n,1]", dialect="torch")
    assert graph.text(shows_origins=False).splitlines() == [
        "mixed(x: int32[n], y: float32[n,1]) under torch",
        "  %0 = cast x to float32     float32[n]    loses-precision",
        "  %1 = add(%0, y)            float32[n,n]",
        "  %2 = astype %1 to float16  float16[n,n]",
        "  %3 = cast %2 to float32    float32[n,n]",
        "  %4 = mul(%3, float32(2))   float32[n,n]",
        "  %5 = cast %4 to float16    float16[n,n]",
        "  %6 = gt(%1, float32(0))    bool[n,n]",
        "  return %5, %6",
    ]
    lines = [int(line.rpartition(":")[2]) - first for line in str(graph).splitlines()[1:-1]]
    assert lines == [1, 1, 2, 2, 2, 2, 2]


def test_implicit_casts_are_told_from_those_asked_for() -> None:
    graph = cw.trace(mixed, "int32[n]", "float32[n,1]", dialect="torch")
    assert [cast.is_implicit for cast in graph.casts] == [True, False, True, True]
    implicit = graph.casts[0].cast
    assert implicit is not None
    assert implicit.hazards == ("loses-precision",)


def test_a_result_is_cast_where_the_dialect_says_so() -> None:
    graph = cw.trace(lambda x, y: cw.apply("huber_loss", x, y), "float16[3]", "float32[3]",
                     dialect="torch")  # fmt: skip
    assert [(c.inputs[0].dtype.name, c.dtype.name) for c in graph.casts] == [
        ("float16", "float32"), ("float32", "float16")]  # fmt: skip


def test_in_place_is_a_new_value() -> None:
    def halved(x: Any) -> Any:
        x /= 2
        return x

    graph = cw.trace(halved, "float16[4]", dialect="torch")
    assert graph(np.asarray([1, 2, 3, 4], "float16")).tolist() == [0.5, 1, 1.5, 2]


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda x: x if x > 0 else -x, "x if x > 0"),
        (lambda x: float(x), "float(x)"),
        (lambda x: x.numpy(), "x.numpy()"),
        (lambda x: [1, 2, 3][x.astype("int32")], "[1, 2, 3]"),
    ],
)
def test_a_value_is_refused_with_the_line_that_needs_it(fn: Any, words: str) -> None:
    with pytest.raises(cw.UsageError, match=r"test_trace\.py:\d+.*traced without values") as caught:
        cw.trace(fn, "float32[]", dialect="torch")
    assert words in str(caught.value)


def test_a_refusal_is_that_of_the_dialect() -> None:
    with pytest.raises(cw.PromotionError, match="not defined in paddle:documented"):
        cw.trace(lambda x, y: x + y, "int64[3]", "float32[3]", dialect="paddle:documented")


@pytest.mark.parametrize(
    ("specs", "words"),
    [(("float32",), "give the shape"), (("float32[2]", "float32[3]"), "do not broadcast")],
)
def test_specs_that_make_no_sense_are_refused(specs: tuple[str, ...], words: str) -> None:
    with pytest.raises(cw.UsageError, match=words):
        cw.trace(lambda *xs: sum(xs), *specs)


def test_symbolic_sizes_go_through_layouts() -> None:
    def laid_out(x: Any) -> Any:
        flat = xp.reshape(x, (-1,))
        turned = xp.permute_dims(xp.expand_dims(x, axis=0), (2, 0, 1))
        return flat, turned, xp.concat([x, x]), xp.stack([x, x], axis=-1), x[..., 0], xp.flip(x)

    graph = cw.trace(laid_out, "int8[n,3]")
    sizes = ["[3*n]", "[3,1,n]", "[2*n,3]", "[n,3,2]", "[n]", "[n,3]"]
    assert [node.type for node in graph.outputs] == [f"int8{size}" for size in sizes]
    x = np.arange(12, dtype="int8").reshape(4, 3)
    for got, expected in zip(graph(x), laid_out(cw.asarray(x)), strict=True):
        np.testing.assert_array_equal(got.numpy(), expected.numpy())


def test_outputs_keep_their_structure() -> None:
    graph = cw.trace(lambda x: {"a": (x + 1, [x]), "b": 2.0}, "int8[2]")
    got = graph(np.asarray([1, 2], "int8"))
    assert got["a"][0].tolist() == [2, 3]
    assert got["a"][1][0].tolist() == [1, 2]
    assert got["b"].item() == 2.0


def test_a_graph_runs_on_every_backend() -> None:
    graph = cw.trace(mixed, "int32[n]", "float32[n,1]", dialect="torch")
    x, y = np.asarray([1, 2], "int32"), np.asarray([[0.5], [1.5]], "float32")
    expected = [t.tolist() for t in graph(x, y)]
    for name in ("torch", "jax", "dask"):
        if _is_installed(name):
            outputs = graph(x, y, backend=name)
            assert [t.tolist() for t in outputs] == expected
            assert {t.backend for t in outputs} == {name}


def _is_installed(name: str) -> bool:
    try:
        cw.asarray([1], dtype="int32", backend=name)
    except cw.UsageError:
        return False
    return True


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (([1.0],), "takes 2 arrays, not 1"),
        ((np.zeros(2, "int8"), np.zeros((2, 1), "float32")), r"x was traced as int32\[n\]"),
        ((np.zeros(2, "int32"), np.zeros((3, 1), "float32")), r"y was traced as float32\[n,1\]"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays: Any, words: str) -> None:
    graph = cw.trace(mixed, "int32[n]", "float32[n,1]", dialect="torch")
    with pytest.raises(cw.UsageError, match=words):
        graph(*arrays)


def test_what_has_no_node_is_refused_by_name() -> None:
    with pytest.raises(
        cw.UsageError, match=r"test_trace\.py:\d+.*: a graph cannot contain from_dlpack"
    ):
        cw.trace(lambda x: x._kind.backend.namespace.from_dlpack(x._array), "int8[3]")


def test_nothing_of_the_graph_is_left_over() -> None:
    graph = cw.trace(lambda x: x + x.astype("float64") * 0, "float32[3]")
    assert all(node.op != CAST or node.inputs for node in graph.nodes)
    assert len(set(graph.nodes)) == len(graph.nodes)


def test_tensors_from_outside_are_constants() -> None:
    weights = cw.asarray([0.5, 1.5], dtype="float16")
    graph = cw.trace(lambda x: x * weights + 1, "float32[2]", dialect="torch")
    assert [node.op for node in graph.nodes] == [
        "input",
        "constant",
        "cast",
        "mul",
        "constant",
        "add",
    ]
    assert graph(np.asarray([2, 4], "float32")).tolist() == [2, 7]


def test_specs_and_arrays_are_given_by_name_too() -> None:
    def scaled(x: Any, *, by: Any, offset: Any = 1) -> Any:
        return x * by + offset

    graph = cw.trace(scaled, "int8[n]", by="float32[n]", offset=2, dialect="torch")
    assert [node.name for node in graph.inputs] == ["x", "by"]
    x, by = np.asarray([1, 2], "int8"), np.asarray([0.5, 3], "float32")
    assert graph(x, by=by).tolist() == graph(by=by, x=x).tolist() == [2.5, 8]
    with pytest.raises(cw.UsageError, match="does not take y by name here; missing: by"):
        graph(x, y=by)
    with pytest.raises(cw.UsageError, match="takes 2 arrays, not 1"):
        graph(x)


def test_a_repr_is_short_however_deep_the_graph_is() -> None:
    def doubled(x: Any) -> Any:
        for _ in range(60):
            x = x + x
        return x

    graph = cw.trace(doubled, "float32[n]", dialect="torch")
    told = "Graph(doubled(x: float32[n]) -> float32[n] under torch, 61 nodes, 0 casts)"
    assert repr(graph) == told
    assert repr(graph.outputs[0]) == "<Node add float32[n]>"
    assert repr(graph.simplify()).startswith("Simplification(doubled: 0 casts -> 0")
    assert repr(graph.redialect("numpy")).endswith("nothing changes)")


@pytest.mark.parametrize("fn", [lambda x: x + 1, lambda x: x[::-1], lambda x: x.astype("int32")])
def test_a_result_is_weak_where_it_is_eagerly(fn: Any) -> None:
    jnp = pytest.importorskip("jax.numpy")
    x = cw.asarray(jnp.asarray(3) + jnp.asarray([0, 0]), dialect="jax").astype("int32")
    weak = cw.asarray(jnp.full((2,), 3), dialect="jax")
    graph = cw.trace(fn, "int32*[2]", dialect="jax")
    assert graph.inputs[0].type == "int32*[2]"
    is_weak = graph.outputs[0].is_weak
    assert is_weak is (fn(x).weak_type or "astype" not in fn.__code__.co_names)
    assert graph(weak).weak_type is graph.simplify().graph(weak).weak_type is is_weak


def test_symbolic_sizes_are_added_and_multiplied() -> None:
    def doubled(x: Any) -> Any:
        return xp.reshape(xp.concat([x, x]), (x.shape[0] * 2 * x.shape[1],)), xp.reshape(
            x, (x.size,)
        )

    graph = cw.trace(doubled, "int8[n,3]")
    assert [node.type for node in graph.outputs] == ["int8[6*n]", "int8[3*n]"]
    assert graph(np.zeros((2, 3), "int8"))[0].shape == (12,)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: len(x),
        lambda x: [row for row in x],
        lambda x: x / x.shape[0],
        lambda x: xp.zeros(x.shape[0] - 1),
        lambda x: x if x.shape[0] > 3 else -x,
        lambda x: range(x.size),
    ],
)
def test_the_number_of_a_symbolic_size_is_refused_with_its_line(fn: Any) -> None:
    with pytest.raises(cw.UsageError, match=r"test_trace\.py:\d+.* needs the size n"):
        cw.trace(fn, "float32[n]")


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda x: np.from_dlpack(x), "needs the value"),
        (lambda x: np.asarray(x), "needs the value"),
        (lambda x: xp.sum(x).item(), "needs the value"),
        (lambda x: cw.asarray(x, backend="numpy"), "needs the value"),
        (lambda x: x.to_device("cpu"), "runs on the device of its arrays"),
        (lambda x: x[1.5], "index a graph by integers"),
        (lambda x: x[True], "index a graph by integers"),
        (lambda x: xp.squeeze(x, 0), "of size 1"),
        (lambda x: xp.permute_dims(x, (0, 0)), "must name each"),
        (lambda x: xp.broadcast_to(x, (1,)), "does not broadcast to"),
        (lambda x: xp.unstack(x), "fix that size"),
    ],
)
def test_what_makes_no_sense_in_a_graph_says_so(fn: Any, words: str) -> None:
    with pytest.raises(cw.UsageError, match=words):
        cw.trace(fn, "float32[n]")


def test_asarray_of_a_traced_tensor_is_itself() -> None:
    graph = cw.trace(lambda x: xp.asarray(cw.asarray(x)) + 1, "float32[n]")
    assert [node.op for node in graph.nodes] == ["input", "constant", "add"]


def test_a_value_that_left_the_traced_function_is_not_assigned() -> None:
    left: list[Any] = []
    cw.trace(lambda x: left.append(x), "float32[3]")
    with pytest.raises(cw.UsageError, match="cannot be assigned outside of the traced function"):
        xp.zeros(3)[0] = left[0][0]
