"""Cell files: what their first line says, and how they are written and read again."""

from __future__ import annotations

import functools
import gzip
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from castwise.conformance.recorder import Cell, Header, Recorder, ValueRecorder
from castwise.rules.values import architecture


def header(recorder: Recorder | ValueRecorder) -> Header:
    """The first line of a cell file: what was asked, and where."""
    return {"dialect": recorder.dialect, "framework": recorder.name, **recorder.versions()}


def value_header(recorder: ValueRecorder) -> Header:
    """The first line of a file of values, which depend on the processor, too."""
    return {**header(recorder), "machine": architecture()}


def header_of_both(before: Header, now: Header) -> Header | None:
    """The header of cells of two recordings; None where they are of different versions.

    The last number of Python's makes no difference to a framework, so both are named. Not every
    machine that can run an old framework has the same one.

    >>> header_of_both({"version": "2", "python": "3.10.13"}, {"version": "2", "python": "3.10.9"})
    {'version': '2', 'python': '3.10.9 3.10.13'}
    """
    pythons = {*before.get("python", "").split(), *now.get("python", "").split()}
    if len({python.rpartition(".")[0] for python in pythons}) > 1:
        return None
    listed = " ".join(sorted(pythons, key=lambda python: int(python.rpartition(".")[2])))
    joint = {**now, "python": listed} if pythons else now
    return joint if {**before, "python": listed} == {**now, "python": listed} else None


def write_cells(path: Path, header: Header, recorded: Iterable[Cell]) -> None:
    """Writes a cell file; equal cells give equal bytes."""
    lines = [f"# {json.dumps(header)}"]
    lines += sorted("\t".join((c.op, c.form, ";".join(c.operands), c.answer)) for c in recorded)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_packed(path, "".join(f"{line}\n" for line in lines))


def write_packed(path: Path, text: str) -> None:
    """Writes a compressed file; equal text gives equal bytes."""
    # The name and the time, which gzip would store, are left out.
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode())


def read_cells(path: Path) -> tuple[Header, list[Cell]]:
    """The header and the cells of a cell file.

    There are hundreds of thousands of cells, and few words in them: each is held once.
    """
    word, operands = sys.intern, functools.cache(lambda text: tuple(map(word, text.split(";"))))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        first = json.loads(file.readline().removeprefix("# "))
        rows = (line.rstrip("\n").split("\t") for line in file)
        recorded = [
            Cell(word(op), word(form), operands(ops), word(answer))
            for op, form, ops, answer in rows
        ]
    return first, recorded
