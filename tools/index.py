"""How much was recorded of what: `python tools/index.py DIR -o FILE`.

The rules read the list, so that no dialect has to name the ops its framework lacks.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from castwise.conformance.recorder import read_counts, read_header
from castwise.vocab.ops import OPS


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads a folder of cell files and writes the list."""
    parser = argparse.ArgumentParser(prog="python tools/index.py", description=__doc__)
    parser.add_argument("cells", type=Path, help="the folder of the cell files")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    write_index(chosen.cells, chosen.output)


def write_index(cells: Path, output: Path) -> None:
    """Writes the list of a folder of cell files."""
    files = sorted(cells.glob("*.tsv.gz"))
    recorded = ((read_header(file)["dialect"], read_counts(file)) for file in files)
    output.write_text(index_of(recorded), encoding="utf-8")


def index_of(recorded: Iterable[tuple[str, Counter[str]]]) -> str:
    """A line for each dialect: its name, and the cells of each op, in the vocabulary's order.

    >>> index_of([("torch", Counter(sub=2, add=3))])
    'torch\\tadd:3 sub:2\\n'
    """
    return "".join(
        f"{dialect}\t{' '.join(f'{op}:{counts[op]}' for op in OPS if counts[op])}\n"
        for dialect, counts in recorded
    )


if __name__ == "__main__":
    main()
