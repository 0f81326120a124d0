"""Tensors under JAX's transformations: trees that go in and come out, decided while traced."""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np
import pytest

import castwise as cw
from processes import finished

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")


def tensor(values: Any, dtype: str, dialect: str | None = "torch") -> cw.Tensor:
    return cw.asarray(values, dtype=dtype, dialect=dialect, backend="jax")


class Traced:
    """A function under jit that counts how often it is traced."""

    def __init__(self, function: Any) -> None:
        self.times = 0
        self.function = function
        self.compiled = jax.jit(self._counted)

    def _counted(self, *operands: Any) -> Any:
        self.times += 1
        return self.function(*operands)

    def __call__(self, *operands: Any) -> Any:
        return self.compiled(*operands)


class TestJit:
    def test_it_computes_what_it_does_without(self) -> None:
        def f(x: cw.Tensor, y: cw.Tensor) -> dict[str, Any]:
            return {"sum": x + y * 2, "less": [x < y], "all": cw.apply("sum", x)}

        x, y = tensor([1, 2, 3], "int8"), tensor([2.5, 1, 0], "bfloat16")
        with jax.enable_x64(True):
            got, expected = jax.jit(f)(x, y), f(x, y)
        for one, other in zip(_leaves(got), _leaves(expected), strict=True):
            assert isinstance(one, cw.Tensor)
            assert one.tolist() == other.tolist()
            assert one._kind is other._kind

    def test_equal_signatures_are_traced_once(self) -> None:
        f = Traced(lambda x, y: x + y)
        for values in ([1, 2], [3, 4], [5, 6]):
            result = f(tensor(values, "int8"), tensor(values, "uint8"))
            assert result.tolist() == [2 * v for v in values]
        assert f.times == 1
        assert f(tensor([1, 2], "uint8"), tensor([1, 2], "int8")).dtype.name == "int16"
        assert f.times == 2

    def test_a_dialect_of_its_own_is_part_of_the_signature(self) -> None:
        f = Traced(lambda x, y: x + y)
        for dialect, expected in (("torch", "float16"), ("jax", "float16"), ("keras", "float16")):
            x, y = tensor([1], "int32", dialect), tensor([1], "float16", dialect)
            assert f(x, y).dtype.name == (x + y).dtype.name == expected
            assert f(x, y).dialect.name == dialect
        assert f.times == 3

    def test_so_is_the_dialect_of_the_context(self) -> None:
        f = Traced(lambda x, y: x + y)
        x, y = tensor([1], "int16", None), tensor([1], "float16", None)
        for dialect, expected in (("jax", "float16"), ("numpy", "float32"), ("jax", "float16")):
            with cw.use(dialect):
                assert f(x, y).dtype.name == (x + y).dtype.name == expected
        assert f.times == 2

    def test_and_whether_it_is_weak(self) -> None:
        f = Traced(lambda x, y: x + y)
        weak, strong = (cw.asarray(jnp.asarray(1.5), dialect="jax", dtype=d) for d in
                        (None, "float32"))  # fmt: skip
        y = tensor([1, 2], "bfloat16", "jax")
        assert [f(x, y).dtype.name for x in (weak, strong, weak)] == [
            "bfloat16", "float32", "bfloat16",
        ]  # fmt: skip
        assert f.times == 2

    def test_raw_arrays_are_wrapped_inside(self) -> None:
        f = jax.jit(lambda x: (cw.asarray(x, dialect="torch") + tensor([1], "int8")).array)
        assert f(jnp.ones(3, "uint8")).dtype == "int16"
        weak = jax.jit(lambda x: cw.asarray(x, dialect="jax") + tensor([1], "bfloat16", "jax"))
        assert weak(2.0).dtype.name == "bfloat16"

    def test_a_tensor_on_numpy_goes_in_and_comes_out_on_jax(self) -> None:
        tensor([1], "int8")  # JAX learns of tensors with its first one
        got = jax.jit(lambda x: x + 1)(cw.asarray([1, 2], dtype="int16", dialect="torch"))
        assert (got.backend, got.dtype.name, got.tolist()) == ("jax", "int16", [2, 3])

    def test_a_tracer_shows_its_shape_and_no_values(self) -> None:
        texts: list[str] = []
        jax.jit(lambda x: texts.append(repr(x)))(tensor([[1, 2]], "int8"))
        assert texts == ["Tensor(shape=(1, 2), dtype=int8, dialect=torch, backend=jax)"]

    def test_values_are_not_there_to_be_read(self) -> None:
        with pytest.raises(jax.errors.TracerArrayConversionError):
            jax.jit(lambda x: 1 if x[0] > 0 else 2)(tensor([1], "int8"))

    def test_a_rule_that_looks_at_values_takes_one(self) -> None:
        base, power = tensor([2, 3], "int8", "jax"), tensor(2, "int16", "jax")
        eager, traced = base**power, jax.jit(lambda x, y: x**y)(base, power)
        assert eager.tolist() == traced.tolist() == [4, 9]
        assert traced.dtype is cw.resolve("pow", "int8[2]", "int16=1[]", dialect="jax").result

    def test_in_place_changes_the_tensor_inside_alone(self) -> None:
        def f(x: cw.Tensor) -> cw.Tensor:
            x += 1
            x[0] = 9
            return x

        t = tensor([1, 2], "float16")
        assert jax.jit(f)(t).tolist() == [9, 3]
        assert t.tolist() == [1, 2]

    def test_casts_are_counted_while_it_is_traced(self) -> None:
        f = jax.jit(lambda x, y: x + y)
        x, y = tensor([1, 2], "int8"), tensor([1, 2], "float16")
        with cw.count_casts() as first:
            f(x, y)
        with cw.count_casts() as second:
            f(x, y)
        assert (first.total.casts, second.total.casts) == (1, 0)


