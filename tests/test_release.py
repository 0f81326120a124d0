"""Ready to publish: what the package says of itself, and what it has with it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import castwise
from processes import finished

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
HOME = "https://github.com/castwise/castwise"


RAW = HOME.replace("github.com", "raw.githubusercontent.com")


def test_what_the_readme_links_to_exists_and_is_in_the_sdist() -> None:
    """Its links are whole addresses, because the package's page shows it outside of the project."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    targets = {link or picture for link, picture in links}
    places = {re.sub(f"^({HOME}/blob|{RAW})/main/", "", target) for target in targets}
    assert not [place for place in places if "://" in place or place in targets]
    assert len(places) > 10
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for target in places:
        assert (ROOT / target).exists(), target
        assert f"/{target.split('/')[0]}" in included, target


def test_what_the_tests_need_is_in_the_sdist() -> None:
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in included if not (ROOT / name.lstrip("/")).exists()] == []
    paths = PROJECT["tool"]["pytest"]["ini_options"]["testpaths"]
    read = ["CONTRIBUTING.md", "action.yml", ".pre-commit-hooks.yaml", "conformance", "examples"]
    assert {f"/{path}" for path in (*paths, *read)} <= set(included)


def test_the_package_says_where_it_is_from() -> None:
    project = PROJECT["project"]
    urls = project["urls"]
    assert urls.keys() == {"Homepage", "Repository", "Documentation", "Changelog", "Issues"}
    for url in urls.values():
        assert url.startswith(HOME)
        file = url.partition("/blob/main/")[2]
        assert not file or (ROOT / file).exists(), url
    assert project["authors"] == [{"name": "The castwise developers"}]
    assert project["license"] == "Apache-2.0"
    assert (ROOT / "src" / "castwise" / "py.typed").exists()


def test_the_version_has_a_dated_heading_in_the_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", text, re.MULTILINE)
    assert newest is not None
    assert newest[1] == castwise.__version__


def test_the_workflows_ask_for_no_more_than_they_need() -> None:
    yaml = pytest.importorskip("yaml")
    for file in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}, file.name
        asked = {job: body.get("permissions") for job, body in workflow["jobs"].items()}
        wanted = {"id-token": "write"} if file.name == "publish.yml" else None
        assert asked.get("publish") == wanted
        for body in workflow["jobs"].values():
            assert body["timeout-minutes"] <= 180
            for step in body["steps"]:
                assert re.search(r"@(v\d+|release/v\d+|[0-9a-f]{40})$", step.get("uses", "@v1"))


def test_a_tag_that_is_not_the_version_is_refused() -> None:
    yaml = pytest.importorskip("yaml")

    file = ROOT / ".github" / "workflows" / "publish.yml"
    steps = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]["build"]["steps"]
    (refusal,) = [step["run"] for step in steps if "TAG" in step.get("env", {})]
    for tag, status in ((f"v{castwise.__version__}", 0), ("v0.0.1", 1)):
        command = ["bash", "-euo", "pipefail", "-c", refusal]
        done = finished(command, cwd=ROOT, env={**os.environ, "TAG": tag})
        assert (done.returncode, bool(done.stderr)) == (status, bool(status))
