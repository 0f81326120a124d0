"""What one op does in one dialect and form: the op's row with the dialect's rules laid over it."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from castwise.rules.dialect import Dialect, parse_edges, rule_for
from castwise.rules.rule import (
    Accepts,
    Arguments,
    Arrays,
    Composed,
    Condition,
    Conversion,
    Exponent,
    Joins,
    Numbers,
    NumPyOperands,
    Range,
    Rule,
    Weakness,
    Writes,
)
from castwise.vocab.dtypes import DType, dtype, dtypes_named
from castwise.vocab.ops import Op

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
        edges = parse_edges(dialect.reaches, self.order)
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


# The parts of a rule with their dtypes looked up, as the engine reads them.

Pairs = frozenset[tuple[DType, DType]]


@dataclass(frozen=True, slots=True)
class Loops:
    """The dtypes an op computes in, and what the join becomes before it does."""

    computes: frozenset[DType]
    mask: int  # of the dtypes it has a loop for
    is_refusing: bool  # a compute dtype outside `computes` is refused
    no_kernel: frozenset[DType]
    converts: dict[DType, DType]
    caps: dict[DType, DType]


@dataclass(frozen=True, slots=True)
class ConditionPlan:
    """What an op chooses by."""

    arrays: frozenset[DType]
    numbers: frozenset[str]
    numpy: frozenset[DType]
    is_refusing: bool  # other arrays are refused; where they are not, they have no kernel


@dataclass(frozen=True, slots=True)
class AcceptsPlan:
    """What an op refuses."""

    refuses: frozenset[DType]
    refuses_arrays: frozenset[DType]
    refuses_compute: frozenset[DType]
    refuses_last: frozenset[DType]
    refuses_zero_d: bool
    one_inexact_of_last: int
    needs_rank: int
    same_dtype: bool
    wider_others: dict[DType, DType]
    compared: int
    condition: ConditionPlan
    index: frozenset[DType]


def accepts_of(rule: Accepts, row: Op, dialect: Dialect) -> AcceptsPlan:
    """What an op refuses. Without a rule, its row says whether the operands need the same dtype."""
    return AcceptsPlan(
        refuses=_dtypes(rule.refuses),
        refuses_arrays=_dtypes(rule.refuses_arrays),
        refuses_compute=_dtypes(rule.refuses_compute),
        refuses_last=_dtypes(rule.refuses_last),
        refuses_zero_d=bool(rule.refuses_zero_d),
        one_inexact_of_last=rule.one_inexact_of_last or 0,
        needs_rank=rule.needs_rank or 0,
        same_dtype=row.switches.same_dtype if rule.same_dtype is None else rule.same_dtype,
        wider_others=dialect.mapping(rule.wider_others or ""),
        compared=rule.compared or row.arity[1],
        condition=_condition(rule.condition or Condition()),
        index=_dtypes(rule.index or "int"),
    )


@functools.lru_cache(maxsize=256)
def _condition(rule: Condition) -> ConditionPlan:
    return ConditionPlan(
        arrays=_dtypes(rule.arrays),
        numbers=frozenset(rule.numbers.split()),
        numpy=_dtypes(rule.numpy),
        is_refusing=rule.otherwise == "refused",
    )


@dataclass(frozen=True, slots=True)
class ConversionPlan:
    """What a Python number may become, where the framework converts it before the op."""

    bools: frozenset[DType]
    wide_ints: frozenset[DType]
    every_int_fits: DType | None
    joins_too: bool


@dataclass(frozen=True, slots=True)
class NumbersPlan:
    """What Python numbers and lists of them are to an op."""

    places: str
    refuses: frozenset[str]
    refused_with: frozenset[DType]
    last_is_number: bool
    adapts: tuple[str, ...]
    count_as: str
    dtypes_by_array: dict[DType, dict[str, DType]]
    conversion: ConversionPlan | None
    lists: str
    list_places: str


def numbers_of(rule: Numbers) -> NumbersPlan:
    """What Python numbers are to an op."""
    return NumbersPlan(
        places=rule.places or "any",
        refuses=frozenset((rule.refuses or "").split()),
        refused_with=_dtypes(rule.refused_with),
        last_is_number=bool(rule.last_is_number),
        adapts=tuple((rule.adapts or "").split()),
        count_as=rule.count_as or "numbers",
        dtypes_by_array={
            dtype(array): {kind: dtype(name) for kind, name in counts.items()}
            for array, counts in (rule.dtypes_by_array or {}).items()
        },
        conversion=_conversion(rule.conversion) if rule.conversion else None,
        lists=rule.lists or "refused",
        list_places=rule.list_places or "any",
    )


def _conversion(rule: Conversion) -> ConversionPlan:
    return ConversionPlan(
        bools=_dtypes(rule.bools),
        wide_ints=_dtypes(rule.wide_ints),
        every_int_fits=dtype(rule.every_int_fits) if rule.every_int_fits else None,
        joins_too=rule.joins_too,
    )


@dataclass(frozen=True, slots=True)
class ArraysPlan:
    """What arrays count as before they are joined."""

    promotes: bool
    lowest: tuple[DType | None, ...]
    zero_d_as_arrays: bool
    makes_arrays: str
    floats_lift: dict[DType, DType]
    keeps_width: frozenset[DType]
    truncates: dict[DType, DType]
    keeps_dtypes: bool


def arrays_of(rule: Arrays, row: Op, dialect: Dialect) -> ArraysPlan:
    """How arrays count for an op."""
    truncates = {} if rule.is_truncated is False else dialect.truncations
    return ArraysPlan(
        promotes=row.switches.promotes if rule.promotes is None else rule.promotes,
        lowest=_lowest(row, truncates) if _has_lowest(row, rule) else (),
        zero_d_as_arrays=bool(rule.zero_d_as_arrays),
        makes_arrays=rule.makes_arrays or "",
        floats_lift=dialect.mapping(dialect.becomes.lifts) if rule.floats_lift else {},
        keeps_width=_dtypes(rule.keeps_width),
        truncates=truncates,
        keeps_dtypes=bool(rule.keeps_dtypes),
    )


def _has_lowest(row: Op, rule: Arrays) -> bool:
    """Whether the op's lowest dtypes count. One operand has nothing to be promoted with."""
    promotes = row.switches.promotes and row.arity[1] > 1
    return rule.lowest_promoted is not False or not promotes


