"""castwise port: what would change for a program in another dialect."""

from __future__ import annotations

import functools
import json
import textwrap
from pathlib import Path

import numpy as np
import pytest

from castwise.auditing.launch import run_audited
from castwise.auditing.port import Port, PortChange, make_port
from castwise.auditing.records import Seen
from castwise.cli.main import main
from castwise.report.port import port_text

NEP_50 = """
import numpy as np
weights = np.linspace(0, 1, 4, dtype=np.float32)
scaled = weights * np.float64(1.5)
step = weights.mean() * 1e-3
exposure = np.uint8(100) + 100
same = weights[1] == 0.1
fine = weights * 2.0
"""
BETWEEN_RELEASES = """
import numpy as np
pixels = np.arange(4, dtype=np.uint8)
ones = np.ones(3, dtype=np.float32)
scalar = np.float32(3) + 3.0
whole = np.floor(np.arange(3))
squared = ones ** np.array(2)
same = pixels + 1
"""
TORCH = """
import torch
ids = torch.arange(4)
x = torch.ones(4)
y = torch.add(ids, x)
x += ids
z = x * 2
"""


def ported(program: str, directory: Path, source: str | None, target: str) -> Port:
    return make_port(seen_of(program, directory), target, source)


@functools.cache
def seen_of(program: str, directory: Path) -> Seen:
    """What is seen of a program, which may be ported to several dialects."""
    script = directory / "program.py"
    script.write_text(textwrap.dedent(program))
    run = run_audited([str(script)])
    assert run.status == 0
    return run.seen


