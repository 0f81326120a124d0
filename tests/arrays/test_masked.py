"""where= and initial= on every backend: computed as NumPy computes them, or refused in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named, backend_names

X = np.asarray([[1, 2, 3], [4, 5, 6]])
MASK = np.asarray([[True, False, True], [False, True, True]])
REDUCTIONS: list[tuple[str, dict[str, Any]]] = [
    ("sum", {"where": MASK}),
    ("sum", {"where": MASK, "axis": 1, "keepdims": True}),
    ("sum", {"initial": 10}),
    ("sum", {"where": MASK, "initial": 10, "axis": 0}),
    ("prod", {"where": MASK, "initial": 2}),
    ("max", {"initial": 5, "axis": 1}),
    ("max", {"where": MASK, "initial": 4, "axis": 0}),
    ("min", {"where": MASK, "initial": 4, "axis": 0}),
    ("any", {"where": ~MASK, "axis": 0}),
    ("all", {"where": MASK[0]}),
]


@pytest.fixture(params=backend_names())
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    try:
        backend_named(request.param)
    except cw.UsageError:
        pytest.skip(f"{request.param} is not installed")
    if request.param != "jax":
        yield request.param
        return
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield request.param
    jax.config.update("jax_enable_x64", before)


def on(backend: str, array: Any, dtype: str | None = None) -> cw.Tensor:
    return cw.asarray(array, dtype=dtype, backend=backend, dialect="numpy")


@pytest.mark.parametrize("dtype", ["int16", "float16", "float64"])
@pytest.mark.parametrize(("op", "named"), REDUCTIONS)
def test_a_reduction_of_a_part(op: str, named: dict[str, Any], dtype: str, backend: str) -> None:
    expected = np.asarray(getattr(np, op)(X.astype(dtype), **named))
    given = {key: on(backend, v) if key == "where" else v for key, v in named.items()}
    for options in (named, given):  # a mask of NumPy's, and one of the backend's
        found = cw.apply(op, on(backend, X, dtype), **options)
        assert (found.dtype.name, found.shape) == (expected.dtype.name, expected.shape)
        np.testing.assert_array_equal(found.numpy(), expected)


def test_a_ufunc_writes_where_it_is_told_to(backend: str) -> None:
    out = on(backend, X * 10)
    assert cw.apply("add", on(backend, X), 1, out=out, where=on(backend, MASK)) is out
    assert out.numpy().tolist() == [[2, 20, 4], [40, 6, 7]]


def test_without_out_a_part_of_a_ufunc_is_undefined(backend: str) -> None:
    if backend == "numpy":
        return  # whose memory shows
    with pytest.raises(cw.UsageError, match=r"undefined.*Give out=, or select afterwards"):
        cw.apply("sqrt", on(backend, X, "float64"), where=on(backend, MASK))


def test_moments_of_a_part_are_computed_or_refused(backend: str) -> None:
    x = on(backend, X, "float64")
    if backend in ("numpy", "jax"):
        assert cw.apply("mean", x, where=on(backend, MASK)).item() == 3.75
        return
    with pytest.raises(
        cw.UsageError, match=r"no mean with where=. Select the elements first:.*x\[mask\]"
    ):
        cw.apply("mean", x, where=on(backend, MASK))


def test_the_largest_of_a_part_needs_a_start() -> None:
    traced = pytest.importorskip("torch") and on("torch", X)
    with pytest.raises((cw.UsageError, cw.PromotionError), match="initial="):
        cw.apply("max", traced, where=MASK)


def test_a_graph_writes_the_choice_out() -> None:
    def total(x: Any, mask: Any) -> Any:
        return cw.apply("sum", x, where=mask, initial=4)

    graph = cw.trace(total, "float32[2,3]", "bool[2,3]", dialect="numpy")
    assert [node.op for node in graph.nodes if node.op in ("where", "sum", "add")] == [
        "where", "sum", "add",
    ]  # fmt: skip
    assert np.asarray(graph(X.astype("float32"), MASK).numpy()) == 19
