"""What cw.compile saves on JAX and on Dask, in one run.

    python benchmarks/compiled_backends.py [--json FILE]

On JAX: the same function eagerly, compiled by castwise, and as plain jax.numpy code under jax.jit,
with the number of elements whose bits differ from the eager ones. On Dask: the tasks of the graph,
and the time to make and to compute it, eagerly and compiled. All cases are measured in turns, round
by round; a time is the median of the rounds. Libraries that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, versions

import castwise as cw

ROUNDS = 15
SIZES = (1_000, 1_000_000)
CHUNKED = (4_000, 4_000)
CHUNKS = (500, 500)
Case = Callable[[], Any]


def function(x: Any, y: Any, k: Any) -> Any:
    """A chain with a promotion, products that are summed, and a choice."""
    found = x * y + k * 3 - x * 0.7
    return cw.apply("where", found > y, found * found + y, found)


def plain(x: Any, y: Any, k: Any) -> Any:
    """The same in jax.numpy, with the casts that castwise decides."""
    jnp = importlib.import_module("jax.numpy")
    found = x * y + (k * np.int8(3)).astype("float32") - x * np.float32(0.7)
    return jnp.where(found > y, found * found + y, found)


def arrays(shape: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=shape).astype("float32") for _ in range(2))
    return [x, y, rng.integers(0, 9, shape).astype("int8")]


def in_turns(cases: dict[str, Case]) -> dict[str, float]:
    """Milliseconds of each case, the median of the rounds; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(ROUNDS + 1):
        for name, case in cases.items():
            start = time.perf_counter()
            case()
            if number:
                times[name].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(found) for name, found in times.items()}


def on_jax(size: int) -> list[dict[str, Any]]:
    jax = importlib.import_module("jax")
    given = [jax.numpy.asarray(array) for array in arrays((size,))]
    tensors = [cw.asarray(array, dialect="torch") for array in given]
    compiled: Any = cw.compile(function, dialect="torch")
    jitted = jax.jit(plain)
    results: dict[str, Case] = {
        "castwise, eager": lambda: function(*tensors).array,
        "castwise, compiled": lambda: compiled(*tensors).array,
        "jax.jit": lambda: jitted(*given),
    }
    expected = np.asarray(results["castwise, eager"]()).view("uint32")
    times = in_turns({
        name: lambda case=case: case().block_until_ready()  # type: ignore[misc]
        for name, case in results.items()
    })  # fmt: skip
    return [
        {"case": name, "elements": size, "ms": times[name],
         "differ": int((np.asarray(case()).view("uint32") != expected).sum())}
        for name, case in results.items()
    ]  # fmt: skip


def on_dask() -> list[dict[str, Any]]:
    da = importlib.import_module("dask.array")
    given = [da.from_array(array, chunks=CHUNKS) for array in arrays(CHUNKED)]
    tensors = [cw.asarray(array, dialect="torch") for array in given]
    compiled: Any = cw.compile(function, dialect="torch")
    made: dict[str, Case] = {
        "castwise, eager": lambda: function(*tensors),
        "castwise, compiled": lambda: compiled(*tensors),
    }
    making = in_turns(made)
    computing = in_turns({
        name: lambda case=case: case().array.compute()  # type: ignore[misc]
        for name, case in made.items()
    })  # fmt: skip
    return [
        {"case": name, "tasks": len(dict(case().array.__dask_graph__())),
         "ms to make": making[name], "ms to make and compute": computing[name]}
        for name, case in made.items()
    ]  # fmt: skip


def main() -> None:
    """Measures all cases, prints them and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results there")
    chosen = parser.parse_args()
    found: dict[str, list[dict[str, Any]]] = {}
    try:
        found["jax"] = [row for size in SIZES for row in on_jax(size)]
    except ImportError as missing:
        print(f"left out: {missing}")
    try:
        found["dask"] = on_dask()
    except ImportError as missing:
        print(f"left out: {missing}")
    for row in found.get("jax", ()):
        is_equal = "yes" if not row["differ"] else f"no, {row['differ']:,} elements differ"
        print(f"{row['ms']:10.3f} ms  {row['elements']:>9,}  {row['case']:20} equal: {is_equal}")
    for row in found.get("dask", ()):
        print(f"{row['tasks']:6,} tasks  {row['ms to make']:8.2f} ms to make  "
              f"{row['ms to make and compute']:9.1f} ms in all  {row['case']}")  # fmt: skip
    if chosen.json:
        packages = versions("numpy", "jax", "dask")
        figures = {"machine": machine(), "versions": packages, **found}
        chosen.json.write_text(f"{json.dumps(figures, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
