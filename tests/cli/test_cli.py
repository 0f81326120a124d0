"""The command line: exit codes, errors in one line, colours on a terminal only."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from ran import Ran

from castwise import __version__
from castwise.catalog import dialects, layers
from castwise.report.answers import MANY
from processes import started

COMMANDS = (
    "explain", "resolve", "table", "lattice", "diff", "dialects", "ops", "dtypes", "verify",
    "audit", "port", "config", "doctor", "check-export",
)  # fmt: skip
CASTWISE = [sys.executable, "-c", "from castwise.cli.main import main; main()"]
QUESTION = b'{"dialect": "torch", "op": "add", "args": ["int32[3]", 5.5]}\n'


def start(*arguments: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    return started([*CASTWISE, *arguments], stdin=pipe, stdout=pipe, stderr=pipe)


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """What a command prints where stdout is a terminal."""
    pty = pytest.importorskip("pty")
    near, far = pty.openpty()
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    environment = {**plain, "TERM": "xterm", **environment}
    with started([*CASTWISE, *arguments], stdout=far, env=environment):
        os.close(far)
        printed = b""
        try:
            while piece := os.read(near, 65536):
                printed += piece
        except OSError:  # how Linux reports that the other end is closed
            pass
    os.close(near)
    return printed.decode()


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "--version")
    assert (ran.status, ran.out) == (0, f"castwise {__version__}\n")


def test_without_a_command_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys)
    assert ran.status == 0
    assert all(f"\n  {command} " in ran.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(capsys: pytest.CaptureFixture[str], command: str) -> None:
    ran = Ran(capsys, command, "--help")
    assert ran.status == 0
    assert "Example" in ran.out
    assert f"castwise {command}" in ran.out.partition("Example")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["expalin"], "unknown command 'expalin'. Did you mean 'explain'? See 'castwise --help'."),
        (["explain", "torch"], "Missing argument 'EXPRESSION'. See 'castwise explain --help'."),
        (["table", "torch", "--opp", "add"], "No such option"),
        (["table", "torch", "--format", "gif"], "Invalid value for '--format'"),
        (["table", "torch", "-o", "/nowhere/table.svg"], "/nowhere/table.svg: No such file"),
        (["explain", "torhc", "1 + 2"], "unknown dialect 'torhc'. Did you mean 'torch'?"),
        (["explain", "torch", "int32[3"], "cannot read 'int32[3' as an expression."),
        (["explain", "torch", "add(int8[3])"], "add takes 2 operands, not 1."),
        (["diff", "numpy", "torch", "--op", "ad"], "unknown op 'ad'."),
        (["diff", "numpy"], "diff needs two dialects, or --all."),
        (["diff", "--all", "numpy"], "diff --all compares all dialects"),
        (["diff", "numpy", "torch", "--format", "svg"], "svg needs diff --all"),
        (["diff", "numpy", "torch", "--op", "sum", "-o", "a.pdf"], "a.pdf: unknown format"),
        (["resolve", "--dialect", "torhc"], "unknown dialect 'torhc'."),
        (["verify", "torch:default_float=float8_e5m2"], "cannot be verified"),
        (["verify", "megengine:mep3"], "no installed framework implements it. Evidence: MEP 3"),
    ],
)
def test_an_error_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    ran = Ran(capsys, *arguments)
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.startswith("castwise: ")
    assert ran.err.count("\n") == 1
    assert message in ran.err


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "torch", "add(int32[3], 5.5)")
    assert ran.status == 0
    assert ran.out.startswith("add(int32[3], 5.5) in torch is float32\n\n  1. ")
    refused = Ran(capsys, "explain", "numpy", "bool[3] - bool[3]")
    assert refused.status == 1
    assert refused.out.startswith("bool[3] - bool[3] in numpy is refused\n")
    assert refused.err == ""
    assert Ran(capsys, "explain", "torch", "-int32[3]").out.startswith(
        "-int32[3] in torch is int32"
    )
    assert json.loads(Ran(capsys, "explain", "torch", "1 + int8[3]", "--json").out)["steps"]


@pytest.mark.parametrize(("line", "status"), [(QUESTION, 0), (b"x\n", 1)])
def test_resolve(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    line: bytes,
    status: int,
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(line)))
    ran = Ran(capsys, "resolve")
    assert ran.status == status
    assert len(ran.out.splitlines()) == 1


def test_resolve_answers_as_soon_as_it_is_asked() -> None:
    with start("resolve") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write(QUESTION)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["result"] == "float32"
        process.stdin.close()
        assert process.wait() == 0


def test_resolve_leaves_no_process_behind() -> None:
    with start("resolve") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(20):
            process.stdin.write(QUESTION * 4 * MANY)
            process.stdin.flush()
            for _ in range(4 * MANY):
                process.stdout.readline()
        process.kill()
        assert process.stdout.read() == b""  # the second process would hold it open


def test_a_reader_that_leaves_is_no_error() -> None:
    with start("table", "torch", "--format", "json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_an_interrupt_is_clean() -> None:
    with start("resolve") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(QUESTION)
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read().strip() == b""


def test_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = Ran(capsys, "table", "numpy", "--op", "np.divide", "--with", "scalars")
    assert ran.status == 0
    assert ran.out.startswith("div(row, column) in numpy\n\n      True     1   1.5    1j\n")
    assert Ran(capsys, "table", "numpy", "--format", "csv").out.startswith("row + column in numpy,")
    for ending, start_ in (("svg", b"<svg "), ("html", b"<!doctype html>"), ("txt", b"row + ")):
        written = tmp_path / f"table.{ending}"
        assert Ran(capsys, "table", "numpy", "-o", str(written)).out == ""
        assert written.read_bytes().startswith(start_)
        assert written.read_bytes().endswith(b"\n")


def test_diff(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "diff", "numpy", "torch", "--op", "sum")
    assert ran.status == 1
    assert "sum(uint64[3])   uint64 | int64" in ran.out
    assert Ran(capsys, "diff", "numpy", "numpy@2", "--op", "sum").status == 0
    made = json.loads(Ran(capsys, "diff", "numpy", "torch", "--op", "sum", "--json").out)
    assert (made["first"], made["second"]) == ("numpy", "torch")
    listed = Ran(capsys, "diff", "numpy", "torch", "--op", "sum", "--cells")
    assert "sum(uint16[])   uint64 | int64" in listed.out
    page = Ran(capsys, "diff", "numpy", "torch", "--op", "sum", "--format", "html").out
    assert "<h1>numpy and torch</h1>" in page


def test_diff_of_all(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("castwise.catalog.dialects", lambda: ("numpy", "numpy@1"))
    monkeypatch.setattr("castwise.comparing.diff.DISTANCE_OPS", "add")
    ran = Ran(capsys, "diff", "--all")
    assert ran.status == 0
    assert "\nnumpy\n14 numpy@1\n" in ran.out
    drawn = tmp_path / "all.svg"
    assert Ran(capsys, "diff", "--all", "-o", str(drawn)).out == ""
    assert drawn.read_text().startswith("<svg ")
    assert Ran(capsys, "diff", "--all", "--format", "html").out.startswith("<!doctype html>")


def test_lattice(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = Ran(capsys, "lattice", "array-api")
    assert ran.status == 0
    assert "\nfloat64, complex64 -> complex128\n" in ran.out
    assert Ran(capsys, "lattice", "torch", "--format", "dot").out.startswith('digraph "torch" {')
    drawn = tmp_path / "torch.svg"
    assert Ran(capsys, "lattice", "torch", "-o", str(drawn)).out == ""
    assert drawn.read_text().startswith("<svg ")
    assert "<h1>torch</h1>" in Ran(capsys, "lattice", "torch", "--format", "html").out


def test_dialects(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "dialects")
    assert ran.status == 0
    assert all(f"\n{name} " in f"\n{ran.out}" for name in dialects())
    assert all(len(line) <= 80 for line in ran.out.splitlines())
    made = json.loads(Ran(capsys, "dialects", "--json").out)
    assert [dialect["name"] for dialect in made] == [*dialects(), *layers()]
    assert made[0].keys() == {"name", "version", "about", "evidence", "dtypes"}


def test_verify(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("array_api_strict")
    page = tmp_path / "verified.html"
    ops = ("--op", "floor", "--op", "can_cast")
    ran = Ran(capsys, "verify", "array-api", *ops, "--html", str(page))
    assert page.read_text().startswith("<!doctype html>")
    assert ran.status == 0
    assert ran.out.endswith("answers agree.\n")
    made = json.loads(Ran(capsys, "verify", "array-api", "--op", "floor", "--json").out)
    assert made["drift"] == []


def test_verify_programs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("numpy")
    options = ("verify", "numpy", "--programs", "5", "--backend", "numpy")
    ran = Ran(capsys, *options)
    assert ran.status == ("Before pasting" in ran.out)
    assert "5 programs of numpy from seed 0." in ran.out
    made = json.loads(Ran(capsys, *options, "--seed", "3", "--json").out)
    assert (made["seed"], made["programs"]) == (3, 5)
    assert made["backends"]["numpy"]["steps"] > 0
    wrong = Ran(capsys, "verify", "numpy", "--programs", "soon")
    assert wrong.status == 2
    assert "takes a time (60s, 5m) or a count (500)" in wrong.err
    assert "--op cannot be used with --programs" in Ran(capsys, *options, "--op", "add").err
    assert "use --json" in Ran(capsys, *options, "--html", "programs.html").err
    assert "add --programs 60s" in Ran(capsys, "verify", "numpy", "--seed", "3").err


def test_a_missing_framework_is_wrong_usage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "array_api_strict", None)
    ran = Ran(capsys, "verify", "array-api")
    assert ran.status == 2
    assert "Install it first" in ran.err


def test_colours_are_for_terminals() -> None:
    explain = ("explain", "torch", "int32[3] + 5.5")
    assert "\x1b[32mfloat32\x1b[0m" in on_a_terminal(*explain)
    assert "\x1b[" not in on_a_terminal(*explain, NO_COLOR="1")
    assert "\x1b[" not in on_a_terminal(*explain, TERM="dumb")
    with start(*explain) as process:
        assert process.stdout is not None
        assert b"\x1b[" not in process.stdout.read()


def test_a_picture_is_not_for_terminals() -> None:
    pytest.importorskip("cairosvg")
    assert on_a_terminal("table", "torch", "--format", "png") == ""
