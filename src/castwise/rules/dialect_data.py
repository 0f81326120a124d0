"""The fields of a dialect: a framework's promotion rules at a version, in a mode."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from castwise.errors import UsageError
from castwise.rules.dialect_parts import Assigns, Becomes, Evidence, Joining, Naming
from castwise.rules.rule import Rule
from castwise.rules.values import Values
from castwise.vocab.dtypes import DType, dtypes_of


class _Referable:
    """Allows weak references; dataclasses have no option for it before Python 3.11."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DialectData(_Referable):
    """All fields of a framework's rules. `Dialect` adds how they are varied."""

    framework: str
    version: str = ""
    mode: str = ""
    naming: Naming = field(default_factory=Naming)
    about: str
    evidence: Evidence
    # The join takes the first of these that every operand reaches. `int*` is the node of weakly
    # typed integers, `int32*` that of the weak int32 only.
    order: str
    reaches: str  # "a b -> c d": edges, closed over; "a => b": a reaches b and nothing beyond it
    joining: Joining = field(default_factory=Joining)
    # The dtype of a Python bool, int, float, complex on its own; a kind it leaves out is refused.
    # A "wide int" is one beyond the dtype of an int: by default uint64 where that is int64. A
    # "wrapped float" or "wrapped complex" is the dtype one has before anything is promoted.
    python: Mapping[str, str]
    becomes: Becomes = field(default_factory=Becomes)
    ops: Mapping[str, Rule]  # "*" or "name name/form": Rule(...)
    # "*" or "name name/form" -> dtypes the CPU lacks
    no_kernel: Mapping[str, str] = field(default_factory=dict)
    casts: str  # its can_cast: one of OUTPUTS, or that of another: "as numpy"
    assigns: Assigns = field(default_factory=Assigns)
    values: Values = field(default_factory=Values)

    @property
    def name(self) -> str:
        version = "" if self.naming.is_newest else f"@{self.version}"
        return f"{self.framework}{version}{':' if self.mode else ''}{self.mode}"

    @property
    def nodes(self) -> tuple[DType, ...]:
        """Its dtypes and the nodes of its weakly typed operands, in its own order."""
        return dtypes_of(self.order)

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """The dtypes it has, in its own order."""
        lacks = self.evidence.lacks.split()
        known = [node for node in self.nodes if not node.is_weak and node.name not in lacks]
        return (*known, *dtypes_of(self.evidence.has))

    @property
    def casts_as(self) -> str:
        """The name of the dialect whose can_cast it has, "" where it has its own."""
        return self.casts.removeprefix("as ") if self.casts.startswith("as ") else ""

    @property
    def has_weak_arrays(self) -> bool:
        return self.joining.weak_arrays != "none"

    @property
    def truncations(self) -> dict[DType, DType]:
        """The dtypes that arrays of some dtypes really have."""
        return self.mapping(self.becomes.truncates)

    def mapping(self, text: str) -> dict[DType, DType]:
        """A mapping text such as "bool int8 -> default_int; uint8 -> uint64"."""
        for kind in ("int", "float", "complex"):
            text = text.replace(f"default_{kind}", self.python.get(kind, ""))
        return {source: target for source, target, _ in parse_edges(text, self.dtypes)}


@functools.lru_cache(maxsize=4096)
def parse_edges(text: str, dtypes: tuple[DType, ...]) -> tuple[tuple[DType, DType, bool], ...]:
    """The edges of a `reaches` text: from, to, and whether the reach goes on from there."""
    edges: list[tuple[DType, DType, bool]] = []
    for line in text.replace(";", "\n").splitlines():
        if not line.strip():
            continue
        arrow = "=>" if "=>" in line else "->"
        left, found, right = line.partition(arrow)
        if not found:
            raise UsageError(f"an edge is written 'int8 -> int16', not {line.strip()!r}.")
        for source in _members(left, dtypes):
            for target in _members(right, dtypes):
                edges.append((source, target, arrow == "->"))
    return tuple(edges)


def _members(words: str, dtypes: tuple[DType, ...]) -> list[DType]:
    """The dtypes that a list of kinds and names means, only those of the dialect."""
    named = dtypes_of(words)
    return [d for d in named if d in dtypes or d.name in words.split()]
