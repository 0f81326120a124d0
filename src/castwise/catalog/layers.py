"""Recorded answers laid over a dialect's rules: of another release, a device or a compiler.

A layer is a file of the cells in which what was recorded differs from the dialect below it. An
index lists the layers. Nothing here decides: the engine reads the cells.
"""

from __future__ import annotations

import functools
import gzip
import re
from dataclasses import replace
from importlib import resources
from typing import Any, NamedTuple

from castwise.rules.dialect import Dialect, shared

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
    framework = rules.about.partition(":")[0].partition(" in ")[0].partition(" ")[0]
    title = f"{framework} {layer.version or layer.mode}"
    below_title = below.name if layer.mode else f"{below.framework} {recorded_version(below)}"
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
        about=f"{title}: {amount} from {below_title}.",
    )
    return shared(made)


@functools.lru_cache(maxsize=256)
def without_layers(dialect: Dialect) -> Dialect:
    """The rules below the layers of a dialect, under its name."""
    evidence = replace(dialect.evidence, layers=(), lacks="", has="")
    return shared(replace(dialect, evidence=evidence))


def recorded_version(dialect: Dialect) -> str:
    """The release that a dialect was recorded from, or its version where none is named."""
    return dialect.naming.recorded or dialect.version


def _folder() -> Any:
    return resources.files("castwise.frameworks").joinpath("layers")
