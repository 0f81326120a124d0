"""Lines of the user's source: a node's origin, and the current line."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

_PACKAGE = str(Path(__file__).parents[1])


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The line of the user's source that a node comes from."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def user_line() -> SourceLine | None:
    """The current line of the user's own code: the first frame outside castwise."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_between(frame):
        frame = frame.f_back
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    return SourceLine(file, line, linecache.getline(file, line).strip())


def _is_between(frame: FrameType) -> bool:
    """Whether a frame belongs to castwise, or to the library through which it calls backends."""
    called = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return frame.f_code.co_filename.startswith(_PACKAGE) or called == "array_api_compat"


def user_place() -> str:
    """That line as text: its file, its number and its source."""
    line = user_line()
    if line is None:
        return "here"
    return f"{line}: `{line.text}`" if line.text else str(line)
