"""Recorded answers laid over a dialect's rules: of another release, a device or a compiler.

A layer is a file of the cells in which what was recorded differs from the dialect below it. An
index lists the layers. Nothing here decides: the engine reads the cells.
"""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any, NamedTuple

from castwise.errors import UsageError
from castwise.rules.dialect import Dialect, shared

FOLDER = "castwise.frameworks"
INDEX = "index.tsv"


class Layer(NamedTuple):
    """What the index says of a layer."""

    name: str  # the dialect that it makes: a release such as @2.8, or a mode
    below: str  # the dialect that it differs from, which may have layers itself
    recorded: str  # the release it was recorded from: "2.8.0"
    cells: int  # in how many cells they differ
    lacks: str  # dtypes and ops that the dialect below has and it has not
    has: str  # dtypes that it has, and neither the dialect below nor the rules
    source: str  # what was recorded, in words

    @property
    def framework(self) -> str:
        return self.name.partition(":")[0].partition("@")[0]

    @property
    def version(self) -> str:
        """The version in the name, "" where it is that of the dialect below."""
        return self.name.partition(":")[0].partition("@")[2]

    @property
    def mode(self) -> str:
        return self.name.partition(":")[2]


class LayerCell(NamedTuple):
    """A question whose answer differs; "" is no answer."""

    op: str
    form: str
    operands: str  # with semicolons between them
    answer: str
    below: str  # the answer of the dialect below


@functools.lru_cache(maxsize=1)
def layers() -> dict[str, Layer]:
    """All layers, by the names of the dialects that they make."""
    return read_index(_folder().joinpath(INDEX).read_text(encoding="utf-8"))


def read_index(text: str) -> dict[str, Layer]:
    """The layers that an index lists, by name."""
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return {
        name: Layer(name, below, recorded, int(cells), lacks, has, source)
        for name, below, recorded, cells, lacks, has, source in rows
    }


@functools.lru_cache(maxsize=8)
def layer_lines(name: str) -> dict[str, list[str]]:
    """The lines of a layer, by op. They are not parsed: there are many, and few are asked for."""
    found: dict[str, list[str]] = {}
    if not layers()[name].cells:
        return found  # it has no file
    text = gzip.decompress(_folder().joinpath(layer_file(name)).read_bytes()).decode()
    for line in text.splitlines():
        found.setdefault(line.partition("\t")[0], []).append(line)
    return found


def layer_file(name: str) -> str:
    """The file of a layer; not every system has files with a colon in their name."""
    return f"{re.sub('[:,=]', '-', name)}.tsv.gz"


def layer_cells(name: str, op: str) -> list[LayerCell]:
    """The cells of an op in a layer."""
    return [LayerCell(*line.split("\t")) for line in layer_lines(name).get(op, ())]


def laid_over(rules: Dialect, layer: Layer, below: Dialect) -> Dialect:
    """The dialect that a layer makes of the one below it; `rules` are those at the bottom."""
    version = layer.version or rules.version
    said = below.name if layer.mode else f"{below.framework} {_version(below)}"
    amount = f"{layer.cells:,} recorded answers differ" if layer.cells else "no answer differs"
    evidence = replace(
        rules.evidence,
        source=f"recorded from {layer.source}",
        layers=(layer.name, *below.evidence.layers),
        lacks=" ".join(dict.fromkeys(f"{below.evidence.lacks} {layer.lacks}".split())),
        has=" ".join(f"{below.evidence.has} {layer.has}".split()),
    )
    naming = replace(
        rules.naming, is_newest=not layer.version, recorded=layer.recorded, last="", release=""
    )
    made = rules.vary(
        version=version,
        mode=layer.mode,
        naming=naming,
        evidence=evidence,
        about=f"{_titled(rules, layer)}: {amount} from {said}.",
    )
    return shared(made)


@functools.lru_cache(maxsize=256)
def without_layers(dialect: Dialect) -> Dialect:
    """The rules below the layers of a dialect, under its name."""
    evidence = replace(dialect.evidence, layers=(), lacks="", has="")
    return shared(replace(dialect, evidence=evidence))


def _titled(rules: Dialect, layer: Layer) -> str:
    title = rules.about.partition(":")[0].partition(" in ")[0]
    return f"{title.partition(' ')[0]} {layer.version or layer.mode}"


def _version(dialect: Dialect) -> str:
    return dialect.naming.recorded or dialect.version


def _folder() -> Any:
    return resources.files(FOLDER).joinpath("layers")


# Versions: which recorded one answers for a version that a user names or has installed.

