"""A program as text, in the DOT language and as an SVG picture.

The text has one typed line per node, with each cast and where it came from. Pictures colour casts
by the worst of their hazards.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from pathlib import PurePath

from castwise.drawing import FAINT, INK, shade, svg_box, svg_document, svg_text, text_width
from castwise.graph.program import (
    CAST,
    CHECK,
    CONSTANT,
    INPUT,
    Node,
    Program,
    is_inline,
    node_names,
    with_given,
)
from castwise.graph.shapes import key_text


def program_text(program: Program, *, shows_origins: bool = True) -> str:
    """The program, line by line."""
    names = node_names(program)
    parameters = ", ".join(f"{node.name}: {node.type}" for node in program.inputs)
    lines = [f"{program.name}({parameters}) under {program.dialect.name}"]
    outside = [state for state in program.state if state.tensor is not None]
    lines += [f"  state {state.name}: {state.before.type}" for state in outside]
    rows = [_row(node, names) for node in program.nodes if not is_inline(node)]
    widths = [max((len(row[n]) for row in rows), default=0) for n in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  " + "  ".join([*cells, row[3] if shows_origins else ""]).rstrip())
    lines += [
        f"  {state.name} = {names[state.after]}" for state in program.state if state.is_written
    ]
    returned = ", ".join(names[node] for node in program.outputs)
    return "\n".join([*lines, f"  return {returned}".rstrip()])


def _row(node: Node, names: dict[Node, str]) -> tuple[str, str, str, str]:
    """The computation, its type, the hazards of a cast, and its line in the source."""
    given = [names[source] for source in node.inputs]
    options = {key: with_given(option, given) for key, option in node.options.items()}
    if node.op == CAST:
        word = "cast" if node.is_implicit else "astype"
        said = f"{names[node]} = {word} {given[0]} to {node.dtype}"
    elif node.op == CONSTANT:
        said = f"{names[node]} = constant"
    elif node.op == CHECK:
        said = f"{names[node]} = {options['error']} if any of {given[0]}"
    elif node.op == "getitem":
        said = f"{names[node]} = {given[0]}[{key_text(options['key'])}]"
    elif node.op == "setitem":
        said = f"{names[node]} = {given[0]} with [{key_text(options['key'])}] = {given[1]}"
    else:
        operands = [names[source] for source in node.positional]
        # Options that are off say nothing, and the shape is that of the result.
        shown = [
            f"{key}={value}"
            for key, value in options.items()
            if key != "shape" and value is not None and value is not False
        ]
        part = "" if node.part is None else f"[{node.part}]"
        said = f"{names[node]} = {node.op}({', '.join([*operands, *shown])}){part}"
    hazards = ", ".join(node.cast.hazards) if node.cast else ""
    origin = f"# {PurePath(node.origin.file).name}:{node.origin.line}" if node.origin else ""
    return said, node.type, hazards, origin


# What both pictures show: the text in the boxes, and the colours of the casts.

# A cast's worst hazard decides its fill and line, from changed values down to memory only.
_LOSSY = ("#fecaca", "#dc2626")
_COLOURS = {
    **dict.fromkeys(("changes-kind", "drops-imaginary", "wraps", "loses-range"), _LOSSY),
    "loses-precision": ("#fed7aa", "#ea580c"),
    "not-on-device": ("#fef08a", "#ca8a04"),
    "widens": ("#fef9c3", "#ca8a04"),
}
_EXACT = ("#ffffff", "#71717a")
_LEGEND = {
    "loses range, kind or the imaginary part": _LOSSY,
    "loses precision": _COLOURS["loses-precision"],
    "widens": _COLOURS["widens"],
    "exact, or explicit": _EXACT,
}


def cast_colour(node: Node) -> tuple[str, str]:
    """The fill and line of a cast, by the worst of its hazards."""
    hazards = node.cast.hazards if node.cast else ()
    return next((colours for hazard, colours in _COLOURS.items() if hazard in hazards), _EXACT)


def _labels(program: Program) -> dict[Node, list[str]]:
    """The lines in each node's box; state is marked where it enters and where it leaves."""
    names = node_names(program)
    labels = {node: _label_lines(node, names) for node in program.nodes}
    for state in program.state:
        labels[state.before][0] = f"state {state.name}"
    for state in program.state:
        if state.is_written:
            labels[state.after].append(f"written to {state.name}")
    return labels


def _label_lines(node: Node, names: dict[Node, str]) -> list[str]:
    if node.op == INPUT:
        return [node.name, node.type]
    if node.op == CONSTANT:
        return [names[node]] if node.shape == () else ["constant", node.type]
    if node.op == CAST:
        word = "cast" if node.is_implicit else "astype"
        hazards = [", ".join(node.cast.hazards)] if node.cast and node.cast.hazards else []
        return [f"{word} {node.inputs[0].dtype} -> {node.dtype}", *hazards]
    if node.op == CHECK:
        return [f"raises {node.options['error']}", "if any"]
    if node.op in ("getitem", "setitem"):
        key = with_given(node.options["key"], [names[source] for source in node.inputs])
        return [f"[{key_text(key)}]{' = ...' if node.op == 'setitem' else ''}", node.type]
    part = "" if node.part is None else f" [{node.part}]"
    return [f"{node.op}{part}", node.type]


# For Graphviz.


def program_dot(program: Program) -> str:
    """The program in the DOT language."""
    labels = _labels(program)
    places = {node: f"n{n}" for n, node in enumerate(program.nodes)}
    lines = [f'digraph "{program.name}" {{', "  rankdir=TB;"]
    lines.append('  node [shape=box, style="rounded,filled", fontname="monospace"];')
    for node, place in places.items():
        label = "\\n".join(line.replace('"', '\\"') for line in labels[node])
        lines.append(f'  {place} [label="{label}", {_look(node)}];')
    for node, place in places.items():
        lines += [f"  {places[source]} -> {place};" for source in node.inputs]
    for n, node in enumerate(program.outputs):
        lines.append(f'  out{n} [shape=plaintext, style="", label="out{n}"];')
        lines.append(f"  {places[node]} -> out{n};")
    return "\n".join([*lines, "}"])


def _look(node: Node) -> str:
    if node.op != CAST:
        return f'fillcolor="{shade(node.dtype)}"'
    fill, line = cast_colour(node)
    return f'shape=hexagon, fillcolor="{fill}", color="{line}", penwidth=2'


# As SVG: values flow downwards.

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
    labels = _labels(program)
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
    for text, (fill, line) in _LEGEND.items():
        parts.append(svg_box(x, top + 8, 14, 14, fill, f'stroke="{line}" stroke-width="2"'))
        parts.append(svg_text(x + 22, top + 20, text, f'fill="{FAINT}"'))
        x += 22 + text_width(text) + 24
    return parts
