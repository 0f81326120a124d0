"""Rows in columns, the last of which is folded to the width."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from castwise.report.terminal.colour import Paint


def in_groups(
    title: Sequence[str],
    rows: Sequence[Sequence[str]],
    groups: Sequence[str],
    paint: Paint,
    width: int,
) -> str:
    """Rows under the names of their groups, and a title above the columns."""
    head, *lines = in_columns([title, *rows], width)
    found = [paint(head, "faint")]
    for group in dict.fromkeys(groups):
        own = [line for line, its in zip(lines, groups, strict=True) if its == group]
        found += ["", paint(group, "title"), *own]
    return "\n".join(found)


def in_columns(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """The rows as lines, a folded one as several joined by newlines.

    >>> in_columns([("op", "of"), ("add", "arithmetic")], 40)
    ['  op   of', '  add  arithmetic']
    """
    sizes = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    margin = " " * (2 + sum(size + 2 for size in sizes))
    lines = []
    for *cells, last in rows:
        head = "  " + "".join(cell.ljust(size + 2) for cell, size in zip(cells, sizes, strict=True))
        first, *more = textwrap.wrap(last, max(width - len(margin), 16)) or [""]
        lines.append("\n".join([f"{head}{first}".rstrip(), *[margin + line for line in more]]))
    return lines


def some_of(every: Sequence[str], found: Sequence[str]) -> str:
    """Some of all names, in as few words as will do.

    >>> some_of(["a", "b", "c"], ["a", "b"])
    'all but c'
    """
    rest = [name for name in every if name not in found]
    if not rest:
        return "all"
    if not found:
        return "none"
    return ", ".join(found) if len(found) <= len(rest) else f"all but {', '.join(rest)}"
