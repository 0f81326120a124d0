"""Values that a program loses, and those that it means to lose."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from under_audit import audited, plainly, write

from castwise.auditing.origins import make_audit
from castwise.auditing.records import Options
from castwise.auditing.suppressions import failing_losses, without_ignored

# A line with a comment loses so many values in this way; all others lose none.
_NUMPY = """
    import numpy as np

    a, b = np.array([200, 10], np.uint8), np.array([100, 5], np.uint8)
    a + b  # 1 wrapped
    b - a  # 2 wrapped
    -b  # 2 wrapped
    np.multiply(a, b)  # 1 wrapped
    a @ b  # 1 wrapped
    np.array([2**62, 1]) * 4  # 1 wrapped
    np.full(10, 30000, np.int16).sum(dtype=np.int16)  # 1 wrapped
    np.full((2, 2), 100, np.int8).cumsum(0, dtype=np.int8)  # 2 wrapped
    np.array([1.5, np.nan, 3e9]).astype(np.int32)  # 2 out of range
    np.arange(300).astype(np.uint8)  # 44 wrapped
    np.exp(a)  # 1 overflowed
    np.exp(np.array([1, 2], np.uint8))  # 2 rounded to float16
    np.float16([60000.0]) * 2  # 1 overflowed
    np.float32([1e30]) ** 2  # 1 overflowed
    np.array([1e6]).astype(np.float16)  # 1 overflowed
    c = a.copy()
    c += b  # 1 wrapped
    held = np.zeros(3, np.int8)
    held[:] = np.array([1.0, 300.0, 2.0])  # 1 out of range
    [held][0][:2] = np.array([1, 300])  # 1 wrapped
    held[0], held[1:] = 5.5, np.array([1.0, 300.0])  # 1 out of range
    pair = 5.5, a
    c[0], held[:2] = pair  # 1 wrapped
    a << 3, a & b, ~a, a ^ b
    (np.arange(5) * 2**62 + 1) & 0xFF
    np.uint32([2**31]) * 2, np.uint64([2**63]) * 2
    a + b  # castwise: ignore[lost-values]
    np.array([1.5, -1.5]).astype(int), np.arange(2**24, 2**24 + 3).astype(np.float32)
    np.array([-(2.0**63), 2.0**62]).astype(np.int64), np.array([0.5]).astype(bool)
    np.float16([np.inf, 1]) * 2, np.float32([1.0]) / 0, np.array([1e300]) * 1e300
    np.array([2**62, -(2**62)]) + np.array([2**62 - 1, -(2**62)])
    np.subtract(c, 1, out=c)
    np.multiply(c, 100, out=c)  # 2 wrapped
    np.add(c, c, (d := c.copy()))  # 1 wrapped
    np.add(d, d, d), np.negative(d, out=(d,))  # 2 wrapped
    d[:] = 10, 2
    d *= d
    d += d[::-1]

    def cleared(array):
        array[:] = 0
        return np.array([9, 9], np.uint8)

    e = np.array([250, 250], np.uint8)
    e += cleared(e)
    np.add(e, cleared(e), out=e)
    e[1:] += e[:1]
    np.add(a, b, where=np.array([False, True]), out=e)
    np.add(a, b, where=[True, False][0], out=e)  # 1 wrapped
    a.sum(dtype=np.uint8, where=np.array([True, False]))
    np.sum(a + 0.0, out=np.zeros((), np.float16)), a.sum(out=e[0, ...])
    np.copyto(held, np.array([1.0, 300.0, 2.0]), casting="unsafe")  # 1 out of range
    np.copyto(held, np.array([1.0, 300.0, 2.0]), casting="unsafe", where=False)
    held.fill(np.array(300))  # 1 wrapped
    np.full_like(held, np.float32([300.5, 1, 2]))  # 1 out of range
    np.full_like(np.array([300.0]), 0, dtype=np.uint8)
    del a
    print(held)
"""
_TORCH_AND_JAX = """
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch

    a = torch.tensor([200, 10], dtype=torch.uint8)
    a + 100  # 1 wrapped
    torch.tensor([1.5, float("nan"), 3e9]).to(torch.int32)  # 2 out of range
    torch.arange(300).byte()  # 44 wrapped
    torch.tensor([1e38], dtype=torch.bfloat16) * 100  # 1 overflowed
    a += 100  # 1 wrapped
    b = torch.tensor([60, 10], dtype=torch.uint8)
    b.mul_(4)
    b.add_(100)  # 1 wrapped
    b.mul_(b)  # 2 wrapped
    torch.add(b, 250, out=b)  # 2 wrapped
    b[:] = 4
    b.mul_(b).sub_(b[:1].clone()), torch.mul(b, b, out=b)
    torch.ones(2, dtype=torch.float16).mul_(60000).mul_(2)  # 2 overflowed
    torch.tensor([1e38], dtype=torch.bfloat16).mul_(100)  # 1 overflowed
    b.copy_(torch.tensor([1.0, 300.0]))  # 1 out of range
    jnp.array([200, 10], dtype=jnp.uint8) + np.uint8(100)  # 1 wrapped
    jnp.asarray(np.array([2**40, 1]))  # 1 wrapped
    torch.vmap(lambda x: x * 2)(torch.ones(3, dtype=torch.uint8))
    weight = torch.ones(2, requires_grad=True)
    (weight * 2).sum().backward()
    print(weight.grad, jax.jit(lambda x: x * 2)(jnp.arange(3)))
"""


def check(source: str, directory: Path) -> None:
    script = write(directory, script=source)
    lines = script.read_text().splitlines()
    planted = {n: line.split("  # ")[1] for n, line in enumerate(lines, 1)
               if "  # " in line and "castwise:" not in line}  # fmt: skip
    outcome, seen = audited(script.name, cwd=directory, options=Options(checks_values=True),
                            flags=["-Wignore"])  # fmt: skip
    assert outcome == plainly(script.name, cwd=directory, flags=["-Wignore"])
    assert outcome.status == 0, outcome.stderr
    assert seen.counts.failures == {}
    audit = without_ignored(make_audit(seen))
    assert audit.losses is not None
    assert {loss.place.line: f"{loss.lost} {loss.how}" for loss in audit.losses} == planted
    assert failing_losses(audit, ["lost-values"]) == audit.losses
    assert failing_losses(audit, ["widens"]) == ()
    unread = dataclasses.replace(seen.facts, checks_values=False)
    assert make_audit(dataclasses.replace(seen, facts=unread)).losses is None


def test_values_of_numpy_arrays(tmp_path: Path) -> None:
    check(_NUMPY, tmp_path)


def test_values_of_torch_and_jax_arrays(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    check(_TORCH_AND_JAX, tmp_path)
