"""Which ops were recorded of which framework, from a list in the same folder."""

from __future__ import annotations

import functools
from pathlib import Path

from castwise.vocab.ops import OPS

RECORDED_OPS = Path(__file__).with_name("recorded_ops.tsv")


@functools.cache
def unrecorded_ops(framework: str) -> tuple[str, ...]:
    """The ops without recorded cells of a framework, mostly because it has no such function.

    >>> "softmax" in unrecorded_ops("numpy")
    True

    Empty for a framework that was never recorded, such as a custom one.
    """
    recorded = _recorded_ops()
    own = {op for op, frameworks in recorded.items() if framework in frameworks}
    return tuple([op for op in OPS if op not in own]) if own else ()


@functools.cache
def _recorded_ops() -> dict[str, frozenset[str]]:
    """The frameworks each op was recorded of."""
    lines = RECORDED_OPS.read_text(encoding="utf-8").splitlines()
    rows = [line.partition("\t") for line in lines]
    return {op: frozenset(frameworks.split()) for op, _, frameworks in rows}
