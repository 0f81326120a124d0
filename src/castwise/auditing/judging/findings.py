"""Which of the operations that were seen cast an array without being asked, and who began it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from castwise.auditing.judging.operations import Harmless, NotUnderstood, Operation, understand
from castwise.auditing.judging.temporaries import temporary_bytes
from castwise.auditing.running.saved import Data
from castwise.engine.decision import HAZARDS
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand

_WIDE = ("float64", "complex128")


@dataclass(frozen=True, order=True)
class Place:
    """A piece of source. Lines count from 1, columns too."""

    file: str
    line: int
    column: int
    end_line: int = field(compare=False)
    end_column: int = field(compare=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, repr=False)
class Finding:
    """An operation at a place that casts an array without being asked."""

    place: Place
    op: str
    operation: Operation  # an example of it
    culprit: int | None  # the operand whose dtype made it so; None: the op itself
    origin: int  # the mark of the site where that dtype was born
    hazards: tuple[str, ...]
    count: int
    elements: int
    temporaries: int = 0  # bytes of operands cast into arrays of their own
    inside: str = ""  # where it ran, if not in the user's own source

    def __str__(self) -> str:
        return f"{self.operation.question} -> {self.result}"

    def __repr__(self) -> str:
        return f"<Finding {self.place}: {self}>"

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands as castwise sees them."""
        return self.operation.question.operands

    @property
    def is_traced(self) -> bool:
        """Whether it was seen while a function was traced: it then happens in every run of it."""
        return any(operand.get("traced") for operand in self.operation.operands)

    @property
    def result(self) -> DType:
        """The dtype that came of it."""
        decision = self.operation.decision
        assert decision is not None  # a finding is made of one
        return self.operation.result or decision.result


@dataclass(frozen=True)
class Coverage:
    """How much of the program the findings are about."""

    seen: int = 0  # operations on arrays that castwise knows
    not_understood: Counter[str] = field(default_factory=Counter)
    not_observed: tuple[tuple[str, int, str, str], ...] = ()  # file, line, function, why
    unexpected: Counter[str] = field(default_factory=Counter)  # answered as no dialect expects
    quiet: int = 0  # sites no longer observed, since they proved to be about plain numbers
    late: int = 0  # results missed at such sites
    failures: Counter[str] = field(default_factory=Counter)  # the auditor's own
    processes: int = 1
    files: int = 0  # whose source was observed
    asked: Counter[str] = field(default_factory=Counter)  # cast as the call's dtype= says


def find(seen: Data, *, with_accumulators: bool = False) -> tuple[list[Finding], Coverage]:
    """The findings in what was seen, largest first, and how much was seen."""
    found: dict[object, Finding] = {}
    count, unclear, unexpected, asked = 0, Counter[str](), Counter[str](), Counter[str]()
    for event in seen["events"]:
        site = seen["sites"][str(event["mark"])]
        try:
            operation = understand(event, site, seen["dialects"])
        except Harmless:
            count += event["count"]
            continue
        except NotUnderstood as reason:
            unclear[str(reason)] += event["count"]
            continue
        count += event["count"]
        if not operation.is_expected:
            unexpected[str(operation.question)] += event["count"]
            continue
        if operation.is_asked and operation.casts:
            asked[str(operation.question)] += event["count"]
        for finding in findings_of(operation, event["mark"], site, with_accumulators):
            merge(found, finding)
    coverage = Coverage(
        count, unclear, tuple(tuple(u) for u in seen["unobserved"]), unexpected, seen["quiet"],
        seen["late"], Counter(seen["failures"]), seen.get("processes", 1), len(seen["files"]),
        asked,
    )  # fmt: skip
    return sorted(found.values(), key=lambda f: -f.elements), coverage


def merge(found: dict[object, Finding], new: Finding) -> None:
    """Adds a finding to those of its kind."""
    key = key_of(new)
    old = found.get(key)
    found[key] = (
        replace(
            old,
            count=old.count + new.count,
            elements=old.elements + new.elements,
            temporaries=old.temporaries + new.temporaries,
        )
        if old
        else new
    )


def key_of(finding: Finding) -> object:
    """All that tells one finding from another."""
    dtypes = tuple(o.dtype or o.kind for o in finding.operands)
    return finding.place, finding.op, dtypes, finding.result, finding.origin, finding.inside


def place_of(site: Data) -> Place:
    """Where a site stands."""
    return Place(site["file"], site["line"], site["column"] + 1, site["end_line"],
                 site["end_column"] + 1)  # fmt: skip


def findings_of(
    operation: Operation, mark: int, site: Data, with_accumulators: bool = False
) -> Iterator[Finding]:
    """The finding an operation is, if it is one."""
    decision, question = operation.decision, operation.question
    assert decision is not None  # it is expected
    is_sum = question.op.accumulates
    casts = operation.casts
    if operation.is_asked or not casts or (is_sum and not with_accumulators):
        return
    culprit = _culprit(question.operands, decision.compute)
    if culprit is None and decision.result.name not in _WIDE and not is_sum:
        return  # the op alone made it so, and it made no float64
    hazards = {hazard for cast in casts for hazard in cast.hazards}
    origin = operation.operands[culprit].get("origin") if culprit is not None else 0
    event = operation.event
    yield Finding(place_of(site), question.op.name, operation, culprit, origin or mark,
                  tuple(h for h in HAZARDS if h in hazards), event["count"], event["elements"],
                  temporary_bytes(operation))  # fmt: skip


def _culprit(operands: tuple[Operand, ...], compute: DType) -> int | None:
    """The widest operand, where another is cast on its account; None where the op itself is why."""
    dtypes = {o.dtype for o in operands if o.dtype}
    kinds = [o.dtype.rank if o.dtype else _KIND_RANK[o.kind] for o in operands]
    scalars = [n for n, o in enumerate(operands) if not o.dtype]
    highest = max((kinds[n] for n, o in enumerate(operands) if o.dtype), default=0)
    raising = [n for n in scalars if kinds[n] > highest]
    if raising and compute.rank >= min(kinds[n] for n in raising):
        return raising[0]
    if len(dtypes) < 2:
        return None
    return max((n for n, o in enumerate(operands) if o.dtype), key=lambda n: _width(operands[n]))


_KIND_RANK = {"bool": 0, "int": 1, "float": 2, "complex": 3}


def _width(operand: Operand) -> tuple[int, int]:
    found = operand.dtype
    assert found is not None  # asked of arrays alone
    return found.bits, found.rank


def bytes_of(elements: int, held: DType) -> int:
    """The memory some elements of a dtype take."""
    return elements * held.itemsize
