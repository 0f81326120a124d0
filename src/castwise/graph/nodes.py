"""What nodes compute: one alone, with the function that eager tensors use, or a region at once.

A region is a group of elementwise nodes that depend on each other, with nothing between them that
must run alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from castwise.arrays import fusing
from castwise.arrays.backend import Backend, RunsRegions
from castwise.arrays.backend import Region as BackendRegion
from castwise.arrays.casting import cast_under
from castwise.arrays.functions import LIKE, Function, function_for
from castwise.arrays.fusing import FusedProgram, check_values, finished, guarded, tried
from castwise.arrays.steps import Entry, Steps, entry_cast, quieted, running_unchecked
from castwise.arrays.substitutes import function_named, power_name
from castwise.arrays.values import adapted
from castwise.errors import DivisionByZeroError, ScalarRangeError, UsageError
from castwise.graph.program import (
    CAST,
    CHECK,
    CONSTANT,
    COPY,
    Node,
    Program,
    given_numbers,
    option_leaves,
    with_given,
    with_leaves,
)
from castwise.graph.sizes import Size, known_size
from castwise.kernels.emitter import Traits
from castwise.kernels.ops import LOWERED_OPS
from castwise.kernels.program import Lowered, NotLoweredError, Value, Writer
from castwise.rules.values import Values
from castwise.vocab.ops import Op, known_op, op

# One node.

# From symbolic sizes and options to a function of arrays.
_Configure = Callable[[Mapping[str, int], Mapping[str, Any]], Function]


def computation(node: Node, backend: Backend, rules: Values) -> Function:
    """The function of the arrays of a node's inputs; `needs_sizes` tells whether the symbolic sizes
    come before them."""
    if node.op == CAST:
        return entry_cast(Entry(node.dtype, node.inputs[0].dtype), backend, rules)
    sizes_known = not needs_sizes(node)
    numbers = given_numbers(node.options)
    configured: _Configure = functools.partial(_layout_function, node, backend)
    if node.compute is not None:
        configured = _op_function(node, backend, rules)
    if not numbers and sizes_known:
        return configured({}, node.options)

    def computed(*given: Any) -> Any:
        sizes, arrays = ({}, given) if sizes_known else (given[0], given[1:])
        options = {key: with_given(option, arrays) for key, option in node.options.items()}
        operands = [array for n, array in enumerate(arrays) if n not in numbers]
        return configured(sizes, options)(*operands)

    return computed


def needs_sizes(node: Node) -> bool:
    """Whether a node depends on symbolic sizes, which are known only when the program runs."""
    if node.compute is not None and op_row(node).compute:
        return any(isinstance(size, str) for size in node.shape)
    is_layout = node.compute is None
    return is_layout and any(isinstance(leaf, Size) for leaf in option_leaves(node.options))


def op_row(node: Node) -> Op:
    """The row of a node's op."""
    return op(LIKE.get(node.op, node.op))


def whole_with_casts(
    node: Node, casts: Mapping[Node, Node], backend: Backend, rules: Values
) -> Function | None:
    """A function that casts some inputs of an elementwise op while it computes, if the backend has
    one. `casts` has the value that each of these inputs casts."""
    made, row = running_unchecked(backend), op_row(node)
    is_elementwise = "." not in node.op and row.keeps_shape and row.family != "declared"
    if made is None or not is_elementwise or node.options or node.part is not None:
        return None
    entries = [Entry(n.dtype, casts[n].dtype) if n in casts else None for n in node.inputs]
    assert node.compute is not None  # it is an op
    return made(
        Steps(node.op, node.compute, node.dtype, tuple(entries), is_elementwise, values=rules)
    )


def in_node_dtype(result: Any, node: Node, backend: Backend) -> Any:
    """A result as an array of the node's dtype."""
    if not backend.owns(result):
        result = backend.make(result, None, copy=None, device=None)
    held = backend.dtype_of(result)
    if held.kind == node.dtype.kind == "int" and node.dtype not in backend.dtypes:
        return result  # an index or a count, in the widest integers
    return result if held is node.dtype else backend.cast(result, node.dtype)


