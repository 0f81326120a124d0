"""Tries changes to the user's source in memory only."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Mapping, Sequence

from castwise.auditing.records.places import SourceEdit

_edits: dict[str, Sequence[SourceEdit]] = {}  # by full path


def try_edits(edits: Mapping[str, Sequence[SourceEdit]]) -> None:
    """Applies changes to files, by full path, whenever their source is read from now on."""
    _edits.update(edits)


def edited(source: bytes, path: str) -> bytes:
    """A source with the changes to its file."""
    return edited_file(source, _edits.get(path, ()))


def edited_file(source: bytes, edits: Sequence[SourceEdit]) -> bytes:
    """The bytes of a file with some changes; its encoding and line ends stay."""
    if not edits:
        return source
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    if encoding == "utf-8":
        return with_edits(source, edits)
    text = source.decode(encoding).encode()  # columns count bytes of UTF-8
    return with_edits(text, edits).decode().encode(encoding)


def with_edits(source: bytes, edits: Sequence[SourceEdit]) -> bytes:
    """A source in UTF-8 with some changes, applied from last to first so that positions stay
    valid."""
    lines = source.splitlines(keepends=True)
    for line, column, end_line, end_column, text in sorted(edits, reverse=True):
        tail = lines[end_line - 1][end_column - 1 :]
        lines[line - 1 : end_line] = [lines[line - 1][: column - 1] + text.encode() + tail]
    return b"".join(lines)
