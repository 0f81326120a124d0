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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from types import ModuleType
from typing import Any, cast
from weakref import WeakValueDictionary

from castwise.arrays.backend import Backend, SharesMemory
from castwise.arrays.fast_path import TracedState, traced_by, watched_by
from castwise.arrays.kinds import Kind, TensorData, interned, made_constant, truncated_dtype
from castwise.arrays.tensor import Stateful, Tensor, Variable, outside, stand_in
from castwise.catalog import use
from castwise.engine.ask import dialect_chosen
from castwise.engine.computing import read_as
from castwise.engine.decision import Decision, cast_between
from castwise.errors import UsageError
from castwise.graph.passes import Redialect, Simplification, preserve, redialect, simplify
from castwise.graph.pictures import program_dot, program_svg, program_text
from castwise.graph.program import (
    CAST,
    CONSTANT,
    COPY,
    INPUT,
    Call,
    Check,
    Node,
    Program,
    Slot,
    State,
    rebuilt,
    sequence_like,
    viewed_node,
)
from castwise.graph.recording import recording_backend
from castwise.graph.run import arranged, run_program
from castwise.graph.saving import read_program, save_program
from castwise.graph.sizes import as_sizes
from castwise.graph.traced import (
    Memory,
    Traced,
    UnsureMemoryError,
    UntraceableError,
    constant,
    rows,
)
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
        states = _States(recording_backend(chosen), _Names(fn, [*named_specs]), fn)
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
        arrays, weak, structure = _flattened(returned)
        _give_own_memory([*states.memories(), *[array.memory for array in arrays]])
        nodes = tuple([array.node for array in arrays])
        state, checks = states.result()
        states.check_views()
    name = getattr(fn, "__name__", type(fn).__name__)
    name = "lambda" if name == "<lambda>" else name
    graph = watcher.marked(
        Graph(name, dialect, inputs, nodes, structure, state, checks=checks,
              shares_memory=states.shares_memory, needs_rows=states.needs_rows)
    )  # fmt: skip
    outputs = tuple(map(_as_weak, graph.outputs, weak))
    after = map(_as_weak, [s.after for s in graph.state], states.weakness(state))
    state = tuple([replace(s, after=node) for s, node in zip(graph.state, after, strict=True)])
    return replace(graph, outputs=outputs, state=state)


def _as_weak(node: Node, is_weak: bool) -> Node:
    """The node, as weak as the tensor that has its value: a write does not change that. It is a
    view, so that results go on sharing memory."""
    if node.is_weak is is_weak:
        return node
    options = {"shape": as_sizes(node.shape)}
    return Node("reshape", (node,), node.dtype, node.shape, options, origin=node.origin,
                is_weak=is_weak)  # fmt: skip


