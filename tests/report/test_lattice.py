"""`castwise lattice`: the arrows say what the engine reaches, and the picture can be read."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

from castwise.catalog import dialect_named, dialects
from castwise.comparing.table import Edge, lattice
from castwise.engine.plan import dialect_reach
from castwise.errors import UsageError
from castwise.report.lattice import (
    LATTICE_FORMATS,
    lattice_dot,
    lattice_json,
    lattice_png,
    lattice_svg,
    lattice_text,
)
from castwise.rules.dialect import Dialect

SVG = "{http://www.w3.org/2000/svg}"
# Weak nodes of kinds and of one dtype, dtypes that lead nowhere, one that joins nothing.
WEAK = dialect_named("numpy").vary(
    mode="weak",
    joining=replace(dialect_named("numpy").joining, alone="float8_e4m3fn", only_absorbed=""),
    python={},
    order="bool int* int4 uint4 int8 uint8 int16 float* float32* float8_e5m2 bfloat16 float16"
    " float32 complex* complex64 float8_e4m3fn",
    reaches="""
        bool -> int*
        int* -> int4 uint4 int8 uint8
        int8 uint8 -> int16
        int16 -> float*
        float* -> float32* float8_e5m2
        float32* -> bfloat16 float16 complex*
        bfloat16 float16 -> float32
        float32 complex* -> complex64
    """,
)
NOTHING = dialect_named("numpy").vary(
    mode="none",
    reaches="",
    joining=replace(
        dialect_named("numpy").joining, only_absorbed="", alone="bool int float complex"
    ),
    python={},
)
ALL = [*dialects(), WEAK, NOTHING]


def read(edges: tuple[Edge, ...]) -> set[tuple[str, str]]:
    """What reaches what, as a reader of the arrows finds it."""
    found = {(e.source.name, e.target.name) for e in edges}
    while True:
        more = {
            (e.source.name, target)
            for e in edges
            if e.goes_on
            for source, target in found
            if source == e.target.name
        }
        if more <= found:
            return found
        found |= more


@pytest.mark.parametrize("dialect", ALL, ids=str)
def test_the_arrows_say_what_the_engine_reaches(dialect: str | Dialect) -> None:
    made = lattice(dialect)
    reach = dialect_reach(made.dialect)
    assert read(made.edges) == {
        (a.name, b.name)
        for a in reach.order
        for b in reach.order
        if a is not b and reach.reaches(a, b)
    }


@pytest.mark.parametrize("dialect", ALL, ids=str)
def test_no_arrow_is_needless(dialect: str | Dialect) -> None:
    made = lattice(dialect)
    whole = read(made.edges)
    for edge in made.edges:
        assert read(tuple(e for e in made.edges if e is not edge)) != whole, edge


@pytest.mark.parametrize("dialect", ALL, ids=str)
def test_every_dtype_stands_somewhere_once(dialect: str | Dialect) -> None:
    made = lattice(dialect)
    alone = [node for node in made.truncated if node not in made.nodes]
    shown = [*made.nodes, *made.apart, *alone]
    assert sorted(map(str, shown)) == sorted(map(str, dialect_reach(made.dialect).order))


def test_an_arrow_may_end_where_it_leads() -> None:
    arrows = [e for e in lattice("torch").edges if e.source.name == "uint16"]
    assert [(e.target.name, e.goes_on) for e in arrows] == [
        ("float16", False),
        ("bfloat16", False),
        ("float32", False),
        ("float64", False),
    ]
    apart = "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu"
    assert [d.name for d in lattice("torch").apart] == apart.split()


def test_dtypes_with_the_same_arrows_share_a_box_where_they_end_or_begin() -> None:
    groups = [[d.name for d in group] for group in lattice(WEAK).twins if len(group) > 1]
    assert groups == [["int4", "uint4"]]  # and not int8 with uint8, in the middle of the picture
    assert ["uint16", "uint32", "uint64"] in [[d.name for d in g] for g in lattice("torch").twins]


def test_the_text() -> None:
    assert str(lattice("array-api")) == (
        "What reaches what in array-api\n"
        "\n"
        "int8               -> int16\n"
        "uint8              -> int16, uint16\n"
        "int16              -> int32\n"
        "uint16             -> int32, uint32\n"
        "int32              -> int64\n"
        "uint32             -> int64, uint64\n"
        "float32            -> float64, complex64\n"
        "float64, complex64 -> complex128\n"
        "\n"
        "Not promoted with any other dtype: bool\n"
        "\n"
        "Operands promote to the first dtype that all of them reach along the arrows."
    )
    assert "\nuint16, uint32, uint64 => float16, bfloat16, float32, float64\n" in str(
        lattice("torch")
    )


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("dialect", ALL, ids=str)
def test_the_text_fits(dialect: str | Dialect, width: int) -> None:
    told = lattice_text(lattice(dialect), width=width)
    assert all(len(line) <= width for line in told.splitlines())


@pytest.mark.parametrize(
    ("dialect", "sentence"),
    [
        ("torch", "The arrow => reaches that dtype and nothing beyond it."),
        ("torch", "The result never has a higher kind than the highest of the operands."),
        ("numpy", "bfloat16 joins only with dtypes that it reaches or that reach it."),
        (WEAK, "A star marks the place of weakly typed operands, including Python numbers."),
        (NOTHING, "No dtype promotes to another here: all operands must have the same dtype."),
        (
            NOTHING.vary(
                becomes=replace(NOTHING.becomes, truncates="int64 -> int32"),
                reaches="int8 -> int16",
            ),
            "int64 is int32.",
        ),
    ],
    ids=str,
)
def test_the_legend_says_what_else_there_is(dialect: str | Dialect, sentence: str) -> None:
    assert sentence in " ".join(lattice_text(lattice(dialect)).split())


def test_json() -> None:
    made = json.loads(lattice_json(lattice(WEAK)))
    assert made["nodes"][1] == {"name": "int*", "kind": "int", "bits": 0, "weak": True}
    assert {"from": "int16", "to": "float*", "goes_on": True} in made["edges"]
    assert made["apart"] == ["float8_e4m3fn"]


def test_dot() -> None:
    told = lattice_dot(lattice("torch"))
    assert '  "uint16" -> "float16" [style=dashed];' in told
    assert '  "int8" -> "int16";' in told
    assert 'dashed"];' in lattice_dot(lattice(WEAK))


def boxes(root: ElementTree.Element) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of every box that has a label."""
    found = []
    for rect in root.iter(f"{SVG}rect"):
        if "rx" in rect.attrib:
            x, y, width, height = (float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
            found.append((x, y, x + width, y + height))
    return found


def points(curve: ElementTree.Element) -> Iterator[tuple[float, float]]:
    """Points along a curve, close together."""
    x, begin, start, *controls, end = map(float, re.findall(r"-?\d+\.?\d*", curve.attrib["d"]))
    b, middle, last = controls[2], controls[1], controls[5]
    for step in range(51):
        t = step / 50
        u = 1 - t
        weights = (u**3 + 3 * u * u * t, 3 * u * t * t + t**3)
        yield (
            x * weights[0] + b * weights[1],
            (start * u**3 + 3 * middle * (u * u * t + u * t * t) + last * t**3),
        )
        yield x, begin + (start - begin) * t
        yield b, last + (end - last) * t


@pytest.mark.parametrize("dialect", ALL, ids=str)
def test_no_arrow_crosses_a_label_and_no_label_another(dialect: str | Dialect) -> None:
    root = ElementTree.fromstring(lattice_svg(lattice(dialect)))
    found = boxes(root)
    for a, b in combinations(found, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)
    group = root.find(f"{SVG}g")
    assert group is not None
    for curve in group:
        for x, y in points(curve):
            inside = [b for b in found if b[0] + 1 < x < b[2] - 1 and b[1] + 1 < y < b[3] - 1]
            assert not inside, (curve.attrib["d"], inside)


@pytest.mark.parametrize("dialect", ALL, ids=str)
def test_the_picture_holds_all_it_shows(dialect: str | Dialect) -> None:
    made = lattice(dialect)
    root = ElementTree.fromstring(lattice_svg(made))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    texts = list(root.iter(f"{SVG}text"))
    assert {str(d) for d in (*made.nodes, *made.apart)} <= {t.text for t in texts}
    assert texts[0].text == f"What reaches what in {made.dialect.name}"
    for left, top, right, bottom in boxes(root):
        assert left >= 0
        assert top >= 0
        assert right <= width
        assert bottom <= height
    assert all(0 < float(t.attrib["y"]) < height for t in texts)
    legend = [t for t in texts if "text-anchor" not in t.attrib]
    assert all(24 + 7.3 * len(t.text or "") <= width for t in legend[1:])


def test_higher_kinds_and_wider_dtypes_stand_above() -> None:
    root = ElementTree.fromstring(lattice_svg(lattice("numpy")))
    heights = {t.text: float(t.attrib["y"]) for t in root.iter(f"{SVG}text")}
    climb = ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "complex64"]
    assert [heights[a] > heights[b] for a, b in pairwise(climb)] == [True] * 7
    assert heights["float64"] == heights["complex64"]  # as wide as one another


