"""Runs a graph on a backend: each node by the functions that eager tensors use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from castwise.errors import UsageError
from castwise.execute.alike import LIKE
from castwise.execute.apply import watchers
from castwise.execute.backend import Backend, two_backends
from castwise.execute.casting import cast_under
from castwise.execute.exceptional import obeying
from castwise.execute.functions import function_for
from castwise.execute.kinds import Kind, interned
from castwise.execute.tensor import Tensor, asarray
from castwise.graph.program import (
    CAST,
    CONSTANT,
    Graph,
    Node,
    Place,
    Shape,
    given_numbers,
    sequence_like,
    with_given,
)
from castwise.graph.recording.backend import rules_of_nodes
from castwise.graph.running.state import live_tensors, put
from castwise.graph.shapes.sizes import Size
from castwise.graph.shapes.terms import known_size
from castwise.rules.values import Values
from castwise.vocab.ops import op


def run_graph(graph: Graph, arrays: Sequence[Any], backend: str | None = None) -> Any:
    """What the graph computes from arrays, in the structure the function returned it in.

    Its state is written, and whoever watches is told, once all is computed.
    """
    if len(arrays) != len(graph.inputs):
        raise UsageError(f"{graph.name} takes {len(graph.inputs)} arrays, not {len(arrays)}.")
    given = dict(zip(graph.inputs, arrays, strict=True))
    live = live_tensors(graph, given)
    tensors = {
        node: asarray(x, dialect=graph.dialect, backend=backend) for node, x in given.items()
    }
    tensors.update((s.before, t) for s, t in live.items() if s.before not in tensors)
    holder = _common_holder(list(tensors.values()), backend)
    sizes: dict[str, int] = {}
    for node, tensor in tensors.items():
        _check_input(node, tensor, sizes)
    held = {node: tensor._array for node, tensor in tensors.items()}
    for state in live:
        if state.is_written:  # nothing that is computed shares what is written to afterwards
            array = holder.make(held[state.before], None, copy=True, device=None)
            held[state.before] = array
    _compute(graph, held, holder, sizes)
    outputs = [_tensor(held[node], node, holder, graph) for node in graph.outputs]
    for state, tensor in live.items():
        if state.is_written:
            put(tensor, held[state.after], state.after)
    _tell(graph, sizes)
    return _structured(graph, outputs)


def _common_holder(tensors: Sequence[Tensor], backend: str | None) -> Backend:
    holders = {tensor.backend: tensor._kind.backend for tensor in tensors}
    if len(holders) > 1:
        raise two_backends(*list(holders)[:2])
    return next(iter(holders.values()), None) or asarray(0, backend=backend)._kind.backend


def _compute(graph: Graph, held: dict[Node, Any], holder: Backend, sizes: dict[str, int]) -> None:
    """Adds the arrays of all nodes to those of the inputs."""
    rules = rules_of_nodes(graph.dialect)
    several: dict[tuple[object, ...], Any] = {}  # the results of calls that have several
    for node in graph.nodes:
        if node in held:
            continue
        taken = [held[source] for source in node.inputs]
        if node.part is None:
            held[node] = _ended(_computed(node, taken, holder, sizes, rules), node, holder)
            continue
        if node.call not in several:
            several[node.call] = _computed(node, taken, holder, sizes, rules)
        held[node] = _ended(several[node.call][node.part], node, holder)


def _tell(graph: Graph, sizes: dict[str, int]) -> None:
    """Tells whoever watches what they would have been told, had the function run op by op."""
    told = watchers()
    for call in graph.calls if told else ():
        operands = [_Shaped(shape, sizes) for shape in call.operands]
        for watcher in told:
            watcher.note(call.decision, operands, _Shaped(call.result, sizes))


class _Shaped:
    """Stands for an array, of which only the shape is of interest."""

    def __init__(self, shape: Shape, sizes: dict[str, int]) -> None:
        self.shape = tuple([known_size(size, sizes) for size in shape])


def arranged(graph: Graph, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """The arrays in the order of the inputs, some of them given by name.

    Raises UsageError for a name that no input has, or one that is given twice.
    """
    free = [node.name for node in graph.inputs[len(arrays) :]]
    for name in named:
        if name not in free:
            said = ", ".join(free) or "none"
            raise UsageError(f"{graph.name} takes no {name} by name here; left to give: {said}.")
    return [*arrays, *[named[name] for name in free if name in named]]


def _check_input(node: Node, tensor: Tensor, sizes: dict[str, int]) -> None:
    """Raises UsageError where an array has another dtype or shape than the input."""
    is_alike = tensor.dtype is node.dtype and len(tensor.shape) == len(node.shape)
    for size, wanted in zip(tensor.shape, node.shape, strict=False):
        expected = sizes.setdefault(wanted, size) if isinstance(wanted, str) else wanted
        is_alike = is_alike and size == expected
    if not is_alike:
        shape = ",".join(map(str, tensor.shape))
        raise UsageError(
            f"{node.name} was traced as {node.type}, and is {tensor.dtype}[{shape}] here: cast or "
            "reshape it, or trace the function for it."
        )


def _computed(
    node: Node, given: list[Any], backend: Backend, sizes: dict[str, int], rules: Values
) -> Any:
    if node.op == CONSTANT and isinstance(node.value, (bool, int, float, complex)):
        return backend.number(node.value, node.dtype)
    if node.op == CONSTANT:
        return backend.make(node.value, node.dtype, copy=None, device=None)
    if node.op == CAST:
        return cast_under(rules, backend, given[0], node.dtype)
    numbers = given_numbers(node.options)
    operands = [array for n, array in enumerate(given) if n not in numbers]
    options = {key: with_given(option, given) for key, option in node.options.items()}
    if node.compute is None:
        return _laid_out(node, operands, _with_known(options, sizes), backend)
    row = op(LIKE.get(node.op, node.op))
    if row.compute:
        return _checked(row.compute(*operands, **options), node, sizes)
    function = function_for(backend, node.op, node.compute)
    function = obeying(function, backend, node.op, node.compute, rules)
    is_joining = row.family == "joining"
    return function(operands, **options) if is_joining else function(*operands, **options)


def _checked(found: Any, node: Node, sizes: dict[str, int]) -> Any:
    """What a declared op's kernel computed, if it has the shape that the graph goes on from."""
    expected = tuple([known_size(size, sizes) for size in node.shape])
    if tuple(getattr(found, "shape", ())) != expected:
        raise UsageError(
            f"{node.origin}: the kernel of {node.op} gave another shape than {expected}, which the "
            "graph goes on from, since it could not be traced: write it with the operators and "
            "the namespace of its arrays, x.__array_namespace__()."
        )
    return found


