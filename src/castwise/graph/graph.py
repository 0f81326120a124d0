"""The graph: a program with everything that can be done with it, and `trace`, which makes one.

A function becomes a graph by running once on the recording backend. Below `trace` are the decisions
of that run, the state that the function reads or writes, and the names of that state.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from types import ModuleType
from typing import Any, cast

from castwise.arrays.backend import Backend
from castwise.arrays.fast_path import TracedState, traced_by, watched_by
from castwise.arrays.kinds import Kind, TensorData, interned, made_constant, truncated_dtype
from castwise.arrays.tensor import Stateful, Tensor, Variable, outside, stand_in
from castwise.catalog import use
from castwise.engine.ask import dialect_chosen
from castwise.engine.decision import Decision, cast_between
from castwise.errors import UsageError
from castwise.graph.passes import Redialect, Simplification, preserve, redialect, simplify
from castwise.graph.pictures import program_dot, program_svg, program_text
from castwise.graph.program import (
    CAST,
    INPUT,
    Call,
    Node,
    Program,
    Slot,
    State,
    rebuilt,
    sequence_like,
)
from castwise.graph.recording import Traced, constant, recording_backend
from castwise.graph.run import arranged, run_program
from castwise.graph.saving import read_program, save_program
from castwise.rules.dialect import Dialect
from castwise.showing import InNotebooks, first_few, quantity, repr_line
from castwise.vocab.notation import describe


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph(Program, InNotebooks):
    """A program in which every cast is explicit, to run, print, draw, change and save."""

    traced: Graph | None = None

    def text(self, *, shows_origins: bool = True) -> str:
        """The graph, one typed line per node, with each cast and where it came from."""
        return program_text(self, shows_origins=shows_origins)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        given = first_few(f"{node.name}: {node.type}" for node in self.inputs)
        returned = first_few(node.type for node in self.outputs)
        return repr_line(
            "Graph",
            f"{self.name}({given}) -> {returned or 'nothing'} under {self.dialect.name}",
            quantity(len(self.nodes), "node"),
            quantity(len(self.casts), "cast"),
        )

    def simplify(self) -> Simplification[Graph]:
        """The graph with fewer casts and the same values, and a report of the savings."""
        return simplify(self)

    def redialect(self, dialect: str | Dialect) -> Redialect[Graph]:
        """What would change dtype, need a cast or be refused under another dialect.

        A simplified graph gives the same answer as the original.
        """
        return redialect(self.traced or self, dialect)

    def preserve(self, dialect: str | Dialect) -> Graph:
        """The graph under another dialect, with explicit casts that keep its meaning.

        Raises PromotionError if an op has no equivalent there.
        """
        return preserve(self, dialect)

    def to_dot(self) -> str:
        """The graph for Graphviz, with its casts coloured by hazard."""
        return program_dot(self)

    def to_svg(self) -> str:
        """The graph as an SVG picture, with its casts coloured by hazard."""
        return program_svg(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __call__(self, *arrays: Any, backend: str | None = None, **named: Any) -> Any:
        """Runs the graph on arrays of any backend, in order or by name; returns Tensors.

        Its state is read from its tensors, and written after everything is computed.

        Raises UsageError if an array or a state differs from what the function was traced with.
        """
        return run_program(self, arranged(self, arrays, named), backend)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the graph to a JSON file that `load_graph` reads, with its constants and the
        current values of its state.

        Raises UsageError if the graph contains something that cannot be saved.
        """
        save_program(self, path)

    def to_onnx(
        self,
        path: str | PathLike[str] | None = None,
        *,
        opset: int | None = None,
        runtime: str | None = None,
    ) -> Any:
        """The graph as an onnx.ModelProto in standard ops, also written to a file if a path is
        given.

        `opset` defaults to the newest that onnx knows and an installed onnxruntime supports. With
        `runtime="onnxruntime"` the model only uses kernels that this runtime has. What it lacks is
        computed in a wider dtype or by other ops, with the same values.

        Raises UsageError that lists each op and dtype that ONNX, or the runtime, cannot express,
        with its source line.
        """
        # Imported late: many modules that few programs need.
        from castwise.graph.onnx.export import program_to_onnx

        return program_to_onnx(self, path, opset=opset, runtime=runtime)


def load_graph(path: str | PathLike[str]) -> Graph:
    """The graph from a file that `Graph.save` wrote. It prints, runs and exports like the original.

    Its state is in new variables with the saved values: `g.state[0].tensor`. Custom ops are saved
    by name: declare them in the same way before loading.

    >>> import tempfile
    >>> import castwise as cw
    >>> graph = cw.trace(lambda x: x * 2, "int8[n]", dialect="torch")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph.save(f"{folder}/doubled.json")
    ...     load_graph(f"{folder}/doubled.json")
    Graph(lambda(x: int8[n]) -> int8[n] under torch, 3 nodes, 0 casts)

    Raises UsageError that names the file and what is wrong with it, or an op that is not declared.
    """
    return read_program(path, Graph)