class TestGradients:
    def test_each_has_the_dtype_of_its_input(self) -> None:
        def loss(parameters: dict[str, cw.Tensor], x: cw.Tensor) -> Any:
            y = parameters["w"] * x + parameters["b"]
            return cw.apply("sum", y * y).array

        parameters = {"w": tensor([1, 2], "bfloat16"), "b": tensor(0.5, "float16")}
        x = tensor([1, 3], "float32")
        value, found = jax.value_and_grad(loss)(parameters, x)
        assert value.dtype == "float32"
        assert {k: g.dtype.name for k, g in found.items()} == {"w": "bfloat16", "b": "float16"}
        assert found["w"].tolist() == [3, 39]
        assert found["b"].item() == 16
        assert found["w"].dialect.name == "torch"

    def test_under_jit_too(self) -> None:
        f = jax.jit(jax.grad(lambda x: cw.apply("mean", x * 3).array))
        got = f(tensor([1, 2, 3], "float16"))
        assert (got.dtype.name, got.shape) == ("float16", (3,))
        np.testing.assert_allclose(got.numpy(), [1, 1, 1], rtol=1e-3)

    def test_a_tensor_as_the_loss_is_refused_by_jax_itself(self) -> None:
        with pytest.raises(TypeError, match="scalar-output functions"):
            jax.grad(lambda x: cw.apply("sum", x))(tensor([1, 2], "float32"))

    def test_vjp_and_jvp_take_and_give_tensors(self) -> None:
        x = tensor([1, 2], "float32")
        value, pull = jax.vjp(lambda x: x * x, x)
        assert pull(value)[0].tolist() == [2, 16]
        assert jax.jvp(lambda x: x * x, (x,), (x,))[1].tolist() == [2, 8]

    @pytest.mark.parametrize("op", ["relu", "softmax", "gelu", "norm", "logsumexp", "sigmoid"])
    def test_functions_of_small_floats_have_finite_ones(self, op: str) -> None:
        x = tensor([0.5, -1, 2], "bfloat16")
        got = jax.grad(lambda x: cw.apply("sum", cw.apply(op, x)).array)(x)
        assert got.dtype is x.dtype
        assert np.isfinite(got.numpy().astype("float32")).all()


class TestVmap:
    def test_the_rank_is_the_one_inside(self) -> None:
        """torch: what is 0-d in there does not widen what has dimensions."""
        x, y = tensor([1, 2], "float32"), tensor([1, 2, 3], "float16")
        ranks: list[int] = []

        def f(x: cw.Tensor, y: cw.Tensor) -> cw.Tensor:
            ranks.append(x.ndim)
            return x * y

        got = jax.vmap(f, in_axes=(0, None))(x, y)
        assert (ranks, got.shape, got.dtype.name) == ([0], (2, 3), "float16")
        assert (x[:, None] * y).dtype.name == "float32"
        assert got.tolist() == [[1, 2, 3], [2, 4, 6]]

    def test_what_comes_out_has_dimensions_again(self) -> None:
        got = jax.vmap(lambda x: x * 2)(tensor([1, 2], "float32"))
        assert (got * tensor([1, 2], "float16")).dtype.name == "float32"

    def test_reductions_inside(self) -> None:
        got = jax.vmap(lambda x: cw.apply("max", x))(tensor([[1, 5], [7, 2]], "int16"))
        assert got.tolist() == [5, 7]


