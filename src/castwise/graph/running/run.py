"""Runs a program on a backend: each node uses the same functions as eager tensors."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from castwise.errors import UsageError
from castwise.execute.backend import Backend
from castwise.execute.fast_path import watchers
from castwise.execute.functions.alike import LIKE
from castwise.execute.functions.lookup import function_for
from castwise.execute.kinds import Kind, interned
from castwise.execute.tensor import Tensor, asarray
from castwise.execute.values.adapting import adapted
from castwise.execute.values.casting import cast_under
from castwise.graph.program import (
    CAST,
    CONSTANT,
    Node,
    Program,
    Shape,
    given_numbers,
    with_given,
)
from castwise.graph.recording.backend import rules_of_nodes
from castwise.graph.running.arguments import check_input, common_backend
from castwise.graph.running.regions import stages_of
from castwise.graph.running.state import live_tensors, put
from castwise.graph.shapes.sizes import Size
from castwise.graph.shapes.terms import known_size
from castwise.graph.structure import filled
from castwise.rules.values import Values
from castwise.vocab.ops import op


def run_program(program: Program, arrays: Sequence[Any], backend: str | None = None) -> Any:
    """The program's results for arrays, in the structure that the function returned.

    Its state is written, and watchers are notified, after everything is computed.
    """
    if len(arrays) != len(program.inputs):
        raise UsageError(f"{program.name} takes {len(program.inputs)} arrays, not {len(arrays)}.")
    given = dict(zip(program.inputs, arrays, strict=True))
    live = live_tensors(program, given)
    tensors = {
        node: asarray(x, dialect=program.dialect, backend=backend) for node, x in given.items()
    }
    tensors.update((s.before, t) for s, t in live.items() if s.before not in tensors)
    holder = common_backend(list(tensors.values()), backend)
    sizes: dict[str, int] = {}
    for node, tensor in tensors.items():
        check_input(node, tensor, sizes)
    held = {node: tensor._array for node, tensor in tensors.items()}
    for state in live:
        if state.is_written:  # no result may share memory with state that is written afterwards
            array = holder.make(held[state.before], None, copy=True, device=None)
            held[state.before] = array
    _compute(program, held, holder, sizes)
    outputs = [_tensor(held[node], node, holder, program) for node in program.outputs]
    for state, tensor in live.items():
        if state.is_written:
            put(tensor, held[state.after], state.after)
    _notify(program, sizes)
    return filled(program.structure, outputs)


def _compute(
    program: Program, held: dict[Node, Any], holder: Backend, sizes: dict[str, int]
) -> None:
    """Computes the arrays of all nodes from those of the inputs."""
    rules = rules_of_nodes(program.dialect)
    for nodes, regions in stages_of(program, holder, _one_node, rules):
        _by_node(nodes, held, holder, sizes, rules)
        for run, inputs, outputs in regions:
            held.update(zip(outputs, run([held[node] for node in inputs]), strict=True))


def _by_node(
    nodes: Sequence[Node],
    held: dict[Node, Any],
    holder: Backend,
    sizes: dict[str, int],
    rules: Values,
) -> None:
    several: dict[tuple[object, ...], Any] = {}  # the results of calls that have several
    for node in nodes:
        if node in held:
            continue
        inputs = [held[source] for source in node.inputs]
        if node.part is None:
            held[node] = _one_node(node, inputs, holder, sizes, rules)
            continue
        if node.call not in several:
            several[node.call] = _computed(node, inputs, holder, sizes, rules)
        held[node] = _in_node_dtype(several[node.call][node.part], node, holder)


def _one_node(
    node: Node, inputs: list[Any], holder: Backend, sizes: dict[str, int], rules: Values
) -> Any:
    return _in_node_dtype(_computed(node, inputs, holder, sizes, rules), node, holder)


def _notify(program: Program, sizes: dict[str, int]) -> None:
    """Notifies watchers as if the function ran op by op."""
    observers = watchers()
    for call in program.calls if observers else ():
        operands = [_Shaped(shape, sizes) for shape in call.operands]
        for watcher in observers:
            watcher.note(call.decision, operands, _Shaped(call.result, sizes))


class _Shaped:
    """A placeholder for an array, which only has a shape."""

    def __init__(self, shape: Shape, sizes: dict[str, int]) -> None:
        self.shape = tuple([known_size(size, sizes) for size in shape])


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
    function = adapted(function, backend, node.op, node.compute, rules)
    is_joining = row.family == "joining"
    return function(operands, **options) if is_joining else function(*operands, **options)


def _checked(found: Any, node: Node, sizes: dict[str, int]) -> Any:
    """The result of a declared op's kernel, if it has the shape that the program expects."""
    expected = tuple([known_size(size, sizes) for size in node.shape])
    if tuple(getattr(found, "shape", ())) != expected:
        raise UsageError(
            f"{node.origin}: the kernel of {node.op} gave another shape than {expected}, which the "
            "graph assumes because the kernel could not be traced: write it with the operators "
            "and the namespace of its arrays, x.__array_namespace__()."
        )
    return found


def _in_node_dtype(result: Any, node: Node, backend: Backend) -> Any:
    """A result as an array of the node's dtype."""
    if not backend.owns(result):
        result = backend.make(result, None, copy=None, device=None)
    held = backend.dtype_of(result)
    if held.kind == node.dtype.kind == "int" and node.dtype not in backend.dtypes:
        return result  # an index or a count, in the widest integers
    return result if held is node.dtype else backend.cast(result, node.dtype)


def _laid_out(node: Node, given: list[Any], options: dict[str, Any], backend: Backend) -> Any:
    if node.op == "getitem":
        return given[0][options["key"]]
    if node.op == "setitem":
        copy = backend.make(given[0], None, copy=True, device=None)
        return backend.write(copy, options["key"], given[1])
    function = attrgetter(node.op)(backend.namespace)
    if not given:  # a new array, which is created in its dtype
        return function(*options.values(), dtype=backend.native(node.dtype))
    return function(*given, **options)


def _with_known(option: Any, sizes: dict[str, int]) -> Any:
    """An option with its symbolic sizes replaced by numbers."""
    if isinstance(option, Size):
        return known_size(option, sizes)
    if isinstance(option, slice):
        return slice(*[_with_known(n, sizes) for n in (option.start, option.stop, option.step)])
    if isinstance(option, (tuple, list)):
        return type(option)([_with_known(part, sizes) for part in option])
    if isinstance(option, dict):
        return {key: _with_known(part, sizes) for key, part in option.items()}
    return option


def _tensor(array: Any, node: Node, backend: Backend, program: Program) -> Tensor:
    backend.native(node.dtype)  # raises if the backend lacks it
    kind = Kind(backend, node.dtype, not array.shape, node.is_weak, program.dialect)
    return Tensor._of(array, interned(kind))
