"""Which findings are expected: numbers that become the float dtype the program computes in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from castwise.auditing.finding.own_rules import has_own_rules
from castwise.auditing.proving.replay import Log
from castwise.auditing.proving.target import Target
from castwise.auditing.records.events import SeenArray, arrays_in
from castwise.auditing.records.findings import Finding, Operation
from castwise.engine.ask import answer
from castwise.engine.decision import Cast
from castwise.errors import CastwiseError
from castwise.vocab.dtypes import DType, dtype

_WIDEST = 64  # bits of the floats that hold integers better than any other
_INTEGERS = ("bool", "int")
_LOSSES = frozenset({"loses-precision", "loses-range"})


def with_expected_marked(
    found: Mapping[int, Finding], log: Log, target: Target
) -> dict[int, Finding]:
    """The findings, by the position of their step, with those marked that are expected: each of
    their casts takes integers, masks or real numbers to the program's float dtype, or to complex
    numbers of it.

    Unless the user states that dtype, nothing is expected if the program has no floats of it but
    those that casts made: then such a line is where the dtype begins.
    """
    expected = {p for p, finding in found.items() if _is_to_target(finding.operation, target.dtype)}
    if not expected or not (target.is_stated or _has_own_floats(found, log, target.dtype)):
        return dict(found)
    return {p: replace(f, is_expected=p in expected) for p, f in found.items()}


def _is_to_target(operation: Operation, target: DType) -> bool:
    decision = operation.decision
    if decision is None or not operation.casts:
        return False
    if has_own_rules(operation) and operation.event.call is not None:
        return False  # no arithmetic: a whole column became another because values are missing
    casts = [
        cast
        for cast, operand in zip(decision.casts, operation.question.operands, strict=True)
        if cast and cast.source and not operand.is_weak
    ]
    casts += [decision.result_cast] if decision.result_cast else []
    return all(_is_cast_to(target, cast) for cast in casts) and not _is_of_integers(operation)


def _is_cast_to(target: DType, cast: Cast) -> bool:
    """Whether a cast takes a number that is no float to a float dtype, or one of its floats to
    complex numbers of it. Floats narrower than the widest must hold what they are given: float32
    rounds integers from 16,777,217 on, floats of 16 bits from a few hundred on."""
    if cast.source is None or cast.target.part != target:
        return False
    if cast.source.kind not in _INTEGERS:
        return cast.source == target
    return target.bits >= _WIDEST or not _LOSSES & set(cast.hazards)


def _is_of_integers(operation: Operation) -> bool:
    """Whether an operation computes integers, and gives floats only because no integer dtype holds
    two of them: uint64 with int64."""
    question = operation.question
    if operation.is_observed or any(o.kind not in _INTEGERS for o in question.operands):
        return False
    widest = max((o.dtype for o in question.operands if o.dtype), key=lambda found: found.bits)
    alike = [replace(o, dtype=widest) if o.dtype else o for o in question.operands]
    try:
        return answer(replace(question, operands=tuple(alike))).compute.kind in _INTEGERS
    except CastwiseError:
        return False


def _has_own_floats(found: Mapping[int, Finding], log: Log, target: DType) -> bool:
    """Whether the program has an array of a float dtype, or of complex numbers of it, that was made
    of no such array and by no finding, or by code that is not observed, such as a test. A scalar,
    such as a NumPy float64, is no such array."""
    made, derived = set[int](), {log.steps[position].event.mark for position in found}
    for step in log.steps:
        event = step.event
        taken = [a for a in arrays_in(event.operands) if _is_of(target, a)]
        made.update(array.maker for array in taken)
        if taken:
            derived.add(event.mark)
        if event.result is not None and _is_of(target, event.result):
            made.add(event.mark)
    return bool(made - derived)


def _is_of(target: DType, array: SeenArray) -> bool:
    return bool(array.dtype) and not array.is_scalar and dtype(array.dtype or "").part == target
