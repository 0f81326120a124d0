"""What every backend must do; the same tests run over all that are installed."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backend import Backend
from castwise.arrays.backends import array_backend, backend_named, backend_names
from castwise.conformance.questions import OF_SHAPES_ALONE
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.ops import OPS, Op
from loops import each

REFERENCE = "numpy"
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
# The ops that compute something; the others answer questions about dtypes.
# Layers need shapes and sizes of their own: test_layers.py has them, on every backend.
COMPUTING = [
    row
    for row in OPS.values()
    if row.family not in ("questions", "layers") and row.name not in OF_SHAPES_ALONE
]
# Dialects that between them take every dtype and mix.
DIALECTS = ("numpy", "torch", "jax:x64", "mlx")
PAIRS = (
    ("bool", "bool"), ("int8", "uint8"), ("int32", "float32"), ("uint8", "int64"),
    ("float16", "float32"), ("bfloat16", "bfloat16"), ("float64", "int16"), ("float16", "float16"),
    ("complex64", "float32"), ("int64", "int64"), ("float32", "float32"), ("bool", "int32"),
)  # fmt: skip


def installed(name: str) -> bool:
    try:
        backend_named(name)
    except cw.UsageError:
        return False
    return True


@pytest.fixture(params=backend_names(), autouse=True)
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Each backend, set up to hold 64-bit dtypes."""
    if not installed(request.param):
        pytest.skip(f"{request.param} is not installed")
    if request.param == "jax":
        import jax

        before = jax.config.jax_enable_x64
        jax.config.update("jax_enable_x64", True)
        yield backend_named(request.param)
        jax.config.update("jax_enable_x64", before)
    else:
        yield backend_named(request.param)


def tensor(values: Any, dtype: object, backend: Backend, dialect: str = "numpy") -> cw.Tensor:
    return cw.asarray(values, dtype=dtype, backend=backend.name, dialect=dialect)


def values_for(dtype: DType) -> list[Any]:
    if dtype.kind == "bool":
        return [True, False, True, True]
    if dtype.kind == "complex":
        return [1 + 2j, 2 - 1j, 0.5 + 0j, 1 + 1j]
    if dtype.bits <= 2:
        return [0, 0, 0, 0] if dtype.bits == 1 else [1, 0, 1, 1]
    if dtype.kind == "int":
        return [1, 2, 3, 1]
    return [1.0, 2.0, 4.0, 1.0] if dtype.mantissa_bits == 0 else [0.5, 2.0, 1.5, 1.0]


def in_both(backend: Backend) -> list[DType]:
    """The dtypes the backend and the reference can hold."""
    return [d for d in DTYPES if d in backend.dtypes and d in backend_named(REFERENCE).dtypes]


def test_it_has_the_common_dtypes(backend: Backend) -> None:
    common = "bool int8 int32 int64 uint8 float16 bfloat16 float32 float64 complex64 complex128"
    assert set(common.split()) <= {d.name for d in backend.dtypes}


def test_arrays_are_found_and_keep_their_dtype(backend: Backend) -> None:
    for dtype in in_both(backend):
        t = tensor(values_for(dtype), dtype, backend)
        assert backend.owns(t.array), dtype
        assert array_backend(t.array) is backend, dtype
        assert backend.dtype_of(t.array) is t.dtype is dtype
        assert t.shape == (4,)
        assert t.numpy().tolist() == np.asarray(values_for(dtype)).tolist(), dtype


def _in_common(source: DType, target: DType) -> list[int]:
    """Numbers that both dtypes hold."""
    names, kinds = {source.name, target.name}, {source.kind, target.kind}
    if "float8_e8m0fnu" in names:  # it has powers of two and no zero
        is_narrow = "bool" in kinds or min(source.bits, target.bits) <= 2
        return [1, 1, 1, 1] if is_narrow else [1, 2, 1, 4]
    if "int1" in names:
        return [0, 0, 0, 0]
    return [1, 0, 1, 1] if "bool" in kinds or names & {"int2", "uint1"} else [1, 2, 1, 0]


def test_casts_between_all_dtypes_are_those_of_the_reference(backend: Backend) -> None:
    reference = backend_named(REFERENCE)
    for source in in_both(backend):
        for target in in_both(backend):
            given = _in_common(source, target)
            cast = tensor(given, source, backend).astype(target)
            expected = tensor(given, source, reference).astype(target)
            assert cast.dtype is target
            np.testing.assert_array_equal(
                cast.numpy().astype("complex128"), expected.numpy().astype("complex128")
            )


