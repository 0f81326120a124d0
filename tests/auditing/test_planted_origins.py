"""Programs with one line that makes their arrays wide: each is found first, with its fix."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

from castwise.auditing.judging.audited import Audit, audit_of
from castwise.auditing.running.launch import run_audited


class Planted(NamedTuple):
    name: str
    program: str  # the origin is the line with the comment "# here"
    fix: str


HEAD = """
import numpy as np
x = np.ones((100, 100), dtype=np.float32)
image = np.ones((100, 100), dtype=np.uint8)
"""

PLANTED = [
    Planted(
        "a constructor's default",
        """
        bias = np.zeros(100)  # here
        y = x + bias
        z = y * x
        """,
        "np.zeros(100, dtype=np.float32)",
    ),
    Planted(
        "linspace",
        """
        window = np.linspace(0, 1, 100)  # here
        y = x * window
        """,
        "np.linspace(0, 1, 100, dtype=np.float32)",
    ),
    Planted(
        "an array of a list",
        """
        mean = np.array([0.5] * 100)  # here
        y = x - mean
        """,
        "np.array([0.5] * 100, dtype=np.float32)",
    ),
    Planted(
        "arange of floats",
        """
        steps = np.arange(0.0, 100.0)  # here
        y = x * steps
        """,
        "np.arange(0.0, 100.0, dtype=np.float32)",
    ),
    Planted(
        "integers wider than the floats they meet",
        """
        rows = np.arange(100)  # here
        y = x + rows
        """,
        "np.arange(100, dtype=np.float32)",
    ),
    Planted(
        "random numbers",
        """
        noise = np.random.default_rng(0).normal(size=(100, 100))  # here
        y = x + noise
        """,
        "np.random.default_rng(0).normal(size=(100, 100)).astype(np.float32)",
    ),
    Planted(
        "a file",
        """
        import io
        table = np.loadtxt(io.StringIO(" ".join(["1.5"] * 100)))  # here
        y = x + table
        """,
        'np.loadtxt(io.StringIO(" ".join(["1.5"] * 100)), dtype=np.float32)',
    ),
    Planted(
        "a saved array",
        """
        import io
        store = io.BytesIO()
        np.save(store, np.ones(100))
        store.seek(0)
        weights = np.load(store)  # here
        y = x * weights
        """,
        "np.load(store).astype(np.float32)",
    ),
    Planted(
        "true division of integers",
        """
        scaled = image / 255  # here
        y = scaled - x
        """,
        "np.divide(image, 255, dtype=np.float32)",
    ),
    Planted(
        "a Python float beside integers",
        """
        half = image * 0.5  # here
        y = half + x
        """,
        "np.multiply(image, 0.5, dtype=np.float32)",
    ),
    Planted(
        "a NumPy scalar",
        """
        scale = np.float64(0.5)  # here
        y = x * scale
        """,
        "float(np.float64(0.5))",
    ),
    Planted(
        "a NumPy scalar that a function returns",
        """
        root = np.sqrt(2)  # here
        y = x / root
        """,
        "float(np.sqrt(2))",
    ),
    Planted(
        "a 0-d array",
        """
        offset = np.array(1.5)  # here
        y = x + offset
        """,
        "np.array(1.5, dtype=np.float32)",
    ),
    Planted(
        "the mean of integers",
        """
        columns = image.mean(axis=0)  # here
        y = x - columns
        """,
        "image.mean(axis=0, dtype=np.float32)",
    ),
    Planted(
        "an explicit cast to the wrong dtype",
        """
        wide = image.astype(float)  # here
        y = wide * x
        """,
        "image.astype(np.float32)",
    ),
    Planted(
        "in place",
        """
        shift = np.full(100, 0.1)  # here
        x += shift
        """,
        "np.full(100, 0.1, dtype=np.float32)",
    ),
    Planted(
        "a closure",
        """
        def scaled_by():
            table = np.ones(100)  # here
            return lambda values: values * table
        y = scaled_by()(x)
        """,
        "np.ones(100, dtype=np.float32)",
    ),
    Planted(
        "an attribute of a class",
        """
        class Layer:
            def __init__(self):
                self.bias = np.zeros(100)  # here
            def __call__(self, values):
                return values + self.bias
        y = Layer()(x)
        """,
        "np.zeros(100, dtype=np.float32)",
    ),
    Planted(
        "a comprehension",
        """
        parts = [row * np.hanning(100) for row in x]  # here
        """,
        "np.hanning(100).astype(np.float32)",
    ),
    Planted(
        "a default argument",
        """
        def shifted(values, by=np.zeros(100)):  # here
            return values - by
        y = shifted(x)
        """,
        "np.zeros(100, dtype=np.float32)",
    ),
    Planted(
        "a generator",
        """
        def windows():
            while True:
                yield np.ones(100)  # here
        for row, window in zip(x, windows()):
            y = row * window
        """,
        "np.ones(100, dtype=np.float32)",
    ),
    Planted(
        "joined arrays",
        """
        pad = np.zeros((1, 100))  # here
        y = np.concatenate([x, pad])
        z = y * 2
        """,
        "np.zeros((1, 100), dtype=np.float32)",
    ),
    Planted(
        "a power of integers",
        """
        powers = image ** 0.5  # here
        y = powers + x
        """,
        "np.power(image, 0.5, dtype=np.float32)",
    ),
    Planted(
        "where",
        """
        y = np.where(x > 0, x, np.zeros(100))  # here
        """,
        "np.zeros(100, dtype=np.float32)",
    ),
]


TORCH_HEAD = """
import torch
x = torch.ones(100, 100, dtype=torch.bfloat16)
"""

TORCH_PLANTED = [
    Planted(
        "a tensor of a list",
        """
        scale = torch.tensor([0.5] * 100)  # here
        y = x * scale
        x += scale
        """,
        "torch.tensor([0.5] * 100, dtype=torch.bfloat16)",
    ),
    Planted(
        "an array of another library",
        """
        import numpy as np
        window = torch.from_numpy(np.hanning(100))  # here
        y = x.float() * window
        """,
        "torch.from_numpy(np.hanning(100)).to(torch.float32)",
    ),
    Planted(
        "a 0-d tensor of a higher kind",
        """
        steps = torch.arange(100)  # here
        y = steps * torch.tensor(0.5)
        """,
        "torch.arange(100, dtype=torch.float32)",
    ),
    Planted(
        "a method in place",
        """
        bias = torch.zeros(100)  # here
        x.add_(bias)
        """,
        "torch.zeros(100, dtype=torch.bfloat16)",
    ),
]


def audited(program: str, directory: Path, head: str = HEAD) -> tuple[Audit, int]:
    """The audit of a program, and the line its origin is planted at."""
    source = head + textwrap.dedent(program)
    script = directory / "planted.py"
    script.write_text(source)
    run = run_audited([str(script)])
    assert run.status == 0
    lines = source.splitlines()
    (line,) = [n for n, text in enumerate(lines, 1) if text.endswith("# here")]
    return audit_of(run.seen), line


@pytest.mark.parametrize("planted", PLANTED, ids=lambda p: p.name)
def test_the_origin_is_found_first_with_its_fix(planted: Planted, tmp_path: Path) -> None:
    audit, line = audited(planted.program, tmp_path)
    first = audit.origins[0]
    assert first.place.line == line
    assert first.fix is not None
    assert first.fix.text == planted.fix


@pytest.mark.parametrize("planted", PLANTED, ids=lambda p: p.name)
def test_after_the_fix_there_are_no_findings(planted: Planted, tmp_path: Path) -> None:
    audit, _ = audited(planted.program, tmp_path)
    fix = audit.origins[0].fix
    assert fix is not None
    again, _ = audited(planted.program.replace(audit.origins[0].code, fix.text), tmp_path)
    assert again.origins == ()


@pytest.mark.parametrize("planted", TORCH_PLANTED, ids=lambda p: p.name)
def test_tensors_have_origins_too(planted: Planted, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    audit, line = audited(planted.program, tmp_path, TORCH_HEAD)
    first = audit.origins[0]
    assert first.place.line == line
    assert first.fix is not None
    assert first.fix.text == planted.fix
    fixed = planted.program.replace(first.code, first.fix.text)
    assert audited(fixed, tmp_path, TORCH_HEAD)[0].origins == ()
