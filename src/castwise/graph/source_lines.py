"""Where in the user's source something stands that runs now."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import FrameType

from castwise.graph.program import Origin

_PACKAGE = str(Path(__file__).parents[1])


def user_origin() -> Origin | None:
    """The line of the user's own code that runs now: the first frame outside castwise."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_between(frame):
        frame = frame.f_back
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Origin(file, line, linecache.getline(file, line).strip())


def _is_between(frame: FrameType) -> bool:
    """Whether a frame is castwise's, or of the library through which it calls backends."""
    called = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return frame.f_code.co_filename.startswith(_PACKAGE) or called == "array_api_compat"


def user_place() -> str:
    """That line in words: its file, its number and what it says."""
    origin = user_origin()
    if origin is None:
        return "here"
    return f"{origin}: `{origin.text}`" if origin.text else str(origin)
