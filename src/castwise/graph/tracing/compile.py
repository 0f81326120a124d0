"""compile: traces a function once per signature, then runs it as a graph."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any, TypeVar, cast

from castwise.execute import fast_path, tracing
from castwise.execute.calling.operands import common_dialect
from castwise.execute.tensor import Tensor
from castwise.execute.variable import Variable
from castwise.graph.graph import Graph
from castwise.graph.passes.simplify import simplify
from castwise.graph.running.number_steps import OtherNumbersError
from castwise.graph.running.ready import Ready
from castwise.graph.running.state import is_as_traced
from castwise.graph.structure import filled
from castwise.graph.tracing.calls import (
    NUMBERS,
    Call,
    Signature,
    bound,
    read,
    signature_of,
    spec_of,
)
from castwise.graph.tracing.trace import trace
from castwise.graph.tracing.with_numbers import Variant, traced
from castwise.rules.default import of_process, to_dialect
from castwise.rules.dialect import Dialect

F = TypeVar("F", bound=Callable[..., Any])
_MOST_GRAPHS = 256  # per function; the oldest is dropped
_MOST_CALLS = 1024  # forms of calls per function
_NO_NUMBERS: tuple[Any, ...] = ()


class _Reads:
    """The numbers whose values a function reads, in calls of one signature."""

    __slots__ = ("places",)

    def __init__(self) -> None:
        self.places: frozenset[int] = frozenset()


class _Known:
    """A form of calls that came before, and the graphs that are ready for it."""

    __slots__ = ("call", "key", "reads", "ready", "signature")

    def __init__(
        self, key: tuple[object, ...] | None, call: Call, signature: Signature, reads: _Reads
    ) -> None:
        self.key = key  # None: not only tensors and numbers, or in another order
        self.call, self.signature, self.reads = call, signature, reads
        self.ready: dict[tuple[object, ...], list[Ready]] = {}  # by what depends on numbers


class Compiled:
    """A function that runs as a graph, one per signature of its arguments."""

    def __init__(self, fn: Callable[..., Any], dialect: str | Dialect | None) -> None:
        functools.update_wrapper(self, fn)
        self._fn, self._dialect = fn, dialect
        self._parameters = inspect.signature(fn)
        self._lock = threading.Lock()
        self._known: dict[tuple[object, ...], _Known] = {}
        # Of calls with tensors and numbers alone, in the order of the parameters: a function of
        # their arrays and numbers, which gives NotImplemented if it is not for these numbers.
        self._direct: dict[tuple[object, ...], Callable[[list[Any]], Any]] = {}
        self._variants: dict[tuple[object, ...], list[Variant]] = {}
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
        key: list[object] = [fast_path.context(), *of_process]
        given = []
        for argument in arguments:  # most calls: tensors and numbers, in a form that came before
            kind = type(argument)
            if kind is Tensor:
                array = argument._array
                given.append(array)
                key.append(argument._kind)
                key.append(array.shape)
            elif kind in NUMBERS:
                given.append(argument)
                key.append(kind)
            else:
                break
        else:
            run = None if keywords else self._direct.get(tuple(key))
            if run is not None and not (tracing.running or fast_path.blocks):
                found = run(given)
                if found is not NotImplemented:
                    return found
        return self._called(arguments, keywords)

    def _called(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The result for any arguments."""
        key: list[object] = [fast_path.context(), *of_process]
        leaves: list[Any] = []
        for argument in arguments:
            read(argument, key, leaves)
        for name, argument in keywords.items():
            key.append(name)
            read(argument, key, leaves)
        known = self._known.get(tuple(key))
        if known is None:
            known = self._new_form(tuple(key), arguments, keywords)
        return self._run(known, known.call.arranged(leaves))

    def _new_form(
        self, key: tuple[object, ...], arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> _Known:
        call, parameters, names, leaves = bound(self._parameters, arguments, keywords)
        kinds = [leaf._kind for leaf in leaves if isinstance(leaf, Tensor)]
        dialect = common_dialect(kinds) if self._dialect is None else to_dialect(self._dialect)
        is_plain = all(type(a) is Tensor or type(a) in NUMBERS for a in arguments)
        own_key = key if is_plain and not keywords and call.order is None else None
        signature = signature_of(dialect, parameters, names, leaves)
        known = _Known(own_key, call, signature, self._reads.setdefault(signature.key, _Reads()))
        with self._lock:
            if len(self._known) >= _MOST_CALLS:
                for table in (self._known, self._direct, self._reads):
                    table.clear()
            self._known[key] = known
        return known

    def _run(self, known: _Known, leaves: list[Any]) -> Any:
        """The result for arrays and numbers in the order of the parameters."""
        signature, tensors = known.signature, leaves
        numbers, key = _NO_NUMBERS, _NO_NUMBERS
        if signature.numbers:
            key = signature.number_key(leaves, known.reads.places)
            numbers = tuple([leaves[n] for n in signature.numbers])
            tensors = [leaves[n] for n in signature.arrays]
        for ready in known.ready.get(key, ()):
            try:
                return ready.run(tensors, numbers)
            except OtherNumbersError:
                continue
        return self._run_new(known, leaves, tensors, numbers)

    def _run_new(
        self, known: _Known, leaves: list[Any], tensors: list[Tensor], numbers: tuple[Any, ...]
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
        variant = traced(functools.partial(self._trace, signature, leaves), numbers, seen)
        if variant.read != seen:
            self._forget(signature)
            known.reads.places = variant.read
            key = signature.number_key(leaves, variant.read)
        self._keep((signature.key, key), variant)
        ready = Ready(variant.graph, tensors, variant.numbers)
        known.ready.setdefault(key, []).append(ready)
        self._make_direct(known, ready)
        return ready.run(tensors, numbers)

    def _make_direct(self, known: _Known, ready: Ready) -> None:
        """Lets the next calls of a form find a graph at once, if they need nothing else."""
        key = known.key
        if key is not None and self._known.get(key) is known and ready.of_list is not None:
            run = self._by_numbers(known) if known.signature.numbers else ready.of_list
            self._direct[key] = run

    def _by_numbers(self, known: _Known) -> Callable[[list[Any]], Any]:
        """A function of the arrays and numbers of calls of one form."""
        signature, reads = known.signature, known.reads
        order = (*signature.arrays, *signature.numbers)

        def run(given: list[Any]) -> Any:
            for ready in known.ready.get(signature.number_key(given, reads.places), ()):
                try:
                    if ready.of_list is not None:
                        return ready.of_list([given[n] for n in order])
                except OtherNumbersError:
                    continue
            return NotImplemented

        return run

    def _forget(self, signature: Signature) -> None:
        """Drops the graphs of a signature, because the function reads more of its numbers."""
        with self._lock:
            for key in [key for key in self._variants if key[0] == signature.key]:
                del self._variants[key]

    def _keep(self, key: tuple[object, ...], variant: Variant) -> None:
        with self._lock:
            while sum(map(len, self._variants.values())) >= _MOST_GRAPHS:
                del self._variants[next(iter(self._variants))]
                self._direct.clear()
                for known in self._known.values():
                    known.ready.clear()
            self._variants.setdefault(key, []).append(variant)

    def _trace(self, signature: Signature, leaves: list[Any], numbers: Sequence[Any]) -> Graph:
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
        specs = {n: t if isinstance(t, Variable) else spec_of(t) for n, t in specs.items()}
        return simplify(trace(called, dialect=signature.dialect, **specs)).graph


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
