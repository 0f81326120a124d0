"""Divides a program into regions: elementwise nodes that depend on each other, with nothing between
them that must run alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from castwise.graph.program import Node, Program


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Nodes that run at once: what they take from outside, and what others take. All outputs have
    one shape."""

    nodes: tuple[Node, ...]
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]


def in_stages(
    program: Program, is_taken: Callable[[Node], bool], *, fewest: int = 1, of_one_shape: bool
) -> list[Node | Region]:
    """The nodes of a program, each after what it needs; those that are taken are in regions of at
    least so many nodes, all of one shape if that is needed.

    A node is one stage after the taken nodes that it needs if it is not taken itself, so that no
    part of a region waits for something outside that needs another part of it.
    """
    nodes = program.nodes
    stages: dict[Node, int] = {}
    taken: set[Node] = set()
    for node in nodes:
        if is_taken(node):
            taken.add(node)
        waits = node not in taken
        stages[node] = max([stages[n] + (waits and n in taken) for n in node.inputs] or [0])
    groups = _connected([node for node in nodes if node in taken], stages, of_one_shape)
    groups = [group for group in groups if len(group) >= fewest]
    regions = [region for group in groups for region in _regions(group, nodes, _ends(program))]
    inside = {node for group in groups for node in group}
    found: list[Node | Region] = []
    for stage in range(max(stages.values(), default=0) + 1):
        here = [node for node in nodes if stages[node] == stage and node not in inside]
        found += [node for node in here if node not in taken]
        found += _ordered(
            [r for r in regions if stages[r.nodes[0]] == stage], [n for n in here if n in taken]
        )
    return found


def _connected(
    nodes: Sequence[Node], stages: Mapping[Node, int], of_one_shape: bool
) -> list[list[Node]]:
    """The nodes of one stage that depend on each other, in their order."""
    group_of: dict[Node, list[Node]] = {}
    for node in nodes:
        own = group_of[node] = [node]
        for source in node.inputs:
            other = group_of.get(source)
            is_near = stages[source] == stages[node]
            is_alike = source.shape == node.shape or not of_one_shape
            if other is None or other is own or not (is_near and is_alike):
                continue
            for member in other:
                group_of[member] = own
            own[:0] = other
    unique = {id(group): group for group in group_of.values()}
    place = {node: n for n, node in enumerate(nodes)}
    return [sorted(group, key=place.__getitem__) for group in unique.values()]


def _ends(program: Program) -> set[Node]:
    return {*program.outputs, *[state.after for state in program.state]}


def _regions(group: Sequence[Node], nodes: Sequence[Node], ends: set[Node]) -> list[Region]:
    """The region of a group, or one for each shape if its outputs have several. Each computes all
    that it needs."""
    own = set(group)
    outside = {n for node in nodes if node not in own for n in node.inputs} | ends
    by_shape: dict[object, list[Node]] = {}
    for node in group:
        if node in outside:
            by_shape.setdefault(node.shape, []).append(node)
    return [_region(group, outputs) for outputs in by_shape.values()]


def _region(group: Sequence[Node], outputs: Sequence[Node]) -> Region:
    needed = set(outputs)
    for node in reversed(group):
        if node in needed:
            needed.update(node.inputs)
    own = [node for node in group if node in needed]
    inputs = dict.fromkeys(n for node in own for n in node.inputs if n not in own)
    return Region(tuple(own), tuple(inputs), tuple(outputs))


def _ordered(regions: list[Region], alone: list[Node]) -> list[Node | Region]:
    """Regions and single nodes of one stage, those with smaller results first where larger ones
    need them."""
    found: list[Node | Region] = []
    waiting: list[Node | Region] = [*alone, *regions]
    while waiting:
        coming = {node for part in waiting for node in _results(part)}
        ready = [part for part in waiting if coming.isdisjoint(part.inputs)]
        found += ready
        waiting = [part for part in waiting if part not in ready]
    return found


def _results(part: Node | Region) -> tuple[Node, ...]:
    return part.outputs if isinstance(part, Region) else (part,)
