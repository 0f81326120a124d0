"""Programs with one line that makes their arrays wide: each is found first, with its fix."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from castwise.auditing.launch import run_audited
from castwise.auditing.origins import DtypeOrigin, make_audit


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
        "np.hanning(100).astype(np.float32)",
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


class Found(NamedTuple):
    """What an audit found in a program."""

    origins: list[DtypeOrigin]  # worst first
    line: int  # that of the planted origin


def audited(programs: Sequence[str], directory: Path, head: str) -> list[Found]:
    """The audits of programs, which are the modules of one that imports them all."""
    directory.mkdir()
    names = [f"planted_{number}" for number in range(len(programs))]
    sources = [head + textwrap.dedent(program) for program in programs]
    for name, source in zip(names, sources, strict=True):
        (directory / f"{name}.py").write_text(source)
    script = directory / "all_of_them.py"
    script.write_text("".join(f"import {name}\n" for name in names))
    run = run_audited([str(script)])
    assert run.status == 0
    origins = make_audit(run.seen).origins
    own = [[o for o in origins if Path(o.place.file).stem == name] for name in names]
    assert sum(map(len, own)) == len(origins)
    return [Found(found, planted_at(source)) for found, source in zip(own, sources, strict=True)]


def planted_at(source: str) -> int:
    lines = source.splitlines()
    (line,) = [n for n, text in enumerate(lines, 1) if text.endswith("# here")]
    return line


def check(planted: Sequence[Planted], directory: Path, head: str) -> None:
    """That each origin is found first, with its fix, and that nothing is found after the fix."""
    before = audited([p.program for p in planted], directory / "before", head)
    firsts = [(found.line, found.origins[0]) for found in before]
    places = {p.name: first.place.line for p, (_, first) in zip(planted, firsts, strict=True)}
    assert places == {p.name: line for p, (line, _) in zip(planted, firsts, strict=True)}
    fixes = {p.name: first.fixes for p, (_, first) in zip(planted, firsts, strict=True)}
    assert {name: [fix.text for fix in found] for name, found in fixes.items()} == {
        p.name: [p.fix] for p in planted
    }
    fixed = [p.program.replace(o.code, p.fix) for p, (_, o) in zip(planted, firsts, strict=True)]
    after = audited(fixed, directory / "after", head)
    left = {p.name: found.origins for p, found in zip(planted, after, strict=True)}
    assert {name: origins for name, origins in left.items() if origins} == {}


def test_each_origin_is_found_first_and_nothing_after_its_fix(tmp_path: Path) -> None:
    check(PLANTED, tmp_path, HEAD)


def test_tensors_have_origins_too(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    check(TORCH_PLANTED, tmp_path, TORCH_HEAD)
