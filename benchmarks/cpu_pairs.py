"""`a + b` of all pairs of dtypes on the CPU: castwise beside NumPy and torch.

    python benchmarks/cpu_pairs.py [--size N] [--threads N] [--quick] [--json FILE]

Each dialect decides what a pair becomes. NumPy and torch do the same: `a + b` where their own
promotion gives that dtype, and casts before it where it does not; of NumPy both ways count, and the
faster is taken. Every call allocates its result. All systems are measured in turns, round by round,
so that a noisy machine slows them alike; a ratio is the median of the ratios of the rounds.

"share" is the share of a copy's bandwidth, by the bytes that an op has to read and write. "equal"
says whether the bits are those of castwise without kernels, for everyday values and for values with
any bits; all NaN are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from measure import in_child, in_turns, median, options, times_as_fast, write_json
from peers import (
    DIALECTS,
    DTYPES,
    HARD,
    OURS,
    PAIRS,
    compile_at_once,
    copying,
    digest,
    library,
    moved,
    numpy_array,
    print_summaries,
    silent,
    stored,
    stored_hard,
    sum_dtype,
    summaries,
    torch_tensor,
)

import castwise as cw

SIZE, QUICK_SIZE = 1 << 23, 1 << 20
ROUNDS, QUICK_ROUNDS = 5, 2
Case = Callable[[], Any]
Arrays = dict[str, dict[str, Any]]  # by library and dtype


class Inputs:
    """Arrays of all dtypes; the first operands and the second ones have other values."""

    def __init__(self, size: int, make: Any) -> None:
        self.first, self.second = (self._arrays(size, make, seed) for seed in (1, 2))

    @staticmethod
    def _arrays(size: int, make: Any, seed: int) -> Arrays:
        held = {dtype: make(dtype, size, seed) for dtype in DTYPES}
        found = {"numpy": {dtype: numpy_array(array, dtype) for dtype, array in held.items()}}
        if library("torch"):
            found["torch"] = {dtype: torch_tensor(array, dtype) for dtype, array in held.items()}
        return found

    def pair(self, of: str, a: str, b: str) -> tuple[Any, Any]:
        """The operands of a pair in a library's arrays."""
        return self.first[of][a], self.second[of][b]


def castwise_cases(inputs: Inputs, dialect: str, a: str, b: str) -> dict[str, Case]:
    cases = {"castwise": _by_castwise(*inputs.pair("numpy", a, b), dialect)}
    if dialect == "torch" and library("torch"):
        cases["castwise on torch"] = _by_castwise(*inputs.pair("torch", a, b), dialect)
    return cases


def _by_castwise(x: Any, y: Any, dialect: str) -> Case:
    first, second = (cw.asarray(array, dialect=dialect) for array in (x, y))
    return lambda: first + second


def numpy_cases(inputs: Inputs, result: str, a: str, b: str) -> dict[str, Case]:
    x, y = inputs.pair("numpy", a, b)
    target = inputs.first["numpy"][result].dtype
    cases: dict[str, Case] = {
        "NumPy, cast": lambda: x.astype(target, copy=False) + y.astype(target, copy=False)
    }
    with silent():
        if (x[:1] + y[:1]).dtype == target:
            cases["NumPy"] = lambda: x + y
    return cases


def torch_cases(inputs: Inputs, result: str, a: str, b: str) -> dict[str, Case]:
    if not library("torch"):
        return {}
    x, y = inputs.pair("torch", a, b)
    target = inputs.first["torch"][result].dtype
    if (x[:1] + y[:1]).dtype == target:
        return {"torch": lambda: x + y}
    return {"torch": lambda: x.to(target) + y.to(target)}


def plain_digests(size: int, dialects: list[str]) -> dict[str, str]:
    """The bits of castwise without kernels, by case; a child calls it."""
    found = {}
    for make, many in ((stored, size), (stored_hard, HARD)):
        inputs = Inputs(many, make)
        for dialect in dialects:
            for a, b in PAIRS:
                for name, case in castwise_cases(inputs, dialect, a, b).items():
                    found[_key(name, dialect, a, b, make)] = result_digest(case)
    return found


def _key(name: str, dialect: str, a: str, b: str, make: Any) -> str:
    return f"{dialect} {name} {a} {b} {make.__name__}"


def result_digest(case: Case) -> str:
    """The bits of what a case computes."""
    with silent():
        return digest(case())


