"""Pages and cards have one style, light and dark, in which everything can be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product

import pytest

import castwise as cw
from castwise.comparing.diff import Distance, Distances
from castwise.drawing import FAINT, INK, REFUSED, shade
from castwise.report.blocks import _DARK, _LIGHT, card_style, page, page_style
from castwise.report.diff import BLACK, diff_html, distances_html, scale_colour
from castwise.report.lattice import lattice_html
from castwise.report.table import table_html
from castwise.vocab.dtypes import DTYPES

Colour = Sequence[float]  # red, green and blue from 0 to 1
PALETTES = {"light": _LIGHT, "dark": _DARK}
PAGES: dict[str, Callable[[], str]] = {
    "table": lambda: table_html(cw.table("lt", "torch")),
    "diff": lambda: diff_html(cw.diff("numpy@1", "numpy", op="add")),
    "lattice": lambda: lattice_html(cw.lattice("jax")),
    "distances": lambda: distances_html(
        Distances(("add",), ("a", "b"), {frozenset("ab"): Distance(9, 4)})
    ),
}


def colours(palette: str) -> dict[str, Colour]:
    found = re.findall(r"--([\w-]+): (#[0-9a-f]{6})", PALETTES[palette])
    return {name: parts(colour) for name, colour in found}


def parts(colour: str) -> Colour:
    return [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]


def contrast(ink: Colour, ground: Colour) -> float:
    """As WCAG counts it."""
    light, dark = sorted((luminance(ink), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Colour) -> float:
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def turned_over(colour: Colour) -> Colour:
    """What --picture makes of a colour in the dark: invert(.91) hue-rotate(180deg)."""
    r, g, b = (0.91 - 0.82 * channel for channel in colour)
    made = (
        -0.574 * r + 1.43 * g + 0.144 * b,
        0.426 * r + 0.43 * g + 0.144 * b,
        0.426 * r + 1.43 * g - 0.856 * b,
    )
    return [min(max(channel, 0.0), 1.0) for channel in made]


@pytest.mark.parametrize("palette", PALETTES)
def test_texts_can_be_read_on_their_grounds(palette: str) -> None:
    of = colours(palette)
    pairs = [
        *product(("ink", "faint", "old", "hazard"), ("ground", "panel")),
        ("old", "old-ground"), ("new", "new-ground"), ("hazard", "hazard-ground"),
    ]  # fmt: skip
    low = {pair: contrast(of[pair[0]], of[pair[1]]) for pair in pairs}
    assert {pair: found for pair, found in low.items() if found < 4.5} == {}


@pytest.mark.parametrize("palette", PALETTES)
def test_cells_can_be_read(palette: str) -> None:
    of = colours(palette)
    tint = re.findall(r"--tint: (\d+)%", PALETTES[palette])
    share = int(tint[0]) / 100
    for dtype in DTYPES:
        mixed = [
            share * x + (1 - share) * y
            for x, y in zip(parts(shade(dtype)), of["ground"], strict=True)
        ]
        assert contrast(of["ink"], mixed) >= 4.5, dtype


def test_pictures_can_be_read_also_turned_over() -> None:
    pairs = [(INK, shade(dtype)) for dtype in DTYPES]
    pairs += [(BLACK, scale_colour(place / 50)) for place in range(51)]
    pairs += [(FAINT, REFUSED), (FAINT, "#ffffff"), (INK, "#ffffff")]
    for ink, ground in pairs:
        assert contrast(parts(ink), parts(ground)) >= 4.5
        assert contrast(turned_over(parts(ink)), turned_over(parts(ground))) >= 4.5, ground
    assert "--picture: invert(.91) hue-rotate(180deg)" in _DARK  # as turned_over does


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_light_and_dark_and_loads_nothing(name: str) -> None:
    made = PAGES[name]()
    assert made.startswith("<!doctype html>")
    assert made.count("<style>") == 1
    assert page_style() in made
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in made
    assert "prefers-color-scheme: dark" in made
    assert '<body class="castwise">' in made
    assert "<script" not in made
    assert set(re.findall(r"https?://[^\"' ]+", made)) <= {"http://www.w3.org/2000/svg"}
    assert not made.endswith("\n")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_colours_of_its_own(name: str) -> None:
    """Those of dtypes are given to the style sheet, which mixes them for the dark."""
    html = re.sub(r"<svg.*?</svg>|<style>.*?</style>", "", PAGES[name](), flags=re.DOTALL)
    given = re.sub(r"--shade:#[0-9a-f]{6}", "", html)
    assert not re.search(r"#[0-9a-f]{6}|background|color:", given)


def test_heads_of_tables_stay_in_sight() -> None:
    assert re.search(r"thead th \{ position: sticky; top: 0;", PAGES["table"]())
    assert re.search(r"\.grid tbody th \{ position: sticky; left: 0;", PAGES["table"]())


def test_a_title_is_escaped() -> None:
    made = page("<b> & $x")
    assert made.count("&lt;b&gt; &amp; $x") == 2
    assert "<b>" not in made


def test_cards_have_the_style_of_pages() -> None:
    assert page_style().replace(".castwise", ".castwise.card") in card_style()
