"""The parts of a picture: SVG written by hand, and PNG made from it."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Iterable
from html import escape

from castwise.errors import UsageError
from castwise.vocab.dtypes import DType

LETTER = 7.3  # width of a letter in the pictures' font
_FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def svg_document(width: float, height: float, parts: Iterable[str]) -> str:
    """A whole picture on a white background."""
    size = f'width="{width:.0f}" height="{height:.0f}"'
    box, font = f'viewBox="0 0 {width:.0f} {height:.0f}"', f'font-family="{_FONT}" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} {font}>'
    return "\n".join([head, f'<rect {size} fill="#ffffff"/>', *parts, "</svg>"])


def svg_text(x: float, y: float, text: str, style: str = "") -> str:
    words = escape(text, quote=False)
    return f'<text x="{_short(x)}" y="{_short(y)}"{style and " "}{style}>{words}</text>'


def svg_box(x: float, y: float, width: float, height: float, fill: str, style: str = "") -> str:
    return (
        f'<rect x="{_short(x)}" y="{_short(y)}" width="{_short(width)}" height="{_short(height)}"'
        f' rx="3" fill="{fill}"{style and " "}{style}/>'
    )


def svg_hover(words: str, *parts: str) -> str:
    """Parts that show words where the pointer is over them."""
    return f"<g><title>{escape(words, quote=False)}</title>{''.join(parts)}</g>"


def _short(length: float) -> str:
    return f"{length:.1f}".removesuffix(".0")


def text_width(text: str) -> float:
    """How wide a text is at the pictures' font size."""
    return LETTER * len(text)


def svg_to_png(svg: str) -> bytes:
    """An SVG picture as PNG.

    Raises UsageError if cairosvg, which draws it, is not installed.
    """
    try:
        import cairosvg  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except (ImportError, OSError):  # OSError: it is installed, but the cairo library is not
        raise UsageError(
            "png needs cairosvg and the cairo library: pip install cairosvg. Or write svg."
        ) from None
    picture: bytes = cairosvg.svg2png(bytestring=svg.encode(), scale=2)
    return picture


# The colours of pages and pictures: one hue per kind of dtype, darker for wider dtypes.

_HUES = {"bool": 285, "int": 210, "float": 140, "complex": 30}
REFUSED = "#f4f4f5"
INK = "#18181b"
FAINT = "#6b6b74"  # of pages, too


def shade(dtype: DType) -> str:
    """The background of a dtype, light enough for dark text.

    >>> from castwise.vocab.dtypes import dtype
    >>> shade(dtype("int8")), shade(dtype("int64"))
    ('#bbd4ec', '#8cbbea')
    """
    bits = 8 if dtype.is_weak else dtype.part.bits  # complex64 is as dark as float32
    depth = math.log2(min(max(8, bits), 64))  # darker than int64 is hard to read in dark mode
    lightness, saturation = 0.93 - 0.033 * depth, 0.45 + 0.04 * depth
    rgb = colorsys.hls_to_rgb(_HUES[dtype.kind] / 360, lightness, saturation)
    return hex_colour(round(255 * channel) for channel in rgb)


def hex_colour(channels: Iterable[int]) -> str:
    """A colour as pages and pictures write it."""
    return "#" + "".join(f"{channel:02x}" for channel in channels)
