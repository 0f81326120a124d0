"""Runs a document's example in every way: on each backend that is installed, eager and traced."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import castwise as cw

BACKENDS = [name for name in ("numpy", "torch") if importlib.util.find_spec(name)]


@dataclass(frozen=True)
class Way:
    """A backend, and whether a function runs op by op or as a graph."""

    backend: str
    is_traced: bool

    def __str__(self) -> str:
        return f"{self.backend}-{'traced' if self.is_traced else 'eager'}"

    def tensor(self, data: Any, dtype: str | None = None, *, dialect: str) -> cw.Tensor:
        """A tensor of a dialect on the backend."""
        return cw.asarray(data, dtype=dtype, dialect=dialect, backend=self.backend)

    def variable(self, data: Any, dtype: str | None = None, *, dialect: str) -> cw.Variable:
        """A variable of a dialect on the backend."""
        return cw.Variable(data, dtype=dtype, dialect=dialect, backend=self.backend)

    def run(self, fn: Callable[..., Any], *operands: Any, dialect: str) -> Any:
        """What a function gives for tensors and Python numbers, eager or as a graph."""
        if not self.is_traced:
            with cw.use(dialect):
                return fn(*operands)
        graph = cw.trace(fn, *operands, dialect=dialect)
        arrays = [operand for operand in operands if isinstance(operand, cw.Tensor)]
        return graph(*arrays, backend=self.backend)


WAYS = [Way(backend, is_traced) for backend in BACKENDS for is_traced in (False, True)]
