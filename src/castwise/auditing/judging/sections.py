"""What an audit reports beside its findings, each part only if there is something to say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from castwise.auditing.finding.steps import Step
from castwise.auditing.judging.autocasts import Autocasts, autocasts_in
from castwise.auditing.judging.compiled import ComparedFunctions, compared_in
from castwise.auditing.judging.crashes import ExplainedCrash, crashes_in
from castwise.auditing.judging.retraces import Retrace, retraces_in
from castwise.auditing.judging.sixteen_bits import SixteenBits, sixteen_bits_in
from castwise.auditing.records.seen import Seen


@dataclass(frozen=True, slots=True)
class Sections:
    """What ended the program, and what it does that no single operation shows."""

    crashes: tuple[ExplainedCrash, ...] = ()
    autocasts: Autocasts = field(default_factory=Autocasts)
    retraces: tuple[Retrace, ...] = ()
    sixteen_bits: SixteenBits = field(default_factory=SixteenBits)
    compared: ComparedFunctions | None = None  # None: compiled functions ran as they are


def sections_of(steps: Sequence[Step], seen: Seen) -> Sections:
    """The sections of what was seen."""
    return Sections(
        crashes_in(seen),
        autocasts_in(seen),
        retraces_in(seen),
        sixteen_bits_in(steps, seen),
        compared_in(seen),
    )
