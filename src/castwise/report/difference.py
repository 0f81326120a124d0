"""One question to two dialects: whether they differ, and why, in words many questions share."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from castwise.engine.decision import Decision
from castwise.errors import PromotionError, ScalarRangeError
from castwise.frameworks.dialect import Dialect
from castwise.report.outcome import Outcome, default_form, has_kernel, outcome_of, pair_question
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import Operand, Role, array_operand
from castwise.vocab.ops import Op

REFUSED = "refused"
_ROLES = (Role.ARRAY, Role.ZERO_D, Role.SCALAR)  # in the order they are told
_NO_KERNEL = "promotes and then has no kernel"


class Pair(NamedTuple):
    """An op and the operands it is asked with; a unary op takes the left one."""

    op: Op
    left: Operand
    right: Operand

    @property
    def operands(self) -> list[Operand]:
        """The operands in the order they are told: arrays first, low kinds first."""
        taken = [self.left, self.right][: self.op.arity[1]]
        return sorted(taken, key=lambda o: (_ROLES.index(o.role), KINDS.index(o.kind)))

    def asked_in(self, dialect: Dialect) -> Outcome:
        return outcome_of(pair_question(*self, dialect, default_form(self.op)))


class Difference(NamedTuple):
    """A pair that two dialects answer differently."""

    pair: Pair
    first: Outcome
    second: Outcome

    @property
    def question(self) -> str:
        """The question as it is written, the same in both dialects."""
        answers = (self.first, self.second)  # one of them is a decision, or they would agree
        return str(next(a.question for a in answers if isinstance(a, Decision)))


class Reason(NamedTuple):
    """What many differences have in common. Verbs that end in "to" or "makes" want a dtype."""

    situation: str
    first: str = ""  # what the first dialect does then
    second: str = ""


def told(outcome: Outcome) -> str:
    """The result, or "refused": all that is compared."""
    if not isinstance(outcome, Decision):
        return REFUSED
    return f"{outcome.result}{'*' if outcome.is_weak else ''}"


def difference_of(pair: Pair, first: Dialect, second: Dialect) -> Difference | None:
    """The difference between the dialects' answers, or None where they are the same."""
    found = Difference(pair, pair.asked_in(first), pair.asked_in(second))
    return None if told(found.first) == told(found.second) else found


def reason_of(difference: Difference, first: Dialect, second: Dialect) -> Reason:
    """Why the two answers differ."""
    pair = _without_idle_roles(difference, first, second)
    _, a, b = difference
    if isinstance(a, PromotionError):
        return Reason(_refusal(pair, first, a, second, b))
    if isinstance(b, PromotionError):
        return Reason(_refusal(pair, second, b, first, a))
    if has_kernel(a) != has_kernel(b):
        without, other = (second, first) if has_kernel(a) else (first, second)
        return Reason(f"{without.name} {_NO_KERNEL}, {other.name} answers with another dtype")
    if a.result is b.result:
        weak, other = (first, second) if a.is_weak else (second, first)
        return Reason(f"{weak.name} makes the result weak, {other.name} does not")
    return Reason(_situation(pair), _deed(pair, a.result), _deed(pair, b.result))


def _refusal(
    pair: Pair, refusing: Dialect, refusal: PromotionError, answering: Dialect, answer: Outcome
) -> str:
    """Why one dialect refuses what the other answers."""
    who = refusing.name
    if isinstance(answer, Decision) and not has_kernel(answer):
        return f"{who} refuses, {answering.name} {_NO_KERNEL}"
    if isinstance(refusal, ScalarRangeError):
        return f"{who} refuses the value of a scalar"
    for operand in pair.operands:
        alone = _array_like(operand, refusing)
        if isinstance(Pair(pair.op, alone, alone).asked_in(refusing), PromotionError):
            return f"{who} has no such op for {operand.kind}"
    return f"{who} refuses some mixes of {_situation(pair)}"


def _array_like(operand: Operand, dialect: Dialect) -> Operand:
    return array_operand(operand.dtype or dtype(dialect.python[operand.kind]), (3,))


def _without_idle_roles(difference: Difference, first: Dialect, second: Dialect) -> Pair:
    """The pair with arrays for its 0-d arrays, where that changes neither answer."""
    pair = difference.pair
    bare = pair._replace(left=_as_array(pair.left), right=_as_array(pair.right))
    answers = bare.asked_in(first), bare.asked_in(second)
    is_idle = [told(a) for a in answers] == [told(difference.first), told(difference.second)]
    return bare if is_idle else pair


def _as_array(operand: Operand) -> Operand:
    if operand.role is not Role.ZERO_D:
        return operand
    return replace(operand, role=Role.ARRAY, shape=(3,))


def _situation(pair: Pair) -> str:
    """The kinds and roles of a pair, such as "int with float arrays"."""
    operands = pair.operands
    kinds = list(dict.fromkeys(o.kind for o in operands))
    if all(o.role is Role.ARRAY for o in operands):
        return f"{' with '.join(kinds)} arrays"
    words = {Role.ARRAY: "{} array", Role.ZERO_D: "0-d {}", Role.SCALAR: "Python {}"}
    return " with ".join(words[o.role].format(o.kind) for o in operands)


def _deed(pair: Pair, result: DType) -> str:
    """What a dialect does with a pair to get to its result."""
    operands = pair.operands
    highest = max(operands, key=lambda o: KINDS.index(o.kind)).kind
    rivals = [o.dtype for o in operands if o.kind == highest and o.dtype]
    if result.kind != highest or not rivals:
        return "makes"
    if result in rivals:
        return _kept(result, operands)
    return "widens to" if result.bits > max(d.bits for d in rivals) else "turns to"


def _kept(result: DType, operands: list[Operand]) -> str:
    """What a result is that one of the operands, of the highest kind, had before."""
    owner = next(o for o in operands if o.dtype is result)
    other = next((o for o in operands if o.dtype not in (None, result)), None)
    if other is None or other.dtype is None:
        return "keeps the dtype"
    if other.role is not owner.role:
        return f"takes the {owner.role.value}'s dtype"
    if other.kind != owner.kind:
        return f"keeps the {owner.kind}"
    return f"takes the {'wider' if result.bits > other.dtype.bits else 'other'} one"
