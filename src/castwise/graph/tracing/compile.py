"""compile: traces a function once per signature, then runs it as a graph."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Hashable
from types import MethodType
from typing import Any, TypeVar, cast

from castwise.execute.calling.operands import common_dialect
from castwise.execute.tensor import Tensor, asarray
from castwise.execute.variable import Variable
from castwise.graph.graph import Graph
from castwise.graph.passes.simplify import simplify
from castwise.graph.running.run import run_program
from castwise.graph.running.state import is_as_traced
from castwise.graph.structure import Slot, filled, sequence_like
from castwise.graph.tracing.trace import trace
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.vocab.operands import Operand, array_operand

F = TypeVar("F", bound=Callable[..., Any])
_MOST_GRAPHS = 256  # per function; the oldest is dropped
_NUMBERS = (bool, int, float, complex)


class Compiled:
    """A function that runs as a graph, one per signature of its arguments."""

    def __init__(self, fn: Callable[..., Any], dialect: str | Dialect | None) -> None:
        functools.update_wrapper(self, fn)
        self._fn, self._dialect = fn, dialect
        self._signature = inspect.signature(fn)
        self._lock = threading.Lock()
        self.graphs: dict[tuple[object, ...], Graph] = {}

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """The function itself, or bound as a method of an object."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<compiled {getattr(self._fn, '__qualname__', self._fn)}>"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        bound = self._signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        arrays: dict[str, Tensor] = {}
        given = {name: _split(name, value, arrays) for name, value in bound.arguments.items()}
        tensors = list(arrays.values())
        dialect = self._dialect_of(tensors)
        key = (dialect, *map(_static_key, given.items()), *map(_array_key, tensors))
        graph = self.graphs.get(key)
        if graph is None or not is_as_traced(graph):
            graph = self._traced(given, arrays, dialect)
            self._keep(key, graph)
        return run_program(graph, tensors)

    def _dialect_of(self, tensors: list[Tensor]) -> Dialect:
        if self._dialect is not None:
            return to_dialect(self._dialect)
        return common_dialect([tensor._kind for tensor in tensors])

    def _keep(self, key: tuple[object, ...], graph: Graph) -> None:
        with self._lock:
            if len(self.graphs) >= _MOST_GRAPHS:
                del self.graphs[next(iter(self.graphs))]
            self.graphs[key] = graph

    def _traced(self, given: dict[str, Any], arrays: dict[str, Tensor], dialect: Dialect) -> Graph:
        """The simplified graph of the function for one signature."""

        def called(**tensors: Tensor) -> Any:
            made = list(tensors.values())
            arguments = {name: filled(part, made) for name, part in given.items()}
            bound = inspect.BoundArguments(self._signature, arguments)
            return self._fn(*bound.args, **bound.kwargs)

        called.__name__ = getattr(self._fn, "__name__", "compiled")
        called.__wrapped__ = self._fn  # type: ignore[attr-defined]  # where state has its names
        specs = {
            name: tensor if isinstance(tensor, Variable) else _spec(tensor)
            for name, tensor in arrays.items()
        }
        return simplify(trace(called, dialect=dialect, **specs)).graph


def compile(fn: F | None = None, *, dialect: str | Dialect | None = None) -> F:
    """Makes a function run as its simplified graph, traced once per signature.

    Arrays may belong to any backend, and may be inside lists, tuples and dicts. All other arguments
    are part of the signature. Each call reads and writes variables, and other tensors that the
    function writes to. Anything else that the function reads, for example from `self`, keeps the
    value it had when the signature was traced.

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


def _split(name: str, value: Any, arrays: dict[str, Tensor]) -> Any:
    """An argument with its arrays moved to `arrays`, each under its own name."""
    if isinstance(value, Tensor) or (hasattr(value, "dtype") and hasattr(value, "shape")):
        arrays[name] = value if isinstance(value, Variable) else asarray(value)
        return Slot(len(arrays) - 1)
    if isinstance(value, (list, tuple)):
        parts = [_split(f"{name}_{n}", part, arrays) for n, part in enumerate(value)]
        return sequence_like(value, parts)
    if isinstance(value, dict):
        return {key: _split(f"{name}_{key}", part, arrays) for key, part in value.items()}
    return value


def _static_key(part: Any) -> object:
    """An argument's part of the signature; numbers as text, because 0.0 and -0.0 are equal."""
    if isinstance(part, (list, tuple)):
        return (type(part), *map(_static_key, part))
    if isinstance(part, dict):
        return (dict, *map(_static_key, part.items()))
    if isinstance(part, _NUMBERS):
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


def _array_key(tensor: Tensor) -> object:
    """An array's part of the signature."""
    return (isinstance(tensor, Variable), _spec(tensor))


def _spec(tensor: Tensor) -> Operand:
    return array_operand(tensor.dtype, tensor.shape, is_weak=tensor.weak_type)
