"""What differs: between two dialects, `castwise diff`, and between releases, `castwise history`."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from castwise.comparing.diff import Diff, Group, PairAnswer, PairDifference
from castwise.comparing.history import (
    KINDS,
    Change,
    ChangeGroup,
    Release,
    question,
    recorded_releases,
    release_name,
    version_numbers,
)
from castwise.report.blocks import (
    Answer,
    Differences,
    Example,
    Grid,
    differences_html,
    differences_text,
    folded_below,
    ops_text,
    total,
)
from castwise.report.page import card, faint, page, paragraph
from castwise.report.terminal import Paint, plain
from castwise.report.verify import answer_words
from castwise.showing import quantity

# The differences of two dialects.

_MOST_REASONS = 6  # per section


def diff_text(diff: Diff, paint: Paint = plain, width: int = 80, *, shows_all: bool = False) -> str:
    """Sections of reasons, each with its count, one example and the ops it affects.

    With `shows_all`, lists every reason of a section and every question of a reason.
    """
    lines = textwrap.wrap(_diff_summary(diff), width)
    for title, texts in _only_one_has(diff):
        lines += ["", paint(title, "title")]
        lines += [line for text in texts for line in folded_below(text, width)]
    most = None if shows_all else _MOST_REASONS
    for name, groups in diff.sections.items():
        found = [_differences(diff, group, shows_all) for group in groups]
        lines += ["", paint(name, "title")]
        lines += differences_text(found, most, _more_reasons, " | ", paint, width)
    return "\n".join(lines)


def _more_reasons(left: Sequence[Differences]) -> str:
    reasons = "one more reason" if len(left) == 1 else f"{len(left)} more reasons"
    return f"for {reasons}; --cells lists them"


def diff_card(diff: Diff) -> str:
    """Sections of reasons, each with its count, one example and the ops it affects."""
    return card(escape(_diff_summary(diff)), *_diff_parts(diff))


def diff_html(diff: Diff) -> str:
    """The same sections as a page."""
    title = f"{diff.first.name} and {diff.second.name}"
    return page(title, paragraph(_diff_summary(diff)), *_diff_parts(diff))


def _diff_parts(diff: Diff) -> Iterator[str]:
    for title, texts in _only_one_has(diff):
        yield faint(f"{title}: {'; '.join(texts)}.")
    heads = ["questions", "reason", "example", diff.first.name, diff.second.name]
    for name, groups in diff.sections.items():
        found = [_differences(diff, group) for group in groups]
        yield f"<h2>{escape(name)}</h2>"
        yield from differences_html(found, _MOST_REASONS, _reasons_and_questions, heads)


def _reasons_and_questions(left: Sequence[Differences]) -> str:
    return f"{quantity(len(left), 'more reason')}, {quantity(total(left), 'question')}"


def _diff_summary(diff: Diff) -> str:
    """How much differs, in a sentence."""
    both = (diff.first.name, diff.second.name)
    ops = diff.ops[0] if len(diff.ops) == 1 else f"{len(diff.ops)} ops"
    asked = f"{' and '.join(both)} were asked {diff.asked:,} questions about {ops}"
    if not diff.count:
        return f"{asked} and give the same answer to all of them."
    part = diff.count / diff.asked
    share = f"{100 * part:.0f} %" if part >= 0.01 else "under 1 %"
    differ = f"{diff.count:,} differently, {share} of them"
    return f"{asked} and answer {differ}, shown as {' | '.join(both)}."


def _only_one_has(diff: Diff) -> Iterator[tuple[str, list[str]]]:
    """What only one of the dialects has, and what layers were recorded from: a title, and a text
    for each dialect that has some."""
    facts: list[tuple[str, Sequence[Sequence[object]]]]
    facts = [("Dtypes only one of them has", diff.missing)]
    if len(diff.ops) > 1:
        facts.append(("Ops recorded for only one of them, so not compared", diff.recorded_of_one))
    for title, owned in facts:
        both = zip((diff.first, diff.second), owned, strict=True)
        texts = [
            f"{dialect.name}: {', '.join(map(str, names))}" for dialect, names in both if names
        ]
        if texts:
            yield title, texts
    layered = [dialect for dialect in (diff.first, diff.second) if dialect.evidence.layers]
    if layered:
        texts = [f"{dialect.name}: {dialect.evidence.source}" for dialect in layered]
        texts += _history_command(diff)
        yield "Recorded answers over rules, which answer what was not asked", texts


def _history_command(diff: Diff) -> list[str]:
    """The command that tells what else was recorded, where both are releases of one framework."""
    both = diff.first, diff.second
    known = recorded_releases(diff.first.framework)
    if not all(dialect in known for dialect in both):
        return []
    older = release_name(min(both, key=version_numbers))
    op = f" --op {diff.ops[0]}" if len(diff.ops) == 1 else ""
    return [
        f"`castwise history {diff.first.framework} --since {older}{op}` also tells of kernels,"
        " numbers out of range and three operands."
    ]


def _differences(diff: Diff, group: Group, shows_all: bool = False) -> Differences:
    """A group with its best known example, or with every question in place of the ops."""
    shown = group.differences if shows_all else [min(group.differences, key=_strangeness)]
    examples = [
        Example(question_text(diff, one), _answer(one.first), _answer(one.second)) for one in shown
    ]
    ops = "" if shows_all or len(diff.ops) == 1 else ops_text(group.ops)
    return Differences(group.reason, len(group.differences), examples, ops)


def _answer(answer: PairAnswer) -> Answer:
    if answer.result is None:
        return Answer(answer.text, "refused")
    return Answer(answer.text, answer.result.kind, answer.result)


def question_text(diff: Diff, difference: PairDifference) -> str:
    """The question in notation, which is the same in both dialects."""
    return str(difference.pair.question(diff.first))


def _strangeness(difference: PairDifference) -> int:
    """How far the operands are from int32 and float32, which everybody knows."""
    dtypes = [o.dtype for o in difference.pair.operands if o.dtype]
    return sum(abs(d.bits - 32) + (not d.is_signed) for d in dtypes)


def diff_json(diff: Diff) -> dict[str, Any]:
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
        "groups": [
            {
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
            for group in diff.groups
        ],
    }


def _diff_cells(diff: Diff) -> Grid:
    """A row for each question that is answered differently."""
    heads = ["section", "reason", "question", diff.first.name, diff.second.name]
    rows = [
        [group.section, group.reason, question_text(diff, d), d.first.text, d.second.text]
        for group in diff.groups
        for d in group.differences
    ]
    return Grid(heads, rows)


def diff_csv(diff: Diff) -> str:
    """The cells as comma-separated values."""
    return _diff_cells(diff).csv()


def diff_markdown(diff: Diff) -> str:
    """The cells as a Markdown table."""
    return _diff_cells(diff).markdown()


# All except text and html list every cell.
DIFF_FORMATS: dict[str, Callable[[Diff], str | bytes]] = {
    "text": diff_text,
    "json": lambda diff: json.dumps(diff_json(diff)),
    "csv": diff_csv,
    "md": diff_markdown,
    "html": diff_html,
}


# What each release of a framework changed.

_MOST_GROUPS = 5  # of each kind


def history_text(
    releases: Sequence[Release], paint: Paint = plain, width: int = 80, *, shows_all: bool = False
) -> str:
    """A section for each release: what it changed, by kind, with a count and an example each."""
    lines: list[str] = []
    most = None if shows_all else _MOST_GROUPS
    for release in releases:
        lines += ["", paint(_release_title(release), "title")]
        lines += textwrap.wrap(release_summary(release), width)
        for kind, groups in _kinds(release).items():
            lines += ["", f"  {kind.capitalize()}: {KINDS[kind]}."]
            found = list(map(_changes, groups))
            lines += differences_text(found, most, _more_groups_listed, " -> ", paint, width)
    return "\n".join(lines[1:])


def _more_groups_listed(left: Sequence[Differences]) -> str:
    return f"in {_more_groups(left)}; --cells lists them"


def _more_groups(left: Sequence[Differences]) -> str:
    return quantity(len(left), "more group")


def history_markdown(releases: Sequence[Release]) -> str:
    """The same as Markdown: a heading for each release, a table for each kind."""
    heads = ["answers", "what", "example", "before", "after", "ops"]
    lines: list[str] = []
    for release in releases:
        lines += ["", f"## {_release_title(release)}", "", release_summary(release)]
        for kind, groups in _kinds(release).items():
            found = list(map(_changes, groups))
            rows = [_markdown_cells(group) for group in found[:_MOST_GROUPS]]
            left = found[_MOST_GROUPS:]
            if left:
                rows.append([f"{total(left):,}", f"in {_more_groups(left)}", "", "", "", ""])
            lines += ["", f"**{kind.capitalize()}**: {KINDS[kind]}.", ""]
            lines.append(Grid(heads, rows, heads[:1]).markdown())
    return "\n".join(lines[1:])


def _markdown_cells(group: Differences) -> list[str]:
    question, before, after = group.examples[0]
    return [f"{group.count:,}", group.reason, f"`{question}`", before.text, after.text, group.ops]


def history_html(releases: Sequence[Release]) -> str:
    """The history as a page."""
    framework = releases[0].dialect.framework
    parts = [part for release in releases for part in _release_parts(release)]
    return page(f"What releases of {framework} changed", *parts)


def _release_parts(release: Release) -> Iterator[str]:
    yield f"<h2>{escape(_release_title(release))}</h2>"
    yield paragraph(release_summary(release))
    heads = ["answers", "what", "example", "before", "after"]
    for kind, groups in _kinds(release).items():
        yield f"<h3>{escape(kind.capitalize())}</h3>{faint(f'{KINDS[kind]}.')}"
        yield from differences_html(list(map(_changes, groups)), _MOST_GROUPS, _more_groups, heads)


def _release_title(release: Release) -> str:
    """The release and the one before."""
    framework = release.dialect.framework
    return f"{framework} {release.version}, after {release_name(release.before)}"


def release_summary(release: Release) -> str:
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


def _kinds(release: Release) -> dict[str, list[ChangeGroup]]:
    """The groups of each kind, in the order of KINDS."""
    found = {kind: [g for g in release.groups if g.kind == kind] for kind in KINDS}
    return {kind: groups for kind, groups in found.items() if groups}


def _changes(group: ChangeGroup) -> Differences:
    """A group of changes with its best known example."""
    change: Change = group.example
    before, after = answer_words(change.before), answer_words(change.after)
    example = Example(str(question(change)), Answer(before), Answer(after, "title"))
    return Differences(group.text, len(group.changes), [example], ops_text(group.ops))


def history_json(releases: Sequence[Release]) -> list[dict[str, Any]]:
    """Every change of every release; a refusal is "!", as in a file of cells."""
    return [
        {
            "dialect": release.dialect.name,
            "version": release.version,
            "before": release_name(release.before),
            "changed": release.count,
            "new_dtypes": list(release.new_dtypes),
            "new_ops": list(release.new_ops),
            "groups": [
                {
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
                for group in release.groups
            ],
        }
        for release in releases
    ]


HISTORY_FORMATS: dict[str, Callable[[Sequence[Release]], str | bytes]] = {
    "text": history_text,
    "json": lambda releases: json.dumps(history_json(releases)),
    "md": history_markdown,
    "html": history_html,
}
