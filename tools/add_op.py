"""Records a new op of every framework installed here: `python tools/add_op.py OP`.

Run it in a checkout. The answers are added to the cell files, and the list of
recorded ops is brought up to date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from castwise.conformance.recorder import Recorder, cells
from castwise.conformance.recorders import find_recorder, frameworks, recorded_dialects
from castwise.rules.dialect import RECORDED_CELLS
from castwise.vocab.ops import OPS
from cell_files import header, write_cells
from index import write_index
from record import Limits, added


def main(arguments: Sequence[str] | None = None) -> int:
    """Records the ops and says of each cell file what became of it; 1 where nothing was."""
    parser = argparse.ArgumentParser(prog="python tools/add_op.py", description=__doc__)
    parser.add_argument("op", nargs="+", choices=sorted(OPS), metavar="OP")
    parser.add_argument("--cells", type=Path, default=Path("conformance/cells"), metavar="DIR")
    parser.add_argument("--index", type=Path, default=RECORDED_CELLS, metavar="FILE")
    chosen = parser.parse_args(arguments)
    if not chosen.cells.is_dir():
        parser.error(f"there is no folder {chosen.cells}: run this in a checkout of castwise.")
    count = 0
    for recorder in _installed():
        path = chosen.cells / cell_file_name(recorder.dialect)
        if path.exists():
            asked = record_into(path, recorder, chosen.op)
            count += asked
            sys.stderr.write(f"{path.name}: {asked} cells\n")
    write_index(chosen.cells, chosen.index)
    return int(count == 0)


def cell_file_name(dialect: str) -> str:
    """The name of a dialect's cell file.

    >>> cell_file_name("torch:default_float=float64")
    'torch-default_float-float64.tsv.gz'
    """
    return f"{dialect.replace(':', '-').replace('=', '-')}.tsv.gz"


def record_into(path: Path, recorder: Recorder, ops: list[str]) -> int:
    """Adds the answers for some ops to a cell file, and reports how many cells they are.

    A file recorded from other versions is left unchanged, with a message.
    """
    own = [op for op in ops if op in recorder.scope.forms]
    recorded = list(cells(recorder, own))
    if not recorded:
        return 0
    try:
        both, together = added(path, header(recorder), recorded, Limits(own))
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 0
    write_cells(path, both, together)
    return len(recorded)


def _installed() -> Iterator[Recorder]:
    """The recorder of each framework that is installed, in each of its modes that can be asked
    here: some need a device."""
    for framework in frameworks():
        modes = dict.fromkeys(d.partition(":")[2] for d in recorded_dialects(framework))
        for mode in modes:
            try:
                yield find_recorder(framework, mode)
            except ImportError:
                sys.stderr.write(f"{framework}: not installed\n")
                break
            except ValueError as error:
                sys.stderr.write(f"{framework}:{mode}: {error}\n")


if __name__ == "__main__":
    sys.exit(main())
