"""Traces a function whose number arguments stay arguments, unless it reads their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from castwise.execute.numbers import Arguments, TracedNumber
from castwise.graph.graph import Graph
from castwise.graph.program import Node, rebuilt
from castwise.graph.running.number_steps import Numbers
from castwise.vocab.operands import Scalar

Trace = Callable[[Sequence[Any]], Graph]


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A graph, and the constants in it that are computed from number arguments. The graph itself
    has the values that they had when it was traced."""

    graph: Graph
    numbers: Numbers
    read: frozenset[int]  # the numbers whose values the function reads


def traced(trace: Trace, numbers: Sequence[Scalar], read: frozenset[int]) -> Variant:
    """The graph that `trace` gives for numbers, some of which the function is known to read.

    A trace in which it reads others is made again with their values. So is one that fails, because
    not everything that takes a number takes a stand-in.
    """
    while True:
        arguments = Arguments()
        given = [
            n if place in read else TracedNumber(n, arguments, frozenset({place}))
            for place, n in enumerate(numbers)
        ]
        is_plain = len(read) == len(numbers)
        try:
            graph = trace(given)
        except Exception:
            if is_plain:
                raise
            read |= arguments.read or {*range(len(numbers))}
            continue
        finally:
            arguments.is_open = False
        found = arguments.read.union(*[n.places for n in _in_options(graph)])
        if not found:
            settled, nodes = _settled(graph)
            return Variant(settled, Numbers(len(numbers), nodes), read)
        read |= found


def _settled(graph: Graph) -> tuple[Graph, Mapping[Node, TracedNumber]]:
    """The graph with the values of its numbers, and the constants that they are in."""
    numbers: dict[Node, TracedNumber] = {}

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        made = replace(node, inputs=inputs)
        if type(node.value) is not TracedNumber:
            return made
        made = replace(made, value=node.value.traced_value)
        numbers[made] = node.value
        return made

    if all(type(node.value) is not TracedNumber for node in graph.nodes):
        return graph, {}
    original = graph.traced and rebuilt(graph.traced, remade)
    numbers.clear()
    return replace(rebuilt(graph, remade), traced=original), numbers


def _in_options(graph: Graph) -> Iterator[TracedNumber]:
    """The stand-ins in the options of nodes, which a graph has as they are."""
    waiting: list[Any] = [node.options for node in (graph.traced or graph).nodes]
    while waiting:
        option = waiting.pop()
        if type(option) is TracedNumber:
            yield option
        elif isinstance(option, Mapping):
            waiting.extend(option.values())
        elif isinstance(option, (list, tuple)):
            waiting.extend(option)
        elif isinstance(option, slice):
            waiting.extend((option.start, option.stop, option.step))
