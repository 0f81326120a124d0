"""pytest --castwise PACKAGE: a package audited while its tests run."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from processes import finished

ROOT = Path(__file__).parents[2]
PACKAGE = """
def scaled(x, by):
    return x * by
"""
TESTS = """
import numpy as np
import pytest
import castwise as cw
import mypackage

def test_casts():
    wide = np.ones(3, np.float32) * np.ones(3)  # the test's own cast is not the package's
    assert mypackage.scaled(np.ones(3, np.float32), np.ones(3)).dtype == wide.dtype
"""
ALLOWING = """
import numpy as np
import pytest
import mypackage

@pytest.mark.castwise_allow({hazards})
def test_allowed():
    mypackage.scaled(np.ones(3, np.float32), np.ones(3))
"""


class Ran:
    """A run of pytest on a small project."""

    def __init__(self, project: Path, *arguments: str) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(project)]),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # castwise's may be installed too
        }
        command = [sys.executable, "-m", "pytest", "-p", "castwise.plugins.pytest", *arguments]
        done = finished(command, cwd=project, env=environment)
        self.status, self.out = done.returncode, done.stdout
        self.err = done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "mypackage").mkdir()
    (tmp_path / "mypackage" / "__init__.py").write_text(PACKAGE)
    (tmp_path / "test_mine.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers -q\n")
    return tmp_path


def test_the_casts_of_the_package_are_summed_up(project: Path) -> None:
    ran = Ran(project, "--castwise", "mypackage")
    assert ran.status == 0
    assert "implicit casts in mypackage" in ran.out
    assert re.search(r"1 finding in \d+ operations?, caused by 1 line", ran.out)
    assert f"{Path('mypackage', '__init__.py')}:3" in ran.out
    assert "float32[3] * float64[3] -> float64" in ran.out
    assert "1 passed" in ran.out


@pytest.mark.parametrize(("hazards", "status"), [("widens", 1), ("any", 1), ("wraps", 0)])
def test_hazards_fail_the_run(project: Path, hazards: str, status: int) -> None:
    ran = Ran(project, "--castwise", "mypackage", "--castwise-fail-on", hazards)
    assert ran.status == status
    assert (f"1 finding fails --castwise-fail-on {hazards}" in ran.out) == bool(status)


def test_expected_casts_are_counted(project: Path) -> None:
    test = TESTS.replace("np.ones(3, np.float32)", "np.arange(3)")
    (project / "test_mine.py").write_text(test)
    ran = Ran(project, "--castwise", "mypackage", "--castwise-fail-on", "any")
    assert ran.status == 0
    assert "expected and not listed; --castwise-all lists it." in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("allowed", "fail_on", "status"),
    [
        ("", "any", 0),
        ("'widens', 'not-on-device'", "any", 0),
        ("'widens'", "widens", 0),
        ("'widens'", "not-on-device", 1),
    ],
)
def test_a_marker_allows_hazards(project: Path, allowed: str, fail_on: str, status: int) -> None:
    (project / "test_mine.py").write_text(ALLOWING.format(hazards=allowed))
    ran = Ran(project, "--castwise", "mypackage", "--castwise-fail-on", fail_on)
    assert ran.status == status


def test_what_one_test_may_do_another_may_not(project: Path) -> None:
    (project / "test_allowing.py").write_text(ALLOWING.format(hazards=""))
    ran = Ran(project, "--castwise", "mypackage", "--castwise-fail-on", "any")
    assert ran.status == 1
    assert "2 passed" in ran.out


MIXED = """
import numpy as np
import pytest
import torch
import mypackage

@pytest.mark.parametrize("xp", [np, torch])
@pytest.mark.parametrize("wide", ["float64", "float32"])
def test_casts(xp, wide):
    narrow = xp.ones(3, dtype=xp.float16)
    mypackage.scaled(narrow, xp.ones(3, dtype=getattr(xp, wide)))
