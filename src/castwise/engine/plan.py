"""What one op does in one dialect and form: the op's row with the dialect's rules laid over it."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

from castwise.engine.reach import Reach
from castwise.frameworks.dialect import (
    Composed,
    Condition,
    Conversion,
    Dialect,
    Rule,
    parse_edges,
    rule_for,
)
from castwise.vocab.dtypes import DType, dtype, dtypes_of
from castwise.vocab.ops import Op


@dataclass(frozen=True, slots=True)
class Limits:
    """A Conversion with its dtypes looked up."""

    bools: frozenset[DType]
    wide_ints: frozenset[DType]
    every_int_fits: DType | None
    joins_too: bool


@dataclass(frozen=True, slots=True)
class Conditions:
    """A Condition with its dtypes looked up."""

    arrays: frozenset[DType]
    numbers: frozenset[str]
    numpy: frozenset[DType]
    is_refusing: bool  # other arrays are refused; where they are not, they have no kernel


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """An op as a dialect performs it, ready to decide with. The fields are those of Op and Rule."""

    op: Op
    dialect: Dialect
    reach: Reach
    python: dict[str, DType]
    complex_mask: int
    apart: tuple[frozenset[DType], ...]
    only_absorbed: frozenset[DType]
    computes: frozenset[DType]
    loops: int  # the mask of the dtypes the op has a loop for
    is_refusing: bool  # a compute dtype outside `computes` is refused
    no_kernel: frozenset[DType]
    refuses: frozenset[DType]
    refuses_arrays: frozenset[DType]
    refuses_compute: frozenset[DType]
    refuses_last: frozenset[DType]
    one_inexact_of_last: int
    refuses_scalars: frozenset[DType]
    refuses_numbers: frozenset[str]
    takes_scalars: str
    lists: str
    takes_lists: str
    last_is_scalar: bool
    conditions: Conditions
    needs_rank: int
    because: str
    scalars: str
    adapts: tuple[str, ...]
    mixes: frozenset[tuple[DType, DType]] | None  # None: unequal arrays mix as they reach
    beside: dict[DType, dict[str, DType]]
    conversion: Limits | None
    makes_arrays: str
    zero_d_as_arrays: bool
    numbers_as: str
    refuses_zero_d: bool
    meets: dict[frozenset[DType], DType]
    joins: str
    composes: tuple[Composed, ...]
    borrows: str
    numpy: str
    numpy_left: str
    numpy_decider: str
    numpy_left_decider: str
    numpy_scalars: dict[DType, str]
    numpy_scalars_left: dict[DType, str]
    numpy_reads: dict[DType, DType]
    numpy_refuses: frozenset[DType]
    numpy_sees: dict[DType, DType]
    numpy_result: dict[DType, DType]
    converts: dict[DType, DType]
    caps: dict[DType, DType]
    lowest: tuple[DType | None, ...]
    same_dtype: bool
    keeps_width: frozenset[DType]
    compared: int
    floats_lift: dict[DType, DType]
    truncates: dict[DType, DType]
    keeps_dtypes: bool
    makes_strong: bool
    arrays_make_strong: str
    converted_is_strong: bool
    promotes: bool
    out_of_range: str
    checks: frozenset[DType]
    exponent_fits: DType | None
    negative_exponent: str
    result: str
    result_of: dict[DType, DType]
    rebinds: str
    output: str
    writes_also: frozenset[tuple[DType, DType]]
    writes_never: frozenset[tuple[DType, DType]]
    takes_dtype: str
    casting: str
    takes_casting: bool
    typed_castings: frozenset[str]
    finds_foreign: bool
    takes_where: str
    takes_initial: str
    rounded_as: dict[str, str]
    takes_value: frozenset[str]
    takes_delta: frozenset[str]


@functools.lru_cache(maxsize=256)
def reach_of(dialect: Dialect) -> Reach:
    """The reach of a dialect, computed once."""
    return Reach(dialect)


@functools.lru_cache(maxsize=16384)
def plan_of(row: Op, dialect: Dialect, form: str) -> Plan:
    """The plan of an op in a dialect; the same object for the same question."""
    rule = rule_for(dialect, row, form)
    own = dialect.dtypes
    reach = reach_of(dialect if rule.reaches is None else replace(dialect, reaches=rule.reaches))

    def chosen(name: str) -> Any:
        value = getattr(rule, name)
        return getattr(row, name) if value is None else value

    converts = _converts(dialect, rule, chosen("integers_become_float"), chosen("accumulates"))
    computes = frozenset(dtypes_of(chosen("computes"))) & frozenset(own)
    truncates = {} if rule.is_truncated is False else dialect.mapping(dialect.truncates)
    return Plan(
        op=row,
        dialect=dialect,
        reach=reach,
        python={k: dtype(name) for k, name in {**dialect.python, **(rule.python or {})}.items()},
        complex_mask=reach.mask(d for d in own if d.kind == "complex"),
        apart=tuple(frozenset(dtypes_of(side)) for side in dialect.apart.split("/")),
        only_absorbed=frozenset(dtypes_of(dialect.only_absorbed)),
        computes=computes,
        loops=reach.mask(computes | frozenset(converts)),
        is_refusing=rule.otherwise != "no kernel",
        no_kernel=_no_kernel(dialect, row, form),
        beside={
            dtype(array): {kind: dtype(name) for kind, name in counts.items()}
            for array, counts in (rule.beside or {}).items()
        },
        conversion=_limits(rule.conversion) if rule.conversion else None,
        conditions=_conditions(rule.condition or Condition()),
        meets=_meets(rule.meets or ""),
        composes=rule.composes or (),
        refuses_numbers=frozenset((rule.refuses_numbers or "").split()),
        adapts=tuple((rule.adapts or "").split()),
        mixes=None if rule.mixes is None else _pairs(rule.mixes, own),
        converts=converts,
        caps=dialect.mapping(dialect.caps),
        lowest=_lowest(row, truncates) if _has_lowest(row, rule) else (),
        same_dtype=chosen("same_dtype"),
        compared=rule.compared or row.arity[1],
        floats_lift=dialect.mapping(dialect.lifts) if rule.floats_lift else {},
        truncates=truncates,
        promotes=chosen("promotes"),
        checks=frozenset(dtypes_of(rule.checks or dialect.order)),
        exponent_fits=dtype(rule.exponent_fits) if rule.exponent_fits else None,
        result=chosen("result"),
        output=_output(row, rule.output or "any"),
        writes_also=_pairs(rule.writes_also, own),
        writes_never=_pairs(rule.writes_never, own),
        rounded_as=_ops(rule.rounded_as or ""),
        typed_castings=frozenset((rule.typed_castings or "").split()),
        takes_value=frozenset((rule.takes_value or "").split()),
        takes_delta=frozenset((rule.takes_delta or "").split()),
        **_plain(rule, dialect),
        **_numpy_fields(rule, dialect),
    )


# The fields of a rule that a plan has under the same name, by how they are read.
_FLAGS = (
    "zero_d_as_arrays",
    "refuses_zero_d",
    "keeps_dtypes",
    "makes_strong",
    "converted_is_strong",
    "last_is_scalar",
    "takes_casting",
    "finds_foreign",
)
_WORDS = {
    "because": "",
    "scalars": "as arrays",
    "numbers_as": "numbers",
    "joins": "common dtype",
    "borrows": "",
    "makes_arrays": "",
    "out_of_range": "wraps",
    "negative_exponent": "",
    "takes_scalars": "any",
    "lists": "refused",
    "takes_lists": "any",
    "rebinds": "",
    "arrays_make_strong": "",
    "needs_rank": 0,
    "one_inexact_of_last": 0,
    "takes_dtype": "",
    "casting": "any",
    "takes_where": "",
    "takes_initial": "",
}  # and what they are where no rule gives them
_OF_DTYPES = (
    "refuses",
    "refuses_arrays",
    "refuses_compute",
    "refuses_last",
    "refuses_scalars",
    "keeps_width",
)
_MAPPINGS = ("result_of",)


def _plain(rule: Rule, dialect: Dialect) -> dict[str, Any]:
    """The fields of a plan that depend on one field of the rule alone."""
    return {
        **{name: bool(getattr(rule, name)) for name in _FLAGS},
        **{name: getattr(rule, name) or default for name, default in _WORDS.items()},
        **{name: frozenset(dtypes_of(getattr(rule, name) or "")) for name in _OF_DTYPES},
        **{name: dialect.mapping(getattr(rule, name) or "") for name in _MAPPINGS},
    }


def _numpy_fields(rule: Rule, dialect: Dialect) -> dict[str, Any]:
    """The fields of a plan that speak of NumPy arrays and scalars."""
    scalars = rule.numpy_scalars or ""
    return dict(
        numpy=rule.numpy or "refused",
        numpy_left=rule.numpy_left or rule.numpy or "refused",
        numpy_decider=rule.numpy_decider or "",
        numpy_left_decider=rule.numpy_left_decider or "",
        numpy_scalars=_kinds(scalars),
        numpy_scalars_left=_kinds(f"{scalars};{rule.numpy_scalars_left or ''}"),
        numpy_reads=dialect.mapping(rule.numpy_reads or ""),
        numpy_refuses=frozenset(dtypes_of(rule.numpy_refuses or "")),
        numpy_sees=dialect.mapping(rule.numpy_sees or ""),
        numpy_result=dialect.mapping(rule.numpy_result or ""),
    )


def _converts(
    dialect: Dialect, rule: Rule, becomes_float: bool, accumulates: bool
) -> dict[DType, DType]:
    """What the join becomes before the op computes: lifted, widened to sum, or as the rule says."""
    texts = [dialect.lifts * becomes_float, dialect.accumulates * accumulates, rule.converts or ""]
    return {s: t for text in texts for s, t in dialect.mapping(text).items()}


def _limits(conversion: Conversion) -> Limits:
    return Limits(
        bools=frozenset(dtypes_of(conversion.bools)),
        wide_ints=frozenset(dtypes_of(conversion.wide_ints)),
        every_int_fits=dtype(conversion.every_int_fits) if conversion.every_int_fits else None,
        joins_too=conversion.joins_too,
    )


@functools.lru_cache(maxsize=256)
def _conditions(condition: Condition) -> Conditions:
    return Conditions(
        arrays=frozenset(dtypes_of(condition.arrays)),
        numbers=frozenset(condition.numbers.split()),
        numpy=frozenset(dtypes_of(condition.numpy)),
        is_refusing=condition.otherwise == "refused",
    )


def _has_lowest(row: Op, rule: Rule) -> bool:
    """Whether the op's lowest dtypes count. One operand has nothing to be promoted with."""
    promotes = row.promotes and row.arity[1] > 1
    return rule.lowest_promoted is not False or not promotes


