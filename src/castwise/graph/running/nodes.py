"""What a node does: the function that computes it, the same one that eager tensors use."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from operator import attrgetter, itemgetter
from typing import Any

from castwise.errors import UsageError
from castwise.execute.backend import Backend
from castwise.execute.functions.alike import LIKE
from castwise.execute.functions.lookup import Function, function_for
from castwise.execute.steps.steps import Entry, Steps, entry_cast, quieted, running_unchecked
from castwise.execute.values.adapting import adapted
from castwise.graph.program import CAST, Node, given_numbers, with_given
from castwise.graph.shapes.sizes import Size
from castwise.graph.shapes.terms import known_size
from castwise.rules.values import Values
from castwise.vocab.ops import Op, op


def computation(node: Node, backend: Backend, rules: Values) -> Function:
    """The function of the arrays of a node's inputs; `needs_sizes` tells whether the symbolic sizes
    come before them."""
    if node.op == CAST:
        return entry_cast(Entry(node.dtype, node.inputs[0].dtype), backend, rules)
    sizes_known = not needs_sizes(node)
    numbers = given_numbers(node.options)
    call: Call = functools.partial(_laid_out, node, backend)
    if node.compute is not None:
        call = _op_function(node, backend, rules)
    if not numbers and sizes_known:
        return call({}, node.options)

    def computed(*given: Any) -> Any:
        sizes, arrays = ({}, given) if sizes_known else (given[0], given[1:])
        options = {key: with_given(option, arrays) for key, option in node.options.items()}
        operands = [array for n, array in enumerate(arrays) if n not in numbers]
        return call(sizes, options)(*operands)

    return computed


def needs_sizes(node: Node) -> bool:
    """Whether a node depends on symbolic sizes, which are known only when the program runs."""
    if node.compute is not None and row_of(node).compute:
        return any(isinstance(size, str) for size in node.shape)
    return node.compute is None and _has_sizes(node.options)


def row_of(node: Node) -> Op:
    """The row of a node's op."""
    return op(LIKE.get(node.op, node.op))


def whole_with_casts(
    node: Node, casts: Mapping[Node, Node], backend: Backend, rules: Values
) -> Function | None:
    """A function that casts some inputs of an elementwise op while it computes, if the backend has
    one. `casts` has the value that each of these inputs casts."""
    made, row = running_unchecked(backend), row_of(node)
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


Call = Callable[[Mapping[str, int], Mapping[str, Any]], Function]


def _op_function(node: Node, backend: Backend, rules: Values) -> Call:
    """A function of sizes and options that gives the function of an op on arrays."""
    row = row_of(node)
    if row.compute:
        kernel = row.compute

        def declared(sizes: Mapping[str, int], options: Mapping[str, Any]) -> Function:
            return lambda *arrays: _checked(kernel(*arrays, **options), node, sizes)

        return declared
    assert node.compute is not None  # it is an op
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


def _laid_out(
    node: Node, backend: Backend, sizes: Mapping[str, int], given: Mapping[str, Any]
) -> Function:
    """The function of a layout node with its options."""
    options: dict[str, Any] = _with_known(dict(given), sizes)
    if node.op == "getitem":
        return itemgetter(options["key"])
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


def _has_sizes(option: Any) -> bool:
    if isinstance(option, slice):
        return any(map(_has_sizes, (option.start, option.stop, option.step)))
    if isinstance(option, Mapping):
        return any(map(_has_sizes, option.values()))
    if isinstance(option, (tuple, list)):
        return any(map(_has_sizes, option))
    return isinstance(option, Size)


def _with_known(option: Any, sizes: Mapping[str, int]) -> Any:
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
