"""From a Python function to a graph: it runs once on the recording backend."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from castwise.engine.chosen import dialect_chosen
from castwise.engine.decision import Decision, cast_between
from castwise.errors import UsageError
from castwise.execute.fast_path import watched_by
from castwise.execute.kinds import Kind, held_dtype, interned
from castwise.execute.tensor import Tensor
from castwise.execute.tracing import traced_by
from castwise.execute.variable import Variable, stand_in
from castwise.graph.graph import Graph
from castwise.graph.program import CAST, INPUT, Call, Node, rebuilt
from castwise.graph.recording.arrays import Traced, constant
from castwise.graph.recording.backend import recording_under
from castwise.graph.structure import Slot, sequence_like
from castwise.graph.tracing.names import Names
from castwise.graph.tracing.state import States
from castwise.rules.default import use
from castwise.rules.dialect import Dialect
from castwise.vocab.describing import describe


def trace(
    fn: Callable[..., Any],
    *specs: Any,
    dialect: str | Dialect | None = None,
    **named_specs: Any,
) -> Graph:
    """The graph of a function for operands like these.

    `specs` are notation such as "float16[n,3]", one per parameter, in order or by name. An array
    means its dtype and shape, and a Python number means itself. The function runs once, without
    values.

    >>> g = trace(lambda x, y: x + y, "int32[n]", "float16[n]", dialect="torch")
    >>> print(g.text(shows_origins=False))
    lambda(x: int32[n], y: float16[n]) under torch
      %0 = cast x to float16  float16[n]  loses-precision, loses-range
      %1 = add(%0, y)         float16[n]
      return %1

    Raises UsageError if the function needs a value, PromotionError if the dialect refuses.
    """
    chosen = dialect_chosen(dialect, [*specs, *named_specs.values()]).dialect
    written: list[Tensor] = []  # outside tensors that the function writes to
    while True:
        states = States(recording_under(chosen), Names(fn, [*named_specs]))
        with states.holding(written):
            graph = _traced_once(fn, specs, named_specs, chosen, states)
        if not states.found:
            return graph
        written += states.found


def _traced_once(
    fn: Callable[..., Any],
    specs: Sequence[Any],
    named_specs: Mapping[str, Any],
    dialect: Dialect,
    states: States,
) -> Graph:
    """The graph of one run of the function."""
    given = [*zip(_parameter_names(fn, len(specs)), specs, strict=True), *named_specs.items()]
    made = [_input(name, spec, dialect, states) for name, spec in given]
    keywords = dict(zip(named_specs, made[len(specs) :], strict=True))
    watcher = _Decisions()
    with use(dialect), watched_by(watcher, alone=True), traced_by(states):
        inputs = tuple([m._array.node for m in made if isinstance(m, Tensor)])
        returned = fn(*made[: len(specs)], **keywords)
        outputs, structure = _flattened(returned)
    graph = Graph(_name(fn), dialect, inputs, outputs, structure, states.result())
    return watcher.marked(graph)


class _Decisions:
    """Records which decision made which nodes."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._decided: dict[object, tuple[Decision, tuple[Node, ...]]] = {}
        self._implicit: set[Node] = set()

    def note(self, decision: Decision, operands: Sequence[Any], result: Any) -> None:
        """Records one op: all casts between its operands and its result are implicit."""
        shapes = [tuple(getattr(operand, "shape", ())) for operand in operands]
        self._calls.append(Call(decision, tuple(shapes), tuple(result.shape)))
        if not isinstance(result, Traced):
            return
        given = tuple([o.node for o in operands if isinstance(o, Traced)])
        self._decided[_call_or_node(result.node)] = (decision, given)
        waiting, met = [result.node], {*given}
        while waiting:
            node = waiting.pop()
            if node in met:
                continue
            met.add(node)
            if node.op == CAST:
                self._implicit.add(node)
            waiting.extend(node.inputs)

    def marked(self, graph: Graph) -> Graph:
        """The graph with its decisions, and its implicit casts with their hazards."""

        def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
            decision, operands = self._decided.get(_call_or_node(node), (None, ()))
            is_implicit = node in self._implicit
            cast = cast_between(node.inputs[0].dtype, node.dtype) if is_implicit else node.cast
            is_weak = decision.is_weak if decision else _stays_weak(node, inputs)
            return replace(node, inputs=inputs, cast=cast, decision=decision, operands=operands,
                           is_weak=is_weak)  # fmt: skip

        return replace(rebuilt(graph, remade), calls=tuple(self._calls))


def _stays_weak(node: Node, inputs: tuple[Node, ...]) -> bool:
    """Whether a node without a decision is weak: a weak input, or a layout of weak elements."""
    moves = bool(inputs) and node.compute is None and node.op != CAST
    return inputs[0].is_weak if moves and node.dtype is inputs[0].dtype else node.is_weak


def _call_or_node(node: Node) -> object:
    """A node, or its call if it has several results, which all share one decision."""
    return node if node.part is None else node.call


def _input(name: str, spec: Any, dialect: Dialect, states: States) -> Any:
    """The argument for a parameter: a tensor, a variable if the spec is one, or a number."""
    seen = describe(spec)
    if seen.dtype is None:
        return seen.value
    if seen.shape is None:
        raise UsageError(f"{name}: give the shape of {seen}, such as {seen.dtype}[n].")
    held = held_dtype(seen.dtype, dialect)
    node = Node(INPUT, (), held, seen.shape, name=name, is_weak=seen.is_weak)
    kind = interned(Kind(recording_under(dialect), held, not seen.shape, seen.is_weak, dialect))
    if not isinstance(spec, Variable):
        return Tensor._of(Traced(node), kind)
    variable = stand_in(Traced(node), kind)
    states.add_argument(variable, Traced(node))
    return variable


def _parameter_names(fn: Callable[..., Any], count: int) -> list[str]:
    """The names of a function's first parameters."""
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    named = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.KEYWORD_ONLY)]
    return [named[n] if n < len(named) else f"arg{n}" for n in range(count)]


def _name(fn: Callable[..., Any]) -> str:
    name = getattr(fn, "__name__", type(fn).__name__)
    return "lambda" if name == "<lambda>" else name


def _flattened(returned: Any) -> tuple[tuple[Node, ...], Any]:
    """The nodes in what a function returned, and the same structure with slots instead."""
    nodes: list[Node] = []

    def placed(part: Any) -> Any:
        if part is None:
            return None
        if isinstance(part, (tuple, list)):
            return sequence_like(part, [placed(inner) for inner in part])
        if isinstance(part, dict):
            return {key: placed(inner) for key, inner in part.items()}
        nodes.append(_node_of(part))
        return Slot(len(nodes) - 1)

    structure = placed(returned)
    return tuple(nodes), structure


def _node_of(part: Any) -> Node:
    if isinstance(part, Tensor):
        array = part._array
        if isinstance(array, Traced):
            return array.node
        return replace(constant(part.numpy()), is_weak=part.weak_type)
    if isinstance(part, (bool, int, float, complex)) or hasattr(part, "__array__"):
        return constant(part)
    raise UsageError(
        "a traced function returns tensors, numbers, None, and lists, tuples and dicts of them, "
        f"not a {type(part).__name__}."
    )
