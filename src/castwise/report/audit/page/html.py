"""An audit as one self-contained page: origins, bytes by line, a table, the annotated source."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from castwise.auditing.fixing.applying import changed_lines
from castwise.auditing.judging.audited import Audit
from castwise.auditing.judging.origins import DtypeOrigin
from castwise.auditing.records.findings import Finding, Fix
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.rewriting.source import lines_at, text_at
from castwise.report.amounts import counted, place_text, size_text
from castwise.report.audit.page.bars import bars_by_line, bars_by_origin
from castwise.report.audit.page.source import anchor, origin_link, source_html
from castwise.report.audit.sections.coverage import coverage_lines
from castwise.report.audit.sections.crash import crash_sentences
from castwise.report.audit.sections.inside import inside_lines
from castwise.report.audit.sections.losses import losses_html
from castwise.report.audit.sections.optional import section_lines
from castwise.report.audit.text import gain, notes, operation_text, summary
from castwise.report.look.card import faint, hazards_html, paragraph
from castwise.report.look.page import page

_SORTING = Path(__file__).with_name("sorting.js")
_COLUMNS = ("place", "code", "operation", "hazards", "times", "bytes", "alive", "origin")
_NUMBERS = ("times", "bytes", "alive")
_BELOW = "the end of the page has {}"


def audit_html(audit: Audit) -> str:
    """The page. It loads nothing: the styles, pictures and sorting script are inside it."""
    versions = ", ".join(f"{name} {version}" for name, version in audit.versions.items())
    return page(
        summary(audit),
        *map(paragraph, notes(audit, _BELOW)),
        faint(versions),
        *sections_html(audit),
        f"<script>\n{_SORTING.read_text(encoding='utf-8')}</script>",
    )


def sections_html(audit: Audit) -> Iterator[str]:
    """The parts of the page below its title."""
    for crash in audit.sections.crashes:
        yield f"<h2>The program ended at {escape(place_text(crash.place))}: a dtype error</h2>"
        for sentence in crash_sentences(crash):
            yield f"<p>{escape(sentence)}</p>"
        yield _changes(crash.place, (crash.fix,) if crash.fix else ())
    if audit.findings:
        yield from _findings(audit)
    if audit.losses:
        yield from losses_html(audit.losses)
    for head, *lines in section_lines(audit.sections):
        yield f"<h2>{escape(head)}</h2>"
        for line in lines:
            yield f"<p>{escape(line.strip())}</p>"
    yield from _coverage(audit)
    if audit.expected:
        yield from _expected(audit.expected_findings)


def _findings(audit: Audit) -> Iterator[str]:
    yield "<h2>Lines to change, worst first</h2>"
    for origin in audit.origins:
        yield _origin(origin)
    yield '<div class="plots">'
    yield f"<div><h2>Cost by origin</h2>{bars_by_origin(audit)}</div>"
    yield f"<div><h2>Cost by line</h2>{bars_by_line(audit)}</div>"
    yield "</div>"
    yield f"<h2>{counted(len(audit.findings), 'finding').capitalize()}</h2>"
    yield _table(audit)
    yield "<h2>Source</h2>"
    yield from source_html(audit)


def _coverage(audit: Audit) -> Iterator[str]:
    yield "<h2>Coverage</h2>"
    if audit.inside:
        for line in inside_lines(audit.inside):
            yield f"<p>{escape(line.strip())}</p>"
    for line in coverage_lines(audit.coverage, names=None):
        yield f"<p>{escape(line)}</p>"
    if audit.coverage.unclear_at:
        yield "<details><summary>Every call that was not understood</summary><ul>"
        for place, what, runs in audit.coverage.unclear_at:
            code = f"{place_text(place)}: {text_at(place)}"
            yield f"<li><code>{escape(code)}</code> {escape(what)}, {runs:,}</li>"
        yield "</ul></details>"


def _expected(findings: list[Finding]) -> Iterator[str]:
    yield f"<details><summary>{counted(len(findings), 'expected cast')}</summary><ul>"
    for finding in findings:
        code = f"{place_text(finding.place)}: {text_at(finding.place)}"
        yield f"<li><code>{escape(code)}</code> {escape(str(finding))}, {finding.count:,}</li>"
    yield "</ul></details>"


def _origin(origin: DtypeOrigin) -> str:
    return (
        f'<div class="origin"><a href="#{anchor(origin.place)}">'
        f"<strong>{escape(place_text(origin.place))}</strong></a>{fix_html(origin)}</div>"
    )


def fix_html(origin: DtypeOrigin) -> str:
    """What a line that caused findings costs, and what to write instead."""
    return f"<p>{escape(gain(origin))}</p>{_changes(origin.place, origin.fixes)}"


def _changes(place: SourcePlace, fixes: tuple[Fix, ...]) -> str:
    """The source at a place, or what the fixes change."""
    shown = [] if fixes else [f"<span>{escape(line)}</span>" for line in lines_at(place)]
    for old, new in changed_lines(fixes):
        shown += [f'<span class="old">- {escape(line)}</span>' for line in old]
        shown += [f'<span class="new">+ {escape(line)}</span>' for line in new]
    return f"<pre>{''.join(shown)}</pre>"


def _table(audit: Audit) -> str:
    heads = "".join(
        f'<th class="{"number" if name in _NUMBERS else "word"}">{name}</th>' for name in _COLUMNS
    )
    rows = [_row(finding, origin) for origin in audit.origins for finding in origin.findings]
    body = "\n".join(rows)
    return (
        f'<div class="wide sorted"><table><thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody>'
        "</table></div>"
    )


def _row(finding: Finding, origin: DtypeOrigin) -> str:
    saved = origin.saved_by(finding)
    operation = operation_text(finding)
    cells = [
        f'<td><a href="#{anchor(finding.place)}">{escape(place_text(finding.place))}</a></td>',
        f"<td>{escape(text_at(finding.place))}</td>",
        f"<td>{escape(operation)}</td>",
        f"<td>{hazards_html(finding.hazards)}</td>",
        f'<td class="number" data-value="{finding.count}">{finding.count:,}</td>',
        f'<td class="number" data-value="{saved}">{size_text(saved)}</td>',
        f'<td class="number" data-value="{finding.alive}">{size_text(finding.alive)}</td>',
        f"<td>{origin_link(finding, origin)}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>"
