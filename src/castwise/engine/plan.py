"""What one op does in one dialect and form: the op's row with the dialect's rules laid over it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from castwise.rules.dialect import BY_NUMBER, Dialect, parse_edges, rule_for
from castwise.rules.rule import (
    Accepts,
    Arguments,
    Arrays,
    Composed,
    Exponent,
    Joins,
    Numbers,
    NumPyOperands,
    Range,
    Rule,
    Weakness,
    Writes,
    combined,
    given_fields,
)
from castwise.vocab.dtypes import DType, dtype, dtypes_named
from castwise.vocab.ops import Op

Record = TypeVar("Record")  # a rule or a part of one

# Which dtype reaches which, and the first one that all operands reach.


class Reach:
    """The closure of a dialect's edges as bit masks over its order.

    With masks the join is one AND per operand; the lowest bit left is the first reachable dtype.
    """

    __slots__ = ("bits", "complex_mask", "masks", "order")

    def __init__(self, dialect: Dialect) -> None:
        self.order = dialect.nodes
        self.bits = {d: 1 << place for place, d in enumerate(self.order)}
        self.masks = dict(self.bits)
        every = parse_edges(dialect.reaches, self.order)
        edges = [edge for edge in every if edge[0] in self.bits and edge[1] in self.bits]
        _close(self.masks, [(s, t) for s, t, goes_on in edges if goes_on])
        for source, target, goes_on in edges:
            if not goes_on:
                self.masks[source] |= self.bits[target]
        self.complex_mask = self.mask([d for d in dialect.dtypes if d.kind == "complex"])

    def mask(self, dtypes: Iterable[DType]) -> int:
        """The places of some dtypes; those the dialect lacks have none."""
        return sum({self.bits.get(d, 0) for d in dtypes})

    def reaches(self, source: DType, target: DType) -> bool:
        return bool(self.masks.get(source, 0) & self.bits.get(target, 0))

    def common(self, masks: Iterable[int], among: int = -1) -> DType | None:
        """The first dtype of the order that all masks have, among those of another mask.

        First, not least: NumPy's order is no lattice (int16 with uint16 has two minimal bounds).
        """
        for mask in masks:
            among &= mask
        return self.lowest(among) if among else None

    def lowest(self, mask: int) -> DType:
        """The first dtype of the order in a mask."""
        return self.order[(mask & -mask).bit_length() - 1]


def _close(masks: dict[DType, int], edges: list[tuple[DType, DType]]) -> None:
    """Adds to each mask what its targets reach, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for source, target in edges:
            joined = masks[source] | masks[target]
            changed = changed or joined != masks[source]
            masks[source] = joined


# What a rule means: each field is read by the type that it is declared with in rules/rule.py.


def meaning(record: Record, dialect: Dialect) -> Record:
    """A rule, or a part of one, with what its fields mean in a dialect instead of their text."""
    return type(record)(**_meanings(record, dialect))


def _meanings(record: Any, dialect: Dialect) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if value is None:
            value = field.metadata["default"]
        read = _READERS.get(str(field.type))
        if is_dataclass(value):
            found[field.name] = meaning(value, dialect)
        elif read:
            found[field.name] = read("" if value is None else value, dialect)
        elif field.type == "PairsOrAny":
            found[field.name] = None if value is None else _pairs(value, dialect)
        else:
            found[field.name] = value
    return found


def _pairs(text: str, dialect: Dialect) -> frozenset[tuple[DType, DType]]:
    edges = parse_edges(text, dialect.dtypes)
    return frozenset([(source, target) for source, target, _ in edges])


def _joined_pairs(text: str, _: Dialect) -> dict[frozenset[DType], DType]:
    joined: dict[frozenset[DType], DType] = {}
    for pair, target in _entries(text):
        first, second = (dtypes_named(words) for words in pair.split("+"))
        both = [frozenset((a, b)) for a in first for b in second]
        joined.update(dict.fromkeys(both, dtype(target)))
    return joined


def _entries(text: str) -> list[tuple[str, str]]:
    """The two sides of each entry of a text such as "trunc -> remainder; floor -> floor_divide"."""
    entries = [entry.partition("->") for entry in filter(None, text.split(";"))]
    return [(left.strip(), right.strip()) for left, _, right in entries]


