"""The GitHub Action, the pre-commit hooks and our own CI: their files are valid, and what they run
works."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from castwise.cli.audit import audit
from processes import finished

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
CASTS = "import sys\nimport numpy as np\ny = np.ones(3, np.float32) + np.ones(3)\nprint(sys.argv)\n"


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def step(name: str) -> dict[str, Any]:
    (found,) = [s for s in read("action.yml")["runs"]["steps"] if s["name"] == name]
    return dict(found)


def test_the_action_is_composite_and_names_only_inputs_it_has() -> None:
    action = read("action.yml")
    assert action["runs"]["using"] == "composite"
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = {part.split()[0].rstrip("}") for part in text.split("inputs.")[1:]}
    assert used == set(action["inputs"])
    assert set(action["outputs"]) == {"sarif", "status"}
    for one in action["runs"]["steps"]:
        assert ("uses" in one) != ("run" in one and "shell" in one)


@pytest.mark.parametrize(
    ("options", "place", "status"), [("--fail-on any", "sub", 1), ("", ".", 0), ("--deeep", ".", 2)]
)
def test_the_action_audits_and_tells_where_its_findings_are(
    tmp_path: Path, options: str, place: str, status: int
) -> None:
    run = step("Audit")
    (tmp_path / "sub").mkdir()
    for directory in (tmp_path, tmp_path / "sub"):
        (directory / "my script.py").write_text(CASTS, encoding="utf-8")
    given = {
        "PROGRAM": "'my script.py' --epochs 1",
        "OPTIONS": options,
        "SARIF": "castwise.sarif",
        "PLACE": place,
        "GITHUB_OUTPUT": str(tmp_path / "outputs"),
    }
    assert set(run["env"]) == set(given) - {"GITHUB_OUTPUT"}
    command = [sys.executable, "-c", run["run"]]
    done = finished(command, cwd=tmp_path / place, env={**os.environ, **given})
    assert done.returncode == status, done.stderr
    lines = (tmp_path / "outputs").read_text(encoding="utf-8").splitlines()
    outputs = dict(line.split("=", 1) for line in lines)
    assert outputs["status"] == str(status)
    if status == 2:  # the option is wrong, and nothing ran
        assert outputs["sarif"] == ""
        return
    assert "['my script.py', '--epochs', '1']" in done.stdout
    written = json.loads((tmp_path / outputs["sarif"]).read_text(encoding="utf-8"))
    assert len(written["runs"][0]["results"]) == 1


def test_the_hook_runs_a_command_that_exists_and_gets_no_file_names() -> None:
    (hook,) = read(".pre-commit-hooks.yaml")
    assert hook["id"] == "castwise-audit"
    assert hook["entry"].split() == ["castwise", audit.name]
    assert hook["language"] == "system"  # the program's own environment
    assert hook["pass_filenames"] is False


def test_the_examples_in_the_documentation_are_yaml_and_name_what_there_is() -> None:
    page = (ROOT / "docs" / "how-to" / "gate-ci.md").read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in page.split("```yaml\n")[1:]]
    workflow, hooks = [yaml.safe_load(block) for block in blocks]
    action = read("action.yml")
    (used,) = [s["with"] for s in workflow["steps"] if "castwise" in s.get("uses", "")]
    assert set(used) <= set(action["inputs"])
    assert hooks["repos"][0]["hooks"][0]["id"] == read(".pre-commit-hooks.yaml")[0]["id"]


def run_script(added: str) -> str:
    """The beginning of .ci/run, which defines its steps, with other lines after it."""
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    return (
        text.partition("# The block of README.md")[0].replace('cd "$(dirname', ': "$(dirname')
        + added
    )


@pytest.mark.parametrize(
    ("steps", "status", "lines"),
    [
        ("step 1 quick true", 0, ["    0 s of    60  quick"]),
        ("step 1 broken false", 1, ["    0 s of    60  broken"]),
        ("step 0 slow sleep 1", 0, ["!!!! slow took", "slow  OVER BUDGET"]),
    ],
)
def test_a_step_of_ci_tells_its_time_and_its_budget(
    steps: str, status: int, lines: list[str]
) -> None:
    done = finished(["bash", "-c", run_script(steps)])
    assert done.returncode == status, done.stderr
    assert "== what each step took, of its budget" in done.stdout
    assert [line for line in lines if line not in done.stdout] == []


def test_ci_refuses_a_job_that_there_is_not() -> None:
    done = finished(["bash", str(ROOT / ".ci" / "run"), "everything"])
    assert done.returncode == 2
    assert done.stderr.startswith("usage: .ci/run [--nightly] [tests cells")


def test_each_job_of_ci_runs_side_by_side() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    jobs = script.partition("\nJOBS=(")[2].partition(")")[0].split()
    workflow = read(".github/workflows/ci.yml")["jobs"]
    assert ["tests", *workflow["checks"]["strategy"]["matrix"]["job"]] == jobs
    assert workflow["tests"]["steps"][-1]["run"] == ".ci/run tests"
    pythons = workflow["tests"]["strategy"]["matrix"]["python"]
    listed = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert [p for p in pythons if f"Python :: {p}" not in listed] == []


def test_the_hooks_of_contributors_are_the_checks_of_ci() -> None:
    (repository,) = read(".pre-commit-config.yaml")["repos"]
    hooks = {hook["id"]: hook for hook in repository["hooks"]}
    assert set(hooks) == {"ruff-check", "ruff-format", "mypy"}
    assert {hook["language"] for hook in hooks.values()} == {"system"}


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").iterdir()))
def test_an_issue_template_asks_for_what_is_needed(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    assert any(field["validations"]["required"] for field in form["body"])


def test_every_action_is_pinned_to_a_commit_with_its_version_beside_it() -> None:
    """A tag can be moved to other code, a commit cannot; dependabot proposes the next one."""
    files = [ROOT / "action.yml", *sorted((ROOT / ".github" / "workflows").iterdir())]
    lines = [line.strip() for file in files for line in file.read_text("utf-8").splitlines()]
    used = [line for line in lines if line.removeprefix("- ").startswith("uses:")]
    assert used
    pinned = re.compile(r"(- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)+")
    assert [line for line in used if not pinned.fullmatch(line)] == []
