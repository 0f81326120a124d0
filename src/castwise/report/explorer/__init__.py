"""The explorer: a page that looks up what every dialect answers, and the data it looks it up in.

It is a folder that needs no server, and is built here.
"""

from __future__ import annotations

import base64
import json
import math
import os
import struct
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from string import Template
from typing import Any

from castwise.catalog import dialect_named
from castwise.comparing.diff import Distances, distances, weak_dtypes
from castwise.comparing.table import lattice
from castwise.drawing import shade
from castwise.engine.decision import HAZARDS
from castwise.engine.plan import dialect_reach
from castwise.engine.tracebacks import traceback_data
from castwise.errors import UsageError
from castwise.report.blocks import results_style, with_palettes
from castwise.report.explorer.questions import (
    COMMON_DTYPES,
    PLAIN,
    Answers,
    Asked,
    Classes,
    Tables,
    alike,
    classes_of,
    every_asked,
    every_value,
    forms_of,
    real_of,
)
from castwise.report.lattice import lattice_svg
from castwise.report.table import short_name
from castwise.rules.dialect import Dialect, recorded_cells
from castwise.version import __version__
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.operands import EXACT_VALUES, NAN_CLASS, VALUE_BOUNDS, real_class
from castwise.vocab.ops import OPS, Op
from castwise.vocab.spellings import SCALAR_TYPES, SPELLINGS

# The answers of a dialect as the page reads them: tables of numbers, packed and compressed.


def packed_dialect(dialect: Dialect) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What the page always needs of a dialect's numbers, and its answers by chunk."""
    asked = every_asked()
    classes = classes_of(dialect, [group[0] for group in alike(dialect, asked)])
    tables = Tables(dialect, classes)
    chunks: dict[str, list[Asked]] = {}
    for one in asked:
        chunks.setdefault(chunk_of(one), []).append(one)
    answers = {
        chunk: _packed(dialect, tables, alike(dialect, of_chunk))
        for chunk, of_chunk in chunks.items()
    }
    return _numbers(classes), answers


def chunk_of(asked: Asked) -> str:
    """What the page loads together: a family of ops, and apart from it what these write."""
    writes = asked.form in ("augmented", "inplace")
    return f"{asked.op.family} in place" if writes else asked.op.family


def _packed(dialect: Dialect, tables: Tables, groups: Sequence[Sequence[Asked]]) -> bytes:
    """The tables of groups of ops, with all that they refer to."""
    answers = Answers(dialect)
    axes: dict[tuple[str, ...], int] = {}
    shapes: list[list[Any]] = []
    ops: dict[str, dict[str, int]] = {}
    cells = array("H")
    for number, group in enumerate(groups):
        found = tables.of(group[0], answers)
        numbers = [[axes.setdefault(axis, len(axes)) for axis in t.axes] for t in found]
        shapes.append([int(tables.tells_zero_d(group[0])), *numbers])
        for table in found:
            cells += table.cells
        for asked in group:
            ops.setdefault(asked.op.name, {})[asked.form] = number
    if len(answers.answers) > 1 << 16:
        raise OverflowError(f"{dialect.name} has more different answers than two bytes count.")
    rows, results = _rows(list(answers.answers))
    head = {
        "ops": ops,  # name -> form -> the number of its group
        # For each group whether it tells 0-d arrays from others, then its tables: their axes.
        "groups": shapes,
        "axes": list(axes),
        "answers": len(rows),
        "columns": len(rows[0]),
        "results": results,
        "steps": list(answers.steps),
        "sentences": list(answers.sentences),
        "casts": list(answers.casts),
    }
    return _joined(head, [*zip(*rows, strict=True), cells])


def _rows(answers: Sequence[tuple[Any, ...]]) -> tuple[list[list[int]], list[str]]:
    """Answers as rows of numbers, and what the second number of a row counts.

    A row: its steps, its result, flags, what it computes in, the cast of the result, a cast for
    each operand, and those inside. A cast counts from 1 on, 0 is none. An answer that makes no
    sense has the sentence that says so for steps.
    """
    results = {"senseless": 0, "refused": 1}
    operands = max(len(answer[4]) if len(answer) > 2 else 0 for answer in answers)
    rows = []
    for said, *decided in answers:
        row = [said, len(decided), 0, 0, 0]
        if len(decided) > 1:
            result, flags, compute, casts, written = decided
            for name in (result, compute):
                results.setdefault(name, len(results))
            row = [said, results[result], flags, results[compute], written + 1]
            row += [cast + 1 for cast in casts]
        rows.append(row + [0] * (5 + operands - len(row)))
    return rows, list(results)


