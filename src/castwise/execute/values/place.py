"""Place: the backend, op, dtype and rules that a value rule depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Protocol, runtime_checkable

from castwise.execute.backend import Backend, constant
from castwise.execute.functions.lookup import function_for
from castwise.execute.values.casting import own_values
from castwise.rules.values import Values
from castwise.vocab.dtypes import DType


@runtime_checkable
class TakesAlarms(Protocol):
    """A backend that writes a program, and leaves elements that would raise to another one."""

    def alarm(self, condition: Any) -> None:
        """Makes the program's results not count if a condition holds for any element."""


@dataclass(frozen=True)
class Place:
    """Where a function computes: on which backend, in which dtype, under which rules."""

    backend: Backend
    op: str
    compute: DType
    values: Values

    @property
    def own(self) -> Values:
        """The backend's own rules."""
        return own_values(self.backend)

    def differs(self, *fields: str) -> bool:
        """Whether the dialect and the backend disagree about a rule such as "casting.truth"."""
        return any(attrgetter(f)(self.values) != attrgetter(f)(self.own) for f in fields)

    def number(self, value: int | float) -> Any:
        return self.backend.number(value, self.compute)

    def constant(self, value: int | float) -> Callable[[Any], Any]:
        """A function that returns the number to compute with an array, for repeated use."""
        return constant(self.backend, value, self.compute)

    def do(self, op: str, *arrays: Any) -> Any:
        """Another op in the same dtype."""
        return function_for(self.backend, op, self.compute)(*arrays)

    def choose(self, condition: Any, x: Any, y: Any) -> Any:
        """x where the condition holds, y elsewhere."""
        return function_for(self.backend, "where", self.compute)(condition, x, y)

    def has_any(self, condition: Any) -> bool:
        """Whether a condition holds for any element; False if values cannot be read."""
        if isinstance(self.backend, TakesAlarms):
            self.backend.alarm(condition)
            return False
        return self.backend.is_concrete(condition) and bool(condition.any())
