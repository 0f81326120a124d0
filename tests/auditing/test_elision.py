"""NumPy counts references under audit as it does without it: it reuses temporaries, and resizes
arrays in place if nothing else refers to them."""

from __future__ import annotations

from pathlib import Path

from under_audit import audited, plainly, write

PROGRAM = """
import tracemalloc
import numpy as np
def work(x, y, z):
    return x * y + z + x + y
def methods(x):
    return (x + 1).astype(np.float64, copy=False) * 2 + np.sqrt(x * x) - 1
x, y, z = (np.ones(200_000) for _ in range(3))
for function, arguments in ((work, (x, y, z)), (methods, (x,))):
    function(*arguments)
    tracemalloc.start()
    function(*arguments)
    print(round(tracemalloc.get_traced_memory()[1] / x.nbytes, 1))
    tracemalloc.stop()
x[:] = x * 2 + 1
x += y * 2
print(x[:3])
mixed = np.ones(3, np.float32) * np.ones(3)
mixed += mixed[::-1].sum()
mixed.resize((2, 3))
rows = [np.ones(2), np.arange(3) / 2]
rows[1].resize(rows[0].size + 3, refcheck=True)
print(mixed, rows)
view = rows[0][1:]
for held in (view, rows[0]):
    try:
        held.resize(5)
    except ValueError:
        print("refused")
"""


def test_nothing_refers_to_an_array_but_the_program(tmp_path: Path) -> None:
    script = write(tmp_path, script=PROGRAM)
    plain = plainly(script.name, cwd=tmp_path)
    outcome, _ = audited(script.name, cwd=tmp_path)
    assert outcome == plain
    assert plain.stdout.startswith("1.0\n") or plain.stdout.startswith("2.0\n")
    assert plain.stdout.endswith("refused\nrefused\n")
