"""The colours of the terminal: one a kind of dtype, and those of refusals, hazards and titles."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

import click

# Takes a text and the name of a style; gives the text as it is printed.
Paint = Callable[[str, str], str]

_STYLES: dict[str, dict[str, Any]] = {
    "bool": {"fg": "magenta"},
    "int": {"fg": "cyan"},
    "float": {"fg": "green"},
    "complex": {"fg": "bright_blue"},
    "refused": {"fg": "red"},
    "hazard": {"fg": "yellow"},
    "title": {"bold": True},
    "aside": {"dim": True},
}


def plain(text: str, style: str) -> str:
    """The text as it is."""
    return text


def coloured(text: str, style: str) -> str:
    """The text between the terminal's codes for a style."""
    return click.style(text, **_STYLES[style])


def paint_for_stdout() -> Paint:
    """Colours where stdout is a terminal."""
    return paint_for(sys.stdout)


def paint_for(stream: TextIO) -> Paint:
    """Colours on a terminal, unless the user asked for none (https://no-color.org)."""
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return coloured if is_wanted and stream.isatty() else plain
