"""The recording backend: its arrays are nodes of a graph, and its computations add nodes.

The functions of its arrays come first, then the backend. This module is the namespace of these
arrays: castwise.array_api finds here the functions that move elements or return indices, and
compute nothing.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NoReturn

from castwise.arrays import fast_path
from castwise.arrays.backend import Backend
from castwise.arrays.backends import DEFAULT_BACKEND, backend_named
from castwise.arrays.fast_path import traced_by, watched_by
from castwise.arrays.functions import LIKE
from castwise.arrays.kinds import Kind, interned
from castwise.arrays.substitutes import function_named, power_name
from castwise.arrays.tensor import Tensor
from castwise.catalog import DEFAULT, dialect_named
from castwise.engine.decision import Decision, cast_between
from castwise.errors import UsageError
from castwise.graph import shapes
from castwise.graph.program import (
    CAST,
    CHECK,
    CONSTANT,
    COPY,
    Given,
    Node,
    Shape,
    user_line,
    user_place,
)
from castwise.graph.sizes import checked_sizes, difference, element_count, quotient, total
from castwise.graph.traced import (
    Computed,
    Permuted,
    Reshaped,
    Spread,
    Traced,
    UnsureMemoryError,
    UntraceableError,
    added,
    apart,
    are_in_rows,
    constant,
    goes_back,
    index_node,
    lies_in_rows,
    may_raise,
    needs_value,
    own,
    relaid,
    rows,
    unknown_size,
)
from castwise.rules.dialect import Dialect
from castwise.rules.values import Values
from castwise.vocab.dtypes import DTYPES, DType, dtype
from castwise.vocab.operands import Scalar
from castwise.vocab.ops import Op, op

# Functions of these arrays, as Array API namespaces have them.

_INDEX = dtype("int64")
# The nodes that these functions make.
LAYOUT_OPS = (
    "arange", "argsort", "broadcast_to", COPY, "fft.fftshift", "fft.ifftshift", "flip", "getitem",
    "linalg.diagonal", "permute_dims", "reshape", "roll", "searchsorted", "setitem", "sort", "take",
    "take_along_axis", "tril", "triu",
)  # fmt: skip


def _node(x: Any) -> Node:
    return x.node if isinstance(x, Traced) else constant(x)


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Traced:
    wanted = shape if isinstance(shape, (tuple, list)) else (shape,)
    found = shapes.reshaped(x.shape, tuple(wanted))
    step, layout = Reshaped(found), relaid(x.layout, found)
    if copy:
        return Traced(step.read(x.node), rows(found))
    if layout is None:
        return apart(Traced(step.read(x.node)), x, "reshape copies some arrays, and shares memory"
                      " with others")  # fmt: skip
    x.memory.is_reshaped = True
    return Traced.view(x, step, layout)


def _with_ones(x: Any, shape: Shape) -> Traced:
    """The array with dimensions of length 1 added or removed, which never copies."""
    layout = relaid(x.layout, shape)
    return Traced.view(x, Reshaped(tuple(shape)), layout)


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Traced:
    order = shapes.places(tuple(axes), len(x.shape))
    if sorted(order) != list(range(len(x.shape))):
        raise UsageError(f"{tuple(axes)} must name each of {len(x.shape)} dimension(s) once.")
    layout = None if x.layout is None else x.layout.transpose(order)
    return Traced.view(x, Permuted(order), layout)


def matrix_transpose(x: Any, /) -> Traced:
    rank = len(x.shape)
    return permute_dims(x, (*range(rank - 2), rank - 1, rank - 2))


def moveaxis(x: Any, source: Any, destination: Any, /) -> Traced:
    rank = len(x.shape)
    moved = shapes.places(source, rank)
    goals = shapes.places(destination, rank)
    order = [n for n in range(rank) if n not in moved]
    for goal, n in sorted(zip(goals, moved, strict=True)):
        order.insert(goal, n)
    return permute_dims(x, tuple(order))


def expand_dims(x: Any, /, *, axis: int = 0) -> Traced:
    place = shapes.places(axis, len(x.shape) + 1)[0]
    shape = x.node.shape
    return _with_ones(x, (*shape[:place], 1, *shape[place:]))


def squeeze(x: Any, /, axis: Any) -> Traced:
    gone = shapes.places(axis, len(x.shape))
    for place in gone:
        if x.shape[place] != 1:
            raise UsageError(f"squeeze removes dimensions of size 1, but dimension {place} has "
                             f"size {x.shape[place]}.")  # fmt: skip
    return _with_ones(x, tuple([size for n, size in enumerate(x.node.shape) if n not in gone]))


def broadcast_to(x: Any, /, shape: Any) -> Traced:
    wanted = shapes.broadcast([x.shape, tuple(shape)])
    if wanted != tuple(shape):
        raise UsageError(f"{list(x.shape)} does not broadcast to {list(shape)}.")
    return Traced.view(x, Spread(wanted), None)


def broadcast_arrays(*arrays: Any) -> list[Any]:
    shape = shapes.broadcast([array.shape for array in arrays])
    return [x if x.shape == shape else broadcast_to(x, shape) for x in arrays]


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    order = list(range(len(arrays)))
    if indexing == "xy":
        order[:2] = reversed(order[:2])
    sizes = tuple([size for array in arrays for size in array.shape])
    whole = tuple([sizes[n] for n in order])
    spread = []
    for n, array in enumerate(arrays):
        place = order.index(n)
        alone = [1] * place + [sizes[n]] + [1] * (len(order) - place - 1)
        made = own(broadcast_to(reshape(array, alone), whole))
        spread.append(apart(made, array, "meshgrid copies in some libraries"))
    return spread


def flip(x: Any, /, *, axis: Any = None) -> Traced:
    axes = shapes.places(axis, len(x.shape))
    flipped = added("flip", (x.node,), x.node.shape, {"axis": axes})
    return apart(flipped, x, "flip copies in some libraries, and shares memory in others")


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Traced:
    return added("roll", (x.node,), x.shape, {"shift": shift, "axis": axis})


def tile(x: Any, repetitions: tuple[int, ...], /) -> Traced:
    rank = max(len(x.shape), len(repetitions))
    counts = (1,) * (rank - len(repetitions)) + tuple(repetitions)
    sizes = (1,) * (rank - len(x.shape)) + tuple(x.shape)
    between = reshape(x, tuple(itertools.chain(*[(1, size) for size in sizes])))
    pairs = list(zip(counts, sizes, strict=True))
    spread = broadcast_to(between, tuple(itertools.chain(*pairs)))
    return own(reshape(spread, tuple(element_count(pair) for pair in pairs)))


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Traced:
    if isinstance(repeats, Traced) or hasattr(repeats, "shape"):
        raise unknown_size("repeat by an array", "a number of repeats")
    flat = reshape(x, (-1,)) if axis is None else x
    place = shapes.places(0 if axis is None else axis, len(flat.shape))[0]
    before, size, after = flat.shape[:place], flat.shape[place], flat.shape[place + 1 :]
    spread = broadcast_to(reshape(flat, (*before, size, 1, *after)),
                          (*before, size, repeats, *after))  # fmt: skip
    return own(reshape(spread, (*before, element_count((size, repeats)), *after)))


def unstack(x: Any, /, *, axis: int = 0) -> list[Traced]:
    place = shapes.places(axis, len(x.shape))[0]
    if not isinstance(x.shape[place], int):
        raise UntraceableError(
            f"unstack gives {x.shape[place]} arrays, which is unknown: fix that size."
        )
    before = (slice(None),) * place
    found = [x[before + (n,)] for n in range(x.shape[place])]  # noqa: RUF005 -- Python 3.10
    if len(x.shape) > 1:
        return found
    return [apart(one, x, "elements of unstack are copies in some libraries") for one in found]


def sort(x: Any, /, **options: Any) -> Traced:
    return added("sort", (x.node,), x.shape, options)


def argsort(x: Any, /, **options: Any) -> Traced:
    return added("argsort", (x.node,), x.shape, options, _INDEX)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Traced:
    inputs = [_node(x1), _node(x2)]
    options: dict[str, Any] = {"side": side, "sorter": None}
    if sorter is not None:
        inputs.append(_node(sorter))
        options["sorter"] = Given(2)
    return added("searchsorted", tuple(inputs), x2.shape, options, _INDEX)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Traced:
    node, places = _node(x), index_node(indices)
    if axis is None and len(node.shape) != 1:
        raise UsageError(f"take needs an axis for {len(node.shape)} dimension(s).")
    place = shapes.places(0 if axis is None else axis, len(node.shape))[0]
    shape = (*node.shape[:place], *places.shape, *node.shape[place + 1 :])
    return may_raise(added("take", (node, places), shape, {"axis": place}))


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Traced:
    node, chosen = _node(x), index_node(indices)
    place = shapes.places(axis, len(node.shape))[0]
    others = [(*s[:place], 1, *s[place + 1 :]) for s in (node.shape, chosen.shape)]
    whole = shapes.broadcast(others)
    shape = (*whole[:place], chosen.shape[place], *whole[place + 1 :])
    return may_raise(added("take_along_axis", (node, chosen), shape, {"axis": place}))


def tril(x: Any, /, *, k: int = 0) -> Traced:
    return added("tril", (x.node,), x.shape, {"k": k})


def triu(x: Any, /, *, k: int = 0) -> Traced:
    return added("triu", (x.node,), x.shape, {"k": k})


def full(shape: Any, fill_value: Any, *, dtype: DType, device: Any = None) -> Traced:
    number = Traced(Node(CONSTANT, (), dtype, (), value=fill_value, origin=user_line()), rows(()))
    sizes = checked_sizes(shape)
    return own(broadcast_to(number, sizes)) if sizes else number


def full_like(x: Any, /, fill_value: Any, *, dtype: DType, device: Any = None) -> Traced:
    return full(x.shape, fill_value, dtype=dtype)


zeros, ones = (functools.partial(full, fill_value=number) for number in (0, 1))
zeros_like, ones_like = (functools.partial(full_like, fill_value=number) for number in (0, 1))
empty, empty_like = zeros, zeros_like


def arange(start: Any, stop: Any, step: Any, *, dtype: DType, device: Any = None) -> Traced:
    """Evenly spaced numbers up to a size, which must never be below the start."""
    first, last = checked_sizes((start, stop))
    length = difference(last, first)
    if length is None or not isinstance(step, int) or step < 1:
        what = f"arange({start}, {stop}, {step})"
        raise unknown_size(what, "steps up, from 0 or a smaller size")
    count = quotient(total([length, step - 1]), step)
    options = {"start": start, "stop": stop, "step": step}
    made = Node("arange", (), dtype, (count,), options, origin=user_line())
    return Traced(made, rows(made.shape))


def eye(
    rows: Any, columns: Any = None, /, *, k: int = 0, dtype: DType, device: Any = None
) -> Traced:
    height, width = checked_sizes((rows, rows if columns is None else columns))
    whole = full((height, width), 1, dtype=dtype)
    return tril(triu(whole, k=k), k=k)


def _diagonal(x: Any, /, *, offset: int = 0) -> Traced:
    shape = shapes.diagonal(x.shape, offset)
    found = added("linalg.diagonal", (x.node,), shape, {"offset": offset})
    return apart(found, x, "libraries differ in writes to a diagonal")


def _shifted(name: str) -> Any:
    return lambda x, /, *, axes=None: added(name, (x.node,), x.shape, {"axes": axes})


linalg = SimpleNamespace(diagonal=_diagonal)
fft = SimpleNamespace(fftshift=_shifted("fft.fftshift"), ifftshift=_shifted("fft.ifftshift"))


def nonzero(x: Any, /) -> NoReturn:
    raise unknown_size("nonzero", "xp.where(condition, ...), or a sum over the condition")


def unique_values(x: Any, /) -> NoReturn:
    raise unknown_size("the different values of an array", "xp.sort")


unique_all = unique_counts = unique_inverse = unique_values


def is_standard(name: str) -> bool:
    """Whether a namespace of the Array API standard has such a function."""
    if name.startswith("_"):  # attributes that Python itself looks up in a module
        return False
    import array_api_compat.numpy

    return hasattr(array_api_compat.numpy, name)


def __getattr__(name: str) -> Any:
    if not is_standard(name):
        raise AttributeError(name)
    raise UntraceableError(
        f"{user_place()}: a graph cannot contain {name}: leave it out of the traced function, or "
        "write it with other functions of castwise.array_api."
    )


# The backend.


class _Recording:
    """A Backend, which castwise.arrays.backend describes."""

    name = "graph"
    speaks = DEFAULT
    dtypes = frozenset(DTYPES)
    namespace = sys.modules[__name__]
    takes_constants = True

    def __init__(self, dialect: Dialect) -> None:
        self.values, self._memory = node_rules(dialect), dialect.values.memory

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
            if dtype not in (None, data.node.dtype):
                return self.cast(data, dtype)
            return Traced(data.node, data.layout) if copy else data
        plain = backend_named(DEFAULT_BACKEND)
        if dtype in plain.dtypes:
            data = plain.make(data, dtype, copy=None, device=None)
        node = constant(data)
        made = Traced(node, rows(node.shape) if lies_in_rows(node.value) else None)
        return made if dtype in (None, made.node.dtype) else self.cast(made, dtype)

    def cast(self, array: Any, dtype: DType) -> Any:
        """A cast node; whether it is implicit is decided once the op is known."""
        source = array.node
        layout = rows(source.shape) if are_in_rows(array.layout) else None
        return Traced(Node(CAST, (source,), dtype, source.shape, origin=user_line()), layout)

    def number(self, value: Scalar, dtype: DType) -> Any:
        """A 0-d constant."""
        return Traced(Node(CONSTANT, (), dtype, (), value=value, origin=user_line()), rows(()))

    def function(self, op_name: str, dtype: DType) -> Callable[..., Any] | None:
        """A function that adds a node for the op, or one for each of several results."""
        row = op(LIKE.get(op_name, op_name))
        is_joining = row.family == "joining"

        def record(*operands: Any, **options: Any) -> Any:
            if op_name == "pow" and not isinstance(operands[1], Traced):
                operands, options = operands[:1], {"exponent": operands[1]}
            given = operands[0] if is_joining else operands
            made = _recorded(op_name, dtype, [array.node for array in given], options)
            if (
                row.keeps_shape
                and type(made) is Traced
                and all([are_in_rows(array.layout) for array in given])
            ):
                made.layout = rows(made.node.shape)
            if _may_refuse(op_name, given[0].node.shape, options):
                fast_path.checking(made[0].node if isinstance(made, tuple) else made.node)
            return made

        def record_declared(*operands: Any, **options: Any) -> Any:
            nodes = [array.node for array in operands]
            recorded = _recorded(op_name, dtype, nodes, options)
            found = kernel_node(row, dtype, nodes, options, self)
            shape = found.shape if found else _tried_shape(row, dtype, nodes, options)
            return may_raise(
                recorded if shape is None else Traced(replace(recorded.node, shape=shape))
            )

        return record_declared if row.compute else record

    def takes_mask(self, op: str) -> bool:
        """Whether a reduction takes its mask itself, because no other nodes can replace it."""
        return op in ("mean", "std", "var")

    def read(self, array: Any, key: Any) -> Any:
        """The elements at an index."""
        return array[key]

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """The array itself, whose memory has the values from now on, cast to its dtype."""
        target, new = array.node, values.node
        self._check_overlap(array, key, values)
        cast = cast_between(new.dtype, target.dtype)
        if cast:
            new = replace(self.cast(values, target.dtype).node, cast=cast)
        array.write(_written(array, key, target, new))
        return array

    def _check_overlap(self, array: Any, key: Any, values: Any) -> None:
        """Raises UnsureMemoryError if values may be in the memory that they are written to, and it
        depends on the library what happens then."""
        if self._memory.overlaps != "refused" or values.memory is not array.memory:
            return
        import numpy as np

        plain, arrays = shapes.split_key(key, 0, index_node)
        parts = plain if isinstance(plain, tuple) else (plain,)
        is_known = not (arrays or array.layout is None or values.layout is None)
        if is_known:
            part = array.layout[parts if Ellipsis in parts else (*parts, Ellipsis)]
            is_apart = not np.may_share_memory(part, values.layout)
            is_same = part.__array_interface__ == values.layout.__array_interface__
        if not is_known or not (is_apart or is_same):
            raise UnsureMemoryError("some libraries refuse an array that is assigned to a part of"
                                    " itself")  # fmt: skip

    def check(self, condition: Any, error: Exception, among: Sequence[Any]) -> None:
        """Adds a node that raises an error if a condition holds for any element, and no array has
        none."""
        inputs = (condition.node, *[array.node for array in among])
        options = {"error": type(error).__name__, "message": str(error)}
        node = Node(CHECK, inputs, inputs[0].dtype, inputs[0].shape, options, origin=user_line())
        fast_path.checking(node)

    def sharing(self, function: Callable[..., Any], op: str, is_itself: bool) -> Any:
        """The function of an op whose result shares the memory of its operand, such as real."""
        if op == "conj" and not is_itself:
            return lambda x: apart(function(x), x, "conj copies in some libraries")
        return lambda x: Traced.view(x, Computed(function, is_itself), x.layout)

    def to_numpy(self, array: Any) -> Any:
        """Always raises: a graph is traced without values."""
        raise needs_value(array)


class _KeepingExponents(_Recording):
    """A recording backend on which the power of a Python number is one node: libraries have special
    functions for that."""

    takes_exponents = True


@functools.lru_cache(maxsize=64)
def recording_backend(dialect: Dialect) -> Backend:
    """The recording backend for programs of a dialect."""
    return _KeepingExponents(dialect)


def power_written_out(node: Node, base: Node, dialect: Dialect) -> Node:
    """The nodes that compute a power of a Python number."""
    assert node.compute is not None  # it is an op
    function = function_named(power_name(node_rules(dialect)), _Recording(dialect), node.compute)
    found: Node = function(Traced(base), node.options["exponent"]).node
    return replace(found, decision=node.decision, operands=node.operands, is_weak=node.is_weak)


def node_rules(dialect: Dialect) -> Values:
    """The value rules of a graph's nodes.

    Nodes compute as NumPy does in every dialect, because the dialect's own rules become nodes
    themselves. Only warnings and subnormals follow the dialect, powers with a single exponent,
    whose value may be known only when the graph runs, roots, which may be those of a library, and
    which results share memory.
    """
    plain, own = dialect_named(DEFAULT).values, dialect.values
    return replace(
        plain,
        arithmetic=replace(plain.arithmetic, float_errors=own.arithmetic.float_errors),
        casting=replace(plain.casting, subnormals=own.casting.subnormals),
        memory=replace(plain.memory, shares_memory=own.memory.shares_memory),
        powers=replace(
            plain.powers,
            by_one_exponent=own.powers.by_one_exponent,
            square_root=own.powers.square_root,
        ),
    )


def _may_refuse(name: str, shape: Shape, options: Mapping[str, Any]) -> bool:
    """Whether a library may refuse an op that the dialect takes: the inverse of a singular matrix,
    an axis of a number, the largest of no elements."""
    of_number = options.get("axis") is not None and not shape
    of_none = name in _EXTREMES and not all(isinstance(n, int) and n for n in shape)
    return of_number or of_none or name.startswith("linalg.")


_EXTREMES = ("max", "min", "argmax", "argmin")


def _recorded(name: str, compute: DType, given: Sequence[Node], options: dict[str, Any]) -> Any:
    """The results of an op as new nodes; arrays among its options are inputs too."""
    inputs = list(given)
    for key, value in options.items():
        if isinstance(value, Traced):
            options[key] = Given(len(inputs))
            inputs.append(value.node)
    found = shapes.op_results(name, compute, [node.shape for node in given], options)
    origin = user_line()
    made = [
        Traced(Node(name, tuple(inputs), held, shape, options, origin=origin, compute=compute,
                    part=part if len(found) > 1 else None))
        for part, (held, shape) in enumerate(found)
    ]  # fmt: skip
    return tuple(made) if len(made) > 1 else made[0]


def _written(array: Traced, key: Any, target: Node, new: Node) -> Node:
    """The value of an array after array[key] = new."""
    if key is Ellipsis:
        new = _fitted(new, target.shape)
        return new if new.shape == target.shape else Spread(target.shape).read(new)
    is_mask = getattr(getattr(key, "dtype", None), "kind", "") in ("bool", "b")
    if is_mask and (isinstance(key, Traced) or not new.shape):
        return _written_under(key, target, new)
    plain, arrays = shapes.split_key(key, 2, index_node)
    part = shapes.indexed(target.shape, plain, [(), (), *[node.shape for node in arrays]])
    new = _fitted(new, part)
    made = Node("setitem", (target, new, *arrays), target.dtype, target.shape, {"key": plain},
                origin=user_line())  # fmt: skip
    if arrays or goes_back(plain if isinstance(plain, tuple) else (plain,)):
        fast_path.checking(made)
    return made


def _fitted(new: Node, shape: Shape) -> Node:
    """A value that broadcasts to a shape, without leading dimensions of length 1 too many.

    Raises UsageError if it does not.
    """
    while len(new.shape) > len(shape) and new.shape[0] == 1:
        new = Reshaped(new.shape[1:]).read(new)
    if shapes.broadcast([shape, new.shape]) != shape:
        raise UsageError(
            f"{list(new.shape)} does not broadcast to {list(shape)}, the shape it is assigned to."
        )
    return new


def _written_under(mask: Any, target: Node, new: Node) -> Node:
    """A number written wherever a mask is true."""
    chosen = mask.node if isinstance(mask, Traced) else constant(mask)
    if new.shape:
        raise unknown_size("x[mask] = array takes, which", "a number, or xp.where")
    rest = len(target.shape) - len(chosen.shape)
    if rest:
        chosen = Reshaped((*chosen.shape, *[1] * rest)).read(chosen)
    _fitted(chosen, target.shape)
    return Node("where", (chosen, new, target), target.dtype, target.shape, origin=user_line(),
                compute=target.dtype)  # fmt: skip


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
        with watched_by(_NoWatcher(), alone=True), traced_by(None):
            found = row.compute(*tensors, **options)
    except Exception:  # a kernel that was written for arrays may raise anything
        return None
    array = found._array if isinstance(found, Tensor) else None
    return array.node if isinstance(array, Traced) else None


def _tried_shape(
    row: Op, compute: DType, given: Sequence[Node], options: Mapping[str, Any]
) -> Shape | None:
    """The shape of a kernel's result for arrays of ones, if the sizes are known and small; None if
    it is known only when the program runs."""
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