def test_integers_out_of_range_wrap(backend: Backend) -> None:
    t = tensor([1, 2], "uint8", backend, "torch")
    assert (t + 300).tolist() == [45, 46]
    assert (tensor([200], "uint8", backend) + tensor([100], "uint8", backend)).tolist() == [44]


@pytest.mark.parametrize("dialect", DIALECTS)
@each("row", COMPUTING)
def test_every_op_computes_what_was_decided(backend: Backend, row: Op, dialect: str) -> None:
    """The result has the decided dtype and, except for rounding, the reference's values."""
    tried = 0
    for pair in PAIRS:
        operands = _operands(row, pair)
        try:
            decision = cw.resolve(row.name, *operands, dialect=dialect, form="function")
        except cw.PromotionError:
            continue
        needed = {decision.result, decision.compute, *[cw.dtype(o.split("[")[0]) for o in operands]}
        if not needed <= set(backend.dtypes):
            continue
        if not decision.has_kernel:
            continue
        tried += 1
        if (row.name, decision.compute.name) in NOT_COMPUTED:
            continue
        got, expected = (
            cw.apply(row.name, *_tensors(operands, b, dialect, row))
            for b in (backend, backend_named(REFERENCE))
        )
        assert got.dtype is decision.result, (operands, decision)
        assert got.shape == expected.shape, operands
        assert_near(got, expected)
    if row.name not in NOWHERE.get(dialect, ()):
        assert tried


# What no backend computes: the reference has no such function of complex numbers.
NOT_COMPUTED = {
    (op, "complex64") for op in ("logaddexp", "atan2", "hypot", "floor_divide", "remainder", "gelu")
}
# What an integer divided by zero gives is each library's own.
DIVIDES = ("floor_divide", "floor_div", "truncate_div", "remainder", "fmod", "reciprocal")
# Ops a dialect refuses for all of PAIRS.
NOWHERE: dict[str, tuple[str, ...]] = {}


def _operands(row: Op, pair: tuple[str, str]) -> list[str]:
    if row.arity[1] == 1:
        return [f"{pair[0]}[4]"]
    if row.is_condition_first:
        return ["bool[4]", *[f"{name}[4]" for name in pair]]
    if row.arity == (3, 3):
        return [f"{pair[0]}[4]", f"{pair[1]}[4]", f"{pair[0]}[4]"]
    return [f"{name}[4]" for name in pair]


def _tensors(operands: list[str], backend: Backend, dialect: str, row: Op) -> list[cw.Tensor]:
    dtypes = [cw.dtype(o.split("[")[0]) for o in operands]
    has_zeros, count = row.name not in DIVIDES, 3 if row.name == "cross" else 4
    values = [values_for(d) if has_zeros or d.kind != "bool" else [True] * 4 for d in dtypes]
    return [tensor(v[:count], d, backend, dialect) for v, d in zip(values, dtypes, strict=True)]


def assert_near(got: cw.Tensor, expected: cw.Tensor) -> None:
    bits = got.dtype.mantissa_bits if got.dtype.kind in ("float", "complex") else 60
    np.testing.assert_allclose(
        got.numpy().astype("complex128"), expected.numpy().astype("complex128"),
        rtol=2.0 ** (3 - bits), atol=2.0 ** (1 - bits),
    )  # fmt: skip


def test_reductions_take_an_axis(backend: Backend) -> None:
    t = tensor([[1, 2, 3], [4, 5, 6]], "float16", backend)
    for name in ("sum", "prod", "mean", "max", "min", "any", "all", "std", "var"):
        got = cw.apply(name, t, axis=0, keepdims=True)
        assert got.shape == (1, 3), name
        assert cw.apply(name, t).shape == (), name
    assert cw.apply("sum", t, axis=1).tolist() == [6, 15]


METHODS = """t.sum(0) t.mean(dim=1) t.max(1) t.argmax(axis=0) t.std() t.cumsum(1) t.softmax(-1)
t.reshape(3,2) t.view(-1) t.permute(1,0) t.transpose(0,1) t.T t.unsqueeze(0).squeeze() t.flatten()
t.clone() t.contiguous() t.detach() t.cpu() t.expand(2,-1,3) t.flip(0) t.roll(1,0) t.tile(2,1)
t.repeat_interleave(2,1) t.chunk(2,1) t.unbind() t.take([[0,2]],1) t.sort() t.argsort(dim=0)
t.where(t>1,0) t.diff() t.norm(dim=1) t.diagonal() t.tril() t.add(t,alpha=2) t.mm(t.T) t.round(1)
t.clamp(max=2) t.float() t.to("float16") t.real t.isnan() t.take([1])"""


