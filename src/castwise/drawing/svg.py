"""The parts of a picture: SVG written by hand, and PNG made from it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from castwise.errors import UsageError

LETTER = 7.3  # width of a letter in the pictures' font
FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def svg_document(width: float, height: float, parts: Iterable[str]) -> str:
    """A whole picture on a white background."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
            f' viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}" font-size="12">',
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
            *parts,
            "</svg>",
        ]
    )


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


def png_of(svg: str) -> bytes:
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
