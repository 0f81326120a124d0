"""The cast each operand gets, once the dtype the op computes in is known."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from castwise.engine.accepts import is_integer_power, scalar_hazard
from castwise.engine.decision import Cast, Decision, Note, Question, cast_between, step_text
from castwise.engine.operands import made_array, truncated_dtype, unpromoted
from castwise.engine.plan import Plan, op_plan
from castwise.engine.writes import assignment_refusal
from castwise.errors import UsageError
from castwise.rules.dialect import Dialect
from castwise.rules.rule import Composed
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.notation import parse_scalar
from castwise.vocab.operands import Operand, Role, Scalar, array_operand, scalar_operand
from castwise.vocab.ops import op, op_of_symbol

# Ops that a framework composes of other ops, decided step by step.

Decide = Callable[[Question], Decision]


class Computed(NamedTuple):
    """What an op computes in and gives, before anything is written anywhere."""

    compute: DType
    result: DType
    is_weak: bool = False
    is_own: bool = True  # False: another dialect decided, and its framework computes
    lacking: tuple[str, ...] | None = None  # what its steps have no kernel for; None: it has none


def composition(plan: Plan, operands: tuple[Operand, ...]) -> Composed | None:
    """The first composition of the op that is meant for these operands."""
    return next((c for c in plan.composes if _is_meant(plan, c, operands)), None)


def composed_dtypes(
    plan: Plan, composed: Composed, operands: tuple[Operand, ...], decide: Decide, note: Note
) -> Computed:
    """The highest dtype a step computes in, and the one it ends in; `decide` answers the steps."""
    if plan.arrays.zero_d_as_arrays:
        operands = tuple([array_operand(o.dtype) if o.dtype else o for o in operands])
    named = dict(zip("xyz", operands, strict=False))
    computed: list[DType] = []
    lacking: list[str] = []

    def evaluated(term: Term) -> Operand:
        if isinstance(term, str):
            return named[term] if term in named else scalar_operand(parse_scalar(term))
        name, arguments = term
        if name == "cast":
            source, target = arguments
            array = made_array(plan, evaluated(source))
            if note:
                note(f"{plan.op.name} casts {array} to {target}.")
            return replace(array, dtype=dtype(str(target)), value=None)
        given = tuple([evaluated(argument) for argument in arguments])
        if name == "array":
            return replace(made_array(plan, given[0]), role=Role.ARRAY, shape=None)
        decision = decide(step_question(plan.dialect, name, given))
        computed.append(decision.compute)
        lacking.extend(decision.notes)
        if note:
            note(f"{plan.op.name} computes {step_text(decision)}.")
        shape = None if any(o.role is Role.ARRAY for o in given) else ()
        return array_operand(decision.result, shape, is_weak=decision.is_weak)

    if note and composed.program in named:
        note(f"{plan.op.name} returns {named[composed.program]} unchanged.")
    final = evaluated(parse_program(composed.program))
    assert final.dtype is not None
    highest = max(computed, key=lambda d: (d.rank, d.bits), default=final.dtype)
    return Computed(highest, final.dtype, final.is_weak, lacking=tuple(lacking[:1]))


Term: TypeAlias = "str | tuple[str, tuple[Term, ...]]"  # an operand or number, or a call


@functools.lru_cache(maxsize=256)
def parse_program(text: str) -> Term:
    """The calls of a composition's program.

    >>> parse_program("sub(exp(x), mul(y, x))")
    ('sub', (('exp', ('x',)), ('mul', ('y', 'x'))))
    """
    name, is_call, rest = text.strip().partition("(")
    if not is_call:
        return name
    parts, depth = [""], 0
    for char in rest[:-1]:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return name, tuple([parse_program(part) for part in parts])


def step_question(dialect: Dialect, name: str, given: tuple[Operand, ...]) -> Question:
    """The question of a step: about an operator for a symbol, in place for a name with a `_`."""
    if name.isidentifier():
        return Question(op(name.rstrip("_")), given, dialect, inplace=name.endswith("_"))
    return Question(op_of_symbol(name, len(given)), given, dialect, "operator")


def _is_meant(plan: Plan, composed: Composed, operands: tuple[Operand, ...]) -> bool:
    first, last = operands[0], operands[-1]
    not_given = "xyz"[len(operands) :]
    if not_given and re.search(rf"\b[{not_given}]\b", composed.program):
        return False
    if composed.count not in (None, len(operands)):
        return False
    if composed.rank is not None and any(o.rank != composed.rank for o in operands):
        return False
    if composed.exponents:
        value = 1 if last.value is None else last.value  # an array's value, where not shown, is 1
        if last.role is Role.ARRAY or value not in composed.exponents:
            return False
    if composed.second_kinds and not _is_of_kind(plan, operands[1], composed.second_kinds):
        return False
    return (
        _is_of_kind(plan, first, composed.kinds)
        and _is_among(first.role.name, composed.roles)
        and _is_of_kind(plan, last, composed.exponent_kinds)
        and _is_among(last.role.name, composed.exponent_roles)
    )


def _is_among(word: str, words: str) -> bool:
    return not words or word in words.split()


def _is_of_kind(plan: Plan, operand: Operand, words: str) -> bool:
    kind = "foreign" if operand.dtype in plan.only_absorbed else operand.kind
    return _is_among(kind, words) or str(operand.dtype) in words.split()


def cast_targets(
    plan: Plan, operands: tuple[Operand, ...], compute: DType, is_own: bool
) -> list[DType]:
    """The dtype each operand is cast to."""
    if not plan.arrays.promotes and is_own:
        return [plan.converts.get(own, own) for own in unpromoted(plan, operands)]
    targets = [compute] * len(operands)
    is_apart = plan.joins.by == "exponent apart" and composition(plan, operands) is None
    if is_apart or is_integer_power(plan, operands):  # the exponent takes no part
        targets[-1] = operands[-1].dtype or compute
    return targets


def cast_to(plan: Plan, operand: Operand, target: DType) -> Cast | None:
    """The cast of an operand from the dtype it was given with, or None where there is none."""
    if operand.dtype is None:
        hazard = scalar_hazard(plan, operand, target)
        return Cast(None, target, (hazard,)) if hazard else None
    cast = cast_between(operand.dtype, target)
    if cast and operand.value is not None and _is_within(target, operand.value):
        cast = replace(cast, hazards=tuple([h for h in cast.hazards if h != "loses-range"]))
    return cast


def _is_within(target: DType, value: Scalar) -> bool:
    """Whether a value lies in the range of a dtype."""
    return all(target.min <= part <= target.max for part in (value.real, value.imag))


# Explicit conversions: a cast to a named dtype, an array filled with a value.


def converted(question: Question, note: Note) -> Decision:
    """The decision about `cast` or `fill`, in which nothing is promoted."""
    array, other = question.operands
    if array.dtype is None or array.role is Role.NUMPY_SCALAR:
        raise UsageError(f"the first operand of {question.op.name} must be an array, not {array}.")
    if question.op.name == "fill":
        return _filled(question, array.dtype, other, note)
    if other.dtype is None or other.shape is not None:
        raise UsageError(f"cast takes a dtype, such as 'float32', not {other}.")
    plan = op_plan(question.op, question.dialect, question.form)
    target = truncated_dtype(plan, other.dtype)
    if target not in plan.reach.bits:
        raise UsageError(f"{question.dialect.name} has no dtype {target}.")
    if note:
        note(f"The cast to {target} is explicit.")
        note(f"The result is {target}.")
    return Decision(question, target, target, (None, None))


def _filled(question: Question, held: DType, value: Operand, note: Note) -> Decision:
    """The array keeps its dtype, and the value is converted as in `x[...] = value`."""
    refusal = assignment_refusal(value, held, question.dialect, is_filling=True)
    if refusal:
        raise refusal
    plan = op_plan(question.op, question.dialect, question.form)
    if note:
        note(f"Filling an array keeps its dtype, {held}.")
        note(f"The result is {held}.")
    return Decision(question, held, held, (None, cast_to(plan, value, held)))
