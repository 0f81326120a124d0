"""Dialects that the usual ops do not tell apart are compared on the ops where they differ."""

from __future__ import annotations

import pytest

from castwise.catalog import dialect_named
from castwise.comparing.diff import (
    Distance,
    Distances,
    alike,
    diff,
    distances,
    distances_count,
    distances_in,
    telling_ops,
)
from castwise.engine.ask import resolve
from castwise.vocab.ops import ops

AUTOCAST = ["torch", "torch:autocast=bfloat16", "torch:autocast=float16"]


def of_shares(**shares: int) -> Distances:
    pairs = {frozenset(pair): Distance(9, differ) for pair, differ in shares.items()}
    return Distances(("add",), ("a", "b", "c", "d"), pairs)


def test_those_that_never_differ_are_a_group() -> None:
    assert alike(of_shares(ab=0, ac=3, ad=1, bc=3, bd=1, cd=0)) == [["a", "b"], ["c", "d"]]
    assert alike(of_shares(ab=1, ac=1, ad=1, bc=1, bd=1, cd=1)) == []


def test_a_group_has_no_two_that_differ() -> None:
    """c is like a and like b, which differ in a dtype that c does not have."""
    assert alike(of_shares(ab=1, ac=0, ad=9, bc=0, bd=9, cd=9)) == [["a", "c"]]


def test_those_never_asked_the_same_are_no_group() -> None:
    pairs = {frozenset(("a", "b")): Distance(0, 0)}
    assert alike(Distances(("add",), ("a", "b"), pairs)) == []


@pytest.mark.parametrize("mode", AUTOCAST[1:])
def test_the_ops_of_autocast_are_found(mode: str) -> None:
    found = telling_ops([dialect_named("torch"), dialect_named(mode)])
    assert {"matmul", "conv2d", "mse_loss", "prod", "concat"} <= set(found)
    assert {"add", "exp", "sum"}.isdisjoint(found)
    assert list(found) == [name for name in ops() if name in found]


def test_an_op_is_found_where_two_of_the_modes_differ() -> None:
    both = telling_ops([dialect_named(name) for name in AUTOCAST])
    each = [telling_ops([dialect_named("torch"), dialect_named(name)]) for name in AUTOCAST[1:]]
    assert set(both) >= set(each[0]) | set(each[1])


def test_an_op_that_is_found_answers_differently() -> None:
    first, second = (resolve("matmul", *["float32[3,3]"] * 2, dialect=d) for d in AUTOCAST[:2])
    assert (first.result.name, second.result.name) == ("float32", "bfloat16")


def test_a_dialect_is_told_apart_from_itself_by_nothing() -> None:
    assert telling_ops([dialect_named("torch")] * 2) == ()


def test_modes_are_compared_where_they_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castwise.comparing.diff.DISTANCE_OPS", "add")
    monkeypatch.setattr("castwise.comparing.diff.telling_ops", lambda dialects: ("matmul", "prod"))
    asked: list[object] = []
    found = distances([*AUTOCAST[:2], "numpy"], asked.append)
    (group,) = found.closer
    assert set(group.dialects) == set(AUTOCAST[:2])
    assert group.ops == ("matmul", "prod")
    assert found.between(*AUTOCAST[:2]).differ == 0
    diffs = [diff(*AUTOCAST[:2], op=name) for name in group.ops]
    told = Distance(sum(d.asked for d in diffs), sum(d.count for d in diffs))
    assert group.between(*AUTOCAST[:2]) == told
    assert told.differ
    both = [dialect_named(name) for name in AUTOCAST[:2]]
    every = [*both, dialect_named("numpy")]
    assert len(asked) == distances_count(every, ["add"]) + distances_count(both, group.ops)


def test_dialects_are_in_the_order_of_their_clusters() -> None:
    names = ["array-api", "torch", "numpy@1", "torch@2.1", "numpy"]
    found = distances_in(["add"], map(dialect_named, names))
    places = [found.dialects.index(name) for name in ("numpy", "numpy@1", "torch", "torch@2.1")]
    assert abs(places[0] - places[1]) == abs(places[2] - places[3]) == 1
    again = distances_in(["add"], map(dialect_named, reversed(names)))
    assert again.dialects == found.dialects
