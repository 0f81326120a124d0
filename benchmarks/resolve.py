"""How fast castwise decides, beside the functions the frameworks have for it, in one run.

    python benchmarks/resolve.py [--json FILE]

Prints nanoseconds a call and the ratio to each peer (below 1 is faster than the peer). The pairs
are measured in turns, so that a noisy machine slows both sides alike. Peers that are not installed
are left out and named.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from measure import machine, nanoseconds, versions

import castwise as cw

ROUNDS = 15


def side_by_side(
    ours: Callable[[], object], theirs: Callable[[], object], number: int = 20_000
) -> tuple[float, float]:
    """The median time of a call of each, measured in turns."""
    pairs = [(nanoseconds(ours, number), nanoseconds(theirs, number)) for _ in range(ROUNDS)]
    mine, peer = zip(*pairs, strict=True)
    return statistics.median(mine), statistics.median(peer)


def numpy_pairs() -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    np = importlib.import_module("numpy")
    a, b = np.ones(3, "int8"), np.ones(3, "uint8")
    c, d = np.ones(3, "float32"), np.ones((), "float64")
    return {
        "result_type(int8[3], uint8[3])": (
            lambda: cw.result_type(a, b),
            lambda: np.result_type(a, b),
        ),
        "result_type(float32[3], float64[])": (
            lambda: cw.result_type(c, d),
            lambda: np.result_type(c, d),
        ),
    }


def torch_pairs() -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    torch = importlib.import_module("torch")
    prims = importlib.import_module("torch._prims_common")
    kind = prims.ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
    ones = torch.ones
    operands = {
        "int32[3], float32[3]": (ones(3, dtype=torch.int32), ones(3)),
        "float32[3], float64[3]": (ones(3), ones(3, dtype=torch.float64)),
        "bfloat16[3], float32[3]": (ones(3, dtype=torch.bfloat16), ones(3)),
        "float32[3], int64[]": (ones(3), torch.tensor(1)),
    }
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {}
    for name, (a, b) in operands.items():
        pairs[f"torch.result_type({name})"] = (
            lambda a=a, b=b: cw.result_type(a, b, dialect="torch"),  # type: ignore[misc]
            lambda a=a, b=b: torch.result_type(a, b),  # type: ignore[misc]
        )
    a, b = operands["int32[3], float32[3]"]
    pairs["torch._prims_common.elementwise_dtypes(int32[3], float32[3])"] = (
        lambda: cw.result_type(a, b, dialect="torch"),
        lambda: prims.elementwise_dtypes(a, b, type_promotion_kind=kind),
    )
    return pairs


def jax_pairs() -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    jnp = importlib.import_module("jax.numpy")
    np = importlib.import_module("numpy")
    a, b = np.ones(3, "int8"), np.ones(3, "uint8")
    return {
        "jnp.result_type(int8[3], uint8[3])": (
            lambda: cw.result_type(a, b),
            lambda: jnp.result_type(a, b),
        )
    }


def first_call_times() -> dict[str, float]:
    """Nanoseconds of a decision that was never made before, by dialect and kind of question."""
    from castwise.engine.ask import question_about
    from castwise.engine.decide import decide

    questions = {
        "torch add(int32[3], 5.5)": question_about("add", "int32[3]", 5.5, dialect="torch"),
        "numpy add(int8[3], uint8[3])": question_about(
            "add", "int8[3]", "uint8[3]", dialect="numpy"
        ),
        "numpy@1 add(int8[3], 300)": question_about("add", "int8[3]", 300, dialect="numpy@1"),
        "array-api div(float32[3], 2)": question_about("div", "float32[3]", 2, dialect="array-api"),
    }
    return {
        name: statistics.median(
            nanoseconds(lambda question=question: decide(question), 2_000)  # type: ignore[misc]
            for _ in range(ROUNDS)
        )
        for name, question in questions.items()
    }


def import_time(code: str) -> float:
    """Milliseconds of a fresh interpreter that runs a line, the best of several."""
    import subprocess

    def once() -> float:
        start = time.perf_counter_ns()
        subprocess.run([sys.executable, "-c", code], check=True)
        return (time.perf_counter_ns() - start) / 1e6

    return min(once() for _ in range(ROUNDS))


def measured() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for peers in (numpy_pairs, torch_pairs, jax_pairs):
        try:
            pairs = peers()
        except ImportError as missing:
            print(f"left out: {missing}")
            continue
        for name, (ours, theirs) in pairs.items():
            mine, peer = side_by_side(ours, theirs)
            rows.append({"peer": name, "castwise_ns": mine, "peer_ns": peer, "ratio": mine / peer})
            print(f"{mine:8.0f} ns  {peer:8.0f} ns  {mine / peer:6.2f}x  {name}")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the figures to a file")
    arguments = parser.parse_args()
    print("castwise       peer      ratio  (repeated calls)")
    rows = measured()
    print("\na decision made for the first time")
    first = first_call_times()
    for name, ns in first.items():
        print(f"{ns:8.0f} ns  {name}")
    mine, peer = (
        import_time("import castwise"),
        import_time("import argparse, dataclasses, enum, json"),
    )
    print(
        f"\nimport castwise: {mine:.0f} ms, {mine / peer:.2f} times argparse dataclasses enum json"
    )
    if arguments.json:
        figures = {
            "machine": machine(),
            "versions": versions("numpy", "torch", "jax"),
            "repeated": rows,
            "first_ns": first,
            "import": {"castwise_ms": mine, "peer_ms": peer, "ratio": mine / peer},
        }
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
