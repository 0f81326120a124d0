"""Fixes as edits of files."""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Iterable, Sequence

from castwise.auditing.fixing.scopes import statement_around
from castwise.auditing.fixing.tokens import edits_at
from castwise.auditing.records.findings import Fix
from castwise.auditing.records.places import SourceEdit
from castwise.auditing.rewriting.trying import with_edits


def edits_of(fixes: Iterable[Fix]) -> dict[str, list[SourceEdit]]:
    """The edits of each file."""
    edits: dict[str, list[SourceEdit]] = {}
    for fix in fixes:
        edits.setdefault(fix.place.file, []).extend(edits_at(fix.place, fix.text))
    return edits


def by_lines(fixes: Iterable[Fix]) -> list[list[Fix]]:
    """The fixes, those of the same lines together."""
    found: dict[object, list[Fix]] = {}
    for fix in fixes:
        place = fix.place
        found.setdefault((place.file, place.line, place.end_line), []).append(fix)
    return list(found.values())


def fixed_lines(*fixes: Fix) -> list[str]:
    """The whole lines of the place that some fixes share with the fixes, dedented."""
    source = _with_fixes(*fixes).decode("utf-8", "replace")
    return textwrap.dedent(source).rstrip().splitlines()


def fixed_text(fix: Fix) -> str:
    """What to write at a fix's place, with the line breaks and comments that are there now."""
    place = fix.place
    after = linecache.getline(place.file, place.end_line).encode("utf-8", "replace")
    source = _with_fixes(fix)
    end = len(source) - len(after[place.end_column - 1 :])
    return source[place.column - 1 : end].decode("utf-8", "replace")


def _with_fixes(*fixes: Fix) -> bytes:
    """The whole lines of the place that some fixes share with the fixes."""
    place = fixes[0].place
    lines = [linecache.getline(place.file, n) for n in range(place.line, place.end_line + 1)]
    edits = [
        edit._replace(line=edit.line - place.line + 1, end_line=edit.end_line - place.line + 1)
        for fix in fixes
        for edit in edits_at(fix.place, fix.text)
    ]
    return with_edits("".join(lines).encode("utf-8", "replace"), edits)


def hindrance(fixes: Iterable[Fix], taken: Sequence[Fix]) -> Fix | None:
    """The first of the fixes that are taken which others cannot be applied with, or None."""
    for fix in fixes:
        for other in taken:
            if fix != other and overlap(fix, other):
                return other
    return None


def applies(fixes: Sequence[Fix]) -> bool:
    """Whether the fixes do not overlap, and each file with them is valid Python."""
    if any(overlap(fix, other) for n, fix in enumerate(fixes) for other in fixes[:n]):
        return False
    return all(_is_valid(file, edits) for file, edits in edits_of(fixes).items())


def _is_valid(file: str, edits: Sequence[SourceEdit]) -> bool:
    """Whether the statements with the edits are valid; if one is not on its own, as an `elif`, the
    whole file."""
    lines = linecache.getlines(file)
    for edit in edits:
        first, last = statement_around(file, edit.line, edit.end_line)
        here = edit._replace(line=edit.line - first + 1, end_line=edit.end_line - first + 1)
        if not _parses("".join(lines[first - 1 : last]), [here]):
            return _parses("".join(lines), edits)
    return True


def _parses(source: str, edits: Sequence[SourceEdit]) -> bool:
    edited = with_edits(source.encode("utf-8", "surrogatepass"), edits)
    try:
        # A block without its head: what is indented needs one.
        ast.parse(b"if 1:\n" + edited if edited[:1] in b" \t" else edited)
    except (SyntaxError, ValueError):
        return False
    return True


def overlap(one: Fix, other: Fix) -> bool:
    """Whether two fixes change the same piece of source."""
    a, b = one.place, other.place
    if a.file != b.file:
        return False
    begins, ends = (a.line, a.column), (a.end_line, a.end_column)
    return begins < (b.end_line, b.end_column) and (b.line, b.column) < ends
