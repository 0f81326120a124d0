"""What each release changed, for the terminal and in Markdown."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from castwise.comparing.history import KINDS, Change, ChangeGroup, Release, question, version_of
from castwise.report.page import faint, folded_html, page, paragraph, table_html
from castwise.report.terminal import Paint, markdown_row, plain
from castwise.report.verify import answer_words
from castwise.showing import quantity

_MARGIN = 9  # for the count
_OPS_SHOWN = 4
GROUPS_SHOWN = 5  # of each kind


def history_text(
    releases: Sequence[Release], paint: Paint = plain, width: int = 80, *, shows_all: bool = False
) -> str:
    """A section for each release: what it changed, by kind, with a count and an example each."""
    lines: list[str] = []
    for release in releases:
        lines += ["", paint(title(release), "title"), *_folded(summary(release), 0, width)]
        for kind, groups in by_kind(release).items():
            lines += ["", f"  {kind.capitalize()}: {KINDS[kind]}."]
            for group in groups if shows_all else groups[:GROUPS_SHOWN]:
                lines += _group_lines(group, paint, width)
            left = [] if shows_all else groups[GROUPS_SHOWN:]
            if left:
                lines += _folded(f"{rest(left)}; --cells lists them", _MARGIN, width, _count(left))
    return "\n".join(lines[1:])


def title(release: Release) -> str:
    """The release and the one before."""
    framework = release.dialect.framework
    return f"{framework} {release.version}, after {version_of(release.before)}"


def summary(release: Release) -> str:
    """How much changed, in a sentence or two."""
    new = [
        f"New {word}: {', '.join(names)}."
        for word, names in (("dtypes", release.new_dtypes), ("ops", release.new_ops))
        if names
    ]
    if release.is_other_rules:
        both = f"{release.before.name} {release.dialect.name}"
        return f"The rules are others: castwise diff {both} compares them."
    changed = quantity(release.count, "answer") if release.count else "No answer"
    return " ".join([f"{changed} changed.", *new])


def by_kind(release: Release) -> dict[str, list[ChangeGroup]]:
    """The groups of each kind, in the order of KINDS."""
    found = {kind: [g for g in release.groups if g.kind == kind] for kind in KINDS}
    return {kind: groups for kind, groups in found.items() if groups}


def _group_lines(group: ChangeGroup, paint: Paint, width: int) -> Iterator[str]:
    yield from _folded(group.text, _MARGIN, width, _count([group]))
    before, after = answers(group.example)
    yield f"{' ' * _MARGIN}{question(group.example)}   {before} -> {paint(after, 'title')}"
    yield from (paint(line, "faint") for line in _folded(ops_text(group), _MARGIN, width))


def answers(change: Change) -> tuple[str, str]:
    """Both answers in words."""
    return answer_words(change.before), answer_words(change.after)


def ops_text(group: ChangeGroup) -> str:
    """The ops of a group, not all of them if they are many."""
    names = group.ops
    if len(names) <= _OPS_SHOWN + 1:
        return ", ".join(names)
    return f"{', '.join(names[:_OPS_SHOWN])} and {len(names) - _OPS_SHOWN} more ops"


def rest(groups: Sequence[ChangeGroup]) -> str:
    """What is left out."""
    return f"in {quantity(len(groups), 'more group')}"


def _count(groups: Sequence[ChangeGroup]) -> str:
    return f"{sum(len(group.changes) for group in groups):{_MARGIN - 2},}"


def _folded(text: str, margin: int, width: int, head: str = "") -> list[str]:
    start = " " * margin
    return textwrap.wrap(text, width, initial_indent=head.ljust(margin), subsequent_indent=start)


def history_markdown(releases: Sequence[Release]) -> str:
    """The same as Markdown: a heading for each release, a table for each kind."""
    lines: list[str] = []
    for release in releases:
        lines += ["", f"## {title(release)}", "", summary(release)]
        for kind, groups in by_kind(release).items():
            lines += ["", f"**{kind.capitalize()}**: {KINDS[kind]}.", ""]
            lines += [markdown_row(["answers", "what", "example", "before", "after", "ops"])]
            lines += [markdown_row(["---:", *["---"] * 5])]
            lines += [_markdown_group(group) for group in groups[:GROUPS_SHOWN]]
            if groups[GROUPS_SHOWN:]:
                left = groups[GROUPS_SHOWN:]
                lines += [markdown_row([_count(left).strip(), rest(left), "", "", "", ""])]
    return "\n".join(lines[1:])


def _markdown_group(group: ChangeGroup) -> str:
    example = f"`{question(group.example)}`"
    cells = [_count([group]).strip(), group.text, example, *answers(group.example), ops_text(group)]
    return markdown_row(cells)


# The formats of a history.


def history_json(releases: Sequence[Release]) -> list[dict[str, Any]]:
    """Every change of every release; a refusal is "!", as in a file of cells."""
    return [
        {
            "dialect": release.dialect.name,
            "version": release.version,
            "before": version_of(release.before),
            "changed": release.count,
            "new_dtypes": list(release.new_dtypes),
            "new_ops": list(release.new_ops),
            "groups": [_group_json(group) for group in release.groups],
        }
        for release in releases
    ]


def _group_json(group: ChangeGroup) -> dict[str, Any]:
    return {
        "kind": group.kind,
        "what": group.text,
        "ops": list(group.ops),
        "cells": [
            {
                "op": change.cell.op,
                "form": change.cell.form,
                "operands": change.cell.operands.split(";"),
                "before": change.before,
                "after": change.after,
            }
            for change in group.changes
        ],
    }


def history_html(releases: Sequence[Release]) -> str:
    """The history as a page."""
    framework = releases[0].dialect.framework
    parts = [part for release in releases for part in _parts(release)]
    return page(f"What releases of {framework} changed", *parts)


def _parts(release: Release) -> Iterator[str]:
    yield f"<h2>{escape(title(release))}</h2>"
    yield paragraph(summary(release))
    for kind, groups in by_kind(release).items():
        yield f"<h3>{escape(kind.capitalize())}</h3>{faint(f'{KINDS[kind]}.')}"
        yield _table(groups[:GROUPS_SHOWN])
        left = groups[GROUPS_SHOWN:]
        if left:
            yield folded_html(rest(left).removeprefix("in "), _table(left))


def _table(groups: Sequence[ChangeGroup]) -> str:
    heads = ["answers", "what", "example", "before", "after"]
    return table_html(heads, map(_row, groups), "answers")


def _row(group: ChangeGroup) -> list[str]:
    texts = (str(question(group.example)), *answers(group.example))
    what = f"{paragraph(group.text)}{faint(ops_text(group))}"
    return [f"{len(group.changes):,}", what, *map(escape, texts)]


HISTORY_FORMATS: dict[str, Callable[[Sequence[Release]], str | bytes]] = {
    "text": history_text,
    "json": lambda releases: json.dumps(history_json(releases)),
    "md": history_markdown,
    "html": history_html,
}
