"""A gate that audited nothing fails, with what, why and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from castwise.cli.main import main

QUIET = "total = 1 + 1\n"
ARRAYS = "import numpy as np\ntotal = np.ones(3) + 1\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "neighbour.py").write_text(ARRAYS, encoding="utf-8")
    place = tmp_path / "script.py"
    place.write_text(QUIET, encoding="utf-8")
    return place


def audited(capfd: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[object, str]:
    with pytest.raises(SystemExit) as exit_:
        main(["audit", *map(str, arguments)])
    return exit_.value.code, capfd.readouterr().err


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("numpi", "no package 'numpi' here. Did you mean 'numpy'?"),
        ("no_such_package_at_all", "The program's own modules are audited anyway."),
        ("numpy.linalg", "--include takes a top-level package, not 'numpy.linalg': write numpy."),
        ("array-api-compat", "not 'array-api-compat'. array-api-compat installs array_api_compat."),
        ("./src", "as `import` names it, not './src'."),
    ],
)
def test_a_package_that_no_import_finds_is_refused_before_the_program_runs(
    script: Path, capfd: pytest.CaptureFixture[str], name: str, says: str
) -> None:
    status, said = audited(capfd, "--include", name, script)
    assert status == 2
    assert says in said
    assert "Seen:" not in said


def test_a_package_that_the_program_does_not_import_fails_the_run(
    script: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, said = audited(capfd, "--include", "neighbour", script)
    assert status == 2
    assert "Seen: 0 operations" in said
    assert "--include neighbour: nothing of it was audited, because no Python source" in said


def test_a_package_that_is_imported_passes(script: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script.write_text("import neighbour\n", encoding="utf-8")
    assert audited(capfd, "--include", "neighbour", "--fail-on", "any", script)[0] == 0


def test_a_program_that_failed_keeps_its_status(
    script: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script.write_text("raise SystemExit(7)", encoding="utf-8")
    status, said = audited(capfd, "--include", "neighbour", "--fail-on", "any", script)
    assert status == 7
    assert "nothing" not in said


def test_fail_on_needs_something_to_judge(script: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert audited(capfd, script)[0] == 0
    status, said = audited(capfd, "--fail-on", "widens", script)
    assert status == 2
    assert "--fail-on widens checked nothing: no operation on arrays was seen." in said
    script.write_text(ARRAYS, encoding="utf-8")
    assert audited(capfd, "--fail-on", "widens", script)[0] == 0


def test_port_checks_its_packages_too(script: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["port", "--to", "torch", "--include", "numpi", str(script)])
    assert exit_.value.code == 2
    script.write_text(ARRAYS, encoding="utf-8")
    with pytest.raises(SystemExit) as exit_:
        main(["port", "--to", "numpy", "--include", "neighbour", str(script)])
    assert exit_.value.code == 2
    assert "nothing of it was audited" in capfd.readouterr().err