def _op_function(node: Node, backend: Backend, rules: Values) -> _Configure:
    """A function of sizes and options that gives the function of an op on arrays."""
    row = op_row(node)
    if row.compute:
        kernel = row.compute

        def declared(sizes: Mapping[str, int], options: Mapping[str, Any]) -> Function:
            return lambda *arrays: _checked(kernel(*arrays, **options), node, sizes)

        return declared
    assert node.compute is not None  # it is an op
    if node.op == "pow" and "exponent" in node.options:
        power = function_named(power_name(rules), backend, node.compute)
        power = quieted(power, backend, node.op, rules)
        return lambda sizes, options: lambda base: power(base, options["exponent"])
    found = function_for(backend, node.op, node.compute)
    found = adapted(found, backend, node.op, node.compute, rules)
    found = quieted(found, backend, node.op, rules)
    if row.family == "joining":
        return lambda sizes, options: lambda *arrays: found(list(arrays), **options)
    return lambda sizes, options: functools.partial(found, **options) if options else found


def _checked(found: Any, node: Node, sizes: Mapping[str, int]) -> Any:
    """The result of a declared op's kernel, if it has the shape that the program expects."""
    expected = tuple([known_size(size, sizes) for size in node.shape])
    if tuple(getattr(found, "shape", ())) != expected:
        raise UsageError(
            f"{node.origin}: the kernel of {node.op} gave another shape than {expected}, which the "
            "graph assumes because the kernel could not be traced: write it with the operators "
            "and the namespace of its arrays, x.__array_namespace__()."
        )
    return found


def _layout_function(
    node: Node, backend: Backend, sizes: Mapping[str, int], given: Mapping[str, Any]
) -> Function:
    """The function of a layout node with its options."""
    options: dict[str, Any] = with_leaves(
        given, lambda leaf: known_size(leaf, sizes) if isinstance(leaf, Size) else leaf
    )
    if node.op == "getitem":
        return itemgetter(options["key"])
    if node.op == CHECK:
        return functools.partial(_check, backend, **options)
    if node.op == COPY:
        return lambda array: backend.make(array, None, copy=True, device=None)
    if node.op == "setitem":
        key = options["key"]

        def written(array: Any, values: Any) -> Any:
            copy = backend.make(array, None, copy=True, device=None)
            return backend.write(copy, key, values)

        return written
    function: Function = attrgetter(node.op)(backend.namespace)
    if node.positional:
        return functools.partial(function, **options)
    # A new array, which is created in its dtype.
    return lambda: function(*options.values(), dtype=backend.native(node.dtype))


_ERRORS: dict[str, type[Exception]] = {
    error.__name__: error for error in (DivisionByZeroError, ScalarRangeError, UsageError)
}


def _check(backend: Backend, condition: Any, *among: Any, error: str, message: str) -> Any:
    """The condition; raises an error if it holds for any element, and no array has none."""
    is_tried = not any([0 in array.shape for array in among])
    if is_tried and backend.is_concrete(condition) and bool(condition.any()):
        raise _ERRORS[error](message)
    return condition


