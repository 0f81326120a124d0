"""What is JAX's own: x64, weak types, tracing, and tensors as trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named
from castwise.arrays.functions import function_for
from castwise.vocab.dtypes import dtypes_named
from castwise.vocab.ops import OPS

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")


@pytest.fixture
def x64() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def tensor(values: Any, dtype: str | None = None, dialect: str | None = "jax") -> cw.Tensor:
    return cw.asarray(values, dtype=dtype, dialect=dialect, backend="jax")


def names(*tensors: cw.Tensor) -> list[str]:
    return [t.dtype.name for t in tensors]


class TestX64:
    def test_without_it_there_are_no_64_bit_dtypes(self) -> None:
        held = {d.name for d in backend_named("jax").dtypes}
        assert not held & {"int64", "uint64", "float64", "complex128"}
        assert {"int2", "uint4", "float8_e4m3fn", "float4_e2m1fn", "bfloat16", "int32"} <= held

    def test_with_it_there_are(self, x64: None) -> None:
        assert cw.dtype("float64") in backend_named("jax").dtypes
        assert tensor([1.5], "float64", "numpy").array.dtype == "float64"

    def test_the_context_manager_counts(self) -> None:
        with jax.enable_x64(True):
            assert tensor([1.5], "float64", "numpy").dtype.name == "float64"
        with pytest.raises(cw.UsageError, match="the backend jax has no float64"):
            tensor([1.5], "float64", "numpy")

    def test_the_error_names_the_backends_and_the_switch(self) -> None:
        with pytest.raises(cw.UsageError) as caught:
            tensor([1, 2], "float64", "torch")
        assert "the backend jax has no float64 arrays; of those installed" in str(caught.value)
        assert "numpy" in str(caught.value)
        assert "jax.config.update('jax_enable_x64', True)" in str(caught.value)

    def test_a_result_of_64_bits_is_that_error_too(self) -> None:
        t = tensor([1, 2], "int32", "numpy")
        with pytest.raises(cw.UsageError, match=r"has no float64 arrays.*jax_enable_x64"):
            _ = t + tensor([0.5, 1], "float32", "numpy")

    def test_a_dtype_it_never_has_gets_no_hint(self) -> None:
        with pytest.raises(cw.UsageError) as caught:
            tensor([1], "complex32", "torch")
        assert "x64" not in str(caught.value)

    def test_a_plan_made_with_x64_does_not_truncate_without(self) -> None:
        with jax.enable_x64(True):
            t = tensor([1, 2], "int32", "numpy")
            assert (t + tensor([0.5, 1], "float32", "numpy")).dtype.name == "float64"
        with pytest.raises(cw.UsageError, match="has no float64 arrays"):
            _ = t + tensor([0.5, 1], "float32", "numpy")

    def test_the_dialect_of_jax_truncates(self) -> None:
        assert names(tensor([1.5], "float64"), tensor([1]), tensor([1j])) == [
            "float32", "int32", "complex64",
        ]  # fmt: skip
        assert tensor(np.asarray([2**32 + 5])).tolist() == [5]

    def test_numpy_arrays_of_64_bits_enter_in_the_dtype_they_are_cast_to(self) -> None:
        t = tensor([1, 2], "float32")
        assert (t * np.asarray([2**20, 1])).tolist() == [2.0**20, 2]
        assert names(t * np.float64(2)) == ["float32"]
        assert names(tensor([1, 2], "int8") + np.arange(2)) == ["int32"]
        with pytest.raises(cw.UsageError, match="jax_enable_x64"):
            _ = t.under("numpy") + np.arange(2)


class TestWeak:
    def test_a_weak_array_is_weak_where_the_dialect_has_such(self) -> None:
        weak = jnp.asarray(1.5)
        assert weak.weak_type
        assert cw.asarray(weak, dialect="jax").weak_type
        assert not cw.asarray(weak, dialect="torch").weak_type
        assert not cw.asarray(weak, dialect="jax", dtype="float32").weak_type
        assert not cw.asarray(jnp.ones(3), dialect="jax").weak_type

    def test_the_array_underneath_is_strong(self) -> None:
        t = cw.asarray(jnp.asarray(1.5), dialect="jax")
        assert not t.array.weak_type
        for result in (t + 1, t + t, -t, t * cw.asarray(jnp.asarray(2), dialect="jax")):
            assert result.weak_type
            assert not result.array.weak_type

    def test_weakness_decides_as_in_jax(self) -> None:
        weak, strong = jnp.asarray(1.5), jnp.ones(3, "bfloat16")
        got = cw.asarray(weak, dialect="jax") + cw.asarray(strong, dialect="jax")
        assert got.dtype.name == (weak + strong).dtype.name == "bfloat16"
        assert not got.weak_type
        under_torch = cw.asarray(weak, dialect="torch") + cw.asarray(jnp.ones(3, "int8"))
        assert under_torch.dtype.name == "float32"

    def test_a_raw_weak_array_beside_a_tensor(self) -> None:
        strong = tensor([1, 2], "bfloat16")
        assert names(strong + jnp.asarray(1.5), jnp.asarray(1.5) + strong) == ["bfloat16"] * 2
        t = tensor([1, 2], "float32", "torch")
        result = t + jnp.asarray(1.5)
        assert (result.weak_type, result.array.weak_type) == (False, False)
        doubled = cw.apply("add", jnp.asarray(1.5), jnp.asarray(1.5))  # as JAX, by its arrays
        assert doubled.weak_type is (jnp.asarray(1.5) + jnp.asarray(1.5)).weak_type is True
        with cw.use("numpy"):
            doubled = cw.apply("add", jnp.asarray(1.5), jnp.asarray(1.5))
        assert (doubled.weak_type, doubled.array.weak_type) == (False, False)

    def test_another_dialect_or_an_astype_makes_it_strong(self) -> None:
        t = cw.asarray(jnp.asarray(1.5), dialect="jax")
        assert cw.asarray(t).weak_type
        assert not t.astype("float32").weak_type
        assert not t.under("torch").weak_type
        with cw.use("torch"):
            assert (t.under(None) + 1).dtype.name == "float32"

    def test_the_text_says_so(self) -> None:
        text = repr(cw.asarray(jnp.asarray(1.5), dialect="jax"))
        assert text == "Tensor(1.5, dtype=float32, weak, dialect=jax, backend=jax)"


class TestArrays:
    def test_a_cast_out_of_range_ends_at_the_limits(self) -> None:
        t = tensor([1e20, -1e20, float("nan"), 300.7], "float32")
        assert t.astype("int32").tolist() == [2**31 - 1, -(2**31), 0, 300]
        assert t.astype("uint8").tolist() == [255, 0, 0, 255]

    @pytest.mark.filterwarnings("error")
    def test_a_cast_from_complex_drops_the_imaginary_part(self) -> None:
        t = tensor([1 + 2j, 2j], "complex64")
        assert t.astype("float32").tolist() == [1, 0]
        assert t.astype("bool").tolist() == [True, True]

    def test_a_shape_without_elements_is_no_data(self) -> None:
        with pytest.raises(cw.UsageError, match="ShapeDtypeStruct has no elements"):
            tensor(jax.ShapeDtypeStruct((3,), "float32"))

    def test_writing_leaves_the_array_it_came_from(self) -> None:
        array = jnp.zeros(3)
        t = cw.asarray(array)
        t.fill_(1)
        t += 1
        assert (t.tolist(), array.tolist()) == ([2, 2, 2], [0, 0, 0])

    def test_an_index_with_tensors(self) -> None:
        t = tensor([[1, 2], [3, 4]], "int16")
        assert t[tensor([1, 0], "int32")].tolist() == [[3, 4], [1, 2]]
        assert t.at[t > 2].set(0).tolist() == [[1, 2], [0, 0]]

    def test_an_array_of_jax_leaves_operators_to_the_tensor(self) -> None:
        result = jnp.ones(2, "int8") + tensor([1, 2], "uint8", "torch")
        assert isinstance(result, cw.Tensor)
        assert result.dtype.name == "int16"

    def test_a_device_is_taken_as_jax_names_it(self) -> None:
        device = jax.devices()[0]
        assert cw.asarray([1.5], dialect="jax", backend="jax", device=device).device == device

    @pytest.mark.parametrize("name", ["int4", "uint2", "float8_e5m2", "float4_e2m1fn"])
    def test_places_in_arrays_of_small_dtypes(self, name: str) -> None:
        array = tensor([0] * 200 + [1] * 3, name, "numpy").array
        for op, expected in (("argmax", 200), ("argmin", 0), ("count_nonzero", 3)):
            assert function_for(backend_named("jax"), op, cw.dtype(name))(array) == expected

    @pytest.mark.parametrize("dialect", ["torch", "paddle", "tensorflow:np-all", "mlx", "keras"])
    def test_other_frameworks_rules_on_its_arrays(self, dialect: str) -> None:
        for left, right in (("int8", "uint8"), ("bfloat16", "float16"), ("int16", "float16")):
            try:
                expected = cw.resolve("add", f"{left}[2]", f"{right}[2]", dialect=dialect).result
            except cw.PromotionError:
                with pytest.raises(cw.PromotionError):
                    _ = tensor([1, 2], left, dialect) + tensor([1, 2], right, dialect)
                continue
            got = tensor([1, 2], left, dialect) + tensor([1, 2], right, dialect)
            assert (got.dtype, got.array.dtype.name) == (expected, expected.name)
            assert got.tolist() == [2, 4]


def test_every_function_takes_every_dtype_it_is_asked_for(x64: None) -> None:
    """One op of each way to compute it, in all dtypes it computes in."""
    backend, reference = backend_named("jax"), backend_named("numpy")
    for op in ("add", "sqrt", "maximum", "where", "sum", "nextafter", "bitwise_xor", "softmax"):
        for dtype in sorted(backend.dtypes & reference.dtypes, key=str):
            if dtype not in dtypes_named(OPS[op].computes):
                continue
            values = [1, 0, 1] if dtype.mantissa_bits != 0 else [1, 2, 4]
            arrays = [b.make(values, dtype, copy=None, device=None) for b in (backend, reference)]
            got, expected = (
                function_for(b, op, dtype)(*_operands(op, x))
                for b, x in zip((backend, reference), arrays, strict=True)
            )
            assert backend.owns(got), (op, dtype)
            np.testing.assert_allclose(
                np.asarray(got).astype("complex128"), np.asarray(expected).astype("complex128"),
                rtol=0.25 if dtype.bits <= 8 else 0.01, err_msg=f"{op} {dtype}",
            )  # fmt: skip


def _operands(op: str, array: Any) -> list[Any]:
    condition = [array == array] if op == "where" else []
    return [*condition, *[array] * (1 if OPS[op].arity[1] == 1 else 2)]


@pytest.mark.parametrize(
    ("op", "others", "expected"),
    [
        ("logical_not", (), [True, False, False, False]),
        ("logical_and", (True,), [False, True, True, True]),
        ("logical_or", (False,), [False, True, True, True]),
        ("logical_xor", (False,), [False, True, True, True]),
    ],
)
def test_a_subnormal_bfloat16_is_true_and_a_subnormal_float32_is_not(
    op: str, others: tuple[bool, ...], expected: list[bool]
) -> None:
    """XLA compares the first with a constant zero by its bits, as jax.numpy's functions show."""
    for name in ("bfloat16", "float32"):
        x = np.array([0.0, 1e-40, -1e-40, 1.0]).astype(jnp.dtype(name))
        theirs = getattr(jnp, op)(jnp.asarray(x), *others).tolist()
        for backend in ("jax", "numpy"):
            tensor = cw.asarray(x, dialect="jax", backend=backend)
            assert cw.apply(op, tensor, *others).tolist() == theirs
        assert (theirs == expected) == (name == "bfloat16")