class _Decisions:
    """Records which decision made which nodes."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        # By call, because all results of a call share one decision.
        self._decided: dict[object, tuple[Decision, tuple[Node, ...]]] = {}
        self._implicit: dict[Node, bool] = {}  # the casts of ops, and whether values are cast

    def note(self, decision: Decision, operands: Sequence[Any], result: Any) -> None:
        """Records one op: all casts between its operands and its result are implicit. Those that
        its decision does not tell are how it computes in a wider dtype."""
        shapes = [tuple(getattr(operand, "shape", ())) for operand in operands]
        self._calls.append(Call(decision, tuple(shapes), tuple(result.shape)))
        if not isinstance(result, Traced):
            return
        given = tuple([o.node for o in operands if isinstance(o, Traced)])
        self._decided[result.node.call] = (decision, given)
        casts = (*decision.casts, *decision.inside, decision.result_cast)
        told = {(c.source, c.target) for c in casts if c and not c.is_read}
        waiting, met = [result.node], {*given}
        while waiting:
            node = waiting.pop()
            if node in met:
                continue
            met.add(node)
            if node.op == CAST:
                is_told = (node.inputs[0].dtype, node.dtype) in told
                self._implicit[node] = is_told or decision.promoted is None
            waiting.extend(node.inputs)

    def marked(self, graph: Graph) -> Graph:
        """The graph with its decisions, and its implicit casts with their hazards."""

        def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
            decision, operands = self._decided.get(node.call, (None, ()))
            cast = node.cast
            if node in self._implicit:
                source, target = node.inputs[0].dtype, node.dtype
                is_told = self._implicit[node]
                cast = cast_between(source, target) if is_told else read_as(source, target)
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
    array = Traced(node, rows(seen.shape))
    is_variable = isinstance(spec, Variable)
    tensor = stand_in(array, kind) if is_variable else Tensor._of(array, kind)
    states.add_argument(tensor, array)
    return tensor


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


def _flattened(returned: Any) -> tuple[list[Traced], list[bool], Any]:
    """The arrays in what a function returned, which are weak, and the same structure with slots
    instead."""
    arrays: list[Traced] = []
    weak: list[bool] = []

    def placed(part: Any) -> Any:
        if part is None:
            return None
        if isinstance(part, (tuple, list)):
            return sequence_like(part, [placed(inner) for inner in part])
        if isinstance(part, dict):
            return {key: placed(inner) for key, inner in part.items()}
        arrays.append(_returned_array(part))
        weak.append(isinstance(part, Tensor) and part._kind.is_weak)
        return Slot(len(arrays) - 1)

    structure = placed(returned)
    return arrays, weak, structure


def _returned_array(part: Any) -> Traced:
    if isinstance(part, Tensor):
        array = part._array
        return array if isinstance(array, Traced) else Traced(constant(part.numpy()))
    if isinstance(part, (bool, int, float, complex)) or hasattr(part, "__array__"):
        return Traced(constant(part))
    raise UntraceableError(
        "a traced function returns tensors, numbers, None, and lists, tuples and dicts of them, "
        f"not a {type(part).__name__}."
    )


def _give_own_memory(memories: Sequence[Memory]) -> None:
    """Puts a copy into each memory whose value a run would find in an earlier one, or in that of a
    constant, of which each array is a copy of its own."""
    owners: dict[Node, Memory] = {}
    uses = Counter(memories)
    for memory in uses:
        node = memory.node
        viewed = viewed_node(node)
        owner = owners.setdefault(viewed, memory)
        is_own = owner is memory or owner in memory.unsure_of()
        is_shared = uses[memory] > 1 or any(other in uses for other in memory.unsure_of())
        if not is_own or (viewed.op == CONSTANT and is_shared):
            memory.write(Node(COPY, (node,), node.dtype, node.shape, origin=node.origin))
            owners[memory.node] = memory


# State: the arguments that a function writes, and the outside tensors that it reads or writes.


@dataclass(slots=True)
class _Entry:
    """A tensor in the trace and its value before; a variable made by the function has none."""

    tensor: TensorData
    held: TracedState | None  # None: the tensor itself has the array of the trace
    before: Node | None = None
    is_argument: bool = False
    first: Traced | None = None  # the array that it had before

    @property
    def array(self) -> Any:
        """The array that it has at this point of the trace."""
        return self.tensor._array if self.held is None else self.held.array


class _States:
    """The state of one trace.

    Variables from outside are always state. Other tensors are constants, which may be computed with
    immediately, unless they are written to. A function that writes to some is traced again with all
    of them as state from the beginning.
    """

    def __init__(
        self, backend: Backend, tensor_name: Callable[[TensorData], str], fn: Callable[..., Any]
    ) -> None:
        self.backend, self._tensor_name, self._fn = backend, tensor_name, fn
        self._entries: dict[int, _Entry] = {}
        # Made inside the trace, with values.
        self._made: WeakValueDictionary[int, TensorData] = WeakValueDictionary()
        self._stack = ExitStack()
        self._checks: list[tuple[Node, dict[Node, Node]]] = []
        self.shares_memory = self.needs_rows = False
        self.found: list[TensorData] = []  # tensors that turned out to be written to

    @contextmanager
    def holding(self, written: Sequence[TensorData]) -> Iterator[None]:
        """A block in which some tensors are state."""
        with self._stack:
            for tensor in written:
                self._stack.enter_context(_stateful(tensor))
            yield

    def result(self) -> tuple[tuple[State, ...], tuple[Check, ...]]:
        """The state of the graph, in the order of first use, and what may raise.

        Raises UnsureMemoryError for a tensor that was written, and then got another array.
        """
        found = []
        for entry in self._entries.values():
            if entry.before is None:
                continue
            state = State(entry.before, entry.array.node,
                          None if entry.is_argument else cast(Tensor, entry.tensor))  # fmt: skip
            assert entry.first is not None  # it has a value before
            if entry.array is not entry.first and entry.first.node is not entry.before:
                raise UnsureMemoryError("an array was written, and its tensor then got another")
            if state.is_written or entry.held is not None:
                found.append(state)
        checks = [
            Check(node, tuple([values.get(state.before, state.before) for state in found]))
            for node, values in self._checks
        ]
        return tuple(found), tuple(checks)

    def weakness(self, state: Sequence[State]) -> list[bool]:
        """Whether each state that is written is weak afterwards."""
        by_node = {e.before: e for e in self._entries.values() if e.before is not None}
        kinds = [e.held.kind if e.held else e.tensor._kind for e in by_node.values()]
        weak = dict(zip(by_node, [kind.is_weak for kind in kinds], strict=True))
        return [weak[s.before] if s.is_written else s.after.is_weak for s in state]

    def checking(self, node: Node) -> None:
        """Records a node that may raise, with the values that all state has by then."""
        held = [entry for entry in self._entries.values() if entry.before is not None]
        self._checks.append((node, {e.before: e.array.node for e in held if e.before}))

    def sharing(self, in_rows: bool) -> None:
        """Records that another array sees a write."""
        self.shares_memory = True
        self.needs_rows = self.needs_rows or in_rows

    def memories(self) -> list[Memory]:
        """The memory of all tensors that have a value before, those first that keep it."""
        found = [(e, e.array.memory) for e in self._entries.values() if e.before is not None]
        kept = [memory for entry, memory in found if memory.node is entry.before]
        return [*kept, *[memory for entry, memory in found if memory.node is not entry.before]]

    def add_argument(self, tensor: Tensor, array: Traced) -> None:
        """Adds a tensor or a variable that represents an argument of each run."""
        is_held = isinstance(tensor, Variable)
        held = TracedState(array, outside(tensor).kind) if is_held else None
        self._entries[id(tensor)] = _Entry(tensor, held, array.node, True, array)

    def held(self, tensor: TensorData) -> TracedState:
        """The array and kind of a state tensor inside this trace."""
        entry = self._entries.get(id(tensor))
        if entry is None:
            kind, shape = outside(tensor).kind, tuple(outside(tensor).array.shape)
            name = self._tensor_name(tensor)
            node = Node(INPUT, (), kind.dtype, shape, name=name, is_weak=kind.is_weak)
            array = Traced(node, rows(shape))
            held = TracedState(array, kind.with_(backend=self.backend))
            entry = self._entries[id(tensor)] = _Entry(tensor, held, node, first=array)
        assert entry.held is not None  # arguments without are no state outside
        return entry.held

    def made(self, tensor: TensorData) -> None:
        """Records a tensor that was made inside this trace."""
        if isinstance(tensor, Stateful):
            self._entries[id(tensor)] = _Entry(tensor, outside(tensor))
        if not isinstance(outside(tensor).array, Traced):
            self._made[id(tensor)] = tensor

    def writing(self, tensor: TensorData, values: Iterable[Any]) -> None:
        """Makes an outside tensor state, also if a view of it is written. A tensor with values
        becomes part of the graph if values of the graph are written to it."""
        if isinstance(tensor._array, Traced):
            return
        if id(tensor) not in self._made:
            self._find(tensor)
            return
        for outer in self._sharing_outside(tensor):
            if not isinstance(outer, TensorData):
                raise UnsureMemoryError("an array from outside of the function is written to")
            # This trace is made again. Nothing may be written to the tensor itself by this one.
            self._find(outer)
            backend = tensor._kind.backend
            tensor._array = backend.make(tensor._array, None, copy=True, device=None)
        if any(isinstance(v, Tensor) and isinstance(v._array, Traced) for v in values):
            others = [other for other in self._made.values() if other is not tensor]
            if any(_overlap(tensor._array, tensor._kind.backend, other) for other in others):
                raise UnsureMemoryError("values of the graph are written to an array with views")
            array = made_constant(tensor, self.backend)
            tensor._array, tensor._kind = array, tensor._kind.with_(backend=self.backend)

    def _find(self, tensor: TensorData) -> None:
        """Makes an outside tensor state from now on, and in the next trace from the beginning."""
        self.found.append(tensor)
        self._stack.enter_context(_stateful(tensor))

    def check_views(self) -> None:
        """Raises UnsureMemoryError if outside tensors that are written share memory with others,
        which the graph has as constants."""
        for entry in self._entries.values():
            if entry.before is None or entry.is_argument or entry.array.node is entry.before:
                continue
            for outer in self._sharing_outside(entry.tensor):
                if outer is not entry.tensor:
                    raise UnsureMemoryError("an array from outside of the function is written to, "
                                            "and another one shares its memory")  # fmt: skip

    def _sharing_outside(self, tensor: TensorData) -> list[Any]:
        """The tensors and arrays outside of the function that share memory with a tensor."""
        array, kind = outside(tensor).array, outside(tensor).kind
        things = {id(thing): thing for _, thing in _reachable(self._fn)}
        return [
            thing for thing in things.values()
            if id(thing) not in self._made and _overlap(array, kind.backend, thing)
        ]  # fmt: skip


def _overlap(array: Any, backend: Backend, other: Any) -> bool:
    """Whether an array of a backend and a tensor or array may share memory."""
    if isinstance(other, TensorData):
        other = outside(other).array
    if not isinstance(backend, SharesMemory) or not backend.owns(array) or not backend.owns(other):
        return False
    (first, end), (start, last) = backend.extent(array), backend.extent(other)
    return first < last and start < end


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
