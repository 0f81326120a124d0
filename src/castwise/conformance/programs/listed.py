"""The differences between a framework and tensors that are known, each with its reason."""

from __future__ import annotations

import functools
import re
from importlib import resources
from typing import NamedTuple

from castwise.vocab.architecture import architecture


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
    folder = resources.files("castwise.conformance.programs").joinpath("listed_differences")
    texts = [file.read_text("utf-8") for file in sorted(folder.iterdir(), key=lambda f: f.name)]
    lines = [line for text in texts for line in text.splitlines()]
    return tuple(ListedDifference(*line.split("\t")) for line in lines if not line.startswith("#"))


def listed_at(found: FoundDifference) -> ListedDifference | None:
    """The listed difference that a finding is, if it is one."""
    return next((listed for listed in listed_differences() if _is_of(listed, found)), None)


def _is_of(listed: ListedDifference, found: FoundDifference) -> bool:
    return (
        all(re.fullmatch(p, text) for p, text in zip(listed[:6], found[:6], strict=True))
        and re.search(listed.error, found.error) is not None
        and re.fullmatch(listed.machine, architecture()) is not None
    )
