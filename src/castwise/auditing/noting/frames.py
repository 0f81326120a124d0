"""Which of the user's lines a running operation belongs to, by the frames above it."""

from __future__ import annotations

import itertools
import sys
from types import CodeType, FrameType

from castwise.auditing.noting.callees import rewritten_files
from castwise.auditing.noting.log import SITES
from castwise.auditing.records.places import CodeSpot, Site
from castwise.auditing.rewriting.marks import first_mark

_LINES = 1 << 19  # marks of lines follow those of a file's operations


# Each code object is kept alive so that its id stays unique.
_spots: dict[tuple[int, int], tuple[CodeSpot, CodeType]] = {}
_marks: dict[tuple[int, int], tuple[int, CodeType]] = {}
_by_place: dict[str, dict[tuple[int, int, int, int], int]] = {}


def users_frame(frame: FrameType | None, below: CodeType | None = None) -> FrameType | None:
    """The innermost frame of an audited file; None if there is none, or if `below` runs inside
    it."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename in rewritten_files:
            return frame
        if code is below:
            return None
        frame = frame.f_back
    return None


def spot_of(frame: FrameType) -> CodeSpot:
    """The expression a frame is at."""
    code = frame.f_code
    key = id(code), frame.f_lasti
    found = _spots.get(key)
    if found is None:
        found = _spots[key] = (_spot(frame), code)
    return found[0]


def _spot(frame: FrameType) -> CodeSpot:
    return spot_in(frame.f_code, frame.f_lasti, frame.f_lineno or 0)


def spot_in(code: CodeType, instruction: int, line: int) -> CodeSpot:
    """The expression of an instruction; only its line before Python 3.11."""
    if sys.version_info >= (3, 11):
        at = next(itertools.islice(code.co_positions(), instruction // 2, None))
        first, last, column, end = at
        if None not in at:
            return CodeSpot(code.co_filename, first or line, column or 0, last or line, end or 0)
    return CodeSpot(code.co_filename, line, 0, line, 0)


def mark_of(frame: FrameType) -> int:
    """The mark of the site where a user's frame is."""
    code = frame.f_code
    key = id(code), frame.f_lasti
    found = _marks.get(key)
    if found is None:
        found = _marks[key] = (_mark(spot_of(frame)), code)
    return found[0]


def _mark(spot: CodeSpot) -> int:
    """The mark of an operation, or one for its whole line."""
    sites = _by_place.get(spot.file)
    if sites is None:
        first = first_mark(spot.file)
        sites = _by_place[spot.file] = {
            SITES[mark][:4]: mark for mark in list(SITES) if first <= mark < first + _LINES
        }
    known = sites.get(spot[1:])
    if known is not None:
        return known
    mark = first_mark(spot.file) + _LINES + spot.line
    SITES.setdefault(mark, Site(*spot[1:], "line", "", ()))
    return mark
