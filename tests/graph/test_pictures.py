"""Pictures of graphs: well formed, complete, and casts stand out by their hazards."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import castwise as cw
from castwise.graph.pictures import cast_colour


def program(x: Any, y: Any) -> Any:
    wide = x + y
    return wide.astype("float16"), cw.apply("sum", x) * 2.5


GRAPH = cw.trace(program, "int64[n]", "float32[n]", dialect="torch")


def test_the_svg_names_every_node() -> None:
    root = ET.fromstring(GRAPH.to_svg())
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    for words in ("x", "y", "add", "sum", "mul", "cast int64 -> float32", "loses-precision"):
        assert words in texts
    assert texts[0] == f"program under torch: {len(GRAPH.casts)} casts"


def test_no_box_lies_over_another() -> None:
    root = ET.fromstring(GRAPH.to_svg())
    boxes = [
        tuple(float(element.get(key, 0)) for key in ("x", "y", "width", "height"))
        for element in root.iter("{http://www.w3.org/2000/svg}rect")
    ][1:]
    for n, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[:n]:
            is_beside = x + width <= other_x or other_x + other_width <= x
            is_below = y + height <= other_y or other_y + other_height <= y
            assert is_beside or is_below


def test_casts_are_coloured_by_their_worst_hazard() -> None:
    colours = {
        str(node.cast.hazards if node.cast else ""): cast_colour(node) for node in GRAPH.casts
    }
    assert len(set(colours.values())) == len(colours) > 1


def test_the_dot_text_has_every_node_and_arrow() -> None:
    text = GRAPH.to_dot()
    assert text.startswith('digraph "program" {')
    assert text.count("shape=hexagon") == len(GRAPH.casts)
    arrows = sum(len(node.inputs) for node in GRAPH.nodes) + len(GRAPH.outputs)
    assert (
        text.count("->") - text.count("cast int64 ->") - text.count("astype float32 ->") == arrows
    )
