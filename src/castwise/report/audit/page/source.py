"""The user's source as HTML, with what each line costs and does next to it."""

from __future__ import annotations

import hashlib
import linecache
from collections import Counter
from collections.abc import Iterator
from html import escape

from castwise.auditing.judging.audited import Audit
from castwise.auditing.judging.origins import DtypeOrigin
from castwise.auditing.records.findings import Finding
from castwise.auditing.records.places import SourcePlace
from castwise.report.amounts import place_text, size_text
from castwise.report.audit.page.python_html import lines_html
from castwise.report.audit.text import cost_text, gain
from castwise.report.look.card import hazards_html

_AROUND = 4  # lines shown around one that has a note
_FEWEST_FOLDED = 3


def anchor(place: SourcePlace) -> str:
    """The anchor of a place's line in the page."""
    return _name(place.file, place.line)


def _name(file: str, line: int) -> str:
    return f"f{hashlib.sha1(file.encode(), usedforsecurity=False).hexdigest()[:8]}-{line}"


def bytes_by_line(audit: Audit) -> Counter[tuple[str, int]]:
    """What the findings on each line cost."""
    sizes: Counter[tuple[str, int]] = Counter()
    for origin in audit.origins:
        for finding in origin.findings:
            sizes[finding.place.file, finding.place.line] += origin.saved_by(finding)
    return sizes


def source_html(audit: Audit) -> Iterator[str]:
    """Every file that has a note, most expensive first; lines far from any note are folded."""
    notes = _notes(audit)
    sizes = bytes_by_line(audit)
    cost: Counter[str] = Counter(dict.fromkeys(sorted({file for file, _ in notes}), 0))
    for (file, _), size in sizes.items():
        cost[file] += size
    for file, size in cost.most_common():
        label = f" <span class=faint>{size_text(size)}</span>" if size else ""
        name = place_text(SourcePlace(file, 1, 1, 1, 1)).rpartition(":")[0]
        yield f"<h3><code>{escape(name)}</code>{label}</h3>"
        yield "".join(_file(file, notes, sizes))


def _notes(audit: Audit) -> dict[tuple[str, int], list[str]]:
    """The notes below each line."""
    notes: dict[tuple[str, int], list[str]] = {}
    for origin in audit.origins:
        place = (origin.place.file, origin.place.line)
        notes.setdefault(place, []).append(_origin_note(origin))
    for origin in audit.origins:
        for finding in origin.findings:
            place = (finding.place.file, finding.place.line)
            notes.setdefault(place, []).append(_finding_note(finding, origin))
    return notes


def _origin_note(origin: DtypeOrigin) -> str:
    texts = " and ".join(f"<code>{escape(fix.text)}</code>" for fix in origin.fixes)
    write = f" Write {texts}." if texts else ""
    return f'<div class="note begin">{escape(gain(origin))}{write}</div>'


def _finding_note(finding: Finding, origin: DtypeOrigin) -> str:
    operation = str(finding)
    cost = cost_text(finding, origin)
    is_here = anchor(finding.place) == anchor(origin.place)
    cause = f"caused by {origin_link(finding, origin)}"
    parts = [f"<code>{escape(operation)}</code>", escape(finding.inside), escape(cost)]
    parts += [] if is_here else [cause]
    return (
        f'<div class="note">{", ".join(filter(None, parts))} {hazards_html(finding.hazards)}</div>'
    )


def origin_link(finding: Finding, origin: DtypeOrigin) -> str:
    """The line that caused a finding, as a link to it."""
    is_near = finding.place.file == origin.place.file
    where = f"line {origin.place.line}" if is_near else place_text(origin.place)
    return f'<a href="#{anchor(origin.place)}">{escape(where)}</a>'


def _file(
    file: str, notes: dict[tuple[str, int], list[str]], sizes: Counter[tuple[str, int]]
) -> Iterator[str]:
    source = linecache.getlines(file)
    if not source:
        yield "<p class=faint>Its source cannot be read.</p>"
        return
    most = max([size for (name, _), size in sizes.items() if name == file], default=0)
    lines = lines_html("".join(source))
    noted = [line for name, line in notes if name == file]
    near = {n for line in noted for n in range(line - _AROUND, line + _AROUND + 1)}
    yield '<div class="source">'
    folded: list[str] = []
    for number, text in enumerate(lines, 1):
        size = sizes[file, number]
        shown = _line(file, number, text, size, size / most if most else 0.0)
        if number in near:
            yield _folded(folded)
            folded = []
            yield shown + "".join(notes.get((file, number), ()))
        else:
            folded.append(shown)
    yield _folded(folded)
    yield "</div>"


def _line(file: str, number: int, text: str, size: int, heat: float) -> str:
    warm = f' style="background:rgb(var(--heat) / {0.12 + 0.3 * heat:.2f})"' if size else ""
    cost = size_text(size) if size else ""
    return (
        f'<div class="code" id="{_name(file, number)}"{warm}>'
        f"<b>{number}</b><i>{cost}</i><span>{text or ' '}</span></div>"
    )


def _folded(lines: list[str]) -> str:
    if len(lines) < _FEWEST_FOLDED:
        return "".join(lines)
    return f"<details><summary>{len(lines):,} lines</summary>{''.join(lines)}</details>"
