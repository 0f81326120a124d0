"""What --deep shows of a torch program: ops inside libraries, in backward, and in threads."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from castwise.auditing.launch import run_audited
from castwise.auditing.origins import Audit, make_audit
from castwise.auditing.records import Finding, InsideCast, InsideCoverage, Options
from castwise.report.audit import inside_text
from castwise.report.audit_json import audit_json
from processes import finished

pytest.importorskip("torch")

HEAD = """
import torch
from torch import nn
half = torch.ones(8, dtype=torch.bfloat16)
x = torch.ones(4, 8)
"""


def audited(place: Path, program: str, *, is_deep: bool = True) -> Audit:
    script = place / "program.py"
    script.write_text(HEAD + textwrap.dedent(program))
    run = run_audited([str(script)], Options(is_deep=is_deep))
    assert run.status == 0
    assert run.seen.counts.failures == {}
    return make_audit(run.seen)


def inside(audit: Audit) -> InsideCoverage:
    assert audit.inside is not None
    return audit.inside


def code_of(place: object, audit_place: Path) -> str:
    line = (audit_place / "program.py").read_text().splitlines()[place.line - 1]  # type: ignore[attr-defined]
    return line.strip()


def the_cast(audit: Audit) -> InsideCast:
    (cast,) = inside(audit).casts
    return cast


def the_finding(audit: Audit) -> Finding:
    (finding,) = audit.findings
    return finding


def test_an_op_inside_a_library_is_found_at_the_users_line(tmp_path: Path) -> None:
    program = """
    loss = nn.HuberLoss()(x, half.expand(4, 8))
    """
    found = the_finding(audited(tmp_path, program))
    assert found.op == "huber_loss"
    assert found.inside.startswith("inside torch/nn/functional.py:")
    assert code_of(found.place, tmp_path) == "loss = nn.HuberLoss()(x, half.expand(4, 8))"


def test_without_deep_nothing_inside_is_seen(tmp_path: Path) -> None:
    audit = audited(tmp_path, "loss = nn.HuberLoss()(x, half.expand(4, 8))\n", is_deep=False)
    assert audit.inside is None
    assert [str(f) for f in audit.findings] == ["HuberLoss(float32[4,8], bfloat16[4,8]) -> float32"]
    assert audit.findings[0].operation.is_observed  # at the call: what is inside it was not seen


def test_the_users_own_ops_are_found_once(tmp_path: Path) -> None:
    assert the_finding(audited(tmp_path, "y = x * half\n")).inside == ""


def test_backward_is_found_at_its_forward_line(tmp_path: Path) -> None:
    program = """
    w = torch.ones(8, dtype=torch.bfloat16, requires_grad=True)
    def model(x):
        return x * w
    y = model(x)
    y.sum().backward()
    """
    audit = audited(tmp_path, program)
    cast = the_cast(audit)
    assert (cast.source.name, cast.target.name) == ("float32", "bfloat16")
    assert cast.why == "backward of mul"
    assert code_of(cast.place, tmp_path) == "return x * w"
    assert (cast.count, cast.bytes) == (1, 16)


def test_findings_in_backward_say_so(tmp_path: Path) -> None:
    program = """
    w = torch.ones(8, dtype=torch.bfloat16, requires_grad=True)
    v = torch.ones(8, requires_grad=True)
    (v * w).sum().backward()
    """
    found = {f.inside: f for f in audited(tmp_path, program).findings}
    assert set(found) == {"", "backward of mul"}
    assert found[""].place == found["backward of mul"].place


def test_casts_by_autocast_are_told_from_the_users_own(tmp_path: Path) -> None:
    program = """
    layer = nn.Linear(8, 8, bias=False)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(x)
        z = y.float()
    """
    audit = audited(tmp_path, program)
    cast = the_cast(audit)
    assert cast.why == "autocast for linear"
    assert cast.target.name == "bfloat16"
    assert cast.count == 2  # the input and the weight
    assert code_of(cast.place, tmp_path) == "y = layer(x)"


def test_the_gradient_of_a_cast_by_autocast_is_its_own(tmp_path: Path) -> None:
    program = """
    layer = nn.Linear(8, 8, bias=False)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(x)
    y.float().sum().backward()
    """
    assert {c.why for c in inside(audited(tmp_path, program)).casts} == {
        "autocast for linear",
        "backward of a cast by autocast",
    }


@pytest.mark.parametrize(
    "cast",
    ["x.to(torch.bfloat16)", "x.bfloat16()", "x.sum(dtype=torch.float64)", "x.type(torch.int32)",
     "nn.Linear(8, 8).to(torch.bfloat16)", "nn.functional.softmax(x, -1, dtype=torch.float64)"],
)  # fmt: skip
def test_a_cast_that_was_asked_for_is_none(tmp_path: Path, cast: str) -> None:
    audit = audited(tmp_path, f"y = {cast}\n")
    assert (audit.findings, inside(audit).casts) == ([], ())


def test_a_cast_nobody_wrote_is_of_unknown_origin(tmp_path: Path) -> None:
    program = """
    cast = x.to
    y = cast(torch.float64)
    """
    assert the_cast(audited(tmp_path, program)).why.startswith("unknown origin, inside program.py")


def test_threads_are_watched(tmp_path: Path) -> None:
    program = """
    import threading
    from concurrent.futures import ThreadPoolExecutor
    def work():
        return nn.HuberLoss()(x, half.expand(4, 8))
    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: work(), range(4)))
    """
    assert the_finding(audited(tmp_path, program)).count == 7


def test_a_forward_in_another_thread_is_not_mistaken(tmp_path: Path) -> None:
    """Two threads count their autograd nodes alike: the line is then that of backward()."""
    program = """
    import threading
    w = torch.ones(8, dtype=torch.bfloat16, requires_grad=True)
    losses = []
    def one():
        losses.append((x * w).sum())
    def two():
        losses.append((w * x).sum())
    for work in (one, two):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    losses[0].backward()
    """
    cast = the_cast(audited(tmp_path, program))
    assert cast.why == "backward of mul"
    assert code_of(cast.place, tmp_path) in ("losses[0].backward()", "losses.append((x * w).sum())")


ERRORS = """
import threading, traceback
class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g @ x
def in_thread():
    traceback.print_stack()
    return x + torch.ones(3)
