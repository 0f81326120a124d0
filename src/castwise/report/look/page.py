"""A result as a whole page, in one file that loads nothing."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template

from castwise.report.look.style import whole_page_style

_PAGE = Path(__file__).with_name("page.html")


def page(title: str, *parts: str) -> str:
    """A page below its title, which is text; the parts are HTML."""
    return (
        Template(_PAGE.read_text(encoding="utf-8"))
        .substitute(
            title=escape(title), style=whole_page_style(), body="\n".join(filter(None, parts))
        )
        .rstrip("\n")
    )