def _lowest(row: Op, truncates: dict[DType, DType]) -> tuple[DType | None, ...]:
    """The lowest dtype of each operand, as arrays really have it; those not named have none."""
    switches, count = row.switches, row.arity[1]
    if not switches.has_lowest:
        return ()
    lowest = switches.lowest_per_input or (switches.lowest,) * count
    named = [dtype(low) if low else None for low in lowest]
    held = [truncates.get(low, low) if low else None for low in named]
    return (*held, *[None] * (count - len(held)))


@dataclass(frozen=True, slots=True)
class JoinsPlan:
    """How the operands' dtypes become one: the rule's own words, and those of its dialect."""

    by: str
    others: str
    unless: str
    typed_by: str
    pairs: dict[frozenset[DType], DType]
    mixes: Pairs | None  # None: unequal arrays mix as they reach
    folds: bool
    keeps_kind: bool
    apart: tuple[frozenset[DType], ...]
    only_absorbed: frozenset[DType]
    refusal: str


def joins_of(rule: Joins, dialect: Dialect) -> JoinsPlan:
    """How the operands' dtypes become one."""
    joining = dialect.joining
    return JoinsPlan(
        by=rule.by or "common dtype",
        others=rule.others or "any",
        unless=rule.unless or "",
        typed_by=rule.typed_by or "",
        pairs=_joined_pairs(rule.pairs or ""),
        mixes=None if rule.mixes is None else pairs(rule.mixes, dialect),
        folds=joining.folds,
        keeps_kind=joining.keeps_kind,
        apart=tuple([_dtypes(side) for side in joining.apart.split("/")]),
        only_absorbed=_dtypes(joining.only_absorbed),
        refusal=joining.refusal,
    )


def _joined_pairs(text: str) -> dict[frozenset[DType], DType]:
    """The text "uint64 + int8 int16 -> float64" as a mapping of pairs."""
    joined: dict[frozenset[DType], DType] = {}
    for entry in filter(None, text.split(";")):
        pair, _, target = entry.partition("->")
        first, second = (dtypes_named(words) for words in pair.split("+"))
        both = [frozenset((a, b)) for a in first for b in second]
        joined.update(dict.fromkeys(both, dtype(target.strip())))
    return joined


@dataclass(frozen=True, slots=True)
class NumPyOperandsPlan:
    """What NumPy arrays and scalars do in an op."""

    arrays: str
    arrays_left: str
    decider: str
    left_decider: str
    scalars: dict[DType, str]
    scalars_left: dict[DType, str]
    reads: dict[DType, DType]
    refuses: frozenset[DType]
    sees: dict[DType, DType]
    result: dict[DType, DType]


