"""Simplification: fewer casts, the same bits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import castwise as cw
import castwise.array_api as xp
import cells
from castwise.arrays.backends import backend_named
from castwise.graph import passes
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.live import to_dtype

HELD = [d for d in DTYPES if d in backend_named("numpy").dtypes]


def every_value(dtype: DType) -> Any:
    """All values of a small dtype, and the edges and some others of a wide one."""
    native = backend_named("numpy").native(dtype)
    if dtype.kind == "bool" or dtype.bits == 1:
        return np.asarray([0, 1] if dtype.kind == "bool" else [0], dtype=native)
    if dtype.bits <= 8:
        codes = np.arange(1 << dtype.bits, dtype="uint8")
        if dtype.kind == "int":
            return np.asarray([int(dtype.min) + n for n in range(len(codes))]).astype(native)
        return codes.view(native)
    if dtype.bits == 16 and dtype.kind != "complex":
        return _quiet(np.arange(1 << 16, dtype="uint16").view(native))
    rng = np.random.default_rng(dtype.bits)
    raw = rng.integers(0, 1 << 32, (4096, dtype.bits // 32), dtype="uint32")
    return _quiet(np.ascontiguousarray(raw).view(native).reshape(-1))


def _quiet(values: Any) -> Any:
    """The values with signalling NaNs made quiet: NumPy warns when it casts those."""
    held = to_dtype(values.dtype)
    if held.kind in ("float", "complex"):
        parts = values.view(backend_named("numpy").native(held.part))
        with np.errstate(invalid="ignore"):
            parts[np.isnan(parts.astype("float64"))] = np.nan
    return values


def assert_same_bits(got: Any, expected: Any) -> None:
    """Equal element by element; one NaN is as good as another."""
    assert got.dtype == expected.dtype
    kind = to_dtype(got.dtype).kind
    wide = {"float": "float64", "complex": "complex128"}.get(kind, "int64")
    plain, wanted = (values.astype(wide) for values in (got, expected))
    np.testing.assert_array_equal(plain, wanted)
    if kind == "float":
        np.testing.assert_array_equal(
            np.signbit(plain)[plain == 0], np.signbit(wanted)[wanted == 0]
        )


# The dtypes a chain goes through and ends in; without --all-cells one pair in eleven.
CHAINS = [*itertools.product(HELD, HELD)][:: 1 if cells.takes_all else 11]


def shortened(source: DType) -> list[tuple[cw.Graph, cw.Graph]]:
    """The graphs of the chains source -> a -> b that a rule shortens, before and after."""
    found = []
    for middle, target in CHAINS:
        graph = cw.trace(lambda x, a=middle, b=target: x.astype(a).astype(b), f"{source}[n]")
        simplified = graph.simplify()
        if simplified.casts_saved:
            found.append((graph, simplified.graph))
    return found


@pytest.mark.parametrize("source", HELD, ids=str)
def test_a_shortened_chain_gives_the_same_values(source: DType) -> None:
    x = every_value(source)
    chains = shortened(source)
    assert len(chains) >= len(CHAINS) / len(HELD)  # a cast to the dtype itself, at least
    for graph, shorter in chains:
        assert_same_bits(shorter(x).numpy(), graph(x).numpy())


@pytest.mark.parametrize(
    ("chain", "casts"),
    [
        ("float16 float32 float64", 1),
        ("float16 float32 float16", 0),
        ("int8 int16 int32", 1),
        ("bool int8 float32", 1),
        ("float32 float16 float32", 2),
        ("int32 float32 int32", 2),
        ("float64 float32 float16", 2),
        ("float8_e5m2 float8_e5m2fnuz float32", 2),  # an infinity has become NaN on the way
    ],
)
def test_nothing_is_merged_across_a_cast_that_changes_values(chain: str, casts: int) -> None:
    source, middle, target = chain.split()
    graph = cw.trace(lambda x: x.astype(middle).astype(target), f"{source}[n]")
    assert len(graph.simplify().graph.casts) == casts


def test_casts_to_the_same_dtype_go() -> None:
    graph = cw.trace(lambda x: x.astype("float32", copy=True) + 1, "float32[n]")
    assert len(graph.casts) == 1
    assert graph.simplify().graph.casts == ()


def test_repeated_casts_are_shared() -> None:
    graph = cw.trace(lambda x, y: (x + y) * (x - y), "int8[n]", "float32[n]", dialect="torch")
    simplified = graph.simplify()
    assert (len(graph.casts), len(simplified.graph.casts)) == (2, 1)
    assert simplified.applied["share_repeated_casts"] == 1
    assert str(simplified.bytes_saved) == "4*n"


def test_a_cast_moves_before_a_broadcast() -> None:
    def spread(x: Any) -> Any:
        return xp.broadcast_to(x, (1000, 3)).astype("float64")

    simplified = cw.trace(spread, "float32[3]").simplify()
    assert [node.op for node in simplified.graph.nodes] == [
        "input", "cast", "broadcast_to", "copy",
    ]  # fmt: skip
    assert str(simplified.bytes_saved) == str(8 * (3000 - 3))
    x = np.asarray([1, 2, 3], "float32")
    np.testing.assert_array_equal(simplified.graph(x).numpy(), spread(cw.asarray(x)).numpy())


def test_a_part_is_taken_before_a_cast() -> None:
    simplified = cw.trace(lambda x: x.astype("float64")[0], "float32[n,3]").simplify()
    assert [node.op for node in simplified.graph.nodes] == ["input", "getitem", "cast"]
    assert str(simplified.bytes_saved) == "24*n + -24"


def test_a_cast_that_others_need_stays() -> None:
    def used_twice(x: Any) -> Any:
        wide = x.astype("float64")
        return wide[0], wide + 1

    graph = cw.trace(used_twice, "float32[n,3]")
    assert len(graph.simplify().graph.casts) == len(graph.casts) == 1


def test_the_report_says_what_was_done() -> None:
    graph = cw.trace(lambda x: x.astype("float32").astype("float64"), "float16[n]")
    assert str(graph.simplify()) == (
        "2 casts -> 1, 4*n bytes of casts saved\n  merge widening casts: 1"
    )


@pytest.mark.parametrize("rule", passes.RULES, ids=lambda rule: rule.__name__)
def test_every_rule_tells_why_it_holds(rule: Any) -> None:
    assert rule.__doc__.endswith(".")
