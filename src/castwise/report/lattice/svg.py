"""A lattice as a picture: wider dtypes and higher kinds above, arrows upwards."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from castwise.compare.lattice import LatticeData
from castwise.drawing.shades import FAINT, INK, shade
from castwise.drawing.svg import LETTER, png_of, svg_box, svg_document, svg_text
from castwise.report.lattice.layout import Layout, Segment, Spot, layout_of
from castwise.report.lattice.legend import APART, legend
from castwise.vocab.dtypes import DType

_MARGIN = 24
_TOP = 60  # where the top layer starts, below the title
_ROW = 24  # height of a label
_GAP = 38  # between layers
_BETWEEN = 22  # between the boxes of a layer
_LANE = 20  # the width for an arrow that passes a layer
_LINE = 18  # from one line of the legend to the next
_NARROWEST = 520  # width of the legend
_ARROW = "#52525b"


def lattice_svg(lattice: LatticeData) -> str:
    """The lattice as an SVG picture, with its title and a legend."""
    layout = layout_of(lattice, {g: _width(g) + _BETWEEN for g in lattice.twins}, _LANE)
    frame = _frame(layout)
    notes, bottom = _notes(lattice, frame.bottom, frame.width - 2 * _MARGIN)
    parts = [
        svg_text(_MARGIN, 32, lattice.title, f'font-size="16" font-weight="600" fill="{INK}"'),
        f'<g fill="none" stroke="{_ARROW}" stroke-width="1.3">',
        *(frame.curve(segment) for segment in layout.segments),
        "</g>",
        *(frame.head(box) for box in dict.fromkeys(s.upper for s in layout.segments) if box.dtypes),
        *(part for spot in layout.middles for part in frame.box(spot)),
        *notes,
    ]
    return svg_document(frame.width, bottom + _MARGIN, parts)


def lattice_png(lattice: LatticeData) -> bytes:
    """The SVG picture as PNG."""
    return png_of(lattice_svg(lattice))


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
        ends = f'data-from="{_names(segment.lower)}" data-to="{_names(self.end(segment))}"'
        return (
            f'<path {ends} d="M{a:.1f} {begin:.1f}V{start:.1f}C{a:.1f} {middle:.1f} {b:.1f}'
            f' {middle:.1f} {b:.1f} {end:.1f}V{self.sides(segment.upper)[1]:.1f}"{dashes}/>'
        )

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
        if spot.dtypes:
            left = self.x(spot) - _width(spot.dtypes) / 2
            yield from _labelled(spot.dtypes, left, self.sides(spot)[0])


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


def _notes(lattice: LatticeData, top: float, room: float) -> tuple[list[str], float]:
    """The notes below the picture, separate dtypes and the legend, and where they end."""
    parts, y = [], top
    if lattice.apart:
        parts.append(svg_text(_MARGIN, y, f"{APART}:", f'fill="{FAINT}"'))
        left, y = 0.0, y + 10
        for dtype in lattice.apart:
            width = _width((dtype,))
            if left and left + width > room:
                left, y = 0.0, y + _ROW + 6
            parts += _labelled((dtype,), _MARGIN + left, y)
            left += width + 8
        y += _ROW + 2 * _LINE
    sentences = legend(lattice)
    if any(len(group) > 1 for group in lattice.twins):
        sentences.append("Dtypes in one box have the same arrows.")
    for line in textwrap.wrap(" ".join(sentences), int(room / LETTER)):
        parts.append(svg_text(_MARGIN, y, line, f'fill="{FAINT}"'))
        y += _LINE
    return parts, y - _LINE
