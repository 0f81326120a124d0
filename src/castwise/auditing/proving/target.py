"""The dtype a program is meant to compute in."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from castwise.auditing.finding.provenance import Provenance
from castwise.auditing.finding.steps import Step
from castwise.auditing.records.events import arrays_in
from castwise.auditing.records.findings import Finding
from castwise.errors import UsageError, did_you_mean
from castwise.vocab.dtypes import DType, dtype

_WIDEST = dtype("float64")
_DEVICES = {"mps": "float32", "tpu": "float32"}  # the widest dtype each of them has
TARGETS = ("float32", "bfloat16", "float16", "float64", *_DEVICES)
_DEFAULT = "default_float="  # the option of a dialect
_COMPLEX = {"float64": "complex128"}
_FLOAT_RANK = _WIDEST.rank


class Target(NamedTuple):
    """The dtype, and whether the user named it."""

    dtype: DType
    is_stated: bool = False
    is_default: bool = False  # the program made it the default of a framework
    device: str = ""  # if the user named one
    why: str = ""  # what an inferred one is inferred from

    @property
    def name(self) -> str:
        """What the user named, or the dtype."""
        return self.device or self.dtype.name

    def departs(self, finding: Finding) -> bool:
        """Whether a cast leaves the target: it involves a wider float, or gives another one. A
        device also takes what is narrower."""
        given = finding.result
        arrays = [operand.dtype for operand in finding.operands if operand.dtype]
        if any(self.is_too_wide(found) for found in (*arrays, given)):
            return True
        return not self.device and given.rank >= _FLOAT_RANK and given != self.of_kind(given.kind)

    def allows(self, found: DType) -> bool:
        """Whether a fix may make this dtype: if somebody named the target, only that or a wider
        one."""
        is_wider = found.part.bits > self.dtype.bits
        is_named = self.is_stated or self.is_default
        return not is_named or is_wider or found == self.of_kind(found.kind)

    def is_too_wide(self, found: DType) -> bool:
        """Whether a dtype is a float, or complex with parts, wider than the target."""
        return found.rank >= _FLOAT_RANK and found.part.bits > self.dtype.bits

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
    device = name if name in _DEVICES else ""
    return Target(dtype(_DEVICES.get(name, name)), is_stated=True, device=device)


def default_target(dialects: Iterable[str]) -> Target | None:
    """The default float dtype that a program gave to one of its frameworks; None if to none, or
    different ones."""
    options = {option for name in dialects for option in name.split(":")[1:]}
    given = [option.partition("=")[2] for option in options if option.startswith(_DEFAULT)]
    if len(given) != 1:
        return None
    return Target(dtype(given[0]), is_default=True, why="the default dtype that the program set")


def inferred_target(
    steps: Iterable[Step], findings: Iterable[Finding], provenance: Provenance
) -> Target:
    """The float dtype that the arrays had which others widened; else that of most elements that no
    finding made; else that of what findings made."""
    found = [*findings]
    widened: Counter[DType] = Counter()
    for finding in found:
        for place, operand in enumerate(finding.operands):
            if place != finding.culprit and _is_narrow(operand.dtype):
                widened[operand.dtype] += finding.elements  # type: ignore[index]
    if widened:
        return Target(widened.most_common(1)[0][0], why="the arrays that wider ones widened")
    elements = _own_floats(steps, found, provenance)
    if not elements:
        for finding in found:
            if finding.result.kind == "float":
                elements[finding.result] += finding.elements
    if not any(map(_is_narrow, elements)):
        return Target(_WIDEST, why="its floats, none of which is narrower")
    return Target(elements.most_common(1)[0][0], why="most of its floats")


def _own_floats(
    steps: Iterable[Step], findings: Iterable[Finding], provenance: Provenance
) -> Counter[DType]:
    """The number of elements of each float dtype that no finding made."""
    caused = {finding.origin for finding in findings if not _only_joins(finding)}
    origin = functools.cache(provenance.origin)
    elements: Counter[DType] = Counter()
    for step in steps:
        made = [step.event.result] if step.event.result else []
        for array in arrays_in(step.event.operands) or made:
            found = dtype(array.dtype) if array.dtype else None
            if found is not None and found.kind == "float" and origin(array) not in caused:
                elements[found] += math.prod(array.shape or ()) * step.event.count
    return elements


def _only_joins(finding: Finding) -> bool:
    """Whether integers or masks take the dtype of an array of floats: `x32 * mask`. This array is
    what the program computes in, not what is wrong with it."""
    if finding.culprit is None or finding.operands[finding.culprit].dtype != finding.result:
        return False
    others = [o.kind for place, o in enumerate(finding.operands) if place != finding.culprit]
    return finding.result.kind == "float" and not {"float", "complex"} & set(others)


def _is_narrow(found: DType | None) -> bool:
    return found is not None and found.kind == "float" and found.bits < _WIDEST.bits
