"""Where an operation stands in a source file, and the marks the rewritten source calls it by."""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple, TypeAlias

Literal: TypeAlias = "bool | int | float | complex | None"

SITES_A_FILE = 1 << 20


class Site(NamedTuple):
    """One operation in the source. Plain values alone, since caches and processes exchange it."""

    line: int
    column: int  # from 0, in characters of UTF-8, as the syntax tree counts
    end_line: int
    end_column: int
    kind: str  # "operator", "augmented" or "call"
    name: str  # the operator's symbol, or the callee as it is written
    literals: tuple[Literal, ...]  # the Python number written as an operand, None elsewhere
    arguments: int = 0  # how many arguments of a call are observed


class Unobserved(NamedTuple):
    """A function that is left as it is, since another compiler reads it."""

    line: int
    name: str
    why: str


def full_path(path: str) -> str:
    """A file's absolute path; what is no file, such as "<stdin>", has none."""
    return path if path.startswith("<") else os.path.abspath(path)


def first_mark(path: str) -> int:
    """The mark of a file's first site; those of different files do not meet."""
    digest = hashlib.sha1(path.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:5], "big") * SITES_A_FILE
