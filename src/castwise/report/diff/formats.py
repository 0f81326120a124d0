"""The formats for the differences of two dialects; all except text and html list every cell."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

from castwise.compare.diff import DiffData, Group
from castwise.report.diff.html import diff_html
from castwise.report.diff.text import diff_text, question_text
from castwise.report.markdown import markdown_row


def diff_json(diff: DiffData) -> dict[str, Any]:
    """The whole diff; a refusal is null."""
    only_first, only_second = diff.missing
    of_first, of_second = diff.recorded_of_one
    return {
        "first": diff.first.name,
        "second": diff.second.name,
        "asked": diff.asked,
        "differ": diff.count,
        "only_first_has": [d.name for d in only_first],
        "only_second_has": [d.name for d in only_second],
        "recorded_of_first_only": list(of_first),
        "recorded_of_second_only": list(of_second),
        "groups": [_group_json(diff, group) for group in diff.groups],
    }


def _group_json(diff: DiffData, group: Group) -> dict[str, Any]:
    return {
        "section": group.section,
        "reason": group.reason,
        "count": len(group.differences),
        "ops": list(group.ops),
        "cells": [
            {
                "question": question_text(diff, d),
                "first": d.first.text if d.first.result else None,
                "second": d.second.text if d.second.result else None,
            }
            for d in group.differences
        ],
    }


def _rows(diff: DiffData) -> Iterator[list[str]]:
    """One row per cell: its section, its reason, the question and both answers."""
    yield ["section", "reason", "question", diff.first.name, diff.second.name]
    for group in diff.groups:
        for d in group.differences:
            asked = question_text(diff, d)
            yield [group.section, group.reason, asked, d.first.text, d.second.text]


def diff_csv(diff: DiffData) -> str:
    """The cells as comma-separated values."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(_rows(diff))
    return written.getvalue().rstrip("\n")


def diff_markdown(diff: DiffData) -> str:
    """The cells as a Markdown table."""
    head, *rows = map(markdown_row, _rows(diff))
    return "\n".join([head, markdown_row(["---"] * 5), *rows])


DIFF_FORMATS: dict[str, Callable[[DiffData], str | bytes]] = {
    "text": diff_text,
    "json": lambda diff: json.dumps(diff_json(diff)),
    "csv": diff_csv,
    "md": diff_markdown,
    "html": diff_html,
}
