"""Records what an installed framework answers: `python -m castwise.conformance torch -o FILE`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from castwise.conformance.grid import OPS, Question
from castwise.conformance.recorder import (
    cells,
    count,
    find_recorder,
    frameworks,
    header,
    write_cells,
)

_EVERY = 1000  # questions between two updates of the progress line


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses the command line, asks, and writes the cell file."""
    parser = argparse.ArgumentParser(prog="python -m castwise.conformance", description=__doc__)
    parser.add_argument("framework", choices=frameworks())
    parser.add_argument("--mode", default="", help="such as default_float=float64 (torch)")
    parser.add_argument(
        "--op", action="append", choices=OPS, metavar="OP", help="only this op; may be repeated"
    )
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)

    try:
        recorder = find_recorder(chosen.framework, chosen.mode)
    except (ImportError, ValueError) as error:
        parser.error(str(error))
    total = count(recorder, chosen.op)
    recorded = list(cells(recorder, chosen.op, _progress(total)))
    write_cells(chosen.output, header(recorder), recorded)
    sys.stderr.write(f"{chosen.output}: {len(recorded)} cells of {total} questions\n")


def _progress(total: int) -> Callable[[Question], None] | None:
    """A line on the terminal that counts the questions; None where nobody would see it."""
    if not sys.stderr.isatty():
        return None
    asked = 0

    def show(question: Question) -> None:
        nonlocal asked
        asked += 1
        if asked % _EVERY == 0 or asked == total:
            end = "\n" if asked == total else ""
            sys.stderr.write(f"\r{asked / total:4.0%}  {asked} of {total}  {question.op:24}{end}")
            sys.stderr.flush()

    return show


if __name__ == "__main__":
    main()
