"""What Dask's arrays ask beyond the contract: laziness, chunks, graphs that travel."""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named
from castwise.conformance.questions import OF_SHAPES_ALONE
from castwise.vocab.ops import OPS, Op
from processes import finished

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
chunks = pytest.importorskip("castwise.arrays.backends.dask_chunks")
trees = pytest.importorskip("castwise.arrays.backends.dask_reductions")
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")

# Layers need shapes and sizes of their own: test_layers.py has them, on every backend.
COMPUTING = [
    row
    for row in OPS.values()
    if row.family not in ("questions", "layers") and row.name not in OF_SHAPES_ALONE
]
PAIRS = (
    ("int8", "uint8"), ("bfloat16", "int8"), ("float16", "float16"), ("float32", "int64"),
    ("bool", "bool"), ("complex64", "float32"), ("float64", "float64"),
)  # fmt: skip
CHUNKS = ((6, 8), (4, 3), ((1, 5), (2, 2, 4)), (1, 8))


@pytest.fixture(autouse=True)
def threads() -> Any:
    with dask.config.set(scheduler="threads"):
        yield


def numbers(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    """Small numbers that every dtype holds exactly."""
    drawn = np.random.default_rng(seed).integers(0, 3, shape)
    return cw.asarray(drawn, dtype=dtype).numpy()  # type: ignore[no-any-return]


def chunked(array: Any, cut: Any, dialect: str = "torch") -> cw.Tensor:
    return cw.asarray(da.from_array(array, chunks=cut), dialect=dialect)


SHAPES = {"outer": [(6,), (8,)], "cross": [(6, 3), (6, 3)]}  # where others are refused
DIALECTS = {"dot": "numpy"}  # of matrices, which it has not elsewhere
DIVISIONS = ("floor_divide", "remainder", "fmod", "floor_div", "truncate_div")


def arrays_for(row: Op, pair: tuple[str, str]) -> list[np.ndarray[Any, Any]]:
    count = max(row.arity[0], min(row.arity[1], 2))
    dtypes = [pair[n % 2] for n in range(count)]
    if row.is_condition_first:
        dtypes[0] = "bool"
    later = (8, 6) if row.name in ("matmul", "dot", "kron") else (6, 8)
    shapes = SHAPES.get(row.name, [(6, 8), *[later] * (count - 1)])
    made = [numbers(d, s, n) for n, (d, s) in enumerate(zip(dtypes, shapes, strict=True))]
    if row.name in DIVISIONS:  # by zero, integers raise here
        made[1][made[1] == 0] = 1
    return made


@pytest.mark.parametrize("row", COMPUTING, ids=lambda row: row.name)
def test_the_lazy_dtype_is_the_computed_one_in_any_chunks(row: Op) -> None:
    tried = 0
    dialect = DIALECTS.get(row.name, "torch")
    for pair in PAIRS:
        arrays = arrays_for(row, pair)
        options = {"axis": 1} if row.name in ("cumsum", "cumprod") else {}
        try:
            expected = cw.apply(
                row.name, *[cw.asarray(a, dialect=dialect) for a in arrays], **options
            )
        except (cw.PromotionError, TypeError):  # refused, or nothing computes it
            continue
        tried += 1
        for cut in CHUNKS:
            lazy = [chunked(a, transposed(cut, a), dialect) for a in arrays]
            got = cw.apply(row.name, *lazy, **options)
            assert got.dtype is expected.dtype, (pair, cut)
            assert got.shape == expected.shape, (pair, cut)
            computed = got.array.compute()
            assert computed.dtype == got.array.dtype == expected.array.dtype, (pair, cut)
            assert_near(computed, expected, f"{pair} in {cut}")
    assert tried


def transposed(cut: tuple[Any, Any], array: Any) -> Any:
    """The chunks of an array of which one side is cut as 6 elements are, another as 8."""
    by_size = dict(zip((6, 8), cut, strict=True))
    return tuple(by_size.get(size, size) for size in array.shape)


def assert_near(computed: Any, expected: cw.Tensor, case: str) -> None:
    bits = expected.dtype.mantissa_bits if expected.dtype.kind in ("float", "complex") else 60
    np.testing.assert_allclose(
        computed.astype("complex128"), expected.numpy().astype("complex128"),
        rtol=2.0 ** (3 - bits), atol=2.0 ** (3 - bits), err_msg=case,
    )  # fmt: skip


def forbidden(*graph: Any, **options: Any) -> Any:
    raise AssertionError("something was computed")


@pytest.mark.parametrize("row", COMPUTING, ids=lambda row: row.name)
def test_nothing_runs_before_it_is_asked_for(row: Op, monkeypatch: pytest.MonkeyPatch) -> None:
    """No function of a chunk is called to find out a dtype, not even with an empty array."""
    called: list[str] = []
    for kind, names in {
        chunks.Kernel: ["__call__"], chunks.CastChunk: ["__call__"],
        trees.Reduction: ["first_state", "merged", "result"],
    }.items():  # fmt: skip
        for name in names:
            monkeypatch.setattr(kind, name, lambda *given, **options: called.append("here"))
    options = {"axis": 1} if row.name in ("cumsum", "cumprod") else {}
    built, dialect = 0, DIALECTS.get(row.name, "torch")
    with dask.config.set(scheduler=forbidden):
        for pair in PAIRS:
            tensors = [chunked(a, 3, dialect) for a in arrays_for(row, pair)]
            try:
                t = cw.apply(row.name, *tensors, **options)
            except cw.PromotionError:
                continue
            built += 1
            assert f"dtype={t.dtype}" in repr(t)
    assert built
    assert not called


def test_rules_about_values_do_not_compute_them() -> None:
    with dask.config.set(scheduler=forbidden):
        small = cw.asarray(da.ones(3, dtype="uint8"), dialect="numpy@1")
        zero_d = cw.asarray(da.asarray(np.asarray(1000)), dialect="numpy@1")
        assert (small + zero_d).dtype is cw.resolve(
            "add", "uint8[3]", "int64[]", dialect="numpy@1"
        ).result
        powers = cw.asarray(da.ones(3, dtype="int32"), dialect="jax")
        exponent = cw.asarray(da.asarray(np.asarray(-2, "int32")), dialect="jax")
        assert (powers**exponent).dtype.name == "int32"
    assert cw.asarray(da.asarray(np.asarray(7)), backend="dask").item() == 7


def ones(dtype: str, count: int = 60, size: int = 10) -> cw.Tensor:
    return cw.asarray(da.ones(count, dtype=dtype, chunks=size), dialect="torch")


def tasks(*tensors: cw.Tensor) -> int:
    graphs = [dict(a.__dask_graph__()) for a in dask.optimize(*[t.array for t in tensors])]
    return len({key for graph in graphs for key in graph})


def test_a_chunk_is_cast_and_computed_in_one_task() -> None:
    a, b = ones("int8"), ones("float32")
    assert tasks(a * b) == 6
    assert tasks(a * b + b) == 6
    persisted = cw.asarray(a.array.persist(), dialect="torch")
    shared = persisted * b, persisted - b  # the cast is not a separate task in either
    assert tasks(*shared) == 6 + 6 + 6 + 6  # of each operand and each result


def test_a_chunk_of_a_tree_is_one_task() -> None:
    total = cw.apply("sum", ones("int8", 40) * ones("float32", 40))
    assert tasks(total) == 4 + 1


def test_what_it_is_given_is_not_written_to() -> None:
    source = np.asarray([1, 2, 3], "int8")
    x = cw.asarray(da.from_array(source), dialect="torch")
    y = cw.asarray(da.from_array(np.asarray([0.5, 0.5, 0.5], "float32")), dialect="torch")
    assert (x * y).tolist() == [0.5, 1, 1.5]
    assert (y * x).tolist() == [0.5, 1, 1.5]
    assert source.tolist() == x.tolist() == [1, 2, 3]


def test_one_byte_dtypes_are_told_apart() -> None:
    """Dask takes them all for the same when it names what it computes."""
    x = cw.asarray(da.ones(3, dtype="float32"))
    names = [d.name for d in backend_named("dask").dtypes if d.bits <= 8]
    assert len(names) > 10
    assert len({x.astype(name).array.name for name in names}) == len(names)
    made = [cw.asarray(np.ones(3).astype(cw.asarray([1], dtype=name).array.dtype), backend="dask")
            for name in names if name != "int1"]  # fmt: skip
    assert len({t.array.name for t in made}) == len(made)


def test_a_graph_is_pickled() -> None:
    x, y = chunked(numbers("bfloat16", (6, 8)), (4, 3)), chunked(numbers("int8", (6, 8)), (2, 8))
    for t in (
        x * y,
        cw.apply("std", x, axis=0),
        cw.apply("argmax", y),
        cw.apply("cumsum", y, axis=0),
    ):
        back = pickle.loads(pickle.dumps(t))
        assert (back.dtype, back.tolist()) == (t.dtype, t.tolist())


def test_the_same_computation_has_the_same_name() -> None:
    """So that a scheduler that has it already does not compute it again."""

    def name() -> str:
        x = chunked(numbers("bfloat16", (6, 8)), (4, 3))
        return str(cw.apply("sum", x * 2.0 + x, axis=0).array.name)

    assert name() == name()
    x = chunked(numbers("bfloat16", (6, 8)), (4, 3))
    assert (x * 2.0).array.name != (x * 3.0).array.name
    assert cw.apply("var", x, correction=1).array.name != cw.apply("var", x).array.name
    assert (
        cw.apply("mse_loss", x, x).array.name
        != cw.apply("mse_loss", x, x, reduction="sum").array.name
    )


def test_values_are_written_into_a_new_array() -> None:
    x = chunked(numbers("bfloat16", (6, 8)), (4, 3))
    before, raw = x.tolist(), x.array
    with dask.config.set(scheduler=forbidden):
        x[1:3, 2] = 5
        x[x > 4] = 7
        x[0] = cw.asarray(da.zeros(8, dtype="float32"), dialect="torch")
    assert raw.compute().tolist() == before
    expected = np.asarray(before)
    expected[1:3, 2] = 7
    expected[0] = 0
    assert x.tolist() == expected.tolist()
    assert x.array.dtype == raw.dtype


def test_an_update_in_place_is_one_task_a_chunk() -> None:
    x = ones("float32")
    x += ones("int8")
    x *= 2
    assert tasks(x) == 6
    assert x.tolist() == [4] * 60


def test_chunks_of_other_libraries_are_refused() -> None:
    masked = da.ma.masked_array(da.ones(3), mask=[0, 1, 0])
    with pytest.raises(cw.UsageError, match="this Dask array has MaskedArray chunks"):
        cw.asarray(masked)


def test_shapes_that_do_not_fit_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="shape mismatch"):
        ones("int8", 60) + ones("int8", 50)


