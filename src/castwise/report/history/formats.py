"""The formats of a history."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from castwise.compare.history import KINDS, ChangeGroup, Release, question, version_of
from castwise.report.history.text import (
    GROUPS_SHOWN,
    answers,
    by_kind,
    history_markdown,
    history_text,
    ops_text,
    rest,
    summary,
    title,
)
from castwise.report.look.card import faint, folded_html, paragraph, table_html
from castwise.report.look.page import page


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
