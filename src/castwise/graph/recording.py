"""The recording backend: its arrays are nodes of a graph, and its computations add nodes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from castwise.arrays.backend import Backend, Kind, backend_named, interned
from castwise.arrays.backends import DEFAULT_BACKEND
from castwise.arrays.fast_path import watched_by
from castwise.arrays.functions import LIKE
from castwise.arrays.tensor import Tensor
from castwise.catalog.dialects import DEFAULT, dialect_named
from castwise.engine.decision import Decision, cast_between
from castwise.errors import UsageError
from castwise.graph import layouts
from castwise.graph import sizes as shapes
from castwise.graph.program import CAST, CONSTANT, Given, Node, Shape, user_line
from castwise.graph.shapes import indexed, results_of, split_key
from castwise.graph.traced import Traced, constant, index_node, needs_value, unknown_size
from castwise.rules.dialect import Dialect
from castwise.rules.values import Values
from castwise.vocab.dtypes import DTYPES, DType
from castwise.vocab.operands import Scalar
from castwise.vocab.ops import Op, op

# Kernels of declared ops, run on the recording backend to find their nodes and shapes.

_MOST_TRIED = 1024  # elements along an axis


def kernel_node(
    row: Op, compute: DType, given: Sequence[Node], options: Mapping[str, Any], backend: Backend
) -> Node | None:
    """The node that a declared op's kernel computes from other nodes, passed as tensors.

    None if the kernel does not accept tensors, for example because it calls a library's own
    functions. It then stays one node, and runs on arrays.
    """
    if row.compute is None:
        return None
    dialect = dialect_named(DEFAULT)  # all operands have one dtype, so nothing is promoted
    kinds = [interned(Kind(backend, compute, not n.shape, False, dialect)) for n in given]
    tensors = [Tensor._of(Traced(n), kind) for n, kind in zip(given, kinds, strict=True)]
    try:
        with watched_by(_NoWatcher(), alone=True):
            found = row.compute(*tensors, **options)
    except Exception:  # a kernel that was written for arrays may raise anything
        return None
    array = found._array if isinstance(found, Tensor) else None
    return array.node if isinstance(array, Traced) else None


def kernel_shape(
    row: Op, compute: DType, given: Sequence[Node], options: Mapping[str, Any], backend: Backend
) -> Shape | None:
    """The shape of a kernel's result; None if it is known only when the program runs."""
    found = kernel_node(row, compute, given, options, backend)
    return _tried_shape(row, compute, given, options) if found is None else found.shape


def _tried_shape(
    row: Op, compute: DType, given: Sequence[Node], options: Mapping[str, Any]
) -> Shape | None:
    """The shape of a kernel's result for arrays of ones, if the sizes are known and small."""
    sizes = [size for node in given for size in node.shape]
    plain = backend_named(DEFAULT_BACKEND)
    is_small = all(isinstance(size, int) and size < _MOST_TRIED for size in sizes)
    if row.compute is None or compute not in plain.dtypes or not is_small:
        return None
    ones = plain.make([1], compute, copy=None, device=None)
    try:
        arrays = [plain.namespace.broadcast_to(ones, node.shape) for node in given]
        found = row.compute(*arrays, **options)
    except Exception:  # as above
        return None
    return tuple(getattr(found, "shape", ()))


class _NoWatcher:
    """Replaces the watchers, which should see only the declared op."""

    def note(self, decision: Decision, operands: Sequence[Any], result: Any) -> None:
        """Does nothing."""


