"""Models for a runtime: every op in every dtype that can be written loads, and agrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx_judges import arrays_for, by_runtime, cast, difference, outside_of, own_result, samples
from random_programs import DIALECTS, INPUTS, PROGRAMS, Step, assert_same, made, run
from test_onnx_export import LAID_OUT, ORDERED, ROWS, with_writes
from test_onnx_programs import exact, is_inexact

import castwise as cw
import castwise.array_api as xp
from castwise.graph.onnx.export import program_to_onnx
from castwise.graph.onnx.runtimes import ONNX_NAMES, runtime_named, runtime_session
from castwise.rules.values import architecture
from castwise.vocab.dtypes import DType, dtype
from onnx_support import (
    cells,
    computing_ops,
    needed_options,
    one_op_program,
    support,
)

pytest.importorskip("onnx", minversion="1.23")
onnxruntime = pytest.importorskip("onnxruntime")
asking = pytest.importorskip("onnx_runtimes")
ORT = runtime_named("onnxruntime")
ASKED = {op for ops in asking.ASKED_OPS.values() for op in ops.split()} | {"Cast", "Loop"}
pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.skipif(onnxruntime.__version__ != ORT.version, reason="asked another version"),
]
# What no other ops of the runtime can replace: the error says so.
NOT_TOLD = {("nextafter", name) for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
                                             "float8_e5m2fnuz")}  # fmt: skip


def told(name: str) -> list[DType]:
    """The dtypes in which ONNX has an op and the runtime arrays."""
    return [
        held
        for op, held in cells()
        if op == name and held.name not in ORT.has_no and support(op, held, ORT.opset).how != "none"
    ]


@pytest.mark.parametrize("name", computing_ops())
def test_every_op_loads_and_agrees(name: str) -> None:
    differing = {}
    for held in told(name):
        arrays, outside = arrays_for(name, held), outside_of(held)
        shapes = tuple([array.shape for array in arrays])
        program = one_op_program(name, held, shapes, needed_options(name), outside)
        if outside:
            arrays = [array if array.dtype == bool else cast(array, outside) for array in arrays]
        if (name, held.name) in NOT_TOLD:
            with pytest.raises(cw.UsageError, match="onnxruntime has no kernel for"):
                program_to_onnx(program, runtime="onnxruntime")
            continue
        model = program_to_onnx(program, runtime="onnxruntime")
        assert {node.op_type for node in model.graph.node} <= ASKED
        found = by_runtime(runtime_session(model), arrays)[0]
        apart = difference(name, held, own_result(program, arrays), found, arrays)
        if apart:
            differing[held.name] = apart
    assert not differing


SORTS = ("float32", "float64", "bool", "int4", "int8", "int16", "uint16", "uint32", "int64",
         "uint64", "float16", "bfloat16", "float8_e5m2")  # fmt: skip


@pytest.mark.parametrize("name", SORTS)
@pytest.mark.parametrize("layout", [*LAID_OUT, *ROWS, *ORDERED])
def test_layouts_load_and_agree(layout: str, name: str) -> None:
    if name == "bool" and layout in ORDERED:
        pytest.skip("truth values are not sorted")
    held, outside = dtype(name), outside_of(dtype(name))
    fn = (LAID_OUT | ROWS | ORDERED)[layout]
    cast_back = name if outside is None else outside.name

    def whole(x: Any) -> Any:
        found = fn(x.astype(name))
        several = found if isinstance(found, tuple) else (found,)
        return tuple([y.astype(cast_back) if y.dtype is held else y for y in several])

    array = cast(np.resize(samples(held)[3:7], (3, 3)), outside or held)
    size = 3 if layout in ORDERED else "n"
    graph = cw.trace(whole, f"{cast_back}[{size},3]", dialect=with_writes(layout))
    found = by_runtime(runtime_session(graph.to_onnx(runtime="onnxruntime")), [array])
    for got, wanted in zip(found, graph(array), strict=True):
        np.testing.assert_array_equal(got, wanted.numpy(), strict=True)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(DIALECTS), INPUTS, PROGRAMS.map(exact))
def test_random_programs_load_and_agree(dialect: str, inputs: list[Any], steps: list[Step]) -> None:
    arrays = [made(dialect, *one) for one in inputs]
    assume(all(is_given(array.dtype) for array in arrays))
    with np.errstate(all="ignore"), cw.use(dialect):
        graph = cw.trace(lambda *xs: tuple(run(steps, list(xs))), *arrays, dialect=dialect)
        assume(not any(map(is_inexact, graph.nodes)))
        assume(all(is_told(node.dtype) for node in graph.nodes))
        ends = cw.trace(
            lambda *xs: tuple(map(shown, run(steps, list(xs)))), *arrays, dialect=dialect
        )
        try:
            model = ends.to_onnx(runtime="onnxruntime")
        except cw.UsageError as error:
            assume("the graph has no cast for them" not in str(error))
            raise
        session = runtime_session(model)
        found = by_runtime(session, [array.numpy() for array in arrays])
        for got, wanted in zip(found, ends(*arrays), strict=True):
            assert_same(cw.asarray(np.asarray(got)), wanted)


def is_told(held: DType) -> bool:
    return held.name in ONNX_NAMES and held.name not in ORT.has_no


def is_given(held: DType) -> bool:
    """Whether arrays of a dtype can be handed to the runtime from NumPy."""
    return is_told(held) and outside_of(held) is None


def shown(x: Any) -> Any:
    outside = outside_of(x.dtype)
    return x if outside is None else x.astype(outside)


def test_what_a_runtime_has_no_arrays_of_is_named() -> None:
    graph = cw.trace(lambda x, y: (x * x, y), "complex64[n]", "float4_e2m1fn[n]", dialect="jax")
    with pytest.raises(cw.UsageError) as caught:
        graph.to_onnx(runtime="onnxruntime")
    assert "onnxruntime has no complex64" in str(caught.value)
    assert "onnxruntime has no float4_e2m1fn" in str(caught.value)


def test_a_matrix_has_no_determinant_in_float64_there() -> None:
    graph = cw.trace(lambda x: xp.linalg.det(x), "float64[2,2]")
    with pytest.raises(cw.UsageError, match="onnxruntime has no kernel for Det in float64"):
        graph.to_onnx(runtime="onnxruntime")


def test_names_and_opsets() -> None:
    graph = cw.trace(lambda x: x + 1, "float32[n]")
    with pytest.raises(cw.UsageError, match=r"'onnxruntim'\. Did you mean 'onnxruntime'"):
        graph.to_onnx(runtime="onnxruntim")
    with pytest.raises(cw.UsageError, match=f"opset must be 18 to {ORT.opset} with onnxruntime"):
        graph.to_onnx(runtime="onnxruntime", opset=ORT.opset + 1)
    (model,) = {entry.version for entry in graph.to_onnx(runtime="onnxruntime").opset_import}
    assert model == ORT.opset


def test_the_data_is_what_the_runtime_says() -> None:
    """On another processor than it was asked on, it may have more kernels, and no fewer."""
    asked = {pair: asking.asked(*pair) for pair in asking.pairs()}
    failing = {(op, held.name) for (op, held), how in asked.items() if how}
    listed = {
        (op, name) for table in (ORT.lacks, ORT.differs) for op in table for name in table[op]
    }
    unlisted = {pair for pair in failing - listed if pair[1] not in ORT.has_no}
    assert not unlisted
    if architecture() == "aarch64":
        assert listed <= failing
        assert set(asking.differing_casts()) == ORT.casts


@pytest.mark.parametrize("name", ["int64", "uint64", "uint32"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_large_integers_are_ordered_by_all_of_their_bits(name: str, axis: Any) -> None:
    # On x86-64 the runtime compares the lower halves of int64 as if they had signs.
    numbers = np.asarray([0, 1, 2**31, 2**31 - 1, 2**32 - 1, 2**32, 2**33 - 1, 2**62, -1, -(2**31)])
    array = np.random.default_rng(0).choice(numbers, (6, 7)).astype(name)

    def run(x: Any) -> Any:
        return (xp.max(x, axis=axis), xp.min(x, axis=axis, keepdims=True), xp.maximum(x, x[::-1]),
                xp.minimum(x, x[::-1]), xp.sign(x))  # fmt: skip

    graph = cw.trace(run, f"{name}[6,7]", dialect="jax:x64")
    found = by_runtime(runtime_session(graph.to_onnx(runtime="onnxruntime")), [array])
    wanted = (array.max(axis), array.min(axis, keepdims=True), np.maximum(array, array[::-1]),
              np.minimum(array, array[::-1]), np.sign(array))  # fmt: skip
    for got, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(got, expected)
