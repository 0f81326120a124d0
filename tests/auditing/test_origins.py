"""Where a dtype comes from, through what copies an array or hides it."""

from __future__ import annotations

from pathlib import Path

import pytest
from under_audit import audited, plainly, write

from castwise.auditing.origins import make_audit

# The line that uses an array names, after "# from", what the line that made it contains.
_NUMPY = """
    import numpy as np

    x = np.ones((100, 3), dtype=np.float32)
    w, at = np.random.rand(100), np.arange(10)
    y = np.zeros(100, dtype=int)

    class Model:
        def __init__(self):
            self.table = np.linspace(0, 9, 10)
        def __call__(self, at):
            return self.table[at]

    def two():
        return np.full(3, 0.5), 1

    lines, squares = np.linspace(0, 1, 3), np.linspace(2, 3, 100)
    across, down = np.meshgrid(lines, squares)
    one, _ = two()
    first, last = np.ones((2, 3))
    model = Model()
    x[at, 0] * w[at]  # from np.random
    x[w > 2, 0] + w[w > 2]  # from np.random
    x[:10, 0] * np.take(w, at)  # from np.random
    x + np.eye(3)[y]  # from np.eye
    x[:10, 0] * model(at)  # from np.linspace(0, 9
    x * across  # from lines, squares
    x * one  # from np.full
    x * last  # from first, last
    x[:50, 0] * np.split(w, 2)[1]  # from np.random
    x @ np.linalg.qr(np.identity(3))[0]  # from np.linalg.qr
    rows, names = [1, 2, 3], {"a": 1}
    for place in range(2000):
        rows[place % 3], names["a"]
    print(rows[1:], names["a"], [*zip(rows, rows)][rows.index(2)])
"""
_TORCH = """
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Data(Dataset):
        def __init__(self):
            self.targets = np.random.rand(8, 2)
        def __len__(self):
            return 8
        def __getitem__(self, place):
            return np.zeros(3), self.targets[place], torch.ones(3), 0.5

    weight = torch.ones(3)
    for inputs, targets, plain, number in DataLoader(Data(), batch_size=4):
        weight * inputs  # from np.zeros
        weight[:2] * targets  # from self.targets = np
        weight * plain
        print(number, flush=True)
    workers = {"num_workers": 2, "multiprocessing_context": "fork"}
    for inputs, targets, plain, number in DataLoader(Data(), batch_size=4, **workers):
        weight * inputs  # from np.zeros
        weight[:2] * targets  # from self.targets = np
        weight * plain
        print(number, flush=True)
"""
_PANDAS = """
    import io
    import numpy as np
    import pandas as pd

    read = pd.read_csv(io.StringIO("a,b,c\\n1.5,2,x\\n2.5,3,y\\n"))
    x = np.ones(2, dtype=np.float32)
    x * read["a"].values  # from pd.read_csv
    x * read["a"].to_numpy()  # from pd.read_csv
    x * np.asarray(read["a"])  # from pd.read_csv
    x * read[["a"]].to_numpy()[:, 0]  # from pd.read_csv
"""


def check(source: str, directory: Path) -> None:
    script = write(directory, script=source)
    lines = script.read_text().splitlines()
    planted = {n: line.split("  # from ")[1] for n, line in enumerate(lines, 1)
               if "  # from " in line}  # fmt: skip
    outcome, seen = audited(script.name, cwd=directory)
    assert outcome == plainly(script.name, cwd=directory)
    assert seen.counts.failures == {}
    found = {
        finding.place.line: lines[origin.place.line - 1]
        for origin in make_audit(seen).origins
        for finding in origin.findings
    }
    assert [n for n, made in planted.items() if made not in found.get(n, "")] == []


def test_origins_of_numpy_arrays(tmp_path: Path) -> None:
    check(_NUMPY, tmp_path)


def test_origins_of_the_batches_of_a_loader(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    check(_TORCH, tmp_path)


def test_origins_of_columns(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    check(_PANDAS, tmp_path)
