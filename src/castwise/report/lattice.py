"""The lattice of a dialect as a picture, as text and as data: `castwise lattice`."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from castwise.comparing.table import Lattice
from castwise.drawing import FAINT, INK, LETTER, shade, svg_box, svg_document, svg_text, svg_to_png
from castwise.report.blocks import card, faint, page, picture
from castwise.report.terminal import Paint, plain
from castwise.rules.dialect import Dialect
from castwise.rules.rule import Rule
from castwise.vocab.dtypes import DType, dtypes_named

# The positions of dtypes in a lattice's picture: layers by kind and width, few crossings.
#
# This is Sugiyama's method. Boxes get layers, and an arrow gets a lane in each layer that it
# passes. The layers are ordered so that few arrows cross, then shifted so that arrows run
# straight. A lane takes up room like a box, so no arrow runs across a label.

_SWEEPS = 24
_STRAIGHT = 8  # the weight of straight arrows within a family or a lane; others have weight 1


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A place in a layer: a box of dtypes, or a lane where arrows to a box pass by."""

    layer: int
    dtypes: tuple[DType, ...] = ()  # empty in a lane


class Segment(NamedTuple):
    """A piece of an arrow, from one layer to the next above it."""

    lower: Spot
    upper: Spot
    goes_on: bool