# From a function to a graph.


def trace(
    fn: Callable[..., Any], *specs: Any, dialect: str | Dialect | None = None, **named_specs: Any
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
    written: list[TensorData] = []  # outside tensors that the function writes to
    while True:
        states = _States(recording_backend(chosen), _Names(fn, [*named_specs]))
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
    states: _States,
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
    name = getattr(fn, "__name__", type(fn).__name__)
    name = "lambda" if name == "<lambda>" else name
    return watcher.marked(Graph(name, dialect, inputs, outputs, structure, states.result()))


class _Decisions:
    """Records which decision made which nodes."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        # By call, because all results of a call share one decision.
        self._decided: dict[object, tuple[Decision, tuple[Node, ...]]] = {}
        self._implicit: set[Node] = set()

    def note(self, decision: Decision, operands: Sequence[Any], result: Any) -> None:
        """Records one op: all casts between its operands and its result are implicit."""
        shapes = [tuple(getattr(operand, "shape", ())) for operand in operands]
        self._calls.append(Call(decision, tuple(shapes), tuple(result.shape)))
        if not isinstance(result, Traced):
            return
        given = tuple([o.node for o in operands if isinstance(o, Traced)])
        self._decided[result.node.call] = (decision, given)
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
            decision, operands = self._decided.get(node.call, (None, ()))
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


def _input(name: str, spec: Any, dialect: Dialect, states: _States) -> Any:
    """The argument for a parameter: a tensor, a variable if the spec is one, or a number."""
    seen = describe(spec)
    if seen.dtype is None:
        return seen.value
    if seen.shape is None:
        raise UsageError(f"{name}: give the shape of {seen}, such as {seen.dtype}[n].")
    held = truncated_dtype(seen.dtype, dialect)
    node = Node(INPUT, (), held, seen.shape, name=name, is_weak=seen.is_weak)
    kind = interned(Kind(recording_backend(dialect), held, not seen.shape, seen.is_weak, dialect))
    if not isinstance(spec, Variable):
        return Tensor._of(Traced(node), kind)
    variable = stand_in(Traced(node), kind)
    states.add_argument(variable, Traced(node))
    return variable


def _parameter_names(fn: Callable[..., Any], count: int) -> list[str]:
    """The names of a function's first parameters."""
    others = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.KEYWORD_ONLY)
    named = [p.name for p in _parameters(fn) if p.kind not in others]
    return [named[n] if n < len(named) else f"arg{n}" for n in range(count)]


def _parameters(fn: Callable[..., Any]) -> list[inspect.Parameter]:
    """A function's parameters; none if Python does not know them."""
    try:
        return list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        return []


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
        nodes.append(_returned_node(part))
        return Slot(len(nodes) - 1)

    structure = placed(returned)
    return tuple(nodes), structure


def _returned_node(part: Any) -> Node:
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


# State: the outside tensors that a function reads or writes.


@dataclass(slots=True)
class _Entry:
    """A tensor in the trace and its value before; a variable made by the function has none."""

    tensor: TensorData
    held: TracedState
    before: Node | None = None
    is_argument: bool = False


class _States:
    """The state of one trace.

    Variables from outside are always state. Other tensors are constants, which may be computed with
    immediately, unless they are written to. A function that writes to some is traced again with all
    of them as state from the beginning.
    """

    def __init__(self, backend: Backend, tensor_name: Callable[[TensorData], str]) -> None:
        self.backend, self._tensor_name = backend, tensor_name
        self._entries: dict[int, _Entry] = {}
        self._made: dict[int, TensorData] = {}  # made inside the trace, with values
        self._stack = ExitStack()
        self.found: list[TensorData] = []  # tensors that turned out to be written to

    @contextmanager
    def holding(self, written: Sequence[TensorData]) -> Iterator[None]:
        """A block in which some tensors are state."""
        with self._stack:
            for tensor in written:
                self._stack.enter_context(_stateful(tensor))
            yield

    def result(self) -> tuple[State, ...]:
        """The state of the graph, in the order of first use."""
        return tuple([
            State(e.before, e.held.array.node, None if e.is_argument else cast(Tensor, e.tensor))
            for e in self._entries.values() if e.before
        ])  # fmt: skip

    def add_argument(self, variable: Variable, array: Traced) -> None:
        """Adds a variable that represents an argument of each run."""
        held = TracedState(array, outside(variable).kind)
        self._entries[id(variable)] = _Entry(variable, held, array.node, is_argument=True)

    def held(self, tensor: TensorData) -> TracedState:
        """The array and kind of a state tensor inside this trace."""
        entry = self._entries.get(id(tensor))
        if entry is None:
            kind, shape = outside(tensor).kind, tuple(outside(tensor).array.shape)
            name = self._tensor_name(tensor)
            node = Node(INPUT, (), kind.dtype, shape, name=name, is_weak=kind.is_weak)
            held = TracedState(Traced(node), kind.with_(backend=self.backend))
            entry = self._entries[id(tensor)] = _Entry(tensor, held, node)
        return entry.held

    def made(self, tensor: TensorData) -> None:
        """Records a tensor that was made inside this trace."""
        if isinstance(tensor, Stateful):
            self._entries[id(tensor)] = _Entry(tensor, outside(tensor))
        if not isinstance(outside(tensor).array, Traced):
            self._made[id(tensor)] = tensor

    def writing(self, tensor: TensorData, values: Iterable[Any]) -> None:
        """Makes an outside tensor state. A tensor with values becomes part of the graph if values
        of the graph are written to it."""
        if isinstance(tensor._array, Traced):
            return
        if id(tensor) not in self._made:
            self.found.append(tensor)
            self._stack.enter_context(_stateful(tensor))
        elif any(isinstance(v, Tensor) and isinstance(v._array, Traced) for v in values):
            array = made_constant(tensor, self.backend)
            tensor._array, tensor._kind = array, tensor._kind.with_(backend=self.backend)


