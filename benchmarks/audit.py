"""What `castwise audit` costs a program: python benchmarks/audit.py [-o FILE] [--rounds N]

Each program times itself and tells its peak memory; imports and the report are not part of it. It
runs plainly and audited in turn, and the least time of each counts, since whatever else the
machine does only adds to it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import machine, versions

ARRAYS = """
import json, sys, time
import numpy as np
def work(x, y, z, runs):
    for _ in range(runs):
        a = x * y + z + x + y
        b = np.sqrt(a * a + z) - x
        z = np.where(b > a, a, b)
        z -= y
        total = float(z.mean())
    return total
x, y, z = (np.linspace(0, k, SIZE, dtype=np.TYPE) for k in (1, 2, 3))
others = [np.ones(SIZE) for _ in range(HELD)]
work(x, y, z, 2)
times = []
for _ in range(5):
    began = time.perf_counter()
    work(x, y, z, RUNS)
    times.append(time.perf_counter() - began)
"""
NUMBERS = """
import json, time
def loop(n):
    total = 0
    for i in range(n):
        total += i * 3 - 1
        if total % 7 == 3:
            total = total // 2
    return total
def halve(a, b):
    return abs(a - b) * 0.5
def calls(n):
    total = 0.0
    for i in range(n):
        total = halve(total, i)
    return total
class Counter:
    def __init__(self):
        self.total, self.rows = 0, [0] * 8
    def run(self, n):
        for i in range(n):
            self.total += i
            self.rows[i % 8] += 1
times = []
for _ in range(3):
    began = time.perf_counter()
    WORK
    times.append(time.perf_counter() - began)
"""
TAIL = """
lines = open("/proc/self/status").read().splitlines()
peak = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
print(json.dumps({"seconds": min(times), "first": times[0], "kilobytes": peak}))
"""


def arrays(size: int, runs: int, dtype: str, held: int = 0) -> str:
    """A program whose time is in operations on arrays, and that holds some more of them."""
    values = {"SIZE": size, "RUNS": runs, "TYPE": dtype, "HELD": held}
    source = ARRAYS
    for name, value in values.items():
        source = source.replace(name, str(value))
    return source


# The loops about numbers do about a million operations each.
PROGRAMS = {
    "float64 arrays of 1e6 elements": arrays(1_000_000, 10, "float64", held=100),
    "float32 arrays of 1e6 elements": arrays(1_000_000, 10, "float32", held=100),
    "float64 arrays of 1e5 elements": arrays(100_000, 100, "float64"),
    "float32 arrays of 1e5 elements": arrays(100_000, 100, "float32"),
    "float64 arrays of 10 elements": arrays(10, 1000, "float64"),
    "a million scalar operations": NUMBERS.replace("WORK", "loop(200_000)"),
    "a million in functions": NUMBERS.replace("WORK", "calls(250_000)"),
    "a million on attributes and items": NUMBERS.replace("WORK", "Counter().run(333_333)"),
}
BOUNDS = {"float64 arrays of 1e6 elements": 1.05, "float64 arrays of 1e5 elements": 1.2,
          "a million scalar operations": 10.0}  # fmt: skip


def measured(script: Path, *before: str) -> dict[str, float]:
    """What a program tells of itself."""
    done = subprocess.run(
        [sys.executable, *before, str(script)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def compared(source: str, rounds: int) -> dict[str, Any]:
    """A program's least times and peaks, run both ways in turn."""
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory, "program.py")
        script.write_text(source + TAIL, encoding="utf-8")
        plain, audited = [], []
        for _ in range(rounds):
            plain.append(measured(script))
            audited.append(measured(script, "-m", "castwise", "audit"))
    found: dict[str, Any] = {}
    for name in ("seconds", "first", "kilobytes"):
        least = [min(run[name] for run in runs) for runs in (plain, audited)]
        found[name] = {"plain": round(least[0], 5), "audited": round(least[1], 5),
                       "ratio": round(least[1] / least[0], 3)}  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="also write the figures to a file")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    results = {}
    for name, source in PROGRAMS.items():
        found = results[name] = compared(source, arguments.rounds)
        time, memory = found["seconds"]["ratio"], found["kilobytes"]["ratio"]
        wanted = f" (at most {BOUNDS[name]})" if name in BOUNDS else ""
        first = f", {found['first']['ratio']:.2f} the first time" if "scalar" in name else ""
        print(f"{name:36} {time:6.3f} times{wanted}{first}; memory {memory:.3f} times")
    if arguments.output:
        about = {"machine": machine(), "versions": versions("numpy")}
        text = json.dumps({**about, "rounds": arguments.rounds, "results": results}, indent=1)
        arguments.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
