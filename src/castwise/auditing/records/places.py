"""Places in the user's source, and the operations there."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple, TypeAlias

Literal: TypeAlias = "bool | int | float | complex | None"


@dataclass(frozen=True, order=True, slots=True)
class SourcePlace:
    """A piece of source. Lines count from 1, columns too."""

    file: str
    line: int
    column: int
    end_line: int = field(compare=False)
    end_column: int = field(compare=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def brief(self) -> str:
        """The place without the folders of its file."""
        return f"{PurePath(self.file).name}:{self.line}"


class CodeSpot(NamedTuple):
    """A piece of source with columns from 0, as in Python's code objects."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def place(self) -> SourcePlace:
        """The piece of source it is."""
        return SourcePlace(
            self.file, self.line, self.column + 1, self.end_line, self.end_column + 1
        )


class Site(NamedTuple):
    """One operation in a source file. A tuple of plain values, because caches store it as one."""

    line: int
    column: int  # from 0, in characters of UTF-8, as the syntax tree counts
    end_line: int
    end_column: int
    kind: str  # "operator", "augmented", "write", "item", "call", or "line": only its line is known
    name: str  # the operator's symbol, or the callee's source text
    literals: tuple[Literal, ...]  # the literal numbers among the operands, None for the others
    arguments: int = 0  # how many arguments of a call are observed


class Unobserved(NamedTuple):
    """A function that is left unchanged, because another compiler reads it."""

    line: int
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class LocatedSite:
    """A site and its file."""

    file: str
    site: Site

    @property
    def line(self) -> int:
        """The line it starts on."""
        return self.site.line

    @property
    def place(self) -> SourcePlace:
        """The piece of source it is."""
        return CodeSpot(self.file, *self.site[:4]).place


class UnobservedFunction(NamedTuple):
    """A function that is not observed, and its file."""

    file: str
    line: int
    name: str
    why: str


class SourceEdit(NamedTuple):
    """New text for a piece of a source file. Lines and columns count from 1."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str
