"""An audit, and the parts of it that people take in hand, as text and in a notebook."""

from __future__ import annotations

from html import escape

from castwise.auditing.enforcing.contexts import AuditLog
from castwise.auditing.judging.audited import Audit
from castwise.auditing.judging.origins import DtypeOrigin
from castwise.auditing.records.findings import Finding
from castwise.auditing.rewriting.source import text_at
from castwise.report.amounts import place_text
from castwise.report.audit.page.html import fix_html, sections_html
from castwise.report.audit.text import (
    SHORT,
    audit_text,
    notes,
    operation_text,
    origin_text,
    summary,
)
from castwise.report.look.card import card, faint, hazards_html, paragraph
from castwise.report.terminal.colour import plain

_EXPECTED = "audit.expected_findings has {}"
_LISTING = SHORT._replace(
    how_to_list_all="audit.findings has them all", how_to_list_expected=_EXPECTED
)


def audit_words(audit: Audit) -> str:
    """The report of `castwise audit`, which here names attributes instead of options."""
    return audit_text(audit, listing=_LISTING)


def log_words(log: AuditLog) -> str:
    """The report on what a block did so far."""
    return audit_words(log.audit)


def origin_words(origin: DtypeOrigin) -> str:
    """A line that caused findings, as in the report."""
    return origin_text(1, origin, plain, 80, _LISTING).removeprefix("1. ")


def audit_card(audit: Audit) -> str:
    """The page of an audit, in a notebook."""
    versions = ", ".join(f"{name} {version}" for name, version in audit.versions.items())
    sentences = map(paragraph, notes(audit, _EXPECTED))
    return card(escape(summary(audit)), *sentences, faint(versions), *sections_html(audit))


def log_card(log: AuditLog) -> str:
    """What a block did so far."""
    return audit_card(log.audit)


def origin_card(origin: DtypeOrigin) -> str:
    """A line that caused findings, and what to write instead."""
    return card(escape(place_text(origin.place)), fix_html(origin))


def finding_card(finding: Finding) -> str:
    """An operation that casts implicitly."""
    times = f"{finding.count:,} times" if finding.count > 1 else ""
    return card(
        escape(place_text(finding.place)),
        f"<pre><span>{escape(text_at(finding.place))}</span></pre>",
        f"<p><code>{escape(operation_text(finding))}</code> {hazards_html(finding.hazards)}</p>",
        faint(", ".join(filter(None, [finding.inside, times]))),
    )
