"""How many JSON lines a second `castwise resolve` answers.

    python benchmarks/json_lines.py [--lines 200000] [--json FILE]

The lines are drawn from the recorded cells: all dialects and ops, nearly all of them distinct.
Beside it stands how fast this machine is at that moment: the same lines through json.loads alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import time
from pathlib import Path

from castwise.conformance.recorder import Cell

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from cell_files import read_cells  # noqa: E402 -- beside what only we run

CELLS = ROOT / "conformance" / "cells"


def question_line(dialect: str, cell: Cell) -> str:
    """The question of a cell as a line."""
    operands = ["bool[3]", *cell.operands] if cell.op == "where" else list(cell.operands)
    is_inplace = cell.form == "inplace"
    question = {"dialect": dialect, "op": cell.op, "args": operands, "inplace": is_inplace}
    return json.dumps({**question, "form": "operator" if is_inplace else cell.form})


def mixed_lines(count: int) -> list[str]:
    """Lines of every recorded dialect, as many of each, shuffled."""
    paths = sorted(CELLS.glob("*.tsv.gz"))
    chosen = random.Random(0)
    lines = []
    for path in paths:
        header, cells = read_cells(path)
        asked = [c for c in cells if c.op != "can_cast" and "=" not in c.form]
        picked = chosen.choices(asked, k=count // len(paths) + 1)
        lines += [question_line(header["dialect"], cell) for cell in picked]
    chosen.shuffle(lines)
    return lines[:count]


def seconds_to_answer(text: bytes) -> float:
    start = time.perf_counter()
    command = [sys.executable, "-m", "castwise", "resolve"]
    subprocess.run(command, input=text, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def seconds_to_read(text: bytes) -> float:
    start = time.perf_counter()
    for line in text.splitlines():
        json.loads(line)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--json", type=Path, help="also write the figures to a file")
    arguments = parser.parse_args()
    text = "\n".join(mixed_lines(arguments.lines)).encode() + b"\n"
    answered = min(seconds_to_answer(text) for _ in range(3))
    read = min(seconds_to_read(text) for _ in range(3))
    rate, reading = arguments.lines / answered, arguments.lines / read
    print(f"castwise resolve  {rate:9,.0f} lines a second")
    print(f"json.loads alone  {reading:9,.0f} lines a second, {reading / rate:.1f} times as many")
    if arguments.json:
        figures = {
            "lines": arguments.lines,
            "lines_a_second": round(rate),
            "json_loads_lines_a_second": round(reading),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "system": platform.platform(terse=True),
        }
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
