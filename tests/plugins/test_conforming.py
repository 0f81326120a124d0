"""pytest --castwise-conform NAME: a compiler's dtypes as tests."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from processes import finished

ROOT = Path(__file__).parents[2]


class Ran:
    """A run of pytest in a folder that has nothing but transformations."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(folder)]),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "castwise.plugins.pytest"]
        done = finished([*command, *arguments], cwd=folder, env=environment)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr


NUMPY = ("--castwise-dialect", "numpy", "--castwise-sample", "4")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "tests" / "comparing" / "changing.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def test_every_op_is_a_test_that_passes_where_nothing_changes(folder: Path) -> None:
    ran = Ran(folder, "--castwise-conform", "changing:unchanged", *NUMPY)
    assert ran.status == 0, ran.out
    assert " passed" in ran.out.splitlines()[-1]
    assert int(ran.out.splitlines()[-1].split()[0]) > 100


def test_what_differs_fails_with_a_line_to_paste(folder: Path) -> None:
    ran = Ran(folder, "--castwise-conform", "changing:narrowing", *NUMPY)
    assert ran.status == 1
    assert "FAILED changing:narrowing::mean" in ran.out
    assert "changing.narrowing(lambda x: np.mean(x))(np.array(" in ran.out
    assert "FAILED changing:narrowing::bitwise_and" not in ran.out


def test_a_baseline_accepts_what_it_lists_and_nothing_else(folder: Path) -> None:
    conform = ("--castwise-conform", "changing:narrowing", *NUMPY)
    written = Ran(folder, *conform, "--castwise-write-baseline", "known.json")
    assert written.status == 0, written.out
    assert Ran(folder, *conform, "--castwise-baseline", "known.json").status == 0
    known = json.loads((folder / "known.json").read_text())
    assert known == sorted(known)
    others = [row for row in known if row[0] != "mean"]
    (folder / "known.json").write_text(json.dumps(others))
    ran = Ran(folder, *conform, "--castwise-baseline", "known.json")
    assert ran.status == 1
    failed = [line for line in ran.out.splitlines() if line.startswith("FAILED")]
    assert [line.split()[1] for line in failed] == ["changing:narrowing::mean"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--castwise-conform", "changing:unchanged"), "needs --castwise-dialect"),
        (("--castwise-conform", "changing:nothing", *NUMPY), "has no function 'nothing'"),
        (("--castwise-conform", "a:b", "--castwise-dialect", "nmpy"), "Did you mean"),
        (
            ("--castwise-conform", "changing:unchanged", *NUMPY, "--castwise-baseline", "no.json"),
            "No such file",
        ),
    ],
)
def test_what_is_wrong_is_told(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    ran = Ran(folder, *arguments)
    assert ran.status == 4
    assert said in ran.err + ran.out
