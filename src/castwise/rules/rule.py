"""What a dialect says about some ops: a rule, made of small parts."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from castwise.rules.parts import (
    Accepts,
    Arguments,
    Arrays,
    Composed,
    Exponent,
    Joins,
    Numbers,
    NumPyOperands,
    Range,
    Weakness,
    Writes,
)

# `np.add(a, b)`, `a + b`, `a += b`, `a.add_(b)` and `np.add(a, b, out=c)`. A rule for "inplace"
# also applies to `a += b`, unless that is `a = a + b`: then a rule for "operator" does.
FORMS = ("function", "operator", "augmented", "inplace", "out", "dtype")


@dataclass(frozen=True, slots=True, repr=False)
class Rule:
    """What a dialect does for some ops; a field left None keeps the value of an earlier rule.

    A dialect lists rules from the general ("*", every op) to the particular. A field given by
    none means: scalars as arrays, the common dtype, no check of values, any output.
    """

    computes: str | None = None  # kinds or dtypes the op computes in
    otherwise: str | None = None  # a compute dtype outside those: "refused" or "no kernel"
    scalars: str | None = None  # one of SCALARS
    converts: str | None = None  # "bool -> int64": after the join, before computing
    integers_become_float: bool | None = None
    accumulates: bool | None = None
    result: str | None = None
    result_of: str | None = None  # "uint8 -> uint8": exceptions to `result`, by compute dtype
    composes: tuple[Composed, ...] | None = None  # the first that fits
    borrows: str | None = None  # the dialect that decides instead
    because: str | None = None  # the reason that messages give
    accepts: Accepts = field(default=Accepts())
    numbers: Numbers = field(default=Numbers())
    arrays: Arrays = field(default=Arrays())
    joins: Joins = field(default=Joins())
    numpy: NumPyOperands = field(default=NumPyOperands())
    range: Range = field(default=Range())
    exponent: Exponent = field(default=Exponent())
    weakness: Weakness = field(default=Weakness())
    writes: Writes = field(default=Writes())
    arguments: Arguments = field(default=Arguments())

    def __repr__(self) -> str:
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        shown = [
            f"{name}={given[name]!r}" for name in given if given[name] != getattr(_EMPTY, name)
        ]
        return f"Rule({', '.join(shown)})"


_EMPTY = Rule()
# The fields of a rule that are parts, which are combined field by field.
PARTS = tuple([f.name for f in fields(Rule) if is_dataclass(getattr(_EMPTY, f.name))])


def combined(*rules: Rule) -> Rule:
    """One rule of several: for each field, the last rule that gives it decides.

    >>> combined(Rule(scalars="weak"), Rule(scalars="tiers", result="bool"))
    Rule(scalars='tiers', result='bool')
    """
    return Rule(**{name: _last_given(name, [getattr(r, name) for r in rules]) for name in _NAMES})


def _last_given(name: str, values: list[Any]) -> Any:
    """A field's value in the last rule that gives it; parts are combined field by field."""
    empty = getattr(_EMPTY, name)
    given = [value for value in values if value is not empty]
    if name not in PARTS or len(given) < 2:
        return given[-1] if given else empty
    return replace(given[0], **{k: v for part in given[1:] for k, v in _given(part).items()})


def given_fields(rule: Rule) -> dict[str, Any]:
    """The fields a rule gives, those of its parts by names such as `accepts.refuses`."""
    given: dict[str, Any] = {}
    for name in _NAMES:
        value = getattr(rule, name)
        if name in PARTS:
            given.update({f"{name}.{key}": part for key, part in _given(value).items()})
        elif value is not None:
            given[name] = value
    return given


def rule_of(given: dict[str, Any]) -> Rule:
    """The rule that gives these fields, by the names of given_fields."""
    top: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        part, _, own = name.rpartition(".")
        (parts.setdefault(part, {}) if part else top)[own] = value
    for part, values in parts.items():
        top[part] = replace(getattr(_EMPTY, part), **values)
    return Rule(**top)


def without(rule: Rule, *names: str) -> Rule:
    """A rule without some fields, by the names of given_fields."""
    return rule_of({name: value for name, value in given_fields(rule).items() if name not in names})


def _given(part: Any) -> dict[str, Any]:
    values = {f.name: getattr(part, f.name) for f in fields(part)}
    return {name: value for name, value in values.items() if value is not None}


_NAMES = tuple([f.name for f in fields(Rule)])
