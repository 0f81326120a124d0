"""Where two dialects differ, grouped by reason, and how far apart all of them are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, NamedTuple, TypeAlias

from castwise.catalog import dialects as dialect_names
from castwise.catalog import to_dialect
from castwise.comparing.table import CONDITION, arranged, default_form
from castwise.engine.ask import find_op
from castwise.engine.decide import decide
from castwise.engine.decision import Question, Refusal
from castwise.progress import progress
from castwise.rules.dialect import Dialect
from castwise.showing import Shown, first_few, quantity, repr_line
from castwise.vocab.dtypes import DType, dtype, dtypes_named, weak_nodes
from castwise.vocab.notation import parse_operand
from castwise.vocab.operands import (
    Operand,
    Role,
    array_operand,
    in_listed_order,
    mix_text,
    treatment,
)
from castwise.vocab.ops import Op, op, ops

# What dialects are asked when they are compared: ops with pairs of operands.

# Python scalars of each kind, within the range of every dtype and beyond that of some.
SCALARS = tuple(map(parse_operand, ("True", "1", "-1", "300", "1.5", "1e39", "1j")))
OnQuestion = Callable[[object], object]
REFUSED = "refused"
_WEAK = dtypes_named("int32 int64 float32 float64 complex64 complex128")
_WRITING = ("arithmetic", "bits")  # families whose `x += y` is asked about


class Pair(NamedTuple):
    """An op and the operands it is asked with; a unary op takes the left one."""

    op: Op
    left: Operand
    right: Operand
    is_augmented: bool = False  # `left += right`

    @property
    def operands(self) -> list[Operand]:
        """The operands in the order they are listed: arrays first, low kinds first."""
        return in_listed_order([self.left, self.right][: self.op.arity[1]])

    def question(self, dialect: Dialect) -> Question:
        """The question for a dialect, as an operator where there is one."""
        operands = arranged(self.op, CONDITION, self.left, self.right)
        form = "augmented" if self.is_augmented else default_form(self.op)
        return Question(self.op, operands, dialect, form)

    def __str__(self) -> str:
        operands = ", ".join(map(str, arranged(self.op, CONDITION, self.left, self.right)))
        return f"{self.op.name}{'_' * self.is_augmented}({operands})"

    def __repr__(self) -> str:
        return repr_line("Pair", str(self))


def _pairs_of(rows: Iterable[Op], dtypes: Iterable[DType], weak: Iterable[DType]) -> Iterator[Pair]:
    """Every pair of arrays, 0-d arrays and scalars, in both orders, and `x += y` of arrays."""
    shapes: tuple[tuple[int, ...], ...] = ((3,), ())
    arrays = [array_operand(d, shape) for shape in shapes for d in dtypes]
    arrays += [array_operand(d, shape, is_weak=True) for shape in shapes for d in weak]
    for row in rows:
        for array in arrays:
            if row.arity[1] == 1:
                yield Pair(row, array, array)
                continue
            yield from (Pair(row, array, other) for other in (*arrays, *SCALARS))
            yield from (Pair(row, scalar, array) for scalar in SCALARS)
            if row.augments and row.family in _WRITING and array.role is Role.ARRAY:
                yield from (Pair(row, array, other, True) for other in (*arrays, *SCALARS))


def weak_dtypes(*dialects: Dialect) -> list[DType]:
    """The dtypes of weak arrays in questions: common ones, if all the dialects have such arrays."""
    return [d for d in _WEAK if all(_has_weak(dialect, d) for dialect in dialects)]


def _has_weak(dialect: Dialect, dtype: DType) -> bool:
    """Whether there are weak arrays of a dtype, and a node for them in the order."""
    if not dialect.has_weak_arrays or dtype not in dialect.dtypes:
        return False
    return not set(weak_nodes(dtype)).isdisjoint(dialect.nodes)


class PairAnswer(NamedTuple):
    """What comparing needs to know of a decision or a refusal."""

    result: DType | None  # None: refused
    is_weak: bool = False
    runs: bool = True  # False: it promotes, but has no kernel
    is_by_value: bool = False  # refused because of a scalar's value

    @property
    def text(self) -> str:
        """The result, or "refused": all that is compared."""
        return f"{self.result}{'*' if self.is_weak else ''}" if self.result else REFUSED


class Answers:
    """The answers of a dialect, each decided once."""

    def __init__(self, dialect: Dialect, tells_weak: bool) -> None:
        self.dialect = dialect
        self.truncates = dialect.truncations
        self._tells_weak = tells_weak
        self._known: dict[object, PairAnswer] = {}

    def __getitem__(self, pair: Pair) -> PairAnswer:
        key = pair.op, pair.left.key, pair.right.key, pair.is_augmented
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._asked(pair)
        return found

    def _asked(self, pair: Pair) -> PairAnswer:
        try:
            decision = decide(pair.question(self.dialect))
        except Refusal as refusal:
            return PairAnswer(None, is_by_value=refusal.by_value)
        is_weak = decision.is_weak and self._tells_weak
        return PairAnswer(decision.result, is_weak, decision.has_kernel)


# Why two dialects answer a question differently, in words many questions share.

_NO_KERNEL = "promotes and then has no kernel"


class PairDifference(NamedTuple):
    """A pair that two dialects answer differently."""

    pair: Pair
    first: PairAnswer
    second: PairAnswer

    def __repr__(self) -> str:
        return repr_line("PairDifference", f"{self.pair}: {self.first.text} | {self.second.text}")


class Reason(NamedTuple):
    """What many differences have in common."""

    section: str  # what it is about, in few words
    mix: str  # of which operands; the whole reason where it tells no more
    first: str = ""  # what the first dialect does; dtypes follow where it ends in "to" or "makes"
    second: str = ""
    refused_by: str = ""  # the dialect that refuses such mixes, some of them or all


def _reason(difference: PairDifference, first: Answers, second: Answers) -> Reason:
    pair = _bare(difference, first, second)
    _, a, b = difference
    narrow = _narrower(pair, a, b, first, second)
    if narrow:
        return Reason("Narrower arrays", f"{narrow.name} holds some dtypes as narrower ones")
    if a.result is None:
        return _refusal(pair, first, a, second.dialect, b)
    if b.result is None:
        return _refusal(pair, second, b, first.dialect, a)
    if a.runs != b.runs:
        without, other = (second, first) if a.runs else (first, second)
        who = f"{without.dialect.name} {_NO_KERNEL}"
        return Reason("No kernel", f"{who}, {other.dialect.name} answers with another dtype")
    if a.result is b.result:
        weak, other = (first, second) if a.is_weak else (second, first)
        who = f"{weak.dialect.name} makes the result weak"
        return Reason("Weak results", f"{who}, {other.dialect.name} does not")
    written = pair.left.dtype if pair.is_augmented else None  # by `x += y`
    treatments = [treatment(pair.operands, made, written) for made in (a.result, b.result)]
    return Reason(_section(pair), _mix_words(pair), *treatments)


def _refusal(
    pair: Pair, refusing: Answers, refusal: PairAnswer, answering: Dialect, answer: PairAnswer
) -> Reason:
    """Why one dialect refuses what the other answers."""
    who = refusing.dialect.name
    section = f"{who} refuses, {answering.name} answers"
    if not answer.runs:
        return Reason("No kernel", f"{who} refuses, {answering.name} {_NO_KERNEL}")
    if refusal.is_by_value:
        return Reason(section, f"{who} refuses the value of a scalar")
    if pair.is_augmented and refusing[pair._replace(is_augmented=False)].result:
        return Reason(section, f"{who} does not write the result into x, {_mix_words(pair)}")
    for operand in pair.operands:
        if operand.is_scalar and operand.kind not in refusing.dialect.python:
            return Reason(section, f"{who} has no {operand.kind} numbers")
        array = _array_like(operand, refusing.dialect)
        if array is None:
            return Reason(section, f"{who} takes no Python {operand.kind}")
        if refusing[Pair(pair.op, array, array)].result is None:
            return Reason(section, f"{who} has no such op for {operand.kind}")
    return Reason(section, _mix_words(pair), refused_by=who)


def _array_like(operand: Operand, dialect: Dialect) -> Operand | None:
    """An array of the operand's dtype; None for a Python number the dialect does not take."""
    name = dialect.python.get(operand.kind)
    found = operand.dtype or (dtype(name) if name else None)
    return array_operand(found, (3,)) if found else None


