"""What the benchmarks share: timers, children, tables, and the machine that was measured."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Round = dict[str, float]  # seconds by case
_HERE = Path(__file__).resolve().parent
_IN_CHILD = """
import importlib, json, sys
folder, module, function, arguments, path = sys.argv[1:]
sys.path.insert(0, folder)
found = getattr(importlib.import_module(module), function)(*json.loads(arguments))
open(path, "w", encoding="utf-8").write(json.dumps(found))
"""


def nanoseconds(
    call: Callable[[], object], number: int, clock: Callable[[], int] = time.perf_counter_ns
) -> float:
    """The time of one call, over a loop of them; of time.thread_time_ns, that of this thread."""
    start = clock()
    for _ in range(number):
        call()
    return (clock() - start) / number


def in_turns(cases: Mapping[str, Callable[[], object]], rounds: int) -> list[Round]:
    """The seconds of each case, one after the other in every round: noise hits all alike.

    A case runs five times and the median of the last three counts. So each finds the memory that it
    has freed itself, and the threads of the case before it no longer wait for work on a processor.
    """
    return [{name: _settled(case) for name, case in cases.items()} for _ in range(rounds)]


def _settled(case: Callable[[], object]) -> float:
    """The seconds of a case, once it has run twice."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        result = case()  # held until the time is taken: freeing it is no part of the op
        seconds.append(time.perf_counter() - start)
        del result
    return statistics.median(seconds[2:])


def median(rounds: Sequence[Round], name: str) -> float:
    """The median time of a case."""
    return statistics.median(seconds[name] for seconds in rounds)


def times_as_fast(rounds: Sequence[Round], ours: str, theirs: str) -> float:
    """How many times as fast a case is as another; the median over the rounds."""
    return statistics.median(seconds[theirs] / seconds[ours] for seconds in rounds)


def geometric_mean(numbers: Iterable[float]) -> float:
    """The mean of ratios."""
    return math.exp(statistics.fmean(math.log(number) for number in numbers))


def ratio_rows(
    rounds: Sequence[Round], goals: Mapping[tuple[str, str], float | None]
) -> list[dict[str, Any]]:
    """The ratios of the pairs of cases that were measured, with their goals."""
    return [
        {"of": ours, "to": theirs, "goal": goal,
         "ratio": statistics.median(r[ours] / r[theirs] for r in rounds)}
        for (ours, theirs), goal in goals.items() if theirs in rounds[0]
    ]  # fmt: skip


def print_ratios(found: Iterable[Mapping[str, Any]]) -> None:
    """A line per ratio."""
    for row in found:
        goal = f" (goal: under {row['goal']:g})" if row["goal"] else ""
        print(f"{row['ratio']:6.2f}  {row['of']} / {row['to']}{goal}")


class ChildError(Exception):
    """A child process failed, or took too long."""


def in_child(
    module: str, function: str, *arguments: Any, limit: float = 300, **environment: str
) -> Any:
    """What a function of a benchmark returns in a process of its own.

    Raises ChildError with the end of what it printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        given = [str(_HERE), module, function, json.dumps(arguments), str(path)]
        try:
            done = subprocess.run(
                [sys.executable, "-c", _IN_CHILD, *given], env={**os.environ, **environment},
                capture_output=True, text=True, check=False, timeout=limit,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ChildError(f"not done after {limit:.0f} seconds") from None
        if done.returncode or not path.exists():
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise ChildError(f"exit status {done.returncode}: {last[:300]}")
        return json.loads(path.read_text(encoding="utf-8"))


def options(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options that these benchmarks have in common."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results there")
    parser.add_argument("--quick", action="store_true", help="a short run, for a first look")
    return parser


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Rows in columns: the first is text, the others stand to the right."""
    lines = [list(titles), *[list(row) for row in rows]]
    widths = [max(len(line[n]) for line in lines) for n in range(len(titles))]
    for line in lines:
        first, *others = [
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join([first, *others]).rstrip(), flush=True)


def write_json(path: Path | None, figures: Mapping[str, Any], *packages: str) -> None:
    """Writes results, with the machine and the versions of packages, if a file is wanted."""
    if path:
        results = {"machine": machine(), "versions": versions(*packages), **figures}
        path.write_text(f"{json.dumps(results, indent=1)}\n", encoding="utf-8")


def machine() -> dict[str, str]:
    """The processor and the system."""
    return {"cpu": _cpu(), "system": platform.platform(terse=True)}


def versions(*packages: str) -> dict[str, str]:
    """The version of Python, of castwise, and of those packages that are installed."""
    found = {"python": platform.python_version()}
    for name in ("castwise", *packages):
        with contextlib.suppress(ImportError):
            found[name] = importlib.import_module(name).__version__
    return found


def _cpu() -> str:
    """The processor's name, where the system tells it."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        listed = subprocess.run(["lscpu"], capture_output=True, text=True, check=True, timeout=20)
        for line in listed.stdout.splitlines():
            if line.startswith("Model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
