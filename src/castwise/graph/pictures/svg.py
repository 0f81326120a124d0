"""A program as an SVG picture: values flow downwards, and casts are coloured by their cost."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

from castwise.drawing.shades import FAINT, INK, shade
from castwise.drawing.svg import svg_box, svg_document, svg_text, text_width
from castwise.graph.pictures.labels import LEGEND, cast_colour, program_labels
from castwise.graph.program import CAST, CONSTANT, Node, Program

_MARGIN = 24
_TOP = 60
_LINE = 16  # from one line of a box to the next
_GAP = 44  # between layers
_BETWEEN = 26  # between the boxes of a layer
_LANE = 12  # width for an arrow that passes a layer
_NARROWEST = 760  # so that the legend fits
_PASSES = 12  # over the layers, down and up


@dataclass(slots=True, eq=False)
class _Box:
    """A node's position in the picture or, without text, the point where an arrow passes a
    layer."""

    layer: int
    lines: list[str]
    middle: float = 0
    top: float = 0
    near: list[_Box] = field(default_factory=list)  # boxes that it has an arrow from or to

    @property
    def width(self) -> float:
        return 20 + max(text_width(line) for line in self.lines) if self.lines else _LANE

    @property
    def height(self) -> float:
        return 12 + _LINE * len(self.lines) if self.lines else 0


def program_svg(program: Program) -> str:
    """The program as an SVG picture, with a legend of the casts' colours."""
    boxes = _boxes(program)
    routes = [_route(boxes[source], boxes[node]) for node in boxes for source in node.inputs]
    layers = _layers(boxes, routes)
    _arrange(layers)
    right, bottom = _place(layers)
    count = len(program.casts)
    title = f"{program.name} under {program.dialect.name}: {count} cast{'s' * (count != 1)}"
    parts = [
        svg_text(_MARGIN, 32, title, f'font-size="16" font-weight="600" fill="{INK}"'),
        f'<g fill="none" stroke="{FAINT}" stroke-width="1.3">',
        *[_arrow(route) for route in routes],
        "</g>",
        *[part for node, box in boxes.items() for part in _drawn(node, box, program)],
        *_legend(bottom + 12),
    ]
    return svg_document(max(right + _MARGIN, _NARROWEST), bottom + 30 + _MARGIN, parts)


def _boxes(program: Program) -> dict[Node, _Box]:
    """Each node in a layer below all its inputs, and constants just above their first use."""
    labels = program_labels(program)
    boxes: dict[Node, _Box] = {}
    for node in program.nodes:
        above = [boxes[source].layer for source in node.inputs]
        boxes[node] = _Box(1 + max(above) if above else 0, labels[node])
    for node in reversed(program.nodes):
        users = [boxes[other].layer for other in program.nodes if node in other.inputs]
        if users and node.op == CONSTANT:
            boxes[node].layer = min(users) - 1
    return boxes


def _route(source: _Box, target: _Box) -> list[_Box]:
    """The boxes an arrow goes through, one per layer."""
    between = [_Box(layer, []) for layer in range(source.layer + 1, target.layer)]
    route = [source, *between, target]
    for one, other in itertools.pairwise(route):
        one.near.append(other)
        other.near.append(one)
    return route


def _layers(boxes: dict[Node, _Box], routes: list[list[_Box]]) -> list[list[_Box]]:
    spots = [*boxes.values(), *[spot for route in routes for spot in route[1:-1]]]
    layers: list[list[_Box]] = [[] for _ in range(1 + max(spot.layer for spot in spots))]
    for spot in spots:
        layers[spot.layer].append(spot)
    return layers


def _arrange(layers: list[list[_Box]]) -> None:
    """Moves each box as close as possible to those it has arrows from and to."""
    for layer in layers:
        _spread(layer, [0.0] * len(layer))
    for turn in range(_PASSES):
        for layer in layers if turn % 2 == 0 else reversed(layers):
            wanted = {id(spot): _mean([o.middle for o in spot.near], spot.middle) for spot in layer}
            layer.sort(key=lambda spot: wanted[id(spot)])
            _spread(layer, [wanted[id(spot)] for spot in layer])


def _spread(layer: list[_Box], wanted: list[float]) -> None:
    """Places boxes side by side without overlap, on average at their wanted positions."""
    edge, moved = -math.inf, 0.0
    for spot, middle in zip(layer, wanted, strict=True):
        spot.middle = max(middle, edge + spot.width / 2)
        edge = spot.middle + spot.width / 2 + _BETWEEN
        moved += spot.middle - middle
    for spot in layer:
        spot.middle -= moved / len(layer)


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _place(layers: list[list[_Box]]) -> tuple[float, float]:
    """Sets the height of each layer; returns the right and the lower end."""
    left = min(spot.middle - spot.width / 2 for layer in layers for spot in layer)
    top, right = float(_TOP), 0.0
    for layer in layers:
        height = max(spot.height for spot in layer)
        for spot in layer:
            spot.middle += _MARGIN - left
            spot.top = top + (height - spot.height) / 2
            right = max(right, spot.middle + spot.width / 2)
        top += height + _GAP
    return right, top - _GAP


def _arrow(route: list[_Box]) -> str:
    path = f"M{route[0].middle:.1f},{route[0].top + route[0].height:.1f}"
    for one, other in itertools.pairwise(route):
        half = (one.top + one.height + other.top) / 2
        path += f" C{one.middle:.1f},{half:.1f} {other.middle:.1f},{half:.1f}"
        path += f" {other.middle:.1f},{other.top:.1f}"
    x, y = route[-1].middle, route[-1].top
    head = f"M{x - 4:.1f},{y - 7:.1f} L{x:.1f},{y:.1f} L{x + 4:.1f},{y - 7:.1f} Z"
    return f'<path d="{path}"/><path d="{head}" fill="{FAINT}" stroke="none"/>'


def _drawn(node: Node, box: _Box, program: Program) -> list[str]:
    left = box.middle - box.width / 2
    if node.op == CAST:
        fill, line = cast_colour(node)
        look = f'stroke="{line}" stroke-width="2"'
    else:
        fill, look = shade(node.dtype), ""
    if node in program.outputs or any(node is s.after and s.is_written for s in program.state):
        look = f'stroke="{INK}" stroke-width="2"'
    parts = [svg_box(left, box.top, box.width, box.height, fill, look)]
    for n, text in enumerate(box.lines):
        weight = "600" if n == 0 else "400"
        style = f'text-anchor="middle" font-weight="{weight}" fill="{INK}"'
        parts.append(svg_text(box.middle, box.top + 18 + _LINE * n, text, style))
    return parts


def _legend(top: float) -> list[str]:
    parts, x = [], float(_MARGIN)
    for text, (fill, line) in LEGEND.items():
        parts.append(svg_box(x, top + 8, 14, 14, fill, f'stroke="{line}" stroke-width="2"'))
        parts.append(svg_text(x + 22, top + 20, text, f'fill="{FAINT}"'))
        x += 22 + text_width(text) + 24
    return parts
