"""What autocast did: each op with its list, module and line, and what was cast again."""

from __future__ import annotations

from pathlib import Path

import pytest
from under_audit import same_script, write

from castwise.auditing.launch import run_audited
from castwise.auditing.origins import Audit, make_audit
from castwise.auditing.records import Options
from castwise.report.audit import audit_text
from castwise.report.audit_json import audit_json

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
from torch.nn import functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8, bias=False) for _ in range(2)])
        self.register_buffer("mix", torch.ones(8, 8))
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x @ self.mix @ self.mix
net, x, target = Net(), torch.ones(4, 8), torch.ones(4, 8)
for step in range(3):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = net(x)
        loss = F.mse_loss(y, target)
        both = torch.cat([y, target])
        normed = F.layer_norm(y, (8,))  # on no list of the CPU
        explicit = y.float()
        with torch.autocast("cpu", enabled=False):
            wide = explicit @ explicit.T
    loss.backward()
outside = x @ x.T
"""


def audit(place: Path, *, is_deep: bool) -> Audit:
    script = write(place, script=PROGRAM)
    run = run_audited([str(script)], Options(is_deep=is_deep))
    assert (run.status, run.seen.counts.failures) == (0, {})
    return make_audit(run.seen)


@pytest.mark.parametrize("is_deep", [False, True])
def test_every_op_has_its_list_and_every_repeated_cast_its_name(
    tmp_path: Path, is_deep: bool
) -> None:
    found = audit(tmp_path, is_deep=is_deep)
    autocasts = found.sections.autocasts
    assert [
        (o.place.line, o.seen.op, o.modules, o.seen.rule, o.seen.result, o.seen.count, o.seen.casts)
        for o in autocasts.ops
    ] == [
        (12, "linear", ("layers.0", "layers.1"), "to lower precision", "bfloat16", 6, 9),
        (13, "matmul", ("Net",), "to lower precision", "bfloat16", 3, 3),
        (13, "matmul", ("Net",), "to lower precision", "bfloat16", 3, 3),
        (18, "mse_loss", (), "to float32", "float32", 3, 3),
        (19, "cat", (), "to the widest", "float32", 3, 3),
    ]
    repeats = {r.seen.name: (r.seen.casts, r.seen.blocks, r.seen.is_cached)
               for r in autocasts.repeats if r.seen.name}  # fmt: skip
    assert repeats == {
        "Net.mix": (6, 3, False),
        "layers.0.weight": (3, 3, True),
        "layers.1.weight": (3, 3, True),
    }
    text = audit_text(found, width=200)
    assert "linear in layers.0, layers.1 ran in bfloat16 (list: to lower precision)" in text
    assert "Net.mix float32[8,8] -> bfloat16, 6 times in 3 blocks" in text
    assert "Autocast casts 2 weights that are trained once in each block: 6 casts." in text
    assert audit_json(found)["autocast"]["ops"][0]["device"] == "cpu"
    if found.inside:
        whys = {cast.why for cast in found.inside.casts}
        assert {"autocast for linear", "autocast for mse_loss"} <= whys
        assert not any(why.startswith("unknown origin") for why in whys)


def test_a_program_with_autocast_runs_as_it_does(tmp_path: Path) -> None:
    source = """
    import traceback
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            print(func)
            return func(*args, **(kwargs or {}))
    x = torch.ones(2, 2)
    @torch.autocast("cpu", dtype=torch.bfloat16)
    def decorated(a):
        return a @ a
    @torch.jit.script
    def scripted(a, b):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return a @ b
    compiled = torch.compile(decorated, backend="eager", fullgraph=True)
    print(decorated(x).dtype, scripted(x, x).dtype, compiled(x).dtype)
    with Mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        x @ x
    with torch.autocast("cpu", dtype=torch.bfloat16), Mode():
        x @ x
        print(torch.compile(lambda a: a @ a, backend="eager")(x).dtype)
    block, mode = torch.autocast("cpu", dtype=torch.bfloat16), Mode()
    block.__enter__()
    mode.__enter__()
    block.__exit__(None, None, None)
    x @ x
    mode.__exit__(None, None, None)
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x @ torch.ones(3, 3)
    except RuntimeError:
        traceback.print_exc()
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x.to(torch.float8_e4m3fn) + 2**63
    except RuntimeError:
        traceback.print_exc()
    try:
        torch.autocast("cpu", dtype="no dtype").__enter__()
    except TypeError as error:
        print(error)
    """
    assert same_script(source, tmp_path).status == 0


def test_an_op_in_a_wrapper_of_pytorch_is_named_by_the_users_line(tmp_path: Path) -> None:
    """As `x ** y` is one: on CUDA, where pow is on a list, it was seen nowhere."""
    text = """
import torch
trace = torch.no_grad()(torch.trace)
with torch.autocast("cpu", dtype=torch.bfloat16):
    trace(torch.ones(4, 4, dtype=torch.bfloat16))
"""
    run = run_audited([str(write(tmp_path, script=text))], Options())
    (op,) = make_audit(run.seen).sections.autocasts.ops
    assert (op.place.line, op.seen.op, op.seen.changes) == (5, "trace", ("bfloat16 -> float32",))
