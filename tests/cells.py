"""The recorded cells that tests ask about: a fixed share of each file, or all with `--all-cells`.

A file is sorted, so the cells of one op in one form are together, and every n-th of them is taken.
Each op, form, dtype and role is asked about either way.
"""

from __future__ import annotations

import functools
import gzip
import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from castwise.conformance.recorder import Cell, Header

FILES = sorted((Path(__file__).parents[1] / "conformance" / "cells").glob("*.tsv.gz"))
# One in n is taken: the largest n that leaves enough. Primes miss no column of a table.
STEPS = (1, 2, 3, 5, 7, 13, 29, 53, 101)
ENOUGH = 15
ENOUGH_OF_MANY = 3  # a form with a parameter, such as out=int8, is one of many

takes_all = False  # set by tests/conftest.py


class Group(NamedTuple):
    """The cells of an op in a form, as lines of their file."""

    op: str
    form: str
    lines: list[str]

    @property
    def step(self) -> int:
        """One in how many cells is asked about."""
        enough = ENOUGH_OF_MANY if "=" in self.form else ENOUGH
        return max(step for step in STEPS if step == 1 or step * enough <= len(self.lines))

    def cells(self, step: int = 1, start: int = 0) -> Iterator[Cell]:
        """The cells, or one in so many."""
        for line in self.lines[start::step]:
            _, _, operands, answer = line.split("\t")
            yield Cell(self.op, self.form, tuple(operands.split(";")), answer)


class Recorded(NamedTuple):
    """A cell file."""

    header: Header
    groups: list[Group]

    @property
    def dialect(self) -> str:
        return self.header["dialect"]

    def counts(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for group in self.groups:
            found[group.op] += len(group.lines)
        return found

    def every(self, step: int) -> Iterator[Cell]:
        """One in n of all cells, on any subject."""
        start = 0
        for group in self.groups:
            yield from group.cells(step, start)
            start = (start - len(group.lines)) % step

    def asked(self) -> Iterator[Cell]:
        """The cells that are asked about in this run."""
        if not takes_all:
            yield from self.share()
            return
        for group in self.groups:
            yield from group.cells()

    def share(self) -> Iterator[Cell]:
        """The cells that are asked about by default; each op's from another place on."""
        for number, group in enumerate(self.groups):
            yield from group.cells(group.step, number % group.step)


@functools.lru_cache(maxsize=2)
def recorded(path: Path) -> Recorded:
    """A cell file, which the tests of one process that follow each other share."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        first, *lines = file.read().splitlines()
    return Recorded(json.loads(first.removeprefix("# ")), list(_groups(lines)))


def _groups(lines: list[str]) -> Iterator[Group]:
    start = 0
    while start < len(lines):
        op, form, _, _ = lines[start].split("\t")
        end = bisect_left(lines, f"{op}\t{form}\n", start)  # a line break sorts after a tab
        yield Group(op, form, lines[start:end])
        start = end


_SHOWN = 20  # differing cells; thousands may have one cause


def fail_where_different(dialect: str, differing: Sequence[tuple[Cell, object]]) -> None:
    """Fails if there are cells that differ, with each question, castwise's answer to it and the
    recorded one in full: of values in an assertion, pytest shows the beginning."""
    __tracebackhide__ = True
    if not differing:
        return
    lines = [f"{len(differing)} recorded cells of {dialect} have another answer"]
    for cell, answer in differing[:_SHOWN]:
        lines += [
            f"  {cell.op}({', '.join(cell.operands)}), form {cell.form}",
            f"      castwise: {answer}",
            f"      recorded: {cell.answer}",
        ]
    if len(differing) > _SHOWN:
        lines.append(f"  and {len(differing) - _SHOWN} more")
    pytest.fail("\n".join(lines), pytrace=False)
