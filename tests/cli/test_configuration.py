"""[tool.castwise] has the defaults of audit's options, and the command line wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from castwise.cli.main import main

CASTS = "import numpy as np\ny = np.ones(3, np.float32) + np.ones(3)\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, with the working directory below it."""
    below = tmp_path / "scripts"
    below.mkdir()
    (below / "script.py").write_text(CASTS, encoding="utf-8")
    monkeypatch.chdir(below)
    return tmp_path


def configure(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(f"[tool.castwise]\n{text}", encoding="utf-8")


def audited(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as exit_:
        main(["audit", *arguments])
    out, err = capfd.readouterr()
    return exit_.value.code, out + err


def test_the_file_is_found_upwards_and_its_names_are_relative_to_it(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    configure(project, 'fail-on = "widens"\nhtml = "report.html"\n')
    status, said = audited(capfd, "script.py")
    assert status == 1
    assert "1 finding fails --fail-on widens" in said
    assert (project / "report.html").exists()


def test_the_nearest_file_with_the_table_counts(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    configure(project, 'fail-on = ["any"]\n')
    nearer = project / "scripts" / "pyproject.toml"
    nearer.write_text("[tool.other]\nfail-on = 1\n", encoding="utf-8")
    assert audited(capfd, "script.py")[0] == 1
    nearer.write_text("[tool.castwise]\n", encoding="utf-8")
    assert audited(capfd, "script.py")[0] == 0


def test_the_command_line_wins(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    configure(project, 'fail-on = ["any"]\n')
    assert audited(capfd, "--fail-on", "wraps", "script.py")[0] == 0
    assert audited(capfd, "--no-config", "script.py")[0] == 0
    assert audited(capfd, "script.py", "--no-config")[0] == 1  # the program's


def test_a_baseline_can_be_written_that_is_not_there_yet(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    configure(project, 'fail-on = "any"\nbaseline = "known.json"\n')
    status, said = audited(capfd, "script.py")
    assert status == 2
    assert "there is no baseline" in said
    assert audited(capfd, "--write-baseline", "../known.json", "script.py")[0] == 1
    assert audited(capfd, "script.py")[0] == 0


def test_a_hazard_is_accepted_everywhere(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    configure(project, 'fail-on = "any"\nignore = ["widens"]\n')
    status, said = audited(capfd, "script.py")
    assert status == 0
    assert "Ignored: 1 finding, by comments in the source or --ignore widens." in said
    assert audited(capfd, "--ignore", "wraps", "script.py")[0] == 1


def test_a_package_of_the_project_must_exist_but_not_be_used(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    configure(project, 'include = "rich"\n')
    assert audited(capfd, "script.py")[0] == 0
    configure(project, 'include = ["numpi"]\n')
    status, said = audited(capfd, "script.py")
    assert status == 2
    assert "no package 'numpi' here. Did you mean 'numpy'" in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('fail_on = "any"', "has no key 'fail_on'. Did you mean 'fail-on'? Keys: include, "),
        ('write-baseline = "x"', "has no key 'write-baseline'. Did you mean 'baseline'?"),
        ("deep = 1", "deep takes true or false, not 1."),
        ("include = [1]", "include takes a text or a list of texts, not [1]."),
        ("html = true", "html takes one value, not True."),
        ("target = 32", "pyproject.toml: target takes a text, not 32."),
        ("dialect = []", "pyproject.toml: dialect takes one value, not []."),
        ("differs = 'perhaps'", "differs: 'perhaps' is not one of 'raise', 'report'"),
        ("min-bytes = 'lots'", "pyproject.toml: min-bytes: "),
        ("ignore = 'any'", "--ignore: there is no hazard 'any'."),
        ("ignore = 'wraps'\nfail-on = 'wraps'", "--fail-on wraps and --ignore wraps contradict"),
        ("fail-on = 'widen'", "there is no hazard 'widen'. Did you mean 'widens'?"),
        ("x = ", "is not TOML: "),
    ],
)
def test_what_makes_no_sense_is_refused_before_the_program_runs(
    project: Path, capfd: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    configure(project, text)
    status, said = audited(capfd, "script.py")
    assert status == 2
    assert says in said
    assert "Seen:" not in said
    assert audited(capfd, "--help")[0] == 0


ECHO = "import sys\nprint(sys.argv[1:])\n"


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("--html", "r.html", "--epochs=1"), "--html"),
        (("--json=x", "--deep", "--deep"), "--json --deep"),
        (("--epochs", "1", "-m", "--", "--html"), None),
        ((), None),
    ],
)
def test_options_after_the_script_are_pointed_out_and_reach_the_program(
    project: Path, capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...], names: str | None
) -> None:
    (project / "scripts" / "script.py").write_text(ECHO, encoding="utf-8")
    status, said = audited(capfd, "script.py", *arguments)
    assert status == 0
    assert said.startswith(f"{list(arguments)}\n")
    assert (f"Note: {names} after script.py went to the program." in said) == bool(names)
    assert ("Note:" in said) == bool(names)
