"""The documentation site: its look, and that it works when it is opened from disk."""

from __future__ import annotations

import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import castwise
from castwise.report.blocks import page_style
from processes import finished

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NAMED = re.compile(r"^::: castwise\.(\w+)$", re.MULTILINE)
COLOURS = re.compile(r"(--ground: .*?)\s*\}", re.DOTALL)
ELSEWHERE = re.compile(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')


def test_its_colours_are_those_of_reports() -> None:
    def blocks(css: str) -> set[str]:
        return {" ".join(block.split()) for block in COLOURS.findall(css)}

    site = blocks((ROOT / "docs" / "assets" / "site.css").read_text(encoding="utf-8"))
    assert len(site) == 2
    assert site == blocks(page_style())


def test_the_reference_has_every_public_name() -> None:
    pages = (ROOT / "docs" / "reference" / "api").glob("*.md")
    named = [name for page in pages for name in NAMED.findall(page.read_text(encoding="utf-8"))]
    assert sorted([*named, "array_api", "__version__"]) == sorted(castwise.__all__)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (find_spec("material") and find_spec("mkdocstrings")):
        pytest.skip("the tools of the extra docs are not installed")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    done = finished(build, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_its_pages_load_nothing_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 60
    found = {page.name: ELSEWHERE.findall(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: links for name, links in found.items() if links} == {}


@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
@pytest.mark.parametrize("page", ["index.html", "reference/audit.html"])
def test_search_works_from_disk_and_without_a_network(site: Path, page: str) -> None:
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000"]
    options += ["--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"]
    done = finished([str(CHROMIUM), *options, f"{(site / page).as_uri()}?q=autocast"])
    results = re.findall(r'<a href="([^"]+)" class="md-search-result__link"', done.stdout)
    assert any("torch" in link for link in results), done.stderr[-2000:]