# A program in regions.


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Nodes that run at once: what they take from outside, and what others take. All outputs have
    one shape."""

    nodes: tuple[Node, ...]
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]


def in_stages(
    program: Program, is_taken: Callable[[Node], bool], *, fewest: int = 1, of_one_shape: bool
) -> list[Node | Region]:
    """The nodes of a program, each after what it needs; those that are taken are in regions of at
    least so many nodes, all of one shape if that is needed.

    A node is one stage after the taken nodes that it needs if it is not taken itself, so that no
    part of a region waits for something outside that needs another part of it.
    """
    nodes, ends = program.nodes, set(program.results)
    taken = {node for node in nodes if is_taken(node)}
    stages: dict[Node, int] = {}
    for node in nodes:
        waits = node not in taken
        stages[node] = max([stages[n] + (waits and n in taken) for n in node.inputs] or [0])
    groups = _connected([node for node in nodes if node in taken], stages, of_one_shape)
    groups = [group for group in groups if len(group) >= fewest]
    regions = [region for group in groups for region in _regions(group, nodes, ends)]
    inside = {node for group in groups for node in group}
    found: list[Node | Region] = []
    for stage in range(max(stages.values(), default=0) + 1):
        here = [node for node in nodes if stages[node] == stage and node not in inside]
        found += [node for node in here if node not in taken]
        found += _ordered(
            [r for r in regions if stages[r.nodes[0]] == stage], [n for n in here if n in taken]
        )
    return found


def _connected(
    nodes: Sequence[Node], stages: Mapping[Node, int], of_one_shape: bool
) -> list[list[Node]]:
    """The nodes of one stage that depend on each other, in their order."""
    group_of: dict[Node, list[Node]] = {}
    for node in nodes:
        own = group_of[node] = [node]
        for source in node.inputs:
            other = group_of.get(source)
            is_near = stages[source] == stages[node]
            is_alike = source.shape == node.shape or not of_one_shape
            if other is None or other is own or not (is_near and is_alike):
                continue
            for member in other:
                group_of[member] = own
            own[:0] = other
    unique = {id(group): group for group in group_of.values()}
    place = {node: n for n, node in enumerate(nodes)}
    return [sorted(group, key=place.__getitem__) for group in unique.values()]


def _regions(group: Sequence[Node], nodes: Sequence[Node], ends: set[Node]) -> list[Region]:
    """The region of a group, or one for each shape if its outputs have several. Each computes all
    that it needs."""
    own = set(group)
    outside = {n for node in nodes if node not in own for n in node.inputs} | ends
    by_shape: dict[object, list[Node]] = {}
    for node in group:
        if node in outside:
            by_shape.setdefault(node.shape, []).append(node)
    return [_region(group, outputs) for outputs in by_shape.values()]


def _region(group: Sequence[Node], outputs: Sequence[Node]) -> Region:
    needed = set(outputs)
    for node in reversed(group):
        if node in needed:
            needed.update(node.inputs)
    own = [node for node in group if node in needed]
    inputs = dict.fromkeys(n for node in own for n in node.inputs if n not in own)
    return Region(tuple(own), tuple(inputs), tuple(outputs))


def _ordered(regions: list[Region], alone: list[Node]) -> list[Node | Region]:
    """Regions and single nodes of one stage, those with smaller results first where larger ones
    need them."""
    found: list[Node | Region] = []
    waiting: list[Node | Region] = [*alone, *regions]
    while waiting:
        coming = {
            n for part in waiting for n in (part.outputs if isinstance(part, Region) else [part])
        }
        ready = [part for part in waiting if coming.isdisjoint(part.inputs)]
        found += ready
        waiting = [part for part in waiting if part not in ready]
    return found


# Regions that a generated kernel computes.


def is_fused(node: Node, backend: Backend) -> bool:
    """Whether a node is one that kernels compute, for arrays of a dimension at least."""
    are_real = all(n.dtype.kind != "complex" and n.dtype.bits <= 64 for n in (node, *node.inputs))
    if not node.shape or not are_real or node.part is not None:
        return False
    if node.op == CAST:
        return True
    if node.compute is None or node.options or node.op not in LOWERED_OPS or op_row(node).compute:
        return False
    try:
        check_values(node.op, None, backend)
    except NotLoweredError:
        return False
    return True


def fused_region(
    region: Region, backend: Backend, rules: Values, arguments: Collection[Node]
) -> FusedProgram:
    """The program of a region, on a backend whose arrays kernels can read. `arguments` are nodes
    that are numbers, besides the constants."""
    holder = fusing.backend_memory(backend)
    assert holder is not None  # otherwise no array is large enough
    numbers = [
        place for place, node in enumerate(region.inputs)
        if node in arguments or (node.op == CONSTANT and not node.shape)
    ]  # fmt: skip
    return FusedProgram(holder, rules, functools.partial(_lowered, region, rules), numbers)


def _lowered(region: Region, rules: Values, traits: Traits) -> tuple[Lowered, ...]:
    values, traits = guarded(rules, traits)
    assert values is not None  # they were not None before
    return tried(traits, functools.partial(_written, region, values, traits.notices_errors))


def _written(region: Region, rules: Values, notices: bool, emitter: Backend) -> Lowered:
    writer = Writer()
    held: dict[Node, Value] = {node: writer.operand(node.dtype) for node in region.inputs}
    for node in region.nodes:
        given = [held[source] for source in node.inputs]
        if node.op == CAST:
            held[node] = cast_under(rules, emitter, given[0], node.dtype)
            continue
        assert node.compute is not None  # it is an op
        function = function_for(emitter, node.op, node.compute)
        found = adapted(function, emitter, node.op, node.compute, rules)(*given)
        held[node] = found if found.dtype is node.dtype else emitter.cast(found, node.dtype)
    results = [held[node] for node in region.outputs]
    return finished(writer, results, notices=notices)


# Regions that a backend runs at once, because it compiles them or because its arrays are lazy.

FEWEST = 2  # nodes of a region: one alone runs as it does outside


def is_taken(node: Node, backend: RunsRegions) -> bool:
    """Whether a node is elementwise, and the backend takes it."""
    dtypes = [node.dtype, *[source.dtype for source in node.inputs]]
    if node.op == CAST:
        return backend.takes(CAST, None, dtypes)
    row = known_op(node.op)
    if row is None or row.compute or not row.keeps_shape or node.compute is None:
        return False
    is_plain = node.part is None and not given_numbers(node.options) and not needs_sizes(node)
    return is_plain and backend.takes(node.op, node.compute, dtypes)


def whole_region(
    region: Region, backend: RunsRegions, rules: Values, arguments: Mapping[Node, Any]
) -> tuple[Callable[[Sequence[Any]], Sequence[Any]], list[Node]]:
    """A region on a backend, as a function of arrays, and the nodes of these. Known numbers are
    inside of it; number arguments are not known."""
    known = [
        n for n in region.inputs
        if n.op == CONSTANT and isinstance(n.value, (bool, int, float, complex))
        and n not in arguments
    ]  # fmt: skip
    inputs = [n for n in region.inputs if n not in known]
    nodes = [*known, *region.nodes]
    place = {node: n for n, node in enumerate([*inputs, *nodes])}
    ends = tuple([place[node] for node in region.outputs])
    lines = [(node, tuple([place[source] for source in node.inputs])) for node in nodes]
    compute = NodeByNode(_freeing(lines, len(inputs), ends), ends, rules)
    dtypes = tuple([node.dtype for node in region.outputs])
    return backend.whole_region(BackendRegion(compute, dtypes, compute.text)), inputs


class Line(NamedTuple):
    """A node without its origin and decision, the places of its inputs, and those that no later
    line needs."""

    node: Node
    inputs: tuple[int, ...]
    last: tuple[int, ...]


def _freeing(
    lines: Sequence[tuple[Node, tuple[int, ...]]], given: int, ends: tuple[int, ...]
) -> tuple[Line, ...]:
    """Lines that say which arrays can be freed."""
    found, later = [], set(ends)
    for node, inputs in reversed(lines):
        last = tuple([n for n in dict.fromkeys(inputs) if n >= given and n not in later])
        # A cast asks for the dtype of what it casts, and nothing else.
        sources = tuple([_bare(source) for source in node.inputs])
        found.append(Line(replace(_bare(node), inputs=sources), inputs, last))
        later.update(inputs)
    return tuple(reversed(found))


def _bare(node: Node) -> Node:
    return replace(node, inputs=(), origin=None, cast=None, decision=None, operands=())


@dataclass(frozen=True, eq=False)
class NodeByNode:
    """Computes a region on any backend, in any process."""

    lines: tuple[Line, ...]
    outputs: tuple[int, ...]
    rules: Values

    def __call__(self, backend: Backend, arrays: Sequence[Any]) -> list[Any]:
        """The results, from the arrays of the inputs."""
        held = list(arrays)
        for node, inputs, last in self.lines:
            if node.op == CONSTANT:
                held.append(backend.number(node.value, node.dtype))
            else:
                found = computation(node, backend, self.rules)(*[held[n] for n in inputs])
                held.append(in_node_dtype(found, node, backend))
            for n in last:
                held[n] = None
        return [held[n] for n in self.outputs]

    @property
    def text(self) -> str:
        """What it computes."""
        lines = [
            (node.op, f"{node.compute} {node.dtype}", node.value, sorted(node.options.items()), ins)
            for node, ins, _ in self.lines
        ]
        return f"{lines} {self.outputs} {self.rules}"
