"""The cells where castwise deliberately differs from a framework, each with its reason."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import NamedTuple

from castwise.rules.values import architecture


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
    found = []
    for *patterns, recorded, reason in _lines(of_programs=False):
        dialect, op, form, operands = map(re.compile, patterns)
        found.append(Difference(dialect, op, form, operands, int(recorded), reason))
    return tuple(found)


def _lines(*, of_programs: bool) -> Iterator[list[str]]:
    """The fields of each line of the files about cells, or of those about programs."""
    folder = resources.files("castwise.conformance").joinpath("listed_differences")
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(".programs.tsv") is of_programs:
            for line in file.read_text("utf-8").splitlines():
                if not line.startswith("#"):
                    yield line.split("\t")


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


# The differences between a framework and tensors that are known, each with its reason.


class ListedDifference(NamedTuple):
    """Steps that are expected to differ, and why. All but the reason are regular expressions, which
    match the whole unless it is said otherwise."""

    dialect: str
    backend: str
    op: str
    form: str
    what: str
    operands: str  # without what arrays hold
    error: str  # found anywhere in what the one side raised
    machine: str
    reason: str


class FoundDifference(NamedTuple):
    """What a finding is looked up by."""

    dialect: str
    backend: str
    op: str
    form: str
    what: str
    operands: str
    error: str  # empty where neither side raised


@functools.cache
def listed_differences() -> tuple[ListedDifference, ...]:
    """All of them, in the order of the files."""
    return tuple(ListedDifference(*line) for line in _lines(of_programs=True))


def listed_at(found: FoundDifference) -> ListedDifference | None:
    """The listed difference that a finding is, if it is one."""
    return next((listed for listed in listed_differences() if _is_listed_as(listed, found)), None)


def _is_listed_as(listed: ListedDifference, found: FoundDifference) -> bool:
    return (
        all(re.fullmatch(p, text) for p, text in zip(listed[:6], found[:6], strict=True))
        and re.search(listed.error, found.error) is not None
        and re.fullmatch(listed.machine, architecture()) is not None
    )
