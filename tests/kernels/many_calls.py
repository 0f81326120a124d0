"""Calls kernels many times, and looks whether the process grows.

    python tests/kernels/many_calls.py --calls 1000000

It ends with status 1 if memory grew by more than a few megabytes after a tenth of the calls.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
from pathlib import Path

import numpy as np

import castwise as cw
from castwise.arrays import fusing

MOST_GROWTH = 4 << 20
SIZE = 256


def resident() -> int:
    """The bytes of memory that the process has."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Runs eager and compiled kernels, with numbers, in place, with alarms and with warnings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=1_000_000)
    calls = parser.parse_args().calls
    fusing.COSTS["cpu"] = fusing.Costs(1, 0)
    x = cw.asarray(np.arange(SIZE) % 100, dtype="int8", dialect="torch")
    y = cw.asarray(np.ones(SIZE), dtype="float16", dialect="torch")
    tiny = cw.asarray(np.full(SIZE, 1e-40), dtype="float32", dialect="jax")
    large = cw.asarray(np.ones(1 << 19), dtype="float32", dialect="torch")
    chain = cw.compile(lambda x, y, rate: (x * y + 1) / 3 - rate * x)
    before = 0
    for n in range(calls // 5):
        x + y
        x * (n % 1000 + 0.5)
        chain(x, y, n % 1000 / 7)
        y += x
        tiny * 2 if n % 100 else large + 1
        if n == calls // 50:
            gc.collect()
            before = resident()
    gc.collect()
    growth = resident() - before
    sys.stdout.write(f"{calls:,} calls, {growth / 1e6:.1f} MB more than after a tenth of them\n")
    sys.exit(growth > MOST_GROWTH)


if __name__ == "__main__":
    main()
