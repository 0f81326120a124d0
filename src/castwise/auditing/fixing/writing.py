"""Writes fixes into the files of a program."""

from __future__ import annotations

import ast
import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from castwise.auditing.fixing.applying import edits_of
from castwise.auditing.records.findings import Fix
from castwise.auditing.records.seen import Seen
from castwise.auditing.rewriting.source import digest_of
from castwise.auditing.rewriting.trying import edited_file


class Patch(NamedTuple):
    """A file and what it becomes."""

    file: str
    fixes: tuple[Fix, ...]
    before: bytes
    after: bytes


class Unpatched(NamedTuple):
    """A file that is left as it is, and why."""

    file: str
    why: str


def patches(fixes: Sequence[Fix], seen: Seen) -> tuple[list[Patch], list[Unpatched]]:
    """The files with the fixes, and those that cannot be changed."""
    made: list[Patch] = []
    refused: list[Unpatched] = []
    for file, edits in sorted(edits_of(fixes).items()):
        of_file = tuple(fix for fix in fixes if fix.place.file == file)
        try:
            before = Path(file).read_bytes()
        except OSError as error:
            refused.append(Unpatched(file, f"it cannot be read: {error.strerror}"))
            continue
        if seen.digests.get(file) != digest_of(before):
            refused.append(Unpatched(file, "it has changed since the program read it"))
            continue
        after = edited_file(before, edits)
        if _is_valid(after):
            made.append(Patch(file, of_file, before, after))
        else:
            refused.append(Unpatched(file, "it would no longer be valid Python"))
    return made, refused


def _is_valid(source: bytes) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def write(made: Iterable[Patch]) -> tuple[list[Patch], list[Unpatched]]:
    """Writes files, each as a whole or not at all; those written, and those that could not be."""
    written: list[Patch] = []
    refused: list[Unpatched] = []
    for patch in made:
        try:
            _replace(Path(os.path.realpath(patch.file)), patch.after)
        except OSError as error:
            refused.append(Unpatched(patch.file, f"it cannot be written: {error.strerror}"))
        else:
            written.append(patch)
    return written, refused


def _replace(file: Path, content: bytes) -> None:
    number, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(number, "wb") as new:
            new.write(content)
        shutil.copymode(file, name)
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
