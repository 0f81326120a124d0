"""A fix for programs."""

from __future__ import annotations

from typing import Any

from castwise.auditing.fixing.applying import fixed_text
from castwise.auditing.records.findings import Fix
from castwise.auditing.rewriting.source import columns_of


def fix_json(fix: Fix) -> dict[str, Any]:
    """A piece of source and the text to write there; the fixes of an origin belong together."""
    place = fix.place
    first, last = columns_of(place)
    return {
        "file": place.file,
        "line": place.line,
        "column": first,
        "end_line": place.end_line,
        "end_column": last,
        "text": fixed_text(fix),
    }
