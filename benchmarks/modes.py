"""What a mode costs where no dtypes are mixed: RFC 431 promises its users nothing.

    python benchmarks/modes.py [--json FILE]

Each mode answers the same question, an op of two arrays of one dtype, beside the dialect it is a
mode of; the ratio says what choosing the mode costs. Nothing may be cast, whatever the mode. The
first answer (`decide`) and a repeated one (`resolve`, from the cache) are measured in turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path

from measure import machine, nanoseconds, versions

import castwise as cw
from castwise.engine.ask import question_about
from castwise.engine.decide import decide

ROUNDS = 15
# mode -> what it is a mode of
MODES = {
    "tensorflow:all": "tensorflow",
    "tensorflow:safe": "tensorflow",
    "tensorflow:none": "tensorflow",
    "tensorflow:np-all": "tensorflow",
    "tensorflow:np-safe": "tensorflow",
    "jax:x64": "jax",
    "jax:strict": "jax",
    "torch:strict=True": "torch",
    "torch:safe=True": "torch",
    "torch:default_float=float64": "torch",
    "numpy:cap_float=32": "numpy",
}


def ratio(mode: Callable[[], object], base: Callable[[], object], number: int) -> float:
    """The median of the ratios of rounds measured in turns."""
    return statistics.median(
        nanoseconds(mode, number) / nanoseconds(base, number) for _ in range(ROUNDS)
    )


def measured(mode: str, base: str) -> dict[str, float]:
    """The two ratios of a mode; raises where it casts operands of one dtype."""
    operand = cw.describe("float32[3]")
    decision = cw.resolve("add", operand, operand, dialect=mode)
    assert decision.casts == (None, None), decision
    in_mode, in_base = (question_about("add", operand, operand, dialect=d) for d in (mode, base))
    return {
        "first": ratio(lambda: decide(in_mode), lambda: decide(in_base), 1_000),
        "repeated": ratio(
            lambda: cw.resolve("add", operand, operand, dialect=mode),
            lambda: cw.resolve("add", operand, operand, dialect=base),
            5_000,
        ),
    }


def main() -> None:
    """Measures every mode, prints the table and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results there")
    chosen = parser.parse_args()
    results = {mode: measured(mode, base) for mode, base in MODES.items()}
    print(f"{'add(float32[3], float32[3]) in':30} {'beside':12} {'first':>6} {'repeated':>9}")
    for mode, found in results.items():
        print(f"{mode:30} {MODES[mode]:12} {found['first']:6.2f} {found['repeated']:9.2f}")
    if chosen.json:
        figures = {"machine": machine(), "versions": versions(), "ratios": results}
        chosen.json.write_text(f"{json.dumps(figures, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