def numpy_of(rule: NumPyOperands, dialect: Dialect) -> NumPyOperandsPlan:
    """What NumPy arrays and scalars do in an op."""
    scalars = rule.scalars or ""
    return NumPyOperandsPlan(
        arrays=rule.arrays or "refused",
        arrays_left=rule.arrays_left or rule.arrays or "refused",
        decider=rule.decider or "",
        left_decider=rule.left_decider or "",
        scalars=_kinds(scalars),
        scalars_left=_kinds(f"{scalars};{rule.scalars_left or ''}"),
        reads=dialect.mapping(rule.reads or ""),
        refuses=_dtypes(rule.refuses),
        sees=dialect.mapping(rule.sees or ""),
        result=dialect.mapping(rule.result or ""),
    )


def _kinds(text: str) -> dict[DType, str]:
    """The text "bool complex64 -> float; int -> int" as a mapping."""
    kinds: dict[DType, str] = {}
    for entry in filter(None, text.split(";")):
        names, _, kind = entry.partition("->")
        kinds.update(dict.fromkeys(dtypes_named(names), kind.strip()))
    return kinds


@dataclass(frozen=True, slots=True)
class RangePlan:
    """What becomes of a Python number that is out of range."""

    limit: str
    beyond: str
    looks_at: frozenset[DType]


@dataclass(frozen=True, slots=True)
class ExponentPlan:
    """What the last operand of a power may be."""

    fits: DType | None
    negative: str
    is_free: bool


def range_of(rule: Range, dialect: Dialect) -> RangePlan:
    """What becomes of numbers that are out of range."""
    looks_at = _dtypes(rule.looks_at or dialect.order)
    return RangePlan(rule.limit or "dtype", rule.beyond or "wraps", looks_at)


def exponent_of(rule: Exponent) -> ExponentPlan:
    """What the last operand of a power may be."""
    fits = dtype(rule.fits) if rule.fits else None
    return ExponentPlan(fits, rule.negative or "", bool(rule.is_free))


@dataclass(frozen=True, slots=True)
class WeaknessPlan:
    """Whether the result of weakly typed operands is strong."""

    makes_strong: bool
    arrays_make_strong: str
    converted_is_strong: bool


def weakness_of(rule: Weakness) -> WeaknessPlan:
    """Whether the result of weakly typed operands is strong."""
    return WeaknessPlan(
        bool(rule.makes_strong), rule.arrays_make_strong or "", bool(rule.converted_is_strong)
    )


@dataclass(frozen=True, slots=True)
class WritesPlan:
    """What may be written in place, by `x += y` or into out=."""

    into: str
    rebinds: str
    also: Pairs
    never: Pairs


def writes_of(rule: Writes, row: Op, dialect: Dialect) -> WritesPlan:
    """What may be written: the op's own switches first, then the dialect's rule."""
    into = (rule.into or "any") if row.switches.safe_output else "any"
    if not row.switches.casts_to_output:  # then there is no cast that safe_output could allow
        into = "same dtype"
    return WritesPlan(
        into, rule.rebinds or "", pairs(rule.also or "", dialect), pairs(rule.never or "", dialect)
    )


@dataclass(frozen=True, slots=True)
class ArgumentsPlan:
    """What a call may give by name."""

    dtype: str
    casting: str
    takes_casting: bool
    typed_castings: frozenset[str]
    finds_foreign: bool
    where: str
    initial: str
    rounded_as: dict[str, str]
    value: frozenset[str]
    delta: frozenset[str]


def arguments_of(rule: Arguments) -> ArgumentsPlan:
    """What a call may give by name."""
    return ArgumentsPlan(
        dtype=rule.dtype or "",
        casting=rule.casting or "any",
        takes_casting=bool(rule.takes_casting),
        typed_castings=frozenset((rule.typed_castings or "").split()),
        finds_foreign=bool(rule.finds_foreign),
        where=rule.where or "",
        initial=rule.initial or "",
        rounded_as=_ops(rule.rounded_as or ""),
        value=frozenset((rule.value or "").split()),
        delta=frozenset((rule.delta or "").split()),
    )


def _ops(text: str) -> dict[str, str]:
    """The text "trunc -> remainder; floor -> floor_divide" as a mapping."""
    entries = [entry.partition("->") for entry in filter(None, text.split(";"))]
    return {word.strip(): name.strip() for word, _, name in entries}


