"""An error about dtypes that ends a program is explained: what, why, and what to write."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from textwrap import indent

import pytest
from under_audit import audited, plainly, write

from castwise.auditing.origins import make_audit
from castwise.auditing.records import Seen
from castwise.auditing.sections import ExplainedCrash, crashes_in
from castwise.report.audit import audit_text, crash_text
from castwise.report.audit_json import audit_json
from castwise.report.audit_page import audit_html

HEAD = """
import pickle
from castwise.auditing.crash import crash_from
found = []
"""
KEEPING = """
def case():
{case}
try:
    case()
except Exception as error:
    found.append(crash_from(error))
"""


def explained(place: Path, head: str, cases: list[str]) -> list[ExplainedCrash | None]:
    """What each case ends with, all run in one process; None: not an error about dtypes."""
    return [explanation(seen) for seen in raised(place, head, cases)]


def explanation(seen: Seen) -> ExplainedCrash | None:
    return next(iter(crashes_in(seen)), None)


def raised(place: Path, head: str, cases: list[str]) -> list[Seen]:
    """What was seen, with the crash of each case."""
    source = "\n".join([HEAD, head, *(KEEPING.format(case=indent(case, "    ")) for case in cases)])
    script = write(place, script=f"{source}\npickle.dump(found, open('found', 'wb'))\n")
    outcome, seen = audited(script.name, cwd=place)
    assert (outcome.status, outcome.stderr, seen.counts.failures) == (0, "", {})
    assert seen.crashes == ()  # each was caught
    found = pickle.loads((place / "found").read_bytes())
    return [replace(seen, crashes=(crash,)) for crash in found]


def written(crash: ExplainedCrash | None) -> str | None:
    return crash.fix.text if crash and crash.fix else None


def test_the_operation_comes_first_and_the_program_ends_as_it_does(tmp_path: Path) -> None:
    source = """
    import numpy as np
    counts = np.arange(3)
    def add(values):
        values += np.ones(3) * 2
    add(counts)
    """
    script = write(tmp_path, script=source)
    outcome, seen = audited(script.name, cwd=tmp_path)
    assert outcome == plainly(script.name, cwd=tmp_path)
    assert (outcome.status, seen.counts.failures) == (1, {})
    audit = make_audit(seen)
    (crash,) = audit.sections.crashes
    assert crash.operation == "int64[3] += float64[3]"
    assert (crash.place.line, crash.dialect) == (5, "numpy")
    assert crash.why.startswith("the float64 result cannot be written into int64")
    assert written(crash) == "values = values + (np.ones(3) * 2)"
    assert audit_text(audit).startswith(f"The program ended at {script}:5: a dtype error.\n")
    (as_json,) = audit_json(audit)["crashes"]
    assert as_json["code"] == "values += np.ones(3) * 2"
    assert as_json["error"].startswith("UFuncTypeError: Cannot cast ufunc 'add' output")
    assert [fix["text"] for fix in as_json["fixes"]] == [written(crash)]
    assert "a dtype error</h2>" in audit_html(audit)


def test_errors_of_numpy(tmp_path: Path) -> None:
    head = "import numpy as np\nn, f = np.arange(3), np.ones(3)"
    cases = {
        "np.add(n, 1.5, out=n)": ("add(int64[3], 1.5, out=int64)", None),
        "m = n.copy()\nm[1:] += 0.5": ("int64[2] += 0.5", None),
        "f & n": ("float64[3] & int64[3]", None),
        "np.uint8(3) + 300": ("np.uint8(3) + 300", None),
        "f + np.ones(2)": None,  # its shapes
        "f[7]": None,
        "raise TypeError('mine')": None,
    }
    found = explained(tmp_path, head, list(cases))
    assert [c and (c.operation, written(c)) for c in found] == list(cases.values())


def test_a_refusal_of_castwise_names_the_dialect_it_held_the_program_to(tmp_path: Path) -> None:
    head = """
