"""The memory of temporary arrays that a framework makes for cast operands."""

from __future__ import annotations

import math

from castwise.auditing.finding.operations import framework_of
from castwise.auditing.hook import find_hook
from castwise.auditing.records.events import Event, SeenArray, SeenOperand
from castwise.auditing.records.findings import Operation


def temporary_bytes(operation: Operation) -> int:
    """The bytes of the temporaries of an operation; 0 if the framework makes none."""
    hook = find_hook(framework_of(operation.event))
    if hook is None or not hook.inside.makes_temporaries or operation.decision is None:
        return 0
    return sum(
        _elements(operand, operation.event) * cast.target.itemsize
        for operand, cast in zip(operation.operands, operation.decision.casts, strict=True)
        if cast and cast.source
    )


def _elements(operand: SeenOperand, event: Event) -> int:
    """How many elements of an operand were cast in all runs, scaled from the first run's shapes by
    the number of result elements."""
    if not isinstance(operand, SeenArray) or operand.shape is None:
        return 0
    if event.result and operand.shape == event.result.shape:
        return event.elements
    return math.prod(operand.shape) * event.count
