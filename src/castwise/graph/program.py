"""A program: nodes, each with a dtype and a shape, in the order they were computed.

Everything else in this folder reads programs or makes new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from castwise.engine.decision import Cast, Decision
from castwise.execute.tensor import Tensor
from castwise.graph.source_lines import SourceLine
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType

Shape = tuple["int | str", ...]

INPUT, CONSTANT, CAST = "input", "constant", "cast"


@dataclass(frozen=True, slots=True)
class Given:
    """A reference in a node's options to one of its inputs, by number."""

    number: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)  # nodes are compared by identity
class Node:
    """One value: an input, a constant, a cast, or an op or layout function applied to others."""

    op: str
    inputs: tuple[Node, ...]
    dtype: DType
    shape: Shape
    options: Mapping[str, Any] = field(default_factory=dict)
    value: Any = None  # of a constant: a number or a NumPy array
    name: str = ""  # of an input
    origin: SourceLine | None = None
    cast: Cast | None = None  # of a cast: why, with its hazards; None for one the user wrote
    compute: DType | None = None  # of an op: the dtype it computes in, which its inputs have
    part: int | None = None  # of a function with several results: which one
    # Of an op's result: the dialect's decision, and the op's original operands, before any implicit
    # cast.
    decision: Decision | None = None
    operands: tuple[Node, ...] = ()
    is_weak: bool = False

    @property
    def is_implicit(self) -> bool:
        """Whether it is a cast that promotion added, not the user."""
        return self.cast is not None

    @property
    def call(self) -> tuple[object, ...]:
        """A key that all results of one call share, and no other node has."""
        return (self.op, self.inputs, id(self.options))

    @property
    def positional(self) -> tuple[Node, ...]:
        """The inputs that are operands, not parts of options."""
        named = given_numbers(self.options)
        return tuple([node for n, node in enumerate(self.inputs) if n not in named])

    @property
    def type(self) -> str:
        """The dtype and shape in castwise's notation."""
        return f"{self.dtype}{'*' * self.is_weak}[{','.join(map(str, self.shape))}]"

    def __repr__(self) -> str:
        return f"<Node {self.name or self.op} {self.type}>"


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A tensor that a program reads or writes besides its arguments: its value before a run, which
    is an input, and after it. Both are the same node if it is only read."""

    before: Node
    after: Node
    # The tensor that has the value; None: the argument that `before` represents.
    tensor: Tensor | None = None

    @property
    def name(self) -> str:
        """Its name in the text and in ONNX."""
        return self.before.name

    @property
    def is_written(self) -> bool:
        """Whether a run changes its value."""
        return self.after is not self.before


@dataclass(frozen=True, slots=True)
class Call:
    """One op as the program wrote it: the decision, and the shapes of its operands."""

    decision: Decision
    operands: tuple[Shape, ...]
    result: Shape


class _Referable:
    """What a weak reference needs: with slots a class has none by itself."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program(_Referable):
    """A program in which every cast is explicit.

    `nodes` are in an order in which they can be computed. `structure` puts the outputs back into
    the lists, tuples and dicts that the function returned.
    """

    name: str
    dialect: Dialect
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]
    structure: Any = None
    state: tuple[State, ...] = ()
    calls: tuple[Call, ...] = ()  # the questions it asks its dialect, in order
    # Of a simplified program: the original one, in which every op has its decision.
    traced: Program | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes that the outputs and the state need, and all inputs, each after its own
        inputs."""
        before, after = [s.before for s in self.state], [s.after for s in self.state]
        return tuple(in_order((*self.inputs, *before, *self.outputs, *after)))

    @property
    def casts(self) -> tuple[Node, ...]:
        """The casts, implicit and explicit."""
        return tuple(node for node in self.nodes if node.op == CAST)


P = TypeVar("P", bound=Program)


def given_numbers(option: Any) -> set[int]:
    """The numbers of the inputs in an option, at any depth."""
    if isinstance(option, Given):
        return {option.number}
    parts: Iterable[Any] = ()
    if isinstance(option, Mapping):
        parts = option.values()
    elif isinstance(option, (tuple, list)):
        parts = option
    return {number for part in parts for number in given_numbers(part)}


def with_given(option: Any, given: Sequence[Any]) -> Any:
    """An option with its references replaced by the inputs."""
    if isinstance(option, Given):
        return given[option.number]
    if isinstance(option, (tuple, list)):
        return type(option)([with_given(part, given) for part in option])
    return option


def in_order(
    ends: Iterable[Node], needs: Callable[[Node], Sequence[Node]] = lambda node: node.inputs
) -> list[Node]:
    """The given nodes and all nodes that they need, each after its own inputs."""
    found: dict[int, Node] = {}
    waiting = [(node, False) for node in reversed(list(ends))]
    while waiting:
        node, are_inputs_done = waiting.pop()
        if id(node) in found:
            continue
        if are_inputs_done:
            found[id(node)] = node
        else:
            waiting.append((node, True))
            waiting.extend((source, False) for source in reversed(needs(node)))
    return list(found.values())


def rebuilt(program: P, remade: Callable[[Node, tuple[Node, ...]], Node]) -> P:
    """A program of the same class, each node made again from itself and its new inputs."""
    new: dict[Node, Node] = {}
    for node in program.nodes:
        made = remade(node, tuple([new[source] for source in node.inputs]))
        operands = tuple([new.get(operand, operand) for operand in made.operands])
        new[node] = made if made.operands == operands else replace(made, operands=operands)
    inputs = tuple([new[node] for node in program.inputs])
    outputs = tuple([new[node] for node in program.outputs])
    state = tuple([State(new[s.before], new[s.after], s.tensor) for s in program.state])
    return replace(program, inputs=inputs, outputs=outputs, state=state)
