"""What castwise costs now beside an older commit of it, in one run.

    python benchmarks/commits.py COMMIT [--json FILE]

Both sources are measured in processes of their own, in turns, so that a noisy machine slows both
alike. A ratio below 1 means that it is faster now; it is the median of the ratios of the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import machine, versions

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 9
# What is measured: what is made first, one call, and how many of them.
CASES = {
    "import castwise": ("", "import castwise", 1),
    "resolve, cached": ("", "cw.resolve('add', 'int32[3]', 5.5, dialect='torch')", 5_000),
    "resolve, live arrays": ("", "cw.resolve('add', a, b)", 5_000),
    "decide, not cached": (
        "from castwise.engine.decide import decide\n"
        "question = cw.resolve('add', 'int32[3]', 5.5, dialect='torch').question",
        "decide(question)",
        5_000,
    ),
    "result_type of live arrays": ("", "cw.result_type(a, b)", 20_000),
    "explain": ("", "str(cw.explain('add', 'int32[3]', 5.5, dialect='torch'))", 1_000),
    "tensor + tensor": ("", "x + x", 20_000),
    "tensor + tensor, mixed": ("", "x + y", 20_000),
    "tensor + number": ("", "x + 1.5", 20_000),
    "tensor + raw array": ("", "x + b", 5_000),
    "tensor += tensor": ("", "x.__iadd__(y)", 5_000),
    "first call of 20 ops": (
        "names = 'add sub mul div pow exp sin cos tanh sqrt abs neg eq lt maximum minimum sum mean"
        " max min'.split()",
        "[cw.apply(name, x) if name in _ONE else cw.apply(name, x, y) for name in names]",
        1,
    ),
}
SETUP = """
import castwise as cw
import numpy as np
a, b = np.ones(3, "int8"), np.ones(3, "float32")
x, y = cw.asarray(b), cw.asarray(a)
_ONE = set("exp sin cos tanh sqrt abs neg sum mean max min".split())
"""
TIMER = """
import time
_started = time.perf_counter_ns()
for _ in range({number}):
    {call}
print((time.perf_counter_ns() - _started) / {number})
"""


def nanoseconds(source: Path, case: tuple[str, str, int]) -> float:
    """The time of one call in a process that imports castwise from a source tree."""
    setup, call, number = case
    before = "" if call.startswith("import") else f"{SETUP}\n{setup}\n"
    if number > 1:
        before += f"for _ in range(50):\n    {call}\n"
    code = before + TIMER.format(call=call, number=number)
    environment = {**os.environ, "PYTHONPATH": str(source / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=source,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return float(done.stdout)


def compared(then: Path) -> dict[str, dict[str, float]]:
    """Nanoseconds of both and the median ratio, by case."""
    found: dict[str, dict[str, float]] = {}
    for name, case in CASES.items():
        rounds = [(nanoseconds(ROOT, case), nanoseconds(then, case)) for _ in range(ROUNDS)]
        ratio = statistics.median(now / old for now, old in rounds)
        now, old = (statistics.median(side) for side in zip(*rounds, strict=True))
        found[name] = {"now_ns": round(now), "then_ns": round(old), "ratio": round(ratio, 3)}
        print(f"{name:28} {now:12,.0f} ns now {old:12,.0f} ns then   ratio {ratio:.2f}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the older commit, by any name git knows")
    parser.add_argument("--json", type=Path, help="also write the results into this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        then = Path(folder) / "then"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", str(then), arguments.commit], check=True)
        try:
            found = compared(then)
        finally:
            subprocess.run([*git, "remove", "--force", str(then)], check=True)
    if arguments.json:
        run = {"then": arguments.commit, "machine": machine(), "versions": versions("numpy")}
        arguments.json.write_text(json.dumps({**run, "cases": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
