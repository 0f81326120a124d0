"""A result in a notebook: HTML that brings its own style, and leaves that of its page alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from castwise.drawing.shades import shade
from castwise.engine.decision import HAZARDS
from castwise.report.look.style import card_style
from castwise.vocab.dtypes import DType


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
