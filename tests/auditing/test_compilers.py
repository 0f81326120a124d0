"""Functions that other compilers read: the program gives what it gives without the audit."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from castwise.auditing.launch import run_audited
from castwise.auditing.origins import Audit, make_audit
from castwise.auditing.records import Options
from processes import finished


def same_with_and_without(
    place: Path, capfd: pytest.CaptureFixture[str], program: str, *, is_deep: bool = False
) -> Audit:
    """The audit of a program that prints what it prints without it."""
    script = place / "program.py"
    script.write_text(textwrap.dedent(program))
    plain = finished([sys.executable, script], check=True)
    assert plain.stdout
    run = run_audited([str(script)], Options(is_deep=is_deep))
    assert capfd.readouterr().out == plain.stdout
    assert run.status == 0
    assert run.seen.counts.failures == {}
    return make_audit(run.seen)


def not_observed(audit: Audit) -> dict[str, str]:
    return {name: why for _, _, name, why in audit.coverage.not_observed}


COUNTERS = """
from torch._dynamo.utils import counters
for name in ("stats", "frames", "graph_break", "unimplemented"):
    print(name, [(text.partition(chr(10))[0], count) for text, count in counters[name].items()])
"""
COMPILED = {
    "by name": """
        def f(x, y):
            return torch.tanh(x * y + 1).sum(-1)
        g = torch.compile(f, backend=BACKEND, fullgraph=True)
        print(g(x, x.double()).tolist(), g(x[:3], x[:3].double()).tolist())
    """,
    "through a variable": """
        def f(x):
            y = x * 2
            y += 1
            return y if y.shape[0] > 3 else -y
        (functions := {"f": f})
        g = torch.compile(functions["f"], backend=BACKEND, fullgraph=True)
        print(g(x).tolist(), g(x[:2]).tolist())
    """,
    "by a wrapper that decorates": """
        fast = torch.compile(backend=BACKEND, fullgraph=True)
        @fast
        def f(x, *, scale=2.5):
            return [x * scale * n for n in range(3)][-1]
        print(f(x).tolist(), f(x, scale=2).tolist())
    """,
    "a function it calls": """
        def inner(x):
            return torch.sin(x) * 3
        def outer(x):
            return inner(x) - 1
        print(torch.compile(outer, backend=BACKEND, fullgraph=True)(x).tolist())
    """,
    "a module and its methods": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 8)
            def half(self, x):
                return x * 0.5
            def forward(self, x):
                return self.half(self.layer(x)) + 1
        torch.manual_seed(0)
        net = Net()
        result = torch.compile(net, backend=BACKEND)(x)
        result.sum().backward()
        print(result.tolist(), net.layer.weight.grad.tolist())
        print(torch.compile(net.forward, backend=BACKEND)(x).tolist())
        net.compile(backend=BACKEND)
        print(net(x[:2]).tolist())
    """,
    "with a graph break": """
        def f(x):
            y = x * 2
            print("a side effect")
            return y + 1
        print(torch.compile(f, backend=BACKEND)(x).tolist())
    """,
    "lambdas on one line": """
        f, g = (lambda t: t * 2 + 1), (lambda t: t - 3)
        print([torch.compile(h, backend=BACKEND, fullgraph=True)(x).tolist() for h in (f, g)])
    """,
    "a closure": """
        def outer(scale):
            def f(x):
                return x * scale + 1
            return f
        print(torch.compile(outer(3), backend=BACKEND, fullgraph=True)(x).tolist())
    """,
    "what torch leaves to Python": """
        @torch.compiler.disable
        def plain(x):
            return x * 3
        def f(x):
            return plain(x + 1) - 1
        print(torch.compile(f, backend=BACKEND)(x).tolist())
    """,
    "recompiled": """
        def f(x, n):
            return x * n
        g = torch.compile(f, backend=BACKEND, dynamic=False)
        print([g(x, n).sum().item() for n in (1, 2, 3)])
    """,
}


