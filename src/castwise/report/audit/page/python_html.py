"""Python source as HTML, line by line, with comments, strings, numbers and keywords marked."""

from __future__ import annotations

import io
import keyword
import tokenize
from html import escape

_CLASSES = {tokenize.COMMENT: "c", tokenize.STRING: "s", tokenize.NUMBER: "n"}
_FSTRINGS = ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")  # separate tokens since 3.12


def lines_html(source: str) -> list[str]:
    """The lines of a source. Source that is not Python stays plain.

    >>> lines_html("x = 1  # one")
    ['x = <span class="n">1</span>  <span class="c"># one</span>']
    """
    lines = source.splitlines()
    marks: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            found = _class_of(token)
            for line in range(token.start[0], token.end[0] + 1) if found else ():
                begins = token.start[1] if line == token.start[0] else 0
                ends = token.end[1] if line == token.end[0] else len(lines[line - 1])
                marks[line - 1].append((begins, ends, found))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass  # the part that could be read is marked
    return [_marked(line, found) for line, found in zip(lines, marks, strict=True)]


def _class_of(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return "k" if keyword.iskeyword(token.string) else ""
    if tokenize.tok_name[token.type] in _FSTRINGS:
        return "s"
    return _CLASSES.get(token.type, "")


def _marked(line: str, marks: list[tuple[int, int, str]]) -> str:
    parts, done = [], 0
    for begins, ends, name in marks:
        parts += [escape(line[done:begins]), f'<span class="{name}">']
        parts += [escape(line[begins:ends]), "</span>"]
        done = ends
    return "".join([*parts, escape(line[done:])])