def test_weak_nodes_are_marked_in_the_picture() -> None:
    root = ElementTree.fromstring(lattice_svg(lattice(WEAK)))
    dashed = [r for r in root.iter(f"{SVG}rect") if "stroke-dasharray" in r.attrib]
    assert len(dashed) == len([d for d in lattice(WEAK).nodes if d.is_weak]) == 4


def test_png_says_what_it_needs() -> None:
    try:
        importlib.import_module("cairosvg")
    except (ImportError, OSError):
        with pytest.raises(UsageError, match="pip install cairosvg"):
            lattice_png(lattice("numpy"))
    else:
        assert lattice_png(lattice("numpy")).startswith(b"\x89PNG")


def test_every_format_ends_without_a_newline() -> None:
    made = lattice("numpy")
    for name, render in LATTICE_FORMATS.items():
        if name != "png":
            written = render(made)
            assert isinstance(written, str)
            assert not written.endswith("\n")


def test_a_long_list_of_sources_has_a_line_of_its_own() -> None:
    many = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
    made = lattice(NOTHING.vary(order=f"{many} float32", reaches=f"{many} -> float32"))
    assert f"\n{', '.join(many.split())}\n{' ' * 37}-> float32\n" in str(made)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(UsageError, match="Did you mean 'torch'"):
        lattice("torhc")


