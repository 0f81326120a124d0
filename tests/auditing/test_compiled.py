"""Compiled functions that also run without their compilers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from under_audit import write

from castwise.auditing.launch import run_audited
from castwise.auditing.origins import Audit, make_audit
from castwise.auditing.records import ComparedCompilation, CompiledDifference, Options
from castwise.auditing.suppressions import failing_compilations, without_ignored
from castwise.report.audit import audit_text
from castwise.report.audit_json import audit_json, audit_sarif

# Backends that differ from PyTorch on purpose, so that the test needs no C++ compiler.
TORCH = """
    import random
    import torch
    torch.manual_seed(0)
    def widening(graph, inputs):
        return lambda *x: [r.double() for r in graph(*x)]
    def refusing(graph, inputs):
        raise RuntimeError("no such dtype here")
    def taking(graph, inputs):
        return lambda *x: [torch.ones(3)]
    def same(graph, inputs):
        return graph.forward
    def tried(function, *arguments):
        try:
            return [r.dtype for r in function(*arguments)]
        except Exception as error:
            return type(error).__name__
    @torch.compile(backend=widening)
    def wide(x):
        y = x + 1
        return y * 2,
    @torch.compile(backend=refusing)
    def refused(x):
        return x * 2,
    @torch.compile(backend=taking)
    def taken(x, y):
        z = x * 2
        return torch.heaviside(z, y),
    @torch.compile(backend=same)
    def untraced(mask, x):
        return torch.where(mask, x, x),
    @torch.compile(backend=same)
    def drawn(x):
        x.add_(1)
        return x * torch.rand(3),
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
    fast = torch.compile(model, backend=same)
    half, single = torch.ones(3, dtype=torch.float16), torch.ones(3)
    print(tried(wide, half), tried(wide, half), tried(wide, single))
    print(tried(refused, half), tried(taken, half, single))
    print(tried(untraced, torch.ones(3, dtype=torch.uint8), single))
    print(drawn(single), single, torch.rand(1), random.random() < 1)
    print(fast(torch.rand(4, 3)).sum().item(), model[1].num_batches_tracked)
    print(torch.compile(torch.mul, backend=widening)(half, 2).dtype)
"""
JAX = """
    from functools import partial
    import numpy as np
    import jax, jax.numpy as jnp
    @jax.jit
    def power(x, n):
        print("in power")
        shift = np.random.randint(3)
        y = x + x
        z = y ** n
        return {"sum": z, "shift": shift}
    @partial(jax.jit, donate_argnums=0)
    def given(x):
        return x * 2
    class Model:
        @partial(jax.jit, static_argnums=0)
        def scaled(self, x):
            return x * 2.5
    np.random.seed(0)
    x, n = jnp.ones(3, "uint8"), jnp.array(1, "int16")
    print(power(x, n), power(x, n), power(jnp.ones(3), 2.0), np.random.rand())
    given(jnp.ones(3))
    Model().scaled(x)
    try:
        jax.jit(lambda x, n: x ** n)(jnp.ones(3, "uint4"), jnp.array(1, "uint8"))
    except Exception as error:
        print(type(error).__name__)
"""


def audit(place: Path, program: str, capfd: pytest.CaptureFixture[str]) -> Audit:
    """An audit of a program, which prints what it prints without."""
    script = write(place, script=program)
    printed = []
    for options in (Options(), Options(compares=True)):
        run = run_audited([str(script)], options)
        assert (run.status, run.seen.counts.failures) == (0, {})
        printed.append(capfd.readouterr().out)
    assert printed[0] == printed[1] != ""
    return make_audit(run.seen)


def found_in(audit: Audit) -> list[tuple[object, ...]]:
    compared = audit.sections.compared
    assert compared is not None
    return [
        (f.place.line, f.function, f.difference.what, f.difference.compiled, f.difference.plain)
        for f in compared.findings
    ]


def test_torch_compile(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    found = audit(tmp_path, TORCH, capfd)
    assert found_in(found) == [
        (21, "wide", "mul", "float64", "float16"),
        (21, "wide", "mul", "float64", "float32"),
        (24, "refused", "the graph", "", "float16"),
        (28, "taken", "heaviside", "float32", ""),
        (31, "untraced", "where", "", "float32"),
        (44, "", "mul", "float64", "float16"),  # torch's own: the line that calls it
    ]
    texts = " ".join(audit_text(found).split())
    assert "8 compilations compared, 6 differences" in texts
    assert "; 6 differences in compiled functions" in texts.partition(".")[0]
    assert (
        "script.py:31: where in untraced gives an error with torch.compile, and float32 without it "
        "(RuntimeError: expected predicate to be bool, got torch.uint8)"
    ) in texts


def test_jax_jit(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jax")
    found = audit(tmp_path, JAX, capfd)
    assert found_in(found) == [
        (10, "power", "result['sum']", "int16", "uint8"),
        (25, "<lambda>", "the call", "", "uint4"),
    ]
    data = json.loads(json.dumps(audit_json(found)))["compiled"]
    assert data["compilations"] == 4
    assert [one["function"] for one in data["not_compared"]] == ["given"]
    assert "donate_argnums" in data["not_compared"][0]["reason"]
    results = audit_sarif(found, tmp_path)["runs"][0]["results"]
    assert [r["ruleId"] for r in results].count("compiled-differs") == 2


def test_what_differs_fails_unless_a_comment_accepts_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("jax")
    accepting = JAX.replace("y ** n\n", "y ** n  # castwise: ignore[compiled-differs]\n", 1)
    found = without_ignored(audit(tmp_path, accepting, capfd))
    assert [f.place.line for f in failing_compilations(found, ["compiled-differs"])] == [25]
    assert failing_compilations(found, ["any"])
    assert not failing_compilations(found, ["widens"])
    assert not failing_compilations(without_ignored(found, ["compiled-differs"]), ["any"])


def test_without_the_option_nothing_runs_twice(tmp_path: Path) -> None:
    script = write(tmp_path, script="import numpy as np\nnp.ones(3, 'f4') * np.ones(3)\n")
    assert make_audit(run_audited([str(script)], Options()).seen).sections.compared is None
    found = make_audit(run_audited([str(script)], Options(compares=True)).seen)
    assert "run without their compilers too: none was compiled." in " ".join(
        audit_text(found).split()
    )


def test_a_difference_without_a_line_of_the_program_is_told_without_one(tmp_path: Path) -> None:
    script = write(tmp_path, script="import numpy as np\nnp.ones(3, 'f4')\n")
    seen = run_audited([str(script)], Options(compares=True)).seen
    difference = CompiledDifference("mul", "float16", "float64")
    library = ComparedCompilation("torch.compile", "", "", 0, (difference,))
    found = make_audit(replace(seen, beyond=replace(seen.beyond, compared=(library,))))
    assert "   mul gives float64 with torch.compile, and float16 without it" in audit_text(found)
    assert audit_sarif(found, tmp_path)["runs"][0]["results"] == []
