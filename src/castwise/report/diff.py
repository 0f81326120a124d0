"""What differs: between two dialects, between releases of a framework, and between all dialects.

The commands are `castwise diff`, `castwise history` and `castwise diff --all`.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from castwise.comparing.diff import (
    Cluster,
    Diff,
    Distances,
    Group,
    Merge,
    PairAnswer,
    PairDifference,
)
from castwise.comparing.history import (
    KINDS,
    Change,
    ChangeGroup,
    Release,
    question,
    recorded_releases,
    release_name,
    strangeness,
    version_numbers,
)
from castwise.drawing import (
    FAINT,
    INK,
    LETTER,
    hex_colour,
    svg_box,
    svg_document,
    svg_hover,
    svg_text,
    svg_to_png,
    text_width,
)
from castwise.report.blocks import (
    Answer,
    Differences,
    Example,
    Grid,
    card,
    differences_html,
    differences_text,
    faint,
    folded_below,
    ops_text,
    page,
    paragraph,
    picture,
    total,
)
from castwise.report.terminal import Paint, percent, plain
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
        texts = [f"{d.name}: {', '.join(map(str, names))}" for d, names in both if names]
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
    known = min(group.differences, key=lambda one: strangeness(one.pair.operands))
    shown = group.differences if shows_all else [known]
    examples = [Example(question_text(diff, d), _answer(d.first), _answer(d.second)) for d in shown]
    ops = "" if shows_all or len(diff.ops) == 1 else ops_text(group.ops)
    return Differences(group.reason, len(group.differences), examples, ops)


def _answer(answer: PairAnswer) -> Answer:
    if answer.result is None:
        return Answer(answer.text, "refused")
    return Answer(answer.text, answer.result.kind, answer.result)


def question_text(diff: Diff, difference: PairDifference) -> str:
    """The question in notation, which is the same in both dialects."""
    return str(difference.pair.question(diff.first))


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
    "text": diff_text, "json": lambda diff: json.dumps(diff_json(diff)), "csv": diff_csv,
    "md": diff_markdown, "html": diff_html,
}  # fmt: skip


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


def _history_html(releases: Sequence[Release]) -> str:
    parts = [part for release in releases for part in _release_parts(release)]
    return page(f"What releases of {releases[0].dialect.framework} changed", *parts)


def _release_parts(release: Release) -> Iterator[str]:
    yield f"<h2>{escape(_release_title(release))}</h2>"
    yield paragraph(release_summary(release))
    heads = ["answers", "what", "example", "before", "after"]
    for kind, groups in _kinds(release).items():
        yield f"<h3>{escape(kind.capitalize())}</h3>{faint(f'{KINDS[kind]}.')}"
        yield from differences_html(list(map(_changes, groups)), _MOST_GROUPS, _more_groups, heads)


def _release_title(release: Release) -> str:
    framework = release.dialect.framework
    return f"{framework} {release.version}, after {release_name(release.before)}"


def release_summary(release: Release) -> str:
    """How much changed, in a sentence or two."""
    if release.is_other_rules:
        both = f"{release.before.name} {release.dialect.name}"
        return f"The rules are others: castwise diff {both} compares them."
    changed = quantity(release.count, "answer") if release.count else "No answer"
    sentences = [f"{changed} changed."]
    for word, names in (("dtypes", release.new_dtypes), ("ops", release.new_ops)):
        sentences += [f"New {word}: {', '.join(names)}."] if names else []
    return " ".join(sentences)


def _kinds(release: Release) -> dict[str, list[ChangeGroup]]:
    """The groups of each kind, in the order of KINDS."""
    found = {kind: [g for g in release.groups if g.kind == kind] for kind in KINDS}
    return {kind: groups for kind, groups in found.items() if groups}


def _changes(group: ChangeGroup) -> Differences:
    """A group of changes with its best known example."""
    change: Change = group.example
    before, after = Answer(answer_words(change.before)), Answer(answer_words(change.after), "title")
    example = Example(str(question(change)), before, after)
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
    "text": history_text, "json": lambda releases: json.dumps(history_json(releases)),
    "md": history_markdown, "html": _history_html,
}  # fmt: skip


# How much all dialects differ from each other.

_TITLE = "How much the dialects differ"
_CLOSER = "Dialects that answer all of that alike, in the ops where they differ"
_EXTREMES = 3  # how many of the nearest and of the farthest pairs are named


def distances_text(found: Distances, paint: Paint = plain, width: int = 80) -> str:
    """A triangle: each row ends with its dialect's name, which also heads the column below it.

    Dialects that the ops do not tell apart have another triangle, in the ops where they differ.
    """
    title = paint(f"{_TITLE}: questions answered differently, in %", "title")
    lines = [title, "", *_triangle(found, paint), "", *_extremes(found), ""]
    about = (
        "The questions are about arrays, 0-d arrays and Python scalars of the dtypes both have, in"
        f" both orders and as x += y, in these ops: {', '.join(found.ops)}. Dialects that differ"
        " little are next to each other."
    )
    lines += [paint(line, "faint") for line in textwrap.wrap(about, width)]
    for group in found.closer:
        ops = f"The ops: {', '.join(group.ops)}."
        lines += ["", paint(_CLOSER, "title"), "", *_triangle(group, paint), ""]
        lines += [paint(line, "faint") for line in textwrap.wrap(ops, width)]
    return "\n".join(lines)


def _triangle(found: Distances, paint: Paint) -> Iterator[str]:
    cells = [
        [percent(found.between(name, other).share) for other in found.dialects[:place]]
        for place, name in enumerate(found.dialects)
    ]
    room = max((len(cell) for row in cells for cell in row), default=0)
    for name, row in zip(found.dialects, cells, strict=True):
        yield "".join(f"{cell:>{room}} " for cell in row) + paint(name, "title")


def _extremes(found: Distances) -> Iterator[str]:
    """The nearest and the farthest pairs, one line each."""
    pairs = found.nearest_first
    for word, named in (("Nearest", pairs[:_EXTREMES]), ("Farthest", pairs[: -_EXTREMES - 1 : -1])):
        yield f"{word}:"
        for a, b in named:
            yield f"  {100 * found.between(a, b).share:5.1f} %  {a} and {b}"


def _matrix(found: Distances) -> Grid:
    """The whole matrix, in % with one decimal."""
    rows = []
    for name in found.dialects:
        far = [0.0 if a == name else found.between(name, a).share for a in found.dialects]
        rows.append([name, *(f"{100 * share:.1f}" for share in far)])
    return Grid(["differ, %", *found.dialects], rows, found.dialects)


def distances_csv(found: Distances) -> str:
    """The matrix as comma-separated values; it is one table, of all dialects."""
    return _matrix(found).csv()


def distances_markdown(found: Distances) -> str:
    """The matrix in Markdown, and those of dialects that its ops do not tell apart."""
    return "\n\n".join(_matrix(data).markdown() for data in (found, *found.closer))


def distances_json(found: Distances) -> str:
    """Every pair with the number of questions and of differences."""
    return json.dumps({**_as_json(found), "closer": [_as_json(group) for group in found.closer]})


def _as_json(found: Distances) -> dict[str, Any]:
    pairs = []
    for a, b in found.nearest_first:
        far = found.between(a, b)
        pairs.append({"first": a, "second": b, **far._asdict(), "share": round(far.share, 4)})
    return {"ops": list(found.ops), "dialects": list(found.dialects), "pairs": pairs}


def distances_card(found: Distances) -> str:
    """The heat map of the distances, which has its title inside."""
    return card("", picture(distances_svg(found)))


def distances_html(found: Distances) -> str:
    """The heat map as a page, with the exact numbers as tooltips."""
    return page("All dialects side by side", picture(distances_svg(found)))


# The same as a heat map, with the tree of the dialects beside it.

_ABOUT = "Share of questions answered differently, in %"
_MARGIN = 20
_CELL = 34
_ROW = 24
_LINE_HEIGHT = 18  # from one line of text to the next
_SLANT = math.radians(55)  # of the names over the columns
_SELF = "#e4e4e7"
_NARROWEST = 560  # of the picture, for its titles


def distances_svg(found: Distances) -> str:
    """The matrix as an SVG heat map, with a number in each cell, the tree beside it and the scale
    below; then the same of each group that the ops do not tell apart."""
    width = max(_NARROWEST, *(_Map(data, 0, "").right for data in (found, *found.closer)))
    letters = int((width - 2 * _MARGIN) / LETTER)
    most = _most(found)
    drawn = _Map(found, 0, _ABOUT)
    parts = [*drawn.parts(_TITLE, most)]
    for group in found.closer:
        about = f"{_ABOUT}: {', '.join(group.ops)}"
        drawn = _Map(group, drawn.bottom + _MARGIN, textwrap.fill(about, letters))
        parts += drawn.parts(_CLOSER, most)
    bottom = drawn.bottom + 26
    return svg_document(width, bottom + 40 + _MARGIN, [*parts, *_legend(drawn.left, bottom, most)])


def _most(found: Distances) -> float:
    """Where the scale ends: the largest share of all maps, rounded up to a tenth."""
    shares = [far.share for data in (found, *found.closer) for far in data.pairs.values()]
    return max([math.ceil(10 * share) / 10 for share in shares] + [0.1])


@dataclass(frozen=True, slots=True)
class _Map:
    """A heat map and its place in the picture."""

    found: Distances
    above: float  # where it may start
    about: str  # the lines below its title

    @property
    def longest(self) -> int:
        return math.ceil(max(map(text_width, self.found.dialects)))

    @property
    def left(self) -> float:
        """Where the cells start."""
        return _MARGIN + self.longest + 10

    @property
    def top(self) -> float:
        texts = 60 + _LINE_HEIGHT * len(self.about.splitlines())
        return self.above + texts + math.ceil(self.longest * math.sin(_SLANT))

    @property
    def bottom(self) -> float:
        return self.top + _ROW * len(self.found.dialects)

    @property
    def right(self) -> float:
        """Where the picture may end: beyond the tree and the last slanted name."""
        slanted = _CELL / 2 + self.longest * math.cos(_SLANT)
        return self.left + _CELL * len(self.found.dialects) + max(slanted, _TREE_WIDTH) + _MARGIN

    def parts(self, title: str, most: float) -> Iterator[str]:
        heading = f'font-size="16" font-weight="600" fill="{INK}"'
        yield svg_text(_MARGIN, self.above + 32, title, heading)
        for number, line in enumerate(self.about.splitlines()):
            y = self.above + 52 + _LINE_HEIGHT * number
            yield svg_text(_MARGIN, y, line, f'fill="{FAINT}"')
        yield from self._names()
        yield from self._cells(most)
        beside = self.left + _CELL * len(self.found.dialects) + 4
        first = self.top + _ROW / 2 - 1
        middles = {name: first + _ROW * row for row, name in enumerate(self.found.dialects)}
        yield from _dendrogram(self.found.tree, beside, middles)

    def _names(self) -> Iterator[str]:
        yield f'<g fill="{INK}">'
        for place, name in enumerate(self.found.dialects):
            x, y = self.left + _CELL * (place + 0.5), self.top - 8
            turned = f'transform="rotate(-{math.degrees(_SLANT):.0f} {x:.1f} {y:.1f})"'
            yield svg_text(x, y, name, turned)
            yield svg_text(self.left - 8, self.top + _ROW * place + 16, name, 'text-anchor="end"')
        yield "</g>"

    def _cells(self, most: float) -> Iterator[str]:
        yield f'<g text-anchor="middle" fill="{BLACK}">'
        for row, name in enumerate(self.found.dialects):
            for column, other in enumerate(self.found.dialects):
                x, y = self.left + _CELL * column, self.top + _ROW * row
                if name == other:
                    yield svg_box(x, y, _CELL - 2, _ROW - 2, _SELF)
                    continue
                far = self.found.between(name, other)
                share = f"{100 * far.share:.1f} %"
                yield svg_hover(
                    f"{name} and {other}: {share}, {far.differ:,} of {far.asked:,} questions",
                    svg_box(x, y, _CELL - 2, _ROW - 2, scale_colour(far.share / most)),
                    svg_text(x + _CELL / 2 - 1, y + 15, percent(far.share)),
                )
        yield "</g>"


# The colours of a heat map, and their legend.

# One hue from light to dark (ColorBrewer's Blues), so that lightness alone shows the value, also to
# readers who cannot tell colours apart. It ends where black is still easy to read, also in a
# picture that dark mode turns over.
_SCALE = ((247, 251, 255), (198, 219, 239), (107, 174, 214))
BLACK = "#000000"
_SCALE_WIDTH = 220


def scale_colour(part: float) -> str:
    """The colour at a part of the scale, from 0 to 1."""
    place = min(max(part, 0.0), 1.0) * (len(_SCALE) - 1)
    low = min(int(place), len(_SCALE) - 2)
    ends = zip(_SCALE[low], _SCALE[low + 1], strict=True)
    return hex_colour(round(x + (y - x) * (place - low)) for x, y in ends)


def _legend(left: float, top: float, most: float) -> Iterator[str]:
    """The colour scale, from 0 to the largest value."""
    stops = [
        f'<stop offset="{place / (len(_SCALE) - 1)}" stop-color="{hex_colour(colour)}"/>'
        for place, colour in enumerate(_SCALE)
    ]
    yield f'<defs><linearGradient id="scale">{"".join(stops)}</linearGradient></defs>'
    yield svg_box(left, top, _SCALE_WIDTH, 12, "url(#scale)")
    for part in (0, 0.5, 1):
        style = f'text-anchor="middle" fill="{FAINT}"'
        yield svg_text(left + _SCALE_WIDTH * part, top + 28, f"{100 * most * part:.0f} %", style)


# The tree of a clustering, beside the rows of a heat map.

_TREE_WIDTH = 120
_ROOT = 100  # from the leaves to the last merge
_LEAST = 3  # so that dialects that do not differ are joined, too
_TREE_COLOUR = "#8e8e98"


def _dendrogram(tree: Cluster, left: float, middles: Mapping[str, float]) -> Iterator[str]:
    """The lines of a tree that grows to the right, from leaves at the given heights."""
    if not isinstance(tree, Merge):
        return
    yield f'<g fill="none" stroke="{_TREE_COLOUR}" stroke-width="1.3">'
    yield from _Lines(left, _ROOT / (tree.height or 1), middles).of(tree)
    yield "</g>"


class _Lines:
    """The lines of a tree whose leaves are at these heights."""

    def __init__(self, left: float, scale: float, middles: Mapping[str, float]) -> None:
        self._left = left
        self._scale = scale
        self._middles = middles

    def of(self, merge: Merge) -> Iterator[str]:
        """Two branches and the line that joins them, after the lines inside the branches."""
        for side in (merge.first, merge.second):
            if isinstance(side, Merge):
                yield from self.of(side)
        x = self._x(merge)
        (start, top), (end, bottom) = map(self._end, (merge.first, merge.second))
        yield (
            f'<path d="M{start:.1f} {top:.1f}H{x:.1f}V{bottom:.1f}H{end:.1f}">'
            f"<title>{percent(merge.height)} % apart on average</title></path>"
        )

    def _x(self, cluster: Cluster) -> float:
        if not isinstance(cluster, Merge):
            return self._left
        inside = max(self._x(cluster.first), self._x(cluster.second))
        return max(self._left + self._scale * cluster.height, inside + _LEAST)

    def _end(self, cluster: Cluster) -> tuple[float, float]:
        """Where a cluster's line to the right starts."""
        if not isinstance(cluster, Merge):
            return self._left, self._middles[cluster]
        above, below = self._end(cluster.first)[1], self._end(cluster.second)[1]
        return self._x(cluster), (above + below) / 2


# The formats of distances, of which the last two are the heat map.

DISTANCE_FORMATS: dict[str, Callable[[Distances], str | bytes]] = {
    "text": distances_text, "json": distances_json, "csv": distances_csv, "md": distances_markdown,
    "html": distances_html, "svg": distances_svg,
    "png": lambda found: svg_to_png(distances_svg(found)),
}  # fmt: skip
