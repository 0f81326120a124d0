"""Integers that a file uses as an index or a size are recognised by their names."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from castwise.auditing.fixing.indices import may_be_index
from castwise.auditing.records.places import SourcePlace

MADE = "arange(4)"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("i = arange(4)\nx[i]", True),
        ("i = arange(4)\nj = (i + 1).reshape(2, 2)\nx[0, j[1]] = 3", True),
        ("é = 'é'; i, j = arange(4), 3\n[1, 2][j]", True),
        ("i = arange(4)\nfor n in range(i): pass", True),
        ("for i in arange(4): x[:i]", True),
        ("x[arange(4)]", True),
        ("self.places = arange(4)\nx[self.places]", True),
        ("def f(i):\n    return x[i]\nf(arange(4))", True),
        ("def f():\n    return arange(4)\nx[f()]", True),
        ("i = arange(4)\nx = i[:, None] * y[0]", False),
        ("i = arange(4)\nfor n in range(len(i)): x[n, i.shape[0]]", False),
        ("self.places = arange(4)\nx[self.others]", False),
        ("y = x[k] * arange(4)", False),
    ],
)
def test_what_goes_into_an_index(source: str, expected: bool, tmp_path: Path) -> None:
    file = tmp_path / "source.py"
    file.write_text(dedent(source), encoding="utf-8")
    lines = source.splitlines()
    line = next(n for n, text in enumerate(lines, 1) if MADE in text)
    column = lines[line - 1].encode().index(MADE.encode()) + 1
    assert may_be_index(SourcePlace(str(file), line, column, line, column + 9)) == expected