class TestLoops:
    def test_scan(self) -> None:
        def step(total: cw.Tensor, x: cw.Tensor) -> tuple[cw.Tensor, cw.Tensor]:
            total = total + x
            return total, total * 2

        xs = tensor([1, 2, 3], "int16")
        total, doubled = jax.lax.scan(step, tensor(0, "int16"), xs)
        assert (total.item(), doubled.tolist(), total.dtype.name) == (6, [2, 6, 12], "int16")

    def test_a_carry_that_changes_dtype_is_refused_by_jax(self) -> None:
        with pytest.raises(TypeError, match="carry"):
            jax.lax.scan(lambda c, x: (c + x, None), tensor(0, "int8"), tensor([1.5], "float32"))

    def test_cond_and_while(self) -> None:
        x = tensor([1, 2], "float16")
        assert jax.lax.cond(True, lambda x: x + 1, lambda x: x - 1, x).tolist() == [2, 3]
        grown = jax.lax.while_loop(lambda x: (x[0] < 100).array, lambda x: x * 2, x)
        assert grown.tolist() == [128, 256]


class TestTrees:
    def test_one_leaf_which_is_the_array(self) -> None:
        t = tensor([1, 2], "int8")
        (path, leaf), = jax.tree_util.tree_leaves_with_path({"w": t})  # fmt: skip
        assert leaf is t.array
        assert jax.tree_util.keystr(path) == "['w'].array"

    def test_map_and_device_put(self) -> None:
        t = tensor([1, 2], "int8")
        assert jax.tree.map(lambda x: x * 2, t).tolist() == [2, 4]
        wide = jax.tree.map(lambda x: x.astype("float16").sum(), t)
        assert (wide.dtype.name, wide._kind.is_zero_d, wide.item()) == ("float16", True, 3)
        put = jax.block_until_ready(jax.device_put(t))
        assert put._kind is t._kind
        got = jax.device_get(t)
        assert (got.backend, got.tolist(), got.dialect.name) == ("numpy", [1, 2], "torch")

    def test_shapes_alone(self) -> None:
        t = tensor([1, 2], "int8")
        shaped = jax.eval_shape(lambda x: x + 1.5, t)
        assert (shaped.dtype.name, shaped.shape) == ("float32", (2,))
        assert repr(shaped) == "Tensor(shape=(2,), dtype=float32, dialect=torch, backend=jax)"

    @pytest.mark.parametrize("leaf", [None, 3, "text", object(), np.dtype("int8")])
    def test_what_is_no_array_is_put_in_and_taken_out(self, leaf: object) -> None:
        tree = jax.tree.structure(tensor([1, 2], "int8"))
        made = jax.tree.unflatten(tree, [leaf])
        assert isinstance(made, cw.Tensor)
        assert repr(made) == f"Tensor({leaf!r})"
        if leaf is not None:  # a tree without leaves, to JAX
            assert jax.tree.structure(made) == tree

    def test_equal_trees_are_equal(self) -> None:
        one, other = (jax.tree.structure(tensor([n], "int8")) for n in (1, 2))
        assert one == other
        assert hash(one) == hash(other)
        assert one != jax.tree.structure(tensor([1], "int8", "numpy"))

    def test_a_variable_stays_one(self) -> None:
        v = cw.Variable(jnp.ones(2), dialect="jax")
        assert type(jax.jit(lambda v: v)(v)) is cw.Variable
        assert jax.jit(lambda v: v + 1)(v).tolist() == [2, 2]


def test_the_first_array_teaches_jax_what_a_tensor_is() -> None:
    code = (
        "import castwise as cw, sys\n"
        "assert 'jax' not in sys.modules\n"
        "import jax, jax.numpy as jnp\n"
        "print(jax.jit(lambda t: t + 1)(cw.asarray(jnp.ones(2, 'int8'), dialect='jax')).tolist())\n"
    )
    done = finished([sys.executable, "-c", code])
    assert (done.stdout, done.returncode) == ("[2, 2]\n", 0), done.stderr


def _leaves(tree: Any) -> list[cw.Tensor]:
    return list(jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, cw.Tensor)))


@pytest.mark.parametrize("op", [operator.pow, operator.floordiv, operator.mod, operator.truediv])
@pytest.mark.parametrize("dtype", ["int8", "int32", "float32"])
def test_vmap_of_numbers_with_a_rule_of_their_own_is_jax_s(op: Any, dtype: str) -> None:
    x, y = jnp.array([7, -7, 0, 3, 5], dtype), jnp.array([2, -3, 0, -1, 0], dtype)
    found = jax.vmap(op)(cw.asarray(x, dialect="jax"), cw.asarray(y, dialect="jax"))
    expected = jax.vmap(op)(x, y)
    assert found.array.dtype == expected.dtype
    np.testing.assert_array_equal(found.numpy(), np.asarray(expected))
