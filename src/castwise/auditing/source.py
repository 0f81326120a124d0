"""The text of the user's source at a place."""

from __future__ import annotations

import linecache

from castwise.auditing.findings import Place


def text_at(place: Place) -> str:
    """The source a place covers, its lines joined; empty where the file cannot be read."""
    lines = [_bytes(place.file, n) for n in range(place.line, place.end_line + 1)]
    if not any(lines):
        return ""
    lines[-1] = lines[-1][: place.end_column - 1]
    lines[0] = lines[0][place.column - 1 :]
    return b" ".join(line.strip() for line in lines).decode("utf-8", "replace")


def _bytes(file: str, line: int) -> bytes:
    return linecache.getline(file, line).encode("utf-8", "replace")