class Measured:
    """One pair under one dialect, measured and compared."""

    def __init__(self, dialect: str, a: str, b: str) -> None:
        self.dialect, self.a, self.b = dialect, a, b
        self.result = sum_dtype(dialect, a, b)

    def cases(self, inputs: Inputs) -> dict[str, Case]:
        """All systems, on inputs."""
        return {
            **castwise_cases(inputs, self.dialect, self.a, self.b),
            **numpy_cases(inputs, self.result, self.a, self.b),
            **torch_cases(inputs, self.result, self.a, self.b),
        }

    def equal(self, inputs: Inputs, make: Any, plain: dict[str, str]) -> dict[str, bool]:
        """Whether each system has the bits of castwise's plain path, on its kind of arrays."""
        found = {}
        for name, case in self.cases(inputs).items():
            like = name if name in OURS else "castwise"
            found[name] = (
                result_digest(case) == plain[_key(like, self.dialect, self.a, self.b, make)]
            )
        return found

    def row(self, inputs: Inputs, rounds: int, copy: tuple[Case, int]) -> dict[str, Any]:
        """The times of a pair and what follows from them."""
        cases = self.cases(inputs)
        with silent():
            timed = in_turns({"copy": copy[0], **cases}, rounds)
        seconds = {name: median(timed, name) for name in cases}
        bytes_moved = moved(self.a, self.b, self.result) * len(inputs.first["numpy"][self.a])
        per_copy = bytes_moved / copy[1]
        best = min((name for name in cases if name not in OURS), key=seconds.__getitem__)
        return {
            "dialect": self.dialect, "a": self.a, "b": self.b, "result": self.result,
            "seconds": seconds, "best peer": best,
            "ratio": {name: times_as_fast(timed, name, best) for name in OURS if name in cases},
            "share": {name: per_copy * times_as_fast(timed, name, "copy") for name in cases},
        }  # fmt: skip


def measured(size: int, rounds: int, threads: int, dialects: list[str]) -> list[dict[str, Any]]:
    """A row per dialect and pair."""
    plain = in_child(
        "cpu_pairs", "plain_digests", size, dialects, limit=1800, CASTWISE_KERNELS="off"
    )
    inputs, hard, copy = Inputs(size, stored), Inputs(HARD, stored_hard), copying(size, threads)
    rows: list[dict[str, Any]] = []
    for dialect in dialects:
        print_titles(dialect)
        for a, b in PAIRS:
            pair = Measured(dialect, a, b)
            row = pair.row(inputs, rounds, copy)
            checks = [pair.equal(inputs, stored, plain), pair.equal(hard, stored_hard, plain)]
            row["equal"] = {name: all(check[name] for check in checks) for name in checks[0]}
            rows.append(row)
            print_row(row)
    return rows


def print_titles(dialect: str) -> None:
    print(f"\n{dialect}: a + b, milliseconds; ratio and share of castwise on NumPy arrays")
    print(f"{'pair':30}{'castwise':>10}{'on torch':>10}{'NumPy':>10}{'torch':>10}{'ratio':>8}"
          f"{'share':>8}  equal")  # fmt: skip


def print_row(row: dict[str, Any]) -> None:
    """A line of the table."""
    seconds = row["seconds"]
    numpy_best = min(seconds[name] for name in seconds if name.startswith("NumPy"))
    numbers = [
        seconds["castwise"],
        seconds.get("castwise on torch"),
        numpy_best,
        seconds.get("torch"),
    ]
    shown = "".join(f"{1000 * n:10.2f}" if n else f"{'-':>10}" for n in numbers)
    ours = [name for name in OURS if name in row["ratio"]]
    name = f"{row['a']} + {row['b']} = {row['result']}"
    print(f"{name:30}{shown}{row['ratio']['castwise']:8.2f}{row['share']['castwise']:8.0%}  "
          f"{'yes' if all(row['equal'][o] for o in ours) else 'NO'}", flush=True)  # fmt: skip


def main() -> None:
    """Measures all pairs, prints the tables and writes the results."""
    parser = options(__doc__)
    parser.add_argument("--size", type=int, help=f"elements (default {SIZE})")
    parser.add_argument("--threads", type=int, default=2, help="of each system (default 2)")
    parser.add_argument("--dialects", nargs="+", default=list(DIALECTS))
    chosen = parser.parse_args()
    size = chosen.size or (QUICK_SIZE if chosen.quick else SIZE)
    cw.set_threads(chosen.threads)
    torch = library("torch")
    if torch:
        torch.set_num_threads(chosen.threads)
    compile_at_once("cpu")
    rows = measured(size, QUICK_ROUNDS if chosen.quick else ROUNDS, chosen.threads, chosen.dialects)
    found = summaries(rows)
    print_summaries(found, "the faster of NumPy and torch")
    figures = {"size": size, "threads": chosen.threads, "summaries": found, "pairs": rows}
    write_json(chosen.json, figures, "numpy", "ml_dtypes", "torch", "llvmlite")


if __name__ == "__main__":
    main()
