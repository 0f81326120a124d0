"""An audit as one self-contained page: origins, bytes by line, a table, the annotated source."""

from __future__ import annotations

import hashlib
import io
import keyword
import linecache
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from castwise.auditing.blocks import AuditLog
from castwise.auditing.origins import Audit, DtypeOrigin
from castwise.auditing.records import Finding, Fix, SourcePlace
from castwise.auditing.sections import LostValues
from castwise.auditing.source import changed_lines, lines_at, text_at
from castwise.report.audit import (
    SHORT,
    audit_text,
    cost_text,
    coverage_lines,
    crash_sentences,
    gain,
    inside_lines,
    losses_sentence,
    notes,
    operation_text,
    origin_text,
    section_lines,
    summary,
)
from castwise.report.blocks import card, faint, hazards_html, page, paragraph
from castwise.report.terminal import file_text, place_text, plain, size_text
from castwise.showing import quantity

# Python source as HTML, line by line, with comments, strings, numbers and keywords marked.

_CLASSES = {tokenize.COMMENT: "c", tokenize.STRING: "s", tokenize.NUMBER: "n"}
_FSTRINGS = ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")  # separate tokens since 3.12


def lines_html(source: str) -> list[str]:
    """The lines of a source. Source that is not Python stays plain.

    >>> lines_html("x = 1  # one")
    ['x = <span class="n">1</span>  <span class="c"># one</span>']
    """
    lines = source.splitlines()
    marks: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            found = _class_of(token)
            for line in range(token.start[0], token.end[0] + 1) if found else ():
                begins = token.start[1] if line == token.start[0] else 0
                ends = token.end[1] if line == token.end[0] else len(lines[line - 1])
                marks[line - 1].append((begins, ends, found))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass  # the part that could be read is marked
    return [_marked(line, found) for line, found in zip(lines, marks, strict=True)]


