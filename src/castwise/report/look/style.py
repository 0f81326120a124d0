"""The style of pages and of cards: their rules are in the .css files, their colours are here."""

from __future__ import annotations

import functools
from pathlib import Path
from string import Template

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


def _rules(name: str) -> str:
    return with_palettes(Path(__file__).with_name(f"{name}.css").read_text(encoding="utf-8"))
