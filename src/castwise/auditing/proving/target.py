"""The dtype a program is meant to compute in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from castwise.auditing.finding.steps import Step
from castwise.auditing.records.events import SeenArray
from castwise.auditing.records.findings import Finding
from castwise.errors import UsageError, did_you_mean
from castwise.vocab.dtypes import DType, dtype

_WIDEST = dtype("float64")
_DEVICES = {"mps": "float32", "tpu": "float32"}  # the widest dtype each of them has
TARGETS = ("float32", "bfloat16", "float16", "float64", *_DEVICES)
_COMPLEX = {"float64": "complex128"}


class Target(NamedTuple):
    """The dtype, and whether the user named it."""

    dtype: DType
    is_stated: bool = False

    def of_kind(self, kind: str) -> DType:
        """The dtype for results of a kind."""
        return (
            dtype(_COMPLEX.get(self.dtype.name, "complex64")) if kind == "complex" else self.dtype
        )


def stated_target(name: str) -> Target:
    """The target of `--target NAME`.

    Raises UsageError for an unknown name.
    """
    if name not in TARGETS:
        hint = did_you_mean(name, TARGETS)
        raise UsageError(f"--target: unknown target {name!r}.{hint} One of {', '.join(TARGETS)}.")
    return Target(dtype(_DEVICES.get(name, name)), is_stated=True)


def inferred_target(steps: Iterable[Step], findings: Iterable[Finding]) -> Target:
    """The float dtype that the arrays had which others widened; else the most frequent one
    narrower than float64; else float64."""
    widened: Counter[DType] = Counter()
    for finding in findings:
        for place, operand in enumerate(finding.operands):
            if place != finding.culprit and _is_narrow(operand.dtype):
                widened[operand.dtype] += finding.elements  # type: ignore[index]
    if not widened:
        for step in steps:
            for array in step.event.arrays:
                widened += Counter(_narrow_elements(array))
    return Target(widened.most_common(1)[0][0] if widened else _WIDEST)


def _narrow_elements(array: SeenArray) -> dict[DType, int]:
    found = dtype(array.dtype) if array.dtype else None
    size = 1
    for length in array.shape or ():
        size *= length
    return {found: size} if found is not None and _is_narrow(found) else {}


def _is_narrow(found: DType | None) -> bool:
    return found is not None and found.kind == "float" and found.bits < _WIDEST.bits