def _dtypes(words: str | None) -> frozenset[DType]:
    return frozenset(dtypes_named(words or ""))


def pairs(text: str, dialect: Dialect) -> Pairs:
    """The text "int -> float" as pairs of the dialect's dtypes."""
    edges = parse_edges(text, dialect.dtypes)
    return frozenset([(source, target) for source, target, _ in edges])


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """An op as a dialect performs it, ready to decide with. The fields are those of Op and Rule."""

    op: Op
    dialect: Dialect
    reach: Reach
    python: dict[str, DType]
    scalars: str
    result: str
    result_of: dict[DType, DType]
    composes: tuple[Composed, ...]
    borrows: str
    because: str
    loops: Loops
    accepts: AcceptsPlan
    numbers: NumbersPlan
    arrays: ArraysPlan
    joins: JoinsPlan
    numpy: NumPyOperandsPlan
    range: RangePlan
    exponent: ExponentPlan
    weakness: WeaknessPlan
    writes: WritesPlan
    arguments: ArgumentsPlan


@functools.lru_cache(maxsize=256)
def reach_of(dialect: Dialect) -> Reach:
    """The reach of a dialect, computed once."""
    return Reach(dialect)


@functools.lru_cache(maxsize=16384)
def plan_of(row: Op, dialect: Dialect, form: str) -> Plan:
    """The plan of an op in a dialect; the same object for the same question."""
    rule = rule_for(dialect, row, form)
    edges = rule.joins.reaches
    reach = reach_of(dialect if edges is None else replace(dialect, reaches=edges))
    numbers = {**dialect.python, **(rule.numbers.dtypes or {})}
    return Plan(
        op=row,
        dialect=dialect,
        reach=reach,
        python={kind: dtype(name) for kind, name in numbers.items()},
        scalars=rule.scalars or "as arrays",
        result=_chosen(rule, row, "result"),
        result_of=dialect.mapping(rule.result_of or ""),
        composes=rule.composes or (),
        borrows=rule.borrows or "",
        because=rule.because or "",
        loops=_loops(rule, row, dialect, reach, form),
        accepts=accepts_of(rule.accepts, row, dialect),
        numbers=numbers_of(rule.numbers),
        arrays=arrays_of(rule.arrays, row, dialect),
        joins=joins_of(rule.joins, dialect),
        numpy=numpy_of(rule.numpy, dialect),
        range=range_of(rule.range, dialect),
        exponent=exponent_of(rule.exponent),
        weakness=weakness_of(rule.weakness),
        writes=writes_of(rule.writes, row, dialect),
        arguments=arguments_of(rule.arguments),
    )


def _chosen(rule: Rule, row: Op, name: str) -> Any:
    """A field that both rules and the op's row have: the rule's, if it gives it, else the row's."""
    value = getattr(rule, name)
    return getattr(row, name) if value is None else value


def _loops(rule: Rule, row: Op, dialect: Dialect, reach: Reach, form: str) -> Loops:
    becomes_float = _chosen(rule, row, "integers_become_float")
    converts = _converts(dialect, rule, becomes_float, _chosen(rule, row, "accumulates"))
    computes = frozenset(dtypes_named(_chosen(rule, row, "computes"))) & frozenset(dialect.dtypes)
    return Loops(
        computes=computes,
        mask=reach.mask(computes | frozenset(converts)),
        is_refusing=rule.otherwise != "no kernel",
        no_kernel=_no_kernel(dialect, row, form),
        converts=converts,
        caps=dialect.mapping(dialect.becomes.caps),
    )


def _converts(
    dialect: Dialect, rule: Rule, becomes_float: bool, accumulates: bool
) -> dict[DType, DType]:
    """What the join becomes before the op computes: lifted, widened to sum, or as the rule says."""
    becomes = dialect.becomes
    texts = [becomes.lifts * becomes_float, becomes.accumulates * accumulates, rule.converts or ""]
    return {s: t for text in texts for s, t in dialect.mapping(text).items()}


def _no_kernel(dialect: Dialect, row: Op, form: str) -> frozenset[DType]:
    """The dtypes an op promotes to but cannot compute in on the CPU."""
    wanted = {row.name, *["/".join((row.name, word)) for word in form.split()]}
    if row.family != "questions":  # an op that only returns a dtype computes nothing
        wanted.add("*")
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
