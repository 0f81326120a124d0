"""The colours of a heat map, and their legend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from castwise.drawing.shades import FAINT
from castwise.drawing.svg import svg_box, svg_text

# One hue from light to dark (ColorBrewer's Blues), so that lightness alone shows the value, also to
# readers who cannot tell colours apart. It ends where black is still easy to read, also in a
# picture that dark mode turns over.
_SCALE = ((247, 251, 255), (198, 219, 239), (107, 174, 214))
BLACK = "#000000"
_LEGEND = 220  # width of the scale


def scale_colour(part: float) -> str:
    """The colour at a part of the scale, from 0 to 1."""
    place = min(max(part, 0.0), 1.0) * (len(_SCALE) - 1)
    low = min(int(place), len(_SCALE) - 2)
    mixed = (
        round(x + (y - x) * (place - low))
        for x, y in zip(_SCALE[low], _SCALE[low + 1], strict=True)
    )
    return _hex(mixed)


def legend(left: float, top: float, most: float) -> Iterator[str]:
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


def _hex(colour: Iterable[int]) -> str:
    return "#" + "".join(f"{channel:02x}" for channel in colour)
