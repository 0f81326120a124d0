"""A port, in a notebook and as a page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from castwise.auditing.porting.port import REFUSED, Port, PortChange
from castwise.report.amounts import place_text
from castwise.report.look.card import card, faint, hazards_html, table_html
from castwise.report.look.page import page
from castwise.report.port.text import after_text, coverage_lines, keep_text, sentence, summary

_HEADS = ("place", "code", "operation", "now", "then", "to keep it", "times")


def port_card(port: Port) -> str:
    """What changes, by reason, with what to write instead."""
    return card(escape(summary(port)), *_parts(port))


def port_html(port: Port) -> str:
    """The same as a page."""
    return page(summary(port), *_parts(port))


def _parts(port: Port) -> Iterator[str]:
    for reason, changes in port.groups.items():
        yield f"<h2>{escape(sentence(reason))}</h2>"
        yield table_html(_HEADS, map(_row, changes), "times")
    yield from map(faint, coverage_lines(port))


def _row(change: PortChange) -> list[str]:
    after = escape(after_text(change))
    if change.kind == REFUSED:
        after = f'<span class="refused">{after}</span>'
    return [
        escape(place_text(change.place)),
        escape(change.code),
        escape(change.asked),
        escape(change.before),
        f"{after} {hazards_html(change.hazards)}",
        escape(keep_text(change.keep)) if change.keep else "",
        f"{change.count:,}",
    ]
