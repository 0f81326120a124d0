"""The terminal's colours: one per kind of dtype, and those of refusals, hazards and titles."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

# Takes a text and the name of a style, and returns the text to print.
Paint = Callable[[str, str], str]

_STYLES: dict[str, dict[str, Any]] = {
    "bool": {"fg": "magenta"},
    "int": {"fg": "cyan"},
    "float": {"fg": "green"},
    "complex": {"fg": "bright_blue"},
    "refused": {"fg": "red"},
    "hazard": {"fg": "yellow"},
    "title": {"bold": True},
    "faint": {"dim": True},
}


def plain(text: str, style: str) -> str:
    """The text unchanged."""
    return text


def coloured(text: str, style: str) -> str:
    """The text between the terminal's codes for a style."""
    import click  # reports without colour do not load it

    return click.style(text, **_STYLES[style])


def paint_for_stdout() -> Paint:
    """Colours if stdout is a terminal."""
    return paint_for(sys.stdout)


def paint_for(stream: TextIO) -> Paint:
    """Colours on a terminal, unless the user asked for none (https://no-color.org)."""
    return plain if os.environ.get("NO_COLOR") or is_plain(stream) else coloured


def is_plain(stream: TextIO) -> bool:
    """Whether a stream is not a terminal, or is one without colours or cursor control."""
    return os.environ.get("TERM") == "dumb" or not stream.isatty()
