"""The parts of a program that one kernel can compute: elementwise nodes of one shape that depend on
each other, with nothing between them that a library must compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from castwise.execute.backend import Backend
from castwise.execute.functions.lookup import function_for
from castwise.execute.fusing import kernels
from castwise.execute.fusing.lowering import check_values, emitters, finished, guarded
from castwise.execute.fusing.program import FusedProgram
from castwise.execute.values.adapting import adapted
from castwise.execute.values.casting import cast_under
from castwise.graph.program import CAST, Node, Program
from castwise.graph.running.nodes import row_of
from castwise.kernels.emitter import Traits
from castwise.kernels.ops import LOWERED_OPS
from castwise.kernels.program import Lowered
from castwise.kernels.writing import NotLoweredError, Value, Writer
from castwise.rules.values import Values


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Nodes that one kernel computes: what they take from outside, and what others take."""

    nodes: tuple[Node, ...]
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]


def in_stages(
    program: Program, backend: Backend, numbers: Mapping[Node, Any]
) -> list[Node | Region]:
    """The nodes of a program, those that a kernel can compute in regions, each after what it needs.

    A stage is one more than the last one before a node that a library must compute. Nodes of one
    stage cannot wait for each other through such a node.
    """
    nodes = program.nodes
    stages: dict[Node, int] = {}
    fused: dict[Node, bool] = {}
    for node in nodes:
        fused[node] = node not in numbers and _is_fused(node, backend)
        stages[node] = max([stages[n] + (fused[n] and not fused[node]) for n in node.inputs] or [0])
    groups = _connected([node for node in nodes if fused[node]], stages)
    regions = [_region(group, nodes, _ends(program)) for group in groups]
    found: list[Node | Region] = []
    for stage in range(max(stages.values(), default=0) + 1):
        found += [node for node in nodes if stages[node] == stage and not fused[node]]
        found += _ordered([r for r in regions if stages[r.nodes[0]] == stage])
    return found


def _is_fused(node: Node, backend: Backend) -> bool:
    """Whether a node is one that kernels compute, for arrays of a dimension at least."""
    are_real = all(n.dtype.kind != "complex" and n.dtype.bits <= 64 for n in (node, *node.inputs))
    if not node.shape or not are_real or node.part is not None:
        return False
    if node.op == CAST:
        return True
    if node.compute is None or node.options or node.op not in LOWERED_OPS or row_of(node).compute:
        return False
    try:
        check_values(node.op, None, backend)
    except NotLoweredError:
        return False
    return True


def _connected(nodes: Sequence[Node], stages: Mapping[Node, int]) -> list[list[Node]]:
    """The nodes of one shape and stage that depend on each other, in their order."""
    group_of: dict[Node, list[Node]] = {}
    for node in nodes:
        own = group_of[node] = [node]
        for source in node.inputs:
            other = group_of.get(source)
            is_alike = source.shape == node.shape and stages[source] == stages[node]
            if other is None or other is own or not is_alike:
                continue
            for member in other:
                group_of[member] = own
            own[:0] = other
    unique = {id(group): group for group in group_of.values()}
    place = {node: n for n, node in enumerate(nodes)}
    return [sorted(group, key=place.__getitem__) for group in unique.values()]


def _ends(program: Program) -> set[Node]:
    return {*program.outputs, *[state.after for state in program.state]}


def _region(group: Sequence[Node], nodes: Sequence[Node], ends: set[Node]) -> Region:
    own = set(group)
    inputs = dict.fromkeys(n for node in group for n in node.inputs if n not in own)
    outside = {n for node in nodes if node not in own for n in node.inputs} | ends
    return Region(tuple(group), tuple(inputs), tuple([n for n in group if n in outside]))


def _ordered(regions: list[Region]) -> list[Region]:
    """Regions of one stage, those with smaller results first where larger ones need them."""
    found: list[Region] = []
    waiting = list(regions)
    while waiting:
        coming = {node for region in waiting for node in region.outputs}
        ready = [region for region in waiting if coming.isdisjoint(region.inputs)]
        found += ready
        waiting = [region for region in waiting if region not in ready]
    return found


def fused_region(region: Region, backend: Backend, rules: Values) -> FusedProgram | None:
    """The program of a region; None if no device has kernels for the arrays of a backend."""
    holder = kernels.memory_of(backend)
    if holder is None:
        return None
    return FusedProgram(holder, rules, lambda traits: _lowered(region, rules, traits))


def _lowered(region: Region, rules: Values, traits: Traits) -> tuple[Lowered, ...]:
    values, traits = guarded(rules, traits)
    assert values is not None  # they were not None before
    found = [_written(region, values, emitter, traits) for emitter in emitters(traits)]
    return tuple(dict.fromkeys(found))


def _written(region: Region, rules: Values, emitter: Backend, traits: Traits) -> Lowered:
    writer = Writer()
    held: dict[Node, Value] = {node: writer.operand(node.dtype) for node in region.inputs}
    for node in region.nodes:
        given = [held[source] for source in node.inputs]
        if node.op == CAST:
            held[node] = cast_under(rules, emitter, given[0], node.dtype)
            continue
        assert node.compute is not None  # it is an op
        function = function_for(emitter, node.op, node.compute)
        found = adapted(function, emitter, node.op, node.compute, rules)(*given)
        held[node] = found if found.dtype is node.dtype else emitter.cast(found, node.dtype)
    results = [held[node] for node in region.outputs]
    return finished(writer, results, notices=traits.notices_errors)