def test_an_arrow_is_drawn_where_only_one_that_ends_leads_there_otherwise() -> None:
    """int8 goes on from float32, which int16, on the way, reaches and no more."""
    dialect = NOTHING.vary(
        order="int8 int16 float32 float64",
        reaches="int8 -> int16 float32; int16 => float32; float32 -> float64",
        joining=replace(NOTHING.joining, alone=""),
    )
    arrows = [(e.source.name, e.target.name, e.goes_on) for e in lattice(dialect).edges]
    assert arrows == [
        ("int8", "int16", True),
        ("int8", "float32", True),
        ("int16", "float32", False),
        ("float32", "float64", True),
    ]


@pytest.mark.parametrize(
    ("only_absorbed", "told"),
    [
        ("bfloat16", "bfloat16 joins only with dtypes that it reaches or that reach it."),
        ("bool int float complex", "Two dtypes join only if one reaches the other."),
        (
            "bool int bfloat16 float16 float32 complex",
            "Two dtypes join only if one reaches the other, except float64.",
        ),
        ("bfloat16 float16", "float16 and bfloat16 join only if one reaches the other."),
    ],
)
def test_the_legend_tells_what_is_only_absorbed(only_absorbed: str, told: str) -> None:
    varied = dialect_named("numpy").vary(
        mode="varied", joining=replace(dialect_named("numpy").joining, only_absorbed=only_absorbed)
    )
    assert told in " ".join(lattice_text(lattice(varied)).split())