# A release such as 2.13, 2.13.0+cpu or 2.5.0rc1: what follows the numbers does not count.
_RELEASE = re.compile(
    r"(\d{1,9}(?:\.\d{1,9})*)(?:[._-]?(?:a|b|rc|alpha|beta|dev|post)\d*)*(?:\+[\w.-]*)?", re.ASCII
)


class Nearest(NamedTuple):
    """The recorded dialect that answers for a version, and a sentence where it is another one."""

    dialect: Dialect
    note: str = ""


def nearest_version(known: Sequence[Dialect], asked: str, version: str) -> Nearest:
    """The dialect among those of one framework and mode that is recorded from a version, or from
    the nearest one. `asked` is what messages call it: "torch@2.14".

    A release counts by its first two numbers, and by the third where several with the same two are
    recorded. A name of two numbers, such as torch@2.1, may also be that of a dialect from another
    source: it answers for that name alone where a release of these numbers is recorded. Between two
    recorded ones, the one with the same first number is the nearest, then the one with the closer
    second number. An old dialect answers for no release after its last.

    Raises UsageError for text that is no version, or where the dialect has no versions.
    """
    match = _RELEASE.fullmatch(version)
    recorded = {_numbers(_recorded(d)): d for d in known if d.version or d.naming.recorded}
    recorded |= {_numbers(d.naming.release): d for d in known if d.naming.release}
    names = " or ".join(d.name for d in known)
    if not match:
        raise UsageError(f"{asked[:80]!r} names no version: write numbers, as in {_example(known)}")
    if not recorded:
        raise UsageError(f"{names} is no release of a framework: leave out @{version[:40]}.")
    wanted = _numbers(match[1])
    if wanted in recorded:
        return Nearest(recorded[wanted])
    recorded = {numbers: d for numbers, d in recorded.items() if not _is_in(numbers, recorded)}
    exact = [numbers for numbers in recorded if numbers[: len(wanted[:2])] == wanted[:2]]
    if exact and len(wanted) < 3:  # of 2 alone, the dialect with that name comes first
        return Nearest(recorded[exact[0] if len(wanted) == 1 else max(exact)])
    if exact:
        patch = min(exact, key=lambda numbers: abs(_patch(numbers) - _patch(wanted)))
        found = recorded[patch]
        if len(exact) == 1 or patch == wanted:
            return Nearest(found)
    else:
        speaking = [numbers for numbers, d in recorded.items() if _speaks_for(d, wanted)]
        found = recorded[_closest(wanted, sorted(speaking))]
    return Nearest(found, f"{asked} is not recorded: {_said(found)} answers, the nearest that is.")


def _numbers(version: str) -> tuple[int, ...]:
    """The first three numbers of a version."""
    return tuple([int(part) for part in version.split(".")[:3]])


def _is_in(numbers: tuple[int, ...], recorded: Iterable[tuple[int, ...]]) -> bool:
    """Whether two numbers begin a release of three."""
    return any(len(numbers) == 2 < len(each) and each[:2] == numbers for each in recorded)


def _patch(numbers: tuple[int, ...]) -> int:
    return numbers[2] if len(numbers) > 2 else 0


def _speaks_for(dialect: Dialect, wanted: tuple[int, ...]) -> bool:
    return not dialect.naming.last or wanted[:2] <= _numbers(dialect.naming.last)


def _recorded(dialect: Dialect) -> str:
    return dialect.naming.recorded or dialect.version


def _closest(wanted: tuple[int, ...], known: list[tuple[int, ...]]) -> tuple[int, ...]:
    below = [numbers for numbers in known if numbers < wanted][-1:]
    above = [numbers for numbers in known if numbers > wanted][:1]
    return min([*above, *below], key=lambda numbers: _distance(wanted, numbers))


def _distance(wanted: tuple[int, ...], numbers: tuple[int, ...]) -> tuple[int, int]:
    major = abs(wanted[0] - numbers[0])
    minors = [*wanted[1:2], 0][0], [*numbers[1:2], 0][0]
    return major, 0 if major else abs(minors[0] - minors[1])


def _said(dialect: Dialect) -> str:
    """The recorded version as a name that can be written: numpy@2, recorded from 2.4."""
    mode = f":{dialect.mode}" if dialect.mode else ""
    named = f"{dialect.framework}@{dialect.version}{mode}" if dialect.version else dialect.name
    recorded = dialect.naming.recorded
    return f"{named} (recorded from {recorded})" if recorded else named


def _example(known: Sequence[Dialect]) -> str:
    versions = [f"{d.framework}@{_recorded(d)}" for d in known if _recorded(d)]
    return f"{' or '.join(versions[:3])}." if versions else f"{known[0].name}."
