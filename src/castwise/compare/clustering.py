"""Things in a tree by how far apart they are, and in an order that puts near ones side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

Between: TypeAlias = Callable[[str, str], float]
_DIGITS = 9  # sums in another order differ beyond them, and are ties


class Merge(NamedTuple):
    """Two clusters, and the mean distance of a member of one from a member of the other."""

    first: Cluster
    second: Cluster
    height: float


Cluster: TypeAlias = "Merge | str"


def clustered(names: Iterable[str], between: Between) -> Cluster:
    """The tree of average linkage: the two nearest clusters become one, until one is left.

    Its branches are turned so that neighbours are as near as the tree allows. The order of the
    names does not matter: of equally near clusters, the first in the alphabet become one.

    >>> places = {"a": 0, "b": 10, "c": 1}
    >>> members(clustered(places, lambda x, y: abs(places[x] - places[y])))
    ('a', 'c', 'b')
    """
    clusters: list[Cluster] = [*sorted(names)]
    while len(clusters) > 1:
        far = {pair: _mean_distance(*pair, between) for pair in combinations(clusters, 2)}
        first, second = min(far, key=lambda pair: (far[pair], *map(_first_name, pair)))
        left = [cluster for cluster in clusters if cluster not in (first, second)]
        clusters = [*left, Merge(first, second, far[first, second])]
    return _turned(clusters[0], between)


def members(cluster: Cluster) -> tuple[str, ...]:
    """The names in a tree, from one end to the other."""
    if isinstance(cluster, str):
        return (cluster,)
    return (*members(cluster.first), *members(cluster.second))


def _mean_distance(first: Cluster, second: Cluster, between: Between) -> float:
    far = [between(a, b) for a, b in product(members(first), members(second))]
    return round(sum(far) / len(far), _DIGITS)


def _first_name(cluster: Cluster) -> str:
    return min(members(cluster))


class _Arrangement(NamedTuple):
    """A way to turn the branches of a tree: the sum of its neighbours' distances, the order that
    results, and the tree. The least is the best; of equal ones, the first in the alphabet."""

    cost: float
    order: tuple[str, ...]
    tree: Cluster


def _turned(tree: Cluster, between: Between) -> Cluster:
    return min(_arrangements(tree, between)).tree


def _arrangements(tree: Cluster, between: Between) -> Iterator[_Arrangement]:
    """The best way to turn a tree for each two names that it can have at its ends."""
    if isinstance(tree, str):
        yield _Arrangement(0.0, (tree,), tree)
        return
    best: dict[tuple[str, str], _Arrangement] = {}
    sides = [list(_arrangements(side, between)) for side in (tree.first, tree.second)]
    for one, other in [*product(*sides), *product(*reversed(sides))]:
        cost = one.cost + other.cost + between(one.order[-1], other.order[0])
        order = (*one.order, *other.order)
        found = _Arrangement(round(cost, _DIGITS), order, Merge(one.tree, other.tree, tree.height))
        ends = order[0], order[-1]
        best[ends] = min(best.get(ends, found), found)
    yield from best.values()
