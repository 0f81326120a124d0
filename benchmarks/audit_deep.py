"""What `castwise audit --deep` costs an aten op: python benchmarks/audit_deep.py [-o FILE]

Loops on small arrays, where the time is all overhead, run plainly, audited, and audited deep. The
ops are counted by the audit itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import machine, versions

from castwise.auditing.launch import run_audited
from castwise.auditing.records import Options, Seen

HEAD = """
import sys, time
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
"""
TRAINING = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


model = nn.Sequential(*[Block() for _ in range(4)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 16), torch.randn(8, 16)


def step():
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
"""
MIXED = """
x, y = torch.randn(8, 16), torch.randn(8, 16, dtype=torch.bfloat16)
losses = [nn.L1Loss(reduction="none") for _ in range(100)]


def step():
    for loss in losses:
        loss(x, y)
"""
TAIL = """
best = float("inf")
for _ in range(ROUNDS):
    began = time.perf_counter()
    for _ in range(STEPS):
        step()
    best = min(best, time.perf_counter() - began)
open(sys.argv[1], "w").write(str(best / STEPS))
"""
PROGRAMS = {"training, all float32": TRAINING, "mixed, every other op casts": MIXED}
STEPS, ROUNDS = 10, 50
TURNS = 3


def seconds(script: Path, how: str) -> tuple[float, int]:
    """The time of the loop, and the aten ops seen in the whole program."""
    clock = script.with_suffix(".time")
    program = [str(script), str(clock)]
    if how == "plain":
        subprocess.run([sys.executable, *program], check=True)
        return float(clock.read_text()), 0
    run = run_audited(program, Options(is_deep=how == "deep"))
    assert run.status == 0
    return float(clock.read_text()), _ops(run.seen)


def _ops(seen: Seen) -> int:
    return seen.counts.plain + sum(event.count for event in seen.inside)


def measured(program: str) -> dict[str, Any]:
    """The best of some turns, each of which is the best of many short rounds."""
    best: dict[str, float] = {}
    ops = 0
    with tempfile.TemporaryDirectory() as place:
        script = Path(place, "loop.py")
        tail = TAIL.replace("ROUNDS", str(ROUNDS)).replace("STEPS", str(STEPS))
        script.write_text(HEAD + program + tail)
        for _ in range(TURNS):
            for how in ("plain", "audit", "deep"):
                time, seen = seconds(script, how)
                best[how] = min(time, best.get(how, time))
                ops = max(ops, seen)
    a_step = ops // (STEPS * ROUNDS)
    return {
        "aten ops a step": a_step,
        "microseconds a step": {how: round(t * 1e6, 1) for how, t in best.items()},
        "microseconds an aten op": round((best["deep"] - best["audit"]) / a_step * 1e6, 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", type=Path, metavar="FILE")
    given = parser.parse_args()
    found = {name: measured(program) for name, program in PROGRAMS.items()}
    about = {"machine": machine(), "versions": versions("torch"), "limit in microseconds": 20}
    text = json.dumps({**about, **found}, indent=2)
    print(text)
    if given.o:
        given.o.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