def tried(call):
    try: call()
    except Exception: traceback.print_exc()
tried(lambda: x @ x)
tried(lambda: torch.ones(3).index_add_(0, torch.ones(3), torch.ones(3)))
tried(lambda: Doubled.apply(torch.ones(3, requires_grad=True)).sum().backward())
tried(lambda: nn.Linear(3, 2)(x))
tried(lambda: torch.sqrt(torch.tensor(2.0, dtype=torch.complex64)) @ 2)
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
x + torch.ones(3)
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a frame cannot be hidden in Python 3.10")
def test_tracebacks_are_those_of_the_program(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "program.py"
    script.write_text(HEAD + ERRORS)
    plain = finished([sys.executable, script])
    run = run_audited([str(script)], Options(is_deep=True))
    assert run.status == plain.returncode == 1
    assert capfd.readouterr().err == plain.stderr


def test_the_report_says_what_cannot_be_seen(tmp_path: Path) -> None:
    audit = audited(tmp_path, "import numpy as np\ny = np.ones(3) * 2\n")
    text = inside_text(inside(audit), 200)
    assert "numpy has no hook to look inside libraries: audit them with --include PACKAGE." in text


def test_the_json_report_has_the_casts(tmp_path: Path) -> None:
    program = """
    layer = nn.Linear(8, 8, bias=False)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(x)
    """
    data = audit_json(audited(tmp_path, program))["inside"]
    assert data["seen"] > 0
    (cast,) = data["casts"]
    assert (cast["from"], cast["to"], cast["why"]) == ("float32", "bfloat16", "autocast for linear")


def test_an_op_in_autocast_is_judged_by_autocast_rules(tmp_path: Path) -> None:
    program = """
    w = torch.ones(8, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ w
        z = nn.functional.mse_loss(y, y)
    plain = x @ w
    """
    audit = audited(tmp_path, program, is_deep=False)
    assert audit.coverage.unexpected == {}
    assert audit.findings == []
