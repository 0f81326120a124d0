"""A result as a whole page, in one file that loads nothing."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from html import escape
from pathlib import Path
from string import Template

from castwise.drawing import shade
from castwise.engine.decision import HAZARDS
from castwise.vocab.dtypes import DType

# The style of pages and of cards: their rules are in the .css files, their colours are here.

_LIGHT = """
  --ground: #ffffff; --panel: #f7f7f8; --line: #e4e4e7; --ink: #18181b; --faint: #6b6b74;
  --bar: #2171b5; --heat: 33 113 181; --old: #b42318; --new: #177245; --old-ground: #fdeeec;
  --new-ground: #e9f6ee; --hazard: #8a5300; --hazard-ground: #fdf3dc; --comment: #6b6b74;
  --string: #177245; --number: #2f5fb3; --keyword: #8a2f8f; --picture: none;
  --tint: 100%;
"""
# Pictures are drawn on white; turned over, they keep the hues of their dtypes. In HTML, where the
# ink is light here, a part of a dtype's colour is mixed with the ground.
_DARK = """
  --ground: #161619; --panel: #1e1e22; --line: #34343a; --ink: #ececee; --faint: #a0a0aa;
  --bar: #6baed6; --heat: 107 174 214; --old: #ff9b8f; --new: #7fd6a3; --old-ground: #3a1f1c;
  --new-ground: #17301f; --hazard: #f2c063; --hazard-ground: #35290f; --comment: #8f8f99;
  --string: #7fd6a3; --number: #8db9ff; --keyword: #e29be6;
  --picture: invert(.91) hue-rotate(180deg); --tint: 38%;
"""


@functools.cache
def page_style() -> str:
    """The rules for what is inside a body of the class castwise."""
    return _rules("page")


@functools.cache
def whole_page_style() -> str:
    """The rules for a page that shows results: `page` writes it."""
    return results_style() + _rules("whole")


@functools.cache
def card_style() -> str:
    """The rules for what is inside an element of the classes castwise and card.

    Naming both makes them stronger than the rules that notebooks have for all their outputs.
    """
    return (results_style() + _rules("card")).replace(".castwise", ".castwise.card")


@functools.cache
def results_style() -> str:
    """The rules for what is inside a body of the class castwise, and for results in it."""
    return page_style() + _rules("results")


def with_palettes(rules: str) -> str:
    """Rules of a style sheet in which $light and $dark stand for the colours."""
    return Template(rules).substitute(light=_LIGHT, dark=_DARK)


_STATIC = Path(__file__).with_name("static")


def _rules(name: str) -> str:
    return with_palettes((_STATIC / f"{name}.css").read_text(encoding="utf-8"))


_PAGE = _STATIC / "page.html"


def page(title: str, *parts: str) -> str:
    """A page below its title, which is text; the parts are HTML."""
    return (
        Template(_PAGE.read_text(encoding="utf-8"))
        .substitute(
            title=escape(title), style=whole_page_style(), body="\n".join(filter(None, parts))
        )
        .rstrip("\n")
    )


# A result in a notebook: HTML that brings its own style, and leaves that of its page alone.


def card(title: str, *parts: str) -> str:
    """A result below a title, if it has one. The parts are HTML, and so is the title."""
    style = f"<style>{card_style()}</style>"
    head = f"<h2>{title}</h2>" if title else ""
    return f'<div class="castwise card">{style}{head}{"".join(parts)}</div>'


class Html(str):
    """A text that is HTML already; any other is escaped where it stands in a table."""

    __slots__ = ()


def paragraph(text: str) -> Html:
    """A text as a paragraph."""
    return Html(f"<p>{escape(text)}</p>")


def faint(text: str) -> Html:
    """A text that is not the point, as a paragraph."""
    return Html(f'<p class="faint">{escape(text)}</p>' if text else "")


def items(texts: Iterable[str], tag: str = "ul") -> str:
    """Texts as a list."""
    return f"<{tag}>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</{tag}>"


def dtype_html(dtype: DType, text: str = "") -> Html:
    """A dtype in the colour of its kind."""
    shown = escape(text or dtype.name)
    return Html(f'<span class="dtype" style="--shade:{shade(dtype)}">{shown}</span>')


def hazards_html(hazards: Iterable[str]) -> Html:
    """Hazards, with their meanings as tooltips."""
    return Html(
        " ".join(
            f'<span class="hazard" title="{escape(HAZARDS[hazard])}">{hazard}</span>'
            for hazard in hazards
        )
    )


def folded_html(summary: str, *parts: str) -> str:
    """Parts that are shown when a person asks for them."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def picture(svg: str) -> str:
    """An SVG picture."""
    return f'<div class="picture">{svg}</div>'
