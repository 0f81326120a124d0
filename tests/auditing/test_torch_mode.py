"""cw.audit() and cw.enforce see all of torch, no matter which code calls it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

import castwise as cw
from castwise.cli.main import main

torch = pytest.importorskip("torch")


def mixed(x: Any, y: Any) -> Any:
    return x + y


def here(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip() == text)


def depth() -> int:
    return int(torch._C._len_torch_function_stack())


X, IDS = torch.ones(3), torch.arange(3)


@pytest.mark.parametrize(
    ("run", "asked"),
    [
        (lambda: X * IDS, "mul(float32[3], int64[3])"),
        (lambda: 2 - X * IDS, "mul(float32[3], int64[3])"),
        (lambda: X.double() // X, "float64[3] // float32[3]"),
        (lambda: torch.cat([X, X.double()]), "concat(float32[3], float64[3])"),
        (lambda: torch.add(input=X, other=IDS), "add(float32[3], int64[3])"),
        (lambda: torch.nn.functional.mse_loss(X, X.double()), "mse_loss(float32[3], float64[3])"),
        (lambda: sum([X, X.double()], X), "add(float32[3], float64[3])"),
    ],
)
def test_operations_are_seen_without_rewriting(run: Any, asked: str) -> None:
    with cw.audit() as log:
        run()
    assert [str(f.operation.question) for f in log.findings] == [asked]
    assert log.findings[0].place.file == __file__


def test_what_a_library_does_is_at_the_users_line() -> None:
    class Mixing(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return torch.nn.functional.mse_loss(x, x.double())

    model = torch.nn.Sequential(Mixing())
    with cw.audit() as log:
        model(X)
    (finding,) = log.findings
    line = here("return torch.nn.functional.mse_loss(x, x.double())")
    assert (finding.place.file, finding.place.line) == (__file__, line)


def test_what_is_refused_does_not_run() -> None:
    x = torch.ones(3)
    with cw.enforce("paddle"):
        with pytest.raises(cw.PromotionError) as raised:
            mixed(x, IDS)
        with pytest.raises(cw.PromotionError, match="add_"):
            x.add_(IDS)
        with pytest.raises(cw.PromotionError):
            x += IDS
        with pytest.raises(cw.PromotionError):
            torch.where(x > 0, x, IDS)
    assert x.tolist() == [1, 1, 1]
    assert f"test_torch_mode.py:{here('return x + y')}: add(float32[3], int64[3])" in str(
        raised.value
    )
    mixed(x, IDS)


def test_another_dtype_warns_and_changes_nothing() -> None:
    with cw.enforce("numpy") as held, pytest.warns(cw.PromotionWarning, match="float64 in numpy"):
        assert mixed(X, IDS).dtype == torch.float32
    assert len(held.differences) == 1


def test_the_mode_is_gone_afterwards() -> None:
    before = depth()
    with cw.audit(), cw.enforce("torch"):
        assert depth() == before + 1  # one for all
    assert depth() == before
    with pytest.raises(RuntimeError, match="mine"), cw.audit():
        raise RuntimeError("mine")
    assert depth() == before


def test_an_audited_function_leaves_autocast_alone() -> None:
    cw.audited(mixed)(X, IDS)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch._C._len_torch_dispatch_stack() == 0


def test_modes_of_others_are_left_alone() -> None:
    before = depth()
    block = cw.audit()
    block.__enter__()
    with torch.device("cpu"):
        block.__exit__(None, None, None)  # theirs is on top
        assert depth() == before + 2
        X * IDS
    assert depth() == before + 1  # ours stays, and sees nothing
    with cw.audit() as log:
        X * IDS
    assert len(log.findings) == 1
    assert depth() == before


def test_observed_functions_are_logged_once() -> None:
    @cw.audited
    def add(x: Any, y: Any) -> Any:
        return x + y

    with cw.audit() as log:
        add(X, IDS)
    (finding,) = log.findings
    assert finding.count == 1
    with cw.enforce("paddle"), pytest.raises(cw.PromotionError):
        add(X, IDS)


def test_other_threads_and_tasks_are_not_held() -> None:
    results: list[Any] = []
    with cw.enforce("paddle"):
        thread = threading.Thread(target=lambda: results.append(mixed(X, IDS)))
        thread.start()
        thread.join()
    assert len(results) == 1

    async def held(begun: asyncio.Event, done: asyncio.Event) -> None:
        with cw.enforce("paddle"):
            begun.set()
            await done.wait()
            with pytest.raises(cw.PromotionError):
                mixed(X, IDS)

    async def free(begun: asyncio.Event, done: asyncio.Event) -> None:
        await begun.wait()
        mixed(X, IDS)
        done.set()

    async def run() -> None:
        events = asyncio.Event(), asyncio.Event()
        await asyncio.gather(held(*events), free(*events))

    asyncio.run(run())
    assert depth() == 0


def test_a_compiled_function_is_compiled_whole_and_listed() -> None:
    @cw.audited
    def compiled_later(x: Any, y: Any) -> Any:
        return torch.add(x * y, 1)

    compiled = torch.compile(compiled_later, backend="eager", fullgraph=True)
    with cw.audit() as log:
        assert compiled(X, X).tolist() == [2, 2, 2]
    assert compiled(X, X).tolist() == [2, 2, 2]
    listed = [entry[2:] for entry in log.coverage.not_observed if entry[0] == __file__]
    assert listed == [("compiled_later", "torch.compile")]


PROGRAM = """\
import threading
import torch
import torch.nn.functional as F
x, y = torch.ones(3), torch.ones(3, dtype=torch.float64)
normal = torch.distributions.Normal(x, y)
def refused(name, run):
    try:
        run()
    except Exception as error:
        print(name, type(error).__name__)
calls = {
    "vstack": lambda: torch.vstack([x, y]),
    "kron": lambda: torch.kron(x, y),
    "smooth": lambda: F.smooth_l1_loss(x, y),
    "module": lambda: torch.nn.MSELoss()(x, y),
    "library": lambda: normal.log_prob(x),
    "plain": lambda: torch.nn.Linear(3, 2)(x).sum().backward(),
    "targets": lambda: F.cross_entropy(x, torch.tensor(1)),
}
for name, run in calls.items():
    refused(name, run)
thread = threading.Thread(target=refused, args=("thread", calls["library"]))
thread.start()
thread.join()
"""


def test_a_program_held_to_strict_is_held_in_libraries_and_threads(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.py"
    script.write_text(PROGRAM, encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["audit", "--enforce", "strict", str(script)])
    out, err = capfd.readouterr()
    refused = [line.split()[0] for line in out.splitlines()]
    assert refused == ["vstack", "kron", "smooth", "module", "library", "thread"]
    assert set(line.split()[1] for line in out.splitlines()) == {"PromotionError"}
    assert "5 operations refused" in err  # the thread's is one of them
