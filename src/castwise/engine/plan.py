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
    complex_mask: int
    apart: tuple[frozenset[DType], ...]
    only_absorbed: frozenset[DType]
    computes: frozenset[DType]
    loops: int  # the mask of the dtypes the op has a loop for
    is_refusing: bool  # a compute dtype outside `computes` is refused
    no_kernel: frozenset[DType]
    scalars: str
    joins: str
    converts: dict[DType, DType]
    caps: dict[DType, DType]
    result: str
    result_of: dict[DType, DType]
    composes: tuple[Composed, ...]
    borrows: str
    because: str
    accepts: compiled.Accepts
    numbers: compiled.Numbers
    arrays: compiled.Arrays
    numpy: compiled.NumPyOperands
    range: compiled.Range
    exponent: compiled.Exponent
    weakness: compiled.Weakness
    writes: compiled.Writes
    arguments: compiled.Arguments


@functools.lru_cache(maxsize=256)
def reach_of(dialect: Dialect) -> Reach:
    """The reach of a dialect, computed once."""
    return Reach(dialect)


@functools.lru_cache(maxsize=16384)
def plan_of(row: Op, dialect: Dialect, form: str) -> Plan:
    """The plan of an op in a dialect; the same object for the same question."""
    rule = rule_for(dialect, row, form)
    own, edges = dialect.dtypes, rule.arrays.reaches
    reach = reach_of(dialect if edges is None else replace(dialect, reaches=edges))

    def chosen(name: str) -> Any:
        value = getattr(rule, name)
        return getattr(row, name) if value is None else value

    converts = _converts(dialect, rule, chosen("integers_become_float"), chosen("accumulates"))
    computes = frozenset(dtypes_of(chosen("computes"))) & frozenset(own)
    numbers = {**dialect.python, **(rule.numbers.dtypes or {})}
    return Plan(
        op=row,
        dialect=dialect,
        reach=reach,
        python={kind: dtype(name) for kind, name in numbers.items()},
        complex_mask=reach.mask(d for d in own if d.kind == "complex"),
        apart=tuple(frozenset(dtypes_of(side)) for side in dialect.apart.split("/")),
        only_absorbed=frozenset(dtypes_of(dialect.only_absorbed)),
        computes=computes,
        loops=reach.mask(computes | frozenset(converts)),
        is_refusing=rule.otherwise != "no kernel",
        no_kernel=_no_kernel(dialect, row, form),
        scalars=rule.scalars or "as arrays",
        joins=rule.joins or "common dtype",
        converts=converts,
        caps=dialect.mapping(dialect.caps),
        result=chosen("result"),
        result_of=dialect.mapping(rule.result_of or ""),
        composes=rule.composes or (),
        borrows=rule.borrows or "",
        because=rule.because or "",
        accepts=compiled.accepts_of(rule.accepts, row),
        numbers=compiled.numbers_of(rule.numbers),
        arrays=compiled.arrays_of(rule.arrays, row, dialect),
        numpy=compiled.numpy_of(rule.numpy, dialect),
        range=compiled.range_of(rule.range, dialect),
        exponent=compiled.exponent_of(rule.exponent),
        weakness=compiled.weakness_of(rule.weakness),
        writes=compiled.writes_of(rule.writes, row, dialect),
        arguments=compiled.arguments_of(rule.arguments),
    )


def _converts(
    dialect: Dialect, rule: Rule, becomes_float: bool, accumulates: bool
) -> dict[DType, DType]:
    """What the join becomes before the op computes: lifted, widened to sum, or as the rule says."""
    texts = [dialect.lifts * becomes_float, dialect.accumulates * accumulates, rule.converts or ""]
    return {s: t for text in texts for s, t in dialect.mapping(text).items()}


def _no_kernel(dialect: Dialect, row: Op, form: str) -> frozenset[DType]:
    """The dtypes an op promotes to and then cannot compute on the CPU."""
    wanted = {row.name, *[f"{row.name}/{word}" for word in form.split()]}
    if row.family != "questions":  # what tells a dtype computes nothing
        wanted.add("*")
    lists = dialect.no_kernel.items()
    listed = [dtypes for names, dtypes in lists if not wanted.isdisjoint(names.split())]
    return frozenset(dtypes_of(" ".join(listed)))


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
    return bool(by_value or by_exponent or rule.exponent.negative)
