"""Divides a program into regions, for backends that run several nodes at once.

A region consists of elementwise nodes that a backend takes. All others run node by node between
the regions. The division is made once per program and backend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from castwise.execute.backend import Backend
from castwise.execute.regions import Region, RunsRegions
from castwise.graph.program import CAST, CONSTANT, Node, Program, given_numbers
from castwise.rules.values import Values
from castwise.vocab.ops import known_op

# Computes the array of a node from those of its inputs, on a backend, with symbolic sizes and value
# rules; a function of a module, so that another process can import it.
OneNode = Callable[[Node, list[Any], Backend, dict[str, int], Values], Any]
_FEWEST = 2  # nodes of a region: one alone runs as it does outside


class Whole(NamedTuple):
    """A region as a function of arrays, with the nodes of its inputs and results."""

    run: Callable[[Sequence[Any]], Sequence[Any]]
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]


class Stage(NamedTuple):
    """Nodes that run one by one, then the regions that need them."""

    nodes: tuple[Node, ...]
    regions: tuple[Whole, ...] = ()


def stages_of(program: Program, backend: Backend, one: OneNode, rules: Values) -> Sequence[Stage]:
    """The stages of a program on a backend; a single one if the backend runs no regions."""
    if not isinstance(backend, RunsRegions):
        return (Stage(program.nodes),)
    kept = _kept.setdefault(program, {})
    if backend not in kept:
        kept[backend] = _divided(program, backend, one, rules)
    return kept[backend]


_kept: WeakKeyDictionary[Program, dict[Backend, list[Stage]]] = WeakKeyDictionary()


def _divided(program: Program, backend: RunsRegions, one: OneNode, rules: Values) -> list[Stage]:
    """The stages. A node that is not taken comes one stage after its inputs. One that is taken is
    in the last stage of its inputs, so nothing inside a region waits for something outside."""
    number: dict[Node, int] = {}
    taken: set[Node] = set()
    for node in program.nodes:
        if _is_taken(node, backend):
            taken.add(node)
        before = [number[source] for source in node.inputs]
        number[node] = max(before) + (node not in taken) if before else 0
    stages: list[list[Node]] = [[] for _ in range(max(number.values(), default=0) + 1)]
    for node, n in number.items():
        stages[n].append(node)
    groups = [_connected(nodes, taken) for nodes in stages]
    needed = _needed_outside(program, [group for several in groups for group in several])
    return [
        Stage(
            tuple([node for node in nodes if node in needed and not _is_in(node, several)]),
            tuple([w for g in several for w in _wholes(g, needed, backend, one, rules)]),
        )
        for nodes, several in zip(stages, groups, strict=True)
    ]


def _is_in(node: Node, groups: list[list[Node]]) -> bool:
    return any(node in group for group in groups)


def _is_taken(node: Node, backend: RunsRegions) -> bool:
    """Whether a node is elementwise, and the backend takes it."""
    dtypes = [node.dtype, *[source.dtype for source in node.inputs]]
    if node.op == CAST:
        return backend.takes(CAST, None, dtypes)
    row = known_op(node.op)
    if row is None or row.compute or not row.keeps_shape or node.compute is None:
        return False
    is_plain = node.part is None and not given_numbers(node.options)
    return is_plain and backend.takes(node.op, node.compute, dtypes)


def _connected(nodes: Iterable[Node], taken: set[Node]) -> list[list[Node]]:
    """The taken nodes of a stage in groups that are connected with each other, each in order."""
    group_of: dict[Node, list[Node]] = {}
    for node in nodes:
        if node not in taken:
            continue
        merged = [node]
        for group in {id(g): g for s in node.inputs if (g := group_of.get(s))}.values():
            merged = [*group, *merged]
        group_of.update(dict.fromkeys(merged, merged))
    order = {node: n for n, node in enumerate(group_of)}
    groups = {id(group): group for group in group_of.values() if len(group) >= _FEWEST}
    return [sorted(group, key=order.__getitem__) for group in groups.values()]


def _needed_outside(program: Program, groups: list[list[Node]]) -> set[Node]:
    """The nodes whose arrays are needed outside of regions, or by another region. Numbers are
    inside each region that uses them."""
    region = {node: n for n, group in enumerate(groups) for node in group}
    needed = {*program.outputs, *[state.after for state in program.state]}
    for node in program.nodes:
        for source in node.inputs:
            is_inside = node in region and (
                _is_number(source) or region.get(source) == region[node]
            )
            if not is_inside:
                needed.add(source)
    return needed


def _is_number(node: Node) -> bool:
    return node.op == CONSTANT and isinstance(node.value, (bool, int, float, complex))


def _wholes(
    group: list[Node], needed: set[Node], backend: RunsRegions, one: OneNode, rules: Values
) -> list[Whole]:
    """The region of a group, or one for each shape if its results have several."""
    by_shape: dict[object, list[Node]] = {}
    for node in group:
        if node in needed:
            by_shape.setdefault(node.shape, []).append(node)
    return [_whole(group, outputs, backend, one, rules) for outputs in by_shape.values()]


def _whole(
    group: list[Node], outputs: list[Node], backend: RunsRegions, one: OneNode, rules: Values
) -> Whole:
    wanted = set(outputs)
    for node in reversed(group):
        if node in wanted:
            wanted.update(node.inputs)
    used = dict.fromkeys(s for node in group if node in wanted for s in node.inputs)
    nodes = [*filter(_is_number, used), *[node for node in group if node in wanted]]
    inputs = [node for node in used if node not in set(nodes)]
    place = {node: n for n, node in enumerate([*inputs, *nodes])}
    ends = tuple([place[node] for node in outputs])
    lines = [(node, tuple([place[source] for source in node.inputs])) for node in nodes]
    compute = NodeByNode(_freeing(lines, len(inputs), ends), ends, one, rules)
    region = Region(compute, tuple([node.dtype for node in outputs]), compute.text)
    return Whole(backend.whole_region(region), tuple(inputs), tuple(outputs))


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
        plain = replace(node, inputs=(), origin=None, cast=None, decision=None, operands=())
        found.append(Line(plain, inputs, last))
        later.update(inputs)
    return tuple(reversed(found))


@dataclass(frozen=True, eq=False)
class NodeByNode:
    """Computes a region on any backend, in any process."""

    lines: tuple[Line, ...]
    outputs: tuple[int, ...]
    one: OneNode
    rules: Values

    def __call__(self, backend: Backend, arrays: Sequence[Any]) -> list[Any]:
        """The results, from the arrays of the inputs."""
        held = list(arrays)
        for node, inputs, last in self.lines:
            held.append(self.one(node, [held[n] for n in inputs], backend, {}, self.rules))
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
