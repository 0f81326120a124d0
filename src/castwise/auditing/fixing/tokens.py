"""A change of an expression as changes of its tokens, so that comments and line breaks stay."""

from __future__ import annotations

import io
import linecache
import tokenize
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from castwise.auditing.records.places import SourceEdit, SourcePlace

_LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
           tokenize.ENDMARKER)  # fmt: skip


def edits_at(place: SourcePlace, text: str) -> list[SourceEdit]:
    """The edits that turn the source at a place into a text. The text of several lines is changed
    only where its tokens differ."""
    whole = SourceEdit(place.line, place.column, place.end_line, place.end_column, text)
    if place.line == place.end_line:
        return [whole]
    lines = [linecache.getline(place.file, n) for n in range(place.line, place.end_line + 1)]
    lines[-1] = lines[-1].encode()[: place.end_column - 1].decode()
    lines[0] = lines[0].encode()[place.column - 1 :].decode()
    try:
        old, new = _tokens("".join(lines)), _tokens(text)
    except (tokenize.TokenError, SyntaxError):
        return [whole]
    return [_placed(edit, place, lines) for edit in _changes(old, new, text)]


def _tokens(code: str) -> list[tokenize.TokenInfo]:
    """The tokens of an expression, which brackets allow to have several lines."""
    found = tokenize.generate_tokens(io.StringIO(f"({code}\n)").readline)
    return [token for token in found if token.type not in _LAYOUT][1:-1]


def _changes(
    old: Sequence[tokenize.TokenInfo], new: Sequence[tokenize.TokenInfo], text: str
) -> Iterator[SourceEdit]:
    """The edits, with lines from 1 and columns in characters from 0, both in the old text with a
    bracket before it. `text` is the new one, of one line."""
    names = [token.string for token in old], [token.string for token in new]
    for what, i, j, first, last in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        begins = new[first - 1].end[1] if first and i else _start(new, first)
        ends = new[last - 1].end[1] if last else begins
        if what == "replace":  # what stands before it stays
            begins = _start(new, first)
        if what == "insert" and not i:
            ends = _start(new, last)
        # What is new follows the token before it, not a comment behind that.
        at = old[i].start if what == "replace" or not i else old[i - 1].end
        upto = at if what == "insert" else old[j - 1].end
        yield SourceEdit(*at, *upto, text[begins - 1 : ends - 1] if what != "delete" else "")


def _start(tokens: Sequence[tokenize.TokenInfo], place: int) -> int:
    return tokens[place].start[1] if place < len(tokens) else tokens[-1].end[1]


def _placed(edit: SourceEdit, place: SourcePlace, lines: Sequence[str]) -> SourceEdit:
    """An edit at its place in the file, with columns in bytes from 1."""

    def column(line: int, characters: int) -> int:
        characters -= line == 1  # the bracket
        before = len(lines[line - 1][:characters].encode())
        return before + (place.column if line == 1 else 1)

    return SourceEdit(
        place.line + edit.line - 1,
        column(edit.line, edit.column),
        place.line + edit.end_line - 1,
        column(edit.end_line, edit.end_column),
        edit.text,
    )