def _joined(head: dict[str, Any], columns: Iterable[Iterable[int]]) -> bytes:
    """A length, as many bytes of JSON, then the columns.

    A column has the low bytes of its numbers, then their high bytes: equal bytes stand together,
    which deflates to two thirds of what rows of JSON do.
    """
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    parts = [struct.pack("<I", len(text)), text]
    for column in columns:
        numbers = list(column)
        parts += [bytes(n & 0xFF for n in numbers), bytes(n >> 8 for n in numbers)]
    return b"".join(parts)


def packed_chunk(answers: dict[str, bytes]) -> dict[str, Any]:
    """The answers of all dialects in a chunk as JSON: what is where in the data, which are deflated
    and in base64. What several dialects answer alike is there once."""
    places: dict[bytes, int] = {}
    at = 0
    for data in answers.values():
        if data not in places:
            places[data] = at
            at += len(data)
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    deflated = squeezer.compress(b"".join(places)) + squeezer.flush()
    return {
        "places": {name: [places[data], len(data)] for name, data in answers.items()},
        "data": base64.b64encode(deflated).decode(),
    }


def _numbers(classes: dict[DType, Classes]) -> dict[str, Any]:
    """The class of every interval of values beside each dtype, each different map once.

    A map has the first interval of those that follow each other in one class: "-4:0 2:1".
    """
    maps: dict[str, int] = {}

    def number(of_kind: dict[int, int]) -> int:
        runs = [list(run) for _, run in groupby(of_kind.items(), lambda pair: pair[1])]
        text = " ".join(f"{run[0][0]}:{run[0][1]}" for run in runs)
        return maps.setdefault(text, len(maps))

    beside = {
        d.name: [
            {kind: number(found) for kind, found in part.items()}
            for part in (of.numbers, of.scalars)
        ]
        for d, of in classes.items()
    }
    return {"maps": list(maps), "beside": beside, "plain": _plain(classes)}


def _plain(classes: dict[DType, Classes]) -> dict[str, list[int]]:
    """The intervals whose values no two arrays of a common dtype tell from the plain number.

    Of bools it is True alone: two that differ would be written alike.
    """
    common = [of.beside_two for d, of in classes.items() if d in COMMON_DTYPES]
    return {
        kind: [
            place
            for place, value in every_value(kind).items()
            if value is not False
            and all(of[kind][place] == of[kind][real_class(real_of(plain[0]))] for of in common)
        ]
        for kind, plain in PLAIN.items()
    }


# What the page knows besides answers: dtypes, ops, dialects, and the bounds between values.


def facts(dialects: Iterable[Dialect]) -> dict[str, Any]:
    """All of it, as JSON."""
    chosen = list(dialects)
    return {
        "version": __version__,
        "dtypes": {d.name: _dtype(d) for d in DTYPES},
        "common": [d.name for d in COMMON_DTYPES],
        "spellings": _spellings(),
        "ops": {op.name: _op(op) for op in OPS.values()},
        "names": _names(chosen),
        "hazards": HAZARDS,
        "bounds": [_number(bound) for bound in VALUE_BOUNDS],
        "exact": [[value, place] for value, place in EXACT_VALUES.items()],
        "nan": NAN_CLASS,
        "dialects": {dialect.name: _dialect(dialect) for dialect in chosen},
    }


def _number(value: float) -> float | str:
    """A number as JSON has it, which knows no infinity."""
    return value if math.isfinite(value) else str(value)


def _dtype(dtype: DType) -> dict[str, Any]:
    is_whole = dtype.kind in ("bool", "int")
    return {
        "kind": dtype.kind,
        "short": short_name(dtype),
        "shade": shade(dtype),
        # As text: JSON's numbers do not hold the limits of 64 bits.
        "limits": [str(int(dtype.min)), str(int(dtype.max))] if is_whole else [],
    }


def _spellings() -> dict[str, str]:
    """How frameworks write dtypes, such as torch.half: the text and the dtype."""
    found = {f"{prefix}.{d}": d.name for prefix in SPELLINGS for d in DTYPES}
    for prefix, words in SPELLINGS.items():
        found |= {f"{prefix}.{word}": name for word, name in words.items()}
    return found | SCALAR_TYPES


