"""Whether a dialect's record is well formed; each error says where it is wrong and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field, fields, is_dataclass, replace
from operator import attrgetter
from typing import Any

from castwise.errors import UsageError, did_you_mean
from castwise.rules.dialect import (
    ASSIGNS_BY_PLACES,
    ASSIGNS_WHOLE,
    GUARDS,
    WEAK_ARRAYS,
    Dialect,
    parse_edges,
)
from castwise.rules.rule import FORMS, LIMITS, OUTPUTS, Rule
from castwise.rules.values import CHOICES, Values
from castwise.vocab.dtypes import KINDS, DType, dtype, dtypes_named
from castwise.vocab.ops import OPS, RESULTS

_NUMBERS = (*KINDS, "wide int", "wrapped float", "wrapped complex")


def check(dialect: Dialect) -> None:
    """Raises UsageError for unknown names, cycles, and dtypes that no edge reaches."""
    try:
        _check_dtypes(dialect)
        _check_values(dialect.values)
        for names, rule in dialect.ops.items():
            _check_key(names)
            _check_rule(dialect, names, rule)
    except UsageError as error:
        raise UsageError(f"dialect {dialect.name}: {error}") from None


def _check_dtypes(dialect: Dialect) -> None:
    _check_edges(dialect)
    becomes = dialect.becomes
    for text in (becomes.lifts, becomes.accumulates, becomes.truncates, becomes.caps):
        dialect.mapping(text)
    dtypes_named(" ".join(dialect.naming.dtypes_of_casts.values()))
    for kind, name in dialect.python.items():
        _check_name(kind, _NUMBERS, "a kind of Python number")
        if dtype(name) not in dialect.dtypes:
            raise UsageError(f"a Python {kind} is {name}, which is not in order.")
    dtypes_named(dialect.joining.apart.replace("/", " "))
    if not dialect.casts_as:
        _check_name(dialect.casts, OUTPUTS, "a rule of can_cast")
    _check_name(dialect.joining.weak_arrays, WEAK_ARRAYS, "a choice for weak_arrays")
    _check_name(dialect.assigns.values, OUTPUTS, "a rule of assignment")
    _check_name(dialect.assigns.limit, LIMITS, "a limit of assigned numbers")
    _check_name(dialect.assigns.by_places, ASSIGNS_BY_PLACES, "a choice for assigns.by_places")
    _check_name(dialect.assigns.whole, ASSIGNS_WHOLE, "a choice for assigns.whole")
    dtype(becomes.index)
    for guard in dialect.joining.guards:
        _check_name(guard, GUARDS, "a guard")


def _check_edges(dialect: Dialect) -> None:
    """Raises UsageError unless the edges lead forward in the order, form no circle, and include
    every dtype that is not listed in alone."""
    place = {node: number for number, node in enumerate(dialect.nodes)}
    edges = parse_edges(dialect.reaches, dialect.nodes)
    for end in [end for source, target, _ in edges for end in (source, target)]:
        if end not in place:
            raise UsageError(f"{end} has an edge but is not in order.")
    onward: dict[DType, list[DType]] = {}
    for source, target, _ in edges:
        onward.setdefault(source, []).append(target)
    for start in onward:
        if circle := _circle(start, onward):
            raise UsageError(f"the edges go in a circle: {' -> '.join(d.name for d in circle)}.")
    for source, target, _ in edges:
        if place[target] < place[source]:
            raise UsageError(f"{source} reaches {target}, which comes before it in order.")
    joined = {end for edge in edges for end in edge[:2]}
    for node in place:
        if node not in joined and node not in dtypes_named(dialect.joining.alone):
            raise UsageError(
                f"{node} is unreachable: it has no edge to or from another dtype. Give it one in"
                " reaches, or list it in alone."
            )


def _circle(start: DType, onward: Mapping[DType, list[DType]]) -> list[DType] | None:
    """A path along the edges from a dtype back to itself."""
    paths = [[start, target] for target in onward[start]]
    seen: set[DType] = set()
    while paths:
        path = paths.pop()
        if path[-1] is start:
            return path
        if path[-1] not in seen:
            seen.add(path[-1])
            paths += [[*path, target] for target in onward.get(path[-1], ())]
    return None


def _check_key(names: str) -> None:
    for word in names.split():
        name, _, form = word.partition("/")
        if name != "*":
            _check_name(name, OPS, "an op")
        if form:
            _check_name(form, FORMS, f"a form of {name}")


def _check_rule(dialect: Dialect, names: str, rule: Rule) -> None:
    """Raises UsageError for a rule with a field that is not written as its type says."""
    for field, value in _given_fields(rule):
        _check_field(dialect, field, value)
    is_counting = (rule.accepts.needs_rank or 0) > 1 or any(c.rank for c in rule.composes or ())
    if is_counting and not _counts_dimensions(names):
        raise UsageError(f"{names} does not distinguish vectors from matrices.")
    if rule.joins.reaches is not None:
        free = replace(dialect.joining, alone=dialect.order)
        _check_edges(replace(dialect, reaches=rule.joins.reaches, joining=free))
    if rule.result and rule.result not in RESULTS:
        dtype(rule.result)
    for field, value in _given_fields(rule):
        words = field.metadata.get("words")
        if words and (value or field.metadata.get("otherwise") is None):
            _check_name(value, words, f"a choice for {names}")


def _check_field(dialect: Dialect, field: Field[Any], value: Any) -> None:
    if field.type in ("Dtypes", "OneDtype"):
        dtypes_named(value)
    elif field.type in ("Casts", "Pairs", "PairsOrAny"):
        dialect.mapping(value)
    elif field.type == "Kinds":
        for kind in value.split():
            _check_name(kind, KINDS, "a kind of Python number")


def _given_fields(record: Any) -> Iterator[tuple[Field[Any], Any]]:
    """The fields that a rule gives, also in its parts."""
    for field in fields(record):
        value = getattr(record, field.name)
        if is_dataclass(value):
            yield from _given_fields(value)
        elif value is not None:
            yield field, value


def _check_values(values: Values) -> None:
    """Raises UsageError for a word that a field does not choose from, and for unknown ops."""
    for name, words in CHOICES.items():
        _check_name(attrgetter(name)(values), words, f"a choice for {name}")
    dividing, arithmetic, memory = values.dividing, values.arithmetic, values.memory
    for names in (
        arithmetic.wide_scalars, dividing.reciprocal_first, dividing.reciprocal_second,
        arithmetic.stepwise, memory.shares_memory, values.needs.elements, memory.retyped_first,
    ):  # fmt: skip
        _check_key(names)
    if values.reducing.correction not in (0, 1):
        raise UsageError(f"correction is 0 or 1, not {values.reducing.correction!r}.")


def _counts_dimensions(names: str) -> bool:
    """Whether all the ops of a key distinguish vectors from matrices."""
    ops = [OPS.get(word.partition("/")[0]) for word in names.split()]
    return all(op and op.shapes.counts_dimensions for op in ops)


def _check_name(name: str, known: Iterable[str], what: str) -> None:
    if name not in known:
        hint = did_you_mean(name, known) or f" There are {', '.join(known)}."
        raise UsageError(f"{name!r} is not {what}.{hint}")