@pytest.mark.parametrize(
    ("source", "target", "changed"),
    [
        ("numpy@1.24", "numpy@2.5", {5, 6, 7}),
        ("numpy@1.26", "numpy@2.0", {5}),
        ("numpy@2.0", "numpy@2.1", {6}),
        ("numpy@2.2", "numpy@2.3", {7}),
        ("numpy@2.3", "numpy@2.5", set()),
    ],
)
def test_each_release_has_its_own_changes(
    source: str, target: str, changed: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "between-releases"
    folder.mkdir(exist_ok=True)
    port = ported(BETWEEN_RELEASES, folder, source, target)
    assert {change.place.line for change in port.changes} == changed


def change_at(port: Port, line: int) -> PortChange:
    (found,) = [change for change in port.changes if change.place.line == line]
    return found


def status_of(*arguments: object) -> object:
    with pytest.raises(SystemExit) as exit_:
        main([str(argument) for argument in arguments])
    return exit_.value.code


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of the program that several tests use."""
    return tmp_path_factory.mktemp("port")


@pytest.fixture(scope="module")
def nep_50(beside: Path) -> Port:
    return ported(NEP_50, beside, "numpy@1", "numpy@2")


@pytest.mark.parametrize(
    ("line", "kind", "before", "after"),
    [
        (4, "other dtype", "float32", "float64"),
        (5, "other dtype", "float64", "float32"),
        (6, "other dtype", "int64", "uint8"),
        (7, "other values", "bool", "bool"),
    ],
)
def test_nep_50_changes_dtypes_and_values(
    nep_50: Port, line: int, kind: str, before: str, after: str
) -> None:
    change = change_at(nep_50, line)
    assert (change.kind, change.before, change.after) == (kind, before, after)


def test_an_augmented_assignment_is_ported_as_one(tmp_path: Path) -> None:
    program = """
    import numpy as np
    x, y = np.ones(3, np.int8), np.ones(3, np.int32)
    x += y
    total = 0
    total += y
    """
    written = ported(program, tmp_path, "numpy", "tensorflow:all")
    change = change_at(written, 4)
    assert (change.before, change.after) == ("int8", "int32")
    reason = "int arrays, in an augmented assignment: numpy keeps the dtype (int8)"
    assert change.reason.startswith(reason)
    assert not ported(program, tmp_path, "numpy", "torch").changes


def test_what_does_not_change_is_counted_alone(nep_50: Port) -> None:
    assert len(nep_50.changes) == 4
    assert nep_50.same >= 4
    assert nep_50.unexpected == {}


def test_what_is_to_be_written_keeps_the_meaning(nep_50: Port, tmp_path: Path) -> None:
    program = NEP_50
    for change in nep_50.changes:
        assert change.keep is not None
        assert change.keep.text is not None
        program = program.replace(change.code, change.keep.text)
    assert program != NEP_50
    assert ported(program, tmp_path, "numpy@1", "numpy@2").changes == ()


def test_a_number_the_dtype_does_not_hold_is_found_by_its_extremes(tmp_path: Path) -> None:
    # Operations that no NumPy refuses, of which torch's rules and NumPy's differ by the value.
    program = """
    import numpy as np
    x = np.arange(4, dtype=np.int16)
    for offset in (1, 300, 2):
        y = x + offset
    """
    assert ported(program, tmp_path, "numpy@1", "numpy@2").changes == ()
    small = program.replace("int16", "uint8").replace("300", "200")
    assert ported(small, tmp_path, "numpy@1", "numpy@2").changes == ()
    if np.__version__.startswith("1."):
        port = ported(program.replace("int16", "uint8"), tmp_path, "numpy@1", "numpy@2")
        change = change_at(port, 5)
        assert (change.kind, change.before, change.asked) == (
            "refused", "uint16", "uint8[4] + 300",
        )  # fmt: skip


def test_what_the_installed_framework_refuses_is_seen_before_it_raises(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "p.py"
    script.write_text("import numpy as np\nx = np.ones(3, dtype=np.uint8)\ny = x + 300\n")
    assert status_of("port", "--from", "numpy@1", "--to", "numpy", script) == 1
    said = capfd.readouterr().err
    assert "uint8[3] + 300: uint16 -> refused" in said
    assert "x.astype(np.uint16) + 300" in said


def test_a_scalar_that_wraps_elsewhere_is_said(tmp_path: Path) -> None:
    if tuple(map(int, np.__version__.split(".")[:2])) >= (2, 5):
        pytest.skip("this NumPy refuses it")
    program = """
    import numpy as np
    x = np.arange(4, dtype=np.uint8)
    y = np.where(x > 1, x, 300)
    """
    change = change_at(ported(program, tmp_path, "numpy@1", "numpy@2"), 4)
    assert change.after == "uint8"
    assert "wraps" in change.hazards


def test_torch_to_paddle_is_refused_where_kinds_mix(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    port = ported(TORCH, tmp_path, None, "paddle")
    assert port.source.name == "torch"  # that ran most of it
    assert [change.place.line for change in port.changes] == [5, 6]
    for change in port.changes:
        assert (change.kind, change.before, change.after) == ("refused", "float32", "refused")
        assert change.keep is not None
        assert change.keep.does == "cast int64[4] to float32"
    assert len(port.groups) == 2  # in place is another reason


def test_a_default_dtype_is_a_change_unless_it_comes_from_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones(3))
    program = f"""
    import numpy as np
    x = np.zeros(3)
    y = np.load({str(tmp_path / "x.npy")!r})
    z = np.zeros(3, dtype=np.float64)
    """
    port = ported(program, tmp_path, None, "torch")
    (change,) = port.changes
    assert (change.place.line, change.before, change.after) == (3, "float64", "float32")
    assert change.keep is not None
    assert change.keep.does == "write dtype=torch.float64"


@pytest.mark.parametrize("given", ['"int16"', "np.int16", "np.dtype('int16')"])
def test_a_call_is_asked_with_the_dtype_it_was_given(tmp_path: Path, given: str) -> None:
    program = f"""
    import numpy as np
    x = np.ones(3, dtype="int8")
    total = x.sum(dtype={given})
    zeros = np.zeros(3, dtype="float64")
    """
    port = ported(program, tmp_path, None, "tensorflow")
    assert port.unexpected == {}
    (change,) = port.changes
    assert (change.asked, change.kind) == ("sum(int8[3], dtype=int16)", "refused")
    assert "takes no dtype=" in change.reason
    assert not ported(program, tmp_path, None, "torch").changes


def test_operations_of_other_frameworks_are_not_asked_about(beside: Path) -> None:
    port = ported(NEP_50, beside, "torch", "paddle")
    assert port.changes == ()
    assert port.others["numpy"] > 0
    assert "another framework" in port_text(port)


def test_the_report_is_grouped_by_reason(nep_50: Port) -> None:
    text = port_text(nep_50)
    assert text.startswith(
        "numpy@1 to numpy: 4 changes: 3 with another dtype, 1 with other values."
    )
    assert "Python float with NumPy float scalar: numpy@1 widens to float64" in text
    assert "to keep it: weights.mean().astype(np.float64) * 1e-3" in text


def test_a_saved_run_is_asked_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, saved, report = tmp_path / "p.py", tmp_path / "seen.json", tmp_path / "r.json"
    script.write_text(NEP_50)
    assert status_of("audit", "--save", saved, "--json", report, script) == 0
    capsys.readouterr()
    assert status_of("port", "--from", "numpy@1", "--to", "numpy", "--json", "-", saved) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["from"], found["to"], len(found["changes"])) == ("numpy@1", "numpy", 4)
    assert found["changes"][0]["keep"]["text"] == "weights * float(np.float64(1.5))"
    page = tmp_path / "port.html"
    assert status_of("port", "--from", "numpy@1", "--to", "numpy", "--html", page, saved) == 1
    assert "4 changes" in capsys.readouterr().out
    assert "<h1>numpy@1 to numpy: 4 changes" in page.read_text(encoding="utf-8")
    assert status_of("port", "--to", "numpy", report) == 2  # the report is not what was seen
    assert "castwise audit --save" in capsys.readouterr().err


def test_the_status_is_the_programs_where_nothing_changes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "p.py"
    script.write_text("import numpy as np, sys\nx = np.ones(3) + 1\nsys.exit(3)\n")
    assert status_of("port", "--from", "numpy@1", "--to", "numpy", script) == 3
    assert "exited with status 3" in capfd.readouterr().err


def test_an_unknown_dialect_is_said_before_the_program_runs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "p.py"
    script.write_text("print('ran')\n")
    assert status_of("port", "--to", "padle", script) == 2
    said = capfd.readouterr()
    assert "did you mean" in said.err.lower()
    assert said.out == ""