@each("call", METHODS.split())
def test_methods_give_what_they_give_on_the_reference(backend: Backend, call: str) -> None:
    found = []
    for name in (backend.name, REFERENCE):
        t = cw.asarray([[3, 1, 2], [0, 2, 5]], dtype="float32", backend=name, dialect="torch")
        given = eval(call, {"t": t})
        parts = given if isinstance(given, tuple) else (given,)
        found.append([(p.dtype, p.shape, np.round(p.astype("float64").numpy(), 5)) for p in parts])
        assert all(part.backend == name for part in parts)
    for mine, theirs in zip(*found, strict=True):
        assert mine[:2] == theirs[:2]
        np.testing.assert_array_equal(mine[2], theirs[2])


def test_indexing_gives_views_of_the_same_kind(backend: Backend) -> None:
    t = tensor([[1, 2, 3], [4, 5, 6]], "int16", backend, "torch")
    assert t[0].tolist() == [1, 2, 3]
    assert t[1, 2].shape == ()
    assert t[1, 2].item() == 6
    assert t[:, 1:].dtype is t.dtype
    assert t[..., None].shape == (2, 3, 1)
    assert t[0].dialect.name == "torch"


@pytest.mark.parametrize(("dialect", "seen"), [("torch", 9), ("paddle", 9), ("numpy", 1)])
def test_one_element_is_a_view_where_the_framework_has_views(
    backend: Backend, dialect: str, seen: int
) -> None:
    if backend.name not in ("numpy", "torch", "cupy"):
        pytest.skip(f"arrays of {backend.name} are not written into")
    t = tensor([1, 2, 3], "int16", backend, dialect)
    one, whole = t[0], t[1:]
    t[0], t[1] = 9, 8
    assert (one.item(), whole.tolist()) == (seen, [8, 3])
    single = t[2][()]
    t[2] = 7
    assert single.item() == (7 if seen == 9 else 3)


def test_an_array_is_read_before_it_is_assigned_to_a_part_of_itself(backend: Backend) -> None:
    t = tensor([1, 2, 3, 4], "int16", backend, "numpy")
    t[1:] = t[:3]
    assert t.tolist() == [1, 1, 2, 3]


def test_values_are_written_in_place(backend: Backend) -> None:
    t = tensor([1, 2, 3], "float32", backend, "torch")
    t += 1
    assert t.tolist() == [2, 3, 4]
    t.mul_(tensor([2], "int8", backend, "torch"))
    assert (t.tolist(), t.dtype.name) == ([4, 6, 8], "float32")
    t[1] = 5
    assert t.tolist() == [4, 5, 8]


def test_a_tensor_is_pickled(backend: Backend) -> None:
    t = tensor([1, 2, 3], "bfloat16", backend, "torch")
    back = pickle.loads(pickle.dumps(t))
    assert back.tolist() == t.tolist()
    assert (back.dtype, back.backend, back.dialect.name) == (t.dtype, t.backend, "torch")


def test_numpy_arrays_and_scalars_go_along(backend: Backend) -> None:
    t = tensor([1, 2, 3], "float32", backend)
    assert (t + np.asarray([1, 2, 3], "int8")).dtype.name == "float32"
    assert (np.asarray([1.0, 2, 3]) * t).dtype.name == "float64"
    assert (t + np.float64(1)).dtype.name == "float64"
    assert (t + 1.0).dtype.name == "float32"


def test_another_backend_is_refused(backend: Backend) -> None:
    other = next((n for n in backend_names() if n != backend.name and installed(n)), None)
    if other is None:
        pytest.skip("there is no other backend")
    with pytest.raises(cw.UsageError, match="do not mix: convert one first"):
        _ = tensor([1], "int8", backend) + tensor([1], "int8", backend_named(other))
    converted = cw.asarray(tensor([1], "int8", backend), backend=other)
    assert converted.backend == other


def test_a_dtype_it_lacks_is_a_clear_error(backend: Backend) -> None:
    lacked = [d for d in DTYPES if d not in backend.dtypes]
    for dtype in lacked:
        with pytest.raises(cw.UsageError, match=f"the backend {backend.name} has no {dtype}"):
            tensor([1], dtype, backend)


def test_the_text_shows_what_it_is(backend: Backend) -> None:
    text = repr(tensor([1, 2], "int8", backend, "torch"))
    assert text.startswith("Tensor(")
    assert text.endswith(f"dtype=int8, dialect=torch, backend={backend.name})")