@pytest.mark.parametrize("is_deep", [False, True], ids=["audit", "deep"])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_torch_compile_compiles_what_the_program_says(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], backend: str, is_deep: bool
) -> None:
    """Results, graphs, graph breaks and recompilations are those of the program itself."""
    pytest.importorskip("torch")
    parts = [f"def case_{n}():\n{textwrap.indent(textwrap.dedent(part), '    ')}\ncase_{n}()\n"
             for n, part in enumerate(COMPILED.values())]  # fmt: skip
    head = f"import torch\nfrom torch import nn\nBACKEND = {backend!r}\n"
    head += "x = torch.arange(32.0).reshape(4, 8)\n"
    program = head + "".join(parts) + COUNTERS
    audit = same_with_and_without(tmp_path, capfd, program, is_deep=is_deep)
    missed = not_observed(audit)
    assert {"f", "inner", "outer", "forward", "half", "<lambda>"} <= set(missed)
    assert set(missed.values()) == {"torch.compile"}


def test_code_that_is_not_compiled_is_still_observed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    program = """
    import torch
    def f(x):
        return x * 2
    x = torch.ones(3)
    print(torch.compile({"f": f}["f"], backend="eager")(x).tolist())
    y = f(x) * torch.ones(3, dtype=torch.float64)
    print(y.dtype)
    """
    audit = same_with_and_without(tmp_path, capfd, program)
    assert [finding.op for finding in audit.findings] == ["mul"]


def test_torch_jit_reads_the_source(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    program = """
    import warnings
    warnings.simplefilter("ignore")
    import torch
    from torch import nn
    class Net(nn.Module):
        def helper(self, x):
            return x * 2.5
        def forward(self, x):
            return self.helper(x) + 1
    def f(x):
        return x * 2 if x.shape[0] > 3 else x
    x = torch.ones(4)
    scripted = {"f": torch.jit.script}["f"]
    print(scripted(f)(x).tolist(), scripted(Net())(x).tolist())
    traced = torch.jit.trace(Net(), x)
    print(traced(x).tolist(), traced.graph)
    """
    same_with_and_without(tmp_path, capfd, program)
    same_with_and_without(tmp_path, capfd, program, is_deep=True)


def test_jax_traces_the_observed_function(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Findings in it say that they are counted per trace."""
    pytest.importorskip("jax")
    program = """
    import jax
    import jax.numpy as jnp
    traces = []
    @jax.jit
    def f(x, y):
        traces.append(1)
        return x * y
    def g(x):
        return f(x, x.astype(jnp.float32)).sum()
    x = jnp.ones(3, dtype=jnp.bfloat16)
    print([float(g(x)) for _ in range(5)], len(traces))
    print(jax.grad(g)(x).tolist(), jax.vmap(g)(x[None]).tolist())
    print(jax.make_jaxpr(g)(x))
    """
    audit = same_with_and_without(tmp_path, capfd, program)
    (finding, *_) = audit.findings
    assert finding.op == "mul"
    assert finding.is_traced
    assert not_observed(audit) == {}


NUMBA = """
import numba
import numpy as np
x = np.arange(5.0)
@numba.njit
def named(x):
    return (x * 2).sum()
fast = {"njit": numba.njit}["njit"]
@fast
def renamed(x):
    total = 0.0
    for value in x:
        total += value * 2
    return total
def plain(x):
    return x * 3 + 1
@numba.vectorize
def one(a, b):
    return a * b + 1
scaled = fast(lambda x: x * 3)
print(named(x), renamed(x), fast(plain)(x), one(x, 2.0), scaled(x))
print(renamed.nopython_signatures)
"""


def test_numba_compiles_what_the_program_says(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numba")
    audit = same_with_and_without(tmp_path, capfd, NUMBA)
    assert {"named", "renamed", "plain", "one", "<lambda>"} <= set(not_observed(audit))


def test_tf_function_reads_the_source(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tensorflow")
    program = """
    import tensorflow as tf
    traces = []
    def body(x):
        traces.append(1)
        if tf.reduce_sum(x) > 2:
            x = x * 2
        for _ in tf.range(3):
            x += 1
        return x
    f = {"f": tf.function}["f"](body)
    x = tf.ones(3)
    print([f(x).numpy().tolist() for _ in range(3)], len(traces))
    """
    same_with_and_without(tmp_path, capfd, program)


def test_triton_reads_the_source(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("triton")
    program = """
    import triton
    import triton.language as tl
    def kernel(x, y, n: tl.constexpr):
        place = tl.program_id(0) * n + tl.arange(0, n)
        tl.store(y + place, tl.load(x + place) * 2)
    compiled = {"jit": triton.jit}["jit"](kernel)
    print(compiled.src)
    """
    same_with_and_without(tmp_path, capfd, program)
