"""What one op does in one dialect and form: the op's row with the dialect's rules laid over it."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

from castwise.engine import compiled
from castwise.engine.reach import Reach
from castwise.rules.dialect import Dialect, rule_for
from castwise.rules.parts import Composed
from castwise.rules.rule import Rule
from castwise.vocab.dtypes import DType, dtype, dtypes_of
from castwise.vocab.ops import Op


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
    loops: compiled.Loops
    accepts: compiled.AcceptsPlan
    numbers: compiled.NumbersPlan
    arrays: compiled.ArraysPlan
    joins: compiled.JoinsPlan
    numpy: compiled.NumPyOperandsPlan
    range: compiled.RangePlan
    exponent: compiled.ExponentPlan
    weakness: compiled.WeaknessPlan
    writes: compiled.WritesPlan
    arguments: compiled.ArgumentsPlan


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
        accepts=compiled.accepts_of(rule.accepts, row, dialect),
        numbers=compiled.numbers_of(rule.numbers),
        arrays=compiled.arrays_of(rule.arrays, row, dialect),
        joins=compiled.joins_of(rule.joins, dialect),
        numpy=compiled.numpy_of(rule.numpy, dialect),
        range=compiled.range_of(rule.range, dialect),
        exponent=compiled.exponent_of(rule.exponent),
        weakness=compiled.weakness_of(rule.weakness),
        writes=compiled.writes_of(rule.writes, row, dialect),
        arguments=compiled.arguments_of(rule.arguments),
    )


def _chosen(rule: Rule, row: Op, name: str) -> Any:
    """A field that both rules and the op's row have: the rule's, if it gives it, else the row's."""
    value = getattr(rule, name)
    return getattr(row, name) if value is None else value


def _loops(rule: Rule, row: Op, dialect: Dialect, reach: Reach, form: str) -> compiled.Loops:
    becomes_float = _chosen(rule, row, "integers_become_float")
    converts = _converts(dialect, rule, becomes_float, _chosen(rule, row, "accumulates"))
    computes = frozenset(dtypes_of(_chosen(rule, row, "computes"))) & frozenset(dialect.dtypes)
    return compiled.Loops(
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
    return frozenset(dtypes_of(" ".join(listed)))


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
