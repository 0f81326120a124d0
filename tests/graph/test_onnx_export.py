"""Graphs as ONNX models: names, sizes, layouts, options, constants, errors."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx_judges import by_reference, by_runtime, runtime_session

import castwise as cw
from castwise import array_api as xp
from castwise.graph.onnx.indexing import LAYOUTS
from castwise.graph.onnx.runtimes import OLDEST, current_opset

onnx = pytest.importorskip("onnx", minversion="1.23")
EXAMPLE = Path(__file__).parents[2] / "examples" / "export_onnx.py"


def judged(graph: Any, *arrays: Any, opset: int | None = None) -> Any:
    """The model, after both judges agreed bit by bit with the graph itself."""
    model = graph.to_onnx(opset=opset)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    returned = graph(*arrays)
    wanted = [
        np.asarray(t.numpy()) for t in (returned if isinstance(returned, tuple) else [returned])
    ]
    judges = [by_reference(model, list(arrays))]
    is_native = all(array.dtype.kind in "biuf" and array.dtype.isbuiltin == 1 for array in arrays)
    session = runtime_session(model) if is_native else None
    judges += [by_runtime(session, list(arrays))] if session else []
    for found in judges:
        for one, other in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(one, np.asarray(other), strict=True)
    return model


def sizes_of(value: Any) -> list[int | str]:
    return [size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim]


def test_inputs_are_named_after_parameters_and_outputs_are_numbered() -> None:
    def fn(weights: Any, x: Any, unused: Any) -> Any:
        return {"a": x * 2, "b": [weights + x, x]}

    graph = cw.trace(fn, "float32[3]", "float32[n,3]", "int8[]")
    model = graph.to_onnx()
    assert [value.name for value in model.graph.input] == ["weights", "x", "unused"]
    assert [value.name for value in model.graph.output] == ["out0", "out1", "out2"]
    assert sizes_of(model.graph.input[1]) == ["n", 3]
    assert sizes_of(model.graph.output[1]) == ["n", 3]


def test_a_value_that_is_returned_twice_is_two_outputs() -> None:
    def fn(x: Any) -> Any:
        y = x + 1
        return y, y, x, y * 2

    judged(cw.trace(fn, "int32[n]"), np.arange(3, dtype=np.int32))


def test_a_parameter_with_the_name_of_an_output_is_refused() -> None:
    graph = cw.trace(lambda out0: out0 + 1, "int32[3]")
    with pytest.raises(cw.UsageError, match="parameter out0"):
        graph.to_onnx()


def test_the_model_is_written_to_a_file(tmp_path: Path) -> None:
    graph = cw.trace(lambda x: x + 1, "float32[n]")
    model = graph.to_onnx(tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == model


def test_only_standard_ops_and_every_node_says_where_it_came_from() -> None:
    graph = cw.trace(lambda x, y: x % y + xp.sum(x), "int32[n]", "float16[n]")
    model = graph.to_onnx()
    assert {node.domain for node in model.graph.node} == {""}
    assert [entry.domain for entry in model.opset_import] == [""]
    assert all("test_onnx_export.py:" in node.doc_string for node in model.graph.node)


def with_writes(program: str) -> str:
    """A dialect of many dtypes, whose arrays can be written to where the program does so."""
    return "numpy" if "written" in program else "jax:x64"


LAID_OUT: dict[str, Callable[[Any], Any]] = {
    "flat": lambda x: xp.reshape(x, (-1,)),
    "reshaped": lambda x: xp.reshape(x, (3, -1)),
    "permuted": lambda x: xp.permute_dims(x, (1, 0)),
    "transposed": lambda x: xp.matrix_transpose(x),
    "longer": lambda x: xp.expand_dims(x, axis=1),
    "squeezed": lambda x: xp.squeeze(xp.expand_dims(x, axis=0), axis=0),
    "broadcast": lambda x: xp.broadcast_to(x, (2, *x.shape)),
    "flipped": lambda x: xp.flip(x),
    "mirrored": lambda x: xp.flip(x, axis=1),
    "backward": lambda x: x[:, 2:0:-1],
    "backward to the start": lambda x: x[:, 1::-1],
    "rolled": lambda x: xp.roll(x, 2),
    "rolled by rows": lambda x: xp.roll(x, (-1, 4), axis=(0, 1)),
    "column": lambda x: x[..., 1],
    "wrapped": lambda x: x[None, ..., 1:, None],
    "nothing": lambda x: x[:, 1:1],
    "beside": lambda x: xp.concat([x, x], axis=1),
    "end to end": lambda x: xp.concat([x, x], axis=None),
    "stacked": lambda x: xp.stack([x, x], axis=-1),
    "tiled": lambda x: xp.tile(x, (2, 3)),
    "repeated": lambda x: xp.repeat(x, 2, axis=0),
    "shifted": lambda x: (xp.fft.fftshift(x, axes=1), xp.fft.ifftshift(x, axes=1)),
    "triangles": lambda x: (xp.tril(x), xp.triu(x, k=1)),
    "taken": lambda x: (xp.take(x, xp.asarray([2, 0, -1]), axis=1), x[:, xp.asarray([[1], [0]])]),
    "taken along": lambda x: xp.take_along_axis(x, xp.asarray([[2, 0]]), axis=1),
    "written": lambda x: written(x, np.index_exp[..., 1], x[..., 0]),
    "written by a number": lambda x: written(x, np.index_exp[:, ::-2], 1),
    "written at": lambda x: written(x, np.index_exp[:, np.asarray([2, 0])], x[:, :2]),
}


def written(x: Any, key: Any, value: Any) -> Any:
    x = xp.asarray(x, copy=True)  # an argument that is written to is an output of its own
    x[key] = value
    return x


ROWS: dict[str, Callable[[Any], Any]] = {
    "first": lambda x: x[0],
    "last, backward": lambda x: x[-1, ::-1],
    "one": lambda x: x[1, None, 2],
}


@pytest.mark.parametrize("layout", [*LAID_OUT, *ROWS])
@pytest.mark.parametrize(
    "name",
    ["float32", "bool", "int4", "float8_e5m2", "float8_e8m0fnu", "bfloat16", "complex64"],
)
def test_layouts_of_every_sort_of_dtype(layout: str, name: str) -> None:
    has_zero = name != "float8_e8m0fnu"  # of which it would be NaN
    array = np.arange(6) if has_zero else 2 ** np.arange(6)
    array = array.reshape(2, 3).astype(getattr(ml_dtypes, name, name))
    judged(cw.trace((LAID_OUT | ROWS)[layout], f"{name}[n,3]", dialect=with_writes(layout)), array)


def test_triangles_of_a_dtype_without_zero() -> None:
    array = (2.0 ** np.arange(6)).reshape(2, 3).astype(ml_dtypes.float8_e8m0fnu)
    judged(cw.trace(LAID_OUT["triangles"], "float8_e8m0fnu[n,3]", dialect="numpy"), array)


@pytest.mark.parametrize("layout", LAID_OUT)
def test_layouts_of_empty_arrays(layout: str) -> None:
    judged(cw.trace(LAID_OUT[layout], "float32[n,3]"), np.zeros((0, 3), np.float32))


def test_sizes_that_are_sums() -> None:
    def fn(x: Any, y: Any) -> Any:
        whole = xp.concat([x, y], axis=0)
        return xp.reshape(whole, (-1,)), xp.reshape(whole, (3, -1)), xp.flip(whole)

    array = np.arange(9, dtype=np.float32).reshape(3, 3)
    model = judged(cw.trace(fn, "float32[n,3]", "float32[m,3]"), array[:2], array[2:])
    assert [sizes_of(value) for value in model.graph.output] == [
        ["3*m+3*n"],
        [3, "m+n"],
        ["m+n", 3],
    ]


def test_sizes_that_are_quotients() -> None:
    def fn(x: Any) -> Any:
        half = x.shape[0] // 2
        return (
            x[:half], x[half:], xp.ones((half, 2)), xp.arange(half, dtype="float16"),
            xp.arange(1, half * 3 + 1, 2), xp.eye(half, half + 1, dtype="int32"),
        )  # fmt: skip

    graph = cw.trace(fn, "float32[n]")
    for size in (0, 1, 6, 7):
        judged(graph, np.arange(size, dtype=np.float32))


@pytest.mark.parametrize("target", ["bool", "int4", "uint2", "float8_e5m2"])
@pytest.mark.parametrize("source", ["float4_e2m1fn", "float6_e2m3fn", "float8_e4m3fn", "int4"])
def test_casts_between_small_dtypes(source: str, target: str) -> None:
    opset = onnx.defs.onnx_opset_version()
    for values in (1, [0.0, -0.0, 1.0, 3.0]):
        array = np.asarray(values).astype(getattr(ml_dtypes, source))
        size = "" if array.ndim == 0 else "n"
        judged(cw.trace(lambda x: x.astype(target), f"{source}[{size}]"), array, opset=opset)


def test_no_dimensions_in_order() -> None:
    judged(cw.trace(lambda x: xp.permute_dims(x, ()) + 1, "float32[]"), np.asarray(3, np.float32))


ORDERED: dict[str, Callable[[Any], Any]] = {
    "sorted": lambda x: (xp.sort(x), xp.sort(x, axis=0, descending=True)),
    "in order": lambda x: (xp.argsort(x, axis=0), xp.argsort(x, descending=True)),
    "between": lambda x: xp.searchsorted(xp.sort(x[0]), x),
    "after": lambda x: xp.searchsorted(x[1], x, side="right", sorter=xp.argsort(x[1])),
    "diagonals": lambda x: (xp.linalg.diagonal(x), xp.linalg.diagonal(x, offset=-1)),
    "written within": lambda x: written(x, np.index_exp[1, 1:], x[0, :2]),
    "written into rows": lambda x: written(x, np.asarray([1, 0]), x[1:]),
    "flat": lambda x: xp.linalg.outer(x[0], x[1]),
}


@pytest.mark.parametrize("name", ["float32", "float16", "int8", "uint8", "int64", "bfloat16"])
@pytest.mark.parametrize("ordered", ORDERED)
def test_what_is_sorted_and_written(ordered: str, name: str) -> None:
    """NaN comes last, or first in descending order; what is equal stays in its order."""
    array = np.asarray([[3, 1, 2], [0, 5, 1], [4, 4, 0]]).astype(getattr(ml_dtypes, name, name))
    if name.startswith("float") and ordered != "flat":
        array[0, 1], array[1, 1], array[0, 2], array[2, 0] = np.nan, np.inf, np.inf, -0.0
    judged(cw.trace(ORDERED[ordered], f"{name}[3,3]", dialect=with_writes(ordered)), array)


def test_every_layout_is_tried() -> None:
    tried = set()
    for fn in (LAID_OUT | ROWS | ORDERED).values():
        tried |= {node.op for node in cw.trace(fn, "float32[3,3]").nodes}
    assert set(LAYOUTS) <= tried


ORDERS = (2, 1, np.inf, -np.inf, 0, 3)
PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "tensordot": lambda x, y: xp.tensordot(x, y, axes=((1, 0), (2, 1))),
    "tensordot by number": lambda x, y: xp.tensordot(x, y[0], axes=1),
    "vecdot": lambda x, y: (xp.vecdot(x, y), xp.vecdot(x, y[0], axis=0)),
    "outer": lambda x, y: xp.linalg.outer(x[0], y[1, 0]),
    "outer of any shape": lambda x, y: xp.outer(x, y[0]),
    "inner": lambda x, y: (xp.inner(x, y), xp.inner(x[0], y[0, 0])),
    "cross": lambda x, y: xp.linalg.cross(x, y),
    "kron": lambda x, y: (xp.kron(x, y[0]), xp.kron(x[0], y)),
    "running": lambda x, y: xp.cumulative_sum(y, axis=1, include_initial=True),
    "running product": lambda x, y: xp.cumulative_prod(x, axis=0, include_initial=True),
    "norm": lambda x, y: [xp.linalg.vector_norm(y, axis=0, ord=n) for n in ORDERS],
    "matrix norm": lambda x, y: [xp.linalg.matrix_norm(y, ord=n) for n in ("fro", -1, 1, np.inf)],
    "det": lambda x, y: xp.linalg.det(y),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["float64", "float16", "int32", "complex64"])
@pytest.mark.parametrize("product", PRODUCTS)
def test_products_and_norms(product: str, name: str) -> None:
    rng = np.random.default_rng(3)
    x, y = (rng.integers(-3, 4, shape).astype(name) for shape in ((3, 3), (3, 3, 3)))
    if product in ("det", "running product") and name == "complex64":
        pytest.skip("not written for complex numbers")
    graph = cw.trace(PRODUCTS[product], f"{name}[3,3]", f"{name}[n,3,3]", dialect="jax:x64")
    returned = graph(x, y)
    wanted = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    found = by_reference(graph.to_onnx(), [x, y])
    for one, other in zip(wanted, found, strict=True):
        assert other.dtype == one.numpy().dtype
        np.testing.assert_allclose(np.asarray(other), one.numpy(), rtol=2e-3, atol=1e-5)


@pytest.mark.parametrize("name", ["inv", "svd", "eigvalsh", "qr", "pinv"])
def test_what_onnx_has_no_op_for_is_named(name: str) -> None:
    graph = cw.trace(lambda x: getattr(xp.linalg, name)(x), "float32[3,3]")
    with pytest.raises(cw.UsageError, match=rf"test_onnx_export.*ONNX has no op for linalg.{name}"):
        graph.to_onnx()


ELEMENTARY = ["cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
              "expm1", "log1p", "log2", "log10", "signbit"]  # fmt: skip


@pytest.mark.parametrize("name", ELEMENTARY)
@pytest.mark.parametrize("held", ["float16", "float64"])
def test_elementary_functions(name: str, held: str) -> None:
    values = [-2.5, -1, -0.5, -1e-3, -0.0, 0, 1e-6, 0.3, 1, 1.5, 2, 8, 30, 1000, np.inf, np.nan]
    array = np.array(values, held)
    graph = cw.trace(lambda x: getattr(xp, name)(x), f"{held}[n]")
    with np.errstate(all="ignore"):
        wanted, found = graph(array).numpy(), by_reference(graph.to_onnx(), [array])[0]
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found.astype(float), wanted.astype(float),
                               rtol=4 * float(np.finfo(held).eps))  # fmt: skip


def test_a_bound_above_alone() -> None:
    graph = cw.trace(lambda x: xp.clip(x, max=2), "float32[n]")
    judged(graph, np.float32([1, 3, np.nan, np.inf]))


def test_a_function_that_is_not_written_is_named() -> None:
    graph = cw.trace(lambda x: cw.apply("cumprod", x, axis=0), "complex64[3]")
    with pytest.raises(cw.UsageError, match="has no cumprod of complex numbers"):
        graph.to_onnx()


REDUCING = ["sum", "prod", "mean", "std", "var", "max", "min", "any", "all"]


@pytest.mark.parametrize("name", REDUCING)
@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"axis": (0, -1)}, {"keepdims": True},
                                     {"axis": 0, "keepdims": True}])  # fmt: skip
def test_reductions_take_axes_and_keep_dimensions(name: str, options: dict[str, Any]) -> None:
    graph = cw.trace(lambda x: getattr(xp, name)(x, **options), "float64[n,2,3]")
    judged(graph, np.arange(24, dtype=np.float64).reshape(4, 2, 3) % 5)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"keepdims": True},
                                     {"axis": -1, "keepdims": True}])  # fmt: skip
def test_places_of_extremes(name: str, options: dict[str, Any]) -> None:
    graph = cw.trace(lambda x: getattr(xp, name)(x, **options), "float32[n,3]")
    array = np.float32([[1, 5, 5], [np.nan, 2, np.inf], [-np.inf, -1, np.nan]])
    judged(graph, array)


def test_extremes_of_arrays_with_nan() -> None:
    graph = cw.trace(lambda x: (xp.max(x, axis=1), xp.min(x), xp.max(x)), "float32[n,3]")
    judged(graph, np.float32([[1, 5, 5], [np.nan, 2, np.inf], [-np.inf, -1, 0]]))


def test_a_deviation_of_a_sample() -> None:
    graph = cw.trace(lambda x: (xp.var(x, correction=1), xp.std(x, axis=0)), "float64[n,2]")
    judged(graph, np.float64([[1, 2], [3, 6], [5, 10]]))


def test_running_sums() -> None:
    graph = cw.trace(lambda x: xp.cumulative_sum(x, axis=1), "int32[2,n]")
    judged(graph, np.arange(6, dtype=np.int32).reshape(2, 3))


def test_an_option_that_is_not_written_is_named() -> None:
    graph = cw.trace(lambda x: xp.linalg.matrix_norm(x, ord="nuc"), "float32[3,3]")
    with pytest.raises(cw.UsageError, match="no op for the norm nuc"):
        graph.to_onnx()


@pytest.mark.parametrize("divisor", [0, -1, 1, 3, -4])
def test_division_of_integers_by_a_constant(divisor: int) -> None:
    graph = cw.trace(lambda x: (x // divisor, x % divisor), "int32[n]")
    with np.errstate(all="ignore"):
        judged(graph, np.int32([-(2**31), -7, -1, 0, 1, 7, 2**31 - 1]))


@pytest.mark.parametrize("distance", [0, 1, 5, 31, 32, 100])
def test_shifts_by_a_constant(distance: int) -> None:
    graph = cw.trace(lambda x: (x << distance, x >> distance), "int32[n]")
    judged(graph, np.int32([-(2**31), -7, -1, 0, 1, 7, 2**31 - 1]))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 13])
def test_integer_powers_by_a_constant_are_products(exponent: int) -> None:
    graph = cw.trace(lambda x: x**exponent, "int64[n]")
    model = judged(graph, np.int64([-(2**63), -7, -1, 0, 1, 7, 2**31]))
    assert {node.op_type for node in model.graph.node} <= {"Mul", "Expand", "Shape", "Identity"}


def test_integer_powers_wrap() -> None:
    graph = cw.trace(lambda x, y: x**y, "int64[n,1]", "int64[m]")
    model = judged(graph, np.int64([[-3], [2], [7]]), np.int64([0, 1, 62, 63, 64, 101]))
    assert "Loop" in {node.op_type for node in model.graph.node}


def test_constants_of_small_dtypes_are_kept() -> None:
    table = np.array([0.5, 1.5, 2.0], ml_dtypes.float8_e4m3fn)
    graph = cw.trace(lambda x: (x, cw.asarray(table)), "float32[3]")
    found = by_reference(graph.to_onnx(), [np.float32([1, 2, 3])])[1]
    np.testing.assert_array_equal(found, table, strict=True)


def test_casts_to_float8_do_not_saturate() -> None:
    graph = cw.trace(lambda x: (x.astype("float8_e5m2"), x.astype("float8_e4m3fn")), "float32[n]")
    model = graph.to_onnx()
    e5m2, e4m3 = by_reference(model, [np.float32([1, 1e6, -1e6])])
    assert e5m2.tolist() == [1, np.inf, -np.inf]
    assert np.isnan(e4m3.astype(np.float32)).tolist() == [False, True, True]


def test_complex_numbers_are_computed_by_their_parts() -> None:
    graph = cw.trace(lambda z, x: (z * z + x, abs(z), xp.real(z)), "complex64[n]", "float32[n]")
    model = graph.to_onnx(opset=26)
    z, x = np.complex64([1 + 2j, -3j]), np.float32([1, 2])
    found = by_reference(model, [z, x])
    for one, other in zip(graph(z, x), found, strict=True):
        np.testing.assert_array_equal(one.numpy(), other, strict=True)


def test_what_onnx_lacks_is_named_with_its_place_in_the_source() -> None:
    def fn(z: Any, x: Any) -> Any:
        y = x.astype("float32")
        return z * z, y

    graph = cw.trace(fn, "complex128[3]", "float8_e3m4[3]")
    with pytest.raises(cw.UsageError) as caught:
        graph.to_onnx()
    text = str(caught.value)
    assert "mul(complex128[3], complex128[3]): ONNX computes nothing in complex128" in text
    assert "x float8_e3m4[3]: ONNX has no float8_e3m4" in text
    line = fn.__code__.co_firstlineno + 2
    assert f"test_onnx_export.py:{line}: `return z * z, y`" in text


def test_operands_without_a_common_dtype_are_named() -> None:
    graph = cw.trace(lambda x, y: x == y, "bool[3]", "uint8[3]", dialect="mindspore")
    with pytest.raises(cw.UsageError, match=r"eq\(bool\[3\], uint8\[3\]\): its operands have diff"):
        graph.to_onnx()


def test_the_opset_is_the_newest_that_all_know() -> None:
    newest = onnx.defs.onnx_opset_version()
    assert OLDEST <= current_opset() <= newest
    model = cw.trace(lambda x: x + 1, "float32[n]").to_onnx()
    assert model.opset_import[0].version == current_opset()
    assert runtime_session(model) is not None


@pytest.mark.parametrize("opset", [18, 21, 23, 28])
def test_other_opsets(opset: int) -> None:
    graph = cw.trace(lambda x, y: xp.sum(xp.sqrt(x * x + y), axis=0) // 2, "float32[n]", "int8[n]")
    model = graph.to_onnx(opset=opset)
    assert model.opset_import[0].version == opset
    x, y = np.float32([1, 2, 3]), np.int8([1, 2, 3])
    assert by_reference(model, [x, y])[0] == graph(x, y).numpy()


def test_an_op_of_a_later_opset_is_named() -> None:
    graph = cw.trace(lambda x: xp.cumulative_prod(x), "float32[n]")
    with pytest.raises(cw.UsageError, match="CumProd: write opset=26"):
        graph.to_onnx(opset=21)
    with pytest.raises(
        cw.UsageError, match="does not take float6_e2m3fn in opset 26; write opset=28"
    ):
        cw.trace(lambda x: x.astype("float32"), "float6_e2m3fn[n]").to_onnx(opset=26)


@pytest.mark.parametrize("opset", [1, 17, 1000])
def test_an_opset_that_is_not_known_is_refused(opset: int) -> None:
    with pytest.raises(cw.UsageError, match="opset must be 18 to"):
        cw.trace(lambda x: x + 1, "float32[n]").to_onnx(opset=opset)


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(cw.UsageError, match=r"pip install castwise\[onnx\]"):
        cw.trace(lambda x: x + 1, "float32[n]").to_onnx()


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime")
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert "reference evaluator: equal" in printed
    assert "onnxruntime: equal" in printed


@pytest.mark.parametrize("axis", [None, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_the_median_of_an_even_number_is_the_dialect_s(dtype: str, axis: int | None) -> None:
    x = np.asarray([[3, 1, 2, -4], [0, 7, 6, 9]], dtype)
    graph = cw.trace(lambda x: cw.apply("median", x, axis=axis), x, dialect="torch")
    judged(graph, x)
    assert graph(x).tolist() == (2 if axis is None else [1, 6])


def test_gelu_is_the_dialect_s_approximation() -> None:
    x = np.asarray([-3, -0.5, 0.25, 1.5], "float32")
    graph = cw.trace(lambda x: cw.apply("gelu", x), x, dialect="jax")
    model = graph.to_onnx()
    for found in (by_reference(model, [x])[0], by_runtime(runtime_session(model), [x])[0]):
        np.testing.assert_allclose(found, graph(x).numpy(), rtol=1e-5)
    exact = cw.trace(lambda x: cw.apply("gelu", x), x, dialect="torch")
    assert graph(x).tolist() != exact(x).tolist()