"""


def test_a_line_with_several_frameworks_has_an_entry_per_dtypes_and_no_fix(project: Path) -> None:
    pytest.importorskip("torch")
    (project / "test_mine.py").write_text(MIXED)
    out = Ran(project, "--castwise", "mypackage").out
    assert re.search(r"2 findings in \d+ operations, caused by 1 line", out)
    assert out.count(f"{Path('mypackage', '__init__.py')}:3") == 2
    assert out.count("it runs with numpy and torch") == 2
    assert "float16[3] * float64[3] -> float64, 2 times" in out
    assert "float16[3] * float32[3] -> float32, 2 times" in out
    assert "Fixing" not in out
    assert "astype" not in out


def test_a_long_list_is_cut_short_and_can_be_listed(project: Path) -> None:
    sums = "".join(f"    y{n} = x + by\n" for n in range(12))
    one_line = "".join(f"    x = x + by + {n}\n" for n in range(12))
    (project / "mypackage" / "__init__.py").write_text(
        f"import numpy as np\ndef scaled(x, by):\n{sums}    by = np.ones(3)\n{one_line}"
        "    return np.ones(3, np.float32) * by\n"
    )
    short = Ran(project, "--castwise", "mypackage").out
    assert "--castwise-all lists them all." in short
    whole = Ran(project, "--castwise", "mypackage", "--castwise-all").out
    assert "lists them all" not in whole
    assert whole.count(" -> float64") > short.count(" -> float64")


def test_workers_tell_what_they_saw(project: Path) -> None:
    pytest.importorskip("xdist")
    (project / "test_more.py").write_text(TESTS)
    options = ("-p", "xdist", "-n", "2", "--castwise", "mypackage", "--castwise-fail-on", "widens")
    ran = Ran(project, *options)
    assert ran.status == 1
    assert "1 finding in " in ran.out
    assert "2 processes" in ran.out


def test_a_test_may_hold_the_package_to_a_dialect(project: Path) -> None:
    held = """
import numpy as np
import pytest
import castwise as cw
import mypackage

def test_held():
    with cw.enforce(strict=True), pytest.raises(cw.PromotionError):
        mypackage.scaled(np.ones(3, np.float32), np.ones(3))
"""
    (project / "test_mine.py").write_text(held)
    assert Ran(project, "--castwise", "mypackage").status == 0
    assert "pytest --castwise PACKAGE" in Ran(project).out  # nothing is instrumented without


@pytest.mark.parametrize(
    ("package", "says"),
    [
        ("mypackag", "there is no such package. Did you mean 'mypackage'"),
        ("wave", "no Python source of it was imported. Leave the option out, or run"),
    ],
)
def test_a_package_that_is_not_audited_fails_the_run(
    project: Path, package: str, says: str
) -> None:
    ran = Ran(project, "--castwise", "mypackage", "--castwise", package)
    assert ran.status == pytest.ExitCode.USAGE_ERROR
    assert f"--castwise {package}: nothing of it was audited, because {says}" in ran.out
    assert re.search(r"1 finding in \d+ operations?, caused by 1 line", ran.out)
    assert Ran(project, "--castwise", package).status == pytest.ExitCode.USAGE_ERROR
    assert Ran(project, "--castwise", package, "--collect-only").status == 0


def test_a_run_that_failed_keeps_its_status(project: Path) -> None:
    (project / "test_mine.py").write_text("def test_none():\n    assert 0\n")
    ran = Ran(project, "--castwise", "mypackage")
    assert ran.status == pytest.ExitCode.TESTS_FAILED
    assert "Nothing was audited." in ran.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--castwise", "mypackage", "--castwise-fail-on", "widen"), "no hazard 'widen'"),
        (("-p", "mypackage", "--castwise", "mypackage"), "imported before the tests started"),
        (("--castwise-fail-on", "any"), "checks nothing without --castwise"),
        (("--castwise", "mypackage.part"), "--castwise takes a top-level package"),
    ],
)
def test_wrong_usage(project: Path, arguments: tuple[str, ...], says: str) -> None:
    ran = Ran(project, *arguments)
    assert ran.status == pytest.ExitCode.USAGE_ERROR
    assert says in ran.err


def test_a_run_that_does_not_ask_loads_nothing_of_it(project: Path) -> None:
    (project / "test_mine.py").write_text(
        "import sys\n\n"
        "def test_nothing():\n"
        "    found = [m for m in sys.modules if m.startswith('castwise.')]\n"
        "    assert found == ['castwise.above', 'castwise.plugins', 'castwise.plugins.pytest']\n"
        "    assert not {'numpy', 'torch', 'jax'} & set(sys.modules)\n"
    )
    ran = Ran(project)
    assert ran.status == 0, ran.out
    assert "implicit casts" not in ran.out


def test_pytest_finds_it_by_its_entry_point() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\ncastwise = "castwise.plugins.pytest"\n' in text
