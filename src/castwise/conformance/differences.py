"""The cells where castwise deliberately differs from a framework, each with its reason."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple


class Difference(NamedTuple):
    """A set of cells and why castwise answers them otherwise."""

    dialect: re.Pattern[str]
    op: re.Pattern[str]
    form: re.Pattern[str]
    operands: re.Pattern[str]
    recorded: int  # how many recorded cells there are of it
    reason: str


@functools.cache
def differences() -> tuple[Difference, ...]:
    """All of them, in the order of the files."""
    folder = resources.files("castwise.conformance").joinpath("listed_differences")
    texts = [file.read_text("utf-8") for file in sorted(folder.iterdir(), key=lambda f: f.name)]
    lines = [line for text in texts for line in text.splitlines()]
    return tuple(_difference(*line.split("\t")) for line in lines if not line.startswith("#"))


def _difference(
    dialect: str, op: str, form: str, operands: str, recorded: str, reason: str
) -> Difference:
    patterns = [re.compile(text) for text in (dialect, op, form, operands)]
    return Difference(patterns[0], patterns[1], patterns[2], patterns[3], int(recorded), reason)


def difference_at(dialect: str, op: str, form: str, operands: Sequence[str]) -> Difference | None:
    """The deliberate difference a cell belongs to, if it belongs to one."""
    joined = ";".join(operands)
    for found in differences():
        if (
            found.op.fullmatch(op)
            and found.form.fullmatch(form)
            and found.operands.fullmatch(joined)
            and found.dialect.fullmatch(dialect)
        ):
            return found
    return None
