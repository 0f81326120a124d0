"""How far apart the dialects are, for each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

from castwise.catalog.dialects import dialects as dialect_names
from castwise.catalog.dialects import to_dialect
from castwise.comparing.diff import Answers, Pair, pairs_of, weak_dtypes
from castwise.progress import progress
from castwise.rules.dialect import Dialect
from castwise.showing import Shown, first_few, quantity, repr_line
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import array_operand
from castwise.vocab.ops import Op, op, ops

# Ops that nearly every framework has: enough to tell them apart, few enough to be quick.
OPS = (
    "add sub mul div floor_divide remainder pow eq lt logical_and bitwise_and bitwise_left_shift"
    " maximum atan2 where abs exp sum mean"
)


class Distance(NamedTuple):
    """How many questions two dialects were both asked, and how many they answer differently."""

    asked: int
    differ: int

    @property
    def share(self) -> float:
        """The share of questions answered differently, from 0 to 1."""
        return self.differ / self.asked if self.asked else 0.0


@dataclass(frozen=True, slots=True, repr=False)
class Distances(Shown):
    """The distance of each pair of dialects in some ops; its text is the report."""

    ops: tuple[str, ...]
    dialects: tuple[str, ...]  # near ones side by side
    pairs: dict[frozenset[str], Distance]
    closer: tuple[Distances, ...] = ()  # dialects that these ops do not tell apart, in others

    def between(self, first: str, second: str) -> Distance:
        return self.pairs[frozenset((first, second))]

    @property
    def nearest_first(self) -> list[tuple[str, str]]:
        """All pairs, the closest first."""
        every = combinations(self.dialects, 2)
        return sorted(every, key=lambda pair: self.between(*pair).share)

    @property
    def tree(self) -> Cluster:
        """The dialects, the nearest joined first."""
        return clustered(self.dialects, lambda a, b: self.between(a, b).share)

    def __repr__(self) -> str:
        pairs = quantity(len(self.pairs), "pair")
        return repr_line("Distances", f"{pairs} of {first_few(self.dialects)}")


def distances(
    dialects: Iterable[str | Dialect] | None = None,
    on_question: Callable[[object], object] | None = None,
) -> Distances:
    """The distances between all dialects, or between the given ones.

    The operands are the pairs that `diff` asks about, in a few ops that nearly every framework
    has. Dialects that answer all of that alike, such as a framework with and without autocast, are
    then compared on the ops where they differ. `on_question` is called with each question; without
    it, a terminal shows the progress.

    >>> distances(["megengine", "oneflow"]).between("megengine", "oneflow").asked
    10737
    """
    names = dialect_names() if dialects is None else dialects
    chosen = {dialect.name: dialect for dialect in map(to_dialect, names)}
    found = distances_in(OPS.split(), chosen.values(), on_question)
    closer = []
    for group in alike(found):
        ops = telling_ops(chosen[name] for name in group)
        if ops:
            closer.append(distances_in(ops, [chosen[name] for name in group], on_question))
    return replace(found, closer=tuple(closer))


def distances_in(
    ops: Sequence[str],
    dialects: Iterable[Dialect],
    on_question: Callable[[object], object] | None = None,
) -> Distances:
    """How far apart dialects are in some ops."""
    chosen = list(dialects)
    if on_question:
        return _distances_in(ops, chosen, on_question)
    title = f"Asking {len(chosen)} dialects about {len(ops)} ops"
    with progress(title, count(chosen, ops)) as on_progress:
        return _distances_in(ops, chosen, on_progress)


def _distances_in(
    ops: Sequence[str],
    dialects: Sequence[Dialect],
    on_question: Callable[[object], object] | None,
) -> Distances:
    rows = [op(name) for name in ops]
    numbers: dict[object, int] = {}
    asked = {d.name: _answered(d, rows, numbers, on_question) for d in dialects}
    pairs = {frozenset((a, b)): _distance(asked[a], asked[b]) for a, b in combinations(asked, 2)}
    found = Distances(tuple(row.name for row in rows), tuple(asked), pairs)
    return replace(found, dialects=cluster_names(found.tree))


def count(dialects: Iterable[Dialect], ops: Iterable[str]) -> int:
    """How many questions all the dialects are asked."""
    rows = [op(name) for name in ops]
    return sum(1 for dialect in dialects for _ in _pairs(rows, dialect))


def _pairs(rows: Iterable[Op], dialect: Dialect) -> Iterator[Pair]:
    return pairs_of(rows, dialect.dtypes, weak_dtypes(dialect))


class _Answered(NamedTuple):
    """What a dialect answered, by the number of the question."""

    strong: dict[int, str]  # questions without weak arrays, results without their weakness
    weak: dict[int, str] | None  # all questions; None for a dialect without weak arrays


def _answered(
    dialect: Dialect,
    rows: Iterable[Op],
    numbers: dict[object, int],
    on_question: Callable[[object], object] | None,
) -> _Answered:
    """What a dialect answers; `numbers` gives the same question the same number everywhere."""
    answers = Answers(dialect, tells_weak=dialect.has_weak_arrays)
    answered = _Answered({}, {} if dialect.has_weak_arrays else None)
    for pair in _pairs(rows, dialect):
        if on_question:
            on_question(pair)
        answer = answers[pair]
        key = pair.op, pair.left.key, pair.right.key, pair.is_augmented
        number = numbers.setdefault(key, len(numbers))
        if not (pair.left.is_weak or pair.right.is_weak):
            answered.strong[number] = str(answer.result)
        if answered.weak is not None:
            answered.weak[number] = answer.text
    return answered


def _distance(first: _Answered, second: _Answered) -> Distance:
    if first.weak is not None and second.weak is not None:
        a, b = first.weak, second.weak
    else:
        a, b = first.strong, second.strong
    asked = len(a.keys() & b.keys())
    return Distance(asked, asked - len(a.items() & b.items()))


# Dialects that the usual ops do not tell apart, and the ops that do: of modes such as autocast.


def alike(found: Distances) -> list[list[str]]:
    """The groups of dialects that answered all questions alike, each of two or more."""
    groups: list[list[str]] = []
    for name in found.dialects:
        for group in groups:
            if all(_are_alike(found, name, other) for other in group):
                group.append(name)
                break
        else:
            groups.append([name])
    return [group for group in groups if len(group) > 1]


def _are_alike(found: Distances, first: str, second: str) -> bool:
    asked, differ = found.between(first, second)
    return bool(asked) and not differ


def telling_ops(dialects: Iterable[Dialect]) -> tuple[str, ...]:
    """The ops that dialects answer differently although all operands have one dtype.

    Such operands need no promotion. So an op where the answers differ is one that a mode changes.

    >>> from castwise.catalog.dialects import dialect_named
    >>> telling_ops([dialect_named("oneflow"), dialect_named("oneflow:article")])
    ('sum',)
    """
    found = {name for pair in combinations(dialects, 2) for name in _differing(*pair)}
    return tuple(name for name in ops() if name in found)


def _differing(first: Dialect, second: Dialect) -> Iterator[str]:
    shared = [dtype for dtype in first.dtypes if dtype in second.dtypes]
    unrecorded = {*first.unrecorded, *second.unrecorded}
    both = [Answers(dialect, tells_weak=False) for dialect in (first, second)]
    for name in ops():
        if name not in unrecorded and _differs(name, shared, both):
            yield name


def _differs(name: str, dtypes: Sequence[DType], both: Sequence[Answers]) -> bool:
    row = op(name)
    arrays = [array_operand(dtype, (3,)) for dtype in dtypes]
    pairs = [Pair(row, array, array) for array in arrays]
    return any(len({answers[pair].text for answers in both}) > 1 for pair in pairs)


# Things in a tree by how far apart they are, and in an order that puts near ones side by side.

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
    >>> cluster_names(clustered(places, lambda x, y: abs(places[x] - places[y])))
    ('a', 'c', 'b')
    """
    clusters: list[Cluster] = [*sorted(names)]
    while len(clusters) > 1:
        far = {pair: _mean_distance(*pair, between) for pair in combinations(clusters, 2)}
        first, second = min(far, key=lambda pair: (far[pair], *map(_first_name, pair)))
        left = [cluster for cluster in clusters if cluster not in (first, second)]
        clusters = [*left, Merge(first, second, far[first, second])]
    return _turned(clusters[0], between)


def cluster_names(cluster: Cluster) -> tuple[str, ...]:
    """The names in a tree, from one end to the other."""
    if isinstance(cluster, str):
        return (cluster,)
    return (*cluster_names(cluster.first), *cluster_names(cluster.second))


def _mean_distance(first: Cluster, second: Cluster, between: Between) -> float:
    far = [between(a, b) for a, b in product(cluster_names(first), cluster_names(second))]
    return round(sum(far) / len(far), _DIGITS)


def _first_name(cluster: Cluster) -> str:
    return min(cluster_names(cluster))


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
