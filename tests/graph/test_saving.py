"""Graphs saved and loaded: nothing is lost on the way, and no file is trusted."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import DIALECTS, INPUTS, PROGRAMS, Step, assert_same, made, run

import castwise as cw
import castwise.array_api as xp
import cells
from castwise.arrays.backends import backend_named
from castwise.graph.onnx.indexing import LAYOUTS as IN_ONNX
from castwise.graph.recording import LAYOUT_OPS
from castwise.graph.saving import VERSION

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
OWN = """
name = "mine"
base = "torch"
[ops.add]
scalars = "as arrays"
[values.dividing]
quotient_by_zero = "raises"
[vary]
cap_float = 32
"""
Pair = namedtuple("Pair", "low high")


def again(graph: Any, path: Path) -> Any:
    """The graph, saved and loaded; saved once more it gives the same file."""
    graph.save(path / "one.json")
    loaded = cw.load_graph(path / "one.json")
    loaded.save(path / "two.json")
    assert (path / "two.json").read_bytes() == (path / "one.json").read_bytes()
    assert str(loaded) == str(graph)
    assert repr(loaded) == repr(graph)
    assert loaded.calls == graph.calls or loaded.dialect is not graph.dialect
    return loaded


def parts(x: Any, y: Any) -> Any:
    half = x.shape[0] // 2
    table = xp.asarray([[1.5, -0.0], [float("nan"), float("inf")]], dtype="float16")
    if hasattr(x, "at"):  # arrays never change in its dialect
        x = x.at[:half].set(0)
    else:
        x[:half] = 0
    return {
        "sum": [x + y[0], Pair(x > 0, None)],
        2: (x[..., None], xp.flip(x)[half:], xp.roll(x, (1,), axis=(0,))),
        "table": table * y[0],
        "ends": xp.sort(x[xp.asarray([0, -1])], descending=True),
        "parts": xp.linalg.svd(xp.reshape(y, (2, 2)).astype("float64"), full_matrices=False),
        "places": xp.searchsorted(y, x, sorter=xp.argsort(y)),
        "made": xp.arange(half, dtype="uint8"),
    }


def leaves(returned: Any) -> list[Any]:
    if isinstance(returned, dict):
        return [leaf for part in returned.values() for leaf in leaves(part)]
    if isinstance(returned, (list, tuple)):
        return [leaf for part in returned for leaf in leaves(part)]
    return [] if returned is None else [returned]


@pytest.mark.parametrize("dialect", ["torch", "numpy@1", "jax:x64", "torch:default_float=float64"])
@pytest.mark.parametrize("is_simplified", [False, True])
def test_a_loaded_graph_is_the_graph(tmp_path: Path, dialect: str, is_simplified: bool) -> None:
    arrays = np.arange(5, dtype="int32"), np.arange(4, dtype="float32")
    graph = cw.trace(parts, "int32[n]", "float32[4]", dialect=dialect)
    graph = graph.simplify().graph if is_simplified else graph
    loaded = again(graph, tmp_path)
    assert loaded.dialect is graph.dialect
    assert str(loaded.simplify()) == str(graph.simplify())
    assert str(loaded.redialect("paddle")) == str(graph.redialect("paddle"))
    assert loaded.to_dot() == graph.to_dot()
    wanted, got = graph(*arrays), loaded(*arrays)
    assert list(got) == list(wanted)
    assert type(got["sum"][1]).__name__ == "Pair"
    assert got["sum"][1].low.tolist() == wanted["sum"][1].low.tolist()
    for one, other in zip(leaves(got), leaves(wanted), strict=True):
        assert_same(one, other)


@settings(
    max_examples=60 if cells.takes_all else 20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.sampled_from(DIALECTS), INPUTS, PROGRAMS)
def test_random_programs(
    tmp_path: Path, dialect: str, inputs: list[Any], steps: list[Step]
) -> None:
    arrays = [made(dialect, *one) for one in inputs]
    with np.errstate(all="ignore"), cw.use(dialect):
        graph = cw.trace(lambda *xs: tuple(run(steps, list(xs))), *arrays, dialect=dialect)
        for version in (graph, graph.simplify().graph):
            loaded = again(version, tmp_path)
            assert str(loaded.redialect("torch")) == str(version.redialect("torch"))
            for got, wanted in zip(loaded(*arrays), version(*arrays), strict=True):
                assert_same(got, wanted)
                assert got.weak_type is wanted.weak_type


@pytest.mark.parametrize("held", sorted(backend_named("numpy").dtypes, key=str), ids=str)
def test_constants_of_every_dtype_keep_their_bits(tmp_path: Path, held: Any) -> None:
    native = np.dtype(getattr(ml_dtypes, held.name, None) or held.name)
    codes = (
        np.arange(256, dtype="uint8") if native.itemsize == 1 else np.arange(0, 65536, 7, "uint16")
    )
    if held.kind == "bool":
        codes = codes[:2]
    if "int" in held.name and held.bits < 8:
        table = np.arange(held.min, held.max + 1).astype(native)
    elif native.itemsize > 2:
        table = np.resize(codes, native.itemsize * 8).view(native)
    else:
        table = codes[: 2**held.bits].view(native)
    graph = cw.trace(lambda: cw.asarray(table))
    (node,) = again(graph, tmp_path).nodes
    assert node.value.dtype == native
    assert node.value.tobytes() == table.tobytes()


def test_a_byte_order_is_no_matter(tmp_path: Path) -> None:
    table = np.asarray([1.5, -2.25], ">f8")
    assert again(cw.trace(lambda: cw.asarray(table)), tmp_path)().tolist() == [1.5, -2.25]


def test_a_custom_dialect_is_saved_too(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(OWN, "utf-8")
    own = cw.load_dialect(tmp_path / "mine.toml")
    graph = cw.trace(lambda x: (x + 1.0, x / 2), "float16[n]", dialect=own)
    (tmp_path / "mine.toml").unlink()
    loaded = again(graph, tmp_path)
    assert loaded.dialect.name == own.name == "mine:cap_float=32"
    for name in ("float16", "int8"):
        again_decided = cw.resolve("add", f"{name}[3]", 1.0, dialect=loaded.dialect)
        assert again_decided.result is cw.resolve("add", f"{name}[3]", 1.0, dialect=own).result
    assert loaded.dialect.values == own.values
    assert str(loaded.redialect("torch")) == str(graph.redialect("torch"))


@pytest.mark.parametrize("name", cw.dialects())
def test_every_dialect_can_be_told_whole(name: str) -> None:
    from castwise.catalog import defined_dialect, dialect_definition

    dialect = cw.dialect(name)
    assert dialect_definition(dialect) == name
    newest = replace(dialect.naming, is_newest=True)
    renamed = dialect.vary(framework="mine", version="", mode="", naming=newest)
    said = dialect_definition(renamed)
    assert isinstance(said, dict)
    there = defined_dialect(json.loads(json.dumps(said)))
    assert dialect_definition(there) == said
    assert there.ops == dialect.ops


def test_state_is_that_of_new_variables(tmp_path: Path) -> None:
    total = cw.Variable([1.0, 2.0], dtype="float32", dialect="tensorflow:all")
    seen = cw.asarray([0, 0], dtype="int8")

    def add(x: Any, v: Any) -> Any:
        total.assign_add(x)
        v.assign(total)
        seen.add_(1)
        return total * 2

    given = cw.Variable([0.0, 0.0], dtype="float32")
    graph = cw.trace(add, "int8[2]", given, dialect="tensorflow:all")
    ones = np.ones(2, "int8")
    graph(ones, cw.Variable([0.0, 0.0], dtype="float32"))
    for version in (graph, graph.simplify().graph):
        loaded = again(version, tmp_path)
        assert [s.name for s in loaded.state] == [s.name for s in graph.state]
        given = cw.Variable([0.0, 0.0], dtype="float32")
        assert loaded(ones, given).tolist() == [6.0, 8.0]
        assert given.tolist() == [3.0, 4.0]
        own, other = (s.tensor for s in loaded.state if s.tensor is not None)
        assert isinstance(own, cw.Variable)
        assert (
            repr(own) == "Variable([3., 4.], dtype=float32, dialect=tensorflow:all, backend=numpy)"
        )
        assert type(other) is cw.Tensor
        assert other.tolist() == [2, 2]
    assert total.tolist() == [2.0, 3.0]


def test_custom_ops_are_declared_before_loading(tmp_path: Path) -> None:
    from castwise.vocab.ops import _declared

    def declare(**switches: Any) -> None:
        cw.declare_op("halved_sum", compute=lambda x, y: (x + y) / 2, **switches)

    declare(computes="float")
    try:
        graph = cw.trace(lambda x, y: cw.apply("halved_sum", x, y), "float32[n]", "float16[n]")
        arrays = np.ones(3, "float32"), np.zeros(3, "float16")
        assert again(graph, tmp_path)(*arrays).tolist() == graph(*arrays).tolist()
        declare(computes="float", result="bool")
        with pytest.raises(cw.UsageError, match="declared differently: result='same'"):
            cw.load_graph(tmp_path / "one.json")
    finally:
        del _declared["halved_sum"]
    with pytest.raises(cw.UsageError, match=r"'halved_sum', a custom op.*declare_op"):
        cw.load_graph(tmp_path / "one.json")


def test_the_model_of_a_loaded_graph_is_the_same(tmp_path: Path) -> None:
    pytest.importorskip("onnx", minversion="1.23")
    graph = cw.trace(lambda x, y: (x[: x.shape[0] // 2] * 2, x + y), "float16[n]", "int8[]")
    loaded = again(graph, tmp_path)
    assert loaded.to_onnx() == graph.to_onnx()


def test_what_cannot_be_saved_says_so(tmp_path: Path) -> None:
    class Rows(list[Any]):
        pass

    graph = cw.trace(lambda x: Rows([x]), "int8[3]")
    with pytest.raises(cw.UsageError, match="a Rows cannot be saved"):
        graph.save(tmp_path / "one.json")
    assert not (tmp_path / "one.json").exists()


def test_every_layout_is_known_and_written_in_onnx() -> None:
    assert set(LAYOUT_OPS) == {*IN_ONNX, "arange"}


# What is wrong in a file, by the way to it.


def sound(tmp_path: Path) -> dict[str, Any]:
    state = cw.Variable([1.0], dtype="float32")

    def fn(x: Any) -> Any:
        return x[: x.shape[0] // 2] + 1, [state * 2.5, None]

    graph = cw.trace(fn, "int8[n]", dialect="torch")
    graph.simplify().graph.save(tmp_path / "sound.json")
    file: dict[str, Any] = json.loads((tmp_path / "sound.json").read_text("utf-8"))
    return file


@pytest.mark.parametrize(
    ("way", "value", "words"),
    [
        ("format", "another", "is not a saved graph: g.save"),
        ("version", VERSION + 1, "install a newer one"),
        ("version", "1", "version must be of type int"),
        ("nodes", None, "nodes must be of type list"),
        ("extra", 1, "no field 'extra'"),
        ("dialects 0", "troch", "dialect 0: unknown dialect 'troch'. Did you mean 'torch'"),
        ("dialects 0", {"name": "mine"}, "dialect 0: it has no"),
        ("decisions 0 op", "ad", "decision 0: this castwise has no op 'ad'"),
        ("decisions 0 form", "loud", "unknown form 'loud'"),
        ("decisions 0 result", "flaot16", "unknown dtype 'flaot16'. Did you mean 'float16'"),
        ("decisions 0 dialect", 7, "'7' is not the position of an"),
        ("decisions 0 operands 0 0", "loud", "decision 0 is malformed"),
        ("decisions 0 operands 0", [1], "decision 0 is malformed"),
        ("tensors 0 backend", "nympy", "tensor 0: unknown backend 'nympy'"),
        ("tensors 0 values array base64", "AAAA", "bytes do not fill an array of shape"),
        ("tensors 0 values array base64", "é", "tensor 0 is malformed"),
        ("nodes 0 dtype", 5, "node 0: dtype must be of type str"),
        ("nodes 0 op", "load", "no function 'load'"),
        ("nodes 1 inputs", [1], "node 1: '1' is not the position of an earlier entry"),
        ("nodes 1 inputs", [True], "is not the position of an"),
        ("nodes 0 shape", ["n n"], "cannot read 'n n' as a size"),
        ("nodes 0 shape", [-1], "is not a size"),
        ("nodes 0 shape", ["n+n"], "is not a size"),
        ("nodes 1 options", {"key": {"lambda": 1}}, "unknown tag 'lambda'"),
        ("nodes 1 options", {"key": {"input": 9}}, "an option names an input"),
        ("graph inputs", [2], "graph: a getitem is not an input"),
        ("graph outputs", [0], "structure must name each"),
        ("graph structure", {"tuple": [1, 2], "size": 3}, "a value must have one tag, not 2"),
        ("graph traced", 3, "traced must be of type dict"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_place(
    tmp_path: Path, way: str, value: Any, words: str
) -> None:
    file = sound(tmp_path)
    *before, last = [int(word) if word.isdigit() else word for word in way.split()]
    part: Any = file
    for word in before:
        part = part[word]
    part[last] = value
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(file), "utf-8")
    with pytest.raises(cw.UsageError) as caught:
        cw.load_graph(path)
    assert str(caught.value).startswith(str(path))
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"format": NaN}', "\x00", "[" * 100_000])
def test_what_is_no_file_of_a_graph(tmp_path: Path, text: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(text, "utf-8")
    with pytest.raises(cw.UsageError, match="is not a saved graph"):
        cw.load_graph(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(cw.UsageError, match="No such file"):
        cw.load_graph(tmp_path / "nothing.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    with pytest.raises(cw.UsageError, match="is not a saved graph"):
        cw.load_graph(tmp_path / "bytes.json")


THINGS = (
    None,
    True,
    -1,
    0,
    1,
    10**30,
    0.5,
    "",
    "n",
    "float32",
    [],
    [[]],
    {},
    {"tuple": []},
    {"a": 1},
)


@pytest.mark.parametrize("seed", range(8))
def test_a_changed_file_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    """Replacing or removing any part gives a graph or a UsageError, nothing else."""
    file, rng = sound(tmp_path), random.Random(seed)
    for _ in range(60):
        changed = copy.deepcopy(file)
        holder, key = rng.choice(list(spots(changed)))
        if rng.random() < 0.3:
            del holder[key]
        else:
            holder[key] = rng.choice(THINGS)
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(changed), "utf-8")
        with contextlib.suppress(cw.UsageError):
            assert cw.load_graph(path).text()


def spots(part: Any) -> Any:
    """Every place in a file."""
    for key in list(part) if isinstance(part, dict) else range(len(part)):
        yield part, key
        if isinstance(part[key], (dict, list)):
            yield from spots(part[key])
