"""The terminal's colours: one per kind of dtype, and those of refusals, hazards and titles."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from castwise.progress import is_plain

if TYPE_CHECKING:  # `castwise explain` loads no audit
    from castwise.auditing.records import SourcePlace

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


class Styled(str):
    """A text with the name of its style."""

    __slots__ = ("style",)

    style: str

    def __new__(cls, text: str, style: str) -> Styled:
        made = super().__new__(cls, text)
        made.style = style
        return made


# Rows in columns, the last of which is folded to the width.


def in_groups(
    title: Sequence[str],
    rows: Sequence[Sequence[str]],
    groups: Sequence[str],
    paint: Paint,
    width: int,
) -> str:
    """Rows under the names of their groups, and a title above the columns."""
    head, *lines = in_columns([title, *rows], width)
    found = [paint(head, "faint")]
    for group in dict.fromkeys(groups):
        own = [line for line, its in zip(lines, groups, strict=True) if its == group]
        found += ["", paint(group, "title"), *own]
    return "\n".join(found)


def in_columns(
    rows: Sequence[Sequence[str]],
    width: int | None,
    paint: Paint = plain,
    *,
    indent: int = 2,
    least: int = 16,
    breaks_words: bool = True,
) -> list[str]:
    """The rows as lines, a folded one as several joined by newlines. The last column has the room
    that is left, and `least` of it; without a width it is not folded.

    >>> in_columns([("op", "of"), ("add", "arithmetic")], 40)
    ['  op   of', '  add  arithmetic']
    """
    sizes = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)][:-1]
    margin = " " * (indent + sum(sizes))
    room = max(width - len(margin), least) if width else sys.maxsize
    lines = []
    for *cells, last in rows:
        padded = [cell.ljust(size) for cell, size in zip(cells, sizes, strict=True)]
        head = "".join(_painted(*both, paint) for both in zip(padded, cells, strict=True))
        folded = textwrap.wrap(
            last, room, break_long_words=breaks_words, break_on_hyphens=breaks_words
        )
        first, *more = [_painted(line, last, paint) for line in folded] or [""]
        line = f"{' ' * indent}{head}{first}".rstrip()
        lines.append("\n".join([line, *[margin + part for part in more]]))
    return lines


def _painted(text: str, cell: str, paint: Paint) -> str:
    """A text of a cell, in its style."""
    return paint(text, cell.style) if isinstance(cell, Styled) else text


def some_of(every: Sequence[str], found: Sequence[str]) -> str:
    """Some of all names, in as few words as will do.

    >>> some_of(["a", "b", "c"], ["a", "b"])
    'all but c'
    """
    rest = [name for name in every if name not in found]
    if not rest:
        return "all"
    if not found:
        return "none"
    return ", ".join(found) if len(found) <= len(rest) else f"all but {', '.join(rest)}"


# Lines no wider than the terminal.


def folded(text: str, width: int, margin: int = 0, head: str = "") -> str:
    """Text wrapped to a width; all lines except the first have a margin."""
    lines = textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * margin,
                          break_long_words=False, break_on_hyphens=False)  # fmt: skip
    return "\n".join(lines)


def filled(
    pieces: Iterable[tuple[str, str | None]], width: int, margin: int, head: str, paint: Paint
) -> str:
    """Pieces of text, each with its style, separated by commas; no piece is broken.

    >>> from castwise.report.terminal import plain
    >>> print(filled([("int8 + int16", None), ("widens", None)], 18, 4, "a   ", plain))
    a   int8 + int16,
        widens
    """
    lines, used = [head], len(head)
    for place, (text, style) in enumerate(pieces):
        if place and used + len(text) + 2 > width:
            lines[-1] += ","
            lines.append(" " * margin)
            used = margin
        elif place:
            lines[-1] += ", "
            used += 2
        lines[-1] += paint(text, style) if style else text
        used += len(text)
    return "\n".join(lines)


# Printing to the terminal or a pipe, and writing to files.


def terminal_width(stream: TextIO | None = None) -> int:
    """The width of the terminal, at least 40; 80 if there is none or its width is unknown."""
    stream = stream or sys.stdout
    if not stream.isatty():
        return 80
    said = os.environ.get("COLUMNS", "")
    columns = int(said) if said.isdigit() else os.get_terminal_size(stream.fileno()).columns
    return max(40, columns or 80)


# Sizes, counts, shares and places in a form that is easy to read.

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def size_text(size: float) -> str:
    """Bytes with a readable unit.

    >>> size_text(7_680_000)
    '7.7 MB'
    """
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" or size >= 99.5 else f"{size:.1f} {unit}"


def percent(share: float) -> str:
    """A share as a whole percentage; "0" means exactly zero.

    >>> percent(0.127), percent(0.001), percent(0.0)
    ('13', '<1', '0')
    """
    return "<1" if 0 < share < 0.005 else f"{100 * share:.0f}"


def file_text(file: str) -> str:
    """The name of a file, relative if it is below the current directory."""
    near = os.path.relpath(file)
    return file if near.startswith("..") else near


def place_text(place: SourcePlace) -> str:
    """A place as file:line."""
    return f"{file_text(place.file)}:{place.line}"
