"""Which findings count: those that are not expected, that neither a comment nor a baseline accepts,
and that are large enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from castwise.auditing.accepting.baseline import Baseline
from castwise.auditing.accepting.comments import WORDS, accepts, hazards_left, remarks_on
from castwise.auditing.judging.audited import Audit, worst_first
from castwise.auditing.judging.compiled import CompiledFinding
from castwise.auditing.judging.losses import LostValues
from castwise.auditing.judging.origins import DtypeOrigin
from castwise.auditing.records.beyond import DIFFERS
from castwise.auditing.records.findings import Finding
from castwise.auditing.records.losses import LOST
from castwise.engine.decision import HAZARDS
from castwise.errors import UsageError, did_you_mean

ANY = "any"


def without_ignored(audit: Audit, hazards: Sequence[str] = ()) -> Audit:
    """The audit without the findings and hazards that comments accept, or that are accepted
    everywhere."""

    def kept(finding: Finding, origin: DtypeOrigin) -> Finding | None:
        left = hazards_left(finding, origin.place, hazards)
        return None if left is None else replace(finding, hazards=left)

    files = {
        place.file for o in audit.origins for place in (o.place, *(f.place for f in o.findings))
    }
    remarks = [remark for file in sorted(files) for remark in remarks_on(file)]
    filtered = _filtered(audit, kept)
    if audit.losses:
        seen = () if LOST in hazards else audit.losses
        left = tuple(loss for loss in seen if not accepts(LOST, loss.place))
        filtered = replace(filtered, losses=left)
    filtered = _without_accepted_compilations(filtered, hazards)
    return replace(
        filtered,
        ignored=_findings_removed(audit, filtered),
        ignored_hazards=tuple(hazards),
        remarks=tuple(remarks),
    )


def _without_accepted_compilations(audit: Audit, hazards: Sequence[str]) -> Audit:
    compared = audit.sections.compared
    if compared is None:
        return audit
    seen = () if DIFFERS in hazards else compared.findings
    left = tuple(finding for finding in seen if not accepts(DIFFERS, finding.place))
    sections = replace(audit.sections, compared=replace(compared, findings=left))
    return replace(audit, sections=sections)


def without_allowed(audit: Audit) -> Audit:
    """The audit without hazards that were allowed where they occurred, for example by a test's
    marker."""

    def kept(finding: Finding, _: DtypeOrigin) -> Finding | None:
        allowed = finding.operation.event.allowed
        left = tuple([h for h in finding.hazards if h not in allowed])
        is_gone = ANY in allowed or (allowed and not left)
        return None if is_gone else replace(finding, hazards=left)

    return _filtered(audit, kept)


def without_expected(audit: Audit, hazards: Sequence[str] = ()) -> Audit:
    """The audit with the findings apart that are expected, except those with a hazard that is asked
    for by name."""

    def is_apart(finding: Finding) -> bool:
        return finding.is_expected and not set(hazards) & set(finding.hazards)

    listed = _filtered(audit, lambda finding, _: None if is_apart(finding) else finding)
    apart = _filtered(audit, lambda finding, _: finding if is_apart(finding) else None)
    return replace(listed, expected=apart.origins)


def without_known(audit: Audit, baseline: Baseline) -> Audit:
    """The audit without the findings in a baseline."""
    known = {id(finding) for finding in baseline.knows(audit.findings)}
    filtered = _filtered(audit, lambda finding, _: None if id(finding) in known else finding)
    return replace(filtered, baselined=_findings_removed(audit, filtered))


def without_small(audit: Audit, least: int) -> Audit:
    """The audit without the findings whose results take less than so many bytes."""
    filtered = _filtered(audit, lambda finding, _: finding if finding.size >= least else None)
    return replace(filtered, hidden=_findings_removed(audit, filtered), least_size=least)


def _filtered(audit: Audit, kept: Callable[[Finding, DtypeOrigin], Finding | None]) -> Audit:
    origins = []
    for origin in audit.origins:
        found = [new for finding in origin.findings if (new := kept(finding, origin))]
        if found:
            origins.append(replace(origin, findings=tuple(found)))
    return replace(audit, origins=worst_first(origins, audit.target))


def _findings_removed(audit: Audit, filtered: Audit) -> int:
    return len(audit.findings) - len(filtered.findings)


def hazards_named(
    words: Iterable[str], option: str = "--fail-on", beside: Sequence[str] = (ANY,)
) -> tuple[str, ...]:
    """The hazards a list such as `widens,loses-precision` names; `any` stands for every finding.
    `beside` are the words that an option takes beside them.

    Raises UsageError for an unknown one.
    """
    named = [word.strip() for words_ in words for word in words_.split(",") if word.strip()]
    for word in named:
        if word not in (*WORDS, *beside):
            known = f"Hazards: {'; or '.join([', '.join(HAZARDS), *beside])}."
            hint = did_you_mean(word, [*WORDS, *beside])
            raise UsageError(f"{option}: there is no hazard {word!r}.{hint} {known}")
    return tuple(named)


def failing(audit: Audit, hazards: Sequence[str]) -> list[Finding]:
    """The findings that have one of these hazards. `any` counts those that are not expected."""
    return [
        f
        for f in audit.findings
        if (ANY in hazards and not f.is_expected) or set(hazards) & set(f.hazards)
    ]


def failing_losses(audit: Audit, hazards: Sequence[str]) -> tuple[LostValues, ...]:
    """The lost values, if they count as one of these hazards."""
    return (audit.losses or ()) if {ANY, LOST} & set(hazards) else ()


def failing_compilations(audit: Audit, hazards: Sequence[str]) -> tuple[CompiledFinding, ...]:
    """What compiled functions give otherwise, if it counts as one of these hazards."""
    compared = audit.sections.compared
    return compared.findings if compared and {ANY, DIFFERS} & set(hazards) else ()