def _bare(difference: PairDifference, first: Answers, second: Answers) -> Pair:
    """The pair without what changes neither answer: being `x += y`, or being 0-d."""
    pair, a, b = difference
    if pair.is_augmented:
        pair = _kept_alike(pair, pair._replace(is_augmented=False), (a, b), first, second)
    if Role.ZERO_D in (pair.left.role, pair.right.role):
        arrays = pair._replace(left=_as_array(pair.left), right=_as_array(pair.right))
        pair = _kept_alike(pair, arrays, (a, b), first, second)
    return pair


def _kept_alike(
    pair: Pair, barer: Pair, answers: tuple[PairAnswer, PairAnswer], first: Answers, second: Answers
) -> Pair:
    """The barer pair where it is answered alike, else the pair itself."""
    return barer if (first[barer], second[barer]) == answers else pair


def _as_array(operand: Operand) -> Operand:
    if operand.role is not Role.ZERO_D:
        return operand
    return replace(operand, role=Role.ARRAY, shape=(3,))


def _narrower(
    pair: Pair, a: PairAnswer, b: PairAnswer, first: Answers, second: Answers
) -> Dialect | None:
    """The dialect whose arrays are narrower than their dtypes say, where that is all there is."""
    for narrow, answer, other in ((first, a, second), (second, b, first)):
        if not narrow.truncates:
            continue
        held = pair._replace(left=_held(pair.left, narrow), right=_held(pair.right, narrow))
        if held != pair and other[held] == answer:
            return narrow.dialect
    return None