def _ended(result: Any, node: Node, backend: Backend) -> Any:
    """A result as an array of the node's dtype."""
    if not backend.owns(result):
        result = backend.make(result, None, copy=None, device=None)
    held = backend.dtype_of(result)
    if held.kind == node.dtype.kind == "int" and node.dtype not in backend.dtypes:
        return result  # a place or a count, in the widest integers there are
    return result if held is node.dtype else backend.cast(result, node.dtype)


def _laid_out(node: Node, given: list[Any], options: dict[str, Any], backend: Backend) -> Any:
    if node.op == "getitem":
        return given[0][options["key"]]
    if node.op == "setitem":
        copy = backend.make(given[0], None, copy=True, device=None)
        return backend.write(copy, options["key"], given[1])
    function = attrgetter(node.op)(backend.namespace)
    if not given:  # a new array, which is made in its dtype
        return function(*options.values(), dtype=backend.native(node.dtype))
    return function(*given, **options)


def _with_known(option: Any, sizes: dict[str, int]) -> Any:
    """An option with the numbers of its symbolic sizes."""
    if isinstance(option, Size):
        return known_size(option, sizes)
    if isinstance(option, slice):
        return slice(*[_with_known(n, sizes) for n in (option.start, option.stop, option.step)])
    if isinstance(option, (tuple, list)):
        return type(option)([_with_known(part, sizes) for part in option])
    if isinstance(option, dict):
        return {key: _with_known(part, sizes) for key, part in option.items()}
    return option


def _tensor(array: Any, node: Node, backend: Backend, graph: Graph) -> Tensor:
    backend.native(node.dtype)  # or it raises
    kind = Kind(backend, node.dtype, not array.shape, node.is_weak, graph.dialect)
    return Tensor._of(array, interned(kind))


def places_in(structure: Any) -> list[int]:
    """The numbers of the outputs that stand in what the function returned."""
    if isinstance(structure, Place):
        return [structure.number]
    parts = structure.values() if isinstance(structure, dict) else structure or ()
    return [number for part in parts for number in places_in(part)]


def _structured(graph: Graph, outputs: list[Tensor]) -> Any:
    def filled(part: Any) -> Any:
        if part is None:
            return None
        if isinstance(part, Place):
            return outputs[part.number]
        if isinstance(part, dict):
            return {key: filled(inner) for key, inner in part.items()}
        return sequence_like(part, [filled(inner) for inner in part])

    return filled(graph.structure)
