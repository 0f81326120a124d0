"""Which lines cost most, as bars."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

from castwise.auditing.judging.audited import Audit
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.rewriting.source import lines_at
from castwise.report.amounts import counted, size_text
from castwise.report.audit.page.source import anchor, bytes_by_line

_MOST = 12  # bars
_WIDTH, _ROW, _BAR = 520, 40, 12
_VALUE = 90  # the width of the numbers
_LETTERS = 68  # above a bar


class _Bar(NamedTuple):
    place: SourcePlace
    size: int
    findings: int


def bars_by_origin(audit: Audit) -> str:
    """What each origin costs."""
    return _svg([_Bar(o.place, o.bytes, len(o.findings)) for o in audit.origins])


def bars_by_line(audit: Audit) -> str:
    """What each line costs, whatever caused it."""
    found: dict[tuple[str, int], _Bar] = {}
    sizes = bytes_by_line(audit)
    for finding in audit.findings:
        key = (finding.place.file, finding.place.line)
        count = found[key].findings + 1 if key in found else 1
        found[key] = _Bar(finding.place, sizes[key], count)
    return _svg(list(found.values()))


def _svg(bars: list[_Bar]) -> str:
    """Bars of bytes, or of findings if none costs any bytes."""
    has_sizes = any(bar.size for bar in bars)
    values = {id(bar): bar.size if has_sizes else bar.findings for bar in bars}
    bars = sorted(bars, key=lambda bar: -values[id(bar)])
    shown, left = bars[:_MOST], bars[_MOST:]
    most = max((values[id(bar)] for bar in shown), default=1) or 1
    parts = []
    for place, bar in enumerate(shown):
        length = (_WIDTH - _VALUE) * values[id(bar)] / most
        label = size_text(bar.size) if has_sizes else counted(bar.findings, "finding")
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
        f'<a href="#{anchor(bar.place)}"><title>{escape(str(bar.place))}</title>'
        f'<text x="0" y="{top + 14}"><tspan class="faint">{escape(where)}</tspan>'
        f'<tspan dx="8">{escape(cut)}</tspan></text>'
        f'<rect x="0" y="{top + 20}" width="{length:.1f}" height="{_BAR}" rx="2"/>'
        f'<text x="{length + 8:.1f}" y="{top + 30}" class="faint">{label}</text></a>'
    )