import castwise as cw, numpy as np
n, f = np.arange(3), np.ones(3, np.float32)
@cw.audited
def add(x, y):
    return x + y
"""
    cases = [
        "with cw.use('tensorflow'):\n    cw.asarray(n) + cw.asarray(f)",
        "with cw.enforce('tensorflow:safe'):\n    add(n, f)",
    ]
    found = explained(tmp_path, head, cases)
    used, enforced = [crash.error for crash in found if crash]
    assert used.startswith("PromotionError: int64 + float32 is not defined in tensorflow: ")
    assert "int64[3] + float32[3] is not defined in tensorflow:safe: " in enforced
    assert {(c.operation, c.dialect, c.inside) for c in found if c} == {("", "", "")}


def test_errors_of_torch(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    head = """
import torch
from torch import nn
i, f, h = torch.arange(3), torch.ones(3), torch.ones(3).half()
a, b = torch.ones(3, 3), torch.ones(3, 3).half()
layer = nn.Linear(3, 3)
"""
    cases = {
        "i.clamp_(0, 1.5)": ("clamp_(int64[3], 0, 1.5)", "i = i.clamp(0, 1.5)"),
        "j = i.clamp_(0, 1.5)": ("clamp_(int64[3], 0, 1.5)", None),  # j is used
        "global i\ni += f": ("int64[3] += float32[3]", "i = i + f"),
        "a @ b": ("float32[3,3] @ float16[3,3]", "a @ b.to(a.dtype)"),
        "torch.dot(h, f)": ("dot(float16[3], float32[3])", "torch.dot(h.to(f.dtype), f)"),
        "i.mean()": ("mean(int64[3])", None),
        "f & 1": ("float32[3] & 1", None),
        "layer(h[None])": ("linear(float16[1,3], float32[3,3], float32[3])", None),
        "f[f]": ("", None),
        "f.index_add_(0, i, h)": ("index_add_(float32[3], 0, int64[3], float16[3])", None),
        "i.requires_grad_()": ("requires_grad_(int64[3])", None),
        "nn.LSTM(3, 3)(b[None])": ("check_input(float16[1,3,3], ...)", None),
        "a @ torch.ones(2, 2)": None,  # its shapes
    }
    found = explained(tmp_path, head, list(cases))
    assert [c and (c.operation, written(c)) for c in found] == list(cases.values())
    inside = found[7]
    assert inside is not None
    assert (inside.code, inside.why) == ("layer(h[None])", "")
    assert "mat1 and mat2 must have the same dtype" in crash_text(inside)
    assert inside.inside.startswith("torch/nn/modules/linear.py:")


def test_errors_of_jax(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    head = """
import jax, jax.numpy as jnp
x, y = jnp.ones(3), jnp.arange(3)
def strict():
    jax.config.update("jax_numpy_dtype_promotion", "strict")
"""
    cases = {
        "jax.jit(lambda: x & y)()": ("float32[3] & int32[3]", None),
        "jax.lax.add(x, y)": ("add(float32[3], int32[3])", "jax.lax.add(x, y.astype(x.dtype))"),
        "with jax.numpy_dtype_promotion('strict'):\n    x * y": (
            "float32[3] * int32[3]",
            "x * y.astype(x.dtype)",
        ),
        "strict()\nx + y": ("float32[3] + int32[3]", "x + y.astype(x.dtype)"),
    }
    ends = raised(tmp_path, head, list(cases))
    found = [explanation(seen) for seen in ends]
    assert [c and (c.operation, written(c)) for c in found] == list(cases.values())
    # If promotion is not strict any more when the program ends, the error tells that it was.
    dialects = {"jax": "jax"}
    ends = [replace(seen, facts=replace(seen.facts, running=dialects)) for seen in ends]
    found = [explanation(seen) for seen in ends]
    strict = "jax:strict-x32"
    assert [c and c.dialect for c in found] == ["jax", "", strict, strict]
