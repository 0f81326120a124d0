"""Links between the pages, to their headings, and to files of the repository lead somewhere."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from loops import each

ROOT = Path(__file__).parents[2]
HERE = "https://github.com/castwise/castwise/blob/main/"  # README.md is also read on PyPI
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
]
BY_SCHEME = {"gh-light-mode-only", "gh-dark-mode-only"}  # pictures that are shown in one of both
FENCED = re.compile(r"^( *)(```+).*?^ *\2$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
LINK = re.compile(r"\]\(<?([^()\s<>]+)>?\)|\b(?:href|src|srcset)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6} +(.+?)(?: +\{#([\w-]+)\})?$", re.MULTILINE)
MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[`*\\]")


@functools.cache
def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> Iterator[str]:
    for found in LINK.finditer(CODE.sub("", prose(page))):
        yield unquote(found[1] or found[2])


@functools.cache
def anchors(page: Path) -> frozenset[str]:
    """The names of its headings as GitHub and the site write them, and those given by hand."""
    headings = HEADING.findall(prose(page))
    names = {given or _slug(MARKUP.sub(r"\1", text)) for text, given in headings}
    return frozenset(names | set(re.findall(r'\bid="([\w-]+)"', prose(page))))


def _slug(text: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", text.lower())
    return re.sub(r"[ -]+", "-", kept).strip("-")


def leads_somewhere(page: Path, link: str) -> bool:
    link = link.replace(HERE, "") if page.name == "README.md" and page.parent == ROOT else link
    if re.match(r"[a-z]+:", link):
        return True  # elsewhere: this test needs no network
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return False
    return anchor in ("", *BY_SCHEME) or (target.suffix == ".md" and anchor in anchors(target))


def test_pages_have_links_and_anchors() -> None:
    assert len(PAGES) > 50
    assert sum(len(list(links(page))) for page in PAGES) > 200
    assert "a-new-op" in anchors(ROOT / "CONTRIBUTING.md")


@each("page", PAGES)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not leads_somewhere(page, link)] == []
