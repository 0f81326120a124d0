"""Regions that a backend runs at once, because it compiles them or because its arrays are lazy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from castwise.execute.backend import Backend
from castwise.execute.regions import Region as BackendRegion
from castwise.execute.regions import RunsRegions
from castwise.graph.program import CAST, CONSTANT, Node, given_numbers
from castwise.graph.running.nodes import computation, in_node_dtype, needs_sizes
from castwise.graph.running.regions import Region
from castwise.rules.values import Values
from castwise.vocab.ops import known_op

FEWEST = 2  # nodes of a region: one alone runs as it does outside


def is_taken(node: Node, backend: RunsRegions) -> bool:
    """Whether a node is elementwise, and the backend takes it."""
    dtypes = [node.dtype, *[source.dtype for source in node.inputs]]
    if node.op == CAST:
        return backend.takes(CAST, None, dtypes)
    row = known_op(node.op)
    if row is None or row.compute or not row.keeps_shape or node.compute is None:
        return False
    is_plain = node.part is None and not given_numbers(node.options) and not needs_sizes(node)
    return is_plain and backend.takes(node.op, node.compute, dtypes)


class Whole(NamedTuple):
    """A region as a function of arrays, and the nodes of these."""

    run: Callable[[Sequence[Any]], Sequence[Any]]
    inputs: tuple[Node, ...]


def whole_region(
    region: Region, backend: RunsRegions, rules: Values, arguments: Mapping[Node, Any]
) -> Whole:
    """A region on a backend. Known numbers are inside of it; number arguments are not known."""
    known = [n for n in region.inputs if _is_number(n) and n not in arguments]
    inputs = [n for n in region.inputs if n not in known]
    nodes = [*known, *region.nodes]
    place = {node: n for n, node in enumerate([*inputs, *nodes])}
    ends = tuple([place[node] for node in region.outputs])
    lines = [(node, tuple([place[source] for source in node.inputs])) for node in nodes]
    compute = NodeByNode(_freeing(lines, len(inputs), ends), ends, rules)
    dtypes = tuple([node.dtype for node in region.outputs])
    run = backend.whole_region(BackendRegion(compute, dtypes, compute.text))
    return Whole(run, tuple(inputs))


def _is_number(node: Node) -> bool:
    return node.op == CONSTANT and isinstance(node.value, (bool, int, float, complex))


class Line(NamedTuple):
    """A node without its origin and decision, the places of its inputs, and those that no later
    line needs."""

    node: Node
    inputs: tuple[int, ...]
    last: tuple[int, ...]


def _freeing(
    lines: Sequence[tuple[Node, tuple[int, ...]]], given: int, ends: tuple[int, ...]
) -> tuple[Line, ...]:
    """Lines that say which arrays can be freed."""
    found, later = [], set(ends)
    for node, inputs in reversed(lines):
        last = tuple([n for n in dict.fromkeys(inputs) if n >= given and n not in later])
        # A cast asks for the dtype of what it casts, and nothing else.
        sources = tuple([_bare(source) for source in node.inputs])
        found.append(Line(replace(_bare(node), inputs=sources), inputs, last))
        later.update(inputs)
    return tuple(reversed(found))


def _bare(node: Node) -> Node:
    return replace(node, inputs=(), origin=None, cast=None, decision=None, operands=())


@dataclass(frozen=True, eq=False)
class NodeByNode:
    """Computes a region on any backend, in any process."""

    lines: tuple[Line, ...]
    outputs: tuple[int, ...]
    rules: Values

    def __call__(self, backend: Backend, arrays: Sequence[Any]) -> list[Any]:
        """The results, from the arrays of the inputs."""
        held = list(arrays)
        for node, inputs, last in self.lines:
            held.append(_computed(node, [held[n] for n in inputs], backend, self.rules))
            for n in last:
                held[n] = None
        return [held[n] for n in self.outputs]

    @property
    def text(self) -> str:
        """What it computes."""
        lines = [
            (node.op, f"{node.compute} {node.dtype}", node.value, sorted(node.options.items()), ins)
            for node, ins, _ in self.lines
        ]
        return f"{lines} {self.outputs} {self.rules}"


def _computed(node: Node, given: list[Any], backend: Backend, rules: Values) -> Any:
    if node.op == CONSTANT:
        return backend.number(node.value, node.dtype)
    return in_node_dtype(computation(node, backend, rules)(*given), node, backend)
