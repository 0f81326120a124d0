"""A graph as an SVG picture: values flow downwards, casts stand out by what they may cost."""

from __future__ import annotations

from dataclasses import dataclass

from castwise.drawing.shades import FAINT, INK, shade
from castwise.drawing.svg import svg_box, svg_document, svg_text, text_width
from castwise.graph.ir import CAST, Graph, Node
from castwise.graph.labels import LEGEND, cast_colour, label_lines
from castwise.graph.text import node_names

_MARGIN = 24
_TOP = 60
_LINE = 16  # from one line of a box to the next
_GAP = 44  # between layers
_BETWEEN = 26  # between the boxes of a layer
_PASSES = 8  # over the layers, to bring boxes below what they need


@dataclass(slots=True)
class _Box:
    """A node's place in the picture."""

    node: Node
    lines: list[str]
    layer: int
    middle: float = 0
    top: float = 0

    @property
    def width(self) -> float:
        return 20 + max(text_width(line) for line in self.lines)

    @property
    def height(self) -> float:
        return 12 + _LINE * len(self.lines)


def graph_svg(graph: Graph) -> str:
    """The graph as an SVG picture, with a legend of the casts' colours."""
    boxes = _boxes(graph)
    layers = _arranged(boxes)
    bottom = _placed(layers)
    right = max((b.middle + b.width / 2 for b in boxes.values()), default=0)
    width = max(right + _MARGIN, 640)
    title = f"{graph.name} under {graph.dialect.name}: {len(graph.casts)} casts"
    parts = [
        svg_text(_MARGIN, 32, title, f'font-size="16" font-weight="600" fill="{INK}"'),
        f'<g fill="none" stroke="{FAINT}" stroke-width="1.3">',
        *[_arrow(boxes[source], box) for box in boxes.values() for source in box.node.inputs],
        "</g>",
        *[part for box in boxes.values() for part in _drawn(box, graph)],
        *_legend(bottom + 12),
    ]
    return svg_document(width, bottom + 30 + _MARGIN, parts)


def _boxes(graph: Graph) -> dict[Node, _Box]:
    """Each node in a layer below all it needs, and constants just above their use."""
    names = node_names(graph)
    boxes: dict[Node, _Box] = {}
    for node in graph.nodes:
        above = [boxes[source].layer for source in node.inputs]
        layer = 1 + max(above) if above else 0
        boxes[node] = _Box(node, label_lines(node, names), layer)
    users: dict[Node, int] = {}
    for box in boxes.values():
        for source in box.node.inputs:
            users[source] = min(users.get(source, box.layer), box.layer)
    for node, first in users.items():
        if not node.inputs and node not in graph.inputs:
            boxes[node].layer = first - 1
    return boxes


def _arranged(boxes: dict[Node, _Box]) -> list[list[_Box]]:
    """The layers, each box as near as may be to what it needs and what needs it."""
    layers: list[list[_Box]] = [[] for _ in range(1 + max(b.layer for b in boxes.values()))]
    for box in boxes.values():
        layers[box.layer].append(box)
    near: dict[Node, list[_Box]] = {node: [] for node in boxes}
    for box in boxes.values():
        for source in box.node.inputs:
            near[source].append(box)
            near[box.node].append(boxes[source])
    for turn in range(_PASSES):
        for layer in layers if turn % 2 == 0 else reversed(layers):
            _spread(layer)
            wanted = {id(b): _mean([o.middle for o in near[b.node]], b.middle) for b in layer}
            layer.sort(key=lambda box: wanted[id(box)])
            _spread(layer, wanted)
    return layers


def _spread(layer: list[_Box], wanted: dict[int, float] | None = None) -> None:
    """Puts boxes side by side, at or right of where they are wanted."""
    edge = float(_MARGIN)
    for box in layer:
        left = edge if wanted is None else max(edge, wanted[id(box)] - box.width / 2)
        box.middle = left + box.width / 2
        edge = left + box.width + _BETWEEN


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _placed(layers: list[list[_Box]]) -> float:
    """Gives each layer its height; returns where the last one ends."""
    top = float(_TOP)
    for layer in layers:
        for box in layer:
            box.top = top
        top += max((box.height for box in layer), default=0) + _GAP
    return top - _GAP


def _arrow(source: _Box, target: _Box) -> str:
    x, y = source.middle, source.top + source.height
    end_x, end_y = target.middle, target.top
    half = (y + end_y) / 2
    return (
        f'<path d="M{x:.1f},{y:.1f} C{x:.1f},{half:.1f} {end_x:.1f},{half:.1f} '
        f'{end_x:.1f},{end_y - 4:.1f}"/>'
        f'<path d="M{end_x - 4:.1f},{end_y - 7:.1f} L{end_x:.1f},{end_y:.1f} '
        f'L{end_x + 4:.1f},{end_y - 7:.1f} Z" fill="{FAINT}" stroke="none"/>'
    )


def _drawn(box: _Box, graph: Graph) -> list[str]:
    left = box.middle - box.width / 2
    if box.node.op == CAST:
        fill, line = cast_colour(box.node)
        look = f'stroke="{line}" stroke-width="2"'
    else:
        fill, look = shade(box.node.dtype), ""
    if box.node in graph.outputs:
        look = f'stroke="{INK}" stroke-width="2"'
    lines = [svg_box(left, box.top, box.width, box.height, fill, look)]
    for n, text in enumerate(box.lines):
        weight = "600" if n == 0 else "400"
        style = f'text-anchor="middle" font-weight="{weight}" fill="{INK}"'
        lines.append(svg_text(box.middle, box.top + 18 + _LINE * n, text, style))
    return lines


def _legend(top: float) -> list[str]:
    parts, x = [], float(_MARGIN)
    for text, (fill, line) in LEGEND.items():
        parts.append(svg_box(x, top + 8, 14, 14, fill, f'stroke="{line}" stroke-width="2"'))
        parts.append(svg_text(x + 22, top + 20, text, f'fill="{FAINT}"'))
        x += 22 + text_width(text) + 24
    return parts
