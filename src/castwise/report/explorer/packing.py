"""The answers of a dialect as the page reads them: tables of numbers, packed and compressed."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from array import array
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from castwise.report.explorer.asking import Answers
from castwise.report.explorer.classes import Classes, classes_of
from castwise.report.explorer.groups import Asked, alike, every_asked
from castwise.report.explorer.kinds import COMMON_DTYPES, every_value, real_of
from castwise.report.explorer.tables import PLAIN, Tables
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import real_class


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

    A row: its steps, its result, flags, what it computes in, the cast of the result, and a cast for
    each operand. A cast counts from 1 on, 0 is none. An answer that makes no sense has the sentence
    that says so for steps.
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
    """The intervals whose values no common dtype tells from the plain number. Of bools it is True
    alone: two that differ would be written alike."""
    common = [of.numbers for d, of in classes.items() if d in COMMON_DTYPES]
    return {
        kind: [
            place
            for place, value in every_value(kind).items()
            if value is not False
            and all(of[kind][place] == of[kind][real_class(real_of(plain[0]))] for of in common)
        ]
        for kind, plain in PLAIN.items()
    }
