"""The text in the boxes of a program's picture, and the colours of its casts."""

from __future__ import annotations

from castwise.graph.node_names import node_names
from castwise.graph.program import CAST, CONSTANT, INPUT, Node, Program, with_given
from castwise.graph.shapes.indexing import key_text

# A cast's worst hazard decides its fill and line, from changed values down to memory only.
_LOSSY = ("#fecaca", "#dc2626")
_COLOURS = {
    "changes-kind": _LOSSY,
    "drops-imaginary": _LOSSY,
    "wraps": _LOSSY,
    "loses-range": _LOSSY,
    "loses-precision": ("#fed7aa", "#ea580c"),
    "not-on-device": ("#fef08a", "#ca8a04"),
    "widens": ("#fef9c3", "#ca8a04"),
}
_EXACT = ("#ffffff", "#71717a")
LEGEND = {
    "loses range, kind or the imaginary part": _LOSSY,
    "loses precision": _COLOURS["loses-precision"],
    "widens": _COLOURS["widens"],
    "exact, or explicit": _EXACT,
}


def cast_colour(node: Node) -> tuple[str, str]:
    """The fill and line of a cast, by the worst of its hazards."""
    hazards = node.cast.hazards if node.cast else ()
    return next((colours for hazard, colours in _COLOURS.items() if hazard in hazards), _EXACT)


def program_labels(program: Program) -> dict[Node, list[str]]:
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
    if node.op in ("getitem", "setitem"):
        key = with_given(node.options["key"], [names[source] for source in node.inputs])
        return [f"[{key_text(key)}]{' = ...' if node.op == 'setitem' else ''}", node.type]
    part = "" if node.part is None else f" [{node.part}]"
    return [f"{node.op}{part}", node.type]
