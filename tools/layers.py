"""Writes recordings as layers: `python tools/layers.py FOLDER`.

FOLDER holds what conformance/record_releases.py recorded, a file for each release. A release is
stored as the cells in which it differs from the next one towards the release that the rules were
written for: that of the cell files in conformance/cells, or of a recording in FOLDER under the
same name, which is preferred, as a few answers depend on the processor. What lies between them and
is not in FOLDER is taken from the layers that are there.

    python tools/layers.py --mode torch:cuda torch CUDA.tsv.gz CPU.tsv.gz \
        --source "torch 2.11.0 on CUDA"

lays a device over a dialect: the cells in which its recording differs from one of the same release
without it.

    python tools/layers.py --through torch:meta torch META.json

does so with what `castwise verify torch --through meta --json` found.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import castwise
from castwise.catalog import (
    INDEX,
    Layer,
    LayerCell,
    dialect_named,
    dialects,
    layer_file,
    read_index,
)
from castwise.conformance.recorder import Header
from castwise.conformance.transformations import FAILED
from castwise.rules.dialect import Dialect
from castwise.vocab.notation import NO_KERNEL, REFUSED
from cell_files import read_cells, write_packed

Key = tuple[str, str, str]  # op, form, operands
_ARRAY = re.compile(r"(?<![\w.])([a-z]\w*)\*?(?:=[^\[;]+)?\[")  # not np.uint16[3]
_OUTPUT = Path(castwise.__file__).parent / "frameworks" / "layers"
_HEADER = "# name\tbelow\trecorded from\tcells\tlacks\thas\tsource"


class Recording(NamedTuple):
    """What was recorded under a name."""

    name: str
    header: Header
    answers: dict[Key, str]
    inherited: Mapping[Key, str] = {}  # what the recordings below it answer

    @property
    def release(self) -> str:
        """The release that was recorded, or the version of the standard that it implements."""
        return self.header.get("standard") or self.header["version"]

    @property
    def source(self) -> str:
        """What was recorded, in words."""
        standard = self.header.get("standard")
        implemented = f", standard {standard}" if standard else ""
        return f"{self.header['framework']} {self.header['version']}{implemented}"

    @property
    def numbers(self) -> tuple[int, ...]:
        return _numbers(self.release)

    @property
    def ops(self) -> set[str]:
        return {op for op, _, _ in self.answers}

    @property
    def asked(self) -> set[str]:
        """The ops that were asked about, where that is not all."""
        return set(self.header.get("ops", "").split())

    @property
    def unasked(self) -> set[str]:
        return set(self.header.get("unasked", "").split())

    @property
    def dtypes(self) -> set[str]:
        return {name for _, _, operands in self.answers for name in _ARRAY.findall(operands)}


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", release)))


def read_recording(name: str, path: Path) -> Recording:
    """A recording, from a file of cells."""
    header, cells = read_cells(path)
    return Recording(name, header, {(c.op, c.form, ";".join(c.operands)): c.answer for c in cells})


class Stored(NamedTuple):
    """The layers of a folder, and the cells that they lie over."""

    folder: Path
    cells: Path

    @property
    def layers(self) -> dict[str, Layer]:
        index = self.folder / INDEX
        return read_index(index.read_text(encoding="utf-8")) if index.exists() else {}

    def recording(self, name: str) -> Recording:
        """What a dialect was recorded to answer: the cells, with the layers over them."""
        layer = self.layers.get(name)
        if layer is None:
            return read_recording(name, self.cells / f"{name}.tsv.gz")
        lacks = set(layer.lacks.split())
        answers = {
            (op, form, operands): answer
            for (op, form, operands), answer in self.recording(layer.below).answers.items()
            if op not in lacks and lacks.isdisjoint(_ARRAY.findall(operands))
        }
        if layer.cells:
            text = gzip.decompress((self.folder / layer_file(name)).read_bytes()).decode()
            for line in text.splitlines():
                cell = LayerCell(*line.split("\t"))
                answers[cell[:3]] = cell.answer
        return Recording(name, {"framework": layer.framework, "version": layer.recorded}, answers)

    def between(self, bottom: Recording, recorded: Sequence[Recording]) -> list[Recording]:
        """The releases between some recorded ones and that of the rules below them all."""
        known = {recording.name for recording in recorded}
        return [
            self.recording(name)
            for name, layer in self.layers.items()
            if name not in known
            and not layer.mode
            and _rules_for(layer.framework, layer.version).name == bottom.name
            and any(
                bottom.numbers < _numbers(layer.recorded) < one.numbers
                or bottom.numbers > _numbers(layer.recorded) > one.numbers
                for one in recorded
            )
        ]


def recorded_layer(
    found: Recording, below: Recording, rules: Dialect
) -> tuple[Layer, list[LayerCell]]:
    """The cells in which a recording differs from another, and what it does not have.

    An op without any answer is one that it does not have, if it was asked about: the header of a
    recording of some ops names them, and dtypes that were not asked about. A call that failed for
    another reason than dtypes is no answer.
    """
    known = {d.name for d in rules.dtypes}
    lacks = sorted((below.dtypes - found.dtypes - found.unasked) & known)
    has = sorted(found.dtypes - below.dtypes - known)
    lacks += sorted((found.asked & below.ops if found.asked else below.ops) - found.ops)
    source = f"{found.source} ({len(found.ops)} ops)" if found.asked else found.source
    cells = [
        LayerCell(*key, answer, below.answers.get(key, ""))
        for key, answer in found.answers.items()
        if _is_told(key, answer, below)
    ]
    words = " ".join(lacks), " ".join(has)
    layer = Layer(found.name, below.name, found.release, len(cells), *words, source)
    return layer, sorted(cells)


def _is_told(key: Key, answer: str, below: Recording) -> bool:
    """Whether a layer must tell an answer: the dialect below would give another one. Where that was
    not asked, or gave no answer, what lies further below answers for it."""
    if key in below.answers:
        return _differ(answer, below.answers[key])
    return answer != below.inherited.get(key) and _differ(answer, "")


def _differ(answer: str, below: str) -> bool:
    """Whether two answers differ. A missing kernel of which the dtype is not told says no more than
    a refusal, or than no answer."""
    is_untold = answer == NO_KERNEL and (not below or below.startswith(REFUSED))
    return answer != below and not is_untold


def chained(
    bottom: Recording, others: Sequence[Recording]
) -> Iterator[tuple[Recording, Recording]]:
    """Each recording with the one below it, towards the bottom: the next newer or older one."""
    older = sorted((r for r in others if r.numbers < bottom.numbers), key=lambda r: r.numbers)
    newer = sorted((r for r in others if r.numbers > bottom.numbers), key=lambda r: r.numbers)
    for line in (older[::-1], newer):
        below = bottom
        for found in line:
            yield found, below
            below = found._replace(inherited={**below.inherited, **below.answers})


def write_layers(output: Path, made: Iterable[tuple[Layer, list[LayerCell]]]) -> None:
    """Writes the files of layers, and their lines in the index."""
    index = output / INDEX
    lines = index.read_text(encoding="utf-8").splitlines()[1:] if index.exists() else []
    rows = {line.partition("\t")[0]: line for line in lines}
    for layer, cells in made:
        rows.pop(layer.name, None)  # one that is written anew comes last, after what it stands on
        rows[layer.name] = "\t".join(map(str, layer))
        path = output / layer_file(layer.name)
        path.unlink(missing_ok=True)
        if cells:
            write_packed(path, "".join("\t".join(cell) + "\n" for cell in cells))
    index.write_text("\n".join([_HEADER, *rows.values(), ""]), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads recordings and writes their layers."""
    parser = argparse.ArgumentParser(
        prog="python tools/layers.py", description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )  # fmt: skip
    parser.add_argument("recordings", type=Path, metavar="FOLDER", nargs="?")
    parser.add_argument("--mode", nargs=4, metavar=("NAME", "BELOW", "RECORDED", "BESIDE"))
    parser.add_argument("--through", nargs=3, metavar=("NAME", "BELOW", "JSON"))
    parser.add_argument("--source", help="what was recorded, in words")
    parser.add_argument("--cells", type=Path, default=Path("conformance/cells"))
    parser.add_argument("-o", "--output", type=Path, default=_OUTPUT)
    chosen = parser.parse_args(arguments)
    if chosen.mode:
        name, below, recorded, beside = chosen.mode
        made = _mode_layer(name, below, recorded, beside, chosen.source)
        write_layers(chosen.output, [made])
    if chosen.through:
        name, below, answers = chosen.through
        made = _transformation_layer(name, below, answers, chosen.source)
        write_layers(chosen.output, [made])
    if chosen.recordings is None:
        return
    files = {path.name.removesuffix(".tsv.gz"): path for path in chosen.recordings.glob("*@*.gz")}
    stored = Stored(chosen.output, chosen.cells)
    for name, layer in stored.layers.items():
        if layer.below in files and name not in files and not layer.mode:
            parser.error(f"{name} lies over {layer.below}: record it, too.")
    for bottom, names in _by_bottom(files).items():
        rules = dialect_named(bottom)
        path = files.get(_release(rules), chosen.cells / f"{bottom}.tsv.gz")
        others = [read_recording(name, files[name]) for name in names]
        below = read_recording(bottom, path)
        pairs = chained(below, [*others, *stored.between(below, others)])
        layered = (recorded_layer(*pair, rules) for pair in pairs if pair[0].name in files)
        write_layers(chosen.output, layered)


