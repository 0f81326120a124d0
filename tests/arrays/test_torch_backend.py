"""What is torch's own: dtypes it only stores, its settings, its kinds of tensors, its devices."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named
from castwise.vocab.dtypes import DTYPES

torch = pytest.importorskip("torch")

EDGES = {
    "uint16": [0, 1, 2, 7, 15, 2**15 - 1, 2**15, 2**16 - 1],
    "uint32": [0, 1, 2, 7, 31, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1],
    "uint64": [0, 1, 2, 7, 63, 2**32, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1],
}
FLOAT8 = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")


def on(backend: str, values: Any, dtype: str, dialect: str = "numpy") -> cw.Tensor:
    return cw.asarray(values, dtype=dtype, backend=backend, dialect=dialect)


def on_torch(values: Any, dtype: str, dialect: str = "numpy") -> cw.Tensor:
    return on("torch", values, dtype, dialect)


def assert_as_on_numpy(compute: Callable[..., cw.Tensor], *given: tuple[Any, str]) -> None:
    got, expected = (compute(*[on(b, v, d) for v, d in given]) for b in ("torch", "numpy"))
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got.numpy(), expected.numpy())


def test_it_has_the_dtypes_of_torch_from_a_byte_on() -> None:
    below = {"int1", "int2", "int4", "uint1", "uint2", "uint4"}
    named = {d.name for d in DTYPES if hasattr(torch, d.name)}
    assert {d.name for d in backend_named("torch").dtypes} == named - below


# Unsigned integers


@pytest.mark.parametrize("dtype", EDGES)
@pytest.mark.parametrize(
    "op",
    ["add", "sub", "mul", "pow", "bitwise_and", "bitwise_or", "bitwise_xor", "lt", "le", "gt", "ge",
     "eq", "ne", "maximum", "minimum", "fmax", "fmin", "logical_and", "heaviside", "rsub",
     "clamp_min", "clamp_max"],
)  # fmt: skip
def test_large_unsigned_integers_compute_exactly(op: str, dtype: str) -> None:
    pairs = list(itertools.product(EDGES[dtype], repeat=2))
    x, y = ([pair[n] for pair in pairs] for n in (0, 1))
    assert_as_on_numpy(lambda x, y: cw.apply(op, x, y), (x, dtype), (y, dtype))


@pytest.mark.parametrize("dtype", EDGES)
@pytest.mark.parametrize(
    "op", ["floor_divide", "floor_div", "truncate_div", "remainder", "fmod", "div"]
)
def test_large_unsigned_integers_divide_exactly(op: str, dtype: str) -> None:
    pairs = [pair for pair in itertools.product(EDGES[dtype], repeat=2) if pair[1]]
    x, y = ([pair[n] for pair in pairs] for n in (0, 1))
    assert_as_on_numpy(lambda x, y: cw.apply(op, x, y), (x, dtype), (y, dtype))


@pytest.mark.parametrize("dtype", EDGES)
@pytest.mark.parametrize("limit", [0, 7, 7.5, 40_000])
def test_large_unsigned_integers_have_a_threshold(limit: float, dtype: str) -> None:
    assert_as_on_numpy(
        lambda x: cw.apply("threshold", x, threshold=limit, value=3), (EDGES[dtype], dtype)
    )


@pytest.mark.parametrize("dtype", EDGES)
@pytest.mark.parametrize("op", ["bitwise_left_shift", "bitwise_right_shift"])
def test_large_unsigned_integers_shift_in_zeros(op: str, dtype: str) -> None:
    counts = [0, 1, cw.dtype(dtype).bits - 1, cw.dtype(dtype).bits]
    x, y = zip(*itertools.product(EDGES[dtype], counts), strict=True)
    assert_as_on_numpy(lambda x, y: cw.apply(op, x, y), (list(x), dtype), (list(y), dtype))


@pytest.mark.parametrize("dtype", EDGES)
@pytest.mark.parametrize(
    "op",
    ["sum", "prod", "max", "min", "argmax", "argmin", "any", "all", "count_nonzero", "cumsum",
     "cumprod", "abs", "positive", "neg", "square", "sign", "bitwise_not", "logical_not", "isnan",
     "mean", "sqrt", "floor", "round"],
)  # fmt: skip
def test_large_unsigned_integers_reduce_exactly(op: str, dtype: str) -> None:
    got, expected = (cw.apply(op, on(b, EDGES[dtype], dtype)) for b in ("torch", "numpy"))
    assert got.dtype is expected.dtype
    np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-15)


@pytest.mark.parametrize("dtype", EDGES)
def test_products_of_large_unsigned_integers_wrap(dtype: str) -> None:
    matrix = [EDGES[dtype][:3], EDGES[dtype][3:6], EDGES[dtype][-3:]]
    assert_as_on_numpy(operator.matmul, (matrix, dtype), (matrix, dtype))


@pytest.mark.parametrize("target", ["float32", "float64", "bool", "int64", "uint8", "complex128"])
@pytest.mark.parametrize("dtype", EDGES)
def test_large_unsigned_integers_are_cast_by_value(dtype: str, target: str) -> None:
    assert_as_on_numpy(lambda x: x.astype(target), (EDGES[dtype], dtype))


def test_numbers_wrap_into_unsigned_integers() -> None:
    t = on_torch([0, 1], "uint64", "torch")
    assert (t + -1).tolist() == [2**64 - 1, 0]
    assert (t + (2**64 - 1)).tolist() == [2**64 - 1, 0]


@pytest.mark.parametrize("dtype", [*EDGES, *FLOAT8, "bfloat16"])
def test_values_are_written_under_a_mask_and_at_places(dtype: str) -> None:
    t = on_torch([1, 2, 3, 4], dtype)
    t[on_torch([True, False, False, True], "bool")] = 7
    t[[1, 2]] = on_torch([5, 6], dtype)
    assert t.tolist() == [7, 5, 6, 7]
    assert t[on_torch([0, 3], "int64")].tolist() == [7, 7]


# Small floats


@pytest.mark.parametrize("dtype", [*FLOAT8[:2], "float16", "bfloat16"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "maximum", "floor_divide", "lt", "eq"])
def test_small_floats_round_once(op: str, dtype: str) -> None:
    """The same as when computed in float32, no matter which kernels torch has."""
    values = np.linspace(-3, 3, 41)[np.linspace(-3, 3, 41) != 0]
    x, y = (on_torch(v, dtype, "torch") for v in (values, values[::-1] * 0.7))
    got = cw.apply(op, x, y)
    wide = cw.apply(op, x.astype("float32"), y.astype("float32"))
    assert got.dtype.name in (dtype, "bool")
    assert got.tolist() == wide.astype(got.dtype).tolist()


def test_the_next_float8_is_not_guessed() -> None:
    x = on_torch([1.0], "float8_e5m2", "jax")
    with pytest.raises(cw.UsageError, match="cannot compute nextafter in float8_e5m2"):
        cw.apply("nextafter", x, x)


def test_complex32_is_computed_in_complex64() -> None:
    t = on_torch([1 + 2j, 0.1j], "complex32", "torch")
    assert (t * t).dtype.name == "complex32"
    assert (t * t).array.to(torch.complex64).tolist() == pytest.approx([-3 + 4j, -0.01], rel=1e-3)
    assert np.asarray(t.astype("complex64")).tolist() == pytest.approx([1 + 2j, 0.1j], rel=1e-3)


# Complex numbers in order

COMPLEX = [1 + 2j, 1 - 2j, 0.5 + 9j, complex("nan"), 1 + 2j, complex(2, float("nan"))]


@pytest.mark.parametrize("op", ["lt", "le", "gt", "ge", "maximum", "minimum", "fmax", "fmin"])
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_complex_numbers_have_numpys_order(op: str) -> None:
    x, y = zip(*itertools.product(COMPLEX, repeat=2), strict=True)
    got, expected = (
        cw.apply(op, on(b, list(x), "complex128"), on(b, list(y), "complex128"))
        for b in ("torch", "numpy")
    )
    np.testing.assert_array_equal(np.isnan(got.numpy()), np.isnan(expected.numpy()))
    known = ~np.isnan(expected.numpy())
    np.testing.assert_array_equal(got.numpy()[known], expected.numpy()[known])


@pytest.mark.parametrize("op", ["max", "min", "argmax", "argmin", "median"])
@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}])
@pytest.mark.parametrize("has_nan", [False, True])
def test_complex_numbers_reduce_by_numpys_order(
    op: str, options: dict[str, Any], has_nan: bool
) -> None:
    values = [[1 + 2j, 1 - 2j, 3j], [1 + 2j, 5, complex("nan") if has_nan else 4 - 1j]]
    got, expected = (cw.apply(op, on(b, values, "complex64"), **options) for b in
                     ("torch", "numpy"))  # fmt: skip
    assert got.shape == expected.shape
    np.testing.assert_array_equal(np.isnan(got.numpy()), np.isnan(expected.numpy()))
    known = ~np.isnan(expected.numpy())
    np.testing.assert_array_equal(got.numpy()[known], expected.numpy()[known])


# torch's settings


@pytest.fixture
def _double_by_default() -> Any:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.mark.usefixtures("_double_by_default")
def test_torchs_default_dtype_does_not_show() -> None:
    t = on_torch([1, 2, 3], "int32", "torch")
    assert (t / 2).dtype.name == "float32"
    assert (t / 2).array.dtype is torch.float32
    assert cw.asarray([1.5], backend="torch", dialect="torch").dtype.name == "float32"
    assert cw.apply("allclose", t, t).item() is True


@pytest.mark.parametrize("op", ["matmul", "dot", "add", "prod", "softmax", "norm", "mse_loss"])
def test_autocast_does_not_show(op: str) -> None:
    x = on_torch(np.linspace(0, 1, 9), "float32", "torch")
    operands = [x, x] if op in ("matmul", "dot", "add", "mse_loss") else [x]
    for _ in range(3):
        expected = cw.apply(op, *operands)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            got = cw.apply(op, *operands)
        assert got.array.dtype is torch.float32
        assert got.tolist() == expected.tolist()


def test_inference_mode_computes_the_same() -> None:
    x, y = on_torch([1, 2], "float16", "torch"), on_torch([1, 2], "float32", "torch")
    with torch.inference_mode():
        inside = x * y + 1
    assert inside.array.is_inference()
    assert (x * y + 1).tolist() == inside.tolist() == [2, 5]
    assert not (x * y + 1).array.is_inference()


def test_numbers_first_met_in_inference_mode_take_part_in_gradients() -> None:
    x = on_torch([1, 2], "float32", "torch")
    for _ in range(3):
        with torch.inference_mode():
            _ = x * 1.625
    x.requires_grad_()
    cw.apply("sum", x * 1.625).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.625, 1.625]


def test_numbers_first_met_while_tracing_are_not_kept() -> None:
    from torch._subclasses import FakeTensorMode

    x = on_torch([1, 2], "float32", "torch")
    with FakeTensorMode() as mode:
        traced = cw.asarray(mode.from_tensor(x.array), dialect="torch")
        for _ in range(3):
            assert repr(traced * 2.125).startswith("Tensor(shape=(2,), dtype=float32")
    assert (x * 2.125).tolist() == [2.125, 4.25]


@pytest.mark.parametrize("held", ["complex64", "complex128", "bool", "uint64", "float8_e5m2"])
def test_casts_within_an_op_are_those_of_astype(held: str) -> None:
    backend = backend_named("torch")
    array = on_torch([1, 0, 1], held).array
    for target in backend.dtypes:
        cast = backend.caster(cw.dtype(held), target)(array)  # type: ignore[attr-defined]
        expected = backend.cast(array, target)
        assert cast.dtype is expected.dtype
        assert torch.equal(cast.to(torch.complex128), expected.to(torch.complex128))


def test_a_default_device_holds_new_arrays_and_no_numbers() -> None:
    before = on_torch([1.0], "float32")
    with torch.device("meta"):
        assert cw.asarray([1, 2], backend="torch").array.device.type == "meta"
        assert (before + 2.5).tolist() == [3.5]


# Kinds of tensors


def test_a_meta_tensor_has_a_dtype_and_no_values() -> None:
    t = cw.asarray(torch.empty(2, 3, dtype=torch.float16, device="meta"))
    assert (t + on_torch([1, 2, 3], "float32")[0]).dtype.name == "float32"
    assert (t * t).shape == (2, 3)
    assert repr(t) == "Tensor(shape=(2, 3), dtype=float16, dialect=torch, backend=torch)"
    with pytest.raises(cw.UsageError, match="no values"):
        t.numpy()


def test_lazy_conjugates_and_negatives_have_their_values() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j])
    assert cw.asarray(z.conj()).tolist() == [1 - 2j, 3 + 1j]
    assert cw.asarray(z.conj().imag).tolist() == [-2, 1]
    assert (cw.asarray(z.conj()) + 1).tolist() == [2 - 2j, 4 + 1j]
    assert cw.asarray(z.to(torch.complex32).conj()).astype("complex64").tolist() == [1 - 2j, 3 + 1j]
    assert np.asarray(cw.asarray(z.to(torch.complex32).conj()), "complex64")[0] == 1 - 2j


def test_views_that_are_not_contiguous_compute() -> None:
    base = torch.arange(12).reshape(3, 4)
    for view in (base.T, base[:, ::2], base[1:, 1], base.expand(2, 3, 4)):
        assert (cw.asarray(view) + 1).tolist() == (view + 1).tolist()
    unsigned = cw.asarray(base.to(torch.uint64).T)
    assert (unsigned + unsigned).tolist() == (base.T * 2).tolist()


@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
def test_sparse_tensors_are_refused(layout: str) -> None:
    sparse = getattr(torch.eye(2), layout)()
    with pytest.raises(cw.UsageError, match=r"is sparse.*x\.to_dense\(\)"):
        cw.asarray(sparse)
    with pytest.raises(cw.UsageError, match="is sparse"):
        _ = on_torch([[1.0]], "float32") + sparse


# NumPy arrays


def test_numpy_arrays_share_their_memory() -> None:
    array = np.zeros(3, "float32")
    t = cw.asarray(array, backend="torch")
    array[0] = 5
    assert t.tolist() == [5, 0, 0]
    assert np.shares_memory(t.numpy(), array)
    copied = cw.asarray(array, backend="torch", copy=True)
    array[0] = 7
    assert copied.tolist() == [5, 0, 0]


@pytest.mark.parametrize("change", [
    lambda a: a[::-1], lambda a: a.astype(">f4"), lambda a: np.broadcast_to(a, (2, 3)),
    lambda a: a.astype("bfloat16"), lambda a: a.astype("float8_e5m2")[::-1],
])  # fmt: skip
def test_any_numpy_array_is_taken(change: Callable[[Any], Any]) -> None:
    array = change(np.asarray([1, 2, 3], "float32"))
    assert cw.asarray(array, backend="torch").tolist() == array.tolist()


def test_a_copy_is_refused_where_none_is_wanted() -> None:
    for data in ([1, 2], np.asarray([1, 2])[::-1], np.asarray([1, 2])):
        with pytest.raises(ValueError, match=r"can only become .* by a copy"):
            cw.asarray(data, backend="torch", dtype="int8", copy=False)
    t = torch.ones(2)
    assert cw.asarray(t, copy=False).array is t
    assert cw.asarray(t, copy=True).array is not t


def test_dtypes_that_torch_lacks_come_in_as_another() -> None:
    small = cw.asarray([1, 2, 3], dtype="int4")
    assert cw.asarray(small, backend="torch", dtype="int8").tolist() == [1, 2, 3]
    with pytest.raises(cw.UsageError, match="the backend torch has no int4"):
        cw.asarray(small, backend="torch")


def test_a_cast_and_what_changes_nothing_give_arrays_of_their_own() -> None:
    t = on_torch([1.5, 2.5], "float32", "torch")
    for other in (t.astype("float32"), cw.apply("clamp", t), cw.apply("abs", t)):
        other += 1
    assert t.tolist() == [1.5, 2.5]


def test_the_real_part_cast_from_complex_numbers_is_an_array_of_its_own() -> None:
    t = on_torch([1.5 + 1j], "complex64", "numpy")
    real = t.astype("float32")
    t[...] = 7
    assert real.tolist() == [1.5]


# Dialects of other frameworks


@pytest.mark.parametrize(
    "dialect", ["numpy", "jax", "jax:x64", "paddle", "tensorflow:all", "torch"]
)
def test_torch_computes_under_any_dialect(dialect: str) -> None:
    names = ("int8", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")
    tried = 0
    for left, right in itertools.product(names, repeat=2):
        for op in ("add", "mul", "div", "lt"):
            x, y = (cw.asarray([1, 2, 4], dtype=d, backend="torch", dialect=dialect)
                    for d in (left, right))  # fmt: skip
            try:
                decision = cw.resolve(op, x, y, dialect=dialect)
            except cw.PromotionError:
                continue
            tried += 1
            got = cw.apply(op, x, y)
            assert got.dtype is decision.result
            assert got.array.dtype is getattr(torch, decision.result.name)
            assert [float(v) for v in got.tolist()] == {
                "add": [2, 4, 8], "mul": [1, 4, 16], "div": [1, 1, 1], "lt": [0, 0, 0]
            }[op]  # fmt: skip
    assert tried > 30


@pytest.mark.parametrize("dialect", ["torch", "numpy", "jax:x64", "paddle", "mlx"])
@pytest.mark.parametrize("op", ["add", "sub", "div", "mul", "lt", "maximum"])
def test_mixed_dtypes_compute_as_with_the_casts_written_out(op: str, dialect: str) -> None:
    """Whether torch casts while it computes or castwise does before, 0-d or not, is not seen."""
    names = ("bool", "uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64",
             "complex64")  # fmt: skip
    values = ([[0.1, 1.7, 200.3]], [[3.3], [1.7], [77.7]])
    tried = 0
    for left, right in itertools.product(names, repeat=2):
        x, y = (torch.tensor(v, dtype=torch.float64).to(getattr(torch, d))
                for v, d in zip(values, (left, right), strict=True))  # fmt: skip
        for a, b in ((x, y), (x[0, 1], y), (x, y[0, 0])):
            try:
                decision = cw.resolve(op, a, b, dialect=dialect)
                got = cw.apply(op, cw.asarray(a, dialect=dialect), cw.asarray(b, dialect=dialect))
            except cw.PromotionError:
                continue
            tried += 1
            assert got.array.dtype is getattr(torch, decision.result.name)
            if op == "div" and dialect == "jax:x64" and b.ndim == 0:
                continue  # which multiplies by the reciprocal
            # complex numbers torch does not order, and bools it does not subtract
            if decision.compute.kind in ("int", "float"):
                native = getattr(torch, decision.compute.name)
                written_out = [a.to(native), b.to(native)]
                given = [a, b] if dialect == "torch" else written_out  # it is its own judge
                expected = getattr(torch, op)(*given)
                assert torch.equal(got.array, expected.to(got.array.dtype)), (left, right)
    assert tried > 30


# Devices


needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")


@needs_cuda
def test_arrays_stay_on_their_device() -> None:
    x = cw.asarray([1, 2, 3], dtype="float16", backend="torch", dialect="torch", device="cuda")
    y = cw.asarray(torch.ones(3, device="cuda"), dialect="torch")
    z = cw.asarray([5], dtype="int32", backend="torch", dialect="torch")[0]  # 0-d, on the CPU
    results = [x + y, x * 2.5, 2 ** x, x + z, x + np.float32(1), x.astype("float64"), x[0] + y[1],
               cw.apply("where", x > 1, x, 0.5), cw.apply("clamp", x, 1, 2), cw.apply("sum", x),
               cw.apply("lerp", y, y, 0.5), cw.apply("median", y), cw.apply("mse_loss", x, y),
               cw.apply("concat", x, y), cw.apply("logsumexp", y), x @ x]  # fmt: skip
    for result in results:
        assert result.array.device.type == "cuda"
        assert result.array.dtype is getattr(torch, result.dtype.name)
    x += 1
    x[0] = 9
    assert (x.array.device.type, x.tolist()) == ("cuda", [9, 3, 4])


@needs_cuda
@pytest.mark.parametrize("dtype", [*EDGES, "int8", "int64", "bool", *FLOAT8, "complex32"])
def test_cuda_computes_as_the_cpu_does(dtype: str) -> None:
    values = EDGES.get(dtype, [0, 1, 1, 0, 1, 1])[:6]
    ops = ("add", "mul", "maximum", "lt", "eq", "where", "matmul", "sum", "max", "floor_divide",
           "bitwise_xor", "pow", "bitwise_right_shift", "isfinite", "stack", "sign")  # fmt: skip
    for op, name in itertools.product(ops, ("numpy", "torch", "jax:x64")):
        found = []
        for device in ("cpu", "cuda"):
            x = cw.asarray(values, dtype=dtype, backend="torch", dialect=name, device=device)
            y = cw.asarray([1] * 6, dtype=dtype, backend="torch", dialect=name, device=device)
            operands = {"where": [x.astype("bool"), x, y], "sum": [x], "max": [x],
                        "isfinite": [x], "sign": [x]}.get(op, [x, y])  # fmt: skip
            try:
                found.append(cw.apply(op, *operands))
            except (cw.PromotionError, cw.UsageError):
                found.append(None)
        on_cpu, on_cuda = found
        assert (on_cpu is None) == (on_cuda is None), op
        if on_cpu is not None and on_cuda is not None:
            assert on_cuda.array.device.type == "cuda", op
            assert on_cuda.dtype is on_cpu.dtype, op
            np.testing.assert_array_equal(on_cuda.numpy(), on_cpu.numpy(), op)


@needs_cuda
@pytest.mark.parametrize(("op", "dtype", "operands", "expected"), [
    ("div", "float64", ([7.0], 3), [7 / 3]),
    ("floor_divide", "float64", ([1.7976931348623157e308], 3), [5.992310449541053e307]),
    ("pow", "float16", ([2048.0], -2), [2.0**-22]),
    ("cumsum", "float16", ([2048.0, 1.0, 1.0],), [2048.0, 2048.0, 2050.0]),
    ("angle", "bfloat16", ([-1.0],), [3.140625]),
])  # fmt: skip
def test_cuda_rounds_once(op: str, dtype: str, operands: Any, expected: list[float]) -> None:
    """Where torch itself multiplies with a reciprocal, or computes in the small float."""
    for dialect in ("numpy", "torch"):
        x = cw.asarray(operands[0], dtype=dtype, backend="torch", dialect=dialect, device="cuda")
        assert cw.apply(op, x, *operands[1:]).tolist() == expected


@needs_cuda
@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)),
                                    ((4, 2, 3), (3, 2)), ((4, 2, 3), (1, 3, 5))])  # fmt: skip
def test_products_of_integers_on_cuda(shapes: tuple[tuple[int, ...], ...]) -> None:
    made = [torch.randint(-9, 9, shape) for shape in shapes]
    x, y = (cw.asarray(array.cuda(), dialect="torch") for array in made)
    assert (x @ y).tolist() == (made[0] @ made[1]).tolist()


@needs_cuda
@pytest.mark.parametrize("op", ["exp", "pow", "sum", "matmul", "softmax", "reciprocal", "cumsum"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_autocast_does_not_show_on_cuda(op: str, dtype: str) -> None:
    x = cw.asarray([0.1, 0.2, 0.3], dtype=dtype, backend="torch", dialect="torch", device="cuda")
    operands = [x, x] if op in ("pow", "matmul") else [x]
    options = {"axis": 0} if op == "cumsum" else {}
    for _ in range(3):
        expected = cw.apply(op, *operands, **options)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            got = cw.apply(op, *operands, **options)
        assert got.array.dtype is expected.array.dtype
        assert got.tolist() == expected.tolist()


@needs_cuda
def test_gradients_on_cuda_have_their_inputs_dtype() -> None:
    x = cw.asarray([1, 2], dtype="float16", backend="torch", dialect="torch", device="cuda")
    x.requires_grad_()
    cw.apply("sum", x * cw.asarray(torch.ones(2, device="cuda"), dialect="torch")).backward()
    assert x.grad is not None
    assert (x.grad.dtype.name, x.grad.array.device.type) == ("float16", "cuda")


@pytest.mark.parametrize("op", ["mean", "logaddexp", "l1_loss", "mse_loss"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int32", "int64"])
def test_integers_stay_integers_where_torch_has_floats_alone(op: str, dtype: str) -> None:
    """Paddle's guide keeps the dtype of equal integers, as NumPy's functions let it."""
    found = {}
    for backend in ("numpy", "torch"):
        x, y = (
            cw.asarray(data, dtype=dtype, dialect="paddle:documented", backend=backend)
            for data in ([1, 0, 3, 7], [7, 0, 5, 1])
        )
        result = cw.apply(op, x) if op == "mean" else cw.apply(op, x, y)
        found[backend] = (result.dtype.name, result.tolist())
    assert found["torch"] == found["numpy"]
    assert found["torch"][0] == dtype


@pytest.mark.parametrize("dialect", ["torch", "numpy", "jax", "paddle"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
def test_a_tensor_without_values_computes_dtypes_and_shapes(dialect: str, dtype: str) -> None:
    native = getattr(torch, dtype)
    for run in (
        lambda x: cw.apply("sum", x),
        lambda x: cw.apply("exp", x),
        lambda x: x**x,
        lambda x: x**0.5,
        lambda x: x @ x,
        lambda x: x // x,
        lambda x: cw.apply("sqrt", x),
    ):
        there, nowhere = (
            cw.asarray(torch.ones((3, 3), dtype=native, device=device), dialect=dialect)
            for device in ("cpu", "meta")
        )
        try:
            expected = run(there)
        except cw.PromotionError:
            continue
        found = run(nowhere)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.device.type == "meta"


@pytest.mark.parametrize("dialect", ["torch", "numpy", "jax", "paddle"])
@pytest.mark.parametrize("op", ["pow", "floor_divide", "remainder", "div", "add"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_vmap_goes_through_tensors(dialect: str, op: str, dtype: str) -> None:
    x, y = (torch.tensor(v, dtype=getattr(torch, dtype)) for v in ([7, 8, 9], [2, 3, 1]))

    def run(a: Any, b: Any) -> Any:
        return cw.apply(op, cw.asarray(a, dialect=dialect), cw.asarray(b, dialect=dialect)).array

    assert torch.vmap(run)(x, y).tolist() == run(x, y).tolist()


@pytest.mark.parametrize("op", ["minimum", "maximum", "fmin", "fmax"])
def test_extrema_of_the_widest_unsigned_integers(op: str) -> None:
    """torch itself has no kernel for them."""
    values = np.array([1, 2**63 + 5, 2**64 - 1, 0, 7], "uint64")
    for dialect in ("numpy", "torch", "jax:x64"):
        pair = [cw.asarray(v, dialect=dialect, backend="torch") for v in (values, values[::-1])]
        assert cw.apply(op, *pair).tolist() == getattr(np, op)(values, values[::-1]).tolist()
