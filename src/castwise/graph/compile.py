"""compile: a function that is traced once for each signature and then runs as a graph."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from castwise.execute.tensor import Tensor, asarray
from castwise.frameworks.catalog import to_dialect
from castwise.frameworks.dialect import Dialect
from castwise.graph.ir import Graph
from castwise.graph.run import run_graph
from castwise.graph.simplify import simplify
from castwise.graph.trace import trace
from castwise.vocab.operands import Operand, array_operand

F = TypeVar("F", bound=Callable[..., Any])
_NUMBERS = (bool, int, float, complex)


class Compiled:
    """A function that runs as a graph, one for each signature of its arguments."""

    def __init__(self, fn: Callable[..., Any], dialect: str | Dialect | None) -> None:
        functools.update_wrapper(self, fn)
        self._fn, self._dialect = fn, dialect
        self.graphs: dict[tuple[object, ...], Graph] = {}

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        given = _bound(self._fn, arguments, keywords)
        tensors = [None if _is_static(value) else asarray(value) for value in given.values()]
        dialect = self._dialect_of([t for t in tensors if t is not None])
        specs = [
            value if tensor is None else _spec(tensor)
            for value, tensor in zip(given.values(), tensors, strict=True)
        ]
        key = (dialect, *[s if isinstance(s, Operand) else (type(s), repr(s)) for s in specs])
        graph = self.graphs.get(key)
        if graph is None:
            graph = self.graphs[key] = self._traced(given, specs, dialect)
        return run_graph(graph, [tensor for tensor in tensors if tensor is not None])

    def _dialect_of(self, tensors: list[Tensor]) -> Dialect:
        own = next((t._kind.dialect for t in tensors if t._kind.dialect), None)
        return to_dialect(self._dialect) if self._dialect else own or to_dialect(None)

    def _traced(self, given: dict[str, Any], specs: list[Any], dialect: Dialect) -> Graph:
        """The simplified graph of the function for one signature."""
        places = [n for n, spec in enumerate(specs) if spec is not list(given.values())[n]]
        names = [list(given)[n] for n in places]

        def called(*tensors: Tensor) -> Any:
            return self._fn(**{**given, **dict(zip(names, tensors, strict=True))})

        called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        )
        called.__name__ = self.__name__ = getattr(self._fn, "__name__", "compiled")
        return simplify(trace(called, *[specs[n] for n in places], dialect=dialect)).graph


def compile(fn: F | None = None, *, dialect: str | Dialect | None = None) -> F:
    """Makes a function run as its simplified graph, traced once a signature.

    Arrays may be of any backend; numbers, strings and None are part of the signature.

    >>> @compile(dialect="torch")
    ... def scaled(x, factor):
    ...     return x * factor
    >>> scaled(asarray([1, 2], dtype="int32"), 0.5)
    Tensor([0.5, 1. ], dtype=float32, dialect=torch, backend=numpy)

    Raises what trace does, when a signature is new.
    """
    if fn is None:
        return cast(F, functools.partial(compile, dialect=dialect))
    return cast(F, Compiled(fn, dialect))


def _bound(
    fn: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> dict[str, Any]:
    """The arguments by the names of their parameters."""
    bound = inspect.signature(fn).bind(*arguments, **keywords)
    bound.apply_defaults()
    return dict(bound.arguments)


def _is_static(value: Any) -> bool:
    """Whether a value is part of the signature, and no array."""
    return value is None or (isinstance(value, (str, *_NUMBERS)) and not hasattr(value, "dtype"))


def _spec(tensor: Tensor) -> Any:
    return array_operand(tensor.dtype, tensor.shape, is_weak=tensor.weak_type)