def _op(op: Op) -> dict[str, Any]:
    low, high = op.arity
    found: dict[str, Any] = {
        "family": op.family,
        "arity": [low, min(high, 3)],
        "forms": {form: chunk_of(Asked(op, form)) for form in forms_of(op)},
        "symbol": op.symbol,
        "operands": list(op.call.operands),
    }
    flags = {
        "conditionFirst": op.is_condition_first,
        "countsDimensions": op.shapes.counts_dimensions,
        "countsElements": op.shapes.counts_elements,
        "comparesDimensions": op.shapes.counts_dimensions and op.index is not None,
    }
    return found | {name: True for name, is_set in flags.items() if is_set}


def _names(dialects: Iterable[Dialect]) -> dict[str, str]:
    """What frameworks call ops, with their prefixes and without: `np.multiply` is mul."""
    found: dict[str, str] = {}
    for dialect in dialects:
        for name, aliases in dialect.naming.aliases.items():
            for alias in aliases.split():
                found.setdefault(alias, name)
                for prefix in dialect.naming.prefixes.split():
                    found[f"{prefix}.{alias}"] = name
    return {alias: name for alias, name in found.items() if name in OPS and alias not in OPS}


def _dialect(dialect: Dialect) -> dict[str, Any]:
    naming = dialect.naming
    return {
        "framework": dialect.framework,
        "version": dialect.version,
        "about": dialect.about,
        "evidence": dialect.evidence.source,
        "cells": recorded_cells().get(dialect.name, {}),
        "unrecorded": list(dialect.unrecorded),
        "dtypes": [d.name for d in dialect.dtypes],
        "weak": [d.name for d in weak_dtypes(dialect)],
        "cast": naming.cast,
        "boolName": naming.bool_name,
        "reaches": reaches(dialect),
    }


def reaches(dialect: Dialect) -> dict[str, list[str]]:
    """What each dtype and weak node of a dialect reaches, besides itself."""
    reach = dialect_reach(dialect)
    return {
        source.name: [t.name for t in reach.order if t is not source and reach.reaches(source, t)]
        for source in reach.order
    }


_PAGE = Path(__file__).parent
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
        file: f"Answers.receive({_json(chunk)}, {_json(packed_chunk(chunks[chunk]))});\n"
        for chunk, file in known["chunks"].items()
    }
    pictures = {dialect.name: lattice_svg(lattice(dialect)) for dialect in dialects}
    files["data/lattices.js"] = f"const LATTICES = {_json(pictures)};\n"
    files["data/messages.js"] = f"const MESSAGES = {_json(traceback_data())};\n"
    files[_MARK] = f"const FACTS = {_json(known)};\n"
    files["page.css"] = results_style() + with_palettes(_page_file("explorer.css"))
    files |= {file.name: _page_file(file.name) for file in sorted(_PAGE.glob("*.js"))}
    index = Template(_page_file("index.html"))
    files["index.html"] = index.substitute(version=__version__, docs=docs)
    return [_written(output / name, text) for name, text in files.items()]


def _check(output: Path) -> None:
    """Raises UsageError for a folder that holds something else."""
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is a file: name a folder.")
    if output.exists() and any(output.iterdir()) and not (output / _MARK).exists():
        raise UsageError(f"{output} holds other files: name a new folder, or an explorer's.")


def _asked(
    names: Sequence[str], on_progress: Callable[[float], None] | None
) -> tuple[dict[str, _Packed], Distances]:
    """What every dialect answers, and how far apart they are. A process for each core asks."""
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        far = pool.submit(_distances, list(names))
        # Those with many dtypes take longest, and come first.
        ordered = sorted(names, key=lambda name: -len(dialect_named(name).dtypes))
        asked: dict[Future[_Packed], str] = {pool.submit(_packed_file, n): n for n in ordered}
        for done, future in enumerate(as_completed(asked), 1):
            future.result()
            if on_progress:
                on_progress(done)
        found = {dialect_named(asked[future]).name: future.result() for future in asked}
        return {dialect_named(n).name: found[dialect_named(n).name] for n in names}, far.result()


def _packed_file(name: str) -> _Packed:
    return packed_dialect(dialect_named(name))


def _distances(names: list[str]) -> Distances:
    return distances(names, lambda question: None)


def _map(found: Distances) -> dict[str, Any]:
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
