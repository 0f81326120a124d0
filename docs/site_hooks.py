"""What the site does to the pages of docs/ that are written to be read in the repository, too.

- The list of pages names the dialects and the decisions, one by one.
- CHANGELOG.md and CONTRIBUTING.md are pages of the site.
- Links to other files of the repository lead to GitHub.
- Examples are coloured as sessions, and their empty lines are empty.
- Pages are smaller.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
AT_THE_ROOT = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
LINK = re.compile(r"(\]\()([^()\s#:]+)(#[^()\s]*)?\)")
KEPT = "pre|script|style|textarea"
PREFORMATTED = re.compile(rf"(<(?:{KEPT})\b.*?</(?:{KEPT})>)", re.DOTALL)
INDENTED = re.compile(r"\s*\n\s*")
SESSION = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)


def on_config(config: Any) -> None:
    """Lists the pages of folders that are named in the navigation by their index alone."""
    _list_folders(config.nav)


def _list_folders(items: list[Any]) -> None:
    for item in items:
        for section in item.values() if isinstance(item, dict) else ():
            if isinstance(section, list):
                _list_folders(section)
    if len(items) == 1 and isinstance(items[0], str):
        folder = ROOT / "docs" / Path(items[0]).parent
        pages = [page for page in folder.glob("*.md") if page.name != "README.md"]
        pages.sort(key=lambda page: page.stem)  # a framework before its modes
        items += [page.relative_to(ROOT / "docs").as_posix() for page in pages]


def on_files(files: Files, *, config: Any) -> None:
    """Adds the pages that stand beside docs/."""
    for name, page in AT_THE_ROOT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))


def on_page_markdown(text: str, *, page: Any, config: Any, **_: Any) -> str:
    """A page as the site shows it."""
    text = SESSION.sub("```pycon\n", text).replace("\n<BLANKLINE>\n", "\n\n")
    return LINK.sub(
        lambda link: _site_link(link, page.file.src_uri, config.extra["repository"]), text
    )


def on_post_page(output: str, **_: Any) -> str:
    """A page without the indentation of templates, which adds a sixth to the site."""
    parts = PREFORMATTED.split(output)  # every second one is preformatted
    return "".join(part if i % 2 else INDENTED.sub("\n", part) for i, part in enumerate(parts))


def _site_link(link: re.Match[str], page: str, repository: str) -> str:
    """A link from a page, to where its target is for a reader of the site."""
    start, path, anchor = link[1], link[2], link[3] or ""
    origin = next((name for name, at in AT_THE_ROOT.items() if at == page), f"docs/{page}")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), path))
    if target in AT_THE_ROOT:
        target = f"docs/{AT_THE_ROOT[target]}"
    elif not (ROOT / target).exists():
        return link[0]  # no file of the repository; mkdocs reports what is missing
    elif not target.startswith("docs/"):
        kind = "tree" if (ROOT / target).is_dir() else "blob"
        return f"{start}{repository}/{kind}/main/{target}{anchor})"
    there = posixpath.relpath(target, posixpath.dirname(f"docs/{page}"))
    return f"{start}{there}{anchor})"
