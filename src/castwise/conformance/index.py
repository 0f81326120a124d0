"""Which ops were recorded of which framework: `python -m castwise.conformance.index DIR -o FILE`.

The rules read the list, so that no dialect has to name the ops its framework lacks.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from castwise.conformance.recorder import read_cells
from castwise.vocab.ops import OPS


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads a folder of cell files and writes the list."""
    parser = argparse.ArgumentParser(
        prog="python -m castwise.conformance.index", description=__doc__
    )
    parser.add_argument("cells", type=Path, help="the folder of the cell files")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    chosen.output.write_text(index_of(sorted(chosen.cells.glob("*.tsv.gz"))), encoding="utf-8")


def index_of(paths: Iterable[Path]) -> str:
    """A line for each op, in the order of the vocabulary: its name and the frameworks."""
    frameworks: dict[str, set[str]] = {op: set() for op in OPS}
    for path in paths:
        first, cells = read_cells(path)
        framework = first["dialect"].partition(":")[0].partition("@")[0]
        for op in {cell.op for cell in cells} & frameworks.keys():
            frameworks[op].add(framework)
    return "".join(f"{op}\t{' '.join(sorted(found))}\n" for op, found in frameworks.items())


if __name__ == "__main__":
    main()
