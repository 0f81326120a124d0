"""Clusters are those of average linkage, and their order does not depend on that of the names."""

from __future__ import annotations

import random
from itertools import combinations, pairwise, permutations

import pytest

from castwise.comparing.diff import Between, Cluster, Merge, cluster_names, clustered


def on_a_line(places: dict[str, float]) -> Between:
    return lambda a, b: abs(places[a] - places[b])


def random_distances(names: str, seed: int) -> Between:
    """Distances of few different sizes, so that many are ties."""
    chosen = random.Random(seed)
    far = {frozenset(pair): chosen.randrange(1, 6) / 5 for pair in combinations(names, 2)}
    return lambda a, b: far[frozenset((a, b))]


def length(order: tuple[str, ...], between: Between) -> float:
    return sum(between(a, b) for a, b in pairwise(order))


def turned(tree: Cluster) -> set[tuple[str, ...]]:
    """Every order that turning the branches of a tree gives."""
    if isinstance(tree, str):
        return {(tree,)}
    firsts, seconds = turned(tree.first), turned(tree.second)
    return {o for a in firsts for b in seconds for o in ((*a, *b), (*b, *a))}


def test_the_nearest_are_joined_first() -> None:
    places = {"a": 0.0, "b": 1.0, "c": 10.0, "d": 12.0}
    tree = clustered(places, on_a_line(places))
    assert tree == Merge(Merge("a", "b", 1.0), Merge("c", "d", 2.0), 10.5)


def test_the_height_is_the_mean_distance_of_members() -> None:
    """To the pair of a and b, c is as far as the mean of 5 and 4, not as its nearest or farthest
    member."""
    places = {"a": 0.0, "b": 1.0, "c": 5.0}
    assert clustered(places, on_a_line(places)) == Merge(Merge("a", "b", 1.0), "c", 4.5)


def test_branches_are_turned_so_that_neighbours_are_near() -> None:
    places = {"b": 0.0, "c": 1.0, "a": 3.0, "d": 9.0}
    assert cluster_names(clustered(places, on_a_line(places))) == ("b", "c", "a", "d")


@pytest.mark.parametrize("seed", range(20))
def test_no_other_way_to_turn_the_branches_is_shorter(seed: int) -> None:
    between = random_distances("abcdefg", seed)
    tree = clustered("abcdefg", between)
    shortest = min(length(order, between) for order in turned(tree))
    assert length(cluster_names(tree), between) == pytest.approx(shortest)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_names_does_not_matter(seed: int) -> None:
    between = random_distances("abcde", seed)
    assert len({clustered(names, between) for names in permutations("abcde")}) == 1


def test_all_alike_are_in_the_order_of_the_alphabet() -> None:
    assert cluster_names(clustered("dbca", lambda a, b: 0.0)) == ("a", "b", "c", "d")


def test_one_is_a_tree() -> None:
    assert clustered(["a"], lambda a, b: 1.0) == "a"


def test_parents_are_as_high_as_their_branches() -> None:
    def check(tree: Cluster) -> float:
        if isinstance(tree, str):
            return 0.0
        assert tree.height >= max(check(tree.first), check(tree.second))
        return tree.height

    check(clustered("abcdefghij", random_distances("abcdefghij", 1)))
