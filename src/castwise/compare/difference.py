"""Why two dialects answer a question differently, in words many questions share."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from castwise.compare.pairs import Answers, Pair, PairAnswer
from castwise.rules.dialect import Dialect
from castwise.showing import line_of
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.mix_words import mix_text, treatment
from castwise.vocab.operands import Operand, Role, array_operand

_NO_KERNEL = "promotes and then has no kernel"


class PairDifference(NamedTuple):
    """A pair that two dialects answer differently."""

    pair: Pair
    first: PairAnswer
    second: PairAnswer

    def __repr__(self) -> str:
        return line_of("PairDifference", f"{self.pair}: {self.first.text} | {self.second.text}")


class Reason(NamedTuple):
    """What many differences have in common. Verbs that end in "to" or "makes" want a dtype."""

    section: str  # what it is about, in few words
    mix: str
    first: str = ""  # what the first dialect does then
    second: str = ""
    refused_by: str = ""  # the dialect that refuses such mixes, some of them or all


def reason_of(difference: PairDifference, first: Answers, second: Answers) -> Reason:
    """Why the two answers differ."""
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
    treatments = [
        treatment(pair.operands, made, _written_into(pair)) for made in (a.result, b.result)
    ]
    return Reason(_section(pair), mix_of(pair), *treatments)


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
        return Reason(section, f"{who} does not write the result into x, {mix_of(pair)}")
    for operand in pair.operands:
        if operand.is_scalar and operand.kind not in refusing.dialect.python:
            return Reason(section, f"{who} has no {operand.kind} numbers")
        array = _array_like(operand, refusing.dialect)
        if array is None:
            return Reason(section, f"{who} takes no Python {operand.kind}")
        if refusing[Pair(pair.op, array, array)].result is None:
            return Reason(section, f"{who} has no such op for {operand.kind}")
    return Reason(section, mix_of(pair), refused_by=who)


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


def mix_of(pair: Pair) -> str:
    """The kinds and roles of a pair, such as "int with float arrays"."""
    # The first of an assignment is the one assigned to.
    return mix_text([pair.left, pair.right] if pair.is_augmented else pair.operands)


def _written_into(pair: Pair) -> DType | None:
    return pair.left.dtype if pair.is_augmented else None