def _lowest(row: Op, truncates: dict[DType, DType]) -> tuple[DType | None, ...]:
    """The lowest dtype of each operand, as arrays really have it; those not named have none."""
    if not (row.lowest or row.lowest_per_input):
        return ()
    count = row.arity[1]
    named = [dtype(low) if low else None for low in row.lowest_per_input or (row.lowest,) * count]
    held = [truncates.get(low, low) if low else None for low in named]
    return (*held, *[None] * (count - len(held)))


def _output(row: Op, of_dialect: str) -> str:
    """The output rule: the op's own switches first, then the dialect's."""
    if not row.casts_to_output:  # then there is no cast that safe_output could allow
        return "same dtype"
    return of_dialect if row.safe_output else "any"


def _no_kernel(dialect: Dialect, row: Op, form: str) -> frozenset[DType]:
    """The dtypes an op promotes to and then cannot compute on the CPU."""
    wanted = {row.name, *[f"{row.name}/{word}" for word in form.split()]}
    if row.family != "questions":  # what tells a dtype computes nothing
        wanted.add("*")
    lists = dialect.no_kernel.items()
    listed = [dtypes for names, dtypes in lists if not wanted.isdisjoint(names.split())]
    return frozenset(dtypes_of(" ".join(listed)))


def _kinds(text: str) -> dict[DType, str]:
    """The text "bool complex64 -> float; int -> int" as a mapping."""
    kinds: dict[DType, str] = {}
    for entry in filter(None, text.split(";")):
        names, _, kind = entry.partition("->")
        kinds.update(dict.fromkeys(dtypes_of(names), kind.strip()))
    return kinds


