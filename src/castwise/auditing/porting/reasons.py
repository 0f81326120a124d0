"""Why an operation changes between dialects, in words that many operations share."""

from __future__ import annotations

from castwise.auditing.porting.answers import DialectAnswer
from castwise.engine.decision import Question
from castwise.errors import ScalarRangeError
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.mix_words import in_listed_order, mix_text, treatment
from castwise.vocab.operands import Operand

_PLAIN = ("arithmetic", "bits", "comparison", "extrema")  # families that mix dtypes the same way


def reason_of(before: DialectAnswer, after: DialectAnswer) -> str:
    """Why two answers differ."""
    if before.result is not after.result:
        return f"{_mix(before.question)}: {_behaviour(before)}, {_behaviour(after)}"
    assert before.decision is not None  # both answers have results
    assert after.decision is not None
    return (
        f"{_mix(before.question)}: {_who(before)} computes in {before.decision.compute}, "
        f"{_who(after)} in {after.decision.compute}"
    )


def default_reason(source: Dialect, before: DType, target: Dialect, after: DType) -> str:
    """Why an array created without dtype= has another dtype."""
    return f"arrays made without a dtype: {source.name} makes {before}, {target.name} {after}"


def _who(answer: DialectAnswer) -> str:
    return answer.question.dialect.name


def _refusal(answer: DialectAnswer) -> str:
    if isinstance(answer.refusal, ScalarRangeError):
        return f"{_who(answer)} refuses the number, which is out of range for the dtype"
    return f"{_who(answer)} refuses, because {answer.why}"


def _behaviour(answer: DialectAnswer) -> str:
    """What a dialect does, with the dtype if the words need one."""
    question, result = answer.question, answer.result
    if result is None:
        return _refusal(answer)
    target = question.operands[0].dtype if question.is_assignment else None
    if result.kind == "bool" and question.op.result == "bool":
        return f"{_who(answer)} answers"
    said = treatment(in_listed_order(_taking_part(question)), result, target)
    needs_dtype = said == "makes" or said.endswith("to")
    return f"{_who(answer)} {said}{f' {result}' if needs_dtype else f' ({result})'}"


def _mix(question: Question) -> str:
    operands = _taking_part(question)
    mix = mix_text(operands if question.is_assignment else in_listed_order(operands))
    if question.is_assignment:
        return f"{mix}, {'in place' if question.inplace else 'in an augmented assignment'}"
    is_plain = question.op.family in _PLAIN and not question.op.integers_become_float
    return mix if is_plain else f"{mix}, {question.op.name}"


def _taking_part(question: Question) -> list[Operand]:
    return list(question.operands[1 if question.op.is_condition_first else 0 :])
