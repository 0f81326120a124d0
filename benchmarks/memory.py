"""The memory that in-place ops and reductions take beyond their operands, and their time.

    python benchmarks/memory.py [--elements N] [--json FILE]

Every case runs in a process of its own, for castwise, NumPy and torch in turn. Memory is the most
that the process has held minus what it held before, with the result counted; time is the best of
several runs. Libraries that are not installed are left out and named.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import machine, versions

ELEMENTS = 100_000_000
COLUMNS = 1_000
RUNS = 5
LIMIT = 300  # seconds for a case
LIBRARIES = ("castwise", "castwise on torch", "NumPy", "torch")

# name -> the dtypes of its operands, and the computation
CASES: dict[str, tuple[tuple[str, ...], Callable[..., object]]] = {
    "f32 += f32": (("float32", "float32"), lambda x, y: x.__iadd__(y)),
    "f32 += i8": (("float32", "int8"), lambda x, y: x.__iadd__(y)),
    "f32 *= 2.0": (("float32",), lambda x: x.__imul__(2.0)),
    "u8 / 2": (("uint8",), lambda x: x / 2),
    "sum of i8": (("int8",), lambda x: x.sum()),
    "sum of i8, each row": (("int8",), lambda x: x.sum(1)),
    "sum of i8, each column": (("int8",), lambda x: x.sum(0)),
    "sum of f16": (("float16",), lambda x: x.sum()),
    "mean of f16": (("float16",), lambda x: x.mean()),
    "max of i8": (("int8",), lambda x: x.max()),
    "var of f16": (("float16",), lambda x: x.var()),
    "argmax of i8": (("int8",), lambda x: x.argmax()),
}


def operand(library: str, dtype: str, elements: int) -> Any:
    """An array of ones; a tensor of castwise follows the rules of its library."""
    shape = elements // COLUMNS, COLUMNS
    if library.endswith("torch"):
        import torch

        made: Any = torch.ones(shape, dtype=getattr(torch, dtype))
    else:
        import numpy as np

        made = np.ones(shape, dtype)
    if library.startswith("castwise"):
        import castwise as cw

        made = cw.asarray(made)
    return made


def peak_bytes() -> int:
    """The most bytes this process has held so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def measured(library: str, name: str, elements: int) -> dict[str, float]:
    """Megabytes beyond the operands, and milliseconds, of one case in this process."""
    dtypes, compute = CASES[name]
    compute(*[operand(library, dtype, COLUMNS) for dtype in dtypes])  # everything is loaded
    operands = [operand(library, dtype, elements) for dtype in dtypes]
    before = peak_bytes()
    compute(*operands)
    taken = peak_bytes() - before
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        compute(*operands)
        times.append(time.perf_counter() - start)
    return {"MB": taken / 1e6, "ms": min(times) * 1e3}


def in_a_process(library: str, name: str, elements: int) -> dict[str, float]:
    """The same in a process of its own, whose memory nothing else has used."""
    command = [sys.executable, __file__, "--case", library, name, "--elements", str(elements)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def installed() -> list[str]:
    """The libraries that can be measured here."""
    if importlib.util.find_spec("torch"):
        return list(LIBRARIES)
    print("left out: torch")
    return [library for library in LIBRARIES if not library.endswith("torch")]


def main() -> None:
    """Measures all cases, prints them and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=ELEMENTS)
    parser.add_argument("--json", type=Path, help="write the results there")
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.case:
        print(json.dumps(measured(*chosen.case, chosen.elements)))
        return
    libraries, found = installed(), {}
    print(f"{'':24}{''.join(f'{library:>26}' for library in libraries)}")
    for name in CASES:
        row = {library: in_a_process(library, name, chosen.elements) for library in libraries}
        figures = "".join([f"{r['MB']:13,.0f} MB{r['ms']:7,.0f} ms" for r in row.values()])
        print(f"{name:24}{figures}", flush=True)
        found[name] = row
    if chosen.json:
        packages = versions("numpy", "torch")
        results = {"machine": machine(), "versions": packages, "elements": chosen.elements,
                   "cases": found}  # fmt: skip
        chosen.json.write_text(f"{json.dumps(results, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