def _held(operand: Operand, narrow: Answers) -> Operand:
    """The operand as the dialect of narrow arrays really holds it."""
    really = narrow.truncates.get(operand.dtype) if operand.dtype else None
    return replace(operand, dtype=really) if really else operand


def _section(pair: Pair) -> str:
    """What the two answers to a pair are about."""
    if pair.is_augmented:
        return "`x += y`"
    if pair.op.integers_become_float and all(o.kind in ("bool", "int") for o in pair.operands):
        return "Division and other ops that compute in floats"
    if pair.op.accumulates:
        return "Sums and products"
    roles = [operand.role for operand in pair.operands]
    if Role.SCALAR in roles:
        return "Python scalars"
    return "0-d arrays" if Role.ZERO_D in roles else "Arrays"


def _mix_words(pair: Pair) -> str:
    """The kinds and roles of a pair, such as "int with float arrays"."""
    # The first of an assignment is the one assigned to.
    return mix_text([pair.left, pair.right] if pair.is_augmented else pair.operands)


# All differences of two dialects, in groups with one reason each.


@dataclass(frozen=True, slots=True, repr=False)
class Group:
    """The differences with the same reason, described with the names of both dialects."""

    section: str  # what the reason is about, in few words
    reason: str
    differences: tuple[PairDifference, ...]

    @property
    def ops(self) -> tuple[str, ...]:
        """The ops that differ for this reason."""
        return tuple(dict.fromkeys(d.pair.op.name for d in self.differences))

    def __repr__(self) -> str:
        return repr_line("Group", f"{quantity(len(self.differences), 'question')}: {self.reason}")


