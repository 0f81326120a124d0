"""How much the dialects differ from each other, as a heat map."""

from __future__ import annotations

import math
from collections.abc import Iterator

from castwise.compare.distances import DistancesData
from castwise.drawing.shades import FAINT, INK
from castwise.drawing.svg import png_of, svg_box, svg_document, svg_text, text_width
from castwise.report.amounts import percent

_TITLE = "How much the dialects differ"
_ABOUT = "Share of questions answered differently, in %"
_MARGIN = 20
_TOP = 78  # where the slanted names may start
_CELL = 34
_ROW = 24
_SLANT = 55  # degrees of the names over the columns
_LEGEND = 220  # width of the colour scale
# One hue from light to dark (ColorBrewer's Blues), so that lightness alone shows the value, also to
# readers who cannot tell colours apart.
_SCALE = ((247, 251, 255), (198, 219, 239), (107, 174, 214), (33, 113, 181), (8, 48, 107))
_SELF = "#e4e4e7"
_MIDDLE = 0.2  # the luminance at which dark ink and white are equally easy to read


def distances_svg(found: DistancesData) -> str:
    """The matrix as an SVG heat map, with a number in each cell and the scale below."""
    longest = max(map(text_width, found.dialects))
    left = _MARGIN + longest + 10
    top = _TOP + longest * math.sin(math.radians(_SLANT))
    size = len(found.dialects)
    reach = _CELL / 2 + longest * math.cos(math.radians(_SLANT))  # of the last slanted name
    legend = top + _ROW * size + 26
    width = left + _CELL * size + reach + _MARGIN
    most = _most(found)
    parts = [
        svg_text(_MARGIN, 32, _TITLE, f'font-size="16" font-weight="600" fill="{INK}"'),
        svg_text(_MARGIN, 52, _ABOUT, f'fill="{FAINT}"'),
        *_names(found, left, top),
        *_cells(found, left, top, most),
        *_legend(left, legend, most),
    ]
    return svg_document(max(width, left + _LEGEND + 60), legend + 40 + _MARGIN, parts)


def distances_png(found: DistancesData) -> bytes:
    """The SVG picture as PNG."""
    return png_of(distances_svg(found))


def _most(found: DistancesData) -> float:
    """Where the scale ends: the largest share, rounded up to a tenth."""
    return max([math.ceil(10 * d.share) / 10 for d in found.pairs.values()] + [0.1])


def _names(found: DistancesData, left: float, top: float) -> Iterator[str]:
    for place, name in enumerate(found.dialects):
        x, y = left + _CELL * (place + 0.5), top - 8
        turned = f'transform="rotate(-{_SLANT} {x:.1f} {y:.1f})" fill="{INK}"'
        yield svg_text(x, y, name, turned)
        middle = top + _ROW * place + 16
        yield svg_text(left - 8, middle, name, f'text-anchor="end" fill="{INK}"')


def _cells(found: DistancesData, left: float, top: float, most: float) -> Iterator[str]:
    for row, name in enumerate(found.dialects):
        for column, other in enumerate(found.dialects):
            x, y = left + _CELL * column, top + _ROW * row
            if name == other:
                yield svg_box(x, y, _CELL - 2, _ROW - 2, _SELF)
                continue
            share = found.between(name, other).share
            colour = _colour(share / most)
            ink = INK if _luminance(colour) > _MIDDLE else "#ffffff"
            yield svg_box(x, y, _CELL - 2, _ROW - 2, _hex(colour))
            style = f'text-anchor="middle" fill="{ink}"'
            yield svg_text(x + _CELL / 2 - 1, y + 15, percent(share), style)


def _legend(left: float, top: float, most: float) -> Iterator[str]:
    """The colour scale, from 0 to the largest value."""
    stops = [
        f'<stop offset="{place / (len(_SCALE) - 1)}" stop-color="{_hex(colour)}"/>'
        for place, colour in enumerate(_SCALE)
    ]
    yield f'<defs><linearGradient id="scale">{"".join(stops)}</linearGradient></defs>'
    yield svg_box(left, top, _LEGEND, 12, "url(#scale)")
    for part in (0, 0.5, 1):
        style = f'text-anchor="middle" fill="{FAINT}"'
        yield svg_text(left + _LEGEND * part, top + 28, f"{100 * most * part:.0f} %", style)


def _colour(part: float) -> tuple[int, int, int]:
    """The colour at a part of the scale, from 0 to 1."""
    place = min(max(part, 0.0), 1.0) * (len(_SCALE) - 1)
    low = min(int(place), len(_SCALE) - 2)
    r, g, b = (
        round(x + (y - x) * (place - low))
        for x, y in zip(_SCALE[low], _SCALE[low + 1], strict=True)
    )
    return r, g, b


def _luminance(colour: tuple[int, int, int]) -> float:
    """How light a colour looks, from 0 to 1 (the relative luminance of WCAG)."""
    parts = [channel / 255 for channel in colour]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def _hex(colour: tuple[int, int, int]) -> str:
    return "#" + "".join(f"{channel:02x}" for channel in colour)