def _dtypes_by_kind(names: Mapping[str, str], _: Dialect) -> dict[str, DType]:
    return {kind: dtype(name) for kind, name in names.items()}


# Of a field that no rule gives they get "".
_READERS: dict[str, Callable[[Any, Dialect], Any]] = {
    "Dtypes": lambda text, _: frozenset(dtypes_named(text)),
    "OneDtype": lambda text, _: dtype(text) if text else None,
    "Casts": lambda text, dialect: dialect.mapping(text),
    "Pairs": _pairs,
    "JoinedPairs": _joined_pairs,
    "KindsByDtype": lambda text, _: {
        own: kind for names, kind in _entries(text) for own in dtypes_named(names)
    },
    "OpsByWord": lambda text, _: dict(_entries(text)),
    "DtypesByKind": _dtypes_by_kind,
    "DtypesByArray": lambda counts, dialect: {
        dtype(array): _dtypes_by_kind(names, dialect) for array, names in counts.items()
    },
    **dict.fromkeys(("Words", "Kinds"), lambda text, _: frozenset(text.split())),
    **dict.fromkeys(("Text", "Word", "Edges"), lambda text, _: text),
    "Flag": lambda value, _: bool(value),
    "Count": lambda value, _: value or 0,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """A rule with what its fields mean, laid over the row of its op: ready to decide with."""

    op: Op
    dialect: Dialect
    reach: Reach
    python: dict[str, DType]  # the dtypes of Python numbers, by kind
    loops: int  # the mask of the dtypes that the op has a loop for
    no_kernel: frozenset[DType]
    no_kernel_by_number: dict[str, frozenset[DType]]  # the same, by the words of BY_NUMBER
    caps: dict[DType, DType]
    lifts: dict[DType, DType]  # what integers become before the join, with a Python float
    truncates: dict[DType, DType]  # the dtypes that arrays of some dtypes really have
    lowest: tuple[DType | None, ...]  # the lowest dtype of each operand
    apart: tuple[frozenset[DType], ...]  # dtypes of the two sides do not join
    only_absorbed: frozenset[DType]
    # The fields of the rule.
    computes: frozenset[DType]
    otherwise: str
    scalars: str
    converts: dict[DType, DType]
    integers_become_float: bool
    accumulates: bool
    reads: dict[DType, DType]
    rounds: str
    result: str
    result_of: dict[DType, DType]
    composes: tuple[Composed, ...]
    borrows: str
    because: str
    accepts: Accepts
    numbers: Numbers
    arrays: Arrays
    joins: Joins
    numpy: NumPyOperands
    range: Range
    exponent: Exponent
    weakness: Weakness
    writes: Writes
    arguments: Arguments


@functools.lru_cache(maxsize=256)
def dialect_reach(dialect: Dialect) -> Reach:
    """The reach of a dialect, computed once."""
    return Reach(dialect)


@functools.lru_cache(maxsize=16384)
def op_plan(row: Op, dialect: Dialect, form: str) -> Plan:
    """The plan of an op in a dialect; the same object for the same question."""
    rule = _row_rule(row, dialect, form)
    edges = rule.joins.reaches
    reach = dialect_reach(dialect if edges is None else replace(dialect, reaches=edges))
    meant = _meanings(rule, dialect)
    computes = meant["computes"] & frozenset(dialect.dtypes)
    # What the join becomes before the op computes, where it needs floats or sums.
    lifts = dialect.mapping(dialect.becomes.lifts)
    converts = dict(lifts) if meant["integers_become_float"] else {}
    if meant["accumulates"]:
        converts |= dialect.mapping(dialect.becomes.accumulates)
    converts |= meant["converts"]
    truncates = dialect.truncations if meant["arrays"].is_truncated else {}
    joining = dialect.joining
    return Plan(
        **{**meant, "computes": computes, "converts": converts},
        op=row,
        dialect=dialect,
        reach=reach,
        python=meant["numbers"].dtypes,
        loops=reach.mask(computes | frozenset(converts)),
        no_kernel=_no_kernel(dialect, row, form),
        no_kernel_by_number={word: _listed(dialect, {f"{row.name}/{word}"}) for word in BY_NUMBER},
        caps=dialect.mapping(dialect.becomes.caps),
        lifts=lifts if meant["arrays"].floats_lift else {},
        truncates=truncates,
        lowest=_lowest(row, meant["arrays"].lowest_promoted, truncates),
        apart=tuple([frozenset(dtypes_named(side)) for side in joining.apart.split("/")]),
        only_absorbed=frozenset(dtypes_named(joining.only_absorbed)),
    )


def _row_rule(row: Op, dialect: Dialect, form: str) -> Rule:
    """The rule of an op, in which what the dialect leaves out is as the op's row has it."""
    switches = row.switches
    of_row = Rule(
        computes=row.computes,
        result=row.result,
        integers_become_float=row.integers_become_float,
        accumulates=row.accumulates,
        accepts=Accepts(same_dtype=switches.same_dtype, compared=row.arity[1]),
        arrays=Arrays(promotes=switches.promotes),
        range=Range(looks_at=dialect.order),
    )
    rule = combined(of_row, rule_for(dialect, row, form))
    given = given_fields(rule)
    numbers = {**dialect.python, **given.get("numbers.dtypes", {})}
    scalars = f"{given.get('numpy.scalars', '')};{given.get('numpy.scalars_left', '')}"
    arrays_left = given.get("numpy.arrays_left") or given.get("numpy.arrays") or "refused"
    rule = replace(
        rule,
        numbers=replace(rule.numbers, dtypes=numbers),
        numpy=replace(rule.numpy, arrays_left=arrays_left, scalars_left=scalars),
    )
    # The op's own switches come first: without a cast to the output there is none to allow.
    if not switches.casts_to_output:
        return replace(rule, writes=replace(rule.writes, into="same dtype"))
    return rule if switches.safe_output else replace(rule, writes=replace(rule.writes, into="any"))


def _lowest(
    row: Op, lowest_promoted: bool, truncates: dict[DType, DType]
) -> tuple[DType | None, ...]:
    """The lowest dtype of each operand, as arrays really have it; those not named have none."""
    switches, count = row.switches, row.arity[1]
    # One operand has nothing to be promoted with.
    is_promoted = switches.promotes and count > 1
    if not switches.has_lowest or (is_promoted and not lowest_promoted):
        return ()
    lowest = switches.lowest_per_input or (switches.lowest,) * count
    named = [dtype(low) if low else None for low in lowest]
    held = [truncates.get(low, low) if low else None for low in named]
    return (*held, *[None] * (count - len(held)))


def _no_kernel(dialect: Dialect, row: Op, form: str) -> frozenset[DType]:
    """The dtypes an op promotes to but cannot compute in on the CPU, whatever its operands are."""
    wanted = {row.name, *["/".join((row.name, word)) for word in form.split()]}
    if row.family != "questions":  # an op that only returns a dtype computes nothing
        wanted.add("*")
    return _listed(dialect, wanted)


def _listed(dialect: Dialect, wanted: set[str]) -> frozenset[DType]:
    """The dtypes without a kernel that are listed under some keys."""
    lists = dialect.no_kernel.items()
    listed = [dtypes for names, dtypes in lists if not wanted.isdisjoint(names.split())]
    return frozenset(dtypes_named(" ".join(listed)))


@functools.lru_cache(maxsize=4096)
def keeps_exponent(dialect: Dialect, row: Op, form: str) -> bool:
    """Whether the last operand of an op is an integer that stays one."""
    return rule_for(dialect, row, form).joins.by == "exponent apart"


@functools.lru_cache(maxsize=4096)
def looks_at_values(dialect: Dialect, row: Op, form: str) -> bool:
    """Whether a rule about an op may look at the value of a 0-d array."""
    if form == "augmented" and looks_at_values(dialect, row, "rebinding"):
        return True
    rule = rule_for(dialect, row, form)
    by_exponent = any(composed.exponents for composed in rule.composes or ())
    by_value = rule.scalars == "by value" or rule.joins.by == "integer power"
    return bool(by_value or by_exponent or rule.exponent.negative)