def report(*arguments: str) -> Any:
    """What the benchmark of a sum on two worker processes wrote."""
    pytest.importorskip("distributed")
    pytest.importorskip("psutil")
    script = Path(__file__).parents[2] / "benchmarks" / "dask_reduction.py"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        command = [sys.executable, str(script), "--json", str(path), *arguments]
        finished(command, check=True)
        return json.loads(path.read_text())


def check(told: Any) -> None:
    assert told["lazy_dtype"] == told["dtypes"]["castwise"] == "float32"
    assert told["values"]["castwise"] == told["values"]["dask"] == told["exact"]
    assert told["spilled_bytes"] == 0
    assert told["workers_that_know_a_dialect"] == 0


def test_a_sum_on_two_workers_spills_nothing_and_needs_no_context() -> None:
    check(report("--gigabytes", "0.2", "--rounds", "1"))


@pytest.mark.slow
def test_a_sum_of_20_gb_takes_little_memory_and_the_time_of_dask_alone() -> None:
    told = report("--gigabytes", "20", "--rounds", "2")
    check(told)
    assert told["peak_megabytes"]["castwise"] < 1500
    assert told["ratio"] <= 1.2


def sending(graph: Any, keys: Any, **options: Any) -> Any:
    """Computes here, and sends every result as a worker would."""
    protocol = pytest.importorskip("distributed.protocol")

    def sent(found: Any) -> Any:
        if isinstance(found, (list, tuple)):
            return type(found)(sent(part) for part in found)
        return protocol.deserialize(*protocol.serialize(found))

    return sent(dask.get(graph, keys, **options))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_results_of_every_dtype_come_back_from_a_worker() -> None:
    """Also arrays whose dtype NumPy cannot read back, which Dask on its own fails to send."""
    pytest.importorskip("distributed")
    for dtype in backend_named("dask").dtypes:
        x = cw.asarray(da.zeros(6, dtype="int8", chunks=2) == 0).astype("float32").astype(dtype)
        with dask.config.set(scheduler=sending):
            for t in (x, x[0]):
                assert t.numpy().dtype == x.array.dtype, dtype
                assert t.numpy().tolist() == cw.asarray(t.array.compute(scheduler="sync")).tolist()


