"""Compiled functions on JAX: jitted regions have the bits of eager JAX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from elementwise_programs import (
    DIALECTS,
    FLOATS,
    INTEGERS,
    SHAPES,
    assert_equal_bits,
    data,
    program,
)

import castwise as cw
import cells
from castwise.graph import run
from castwise.graph.nodes import FEWEST, Region, in_stages, is_taken

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
own = pytest.importorskip("castwise.arrays.backends.jax")


@pytest.fixture(autouse=True)
def _wide_and_small() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def tensor(values: Any, dialect: str = "torch") -> cw.Tensor:
    return cw.asarray(jnp.asarray(values), dialect=dialect)


def node_by_node(graph: Any, *arrays: Any) -> Any:
    """The results without regions."""
    graph.plans.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "in_stages", lambda program, *others, **options: program.nodes)
        found = graph(*arrays)
    graph.plans.clear()
    return found


def regions_of(compiled: Any) -> list[Any]:
    (graph,) = compiled.graphs.values()
    backend = tensor([1.0])._kind.backend
    parts = in_stages(
        graph, lambda node: is_taken(node, backend), fewest=FEWEST, of_one_shape=False
    )
    return [part for part in parts if isinstance(part, Region)]


@pytest.mark.parametrize("seed", range(300 if cells.takes_all else 12))
def test_random_programs_have_the_bits_of_their_nodes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dialect = DIALECTS[seed % len(DIALECTS)]
    dtypes = rng.choice(FLOATS + FLOATS + INTEGERS, 3)
    shapes = [SHAPES[n] for n in rng.integers(0, len(SHAPES), 3)]
    arrays = [
        tensor(data(rng, dtype, shape), dialect)
        for dtype, shape in zip(dtypes, shapes, strict=True)
    ]
    compiled: Any = cw.compile(program(rng, 12), dialect=dialect)
    got = compiled(*arrays)
    (graph,) = compiled.graphs.values()
    for one, other in zip(got, node_by_node(graph, *arrays), strict=True):
        assert_equal_bits(one, other)


NUMBERS = np.random.default_rng(0).normal(size=(3, 1003))


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_chain_has_the_bits_of_eager_ops(dtype: str) -> None:
    """A sum of products, quotients, casts to smaller floats and truth values as factors: in each
    of them XLA leaves a rounding or a sign out."""

    def chain(x: Any, y: Any, z: Any) -> Any:
        found = x * y + z - y / 3
        flags = (x < y).astype(dtype) * -1.5
        small = (found / 7 / 3).astype("bfloat16").astype(dtype) * y
        return found, flags, small + z, x.astype("float16").astype("float32") * 3 + 1

    arrays = [tensor(values).astype(dtype) for values in NUMBERS]
    compiled: Any = cw.compile(chain)
    got, expected = compiled(*arrays), chain(*arrays)
    assert regions_of(compiled)
    for one, other in zip(got, expected, strict=True):
        assert_equal_bits(one, other)


def test_xla_would_round_otherwise() -> None:
    """Without the zero that XLA does not know, the test above would have nothing to find."""
    x, y, z = (jnp.asarray(values, "float32") for values in NUMBERS)
    fused = jax.jit(lambda x, y, z: x * y + z)(x, y, z)
    assert (np.asarray(fused) != np.asarray(jnp.add(jnp.multiply(x, y), z))).any()


def test_what_has_other_bits_in_a_loop_runs_alone() -> None:
    compiled: Any = cw.compile(lambda x: cw.apply("exp", x * 2 + 1) * 3 - cw.apply("sum", x))
    compiled(tensor(NUMBERS[0]))
    inside = [node.op for region in regions_of(compiled) for node in region.outputs]
    assert inside == ["add", "sub"]
    assert not own.JAX.takes("exp", cw.dtype("float32"), [cw.dtype("float32")])


def test_a_program_is_jitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    jitted = own.jitted
    monkeypatch.setattr(own, "jitted", lambda *given: made.append(1) or jitted(*given))
    compiled: Any = cw.compile(lambda x, k: (x * k + 1) / k)
    for _ in range(3):
        compiled(tensor(NUMBERS[0]), 3)
    assert len(made) == 1
    compiled(tensor(NUMBERS[0]), 4)
    assert len(made) == 2


def scaled(x: Any, y: Any) -> Any:
    return (x * y + 1).astype("bfloat16") * y


def test_it_works_inside_of_transformations() -> None:
    compiled: Any = cw.compile(scaled, dialect="torch")
    x, y, _ = (jnp.asarray(values, "float32") for values in NUMBERS)
    expected = compiled(x, y)
    assert jax.jit(lambda x, y: compiled(x, y).array)(x, y).shape == (1003,)
    mapped = jax.vmap(lambda x, y: compiled(x, y).array)(x, y)
    assert_equal_bits(tensor(mapped), expected)
    gradient = jax.grad(lambda x: compiled(x, y).array.sum())(x)
    expected_gradient = jax.grad(lambda x: scaled(tensor(x), tensor(y)).array.sum())(x)
    np.testing.assert_array_equal(np.asarray(gradient), np.asarray(expected_gradient))
    assert np.asarray(gradient).any()


def test_with_x64_off_and_weak_types() -> None:
    def f(x: Any, rate: Any) -> Any:
        return x * rate + 1 / rate - 0.5

    compiled: Any = cw.compile(f)
    for is_wide in (False, True, False):
        with jax.enable_x64(is_wide):
            x, rate = jnp.asarray(NUMBERS[0], "bfloat16"), jnp.asarray(0.3)
            assert rate.weak_type
            with cw.use("jax"):
                got, expected = compiled(x, rate), f(cw.asarray(x), cw.asarray(rate))
                weak, expected_weak = compiled(rate, 2), f(cw.asarray(rate), 2)
        assert_equal_bits(got, expected)
        assert_equal_bits(weak, expected_weak)
        assert got.dtype.name == "bfloat16"
        assert weak.weak_type