class _Recording:
    name = "graph"
    speaks = DEFAULT
    dtypes = frozenset(DTYPES)
    namespace = layouts
    takes_constants = True

    def __init__(self, dialect: Dialect) -> None:
        self.values = rules_of_nodes(dialect)

    def owns(self, thing: Any) -> bool:
        """Whether something is a node of a graph."""
        return isinstance(thing, Traced)

    def is_concrete(self, array: Any) -> bool:
        """Never true: a node has no values."""
        return False

    def constant_number(self, array: Any) -> Scalar | None:
        """The number of a 0-d constant; None for any other node."""
        node = array.node
        is_number = node.op == CONSTANT and node.shape == ()
        return node.value if is_number else None

    def dtype_of(self, array: Any) -> DType:
        """The dtype of a node."""
        return array.node.dtype  # type: ignore[no-any-return]

    def native(self, dtype: DType) -> Any:
        """castwise's own dtype object."""
        return dtype

    def make(self, data: Any, dtype: DType | None, *, copy: bool | None, device: Any) -> Any:
        """A constant."""
        if isinstance(data, Traced):
            return data if dtype in (None, data.node.dtype) else self.cast(data, dtype)
        plain = backend_named(DEFAULT_BACKEND)
        if dtype in plain.dtypes:
            data = plain.make(data, dtype, copy=None, device=None)
        made = Traced(constant(data))
        return made if dtype in (None, made.node.dtype) else self.cast(made, dtype)

    def cast(self, array: Any, dtype: DType) -> Any:
        """A cast node; whether it is implicit is decided once the op is known."""
        source = array.node
        return Traced(Node(CAST, (source,), dtype, source.shape, origin=user_line()))

    def number(self, value: Scalar, dtype: DType) -> Any:
        """A 0-d constant."""
        return Traced(Node(CONSTANT, (), dtype, (), value=value, origin=user_line()))

    def function(self, op_name: str, dtype: DType) -> Callable[..., Any] | None:
        """A function that adds a node for the op, or one for each of several results."""
        row = op(LIKE.get(op_name, op_name))
        is_joining = row.family == "joining"

        def record(*operands: Any, **options: Any) -> Any:
            given = operands[0] if is_joining else operands
            return _recorded(op_name, dtype, [array.node for array in given], options)

        def record_declared(*operands: Any, **options: Any) -> Any:
            nodes = [array.node for array in operands]
            recorded = _recorded(op_name, dtype, nodes, options)
            shape = kernel_shape(row, dtype, nodes, options, self)
            return recorded if shape is None else Traced(replace(recorded.node, shape=shape))

        return record_declared if row.compute else record

    def takes_mask(self, op: str) -> bool:
        """Whether a reduction takes its mask itself, because no other nodes can replace it."""
        return op in ("mean", "std", "var")

    def read(self, array: Any, key: Any) -> Any:
        """The elements at an index."""
        return array[key]

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """A new array with the values in it, cast to its dtype."""
        target, new = array.node, values.node
        cast = cast_between(new.dtype, target.dtype)
        if cast:
            new = replace(self.cast(values, target.dtype).node, cast=cast)
        if key is Ellipsis:
            shape = shapes.broadcast([target.shape, new.shape])
            made = Traced(new)
            return made if shape == new.shape else layouts.broadcast_to(made, shape)
        if _is_mask(key) and (isinstance(key, Traced) or not new.shape):
            return _written_under(key, target, new)
        plain, arrays = split_key(key, 2, index_node)
        part = indexed(target.shape, plain, [(), (), *[node.shape for node in arrays]])
        if shapes.broadcast([part, new.shape]) != part:
            raise UsageError(f"{list(new.shape)} does not broadcast to {list(part)}, the shape it "
                             "is assigned to.")  # fmt: skip
        return Traced(Node("setitem", (target, new, *arrays), target.dtype, target.shape,
                           {"key": plain}, origin=user_line()))  # fmt: skip

    def to_numpy(self, array: Any) -> Any:
        """Always raises: a graph is traced without values."""
        raise needs_value(array)


@functools.lru_cache(maxsize=64)
def recording_under(dialect: Dialect) -> Backend:
    """The recording backend for programs of a dialect."""
    return _Recording(dialect)


def rules_of_nodes(dialect: Dialect) -> Values:
    """The value rules of a graph's nodes.

    Nodes compute as NumPy does in every dialect, because the dialect's own rules become nodes
    themselves. Only warnings and subnormals follow the dialect, and powers with a single exponent,
    whose value may be known only when the graph runs.
    """
    plain, own = dialect_named(DEFAULT).values, dialect.values
    return replace(
        plain,
        arithmetic=replace(plain.arithmetic, float_errors=own.arithmetic.float_errors),
        casting=replace(plain.casting, subnormals=own.casting.subnormals),
        powers=replace(plain.powers, by_one_exponent=own.powers.by_one_exponent),
    )


def _recorded(name: str, compute: DType, given: Sequence[Node], options: dict[str, Any]) -> Any:
    """The results of an op as new nodes; arrays among its options are inputs too."""
    inputs = list(given)
    for key, value in options.items():
        if isinstance(value, Traced):
            options[key] = Given(len(inputs))
            inputs.append(value.node)
    found = results_of(name, compute, [node.shape for node in given], options)
    origin = user_line()
    made = [
        Traced(Node(name, tuple(inputs), held, shape, options, origin=origin, compute=compute,
                    part=part if len(found) > 1 else None))
        for part, (held, shape) in enumerate(found)
    ]  # fmt: skip
    return tuple(made) if len(made) > 1 else made[0]


def _is_mask(key: Any) -> bool:
    return getattr(getattr(key, "dtype", None), "kind", "") in ("bool", "b")


def _written_under(mask: Any, target: Node, new: Node) -> Traced:
    """A number written wherever a mask is true."""
    chosen = mask.node if isinstance(mask, Traced) else constant(mask)
    if new.shape:
        raise unknown_size("x[mask] = array takes, which", "a number, or xp.where")
    rest = len(target.shape) - len(chosen.shape)
    if rest:
        chosen = layouts.reshape(Traced(chosen), (*chosen.shape, *[1] * rest)).node
    shape = shapes.broadcast([chosen.shape, target.shape])
    return Traced(Node("where", (chosen, new, target), target.dtype, shape, origin=user_line(),
                       compute=target.dtype))  # fmt: skip