CLUSTER = """
import dask, dask.array as da
from distributed import Client, LocalCluster
import castwise as cw

def shown():
    for name in ("float8_e5m2", "complex32", "bcomplex32", "bfloat16"):
        x = cw.asarray(da.ones((6, 6), dtype="int8", chunks=(2, 6))).astype(name)
        twice = x.array.rechunk((6, 2)).rechunk((1, 3))  # the second is of what was sent before
        print(name, cw.asarray(twice).tolist() == [[1] * 6] * 6, dask.compute(x[0])[0].tolist())
        made = cw.asarray(da.ones(4, dtype=x.array.dtype, chunks=2))  # by Dask's tasks alone
        print(made.tolist(), cw.apply("softmax", x.astype("bfloat16"), axis=0).tolist()[0][0])

if __name__ == "__main__":
    with (
        dask.config.set({"optimization.fuse.active": False}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        shown()
"""


def test_chunks_of_every_dtype_go_from_worker_to_worker(tmp_path: Path) -> None:
    """Dask on its own tries to send float8_e5m2 and the small complex dtypes forever."""
    pytest.importorskip("distributed")
    (tmp_path / "script.py").write_text(CLUSTER, encoding="utf-8")
    done = finished([sys.executable, tmp_path / "script.py"], timeout=120)
    expected = []
    for name in ("float8_e5m2", "complex32", "bcomplex32", "bfloat16"):
        one = "(1+0j)" if "complex" in name else "1.0"
        expected.append(f"{name} True [{', '.join([one] * 6)}]")
        expected.append(f"[{', '.join([one] * 4)}] 0.1669921875")
    assert done.stdout.splitlines() == expected, done.stderr


