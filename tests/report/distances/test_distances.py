"""`castwise diff --all`: the distances are those of `diff`, and the pictures can be read."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from xml.etree import ElementTree

import pytest

import cells
from castwise.compare.distances import OPS, Distance, count
from castwise.report.amounts import percent
from castwise.report.diff.diff import diff
from castwise.report.distances.distances import Distances, distances
from castwise.report.distances.svg import distances_svg
from castwise.report.distances.text import (
    DISTANCE_FORMATS,
    distances_csv,
    distances_json,
    distances_markdown,
    distances_text,
)
from castwise.vocab.ops import op

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def three() -> Distances:
    return distances(["array-api", "megengine", "oneflow"])


def many(size: int) -> Distances:
    """Distances of as many dialects, with long names."""
    names = tuple(f"framework:mode-{number}" for number in range(size))
    pairs = combinations(names, 2)
    return Distances(
        names, {frozenset(p): Distance(999, 37 * n % 999) for n, p in enumerate(pairs)}
    )


def test_a_distance_is_what_diff_finds(three: Distances) -> None:
    pairs = [*combinations(three.dialects, 2)]
    for pair in pairs if cells.takes_all else pairs[:1]:
        diffs = [diff(*pair, op=name) for name in OPS.split()]
        asked, differ = sum(d.asked for d in diffs), sum(d.count for d in diffs)
        assert three.between(*pair) == Distance(asked, differ)


def test_as_much_is_asked_as_is_counted() -> None:
    asked: list[object] = []
    distances(["array-api"], asked.append)
    assert len(asked) == count(["array-api"])


def test_the_nearest_are_told_first(three: Distances) -> None:
    assert set(three.nearest_first[0]) == {"array-api", "megengine"}


def test_dialects_without_a_dtype_in_common_are_not_apart() -> None:
    assert Distance(0, 0).share == 0


def test_the_ops_are_ops() -> None:
    assert len([op(name) for name in OPS.split()]) == 19


def test_the_text_is_a_triangle(three: Distances) -> None:
    lines = str(three).splitlines()
    assert lines[2:5] == ["array-api", "48 megengine", "62 57 oneflow"]
    assert "Nearest:" in lines
    assert lines[-1].endswith("mean.")


def test_more_than_twenty_dialects_fit_a_terminal() -> None:
    told = distances_text(many(21), width=80)
    assert all(len(line) <= 80 for line in told.splitlines())


def test_percent() -> None:
    assert [percent(share) for share in (0.0, 0.004, 0.005, 0.5, 1.0)] == [
        "0", "<1", "0", "50", "100",
    ]  # fmt: skip


def test_csv_and_markdown_are_the_whole_matrix(three: Distances) -> None:
    rows = list(csv.reader(distances_csv(three).splitlines()))
    assert rows[0] == ["differ, %", *three.dialects]
    assert [row[0] for row in rows[1:]] == list(three.dialects)
    assert [rows[1][3], rows[3][1]] == [
        f"{100 * three.between('array-api', 'oneflow').share:.1f}"
    ] * 2
    assert distances_markdown(three).splitlines()[1] == "| --- | ---: | ---: | ---: |"


def test_json(three: Distances) -> None:
    made = json.loads(distances_json(three))
    assert made["dialects"] == list(three.dialects)
    assert len(made["pairs"]) == 3
    assert made["pairs"][0].keys() == {"first", "second", "asked", "differ", "share"}


@pytest.mark.parametrize("size", [2, 24])
def test_the_heat_map_holds_all_it_shows(size: int) -> None:
    found = many(size)
    root = ElementTree.fromstring(distances_svg(found))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    texts = list(root.iter(f"{SVG}text"))
    assert [t.text for t in texts].count(found.dialects[0]) == 2
    assert all(0 < float(t.attrib["x"]) < width for t in texts)
    assert all(0 < float(t.attrib["y"]) < height for t in texts)
    numbers = [t for t in texts if (t.text or "").lstrip("<").isdigit()]
    assert len(numbers) == size * (size - 1)


def test_numbers_are_told_from_their_ground() -> None:
    """The contrast of a cell's number, as WCAG counts it, is enough to read it easily."""
    root = ElementTree.fromstring(distances_svg(many(24)))
    boxes = [r.attrib["fill"] for r in root.iter(f"{SVG}rect") if "rx" in r.attrib]
    grounds = [fill for fill in boxes if fill not in ("#e4e4e7", "url(#scale)")]
    inks = [
        t.attrib["fill"] for t in root.iter(f"{SVG}text") if (t.text or "").lstrip("<").isdigit()
    ]
    for fill, ink in zip(grounds, inks, strict=True):
        light, dark = sorted((luminance(fill), luminance(ink)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.2


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_format_ends_without_a_newline(three: Distances) -> None:
    for name, render in DISTANCE_FORMATS.items():
        if name != "png":
            written = render(three)
            assert isinstance(written, str)
            assert not written.endswith("\n")