@dataclass(frozen=True, slots=True, repr=False)
class Diff(Shown):
    """Everything that two dialects answer differently; its text is the report.

    >>> diff("numpy", "numpy@1", op="dot").count
    0
    """

    first: Dialect
    second: Dialect
    ops: tuple[str, ...]
    asked: int
    groups: tuple[Group, ...]  # the largest first

    @property
    def count(self) -> int:
        """How many questions are answered differently."""
        return sum(len(group.differences) for group in self.groups)

    @property
    def sections(self) -> dict[str, list[Group]]:
        """The groups by what they are about, the largest section first."""
        found: dict[str, list[Group]] = {}
        for group in self.groups:
            found.setdefault(group.section, []).append(group)
        sizes = {name: sum(len(g.differences) for g in groups) for name, groups in found.items()}
        return {name: found[name] for name in sorted(found, key=lambda name: -sizes[name])}

    @property
    def missing(self) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
        """The dtypes only the first dialect has, and those only the second has."""
        a, b = self.first.dtypes, self.second.dtypes
        return tuple(d for d in a if d not in b), tuple(d for d in b if d not in a)

    @property
    def recorded_of_one(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The ops recorded only of the first dialect's framework, and only of the second's."""
        a, b = self.first.unrecorded, self.second.unrecorded
        return tuple(op for op in b if op not in a), tuple(op for op in a if op not in b)

    def __repr__(self) -> str:
        ops = self.ops[0] if len(self.ops) == 1 else f"{len(self.ops)} ops"
        differ = f"{self.count:,} of {self.asked:,} questions about {ops} differ"
        reasons = f"for {quantity(len(self.groups), 'reason')}" if self.groups else ""
        return repr_line("Diff", f"{self.first.name} vs {self.second.name}: {differ} {reasons}")


def diff(
    first: str | Dialect,
    second: str | Dialect,
    *,
    op: Any = None,
    on_question: OnQuestion | None = None,
) -> Diff:
    """Every question that two dialects answer differently, about one op or all recorded ones.

    Without `op`, asks about the ops that are recorded for both. The operands are arrays and 0-d
    arrays of the dtypes both have, weak ones if both have them, and Python scalars. Augmented
    assignments such as `x += y` count too. `on_question` is called with each question; without it,
    a terminal shows the progress.

    >>> diff("torch", "torch@2.1", op="add").count
    0

    Raises UsageError for an unknown name.
    """
    a, b = to_dialect(first), to_dialect(second)
    title = f"Comparing {a.name} and {b.name}"
    rows = _rows(a, b, op)
    tells_weak = a.has_weak_arrays and b.has_weak_arrays
    answers = Answers(a, tells_weak), Answers(b, tells_weak)
    asked, grouped = 0, dict[Reason, list[PairDifference]]()
    texts = _ReasonTexts(a, b)
    with _told(on_question, title, lambda: count(a, b, op)) as tell:
        for pair in _pairs(rows, a, b):
            asked += 1
            if tell:
                tell(pair)
            found = PairDifference(pair, answers[0][pair], answers[1][pair])
            texts.note(found)
            if found.first.text != found.second.text:
                grouped.setdefault(_reason(found, *answers), []).append(found)
    groups = [
        Group(reason.section, texts.text(reason, found), tuple(found))
        for reason, found in grouped.items()
    ]
    groups.sort(key=lambda group: -len(group.differences))
    return Diff(a, b, tuple(row.name for row in rows), asked, tuple(groups))


def _told(
    on_question: OnQuestion | None, title: str, total: Callable[[], int]
) -> AbstractContextManager[OnQuestion | None]:
    """What is called with each question: the given function, or one that shows the progress."""
    return nullcontext(on_question) if on_question else progress(title, total())


def count(first: Dialect, second: Dialect, op: Any = None) -> int:
    """How many questions a diff asks."""
    return sum(1 for _ in _pairs(_rows(first, second, op), first, second))


def _rows(first: Dialect, second: Dialect, op: Any) -> list[Op]:
    """The ops that are compared: the one named, or all but those a framework may not have."""
    unrecorded = {*first.unrecorded, *second.unrecorded}
    names = [op] if op else [name for name in ops() if name not in unrecorded]
    return [find_op(name, first) for name in names]


def _pairs(rows: list[Op], first: Dialect, second: Dialect) -> Iterator[Pair]:
    shared = [d for d in first.dtypes if d in second.dtypes]
    return _pairs_of(rows, shared, weak_dtypes(first, second))


class _ReasonTexts:
    """Puts reasons into words, with what both dialects answered."""

    def __init__(self, first: Dialect, second: Dialect) -> None:
        self._names = (first.name, second.name)
        self._answered: set[tuple[str, Op, str]] = set()  # dialect, op, mix

    def note(self, asked: PairDifference) -> None:
        """Records a question, whether the answers agree or not."""
        if asked.pair.left.dtype is asked.pair.right.dtype:
            return  # no mix
        mix = _mix_words(asked.pair)
        for name, answer in zip(self._names, (asked.first, asked.second), strict=True):
            if answer.result:
                self._answered.add((name, asked.pair.op, mix))

    def text(self, reason: Reason, found: list[PairDifference]) -> str:
        """A reason as a sentence about both dialects."""
        if reason.refused_by:
            ops = {d.pair.op for d in found}
            keys = {(reason.refused_by, op, reason.mix) for op in ops}
            mixes = "" if " with " in reason.mix else "mixes of "
            some = "some mixes of " if keys & self._answered else mixes
            return f"{reason.refused_by} refuses {some}{reason.mix}"
        if not reason.first:
            return reason.mix
        results = {d.first.text for d in found}, {d.second.text for d in found}
        treatments = [f"{self._names[0]} {reason.first}", f"{self._names[1]} {reason.second}"]
        texts = map(_treatment_text, treatments, results)
        return f"{reason.mix}: {', '.join(texts)}"


def _treatment_text(treatment: str, results: set[str]) -> str:
    if not treatment.endswith((" to", " makes")):
        return treatment
    *names, last = sorted(results)
    if len(names) >= 3:
        return f"{treatment} several dtypes"
    return f"{treatment} {', '.join(names)}{' or ' if names else ''}{last}"


# How far apart all dialects are.

# Ops that nearly every framework has: enough to tell them apart, few enough to be quick.
DISTANCE_OPS = (
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
    on_question: OnQuestion | None = None,
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
    found = distances_in(DISTANCE_OPS.split(), chosen.values(), on_question)
    closer = []
    for group in alike(found):
        ops = telling_ops(chosen[name] for name in group)
        if ops:
            closer.append(distances_in(ops, [chosen[name] for name in group], on_question))
    return replace(found, closer=tuple(closer))


def distances_in(
    ops: Sequence[str],
    dialects: Iterable[Dialect],
    on_question: OnQuestion | None = None,
) -> Distances:
    """How far apart dialects are in some ops."""
    chosen, rows = list(dialects), [op(name) for name in ops]
    title = f"Asking {len(chosen)} dialects about {len(ops)} ops"
    numbers: dict[object, int] = {}
    with _told(on_question, title, lambda: distances_count(chosen, ops)) as tell:
        asked = {d.name: _answered(d, rows, numbers, tell) for d in chosen}
    pairs = {frozenset((a, b)): _distance(asked[a], asked[b]) for a, b in combinations(asked, 2)}
    found = Distances(tuple(row.name for row in rows), tuple(asked), pairs)
    return replace(found, dialects=cluster_names(found.tree))


def distances_count(dialects: Iterable[Dialect], ops: Iterable[str]) -> int:
    """How many questions all the dialects are asked."""
    rows = [op(name) for name in ops]
    return sum(1 for dialect in dialects for _ in _pairs(rows, dialect, dialect))


class _Answered(NamedTuple):
    """What a dialect answered, by the number of the question."""

    strong: dict[int, str]  # questions without weak arrays, results without their weakness
    weak: dict[int, str] | None  # all questions; None for a dialect without weak arrays


def _answered(
    dialect: Dialect,
    rows: list[Op],
    numbers: dict[object, int],
    on_question: OnQuestion | None,
) -> _Answered:
    """What a dialect answers; `numbers` gives the same question the same number everywhere."""
    answers = Answers(dialect, tells_weak=dialect.has_weak_arrays)
    answered = _Answered({}, {} if dialect.has_weak_arrays else None)
    for pair in _pairs(rows, dialect, dialect):
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

    >>> from castwise.catalog import dialect_named
    >>> telling_ops([dialect_named("oneflow"), dialect_named("oneflow:article")])
    ('sum',)
    """
    found = {name for pair in combinations(dialects, 2) for name in _differing(*pair)}
    return tuple(name for name in ops() if name in found)


def _differing(first: Dialect, second: Dialect) -> Iterator[str]:
    arrays = [array_operand(dtype, (3,)) for dtype in first.dtypes if dtype in second.dtypes]
    one, other = (Answers(dialect, tells_weak=False) for dialect in (first, second))
    for row in _rows(first, second, None):
        pairs = [Pair(row, array, array) for array in arrays]
        if any(one[pair].text != other[pair].text for pair in pairs):
            yield row.name


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
    return min(_arrangements(clusters[0], between)).tree


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
