"""How much was recorded of what: `python tools/index.py DIR -o FILE`.

The rules read the list, so that no dialect has to name the ops its framework lacks.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

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
    output.write_text(index_text(map(_counted, files)), encoding="utf-8")


def _counted(path: Path) -> tuple[str, Counter[str]]:
    """The dialect of a cell file, and how many cells it has of each op."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        header = json.loads(next(file).removeprefix("# "))
        return header["dialect"], Counter(line.partition("\t")[0] for line in file)


def index_text(recorded: Iterable[tuple[str, Counter[str]]]) -> str:
    """A line for each dialect: its name, and the cells of each op, in the vocabulary's order.

    >>> index_text([("torch", Counter(sub=2, add=3))])
    'torch\\tadd:3 sub:2\\n'
    """
    return "".join(
        f"{dialect}\t{' '.join(f'{op}:{counts[op]}' for op in OPS if counts[op])}\n"
        for dialect, counts in recorded
    )


if __name__ == "__main__":
    main()