Layers = list[list[Spot]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The spots of each layer from the left, the lowest layer first, and what connects them."""

    layers: Layers
    segments: tuple[Segment, ...]
    middles: dict[Spot, float]  # the x of each spot's middle


def _layout(lattice: Lattice, widths: dict[tuple[DType, ...], float], lane: float) -> Layout:
    """The layout of a lattice, given the width of each group of twins and of a lane."""
    levels = _levels(lattice)
    boxes = [Spot(levels[group], group) for group in lattice.twins]
    segments = _segments(lattice, boxes)
    spots = list(dict.fromkeys([*boxes, *(end for s in segments for end in (s.lower, s.upper))]))
    layers: Layers = [[] for _ in set(levels.values())]
    for spot in sorted(spots, key=_side):
        layers[spot.layer].append(spot)
    ordered = _untangled(layers, segments)
    rooms = {spot: widths.get(spot.dtypes, lane) for spot in spots}
    return Layout(ordered, segments, _middles(ordered, segments, rooms))


def _levels(lattice: Lattice) -> dict[tuple[DType, ...], int]:
    """The layer of each group of twins: by kind, then by width, and above all that reaches it.

    Weak nodes come first in their kind. Complex dtypes are next to the floats of their width.
    """
    classes: dict[tuple[int, int], list[DType]] = {}
    for node in lattice.nodes:
        classes.setdefault((min(node.rank, 2), 0 if node.is_weak else node.bits), []).append(node)
    levels: dict[DType, int] = {}
    floor = 0
    for _, members in sorted(classes.items()):
        _lift(lattice, members, levels, floor)
        floor = 1 + max([levels[n] for n in levels if n.kind != "complex"], default=-1)
    _lift(lattice, lattice.nodes, levels, 0)  # also above wider ones that reach it
    for node in [n for n in lattice.nodes if n.is_weak]:
        if not any(e.target is node for e in lattice.edges):  # nothing keeps it down there
            levels[node] = min(levels[e.target] for e in lattice.edges if e.source is node) - 1
    of_twins = {group: max(levels[node] for node in group) for group in lattice.twins}
    places = {level: place for place, level in enumerate(sorted(set(of_twins.values())))}
    return {group: places[level] for group, level in of_twins.items()}


def _lift(lattice: Lattice, nodes: Iterable[DType], levels: dict[DType, int], floor: int) -> None:
    """Puts nodes at a floor at least, and above all that reaches them."""
    for node in nodes:  # in the dialect's order, where sources come before targets
        below = [levels.get(e.source, -1) for e in lattice.edges if e.target is node]
        levels[node] = max(levels.get(node, floor), *(level + 1 for level in [-1, *below]))


def _segments(lattice: Lattice, boxes: list[Spot]) -> tuple[Segment, ...]:
    """The pieces of all arrows; arrows to one box share their lanes."""
    box_of = {node: box for box in boxes for node in box.dtypes}
    lanes: dict[tuple[Spot, bool, int], Spot] = {}
    segments: dict[Segment, None] = {}
    for source, target, goes_on in lattice.edges:
        below, end = box_of[source], box_of[target]
        for layer in range(below.layer + 1, end.layer):
            lane = lanes.setdefault((end, goes_on, layer), Spot(layer))
            segments[Segment(below, lane, goes_on)] = None
            below = lane
        segments[Segment(below, end, goes_on)] = None
    return tuple(segments)


def _side(spot: Spot) -> tuple[int, bool]:
    """The side a spot starts on before untangling: unsigned left of signed, lanes right."""
    return (spot.dtypes[0].rank, spot.dtypes[0].is_signed) if spot.dtypes else (4, False)


def _untangled(layers: Layers, segments: tuple[Segment, ...]) -> Layers:
    """The layers in the order with the fewest crossings that sweeps up and down find."""
    best, fewest = layers, _crossings(layers, segments)
    for sweep in range(_SWEEPS):
        goes_up = sweep % 2 == 0
        layers = [list(layer) for layer in layers]
        for layer in layers if goes_up else reversed(layers):
            places = {spot: place for row in layers for place, spot in enumerate(row)}
            ends = {s: _ends(s, segments, goes_up) for s in layer}
            layer.sort(key=lambda s: _mean([places[e] for e in ends[s]], places[s]))
        crossings = _crossings(layers, segments)
        if crossings < fewest:
            best, fewest = layers, crossings
    return best


def _ends(spot: Spot, segments: tuple[Segment, ...], below: bool) -> list[Spot]:
    """What the segments of a spot lead to below it, or above it."""
    if below:
        return [s.lower for s in segments if s.upper is spot]
    return [s.upper for s in segments if s.lower is spot]


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(layers: Layers, segments: tuple[Segment, ...]) -> int:
    places = {spot: place for row in layers for place, spot in enumerate(row)}
    by_layer: dict[int, list[tuple[int, int]]] = {}
    for lower, upper, _ in segments:
        by_layer.setdefault(lower.layer, []).append((places[lower], places[upper]))
    return sum(
        (a[0] - b[0]) * (a[1] - b[1]) < 0
        for ends in by_layer.values()
        for a, b in combinations(ends, 2)
    )


def _middles(
    layers: Layers, segments: tuple[Segment, ...], rooms: dict[Spot, float]
) -> dict[Spot, float]:
    """The x of each spot: near what it is connected to, without overlaps in its layer."""
    middles = dict.fromkeys(rooms, 0.0)
    near = {s: [*_ends(s, segments, True), *_ends(s, segments, False)] for s in rooms}
    pulls = {s: [_STRAIGHT if _family(s) == _family(e) else 1 for e in near[s]] for s in rooms}
    for sweep in range(4 * _SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = [
                sum(pull * middles[end] for pull, end in zip(pulls[s], near[s], strict=True))
                / (sum(pulls[s]) or 1)
                for s in layer
            ]
            weights = [sum(pulls[spot]) or 1 for spot in layer]
            placed = _apart(wanted, weights, [rooms[spot] for spot in layer])
            middles.update(zip(layer, placed, strict=True))
    return middles


def _family(spot: Spot) -> tuple[str, bool] | None:
    """The family that shares a column if possible: the signed integers, or the spots of a lane."""
    return (spot.dtypes[0].kind, spot.dtypes[0].is_signed) if spot.dtypes else None


def _apart(wanted: list[float], weights: list[int], rooms: list[float]) -> list[float]:
    """The positions nearest to the wanted ones that keep the order and do not overlap.

    With the widths taken out, this is isotonic regression: neighbours that would overlap are
    pooled, and placed side by side around the mean of their wanted positions.
    """
    offsets = [sum(rooms[:place]) + rooms[place] / 2 for place in range(len(rooms))]
    pools: list[tuple[float, int, int]] = []  # mean, weight, members
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, members = want - offset, 1
        while pools and pools[-1][0] > mean:
            left, heavy, count = pools.pop()
            mean = (left * heavy + mean * weight) / (heavy + weight)
            weight, members = heavy + weight, count + members
        pools.append((mean, weight, members))
    means = [mean for mean, _, members in pools for _ in range(members)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


# The legend of a lattice, in words.

_APART = "Not promoted with any other dtype"


def _legend(lattice: Lattice, broken: str = "A broken arrow") -> list[str]:
    """The sentences of the legend; `broken` describes an arrow that nothing may follow."""
    if not lattice.edges:
        return ["No dtype promotes to another here: all operands must have the same dtype."]
    dialect = lattice.dialect
    lines = ["Operands promote to the first dtype that all of them reach along the arrows."]
    if any(not edge.goes_on for edge in lattice.edges):
        lines.append(f"{broken} reaches that dtype and nothing beyond it.")
    if any(node.is_weak for node in lattice.nodes):
        lines.append("A star marks the place of weakly typed operands, including Python numbers.")
    foreign = only_absorbed_text(dialect)
    if foreign:
        lines.append(f"{foreign.replace('two dtypes', 'Two dtypes', 1)}.")
    mixes = dialect.ops.get("*", Rule()).joins.mixes
    if mixes:
        lines.append(f"Unequal dtypes are mixed only through these casts: {mixes}.")
    if dialect.joining.keeps_kind:
        lines.append("The result never has a higher kind than the highest of the operands.")
    if lattice.truncated:
        pairs = [f"{asked} is {actual}" for asked, actual in lattice.truncated.items()]
        lines.append(f"Arrays are narrower here: {', '.join(pairs)}.")
    return lines


def only_absorbed_text(dialect: Dialect) -> str:
    """The dtypes that join only if one operand reaches the other, in words; "" if none do."""
    foreign = set(dtypes_named(dialect.joining.only_absorbed))
    inside = [d.name for d in dialect.dtypes if d in foreign]
    outside = [d.name for d in dialect.dtypes if d not in foreign]
    if not inside:
        return ""
    if len(inside) == 1:
        return f"{inside[0]} joins only with dtypes that it reaches or that reach it"
    some = " and ".join(inside) if len(inside) <= len(outside) else "two dtypes"
    but = f", except {' and '.join(outside)}" if outside and some == "two dtypes" else ""
    return f"{some} join only if one reaches the other{but}"


# A lattice as a picture: wider dtypes and higher kinds above, arrows upwards.

_MARGIN = 24
_TOP = 60  # where the top layer starts, below the title
_ROW = 24  # height of a label
_GAP = 38  # between layers
_BETWEEN = 22  # between the boxes of a layer
_LANE = 20  # the width for an arrow that passes a layer
_LINE = 18  # from one line of the legend to the next
_NARROWEST = 520  # width of the legend
_ARROW = "#52525b"


def lattice_svg(lattice: Lattice) -> str:
    """The lattice as an SVG picture, with its title and a legend."""
    layout = _layout(lattice, {g: _width(g) + _BETWEEN for g in lattice.twins}, _LANE)
    frame = _frame(layout)
    notes, bottom = _notes(lattice, frame.bottom, frame.width - 2 * _MARGIN)
    parts = [
        svg_text(_MARGIN, 32, lattice.title, f'font-size="16" font-weight="600" fill="{INK}"'),
        f'<g fill="none" stroke="{_ARROW}" stroke-width="1.3">',
        *(frame.curve(segment) for segment in layout.segments),
        "</g>",
        *(frame.head(box) for box in dict.fromkeys(s.upper for s in layout.segments) if box.dtypes),
        *(part for spot in layout.middles if spot.dtypes for part in frame.box(spot)),
        *notes,
    ]
    return svg_document(frame.width, bottom + _MARGIN, parts)


def lattice_png(lattice: Lattice) -> bytes:
    """The SVG picture as PNG."""
    return svg_to_png(lattice_svg(lattice))


def _width(dtypes: tuple[DType, ...]) -> float:
    return 18 + LETTER * max(len(d.name) for d in dtypes)


def _frame(layout: Layout) -> _Frame:
    """The layout with its coordinates in the picture; the lowest layer is at the bottom."""
    halves = {s: (_width(s.dtypes) if s.dtypes else _LANE) / 2 for s in layout.middles}
    left = min((x - halves[s] for s, x in layout.middles.items()), default=0)
    right = max((x + halves[s] for s, x in layout.middles.items()), default=0)
    width = max(right - left, _NARROWEST) + 2 * _MARGIN
    tops, y = [], float(_TOP)
    for layer in reversed(layout.layers):
        height = _ROW * max(len(spot.dtypes) for spot in layer)
        tops.append((y, y + height))
        y += height + _GAP
    return _Frame(layout, (width - left - right) / 2, tops[::-1], width)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The shapes of a layout, at their places in the picture."""

    layout: Layout
    shift: float  # from the layout's x to the picture's
    ends: list[tuple[float, float]]  # the top and the bottom of each layer
    width: float

    @property
    def bottom(self) -> float:
        """Where the notes start."""
        return self.ends[0][1] + 2 * _LINE if self.ends else _TOP

    def x(self, spot: Spot) -> float:
        return self.layout.middles[spot] + self.shift

    def sides(self, spot: Spot) -> tuple[float, float]:
        """The top and the bottom of a box, which is in the middle of its layer."""
        top, bottom = self.ends[spot.layer]
        if not spot.dtypes:
            return top, bottom
        slack = (bottom - top - _ROW * len(spot.dtypes)) / 2
        return top + slack, bottom - slack

    def curve(self, segment: Segment) -> str:
        """The line from a box's top, or from below a lane, to the bottom of a spot above."""
        a, b = self.x(segment.lower), self.x(segment.upper)
        start, end = self.ends[segment.lower.layer][0], self.ends[segment.upper.layer][1]
        begin = self.sides(segment.lower)[0 if segment.lower.dtypes else 1]
        middle = (start + end) / 2
        dashes = "" if segment.goes_on else ' stroke-dasharray="4 3"'
        sources = " ".join(map(_names, self.starts(segment)))
        ends = f'data-from="{sources}" data-to="{_names(self.end(segment))}"'
        return (
            f'<path {ends} d="M{a:.1f} {begin:.1f}V{start:.1f}C{a:.1f} {middle:.1f} {b:.1f}'
            f' {middle:.1f} {b:.1f} {end:.1f}V{self.sides(segment.upper)[1]:.1f}"{dashes}/>'
        )

    def starts(self, segment: Segment) -> list[Spot]:
        """The boxes whose arrows a piece is part of."""
        if segment.lower.dtypes:
            return [segment.lower]
        below = [s for s in self.layout.segments if s.upper is segment.lower]
        return [start for s in below for start in self.starts(s)]

    def end(self, segment: Segment) -> Spot:
        """The box that a piece of an arrow leads to in the end."""
        while not segment.upper.dtypes:
            segment = next(s for s in self.layout.segments if s.lower is segment.upper)
        return segment.upper

    def head(self, box: Spot) -> str:
        """The arrowhead below a box."""
        x, y = self.x(box), self.sides(box)[1]
        return f'<path d="M{x:.1f} {y:.1f}l-4 8h8z" fill="{_ARROW}"/>'

    def box(self, spot: Spot) -> Iterator[str]:
        left = self.x(spot) - _width(spot.dtypes) / 2
        return _labelled(spot.dtypes, left, self.sides(spot)[0])


def _labelled(dtypes: tuple[DType, ...], left: float, top: float) -> Iterator[str]:
    """A box with the names of dtypes; a weak node has a broken outline."""
    width = _width(dtypes)
    is_weak = dtypes[0].is_weak
    outline = f'stroke="{_ARROW}" stroke-dasharray="3 2"' if is_weak else ""
    yield f'<g data-dtypes="{" ".join(d.name for d in dtypes)}">'
    yield svg_box(left, top, width, _ROW * len(dtypes), shade(dtypes[0]), outline)
    for number, dtype in enumerate(dtypes):
        y = top + _ROW * number + 16
        yield svg_text(left + width / 2, y, dtype.name, f'text-anchor="middle" fill="{INK}"')
    yield "</g>"


def _names(spot: Spot) -> str:
    return " ".join(dtype.name for dtype in spot.dtypes)


def _notes(lattice: Lattice, top: float, room: float) -> tuple[list[str], float]:
    """The notes below the picture, separate dtypes and the legend, and where they end."""
    parts, y = [], top
    if lattice.apart:
        parts.append(svg_text(_MARGIN, y, f"{_APART}:", f'fill="{FAINT}"'))
        left, y = 0.0, y + 10
        for dtype in lattice.apart:
            width = _width((dtype,))
            if left and left + width > room:
                left, y = 0.0, y + _ROW + 6
            parts += _labelled((dtype,), _MARGIN + left, y)
            left += width + 8
        y += _ROW + 2 * _LINE
    sentences = _legend(lattice)
    if any(len(group) > 1 for group in lattice.twins):
        sentences.append("Dtypes in one box have the same arrows.")
    for line in textwrap.wrap(" ".join(sentences), int(room / LETTER)):
        parts.append(svg_text(_MARGIN, y, line, f'fill="{FAINT}"'))
        y += _LINE
    return parts, y - _LINE


# A lattice in a notebook and as a page.


def lattice_card(lattice: Lattice) -> str:
    """The picture of a lattice, which has its title inside."""
    return card("", picture(lattice_svg(lattice)))


def lattice_html(lattice: Lattice) -> str:
    """The picture as a page, below what the dialect is."""
    return page(lattice.dialect.name, faint(lattice.dialect.about), picture(lattice_svg(lattice)))


# A lattice for the terminal, as DOT and as JSON, and the list of its formats.

_ARROWS = {True: "->", False: "=>"}  # as in a dialect's data


def lattice_text(lattice: Lattice, paint: Paint = plain, width: int = 80) -> str:
    """The arrows, with one line for all dtypes that have the same ones."""
    rows = _rows(lattice)
    title = "\n".join(textwrap.wrap(lattice.title, width))
    lines = [paint(title, "title"), *[""] * bool(rows)]
    margin = max((len(_listed(sources)) for sources, _, _ in rows), default=0)
    margin = min(margin, width // 2 - 4) + 1
    for sources, goes_on, targets in rows:
        head = _listed(sources)
        if len(head) >= margin:
            lines += textwrap.wrap(head, width, subsequent_indent="  ")
            head = ""
        first, *more = textwrap.wrap(_listed(targets), width - margin - 3)
        lines.append(f"{head:{margin}}{_ARROWS[goes_on]} {first}")
        lines += [f"{'':{margin + 3}}{line}" for line in more]
    if lattice.apart:
        apart = f"{_APART}: {_listed(lattice.apart)}"
        lines += ["", *textwrap.wrap(apart, width, subsequent_indent="  ")]
    notes = textwrap.wrap(" ".join(_legend(lattice, "The arrow =>")), width)
    return "\n".join([*lines, "", *(paint(line, "faint") for line in notes)])


def _rows(lattice: Lattice) -> list[tuple[list[DType], bool, tuple[DType, ...]]]:
    """Sources, whether their arrows go on, and targets: sources with the same ones together."""
    grouped: dict[tuple[bool, tuple[DType, ...]], list[DType]] = {}
    for node in lattice.nodes:
        for goes_on in (True, False):
            leaving = [e for e in lattice.edges if e.source is node and e.goes_on is goes_on]
            if leaving:
                key = goes_on, tuple(e.target for e in leaving)
                grouped.setdefault(key, []).append(node)
    return [(sources, *key) for key, sources in grouped.items()]


def _listed(dtypes: Iterable[DType]) -> str:
    return ", ".join(d.name for d in dtypes)


def lattice_json(lattice: Lattice) -> str:
    """The nodes and arrows as JSON; `goes_on` is false for an arrow that nothing may follow."""
    return json.dumps(
        {
            "dialect": lattice.dialect.name,
            "nodes": [
                {"name": node.name, "kind": node.kind, "bits": node.bits, "weak": node.is_weak}
                for node in lattice.nodes
            ],
            "edges": [
                {"from": e.source.name, "to": e.target.name, "goes_on": e.goes_on}
                for e in lattice.edges
            ],
            "apart": [node.name for node in lattice.apart],
            "truncated": {asked.name: actual.name for asked, actual in lattice.truncated.items()},
        }
    )


def lattice_dot(lattice: Lattice) -> str:
    """The lattice for Graphviz, which makes its own layout."""
    boxes = '  node [shape=box, style="rounded,filled", fontname="monospace"];'
    lines = [f'digraph "{lattice.dialect.name}" {{', "  rankdir=BT;", boxes]
    for node in (*lattice.nodes, *lattice.apart):
        style = ', style="rounded,filled,dashed"' if node.is_weak else ""
        lines.append(f'  "{node}" [fillcolor="{shade(node)}"{style}];')
    for edge in lattice.edges:
        style = "" if edge.goes_on else " [style=dashed]"
        lines.append(f'  "{edge.source}" -> "{edge.target}"{style};')
    return "\n".join([*lines, "}"])


LATTICE_FORMATS: dict[str, Callable[[Lattice], str | bytes]] = {
    "text": lattice_text, "json": lattice_json, "dot": lattice_dot, "html": lattice_html,
    "svg": lattice_svg, "png": lattice_png,
}  # fmt: skip
