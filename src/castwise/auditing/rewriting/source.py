"""The text of the user's source at a place."""

from __future__ import annotations

import hashlib
import io
import linecache
import textwrap
import tokenize

from castwise.auditing.records.places import SourcePlace


def digest_of(source: bytes) -> str:
    """What tells one version of a file from another."""
    return hashlib.sha256(source).hexdigest()


def text_at(place: SourcePlace) -> str:
    """The source at a place, its lines joined; empty if the file cannot be read."""
    lines = _bytes_at(place)
    if not any(lines):
        return ""
    lines[-1] = lines[-1][: place.end_column - 1]
    lines[0] = lines[0][place.column - 1 :]
    text = b"".join(lines).decode("utf-8", "replace")
    return " ".join(line.strip() for line in _without_comments(text)) if len(lines) > 1 else text


def _without_comments(text: str) -> list[str]:
    """The lines of an expression without comments, so that they can be joined."""
    lines = text.splitlines()
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"({text})").readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                lines[line - 1] = lines[line - 1][: column - (line == 1)]
    except (tokenize.TokenError, SyntaxError):
        pass
    return lines


def lines_at(place: SourcePlace) -> list[str]:
    """The whole lines of a place, dedented."""
    source = b"".join(_bytes_at(place)).decode("utf-8", "replace")
    return textwrap.dedent(source).rstrip().splitlines()


def columns_of(place: SourcePlace) -> tuple[int, int]:
    """The start and end columns of a place, from 1, in characters as editors count them."""
    first, last = _bytes_at(place)[0], _bytes_at(place)[-1]
    return _characters(first, place.column), _characters(last, place.end_column)


def _characters(line: bytes, column: int) -> int:
    return len(line[: column - 1].decode("utf-8", "replace")) + 1 if line else column


def _bytes_at(place: SourcePlace) -> list[bytes]:
    """The lines as bytes, the unit of a place's columns."""
    numbers = range(place.line, place.end_line + 1)
    return [linecache.getline(place.file, n).encode("utf-8", "replace") for n in numbers]
