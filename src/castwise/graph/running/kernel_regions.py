"""Regions that a generated kernel computes."""

from __future__ import annotations

import functools
from collections.abc import Collection

from castwise.execute.backend import Backend
from castwise.execute.functions.lookup import function_for
from castwise.execute.fusing import kernels
from castwise.execute.fusing.lowering import check_values, finished, guarded, tried
from castwise.execute.fusing.program import FusedProgram
from castwise.execute.values.adapting import adapted
from castwise.execute.values.casting import cast_under
from castwise.graph.program import CAST, CONSTANT, Node
from castwise.graph.running.nodes import row_of
from castwise.graph.running.regions import Region
from castwise.kernels.emitter import Traits
from castwise.kernels.ops import LOWERED_OPS
from castwise.kernels.program import Lowered
from castwise.kernels.writing import NotLoweredError, Value, Writer
from castwise.rules.values import Values


def is_fused(node: Node, backend: Backend) -> bool:
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


def fused_region(
    region: Region, backend: Backend, rules: Values, arguments: Collection[Node]
) -> FusedProgram:
    """The program of a region, on a backend whose arrays kernels can read. `arguments` are nodes
    that are numbers, besides the constants."""
    holder = kernels.memory_of(backend)
    assert holder is not None  # otherwise no array is large enough
    numbers = [
        place for place, node in enumerate(region.inputs)
        if node in arguments or (node.op == CONSTANT and not node.shape)
    ]  # fmt: skip
    return FusedProgram(holder, rules, functools.partial(_lowered, region, rules), numbers)


def _lowered(region: Region, rules: Values, traits: Traits) -> tuple[Lowered, ...]:
    values, traits = guarded(rules, traits)
    assert values is not None  # they were not None before
    return tried(traits, functools.partial(_written, region, values, traits.notices_errors))


def _written(region: Region, rules: Values, notices: bool, emitter: Backend) -> Lowered:
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
    return finished(writer, results, notices=notices)