def _class_of(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return "k" if keyword.iskeyword(token.string) else ""
    if tokenize.tok_name[token.type] in _FSTRINGS:
        return "s"
    return _CLASSES.get(token.type, "")


def _marked(line: str, marks: list[tuple[int, int, str]]) -> str:
    parts, done = [], 0
    for begins, ends, name in marks:
        parts += [escape(line[done:begins]), f'<span class="{name}">']
        parts += [escape(line[begins:ends]), "</span>"]
        done = ends
    return "".join([*parts, escape(line[done:])])


# The user's source as HTML, with what each line costs and does next to it.

_AROUND = 4  # lines shown around one that has a note
_FEWEST_FOLDED = 3


_Line = tuple[str, int]  # its file and its number


def _anchor(place: SourcePlace) -> str:
    return _name(place.file, place.line)


def _name(file: str, line: int) -> str:
    return f"f{hashlib.sha1(file.encode(), usedforsecurity=False).hexdigest()[:8]}-{line}"


def _bytes_by_line(audit: Audit) -> Counter[_Line]:
    """What the findings on each line cost."""
    sizes: Counter[_Line] = Counter()
    for origin in audit.origins:
        for finding in origin.findings:
            sizes[finding.place.file, finding.place.line] += origin.saved_by(finding)
    return sizes


def _source_html(audit: Audit) -> Iterator[str]:
    """Every file that has a note, most expensive first; lines far from any note are folded."""
    notes = _notes(audit)
    sizes = _bytes_by_line(audit)
    cost: Counter[str] = Counter(dict.fromkeys(sorted({file for file, _ in notes}), 0))
    for (file, _), size in sizes.items():
        cost[file] += size
    for file, size in cost.most_common():
        label = f" <span class=faint>{size_text(size)}</span>" if size else ""
        yield f"<h3><code>{escape(file_text(file))}</code>{label}</h3>"
        yield "".join(_file(file, notes, sizes))


def _notes(audit: Audit) -> dict[_Line, list[str]]:
    notes: dict[_Line, list[str]] = {}
    said = [(origin.place, _origin_note(origin)) for origin in audit.origins]
    said += [(f.place, _finding_note(f, o)) for o in audit.origins for f in o.findings]
    for place, note in said:
        notes.setdefault((place.file, place.line), []).append(note)
    return notes


def _origin_note(origin: DtypeOrigin) -> str:
    texts = " and ".join(f"<code>{escape(fix.text)}</code>" for fix in origin.fixes)
    write = f" Write {texts}." if texts else ""
    return f'<div class="note begin">{escape(gain(origin))}{write}</div>'


def _finding_note(finding: Finding, origin: DtypeOrigin) -> str:
    is_here = _anchor(finding.place) == _anchor(origin.place)
    parts = [
        f"<code>{escape(str(finding))}</code>",
        escape(finding.inside),
        escape(cost_text(finding, origin)),
        "" if is_here else f"caused by {_origin_link(finding, origin)}",
    ]
    said = ", ".join(filter(None, parts))
    return f'<div class="note">{said} {hazards_html(finding.hazards)}</div>'


def _origin_link(finding: Finding, origin: DtypeOrigin) -> str:
    """The line that caused a finding, as a link to it."""
    is_near = finding.place.file == origin.place.file
    where = f"line {origin.place.line}" if is_near else place_text(origin.place)
    return f'<a href="#{_anchor(origin.place)}">{escape(where)}</a>'


def _file(file: str, notes: dict[_Line, list[str]], sizes: Counter[_Line]) -> Iterator[str]:
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


# Which lines cost most, as bars.

_MOST = 12  # bars
_WIDTH, _ROW, _BAR = 520, 40, 12
_VALUE = 90  # the width of the numbers
_LETTERS = 68  # above a bar


class _Bar(NamedTuple):
    place: SourcePlace
    size: int
    findings: int


def _bars_by_line(audit: Audit) -> str:
    """What each line costs, whatever caused it."""
    sizes = _bytes_by_line(audit)
    places = {(f.place.file, f.place.line): f.place for f in audit.findings}
    counts = Counter((f.place.file, f.place.line) for f in audit.findings)
    return _svg([_Bar(place, sizes[line], counts[line]) for line, place in places.items()])


def _svg(bars: list[_Bar]) -> str:
    """Bars of bytes, or of findings if none costs any bytes."""
    has_sizes = any(bar.size for bar in bars)
    value = attrgetter("size" if has_sizes else "findings")
    bars = sorted(bars, key=value, reverse=True)
    shown, left = bars[:_MOST], bars[_MOST:]
    most = max(map(value, shown), default=1) or 1
    parts = []
    for place, bar in enumerate(shown):
        length = (_WIDTH - _VALUE) * value(bar) / most
        label = size_text(bar.size) if has_sizes else quantity(bar.findings, "finding")
        parts.append(_bar_svg(bar, place * _ROW, length, label))
    height = len(shown) * _ROW
    if left:
        height += 22
        parts.append(f'<text class="faint" x="0" y="{height - 6}">and {len(left):,} more</text>')
    about = "Bytes by line" if has_sizes else "Findings by line"
    return (
        f'<svg class="bars" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
        f' role="img" aria-label="{about}">{"".join(parts)}</svg>'
    )


def _bar_svg(bar: _Bar, top: float, length: float, label: str) -> str:
    code = " ".join(lines_at(bar.place)).strip()
    where = f"{Path(bar.place.file).name}:{bar.place.line}"
    room = _LETTERS - len(where)
    cut = f"{code[: room - 1]}…" if len(code) > room else code
    return (
        f'<a href="#{_anchor(bar.place)}"><title>{escape(str(bar.place))}</title>'
        f'<text x="0" y="{top + 14}"><tspan class="faint">{escape(where)}</tspan>'
        f'<tspan dx="8">{escape(cut)}</tspan></text>'
        f'<rect x="0" y="{top + 20}" width="{length:.1f}" height="{_BAR}" rx="2"/>'
        f'<text x="{length + 8:.1f}" y="{top + 30}" class="faint">{label}</text></a>'
    )


_SORTING = Path(__file__).parent / "static" / "sorting.js"
_COLUMNS = ("place", "code", "operation", "hazards", "times", "bytes", "alive", "origin")
_NUMBERS = ("times", "bytes", "alive")


def audit_html(audit: Audit) -> str:
    """The page. It loads nothing: the styles, pictures and sorting script are inside it."""
    sorting = f"<script>\n{_SORTING.read_text(encoding='utf-8')}</script>"
    return page(summary(audit), *_parts(audit, "the end of the page has {}"), sorting)


def _parts(audit: Audit, where_expected: str) -> Iterator[str]:
    """The parts of the page below its title."""
    yield from map(paragraph, notes(audit, where_expected))
    yield faint(", ".join(f"{name} {version}" for name, version in audit.versions.items()))
    for crash in audit.sections.crashes:
        yield f"<h2>The program ended at {escape(place_text(crash.place))}: a dtype error</h2>"
        yield from map(paragraph, crash_sentences(crash))
        yield _changes(crash.place, (crash.fix,) if crash.fix else ())
    if audit.findings:
        yield from _findings(audit)
    if audit.losses:
        yield from _losses_html(audit.losses)
    for head, *lines in section_lines(audit.sections):
        yield f"<h2>{escape(head)}</h2>"
        yield from (paragraph(line.strip()) for line in lines)
    yield from _coverage(audit)
    if audit.expected:
        found = audit.expected_findings
        places = [(finding.place, str(finding), finding.count) for finding in found]
        yield from _folded_places(quantity(len(found), "expected cast"), places)


def _findings(audit: Audit) -> Iterator[str]:
    yield "<h2>Lines to change, worst first</h2>"
    for origin in audit.origins:
        where = f"<strong>{escape(place_text(origin.place))}</strong>"
        link = f'<a href="#{_anchor(origin.place)}">{where}</a>'
        yield f'<div class="origin">{link}{_fix_html(origin)}</div>'
    yield '<div class="plots">'
    by_origin = _svg([_Bar(o.place, o.bytes, len(o.findings)) for o in audit.origins])
    yield f"<div><h2>Cost by origin</h2>{by_origin}</div>"
    yield f"<div><h2>Cost by line</h2>{_bars_by_line(audit)}</div>"
    yield "</div>"
    yield f"<h2>{quantity(len(audit.findings), 'finding').capitalize()}</h2>"
    yield _table(audit)
    yield "<h2>Source</h2>"
    yield from _source_html(audit)


def _coverage(audit: Audit) -> Iterator[str]:
    yield "<h2>Coverage</h2>"
    if audit.inside:
        yield from (paragraph(line.strip()) for line in inside_lines(audit.inside))
    yield from map(paragraph, coverage_lines(audit.coverage, names=None))
    if audit.coverage.unclear_at:
        yield from _folded_places("Every call that was not understood", audit.coverage.unclear_at)


def _folded_places(title: str, found: Iterable[tuple[SourcePlace, str, int]]) -> Iterator[str]:
    """Places, each with what happened there and how often."""
    yield f"<details><summary>{title}</summary><ul>"
    for place, what, count in found:
        code = f"{place_text(place)}: {text_at(place)}"
        yield f"<li><code>{escape(code)}</code> {escape(what)}, {count:,}</li>"
    yield "</ul></details>"


def _fix_html(origin: DtypeOrigin) -> str:
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
    sorts = ["number" if name in _NUMBERS else "word" for name in _COLUMNS]
    heads = "".join(map('<th class="{}">{}</th>'.format, sorts, _COLUMNS))
    body = "\n".join(_row(found, origin) for origin in audit.origins for found in origin.findings)
    return (
        f'<div class="wide sorted"><table><thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody>'
        "</table></div>"
    )


def _row(finding: Finding, origin: DtypeOrigin) -> str:
    saved = origin.saved_by(finding)
    cells = [
        f'<td><a href="#{_anchor(finding.place)}">{escape(place_text(finding.place))}</a></td>',
        f"<td>{escape(text_at(finding.place))}</td>",
        f"<td>{escape(operation_text(finding))}</td>",
        f"<td>{hazards_html(finding.hazards)}</td>",
        f'<td class="number" data-value="{finding.count}">{finding.count:,}</td>',
        f'<td class="number" data-value="{saved}">{size_text(saved)}</td>',
        f'<td class="number" data-value="{finding.alive}">{size_text(finding.alive)}</td>',
        f"<td>{_origin_link(finding, origin)}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _losses_html(losses: Iterable[LostValues]) -> Iterator[str]:
    yield "<h2>Lost values</h2>"
    rows = [
        f"<tr><td>{escape(place_text(loss.place))}</td>"
        f"<td>{escape(loss.code)}</td><td>{escape(losses_sentence(loss))}</td></tr>"
        for loss in losses
    ]
    yield f'<div class="wide"><table><tbody>{"".join(rows)}</tbody></table></div>'


# An audit, and the parts of it that people take in hand, as text and in a notebook.

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
    return card(escape(summary(audit)), *_parts(audit, _EXPECTED))


def log_card(log: AuditLog) -> str:
    """What a block did so far."""
    return audit_card(log.audit)


def origin_card(origin: DtypeOrigin) -> str:
    """A line that caused findings, and what to write instead."""
    return card(escape(place_text(origin.place)), _fix_html(origin))


def finding_card(finding: Finding) -> str:
    """An operation that casts implicitly."""
    times = f"{finding.count:,} times" if finding.count > 1 else ""
    return card(
        escape(place_text(finding.place)),
        f"<pre><span>{escape(text_at(finding.place))}</span></pre>",
        f"<p><code>{escape(operation_text(finding))}</code> {hazards_html(finding.hazards)}</p>",
        faint(", ".join(filter(None, [finding.inside, times]))),
    )
