"""What an operator of castwise costs beside those of the libraries, in one run.

    python benchmarks/eager.py [--json FILE]

Every case is `a + b` of arrays with three elements, where nothing but the overhead counts, and of
a million, where it should not. All cases are measured in turns, round by round, in processor time
of the thread, so that a noisy machine slows them alike; a ratio is the median of the ratios of the
rounds. Libraries that are not installed are left out and named.
"""

from __future__ import annotations

import argparse
import importlib
import json
import operator
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, nanoseconds, print_ratios, ratio_rows, versions

import castwise as cw
import castwise.array_api as xp
from castwise.arrays import fast_path
from castwise.arrays.tensor import Tensor, binary

ROUNDS = 31
NUMBER = 4_000
LARGE = 1_000_000
LARGE_NUMBER = 5
Case = Callable[[], object]
_by_kinds, _context, _new = fast_path._by_kinds, fast_path.context, object.__new__

# What each case is measured against, and the goal the ratio has to stay under.
RATIOS = {
    ("castwise, same dtype", "NumPy, same dtype"): 2.5,
    ("castwise, mixed", "torch, mixed"): 1.0,
    ("castwise, same dtype", "array-api-strict, same dtype"): 0.25,
    ("castwise, mixed", "array-api-strict, mixed"): 0.25,
    ("castwise, mixed", "NumPy, mixed"): None,
    ("castwise, Python number", "NumPy, Python number"): None,
    ("castwise, Python number", "torch, Python number"): None,
    ("castwise, Python number", "array-api-strict, Python number"): 0.25,
    ("castwise.array_api.add", "array-api-strict, same dtype"): None,
    ("castwise, counting", "castwise, mixed"): None,
    ("fast path", "fast path without counting"): 1.05,
    ("castwise, same dtype, large", "NumPy, same dtype, large"): None,
    ("castwise, mixed, large", "NumPy, cast and added, large"): None,
}


def added(a: Any, b: Any) -> Case:
    return lambda: a + b


def numpy_cases() -> dict[str, Case]:
    a, b = np.ones(3, "float32"), np.ones(3, "float32")
    i = np.ones(3, "int32")
    large, whole = np.ones(LARGE, "float32"), np.ones(LARGE, "int32")
    return {
        "NumPy, same dtype": added(a, b),
        "NumPy, mixed": added(i, a),
        "NumPy, Python number": added(a, 2.0),
        "NumPy, same dtype, large": added(large, large),
        "NumPy, cast and added, large": lambda: whole.astype("float32") + large,
    }


def torch_cases() -> dict[str, Case]:
    torch = importlib.import_module("torch")
    a, i = torch.ones(3), torch.ones(3, dtype=torch.int32)
    return {
        "torch, same dtype": added(a, a),
        "torch, mixed": added(i, a),
        "torch, Python number": added(a, 2.0),
    }


def strict_cases() -> dict[str, Case]:
    """The standard mixes no kinds, so its mix is of two floats."""
    strict = importlib.import_module("array_api_strict")
    a, wide = strict.ones(3, dtype=strict.float32), strict.ones(3, dtype=strict.float64)
    return {
        "array-api-strict, same dtype": added(a, a),
        "array-api-strict, mixed": added(a, wide),
        "array-api-strict, Python number": added(a, 2.0),
    }


def castwise_cases() -> dict[str, Case]:
    a, i = (cw.asarray(np.ones(3, dtype), dialect="torch") for dtype in ("float32", "int32"))
    large, whole = (
        cw.asarray(np.ones(LARGE, dtype), dialect="torch") for dtype in ("float32", "int32")
    )

    fast, never_counted = binary("add"), _never_counted("add")

    def counting() -> object:
        return i + a

    return {
        "castwise, same dtype": added(a, a),
        "castwise, mixed": added(i, a),
        "castwise, Python number": added(a, 2.0),
        "castwise.array_api.add": lambda: xp.add(a, a),
        "castwise, counting": counting,
        "fast path": lambda: fast(a, a),
        "fast path without counting": lambda: never_counted(a, a),
        "castwise, same dtype, large": added(large, large),
        "castwise, mixed, large": added(whole, large),
    }


def _never_counted(name: str) -> Callable[[Any, Any], Any]:
    """What an operator would be if nothing could be counted."""

    def operator(first: Any, second: Any) -> Any:
        if type(second) is Tensor:
            plan = _by_kinds.get((name, _context(), first._kind, second._kind))
            if plan is not None:
                result = _new(Tensor)
                result._array = plan.run(first._array, second._array)
                result._kind = plan.kind
                return result
        return NotImplemented

    return operator


def installed_cases() -> dict[str, Case]:
    cases = castwise_cases()
    for library in (numpy_cases, torch_cases, strict_cases):
        try:
            cases |= library()
        except ImportError as missing:
            print(f"left out: {missing}")
    return cases


def one_round(cases: dict[str, Case]) -> dict[str, float]:
    """Nanoseconds of each case, one after the other."""
    found = {}
    for name, case in cases.items():
        number = LARGE_NUMBER if name.endswith("large") else NUMBER
        if name.endswith("counting") and name.startswith("castwise"):
            with cw.count_casts():
                found[name] = nanoseconds(case, number, time.thread_time_ns)
        else:
            found[name] = nanoseconds(case, number, time.thread_time_ns)
    return found


def main() -> None:
    """Measures all cases, prints times and ratios and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results there")
    chosen = parser.parse_args()
    cases = installed_cases()
    one_round(cases)  # plans are made, caches are warm
    rounds = [one_round(cases) for _ in range(ROUNDS)]
    times = {name: statistics.median(r[name] for r in rounds) for name in cases}
    for name, ns in sorted(times.items(), key=operator.itemgetter(1)):
        print(f"{ns:12,.0f} ns  {name}")
    print()
    found = ratio_rows(rounds, RATIOS)
    print_ratios(found)
    if chosen.json:
        packages = versions("numpy", "torch", "array_api_strict")
        figures = {"machine": machine(), "versions": packages, "ns": times, "ratios": found}
        chosen.json.write_text(f"{json.dumps(figures, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
