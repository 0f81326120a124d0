"""Functions that are compiled again only because of a weak type or a Python number."""

from __future__ import annotations

from pathlib import Path

import pytest
from under_audit import write

from castwise.auditing.launch import run_audited
from castwise.auditing.origins import Audit, make_audit
from castwise.auditing.records import Options
from castwise.auditing.source import edits_by_file
from castwise.report.audit import audit_text
from castwise.report.audit_json import audit_json

pytest.importorskip("jax")

PROGRAM = """
from functools import partial
import jax
import jax.numpy as jnp
import numpy as np
@jax.jit
def scaled(x, scale):
    return x * scale
@jax.jit
def doubled(carry):
    return carry * jnp.float32(2)
@jax.jit
def updated(params, rate):
    return params["w"] * rate
@partial(jax.jit, static_argnums=1)
def power(x, n):
    return x ** n
class Model:
    @partial(jax.jit, static_argnums=0)
    def __call__(self, x, offset):
        return x + offset
    @partial(jax.jit, static_argnums=0)
    def shifted(self, x, offset):
        return x + offset
x, model, rate = jnp.ones(3), Model(), np.float32(0.5)
scaled(x, 1)
scaled(x, 2)
scaled(x, 1.5)
scaled(x, rate)
scaled(jnp.ones(4), 1)
scaled(jnp.ones(3, jnp.bfloat16), 1.5)
total = jnp.asarray(1.0)
for _ in range(4):
    total = doubled(total)
weights = {"w": jnp.ones(3)}
updated(weights, jnp.float32(1))
updated(weights, 0.5)
for n in range(2, 5):
    power(x, n)
model.shifted(x, 1)
model.shifted(x, 1.0)
try:
    scaled(x, "text")
except TypeError:
    pass
print(scaled._cache_size(), doubled._cache_size(), updated._cache_size())
"""


def audit(place: Path, **options: object) -> Audit:
    script = write(place, script=PROGRAM)
    run = run_audited([str(script)], Options(**options))  # type: ignore[arg-type]
    assert (run.status, run.seen.counts.failures) == (0, {})
    return make_audit(run.seen)


def test_what_changed_from_what_to_what_and_what_to_write(tmp_path: Path) -> None:
    found = audit(tmp_path)
    retraces = found.sections.retraces
    assert [
        (r.function, r.earlier.line, r.place.line, c.label, c.before, c.after, r.times)
        for r in retraces
        for c in r.changed
    ] == [
        ("scaled", 26, 28, "scale", "the Python number 1", "the Python number 1.5", 1),
        ("scaled", 28, 29, "scale", "the Python number 1.5", "float32[]", 1),
        ("doubled", 34, 34, "carry", "float32*[]", "float32[]", 1),
        ("updated", 36, 37, "rate", "float32[]", "the Python number 0.5", 1),
        ("power", 39, 39, "n", "the Python number 2", "the Python number 3", 2),
        ("shifted", 40, 41, "offset", "the Python number 1", "the Python number 1.0", 1),
    ]
    fixes = [c.fix for r in retraces for c in r.changed if c.fix]
    assert [(fix.place.line, fix.text) for fix in fixes] == [
        (26, "1.0"),
        (29, "float(rate)"),
        (32, "jnp.asarray(1.0, dtype=jnp.float32)"),
        (37, "jnp.float32(0.5)"),
        (40, "1.0"),
    ]
    text = audit_text(found, width=200)
    assert "Compiled again 7 times only because a weak type or a Python number changed" in text
    assert "     + scaled(x, float(rate))" in text
    assert audit_json(found)["retraces"][0]["changed"][0]["fixes"][0]["text"] == "1.0"
    # With what is to be written, only the static number and one traced int are left.
    again = audit(tmp_path, edits=edits_by_file(fixes)).sections.retraces
    assert [r.function for r in again] == ["scaled", "power"]
