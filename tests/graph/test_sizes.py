"""Symbolic sizes: what a traced function computes with them, and makes in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import castwise as cw
import castwise.array_api as xp
from castwise.graph.sizes import is_natural, known_size, size_terms, terms_text

ATOMS = st.one_of(st.sampled_from(("n", "m")), st.integers(0, 9).map(str))
SUMS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("({}+{})".format, inner, inner),
        st.builds("({}*{})".format, inner, inner),
        st.builds("({}-{}//2)".format, inner, inner),
        st.builds("({}//{})".format, inner, st.integers(1, 5)),
    ),
    max_leaves=6,
)


@given(SUMS, st.integers(0, 30), st.integers(0, 30))
def test_a_size_is_what_python_makes_of_its_text(text: str, n: int, m: int) -> None:
    terms = size_terms(text)
    assume(is_natural(terms))
    size, wanted = terms_text(terms), eval(text, {"n": n, "m": m})
    assert wanted >= 0
    assert known_size(size, {"n": n, "m": m}) == wanted
    assert terms_text(size_terms(size)) == size


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("n+m", "m+n"),
        ("2*n//2", "n"),
        ("(n+3)//2", "(n+1)//2+1"),
        ("n//2//3", "n//6"),
        ("3*(n+1)", "3*n+3"),
        ("n*m-m*n", "0"),
    ],
)
def test_equal_sizes_have_equal_texts(one: str, other: str) -> None:
    assert terms_text(size_terms(one)) == terms_text(size_terms(other))


@pytest.mark.parametrize("text", ["", "n+", "n n", "(n", "n)", "n//0", "n//m", "n/2", "n**2", "é"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(cw.UsageError, match="as a size"):
        size_terms(text)


def halves(x: Any) -> Any:
    half = x.shape[0] // 2
    return x[:half], x[half:], x[half : 2 * half], xp.ones((half, x.shape[0] - half), dtype="int8")


def test_halves_and_what_is_left() -> None:
    graph = cw.trace(halves, "int32[n]")
    assert [node.type for node in graph.outputs] == [
        "int32[n//2]", "int32[n-n//2]", "int32[n//2]", "int8[n//2,n-n//2]"]  # fmt: skip
    for size in (0, 1, 6, 7):
        array = np.arange(size, dtype="int32")
        for got, wanted in zip(graph(array), halves(cw.asarray(array)), strict=True):
            assert got.dtype is wanted.dtype
            assert got.shape == wanted.shape
            assert got.tolist() == wanted.tolist()


MADE = {
    "places": lambda x: xp.arange(x.shape[0]),
    "places of a dtype": lambda x: xp.arange(1, x.shape[0] * 2 + 1, 3, dtype="float16"),
    "from a size on": lambda x: xp.arange(x.shape[0], x.shape[0] + 4),
    "half of the places": lambda x: xp.arange(x.shape[0] // 2),
    "ones": lambda x: xp.ones((x.shape[0], x.shape[0])),
    "zeros": lambda x: xp.zeros(x.shape[0], dtype="int8"),
    "empty": lambda x: xp.zeros_like(xp.empty(x.shape)),
    "one number": lambda x: xp.full((2, x.shape[0]), 7),
    "unit matrix": lambda x: xp.eye(x.shape[0]),
    "wide unit matrix": lambda x: xp.eye(x.shape[0], x.shape[0] + 2, k=1, dtype="int32"),
    "rest": lambda x: xp.ones(x.shape[0] % 3),
    "grid": lambda x: xp.meshgrid(xp.arange(x.shape[0]), x)[0],
    "rows of two": lambda x: xp.reshape(xp.concat([x, x]), (-1, 2)),
    "as rows": lambda x: xp.reshape(x[: 2 * (x.shape[0] // 2)], (x.shape[0] // 2, 2)),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("dialect", ["array-api", "torch", "jax"])
def test_arrays_of_symbolic_sizes_are_those_of_eager(name: str, dialect: str) -> None:
    graph = cw.trace(MADE[name], "float32[n]", dialect=dialect)
    for size in (0, 1, 4, 5):
        array = np.arange(size, dtype="float32")
        with cw.use(dialect):
            wanted = MADE[name](cw.asarray(array))
        got = graph(array)
        assert got.dtype is wanted.dtype
        assert got.shape == wanted.shape
        assert got.tolist() == wanted.tolist()


def test_a_reshape_that_a_rest_decides_is_refused_by_the_run() -> None:
    graph = cw.trace(lambda x: xp.reshape(x, (x.shape[0] // 2, 2)), "int8[n]")
    assert graph(np.zeros(6, "int8")).shape == (3, 2)
    with pytest.raises(ValueError, match="reshape"):
        graph(np.zeros(5, "int8"))


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda x: x.shape[0] - 1, "needs the size n"),
        (lambda x: x.shape[0] - 2 * x.shape[0], "needs the size n"),
        (lambda x: 5 - x.shape[0], "needs the size n"),
        (lambda x: x.shape[0] + -1, "needs the size n"),
        (lambda x: x.shape[0] // x.shape[0], "needs the size n"),
        (lambda x: x.shape[0] // 0, "needs the size n"),
        (lambda x: x * x.shape[0], "needs the size n"),
        (lambda x: x.shape[0] / 2, "needs the size n"),
        (lambda x: x[: x.shape[0] + 1], "no known length"),
        (lambda x: x[x.shape[0] // 2 : 0 : -1], "no known length"),
        (lambda x: x[:3], "no known length"),
        (lambda x: xp.arange(0, x.shape[0], -1), "depends on values"),
        (lambda x: xp.arange(x.shape[0], 3), "depends on values"),
        (lambda x: xp.arange(0.5, x.shape[0]), "is no size"),
        (lambda x: xp.ones(("m", 2)), "is no size"),
        (lambda x: xp.linspace(0, 1, x.shape[0]), "linspace has no node"),
    ],
)
def test_what_a_size_is_not_good_for_is_refused_with_its_line(fn: Any, words: str) -> None:
    with pytest.raises(cw.UsageError, match=words) as caught:
        cw.trace(fn, "float32[n]")
    assert "no known length" in words or "test_sizes.py:" in str(caught.value)


def test_half_transforms_have_symbolic_lengths() -> None:
    graph = cw.trace(lambda x: xp.fft.rfft(x), "float32[n]")
    assert graph.outputs[0].type == "complex64[n//2+1]"
    assert graph(np.ones(5, "float32")).shape == (3,)
