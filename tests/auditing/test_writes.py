"""What a program writes into an array that does not hold it."""

from __future__ import annotations

from pathlib import Path

import pytest
from under_audit import audited, plainly, write

from castwise.auditing.origins import make_audit

# A line with a comment is a finding with these hazards; all others are none.
_NUMPY = """
    import numpy as np

    u8, i32, f32 = np.zeros(3, np.uint8), np.zeros(3, np.int32), np.zeros(3, np.float32)
    f64, flags = np.zeros(3, dtype=np.float64), np.zeros(3, bool)
    u8[:] = f64  # loses-range changes-kind
    u8[0] = 3.7  # changes-kind
    u8[0:2] = [3.7, 1]  # changes-kind
    u8[0] = np.int64(300)  # loses-range
    i32[1:] = np.arange(2, dtype=np.int64)  # loses-range
    i32[0] += 0.5  # changes-kind
    f32[:] = f64  # loses-precision loses-range
    f32.real[:] = f64  # loses-precision loses-range
    np.copyto(u8, f64, casting="unsafe")  # loses-range changes-kind
    np.full_like(u8, fill_value=3.7)  # changes-kind
    np.add(f64, f64, out=f32)  # loses-precision loses-range
    np.add(f64, f64, out=u8, casting="unsafe")  # loses-range changes-kind
    u8[0] = 3.0
    u8[0] = np.int64(7)
    f32[0] = f64[0]
    f32[:] = np.arange(3)
    f64[:] = f32
    flags[:] = u8
    np.full_like(u8, 7)
    np.full_like(u8, 3.7, dtype=np.float32)
    rows, table = [0, 0], {}
    rows[0] = table[0] = 2.5
    table[rows[0]] = 2.5
    u8[0], table[1] = i32[0], f32[0] = 3.7, 2.5  # changes-kind
    f64[0], (table[2], i32[1]) = 3.7, (2.5, 2.5)  # changes-kind
    [table[3], u8[1:]] = (7, f64[1:])  # loses-range changes-kind
    table[4], u8[0], table[5] = [f64[:1], np.int64(300), "text"]  # loses-range
    three = 1.5, f64, 2.5
    table[6], f32[:], table[7] = three  # loses-precision loses-range
    table[8] = f32[0] = u8[2] = 1.5  # changes-kind
    (u8[0], u8[1]), *rest = iter([(3.7, 1), 2])
    u8[0], rows[1] = 3, 3.7
    rows[0], rows[1] = rows[1], rows[0]
    for u8[0] in (3.7, 300):
        break
    print(u8, i32, f32, rows, rest)
    try:
        i32[0:2] = [2**40, 1]
    except OverflowError as error:
        print(error)

    class Logged(np.ndarray):
        def __setitem__(self, index, value):
            print(index, type(value).__name__)
            super().__setitem__(index, value)

    own = np.zeros(3).view(Logged)
    own[print("index") or 1] = print("value") or 2.5
    own[print("i") or 0], (own[print("j") or 1], _) = print(1) or 1, (print(2) or 2.5, print(3))
    try:
        own[print("index") or 0], own[1] = iter((print("value") or 2.5,))
    except ValueError as error:
        print(error)
    try:
        own[0], own[9], own[1] = 1.5, print("value") or 2.5, 3.5
    except IndexError as error:
        print(error, own)

    del u8
    try:
        u8[0] = print("first")
    except NameError as error:
        print(error)
"""
_TORCH_AND_JAX = """
    import jax.numpy as jnp
    import numpy as np
    import torch

    long, f32 = torch.zeros(3, dtype=torch.long), torch.zeros(3)
    f64 = torch.zeros(3, dtype=torch.float64)
    long[0] = 3.7  # changes-kind
    long.copy_(f64)  # loses-range changes-kind
    torch.full_like(long, 3.7)  # changes-kind
    long.masked_fill(long == 0, 1.5)  # changes-kind
    torch.add(f64, f64, out=f32)  # loses-precision loses-range
    jnp.asarray(np.arange(3))  # loses-range
    jnp.asarray(np.zeros(3))
    f32.masked_fill_(f32 == 0, 1.5)
    f32[:] = torch.arange(3)
"""


def check(source: str, directory: Path) -> None:
    """Asserts that the findings are those of the comments, and that the program is unchanged."""
    script = write(directory, script=source)
    lines = script.read_text().splitlines()
    planted = {n: tuple(line.split("  # ")[1].split()) for n, line in enumerate(lines, 1)
               if "  # " in line}  # fmt: skip
    outcome, seen = audited(script.name, cwd=directory)
    assert outcome == plainly(script.name, cwd=directory)
    assert seen.counts.failures == {}
    audit = make_audit(seen)
    assert {f.place.line: f.hazards for f in audit.findings} == planted
    assert all(o.findings[0].result.kind == "float" for o in audit.origins if o.fixes)


def test_writes_to_numpy_arrays(tmp_path: Path) -> None:
    check(_NUMPY, tmp_path)


def test_writes_to_torch_and_jax_arrays(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    check(_TORCH_AND_JAX, tmp_path)
