"""What a chain of ops on small arrays costs: eager, compiled, by hand, and with changing numbers.

    python benchmarks/small_arrays.py [--json FILE]

The arrays have 16, 256 and 4096 elements, where the overhead of a call counts. The chains mix
dtypes. A number is one that came before, or a new one in every call. All cases are measured in
turns, round by round, in processor time of the thread, so that a noisy machine slows them alike; a
ratio is the median of the ratios of the rounds. Libraries that are not installed are left out and
named.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from measure import machine, nanoseconds, print_ratios, ratio_rows, versions

import castwise as cw

ROUNDS = 21
NUMBER = 500
SIZES = (16, 256, 4096)
DIALECTS = ("torch", "numpy", "jax")
Case = Callable[[], object]
CHAINS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "2 ops": lambda a, b, c: a * b + c,
    "3 ops": lambda a, b, c: (a * b + c) / 3,
    "6 ops": lambda a, b, c: ((a * b + c) / 3 - a) * (c + 0.5),
}


def arrays(size: int) -> list[Any]:
    """An array of int8, of float16 and of bfloat16."""
    whole = np.arange(size) % 100
    return [whole.astype(dtype) for dtype in ("int8", "float16", ml_dtypes.bfloat16)]


def by_hand(a: Any, b: Any, c: Any) -> Any:
    """The chain of three ops, with the casts that promotion adds."""
    product = a.astype("float16") * b
    return (product.astype("float32") + c.astype("float32")) / np.float32(3)


def chain_cases(size: int) -> dict[str, Case]:
    cases: dict[str, Case] = {f"by hand, 3 ops, {size}": functools.partial(by_hand, *arrays(size))}
    for dialect, (chain, function) in itertools.product(DIALECTS, CHAINS.items()):
        given = [cw.asarray(array, dialect=dialect) for array in arrays(size)]
        name = f"{dialect}, {chain}, {size}"
        cases[f"eager, {name}"] = functools.partial(function, *given)
        cases[f"compiled, {name}"] = functools.partial(cw.compile(function), *given)
    return cases


_count = itertools.count(1)


def new_number() -> float:
    """Another number each time, all of one class."""
    return next(_count) * 2.0**-40


def number_cases(size: int) -> dict[str, Case]:
    """`x * lr`, with the same number or a new one in each call."""
    plain = np.ones(size, "float32")
    x = cw.asarray(plain, dialect="torch")
    compiled = cw.compile(lambda x, lr: x * lr)
    return {
        f"eager, seen number, {size}": lambda: x * 0.125,
        f"eager, new number, {size}": lambda: x * new_number(),
        f"compiled, seen number, {size}": lambda: compiled(x, 0.125),
        f"compiled, new number, {size}": lambda: compiled(x, new_number()),
        f"by hand, new number, {size}": lambda: plain * np.float32(new_number()),
    }


def torch_cases(size: int) -> dict[str, Case]:
    torch = importlib.import_module("torch")
    a, b, c = arrays(size)
    given = [torch.asarray(a), torch.asarray(b), torch.asarray(c.astype("float32")).bfloat16()]
    x = torch.ones(size)
    chains = {
        f"torch itself, {chain}, {size}": functools.partial(function, *given)
        for chain, function in CHAINS.items()
    }
    return {**chains, f"torch itself, new number, {size}": lambda: x * new_number()}


def size_ratios(size: int) -> dict[tuple[str, str], float | None]:
    """What each case is measured against, and the goal that the ratio has to stay under."""
    found: dict[tuple[str, str], float | None] = {
        (f"compiled, {dialect}, {chain}, {size}", f"eager, {dialect}, {chain}, {size}"): 1.0
        for dialect, chain in itertools.product(DIALECTS, CHAINS)
    }
    return {
        **found,
        (f"compiled, torch, 3 ops, {size}", f"by hand, 3 ops, {size}"): None,
        (f"compiled, torch, 3 ops, {size}", f"torch itself, 3 ops, {size}"): None,
        (f"eager, new number, {size}", f"eager, seen number, {size}"): 3.0,
        (f"compiled, new number, {size}", f"compiled, seen number, {size}"): 1.5,
        (f"eager, new number, {size}", f"by hand, new number, {size}"): None,
        (f"eager, new number, {size}", f"torch itself, new number, {size}"): None,
    }


def installed_cases() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for size in SIZES:
        cases |= chain_cases(size) | number_cases(size)
    try:
        for size in SIZES:
            cases |= torch_cases(size)
    except ImportError as missing:
        print(f"left out: {missing}")
    return cases


def one_round(cases: dict[str, Case]) -> dict[str, float]:
    """Nanoseconds of each case, one after the other."""
    return {name: nanoseconds(case, NUMBER, time.thread_time_ns) for name, case in cases.items()}


def main() -> None:
    """Measures all cases, prints times and ratios and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results there")
    chosen = parser.parse_args()
    cases = installed_cases()
    one_round(cases)  # functions are traced, caches are warm
    rounds = [one_round(cases) for _ in range(ROUNDS)]
    times = {name: statistics.median(r[name] for r in rounds) for name in cases}
    for name, ns in times.items():
        print(f"{ns:12,.0f} ns  {name}")
    print()
    goals = {pair: goal for size in SIZES for pair, goal in size_ratios(size).items()}
    found = ratio_rows(rounds, goals)
    print_ratios(found)
    if chosen.json:
        packages = versions("numpy", "ml_dtypes", "torch")
        figures = {"machine": machine(), "versions": packages, "ns": times, "ratios": found}
        chosen.json.write_text(f"{json.dumps(figures, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