SHAPES = (
    ((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((), ()), ((0,), (1,)),
    ((2, 0), (1, 0)), ((0,), ()), ((4, 1, 3), (2, 1)),
)  # fmt: skip


def filled(shape: tuple[int, ...], dtype: str) -> Any:
    size = int(np.prod(shape))
    return (np.arange(size).reshape(shape) % 5 + 1).astype("int64").astype(dtype)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes_broadcast(backend: Backend, shapes: tuple[tuple[int, ...], ...]) -> None:
    for op in ("add", "mul", "div", "lt", "maximum", "floor_divide", "pow", "where"):
        for dtypes in (("int32", "int32"), ("float32", "float64"), ("uint8", "int16")):
            found = []
            for b in (backend, backend_named(REFERENCE)):
                x, y = (tensor(filled(s, d), d, b) for s, d in zip(shapes, dtypes, strict=True))
                found.append(cw.apply(op, *([x > 2] if op == "where" else []), x, y))
            got, expected = found
            assert (got.shape, got.dtype) == (expected.shape, expected.dtype), (op, dtypes)
            np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-6)


PRODUCTS = (
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (1, 3, 4)), ((2, 0), (0, 3)), ((0, 3), (3, 2)),
    ((0,), (0,)),
)  # fmt: skip


@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_products_of_all_shapes(backend: Backend, shapes: tuple[tuple[int, ...], ...]) -> None:
    for dtype in ("int8", "int32", "float32", "complex64", "bool"):
        for op in ("matmul", "dot"):
            got, expected = (
                cw.apply(op, *[tensor(filled(shape, dtype), dtype, b) for shape in shapes])
                for b in (backend, backend_named(REFERENCE))
            )
            assert (got.shape, got.dtype) == (expected.shape, expected.dtype), (op, dtype)
            np.testing.assert_array_equal(got.numpy(), expected.numpy(), f"{op} {dtype}")


@pytest.mark.parametrize("dialect", ["numpy", "torch", "tensorflow", "array-api"])
@pytest.mark.parametrize("shapes", [((), ()), ((), (3,)), ((2, 3), ())], ids=str)
def test_no_product_of_matrices_without_dimensions(
    backend: Backend, shapes: tuple[tuple[int, ...], ...], dialect: str
) -> None:
    x, y = (tensor(filled(shape, "float32"), None, backend, dialect) for shape in shapes)
    with pytest.raises(cw.UsageError, match="each operand needs a dimension") as eager:
        x @ y
    with pytest.raises(cw.UsageError, match="each operand needs a dimension") as traced:
        cw.trace(lambda x, y: x @ y, x, y, dialect=dialect)
    assert str(traced.value) == str(eager.value)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 3), (2, 0), (2, 3, 4)], ids=str)
def test_reductions_of_all_shapes(backend: Backend, shape: tuple[int, ...]) -> None:
    axes = [None, *range(len(shape)), *([(0, len(shape) - 1)] if len(shape) > 1 else [])]
    needs_one = ("max", "min", "mean", "std", "var")
    for op, axis in itertools.product(("sum", "prod", "any", "all", *needs_one), axes):
        if op in needs_one and 0 in shape:
            continue
        for dtype, keepdims in itertools.product(("int16", "float32"), (False, True)):
            got, expected = (
                cw.apply(op, tensor(filled(shape, dtype), dtype, b), axis=axis, keepdims=keepdims)
                for b in (backend, backend_named(REFERENCE))
            )
            assert (got.shape, got.dtype) == (expected.shape, expected.dtype), (op, axis)
            np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dialect", ["numpy", "torch", "jax:x64"])
@pytest.mark.parametrize("op", ["add", "mul", "maximum", "eq", "lt", "where", "concat", "neg"])
def test_ops_compute_in_every_dtype(backend: Backend, op: str, dialect: str) -> None:
    """Also in those the library may have no kernel for: castwise goes through a wider one."""
    tried = 0
    for dtype in in_both(backend):
        one, two = f"{dtype}[4]", f"{dtype}[4]"
        operands = {"where": ["bool[4]", one, two], "neg": [one]}.get(op, [one, two])
        try:
            decision = cw.resolve(op, *operands, dialect=dialect)
        except cw.PromotionError:
            continue
        if not {decision.compute, decision.result} <= set(backend.dtypes):
            continue
        if decision.has_kernel:
            tried += 1
            got, expected = (
                cw.apply(op, *_tensors(operands, b, dialect, OPS[op]))
                for b in (backend, backend_named(REFERENCE))
            )
            assert got.dtype is expected.dtype is decision.result, dtype
            np.testing.assert_array_equal(
                got.numpy().astype("complex128"), expected.numpy().astype("complex128"), str(dtype)
            )
    assert tried > 5
