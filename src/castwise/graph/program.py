"""A program: nodes with a dtype and a shape each, in the order they were computed.

Everything else in this folder reads programs, or makes new ones.
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
    """In the options of a node: one of its inputs, by its number."""

    number: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)  # a node is itself, whatever it holds
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
    # Of what an op of the program gives: what the dialect decided, and what the op was written
    # with, before any implicit cast.
    decision: Decision | None = None
    operands: tuple[Node, ...] = ()
    is_weak: bool = False

    @property
    def is_implicit(self) -> bool:
        """Whether it is a cast that promotion made, and not the user."""
        return self.cast is not None

    @property
    def call(self) -> tuple[object, ...]:
        """What it shares with the other results of one call of a function, and nothing else."""
        return (self.op, self.inputs, id(self.options))

    @property
    def positional(self) -> tuple[Node, ...]:
        """The inputs that are operands, and not part of an option."""
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
    """A tensor that a program reads or writes besides its arguments: its value before a run, an
    input, and after it; the same node where it is only read."""

    before: Node
    after: Node
    # Whose value it is; None: that of the argument which `before` stands for.
    tensor: Tensor | None = None

    @property
    def name(self) -> str:
        """What it is called in the text, and in ONNX."""
        return self.before.name

    @property
    def is_written(self) -> bool:
        """Whether a run gives it another value."""
        return self.after is not self.before


@dataclass(frozen=True, slots=True)
class Call:
    """One op as the program wrote it: what was decided, on operands of which shapes."""

    decision: Decision
    operands: tuple[Shape, ...]
    result: Shape


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
    """A program in which every cast is written down.

    `nodes` are in an order in which they can be computed; `structure` puts the outputs back into
    the shape the function returned them in.
    """

    name: str
    dialect: Dialect
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]
    structure: Any = None
    state: tuple[State, ...] = ()
    calls: tuple[Call, ...] = ()  # what it asks its dialect, in order
    # Of a simplified program: the one it was made from, in which every op has its decision.
    traced: Program | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes the outputs and the state need, and all inputs, each after what it needs."""
        before, after = [s.before for s in self.state], [s.after for s in self.state]
        return tuple(in_order((*self.inputs, *before, *self.outputs, *after)))

    @property
    def casts(self) -> tuple[Node, ...]:
        """The casts, implicit and explicit."""
        return tuple(node for node in self.nodes if node.op == CAST)


P = TypeVar("P", bound=Program)


def given_numbers(option: Any) -> set[int]:
    """The numbers of the inputs that stand in an option, however deep."""
    if isinstance(option, Given):
        return {option.number}
    parts: Iterable[Any] = ()
    if isinstance(option, Mapping):
        parts = option.values()
    elif isinstance(option, (tuple, list)):
        parts = option
    return {number for part in parts for number in given_numbers(part)}


def with_given(option: Any, given: Sequence[Any]) -> Any:
    """An option with the inputs that stand in it in their places."""
    if isinstance(option, Given):
        return given[option.number]
    if isinstance(option, (tuple, list)):
        return type(option)([with_given(part, given) for part in option])
    return option


def in_order(
    ends: Iterable[Node], needs: Callable[[Node], Sequence[Node]] = lambda node: node.inputs
) -> list[Node]:
    """The nodes that some nodes need, these included, each after what it needs."""
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
