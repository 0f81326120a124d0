"""Which ops were recorded of which framework: `python -m castwise.conformance.index DIR -o FILE`.

The rules read the list, so that no dialect has to name the ops its framework lacks.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from castwise.conformance.recorder import read_header, read_ops
from castwise.vocab.ops import OPS


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads a folder of cell files and writes the list."""
    parser = argparse.ArgumentParser(
        prog="python -m castwise.conformance.index", description=__doc__
    )
    parser.add_argument("cells", type=Path, help="the folder of the cell files")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    write_index(chosen.cells, chosen.output)


def write_index(cells: Path, output: Path) -> None:
    """Writes the list of a folder of cell files."""
    files = sorted(cells.glob("*.tsv.gz"))
    recorded = ((read_header(file)["dialect"], read_ops(file)) for file in files)
    output.write_text(index_of(recorded), encoding="utf-8")


def index_of(recorded: Iterable[tuple[str, set[str]]]) -> str:
    """A line for each op, in the order of the vocabulary: its name and the frameworks.

    >>> index_of([("numpy@1", {"add"}), ("torch", {"add", "sub"})]).splitlines()[:2]
    ['add\\tnumpy torch', 'sub\\ttorch']
    """
    frameworks: dict[str, set[str]] = {op: set() for op in OPS}
    for dialect, ops in recorded:
        for op in ops & frameworks.keys():
            frameworks[op].add(dialect.partition(":")[0].partition("@")[0])
    return "".join(f"{op}\t{' '.join(sorted(found))}\n" for op, found in frameworks.items())


if __name__ == "__main__":
    main()
