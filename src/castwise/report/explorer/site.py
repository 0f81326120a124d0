"""Builds the explorer: a folder with a page, its data, and nothing that needs a server."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from castwise.errors import UsageError
from castwise.report.distances.distances import distances
from castwise.report.explorer.facts import facts
from castwise.report.explorer.packing import packed_dialect
from castwise.report.look.style import page_style
from castwise.rules.catalog import dialect_named
from castwise.rules.dialect import Dialect

_PAGE = Path(__file__).with_name("page")
_Packed = tuple[dict[str, Any], dict[str, str]]


def build_explorer(
    output: Path, names: Sequence[str], on_progress: Callable[[float], None] | None = None
) -> list[Path]:
    """Writes the explorer of some dialects into a folder; the files it wrote.

    Raises UsageError where the folder has files that are not the explorer's.
    """
    _check_output(output)
    dialects = [dialect_named(name) for name in names]
    packed = _all_packed(names, on_progress or (lambda done: None))
    known = facts(dialects)
    chunks: dict[str, dict[str, str]] = {}
    for name, (numbers, answers) in packed.items():
        known["dialects"][name]["numbers"] = numbers
        for chunk, text in answers.items():
            chunks.setdefault(chunk, {})[name] = text
    known["chunks"] = {chunk: f"{chunk.replace(' ', '-')}.js" for chunk in chunks}
    return _write(output, known, chunks)
