"""`castwise diff --all`: the distances are those of `diff`, and the pictures can be read."""

from __future__ import annotations

import csv
import json
import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

import cells
from castwise.catalog import dialect_named
from castwise.comparing.diff import (
    DISTANCE_OPS,
    Distance,
    Distances,
    cluster_names,
    diff,
    distances,
    distances_count,
)
from castwise.report.diff import (
    DISTANCE_FORMATS,
    distances_csv,
    distances_json,
    distances_markdown,
    distances_svg,
    distances_text,
)
from castwise.report.terminal import percent
from castwise.vocab.ops import op

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def three() -> Distances:
    return distances(["array-api", "megengine", "oneflow"])


def many(size: int) -> Distances:
    """Distances of as many dialects, with long names, of which two are alike."""
    names = tuple(f"framework:mode-{number:02}" for number in range(size))
    pairs = {
        frozenset(p): Distance(999, 37 * n % 999) for n, p in enumerate(combinations(names, 2))
    }
    closer = Distances(("matmul", "prod"), names[:2], {frozenset(names[:2]): Distance(30, 20)})
    return Distances(("add",), names, pairs, (closer,))


def test_a_distance_is_what_diff_finds(three: Distances) -> None:
    pairs = [*combinations(three.dialects, 2)]
    for pair in pairs if cells.takes_all else pairs[:1]:
        diffs = [diff(*pair, op=name) for name in DISTANCE_OPS.split()]
        asked, differ = sum(d.asked for d in diffs), sum(d.count for d in diffs)
        assert three.between(*pair) == Distance(asked, differ)


def test_as_much_is_asked_as_is_counted() -> None:
    asked: list[object] = []
    distances(["array-api"], asked.append)
    assert len(asked) == distances_count([dialect_named("array-api")], DISTANCE_OPS.split())


def test_the_nearest_are_told_first(three: Distances) -> None:
    assert set(three.nearest_first[0]) == {"array-api", "megengine"}


def test_dialects_without_a_dtype_in_common_are_not_apart() -> None:
    assert Distance(0, 0).share == 0


def test_the_ops_are_ops() -> None:
    assert len([op(name) for name in DISTANCE_OPS.split()]) == 19


def test_the_text_is_a_triangle(three: Distances) -> None:
    lines = str(three).splitlines()
    assert lines[2:5] == ["array-api", "48 megengine", "62 57 oneflow"]
    assert "Nearest:" in lines
    assert "mean. Dialects that differ" in " ".join(lines)


def test_those_alike_have_a_triangle_of_their_own() -> None:
    lines = str(many(3)).splitlines()
    start = lines.index("Dialects that answer all of that alike, in the ops where they differ")
    assert lines[start + 2 :] == [
        "framework:mode-00",
        "67 framework:mode-01",
        "",
        "The ops: matmul, prod.",
    ]


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
    assert distances_markdown(many(3)).count("| --- | ---: |") == 2


def test_json(three: Distances) -> None:
    made = json.loads(distances_json(three))
    assert made["dialects"] == list(three.dialects)
    assert len(made["pairs"]) == 3
    assert made["pairs"][0].keys() == {"first", "second", "asked", "differ", "share"}
    assert made["closer"] == []
    told = json.loads(distances_json(many(3)))["closer"]
    assert [(one["ops"], one["pairs"][0]["differ"]) for one in told] == [(["matmul", "prod"], 20)]


@pytest.mark.parametrize("size", [2, 24])
def test_the_heat_map_holds_all_it_shows(size: int) -> None:
    found = many(size)
    root = ElementTree.fromstring(distances_svg(found))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    texts = list(root.iter(f"{SVG}text"))
    assert [t.text for t in texts].count(found.dialects[0]) == 4  # of two maps
    assert all(0 < float(t.attrib["x"]) < width for t in texts)
    assert all(0 < float(t.attrib["y"]) < height for t in texts)
    numbers = [t for t in texts if (t.text or "").lstrip("<").isdigit()]
    assert len(numbers) == size * (size - 1) + 2


def test_a_pointer_over_a_cell_shows_the_exact_numbers() -> None:
    root = ElementTree.fromstring(distances_svg(many(3)))
    cells = [g for g in root.iter(f"{SVG}g") if g.find(f"{SVG}title") is not None]
    told = {g.findtext(f"{SVG}title"): g.findtext(f"{SVG}text") for g in cells}
    assert told["framework:mode-00 and framework:mode-02: 3.7 %, 37 of 999 questions"] == "4"
    assert len(cells) == 3 * 2 + 2


def test_the_scale_is_for_all_maps() -> None:
    names = ("framework", "framework:mode")
    closer = Distances(("matmul",), names, {frozenset(names): Distance(30, 20)})
    same = Distances(("add",), names, {frozenset(names): Distance(9, 0)}, (closer,))
    assert ">70 %</text>" in distances_svg(same)


def test_the_tree_has_a_line_for_each_merge_within_the_picture() -> None:
    found = many(24)
    root = ElementTree.fromstring(distances_svg(found))
    lines = list(root.iter(f"{SVG}path"))
    assert len(lines) == 23 + 1
    ends = [float(x) for line in lines for x in re.findall(r"[MH]([\d.]+)", line.attrib["d"])]
    assert max(ends) < float(root.attrib["width"])
    words = [line.findtext(f"{SVG}title") or "" for line in lines]
    assert all(word.endswith("% apart on average") for word in words)


def test_a_row_is_as_high_as_its_leaf_of_the_tree(three: Distances) -> None:
    """The branches do not cross: the rows are in the order of the tree."""
    assert cluster_names(three.tree) == three.dialects


def test_every_format_ends_without_a_newline(three: Distances) -> None:
    for name, render in DISTANCE_FORMATS.items():
        if name != "png":
            written = render(three)
            assert isinstance(written, str)
            assert not written.endswith("\n")