def test_tensors_are_collections_of_dask() -> None:
    lazy = chunked(numbers("bfloat16", (6, 8)), (4, 3))
    here = cw.asarray([1, 2], dialect="torch")
    assert dask.is_dask_collection(lazy)
    assert not dask.is_dask_collection(here)
    computed, nested = dask.compute(lazy * 2.0, {"sum": [cw.apply("sum", lazy), here]})
    assert (computed.backend, computed.dtype, computed.dialect) == (
        "numpy",
        lazy.dtype,
        lazy.dialect,
    )
    assert computed.tolist() == (lazy * 2.0).tolist()
    assert nested["sum"][0].item() == cw.apply("sum", lazy).item()
    assert nested["sum"][1] is here
    (persisted,) = dask.persist(lazy * 2.0)
    assert persisted._kind is lazy._kind
    assert tasks(persisted) == 2 * 3  # only the chunks
    assert persisted.tolist() == computed.tolist()
    assert dask.delayed(lambda t: t.backend)(lazy).compute() == "numpy"


def test_tensors_that_differ_have_different_names() -> None:
    made = [
        cw.asarray([1, 2], dtype=dtype, dialect=dialect, backend=backend)
        for dtype in ("float8_e5m2", "float8_e4m3")
        for dialect in (None, "torch", cw.dialect("torch").vary(about="Mine."))
        for backend in ("numpy", "dask")
    ]
    assert len({dask.base.tokenize(t) for t in made}) == len(made)
    assert all(dask.base.tokenize(t) == dask.base.tokenize(t.under(t._kind.dialect)) for t in made)


KEYS: list[Any] = [
    None, (None, slice(1, None)), (slice(1, None), None), (..., None, 1), (0, None), (None, [0, 2]),
    True, False, np.True_, np.asarray(False), cw.asarray(True), cw.asarray(da.asarray(False)),
    cw.asarray(da.asarray(True)),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("shape", [(3,), (3, 3), ()], ids=repr)
def test_new_axes_and_masks_without_dimensions_index_as_in_numpy(key: Any, shape: Any) -> None:
    plain = key.numpy() if isinstance(key, cw.Tensor) else key
    values = numbers("float32", shape)
    try:
        expected = values[plain]
    except IndexError:
        pytest.skip("no index of this shape")
    x = chunked(values, 2)
    assert x[key].tolist() == expected.tolist()
    fitting = expected.shape if expected.size else (1, *shape)
    for written in (7, np.full(fitting, 5, "float32"), np.full((1,) * expected.ndim, 3)):
        target = values.copy()
        target[plain] = written
        y = chunked(values, 2)
        y[key] = written if isinstance(written, int) else cw.asarray(
            da.from_array(written.astype("float32")), dialect="torch"
        )  # fmt: skip
        assert y.tolist() == target.tolist()


def test_what_does_not_fit_a_mask_without_dimensions_is_refused() -> None:
    x = chunked(numbers("float32", (1, 3)), 2, "numpy")
    with pytest.raises(ValueError, match="do not fit"):
        x[cw.asarray(da.asarray(True))] = cw.asarray(da.ones((2, 3), dtype="float32"))
    with pytest.raises(cw.UsageError, match=r"must be the only index.* x\[mask\]"):
        x[True, 0]


@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
def test_softmax_of_no_dimensions(op: str) -> None:
    x = cw.asarray(da.asarray(np.float32(3)), dialect="torch")
    assert cw.apply(op, x).item() == cw.apply(op, x.numpy()).item()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_inverse_and_a_solution_keep_the_dtype(dtype: str) -> None:
    pytest.importorskip("scipy")  # which Dask solves with
    plain = cw.asarray(np.asarray([[4, 1], [1, 3]], dtype))
    spread = cw.asarray(da.from_array(plain.numpy(), chunks=1))
    xp = spread.__array_namespace__()
    for got, expected in (
        (xp.linalg.inv(spread), xp.linalg.inv(plain)),
        (xp.linalg.solve(spread, spread), xp.linalg.solve(plain, plain)),
    ):
        assert got.dtype is expected.dtype
        np.testing.assert_allclose(got.numpy(), expected.numpy(), atol=1e-6)
