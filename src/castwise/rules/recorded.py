"""How many cells were recorded of which dialect and op, from a list in the same folder."""

from __future__ import annotations

import functools
from pathlib import Path

from castwise.vocab.ops import OPS

RECORDED_CELLS = Path(__file__).with_name("recorded_cells.tsv")


@functools.cache
def unrecorded_ops(framework: str) -> tuple[str, ...]:
    """The ops without recorded cells of a framework, mostly because it has no such function.

    >>> "softmax" in unrecorded_ops("numpy")
    True

    Empty for a framework that was never recorded, such as a custom one.
    """
    own = {op for name, ops in recorded_cells().items() if _root(name) == framework for op in ops}
    return tuple([op for op in OPS if op not in own]) if own else ()


def _root(dialect: str) -> str:
    """The framework in a dialect's name."""
    return dialect.partition(":")[0].partition("@")[0]


@functools.cache
def recorded_cells() -> dict[str, dict[str, int]]:
    """How many cells each dialect has of each op."""
    lines = RECORDED_CELLS.read_text(encoding="utf-8").splitlines()
    rows = [line.partition("\t") for line in lines]
    return {dialect: dict(map(_counted, counts.split())) for dialect, _, counts in rows}


def _counted(word: str) -> tuple[str, int]:
    op, _, count = word.partition(":")
    return op, int(count)
