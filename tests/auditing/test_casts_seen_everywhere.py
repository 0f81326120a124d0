"""Casts in calls without a rule, in lists, builtins, masked arrays and module calls, one line each;
and what looks like one, but is not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from under_audit import audited, plainly, write

from castwise.auditing.origins import Audit, make_audit

NUMPY = """
import operator
import numpy as np
a, b, i = np.ones(3, np.float32), np.ones(3), np.arange(3)
m, flag = np.ma.array(a, mask=[0, 1, 0]), np.array([True, False, True])
s, rng, held = np.eye(3, dtype=np.float32), np.random.default_rng(0), {}
poly = np.poly1d([1.0, 2.0])
"""
NUMPY_CASES = {
    "np.append(a, b)": "concat",
    "np.hstack([a, b])": "concat",
    "np.vstack((a, b))": "concat",
    "np.stack([a, b])": "stack",
    "np.concatenate([a, b])": "concat",
    "np.concatenate([a, [1.5]])": "concat",
    "np.average(a, weights=b)": "average",
    "np.quantile(a, [0.1, 0.9])": "quantile",
    "np.percentile(a, np.array([5.0]))": "percentile",
    "np.einsum('i,i', a, b)": "einsum",
    "np.convolve(a, b)": "convolve",
    "np.interp(a, b, b)": "interp",
    "np.cov(a)": "cov",
    "np.linalg.solve(s, b)": "linalg.solve",
    "np.cross(a, b)": "cross",
    "np.divmod(a, b)": "floor_divide",
    "np.select([flag], [a], b)": "select",
    "np.histogram(a, weights=b)": "histogram",
    "np.histogram(a, b.cumsum())": "histogram",
    "np.fft.fft(i)": "fft.fft",
    "np.polyfit(a, b, 1)": "polyfit",
    "np.add.outer(a, b)": "add.outer",
    "np.add(a, [1.5])": "add",
    "a + [1.5]": "add",
    "(1.5, 2.5, 3.5) * a": "mul",
    "operator.add(a, b)": "add",
    "sum([a, b])": "sum",
    "pow(a, b)": "pow",
    "divmod(a, b)": "floor_divide",
    "pow(i, 0.5)": "pow",
    "m + np.ma.array(b)": "add",
    "m * 1.5": "mul",
    "m.mean()": "mean",
    "np.ma.add(m, b)": "add",
    "np.ma.average(m, weights=b)": "average",
    "abs(a)": None,
    "min(a), max([a[0], b[0]])": None,
    "sum([a, a])": None,
    "sum(a)": None,
    "divmod(a, 2)": None,
    "m % 2.0": None,
    "np.ma.masked_where(flag, a)": None,
    "np.fft.fft(a)": None,
    "np.fft.fft(a, n=4)": None,
    "np.quantile(a, 0.5)": None,
    "np.average(a, weights=a)": None,
    "np.einsum('i,i', a, a)": None,
    "np.einsum('i,i', a, b, dtype=np.float64)": None,
    "np.einsum('i,i->i', a, a, out=b)": None,
    "np.interp(b, b, b)": None,
    "np.convolve(i, i)": None,
    "np.linalg.inv(s)": None,
    "np.linalg.svd(s)": None,
    "np.histogram(a)": None,
    "np.take_along_axis(a, i, 0)": None,
    "np.insert(a, i, 1.0)": None,
    "np.broadcast_arrays(a, b)": None,
    "np.apply_along_axis(lambda row: row.astype(float), 0, a)": None,
    "np.testing.assert_allclose(a, b)": None,
    "rng.gamma(a, b), rng.normal(a, b)": None,
    "held.get('x', a), held.setdefault('y', b)": None,
    "[].append(a), isinstance(a, float), np.ndim(a), np.iscomplexobj(a)": None,
    "poly(a)": None,
}
TORCH = """
import torch
import torch.nn.functional as F
a, b, i = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.float64), torch.arange(2)
"""
TORCH_CASES = {
    "torch.vstack([a, b])": "concat",
    "torch.hstack((a, b))": "concat",
    "torch.kron(a, b)": "kron",
    "torch.addcdiv(a, b, b)": "addcdiv",
    "torch.dist(a, b)": "dist",
    "F.smooth_l1_loss(a, b)": "smooth_l1_loss",
    "F.binary_cross_entropy_with_logits(a, b)": "binary_cross_entropy_with_logits",
    "F.cosine_similarity(a, b)": "cosine_similarity",
    "F.cross_entropy(a, b)": "cross_entropy",
    "torch.nn.MSELoss()(a, b)": "MSELoss",
    "torch.nn.SmoothL1Loss()(a, b)": "SmoothL1Loss",
    "torch.nn.BCEWithLogitsLoss()(a, b)": "BCEWithLogitsLoss",
    "i / 2": "div",
    "i * 0.5": "mul",
    "torch.exp(i)": "exp",
    "sum([a, b])": "sum",
    "pow(a, b)": "pow",
    "abs(a)": None,
    "i // 2, i * 2": None,
    "F.cross_entropy(a, i)": None,
    "F.layer_norm(a, (3,)), F.embedding(i, a)": None,
    "torch.nn.CrossEntropyLoss()(a, i)": None,
    "torch.nn.Embedding(2, 3)(i), torch.nn.Linear(3, 2)(a)": None,
    "torch.broadcast_tensors(a, b)": None,
    "torch.linalg.norm(a), torch.linalg.svd(a), torch.fft.fft(a)": None,
    "torch.max(a, dim=0), torch.std_mean(a)": None,
    "torch.is_tensor(a), a.stride()": None,
}
JAX = """
import jax
import jax.numpy as jnp
a, b, i = jnp.ones(3, jnp.bfloat16), jnp.ones(3), jnp.arange(3)
key = jax.random.PRNGKey(0)
"""
JAX_CASES = {
    "jnp.einsum('i,i', a, b)": "einsum",
    "jnp.append(a, b)": "append",
    "jnp.vstack([a, b])": "concat",
    "a.at[0].add(b[0])": "add",
    "i / 2": "div",
    "i * 0.5": "mul",
    "jnp.exp(i)": "exp",
    "divmod(a, b)": "floor_divide",
    "sum([a, b])": "sum",
    "a.at[0].mul(2.0), a.at[0].get()": None,
    "jax.random.gamma(key, a), jax.random.exponential(key, (3,))": None,
    "jax.nn.one_hot(i, 3)": None,
    "jax.tree.map(lambda x, y: x, a, b)": None,
    "jax.lax.scan(lambda c, x: (c, x), a, b)": None,
    "jnp.fft.fft(b)": None,
}


@pytest.mark.parametrize(
    ("framework", "before", "cases"),
    [("numpy", NUMPY, NUMPY_CASES), ("torch", TORCH, TORCH_CASES), ("jax", JAX, JAX_CASES)],
    ids=["numpy", "torch", "jax"],
)
def test_each_cast_is_found_once_and_nothing_else(
    framework: str, before: str, cases: dict[str, str | None], tmp_path: Path
) -> None:
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    source = before + "\n".join(cases) + "\n"
    script = write(tmp_path, script=source).name
    outcome, seen = audited(script, cwd=tmp_path)
    assert outcome.status == 0, outcome.stderr
    assert seen.counts.failures == {}
    audit = make_audit(seen)
    assert not audit.coverage.unexpected
    lines = source.splitlines()
    found = [(lines[f.place.line - 1], f.op) for f in audit.findings]
    assert sorted(found) == sorted((code, op) for code, op in cases.items() if op)


def judged(source: str, directory: Path) -> Audit:
    outcome, seen = audited(write(directory, script=source).name, cwd=directory)
    assert outcome == plainly("script.py", cwd=directory)
    return make_audit(seen)


def test_what_is_not_about_arrays_is_not_counted_and_the_rest_is_named(tmp_path: Path) -> None:
    audit = judged(
        """
        import logging
        import numpy as np
        x = np.ones(3, np.float32)
        logging.getLogger().debug(x)
        {}.get("x", x), dict(x=x), isinstance(x, list), np.shape(x), np.isscalar(x)
        x.nbytes.bit_length()
        np.einsum("i,i", x, x)
        np.lib.stride_tricks.sliding_window_view(x, 2)
        np.nditer([x])
        class Opaque:
            def __radd__(self, other): return other
            __array_ufunc__ = None
        x + Opaque()
        """,
        tmp_path,
    )
    coverage = audit.coverage
    assert coverage.by_dtypes == {"einsum": 1, "sliding_window_view": 1}
    assert coverage.not_understood == {"an operand that is not an array": 1}
    assert [(place.line, runs) for place, _, runs in coverage.unclear_at] == [(14, 1)]


def test_code_from_text_is_counted_and_runs_as_before(tmp_path: Path) -> None:
    audit = judged(
        """
        import numpy as np
        x = np.ones(3, np.float32)
        for _ in range(3):
            exec("y = x * np.ones(3)")
        def inner():
            local = 2
            exec("local = 3")
            return eval("local + 1"), eval(compile("local", "<text>", "eval"))
        print(inner(), y.dtype)
        def shadow():
            def eval(model, data): return model
            return eval(x, x)
        shadow()
        try:
            eval("1 +")
        except SyntaxError as error:
            print(error)
        """,
        tmp_path,
    )
    told = [(u.line, u.name, u.why) for u in audit.coverage.not_observed]
    assert told[0] == (5, "exec", "ran code from text 3 times")
    assert [line for line, *_ in told] == [5, 8, 9, 16]


def test_a_cast_that_no_rule_explains_has_no_fix_and_keeps_others_proven(tmp_path: Path) -> None:
    audit = judged(
        """
        import numpy as np
        x = np.ones(3, np.float32)
        weights = np.ones(3)
        y = x * weights
        z = np.einsum("i,i", x, weights)
        values, vectors = np.linalg.eigh(np.eye(3))
        x @ vectors
        """,
        tmp_path,
    )
    first, second = audit.origins
    assert {f.op: f.operation.is_observed for f in first.findings} == {"mul": False, "einsum": True}
    assert [fix.text for fix in first.fixes] == ["np.ones(3, dtype=np.float32)"]
    assert first.removed == 1
    assert second.place.line == 7  # where the second of two results was made
    assert [fix.text for fix in second.fixes] == ["np.eye(3, dtype=np.float32)"]
