"""Builds the explorer: a folder with a page and its data, which needs no server."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from string import Template
from typing import Any

from castwise import __version__
from castwise.compare.distances import DistancesData
from castwise.engine.tracebacks.data import traceback_data
from castwise.errors import UsageError
from castwise.report.distances.distances import distances
from castwise.report.explorer.facts import facts, lattice_pictures
from castwise.report.explorer.packing import packed_chunk, packed_dialect
from castwise.report.look.style import results_style, with_palettes
from castwise.rules.catalog import dialect_named

_PAGE = Path(__file__).with_name("page")
_MARK = "data/facts.js"  # a folder with this file is an explorer's
_Packed = tuple[dict[str, Any], dict[str, bytes]]


def build_explorer(
    output: Path,
    names: Sequence[str],
    docs: str = "",
    on_progress: Callable[[float], None] | None = None,
) -> list[Path]:
    """Writes the explorer of some dialects into a folder; the files it wrote.

    `docs` is the address that the page links to as its documentation. `on_progress` is called with
    how many of the dialects are done.

    Raises UsageError where the folder has other files in it, or a dialect is one of recorded
    answers over rules.
    """
    _check(output)
    dialects = [dialect_named(name) for name in names]
    for dialect in dialects:
        if dialect.evidence.layers:
            raise UsageError(
                f"The explorer has no {dialect.name}: it asks rules, and this dialect is answers"
                " that were recorded. Use castwise explain, table, diff or history."
            )
    packed, found = _asked(names, on_progress)
    known = facts(dialects)
    known["distances"] = _map(found)
    chunks: dict[str, dict[str, bytes]] = {}
    for name, (numbers, answers) in packed.items():
        known["dialects"][name]["numbers"] = numbers
        for chunk, data in answers.items():
            chunks.setdefault(chunk, {})[name] = data
    known["chunks"] = {chunk: f"data/{chunk.replace(' ', '-')}.js" for chunk in chunks}
    files = {
        known["chunks"][
            chunk
        ]: f"Answers.receive({_json(chunk)}, {_json(packed_chunk(answers))});\n"
        for chunk, answers in chunks.items()
    }
    files["data/lattices.js"] = f"const LATTICES = {_json(lattice_pictures(dialects))};\n"
    files["data/messages.js"] = f"const MESSAGES = {_json(traceback_data())};\n"
    files[_MARK] = f"const FACTS = {_json(known)};\n"
    files["page.css"] = results_style() + with_palettes(_page_file("explorer.css"))
    files |= {file.name: _page_file(file.name) for file in sorted(_PAGE.glob("*.js"))}
    files["index.html"] = Template(_page_file("index.html")).substitute(
        version=__version__, docs=docs
    )
    return [_written(output / name, text) for name, text in files.items()]


def _check(output: Path) -> None:
    """Raises UsageError for a folder that holds something else."""
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is a file: name a folder.")
    if output.exists() and any(output.iterdir()) and not (output / _MARK).exists():
        raise UsageError(f"{output} holds other files: name a new folder, or an explorer's.")


def _asked(
    names: Sequence[str], on_progress: Callable[[float], None] | None
) -> tuple[dict[str, _Packed], DistancesData]:
    """What every dialect answers, and how far apart they are. A process for each core asks."""
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        far = pool.submit(_distances, list(names))
        # Those with many dtypes take longest, and come first.
        ordered = sorted(names, key=lambda name: -len(dialect_named(name).dtypes))
        asked: dict[Future[_Packed], str] = {pool.submit(_packed, n): n for n in ordered}
        for done, future in enumerate(as_completed(asked), 1):
            future.result()
            if on_progress:
                on_progress(done)
        found = {dialect_named(asked[future]).name: future.result() for future in asked}
        return {dialect_named(n).name: found[dialect_named(n).name] for n in names}, far.result()


def _packed(name: str) -> _Packed:
    return packed_dialect(dialect_named(name))


def _distances(names: list[str]) -> DistancesData:
    return distances(names, lambda question: None)


def _map(found: DistancesData) -> dict[str, Any]:
    """The distances in the order of their clusters: how many questions differ, of how many."""
    order = found.dialects
    return {
        "ops": list(found.ops),
        "dialects": list(order),
        "differ": [[list(found.between(a, b)) if a != b else [0, 0] for b in order] for a in order],
        "closer": [_map(group) for group in found.closer],
    }


def _page_file(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")


def _json(thing: Any) -> str:
    return json.dumps(thing, ensure_ascii=False, separators=(",", ":"))


def _written(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file
