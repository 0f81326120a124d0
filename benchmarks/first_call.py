"""How long the first call of a new signature takes on the CPU.

    python benchmarks/first_call.py [--quick] [--json FILE]

A signature is an op and the dtypes of its operands. Small arrays need a decision and no kernel.
Large ones need a kernel, which is compiled once and then kept on disk for other processes. Each way
is measured in processes of its own, which start with an empty cache, or with the one that the
process before left. The first signature of a process also loads a compiler, so it stands alone; the
others are given by their median. numba and torch.compile stand beside, if they are installed.
"""

from __future__ import annotations

import importlib
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import ChildError, in_child, options, print_table, write_json
from peers import compile_at_once, library, stored

import castwise as cw

SMALL, LARGE = 3, 1 << 16
SIGNATURES = [  # of dtypes that all know
    ("int8", "float32"), ("int16", "float32"), ("int32", "float64"), ("uint8", "int16"),
    ("uint8", "float32"), ("int16", "float64"), ("float32", "float64"), ("bool", "int32"),
]  # fmt: skip
ROUNDS, QUICK_ROUNDS = 5, 2
LIMIT = 300  # seconds of a process


def added(x: Any, y: Any) -> Any:
    """The op that is measured."""
    return x + y


def operands(make: Callable[[Any], Any], size: int) -> list[tuple[Any, Any]]:
    """A library's arrays for every signature."""
    return [(make(stored(a, size, 1)), make(stored(b, size, 2))) for a, b in SIGNATURES]


def seconds_each(call: Callable[..., Any], pairs: list[tuple[Any, Any]]) -> list[float]:
    """The time of the first call with each pair."""
    found = []
    for pair in pairs:
        start = time.perf_counter()
        call(*pair)
        found.append(time.perf_counter() - start)
    return found


def castwise_seconds(size: int) -> list[float]:
    """In a child: with kernels, from the cache that the environment names or compiled."""
    compile_at_once("cpu")
    return seconds_each(added, operands(lambda a: cw.asarray(a, dialect="torch"), size))


def numba_seconds(size: int) -> list[float]:
    """In a child: a new function, compiled for each signature."""
    numba = importlib.import_module("numba")
    return seconds_each(numba.njit(parallel=True)(added), operands(lambda a: a, size))


def torch_compile_seconds(size: int) -> list[float]:
    """In a child: a new function for each signature, so that none is a recompilation."""
    torch = importlib.import_module("torch")

    def compiled(x: Any, y: Any) -> Any:
        torch.compiler.reset()
        return torch.compile(added)(x, y)

    return seconds_each(compiled, operands(torch.from_numpy, size))


def ways() -> dict[str, tuple[str, int, dict[str, str]]]:
    """What is measured: the function for the child, the size, and its environment. A way whose
    cache has the name of another's starts with what that one left there."""
    found = {
        "castwise, 3 elements": ("castwise_seconds", SMALL, {}),
        "castwise, no kernel": ("castwise_seconds", LARGE, {"CASTWISE_KERNELS": "off"}),
        "castwise, compiled": ("castwise_seconds", LARGE, {"CASTWISE_CACHE": "castwise"}),
        "castwise, from disk": ("castwise_seconds", LARGE, {"CASTWISE_CACHE": "castwise"}),
    }
    if library("numba"):
        found["numba"] = ("numba_seconds", LARGE, {})
    if library("torch") and any(shutil.which(name) for name in ("c++", "g++", "clang++", "cl")):
        cache = {"TORCHINDUCTOR_CACHE_DIR": "torch"}
        found["torch.compile"] = ("torch_compile_seconds", LARGE, cache)
    return found


def one_round(failed: set[str]) -> dict[str, list[float]]:
    """The seconds of each signature, by way; a way that fails is not tried again."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (function, size, environment) in ways().items():
            if name in failed:
                continue
            variables = {
                key: str(Path(folder) / value) if value != "off" else value
                for key, value in environment.items()
            }
            try:
                found[name] = in_child("first_call", function, size, limit=LIMIT, **variables)
            except ChildError as error:
                print(f"left out: {name}: {error}", flush=True)
                failed.add(name)
    return found


def figures_row(name: str, rounds: list[dict[str, list[float]]]) -> dict[str, Any]:
    """What is said about a way."""
    others = [seconds for found in rounds for seconds in found[name][1:]]
    return {
        "way": name,
        "first of a process s": statistics.median(found[name][0] for found in rounds),
        "others s": statistics.median(others),
        "slowest of others s": max(others),
    }


def main() -> None:
    """Measures each way, prints the table and writes the results."""
    parser = options(__doc__)
    chosen = parser.parse_args()
    failed: set[str] = set()
    rounds = [one_round(failed) for _ in range(QUICK_ROUNDS if chosen.quick else ROUNDS)]
    rows = [figures_row(name, rounds) for name in rounds[0] if name not in failed]
    print("a + b with a new signature, milliseconds")
    print_table(
        ["", "first of a process", "others", "slowest of others"],
        [
            [row["way"], *[f"{1000 * row[key]:.2f}" for key in row if key != "way"]]
            for row in rows
        ],
    )  # fmt: skip
    figures = {"large": LARGE, "signatures": SIGNATURES, "rows": rows}
    write_json(chosen.json, figures, "numpy", "llvmlite", "numba", "torch")


if __name__ == "__main__":
    main()
