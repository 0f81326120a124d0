"""compile: traces a function once per signature, then runs it as a graph.

`compile` comes first, then the compiled function. Below them are the signatures of calls, and
traces in which numbers stay arguments.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MethodType
from typing import Any, TypeVar, cast

from castwise.arrays import fast_path
from castwise.arrays.calls import common_dialect
from castwise.arrays.tensor import Tensor, Variable, asarray
from castwise.arrays.traced_numbers import Arguments, TracedNumber
from castwise.catalog import process_default, to_dialect, use
from castwise.graph.graph import Graph, trace
from castwise.graph.passes import simplify
from castwise.graph.program import Node, Slot, filled, option_leaves, rebuilt, sequence_like
from castwise.graph.run import Numbers, OtherNumbersError, Ready, is_as_traced
from castwise.graph.traced import UnsureMemoryError, UntraceableError
from castwise.rules.dialect import Dialect
from castwise.vocab import ops
from castwise.vocab.operands import Operand, Scalar, array_operand, value_class

F = TypeVar("F", bound=Callable[..., Any])


def compile(fn: F | None = None, *, dialect: str | Dialect | None = None) -> F:
    """Makes a function run as its simplified graph, traced once per signature.

    Arrays may belong to any backend, and may be inside lists, tuples and dicts. Python ints, floats
    and complex numbers may change from call to call: the signature has the value of one only if the
    function reads it, as in `if factor > 1` or `axis=n`. All other arguments are part of the
    signature. Each call reads and writes variables, and other tensors that the function writes to.
    Anything else that the function reads, for example from `self`, keeps the value it had when the
    signature was traced.

    >>> from castwise import asarray
    >>> @compile(dialect="torch")
    ... def scaled(x, factor):
    ...     return x * factor
    >>> scaled(asarray([1, 2], dtype="int32"), 0.5)
    Tensor([0.5, 1. ], dtype=float32, dialect=torch, backend=numpy)

    Raises the same errors as trace, when a signature is new.
    """
    if fn is None:
        return cast(F, functools.partial(compile, dialect=dialect))
    return cast(F, Compiled(fn, dialect))


# The compiled function, which keeps its graphs.

_MOST_GRAPHS = 256  # per function; the oldest is dropped
_MOST_CALLS = 1024  # forms of calls per function
_NO_NUMBERS: tuple[Any, ...] = ()


@dataclass(slots=True, eq=False)
class _Reads:
    """The numbers whose values a function reads, in calls of one signature."""

    places: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class _KnownForm:
    """A form of calls that came before, how it fills the slots of its signature, and the graphs
    that are ready for it."""

    key: tuple[object, ...] | None  # None: not only tensors and numbers, or in another order
    order: tuple[int, ...] | None  # of the slots; None: as they come
    defaults: tuple[Any, ...]  # arrays and numbers that the call leaves out
    signature: _Signature
    reads: _Reads
    is_eager: bool = False  # no graph does what the function does
    ready: dict[tuple[object, ...], list[Ready]] = field(default_factory=dict)  # by the number key

    def arranged(self, leaves: list[Any]) -> list[Any]:
        """The arrays and numbers of a call, in the order of the parameters."""
        if self.order is None:
            return leaves
        leaves += self.defaults
        return [leaves[n] for n in self.order]


class Compiled:
    """A function that runs as a graph, one per signature of its arguments."""

    def __init__(self, fn: Callable[..., Any], dialect: str | Dialect | None) -> None:
        functools.update_wrapper(self, fn)
        self._fn, self._dialect = fn, dialect
        self._parameters = inspect.signature(fn)
        self._lock = threading.Lock()
        self._known: dict[tuple[object, ...], _KnownForm] = {}
        # Of calls with tensors and numbers alone, in the order of the parameters: a function of
        # their arrays and numbers, which gives NotImplemented if it is not for these numbers.
        self._direct: dict[tuple[object, ...], Callable[[list[Any]], Any]] = {}
        self._variants: dict[tuple[object, ...], list[_Variant]] = {}
        self._reads: dict[tuple[object, ...], _Reads] = {}  # by signature

    @property
    def graphs(self) -> dict[tuple[object, ...], Graph]:
        """The graphs that were traced, the oldest first."""
        return {
            (*key, n): variant.graph
            for key, variants in self._variants.items()
            for n, variant in enumerate(variants)
        }

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """The function itself, or bound as a method of an object."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<compiled {getattr(self._fn, '__qualname__', self._fn)}>"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        key: list[object] = [fast_path.context(), *process_default, ops.redeclarations]
        given = []
        for argument in arguments:  # most calls: tensors and numbers, in a form that came before
            kind = type(argument)
            if kind is Tensor:
                array = argument._array
                given.append(array)
                key.append(argument._kind)
                key.append(array.shape)
            elif kind in _NUMBERS:
                given.append(argument)
                key.append(kind)
            else:
                break
        else:
            run = None if keywords else self._direct.get(tuple(key))
            if run is not None and not (fast_path.running or fast_path.blocks):
                try:
                    found = run(given)
                except Exception:  # the function itself raises it, below
                    found = NotImplemented
                if found is not NotImplemented:
                    return found
        return self._called(arguments, keywords)

    def _called(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The result for any arguments."""
        key: list[object] = [fast_path.context(), *process_default, ops.redeclarations]
        leaves: list[Any] = []
        for argument in arguments:
            _with_slots(argument, key, leaves)
        for name, argument in keywords.items():
            key.append(name)
            _with_slots(argument, key, leaves)
        known = self._known.get(tuple(key))
        if known is None:
            known = self._new_form(tuple(key), arguments, keywords)
        return self._run(known, known.arranged(leaves))

    def _new_form(
        self, key: tuple[object, ...], arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> _KnownForm:
        slotted, leaves, count = _bound(self._parameters, arguments, keywords)
        slots = _distinct(s for name, part in slotted.items() for s in _slot_names(name, part))
        order = tuple([n for _, n in slots])
        values = [leaves[n] for n in order]
        kinds = [leaf._kind for leaf in values if isinstance(leaf, Tensor)]
        dialect = common_dialect(kinds) if self._dialect is None else to_dialect(self._dialect)
        renumbered = [_slot(order.index(n)) for n in range(len(leaves))]
        parameters = {name: filled(part, renumbered) for name, part in slotted.items()}
        signature = _signature(dialect, parameters, [name for name, _ in slots], values)
        is_in_order = order == tuple(range(count))
        is_plain = all(type(a) is Tensor or type(a) in _NUMBERS for a in arguments)
        known = _KnownForm(
            key=key if is_plain and not keywords and is_in_order else None,
            order=None if is_in_order else order,
            defaults=tuple(leaves[count:]),
            signature=signature,
            reads=self._reads.setdefault(signature.key, _Reads()),
        )
        with self._lock:
            if len(self._known) >= _MOST_CALLS:
                for table in (self._known, self._direct, self._reads):
                    table.clear()
            self._known[key] = known
        return known

    def _run(self, known: _KnownForm, leaves: list[Any]) -> Any:
        """The result for arrays and numbers in the order of the parameters."""
        signature, tensors = known.signature, leaves
        if known.is_eager:
            return self._run_eagerly(signature, leaves)
        numbers, key = _NO_NUMBERS, _NO_NUMBERS
        if signature.numbers:
            key = signature.number_key(leaves, known.reads.places)
            numbers = tuple([leaves[n] for n in signature.numbers])
            tensors = [leaves[n] for n in signature.arrays]
        try:
            for ready in known.ready.get(key, ()):
                try:
                    return ready.run(tensors, numbers)
                except OtherNumbersError:
                    continue
            return self._run_new(known, leaves, tensors, numbers)
        except UntraceableError:
            raise
        except Exception as error:
            known.is_eager = isinstance(error, UnsureMemoryError)
            # A run writes nothing before everything is computed, so the function can still run:
            # it raises the same, where it raises it, and after it has written the same.
            return self._run_eagerly(signature, leaves)

    def _run_eagerly(self, signature: _Signature, leaves: list[Any]) -> Any:
        """What the function itself does and returns, without a graph."""
        dialect = signature.dialect
        stand_ins = {n: _under(leaves[n], dialect) for n in signature.arrays}
        values = [stand_ins.get(n, leaf) for n, leaf in enumerate(leaves)]
        given = {name: filled(part, values) for name, part in signature.parameters.items()}
        arguments = inspect.BoundArguments(self._parameters, given)
        try:
            with use(dialect):
                returned = self._fn(*arguments.args, **arguments.kwargs)
        finally:
            for n, tensor in stand_ins.items():
                own, kind = leaves[n], tensor._kind
                if tensor is not own and tensor._array is not own._array:  # in another dtype
                    own._array = tensor._array
                    own._kind = own._kind.with_(dtype=kind.dtype, is_zero_d=kind.is_zero_d)
        return _as_tensors(returned, dialect)

    def _run_new(
        self, known: _KnownForm, leaves: list[Any], tensors: list[Tensor], numbers: tuple[Any, ...]
    ) -> Any:
        """The result by a graph that this form of calls did not use before, traced if need be."""
        signature = known.signature
        seen = known.reads.places
        key = signature.number_key(leaves, seen)
        variants = self._variants.get((signature.key, key), [])
        variants[:] = [variant for variant in variants if is_as_traced(variant.graph)]
        known.ready[key] = [Ready(v.graph, tensors, v.numbers) for v in variants]
        for ready in known.ready[key]:
            self._make_direct(known, ready)
            try:
                return ready.run(tensors, numbers)
            except OtherNumbersError:
                continue
        variant = _number_variant(functools.partial(self._trace, signature, leaves), numbers, seen)
        if variant.read != seen:
            self._forget(signature)
            known.reads.places = variant.read
            key = signature.number_key(leaves, variant.read)
        self._keep((signature.key, key), variant)
        ready = Ready(variant.graph, tensors, variant.numbers)
        known.ready.setdefault(key, []).append(ready)
        self._make_direct(known, ready)
        return ready.run(tensors, numbers)

    def _make_direct(self, known: _KnownForm, ready: Ready) -> None:
        """Lets the next calls of a form find a graph at once, if they need nothing else."""
        key = known.key
        if key is not None and self._known.get(key) is known and ready.direct is not None:
            run = self._by_numbers(known) if known.signature.numbers else ready.direct
            self._direct[key] = run

    def _by_numbers(self, known: _KnownForm) -> Callable[[list[Any]], Any]:
        """A function of the arrays and numbers of calls of one form."""
        signature, reads = known.signature, known.reads
        order = (*signature.arrays, *signature.numbers)

        def run(given: list[Any]) -> Any:
            for ready in known.ready.get(signature.number_key(given, reads.places), ()):
                try:
                    if ready.direct is not None:
                        return ready.direct([given[n] for n in order])
                except OtherNumbersError:
                    continue
            return NotImplemented

        return run

    def _forget(self, signature: _Signature) -> None:
        """Drops the graphs of a signature, because the function reads more of its numbers."""
        with self._lock:
            for key in [key for key in self._variants if key[0] == signature.key]:
                del self._variants[key]

    def _keep(self, key: tuple[object, ...], variant: _Variant) -> None:
        with self._lock:
            while sum(map(len, self._variants.values())) >= _MOST_GRAPHS:
                del self._variants[next(iter(self._variants))]
                self._direct.clear()
                for known in self._known.values():
                    known.ready.clear()
            self._variants.setdefault(key, []).append(variant)

    def _trace(self, signature: _Signature, leaves: list[Any], numbers: Sequence[Any]) -> Graph:
        """The simplified graph of the function for one signature and its numbers."""
        parameters, arrays = signature.parameters, signature.arrays
        values = list(leaves)
        for place, number in zip(signature.numbers, numbers, strict=True):
            values[place] = number

        def called(**tensors: Tensor) -> Any:
            for place, tensor in zip(arrays, tensors.values(), strict=True):
                values[place] = tensor
            given = {name: filled(part, values) for name, part in parameters.items()}
            arguments = inspect.BoundArguments(self._parameters, given)
            return self._fn(*arguments.args, **arguments.kwargs)

        called.__name__ = getattr(self._fn, "__name__", "compiled")
        called.__wrapped__ = self._fn  # type: ignore[attr-defined]  # where state has its names
        specs = {signature.names[n]: leaves[n] for n in arrays}
        specs = {n: t if isinstance(t, Variable) else _tensor_spec(t) for n, t in specs.items()}
        return simplify(trace(called, dialect=signature.dialect, **specs)).graph


def _under(tensor: Tensor, dialect: Dialect) -> Tensor:
    """A tensor in the same memory that computes under a dialect; a variable is itself."""
    is_itself = type(tensor) is not Tensor or tensor._kind.dialect is dialect
    return tensor if is_itself else tensor.under(dialect)


def _as_tensors(returned: Any, dialect: Dialect) -> Any:
    """What a function returned, with tensors of a dialect in place of all arrays and numbers."""
    if returned is None:
        return None
    if isinstance(returned, (tuple, list)):
        return sequence_like(returned, [_as_tensors(part, dialect) for part in returned])
    if isinstance(returned, dict):
        return {key: _as_tensors(part, dialect) for key, part in returned.items()}
    return asarray(returned, dialect=dialect)


# Calls of a compiled function: the arrays and numbers in them, and a key for the rest.

# Numbers of these types are arguments of the graph. A bool is not: there are only two, and a
# function may ask `flag is True`, which cannot be traced.
_NUMBERS = frozenset({int, float, complex})
_slot = functools.cache(Slot)


def _with_slots(value: Any, key: list[object], leaves: list[Any]) -> Any:
    """The argument with a slot for each array and number in it, which are added to `leaves`.

    All that tells two calls apart is added to `key`, except for the values of the numbers.
    """
    kind = type(value)
    if kind is Tensor:
        key += (value._kind, value._array.shape)
    elif kind in _NUMBERS:
        key.append(kind)
    elif isinstance(value, Tensor) or (hasattr(value, "dtype") and hasattr(value, "shape")):
        value = value if isinstance(value, Tensor) else asarray(value)
        if type(value) is not Tensor:
            key.append(type(value))
        key += (value._kind, value._array.shape)
    elif isinstance(value, (list, tuple)):
        key += (kind, len(value))
        return sequence_like(value, [_with_slots(part, key, leaves) for part in value])
    elif isinstance(value, dict):
        key += (kind, len(value), *map(_static_key, value))
        return {name: _with_slots(part, key, leaves) for name, part in value.items()}
    else:
        key.append(_static_key(value))
        return value
    leaves.append(value)
    return _slot(len(leaves) - 1)


def _static_key(part: Any) -> object:
    """The key of what is not traced; numbers as text, because 0.0 and -0.0 are equal."""
    if isinstance(part, (list, tuple)):
        return (type(part), *map(_static_key, part))
    if isinstance(part, dict):
        return (dict, *map(_static_key, part.items()))
    if isinstance(part, (bool, int, float, complex)):
        return (type(part), repr(part))
    return (type(part), part if isinstance(part, Hashable) else _ByIdentity(part))


class _ByIdentity:
    """An unhashable object, compared by identity."""

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.thing is self.thing


@dataclass(frozen=True, slots=True, eq=False)
class _Signature:
    """What calls have in common that share their graphs: parameters whose arrays and numbers are
    slots, in the order of the parameters, and the names of these."""

    key: tuple[object, ...]
    dialect: Dialect
    parameters: dict[str, Any]
    names: tuple[str, ...]
    numbers: tuple[int, ...]  # which slots are numbers
    arrays: tuple[int, ...]  # which are arrays

    def number_key(self, leaves: Sequence[Any], read: frozenset[int]) -> tuple[object, ...]:
        """The part of the key that depends on numbers: the class of each, and the value of those
        that the function reads."""
        if not read:
            return tuple([value_class(leaves[slot]) for slot in self.numbers])
        return tuple([
            _number_key(leaves[slot]) if place in read else value_class(leaves[slot])
            for place, slot in enumerate(self.numbers)
        ])  # fmt: skip


def _number_key(number: Any) -> object:
    """A number as a key: as text where it equals another number, or not even itself."""
    return number if number == number and number and type(number) is not complex else repr(number)


def _bound(
    parameters: inspect.Signature, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[dict[str, Any], list[Any], int]:
    """A call's parameters with slots, numbered in the order of the call, the values of these, and
    how many of them the call itself gives; the others are defaults.

    Raises TypeError if the function does not take these arguments.
    """
    leaves: list[Any] = []
    placed = [_with_slots(argument, [], leaves) for argument in arguments]
    named = {name: _with_slots(argument, [], leaves) for name, argument in keywords.items()}
    given = parameters.bind(*placed, **named)
    own, count = {*given.arguments}, len(leaves)
    given.apply_defaults()
    slotted = {
        name: part if name in own else _with_slots(part, [], leaves)
        for name, part in given.arguments.items()
    }
    return slotted, leaves, count


def _distinct(slots: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """The slots, where two have one name with the number of the later behind it: f(x, x_0) of a
    list and a tensor has two x_0."""
    named: dict[str, int] = {}
    for name, number in slots:
        while name in named:
            name = f"{name}_{number}"
        named[name] = number
    return list(named.items())


def _slot_names(name: str, part: Any) -> Iterator[tuple[str, int]]:
    """The slots in a parameter, with their names."""
    if isinstance(part, Slot):
        yield name, part.number
    elif isinstance(part, (list, tuple)):
        for n, inner in enumerate(part):
            yield from _slot_names(f"{name}_{n}", inner)
    elif isinstance(part, dict):
        for key, inner in part.items():
            yield from _slot_names(f"{name}_{key}", inner)


def _signature(
    dialect: Dialect, parameters: dict[str, Any], names: list[str], leaves: list[Any]
) -> _Signature:
    """The signature of parameters whose slots have these values."""
    keys = [
        (isinstance(leaf, Variable), _tensor_spec(leaf)) if isinstance(leaf, Tensor) else type(leaf)
        for leaf in leaves
    ]
    key = (dialect, ops.redeclarations, *map(_static_key, parameters.items()), *keys)
    numbers = tuple([n for n, leaf in enumerate(leaves) if not isinstance(leaf, Tensor)])
    arrays = tuple([n for n, leaf in enumerate(leaves) if isinstance(leaf, Tensor)])
    return _Signature(key, dialect, parameters, tuple(names), numbers, arrays)


def _tensor_spec(tensor: Tensor) -> Operand:
    """The dtype and shape that a function is traced for."""
    return array_operand(tensor.dtype, tensor.shape, is_weak=tensor.weak_type)


# Traces with number arguments: they stay arguments, unless the function reads their values.

_Trace = Callable[[Sequence[Any]], Graph]


@dataclass(frozen=True, slots=True, eq=False)
class _Variant:
    """A graph, and the constants in it that are computed from number arguments. The graph itself
    has the values that they had when it was traced."""

    graph: Graph
    numbers: Numbers
    read: frozenset[int]  # the numbers whose values the function reads


def _number_variant(traced: _Trace, numbers: Sequence[Scalar], read: frozenset[int]) -> _Variant:
    """The graph that `traced` gives for numbers, some of which the function is known to read.

    A trace in which it reads others is made again with their values. So is one that fails, because
    not everything that takes a number takes a stand-in.
    """
    while True:
        arguments = Arguments()
        given = [
            n if place in read else TracedNumber(n, arguments, frozenset({place}))
            for place, n in enumerate(numbers)
        ]
        is_plain = len(read) == len(numbers)
        try:
            graph = traced(given)
        except Exception:
            if is_plain:
                raise
            read |= arguments.read or {*range(len(numbers))}
            continue
        finally:
            arguments.is_open = False
        # A number in the options of a node cannot change from call to call.
        options = [node.options for node in (graph.traced or graph).nodes]
        inside = [leaf for leaf in option_leaves(options) if type(leaf) is TracedNumber]
        found = arguments.read.union(*[number.places for number in inside])
        if not found:
            settled, nodes = _settled(graph)
            return _Variant(settled, Numbers(len(numbers), nodes), read)
        read |= found


def _settled(graph: Graph) -> tuple[Graph, Mapping[Node, TracedNumber]]:
    """The graph with the values of its numbers, and the constants that they are in."""
    numbers: dict[Node, TracedNumber] = {}

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        made = replace(node, inputs=inputs)
        if type(node.value) is not TracedNumber:
            return made
        made = replace(made, value=node.value.traced_value)
        numbers[made] = node.value
        return made

    if all(type(node.value) is not TracedNumber for node in graph.nodes):
        return graph, {}
    original = graph.traced and rebuilt(graph.traced, remade)
    numbers.clear()
    return replace(rebuilt(graph, remade), traced=original), numbers
