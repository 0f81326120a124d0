"""The graph: nodes with a dtype and a shape each, in the order they were computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from castwise.engine.decision import Cast, Decision
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType

if TYPE_CHECKING:  # they read this module
    from castwise.execute.tensor import Tensor
    from castwise.graph.passes.redialect import Redialect
    from castwise.graph.passes.simplify import Simplification

Shape = tuple["int | str", ...]

INPUT, CONSTANT, CAST = "input", "constant", "cast"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where in the user's source a node came from."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


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
    origin: Origin | None = None
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
    """A tensor that a program reads or writes beside its arguments: its value before a run, an
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where an output stands in what the function returned."""

    number: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph:
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
    calls: tuple[Call, ...] = ()  # what its program asks the dialect, in order
    # Of a simplified graph: the one it was made from, in which every op has its decision.
    traced: Graph | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes the outputs and the state need, and all inputs, each after what it needs."""
        before, after = [s.before for s in self.state], [s.after for s in self.state]
        return tuple(in_order((*self.inputs, *before, *self.outputs, *after)))

    @property
    def casts(self) -> tuple[Node, ...]:
        """The casts, implicit and explicit."""
        return tuple(node for node in self.nodes if node.op == CAST)

    def text(self, *, shows_origins: bool = True) -> str:
        """The graph, one typed line a node, with each cast and where it came from."""
        from castwise.graph.pictures.text import graph_text  # it reads this module

        return graph_text(self, shows_origins=shows_origins)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        given = ", ".join(f"{node.name}: {node.type}" for node in self.inputs)
        counts = f"{len(self.nodes)} nodes, {len(self.casts)} casts"
        return f"<Graph {self.name}({given}) under {self.dialect.name}: {counts}>"

    def simplify(self) -> Simplification:
        """The graph with fewer casts and the same values, and a report of what it saved."""
        from castwise.graph.passes.simplify import simplify

        return simplify(self)

    def redialect(self, dialect: str | Dialect) -> Redialect:
        """What would change dtype, need a cast or be refused under another dialect."""
        from castwise.graph.passes.redialect import redialect

        return redialect(self, dialect)

    def preserve(self, dialect: str | Dialect) -> Graph:
        """The graph under another dialect, with the explicit casts that keep its meaning.

        Raises PromotionError where an op has no equal there.
        """
        from castwise.graph.passes.redialect import preserve

        return preserve(self, dialect)

    def to_dot(self) -> str:
        """The graph for Graphviz, with its casts coloured by hazard."""
        from castwise.graph.pictures.dot import graph_dot

        return graph_dot(self)

    def to_svg(self) -> str:
        """The graph as an SVG picture, with its casts coloured by hazard."""
        from castwise.graph.pictures.svg import graph_svg

        return graph_svg(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __call__(self, *arrays: Any, backend: str | None = None, **named: Any) -> Any:
        """Runs the graph on arrays of any backend, in order or by name; returns Tensors.

        Its state is read from the tensors it belongs to, and written once all is computed.

        Raises UsageError where an array, or a state, is not what the function was traced with.
        """
        from castwise.graph.running.run import arranged, run_graph  # it reads this module

        return run_graph(self, arranged(self, arrays, named), backend)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the graph to a file, from which `load_graph` reads it again: JSON, with all that
        the graph knows, its constants and the values of its state as they are now.

        Raises UsageError where it holds something that a file cannot.
        """
        from castwise.graph.saving.writing import save_graph  # it reads this module

        save_graph(self, path)

    def to_onnx(
        self,
        path: str | PathLike[str] | None = None,
        *,
        opset: int | None = None,
        runtime: str | None = None,
    ) -> Any:
        """The graph as an onnx.ModelProto in standard ops, written to a file where a path is given.

        `opset` is the newest that onnx knows and an installed onnxruntime takes, unless given.
        `runtime="onnxruntime"` writes a model that this runtime has all kernels for: what it lacks
        is computed in a wider dtype or by other ops, to the same values.

        Raises UsageError naming each op and dtype that ONNX, or the runtime, cannot say, and where
        it stands.
        """
        from castwise.graph.onnx.export import graph_to_onnx  # it reads this module

        return graph_to_onnx(self, path, opset=opset, runtime=runtime)


def sequence_like(sequence: Any, parts: list[Any]) -> Any:
    """A list, tuple or named tuple of other parts."""
    kind = type(sequence)
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


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


def rebuilt(graph: Graph, remade: Callable[[Node, tuple[Node, ...]], Node]) -> Graph:
    """The graph with each node made anew, from itself and its new inputs."""
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        made = remade(node, tuple([new[source] for source in node.inputs]))
        operands = tuple([new.get(operand, operand) for operand in made.operands])
        new[node] = made if made.operands == operands else replace(made, operands=operands)
    inputs = tuple([new[node] for node in graph.inputs])
    outputs = tuple([new[node] for node in graph.outputs])
    state = tuple([State(new[s.before], new[s.after], s.tensor) for s in graph.state])
    return replace(graph, inputs=inputs, outputs=outputs, state=state)
