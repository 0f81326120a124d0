"""A program: nodes, each with a dtype and a shape, in an order in which they can be computed.

Everything else in this folder reads programs or makes new ones. The lines of the user's source come
first, because each node knows its own; then nodes and programs, their names, and the structure of
what a program returns.
"""

from __future__ import annotations

import linecache
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from castwise.arrays.tensor import Tensor
from castwise.engine.decision import Cast, Decision
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import scalar_text

# Lines of the user's source.

_PACKAGE = str(Path(__file__).parents[1])


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The line of the user's source that a node comes from."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def user_line() -> SourceLine | None:
    """The current line of the user's own code: the first frame outside castwise."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_internal(frame):
        frame = frame.f_back
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    return SourceLine(file, line, linecache.getline(file, line).strip())


def _is_internal(frame: FrameType) -> bool:
    """Whether a frame belongs to castwise, or to the library through which it calls backends."""
    called = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return frame.f_code.co_filename.startswith(_PACKAGE) or called == "array_api_compat"


def user_place() -> str:
    """The current line of the user's code as text: its file, its number and its source."""
    line = user_line()
    if line is None:
        return "here"
    return f"{line}: `{line.text}`" if line.text else str(line)


# Nodes and programs.

Shape = tuple["int | str", ...]

INPUT, CONSTANT, CAST = "input", "constant", "cast"
# It has no value: it raises an error if a condition holds for any element.
CHECK = "check"
# Makes an array with memory of its own, for results that share none in the function.
COPY = "copy"


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
    def call(self) -> object:
        """A key that all results of one call share, and no other node has: the node itself if it
        is the only result."""
        return self if self.part is None else (self.op, self.inputs, id(self.options))

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


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A node that may raise, and the values that the state has by then."""

    node: Node
    state: tuple[Node, ...]  # for each state of the program


@dataclass(frozen=True, slots=True)
class Call:
    """One op as the program wrote it: the decision, and the shapes of its operands."""

    decision: Decision
    operands: tuple[Shape, ...]
    result: Shape


class _Kept(dict[Any, Any]):
    """What is made from a program once, to run it. It belongs to this process: a copy, and a
    program read from a pickle, start with none."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
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
    checks: tuple[Check, ...] = ()  # what may raise, in the order of the function
    # Whether a write shows in several of its arrays: it runs on libraries whose views share memory.
    shares_memory: bool = False
    needs_rows: bool = False  # whether its arrays must lie in rows, because others are copied
    plans: _Kept = field(init=False, default_factory=_Kept)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes that the outputs and the state need, and all inputs, each after its own
        inputs."""
        ends = (*self.inputs, *[s.before for s in self.state], *self.results)
        return tuple(in_order(ends, attrgetter("inputs")))

    @property
    def results(self) -> tuple[Node, ...]:
        """The outputs, the state after a run, and what may raise."""
        after = [s.after for s in self.state]
        return (*self.outputs, *after, *[check.node for check in self.checks])

    @property
    def casts(self) -> tuple[Node, ...]:
        """The casts, implicit and explicit."""
        return tuple(node for node in self.nodes if node.op == CAST)


P = TypeVar("P", bound=Program)
T = TypeVar("T")


def use_counts(program: Program) -> Counter[Node]:
    """How many nodes, outputs and states take each node."""
    uses = Counter(program.results)
    for node in program.nodes:
        uses.update(node.inputs)
    return uses


# What gives a view of its input in some libraries, wherever it does not have to copy.
VIEWS = frozenset({
    "broadcast_to", "conj", "flip", "getitem", "imag", "linalg.diagonal", "permute_dims",
    "positive", "real", "reshape",
})  # fmt: skip


def viewed_node(node: Node, ends: Container[Node] = ()) -> Node:
    """The node whose memory a node may share: itself, or what it is a view of, up to `ends`."""
    while node.op in VIEWS and len(node.inputs) == 1 and node not in ends:
        node = node.inputs[0]
    return node


def option_leaves(option: Any) -> Iterator[Any]:
    """What is in an option, or in all options of a node, at any depth."""
    if isinstance(option, Mapping):
        option = option.values()
    elif isinstance(option, slice):
        option = (option.start, option.stop, option.step)
    elif not isinstance(option, (tuple, list)):
        yield option
        return
    for part in option:
        yield from option_leaves(part)


def with_leaves(option: Any, replaced: Callable[[Any], Any]) -> Any:
    """An option with other leaves, in the same lists, tuples, dicts and slices."""
    if isinstance(option, slice):
        parts = (option.start, option.stop, option.step)
        return slice(*[with_leaves(part, replaced) for part in parts])
    if isinstance(option, (tuple, list)):
        return type(option)([with_leaves(part, replaced) for part in option])
    if isinstance(option, Mapping):
        return {key: with_leaves(part, replaced) for key, part in option.items()}
    return replaced(option)


def given_numbers(option: Any) -> set[int]:
    """The numbers of the inputs in an option."""
    return {leaf.number for leaf in option_leaves(option) if isinstance(leaf, Given)}


def with_given(option: Any, given: Sequence[Any]) -> Any:
    """An option with its references replaced by the inputs."""
    return with_leaves(option, lambda leaf: given[leaf.number] if type(leaf) is Given else leaf)


def in_order(ends: Iterable[T], needs: Callable[[T], Sequence[T]]) -> list[T]:
    """The given things, such as nodes, and all that they need, each after what it needs itself."""
    found: dict[int, T] = {}
    waiting = [(end, False) for end in reversed(list(ends))]
    while waiting:
        thing, are_needs_done = waiting.pop()
        if id(thing) in found:
            continue
        if are_needs_done:
            found[id(thing)] = thing
        else:
            waiting.append((thing, True))
            waiting.extend((need, False) for need in reversed(needs(thing)))
    return list(found.values())


def rebuilt(program: P, remade: Callable[[Node, tuple[Node, ...]], Node]) -> P:
    """A program of the same class, each node made again from itself and its new inputs."""
    new: dict[Node, Node] = {}
    passed = [node for check in program.checks for node in check.state]
    for node in in_order((*program.nodes, *passed), attrgetter("inputs")):
        made = remade(node, tuple([new[source] for source in node.inputs]))
        operands = tuple([new.get(operand, operand) for operand in made.operands])
        new[node] = made if made.operands == operands else replace(made, operands=operands)
    inputs = tuple([new[node] for node in program.inputs])
    outputs = tuple([new[node] for node in program.outputs])
    state = tuple([State(new[s.before], new[s.after], s.tensor) for s in program.state])
    checks = [Check(new[c.node], tuple([new[n] for n in c.state])) for c in program.checks]
    return replace(program, inputs=inputs, outputs=outputs, state=state, checks=tuple(checks))


# The names of a program's nodes in text, pictures and exports.


def node_names(program: Program) -> dict[Node, str]:
    """The name of each node: inputs have their own names, small constants their values."""
    names: dict[Node, str] = {}
    count = 0
    for node in program.nodes:
        if node.op == INPUT:
            names[node] = node.name
        elif is_inline(node):
            number = node.value.item() if hasattr(node.value, "item") else node.value
            names[node] = f"{node.dtype}({scalar_text(number)})"
        else:
            names[node] = f"%{count}"
            count += 1
    return names


def is_inline(node: Node) -> bool:
    """Whether a node has no separate line: an input, or a number."""
    return node.op == INPUT or (node.op == CONSTANT and node.shape == ())


# The lists, tuples and dicts that a program returns, with slots in place of the arrays.


@dataclass(frozen=True, slots=True)
class Slot:
    """A placeholder for one array in a structure, by its number."""

    number: int


def sequence_like(sequence: Any, parts: list[Any]) -> Any:
    """A list, tuple or named tuple like another, with other parts."""
    kind = type(sequence)
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def filled(structure: Any, arrays: Sequence[Any]) -> Any:
    """A structure with arrays in its slots.

    >>> filled({"a": [Slot(1), None], "b": Slot(0)}, ["x", "y"])
    {'a': ['y', None], 'b': 'x'}
    """
    if isinstance(structure, Slot):
        return arrays[structure.number]
    if isinstance(structure, (list, tuple)):
        return sequence_like(structure, [filled(part, arrays) for part in structure])
    if isinstance(structure, dict):
        return {key: filled(part, arrays) for key, part in structure.items()}
    return structure


def slots_in(structure: Any) -> list[int]:
    """The numbers of the slots in a structure."""
    if isinstance(structure, Slot):
        return [structure.number]
    parts = structure.values() if isinstance(structure, dict) else structure or ()
    return [number for part in parts for number in slots_in(part)]