def _ops(text: str) -> dict[str, str]:
    """The text "trunc -> remainder; floor -> floor_divide" as a mapping."""
    entries = [entry.partition("->") for entry in filter(None, text.split(";"))]
    return {word.strip(): name.strip() for word, _, name in entries}


def _meets(text: str) -> dict[frozenset[DType], DType]:
    """The text "uint64 + int8 int16 -> float64" as a mapping of pairs."""
    meets: dict[frozenset[DType], DType] = {}
    for entry in filter(None, text.split(";")):
        pair, _, target = entry.partition("->")
        first, second = (dtypes_of(words) for words in pair.split("+"))
        pairs = [frozenset((a, b)) for a in first for b in second]
        meets.update(dict.fromkeys(pairs, dtype(target.strip())))
    return meets


def _pairs(text: str | None, own: tuple[DType, ...]) -> frozenset[tuple[DType, DType]]:
    return frozenset((source, target) for source, target, _ in parse_edges(text or "", own))


@functools.lru_cache(maxsize=4096)
def keeps_exponent(dialect: Dialect, row: Op, form: str) -> bool:
    """Whether the last operand of an op is an integer that stays one."""
    return rule_for(dialect, row, form).joins == "exponent apart"


@functools.lru_cache(maxsize=4096)
def looks_at_values(dialect: Dialect, row: Op, form: str) -> bool:
    """Whether a rule about an op may look at the value of a 0-d array."""
    if form == "augmented" and looks_at_values(dialect, row, "rebinding"):
        return True
    rule = rule_for(dialect, row, form)
    by_exponent = any(composed.exponents for composed in rule.composes or ())
    by_value = rule.scalars == "by value" or rule.joins == "integer power"
    return bool(by_value or by_exponent or rule.negative_exponent)
