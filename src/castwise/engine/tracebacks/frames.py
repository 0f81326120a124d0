"""The lines of code that a traceback shows, by Python, IPython, pytest or rich."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Colours, the ranks of distributed programs, the E of pytest, and the box that rich draws.
_CLUTTER = re.compile(r"\x1b\[[\d;]*m|^\[rank\d+\]: ?|^E {3,}|^[│|] | *[│|] *$", re.MULTILINE)
_ENDS = re.compile(r"\r\n?|[\u2028\u2029]")
_PLAIN = re.compile(r'^ *File "([^"]+)", line \d+|^(\S+\.py):\d+: in ')
_FAILED = re.compile(r"^> {3,}\S")  # of pytest, which names the file below
_PLACE = re.compile(r"(?:^| )(?:File )?(\S+\.py)(?::\d+| in )")
_CELL = re.compile(r"Cell In ?\[|<ipython-input")
_ARROW = re.compile(r"^(?:-+>|❱) *\d+ ?│?([\s│]*\S.*)$")
_MARKS = re.compile(r"^[ ~^]*\^[ ~^]*$")


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of code, and the part of it that failed, where the traceback marks it."""

    file: str
    code: str
    marks: str = ""  # "~~^~~" below the code: as long as it, or shorter


def cleaned(text: str) -> str:
    """A traceback without what terminals and launchers add to it."""
    return _CLUTTER.sub("", _ENDS.sub("\n", text).replace("\u00a0", " "))


def frames_of(text: str) -> list[Frame]:
    """The frames of a cleaned traceback, in its order."""
    lines = text.split("\n")
    frames: list[Frame] = []
    file = ""
    for number, line in enumerate(lines):
        plain, place, arrow = _PLAIN.match(line), _PLACE.search(line), _ARROW.match(line)
        if plain:
            file = plain[1] or plain[2]
            frames.extend(_plain_frame(file, lines[number + 1 : number + 3]))
        elif _FAILED.match(line):
            frames.extend(_plain_frame("", [f" {line[1:]}", *lines[number + 1 : number + 2]]))
        elif arrow:
            frames.append(Frame(file, arrow[1].replace("│", " ").strip()))
        elif place or _CELL.search(line):
            file = place[1] if place else ""
    return frames


def _plain_frame(file: str, lines: list[str]) -> list[Frame]:
    """The frame whose code and marks follow the line with its file."""
    code = lines[0] if lines else ""
    if not code.startswith("    "):
        return []
    indent = len(code) - len(code.lstrip())
    below = lines[1] if len(lines) > 1 and _MARKS.match(lines[1]) else ""
    marks = below[indent:].rstrip()
    return [Frame(file, code.strip(), marks if "^" in marks else "")]