def _mode_layer(
    name: str, below: str, recorded: str, beside: str, source: str | None
) -> tuple[Layer, list[LayerCell]]:
    """The layer of a device or a compiler."""
    other = read_recording(below, Path(beside))
    layer, cells = recorded_layer(read_recording(name, Path(recorded)), other, dialect_named(below))
    return layer._replace(source=source or layer.source), cells


def _transformation_layer(
    name: str, below: str, path: str, source: str | None
) -> tuple[Layer, list[LayerCell]]:
    """The layer of a compiler, an exporter or a tracer. What fails inside it is refused; a result
    without a dtype is no answer."""
    found = json.loads(Path(path).read_text(encoding="utf-8"))
    cells = []
    for each in found["differences"]:
        if each["through"] != FAILED:
            answer = REFUSED if each["through"].startswith(FAILED) else each["through"]
            asked = each["op"], each["form"], ";".join(each["operands"])
            cells.append(LayerCell(*asked, answer, each["framework"]))
    version = found["installed"]["version"]
    source = source or f"{found['framework']} {version} through {found['through']}"
    told = sorted(cell for cell in cells if _differ(cell.answer, cell.below))
    return Layer(name, below, version, len(told), "", "", source), told


def _by_bottom(names: Iterable[str]) -> Mapping[str, list[str]]:
    """The releases by the dialect whose rules they are laid over."""
    found: dict[str, list[str]] = {}
    for name in names:
        rules = _rules_for(*name.split("@"))
        if _release(rules) != name:
            found.setdefault(rules.name, []).append(name)
    return found


def _rules_for(framework: str, version: str) -> Dialect:
    """The rules of the same first number, if there are any; otherwise the newest."""
    known = [dialect_named(name) for name in dialects() if name.partition("@")[0] == framework]
    major = version.partition(".")[0]
    return next((d for d in known if d.version.partition(".")[0] == major), known[0])


def _release(rules: Dialect) -> str:
    return f"{rules.framework}@{rules.naming.recorded or rules.version}"


if __name__ == "__main__":
    main()
