"""A result as a whole page, in one file that loads nothing."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
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


def paragraph(text: str) -> str:
    """A text as a paragraph."""
    return f"<p>{escape(text)}</p>"


def faint(text: str) -> str:
    """A text that is not the point, as a paragraph."""
    return f'<p class="faint">{escape(text)}</p>' if text else ""


def items(texts: Iterable[str], tag: str = "ul") -> str:
    """Texts as a list."""
    return f"<{tag}>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</{tag}>"


def dtype_html(dtype: DType, text: str = "") -> str:
    """A dtype in the colour of its kind."""
    shown = escape(text or dtype.name)
    return f'<span class="dtype" style="--shade:{shade(dtype)}">{shown}</span>'


def hazards_html(hazards: Iterable[str]) -> str:
    """Hazards, with their meanings as tooltips."""
    return " ".join(
        f'<span class="hazard" title="{escape(HAZARDS[hazard])}">{hazard}</span>'
        for hazard in hazards
    )


def table_html(heads: Sequence[str], rows: Iterable[Sequence[str]], *numbers: str) -> str:
    """A table whose cells are HTML. `numbers` names the columns of counts."""
    marks = [' class="number"' * (name in numbers) for name in heads]
    head = "".join(
        f"<th{mark}>{escape(name)}</th>" for name, mark in zip(heads, marks, strict=True)
    )
    body = [
        "".join(f"<td{mark}>{cell}</td>" for cell, mark in zip(row, marks, strict=True))
        for row in rows
    ]
    lines = "".join(f"<tr>{cells}</tr>" for cells in body)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<div class="wide">{table}</div>'


def folded_html(summary: str, *parts: str) -> str:
    """Parts that are shown when a person asks for them."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def picture(svg: str) -> str:
    """An SVG picture."""
    return f'<div class="picture">{svg}</div>'
