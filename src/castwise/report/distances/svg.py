"""How much the dialects differ from each other, as a heat map."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from castwise.compare.distances import DistancesData
from castwise.drawing.shades import FAINT, INK
from castwise.drawing.svg import (
    LETTER,
    png_of,
    svg_box,
    svg_document,
    svg_hover,
    svg_text,
    text_width,
)
from castwise.report.amounts import percent
from castwise.report.distances.dendrogram import TREE_WIDTH, dendrogram
from castwise.report.distances.scale import BLACK, legend, scale_colour

TITLE = "How much the dialects differ"
CLOSER = "Dialects that answer all of that alike, in the ops where they differ"
_ABOUT = "Share of questions answered differently, in %"
_MARGIN = 20
_CELL = 34
_ROW = 24
_LINE = 18  # from one line of text to the next
_SLANT = math.radians(55)  # of the names over the columns
_SELF = "#e4e4e7"
_NARROWEST = 560  # of the picture, for its titles


def distances_svg(found: DistancesData) -> str:
    """The matrix as an SVG heat map, with a number in each cell, the tree beside it and the scale
    below; then the same of each group that the ops do not tell apart."""
    width = max(_NARROWEST, *(_Map(data, 0, "").right for data in (found, *found.closer)))
    letters = int((width - 2 * _MARGIN) / LETTER)
    most = _most(found)
    drawn = _Map(found, 0, _ABOUT)
    parts = [*drawn.parts(TITLE, most)]
    for group in found.closer:
        about = f"{_ABOUT}: {', '.join(group.ops)}"
        drawn = _Map(group, drawn.bottom + _MARGIN, textwrap.fill(about, letters))
        parts += drawn.parts(CLOSER, most)
    bottom = drawn.bottom + 26
    return svg_document(width, bottom + 40 + _MARGIN, [*parts, *legend(drawn.left, bottom, most)])


def distances_png(found: DistancesData) -> bytes:
    """The SVG picture as PNG."""
    return png_of(distances_svg(found))


def _most(found: DistancesData) -> float:
    """Where the scale ends: the largest share of all maps, rounded up to a tenth."""
    shares = [far.share for data in (found, *found.closer) for far in data.pairs.values()]
    return max([math.ceil(10 * share) / 10 for share in shares] + [0.1])


@dataclass(frozen=True, slots=True)
class _Map:
    """A heat map and its place in the picture."""

    found: DistancesData
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
        texts = 60 + _LINE * len(self.about.splitlines())
        return self.above + texts + math.ceil(self.longest * math.sin(_SLANT))

    @property
    def bottom(self) -> float:
        return self.top + _ROW * len(self.found.dialects)

    @property
    def right(self) -> float:
        """Where the picture may end: beyond the tree and the last slanted name."""
        slanted = _CELL / 2 + self.longest * math.cos(_SLANT)
        return self.left + _CELL * len(self.found.dialects) + max(slanted, TREE_WIDTH) + _MARGIN

    def parts(self, title: str, most: float) -> Iterator[str]:
        heading = f'font-size="16" font-weight="600" fill="{INK}"'
        yield svg_text(_MARGIN, self.above + 32, title, heading)
        for number, line in enumerate(self.about.splitlines()):
            yield svg_text(_MARGIN, self.above + 52 + _LINE * number, line, f'fill="{FAINT}"')
        yield from self._names()
        yield from self._cells(most)
        beside = self.left + _CELL * len(self.found.dialects) + 4
        middles = {
            name: self.top + _ROW * place + _ROW / 2 - 1
            for place, name in enumerate(self.found.dialects)
        }
        yield from dendrogram(self.found.tree, beside, middles)

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
                share = self.found.between(name, other).share
                yield svg_hover(
                    _words(self.found, name, other),
                    svg_box(x, y, _CELL - 2, _ROW - 2, scale_colour(share / most)),
                    svg_text(x + _CELL / 2 - 1, y + 15, percent(share)),
                )
        yield "</g>"


def _words(found: DistancesData, first: str, second: str) -> str:
    """What a pointer over a cell shows."""
    asked, differ = found.between(first, second)
    share = f"{100 * found.between(first, second).share:.1f} %"
    return f"{first} and {second}: {share}, {differ:,} of {asked:,} questions"
