"""`x.at[i].set(value)`, in dialects whose framework's arrays never change: a new tensor, in which
the elements at an index are other ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from castwise.arrays.apply import update
from castwise.arrays.elements import assign
from castwise.arrays.kinds import TensorData
from castwise.arrays.own_functions import run_by_itself, runs_itself
from castwise.errors import UsageError

if TYPE_CHECKING:
    from castwise.arrays.tensor import Tensor


class At:
    """What `x.at` gives: it waits for an index."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: TensorData) -> None:
        self._tensor = tensor

    def __getitem__(self, key: Any) -> AtIndex:
        return AtIndex(self._tensor, key)


def _updating(name: str, op: str) -> Callable[..., Tensor]:
    def method(self: AtIndex, value: Any) -> Tensor:
        return self._updated(name, op, value)

    method.__name__ = name
    method.__doc__ = f"A new tensor with the result of {op} at the index."
    return method


class AtIndex:
    """The elements of a tensor at an index, to be read, or to be replaced in a new tensor."""

    __slots__ = ("_key", "_tensor")

    def __init__(self, tensor: TensorData, key: Any) -> None:
        self._tensor, self._key = tensor, key

    def get(self) -> Tensor:
        """The elements at the index."""
        found: Any = self._tensor
        return found[self._key]  # type: ignore[no-any-return]

    def set(self, value: Any) -> Tensor:
        """A new tensor with a value at the index."""
        made: Any = self._tensor
        made = made.clone()
        assign(made, self._key, value)
        return made  # type: ignore[no-any-return]

    add = _updating("add", "add")
    subtract = sub = _updating("subtract", "sub")
    multiply = mul = _updating("multiply", "mul")
    divide = _updating("divide", "div")
    power = _updating("power", "pow")
    min = _updating("min", "minimum")
    max = _updating("max", "maximum")

    def apply(self, function: Callable[[Any], Any]) -> Tensor:
        """A new tensor with what a function gives for the elements at the index."""
        return self.set(function(self.get()))

    def _updated(self, name: str, op: str, value: Any) -> Tensor:
        """A new tensor with the result of an op, in place, at the index.

        Raises UsageError for an array of indices, which may name an element twice, where the
        framework itself does not hold the tensor.
        """
        x: Any = self._tensor
        if runs_itself(x.backend, (x,), {}):
            given = (x, self._key, value)
            return run_by_itself(f"at.{name}", _of_array(name), given, {})  # type: ignore[no-any-return]
        parts = self._key if isinstance(self._key, tuple) else (self._key,)
        if any(isinstance(part, list) or getattr(part, "shape", ()) for part in parts):
            raise UsageError(
                f"at[...].{name} with an array of indices adds up what meets in one element, which"
                f" {x.backend} does not: convert the tensor to its framework, or give a slice."
            )
        made = x.clone()
        part = made[self._key]
        update(op, part, value)
        assign(made, self._key, part)
        return made  # type: ignore[no-any-return]


def _of_array(name: str) -> Callable[[Any, Any, Any], Any]:
    """The library's own method, as a function of an array, an index and a value."""
    return lambda array, key, value: getattr(array.at[key], name)(value)