# The class of a tensor while a trace writes to it, with the name that its repr shows.
_Written = type(Tensor.__name__, (Stateful,), {"__slots__": ()})
_lock = threading.Lock()
_holders: dict[int, int] = {}  # how many traces use a tensor, in all threads


@contextmanager
def _stateful(tensor: TensorData) -> Iterator[None]:
    """A block in which a tensor is state of this thread's or task's trace, and unchanged for all
    others."""
    with _lock:
        _holders[id(tensor)] = _holders.get(id(tensor), 0) + 1
        tensor.__class__ = _Written
    try:
        yield
    finally:
        with _lock:
            _holders[id(tensor)] -= 1
            if not _holders[id(tensor)]:
                del _holders[id(tensor)]
                tensor.__class__ = Tensor


# Names for state: the names by which the traced function refers to its tensors.

# How deep and how far objects are searched: enough to find a list of layers with their weights.
_DEEPEST, _MOST = 4, 4096


class _Names:
    """Gives each tensor its own name: the variable, attribute or key through which the function
    reaches it, with its index in a list, or `state0` and so on."""

    def __init__(self, fn: Callable[..., Any], used: Sequence[str]) -> None:
        self._used = {*used, *[parameter.name for parameter in _parameters(fn)]}
        self._known: dict[int, str] = {}
        self._search = _reachable(fn)  # continues where the last search ended

    def __call__(self, tensor: TensorData) -> str:
        while id(tensor) not in self._known:
            name, thing = next(self._search, ("", tensor))
            self._known.setdefault(id(thing), re.sub(r"\W", "_", name))
        found = self._known[id(tensor)]
        first = [found] if found else []
        others = (f"{found}_{n}" if found else f"state{n}" for n in itertools.count())
        name = next(n for n in itertools.chain(first, others) if n not in self._used)
        self._used.add(name)
        return name


def _reachable(fn: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The objects a function can reach besides its arguments, and their contents, nearest first."""
    layer = list(_seen_by(fn))
    met: set[int] = set()
    for _ in range(_DEEPEST):
        yield from layer
        new = [(name, thing) for name, thing in layer if id(thing) not in met]
        met.update(id(thing) for _, thing in new)
        parts = (part for name, thing in new for part in _inside(name, thing))
        layer = list(itertools.islice(parts, _MOST))


def _seen_by(fn: Any) -> Iterator[tuple[str, Any]]:
    """The object of a method, and the objects in a function's closure and its globals."""
    yield "self", getattr(fn, "__self__", fn)
    for is_unwrapped in (True, False):
        # It may be no function, or one with unset closure cells.
        with contextlib.suppress(TypeError, ValueError):
            inner = inspect.unwrap(fn) if is_unwrapped else fn
            seen = inspect.getclosurevars(getattr(inner, "__func__", inner))
            yield from seen.nonlocals.items()
            yield from seen.globals.items()


def _inside(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """The parts of an object with their names; none is computed for this."""
    if isinstance(thing, (Tensor, ModuleType)):
        return
    if isinstance(thing, dict):
        yield from ((str(key), part) for key, part in thing.items())
    elif isinstance(thing, (list, tuple)):
        yield from ((f"{name}_{n}", part) for n, part in enumerate(thing))
    elif hasattr(thing, "__dict__"):
        yield from vars(thing).items()
        if type(thing).__module__ != "builtins":
            yield from vars(type(thing)).items()
        if callable(thing):
            yield from _seen_by(thing)
