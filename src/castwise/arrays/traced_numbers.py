"""Python numbers inside a trace: stand-ins for the numbers that a traced function is called with.

An op takes a stand-in as it takes a number, and arithmetic of stand-ins gives stand-ins, which are
computed again in each run. Anything else that is done with one reads its value. The trace notes
that, and is then only right for this value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from castwise.arrays.kinds import TensorData
from castwise.vocab.operands import Operand, Scalar, scalar_operand

_NUMBERS = (bool, int, float, complex)


class Arguments:
    """The numbers that a function is traced with, and which of them it read."""

    def __init__(self) -> None:
        self.read: set[int] = set()
        self.is_open = True  # False after the trace: a stand-in that is left over is a number


class TracedNumber:
    """A stand-in for a number: an argument, or the result of arithmetic with arguments."""

    __slots__ = ("_arguments", "_value", "function", "inputs", "places")

    def __init__(
        self, value: Scalar, arguments: Arguments, places: frozenset[int],
        function: Callable[..., Any] | None = None, inputs: tuple[Any, ...] = (),
    ) -> None:  # fmt: skip
        self._value, self._arguments = value, arguments
        self.places = places  # the arguments that it is computed from
        self.function, self.inputs = function, inputs  # None: it is an argument itself

    @property
    def operand(self) -> Operand:
        """The operand that the engine sees. A decision depends only on the class of its value."""
        return scalar_operand(self._value)

    @property
    def traced_value(self) -> Scalar:
        """The value in this trace, for what does not depend on it."""
        return self._value

    def read(self) -> Any:
        """The value, which the trace depends on from now on."""
        self._arguments.read |= self.places
        return self._value

    # isinstance(x, float) is true, but the type is another one: C code must not read the value.
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._value)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._value, name)  # without a note for what numbers do not have
        self.read()
        return found

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        import numpy as np

        return np.asarray(self.read(), *arguments)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [x.read() if type(x) is TracedNumber else x for x in inputs]
        return getattr(ufunc, method)(*plain, **options)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self._value), (self.read(),)


def _computed(function: Callable[..., Any], *inputs: Any) -> Any:
    """The result of arithmetic with stand-ins and numbers."""
    of = [x for x in inputs if type(x) is TracedNumber]
    arguments = of[0]._arguments
    values = [x._value if type(x) is TracedNumber else x for x in inputs]
    if not arguments.is_open:
        return function(*values)
    places = frozenset().union(*[x.places for x in of])
    try:
        found = function(*values)
    except Exception:  # whether it raises depends on the values
        arguments.read |= places
        raise
    return TracedNumber(found, arguments, places, function, inputs)


def _binary(function: Callable[..., Any]) -> tuple[Any, Any]:
    """The method of an operator and the reflected one."""

    def plain(first: Any, second: Any) -> Any:
        if isinstance(second, TensorData):
            return NotImplemented
        if type(second) in _NUMBERS or type(second) is TracedNumber:
            return _computed(function, first, second)
        return function(first.read(), second)

    def reflected(second: Any, first: Any) -> Any:
        if type(first) in _NUMBERS:
            return _computed(function, first, second)
        return function(first, second.read())

    return plain, reflected


def _unary(function: Callable[..., Any]) -> Any:
    return lambda self: _computed(function, self)


def _reading(name: str) -> Any:
    """A method that reads the value."""

    def method(self: Any, *arguments: Any) -> Any:
        if arguments and isinstance(arguments[0], TensorData):
            return NotImplemented
        plain = [x.read() if type(x) is TracedNumber else x for x in arguments]
        return getattr(self.read(), name)(*plain)

    return method


_READING = (
    "bool", "int", "float", "complex", "index", "hash", "str", "repr", "format", "round", "trunc",
    "floor", "ceil", "eq", "ne", "lt", "le", "gt", "ge", "divmod", "rdivmod", "and", "rand", "or",
    "ror", "xor", "rxor", "lshift", "rlshift", "rshift", "rrshift", "invert", "sizeof", "dir",
)  # fmt: skip
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _plain, _reflected = _binary(getattr(operator, _name))
    setattr(TracedNumber, f"__{_name}__", _plain)
    setattr(TracedNumber, f"__r{_name}__", _reflected)
for _name in ("neg", "pos", "abs"):
    setattr(TracedNumber, f"__{_name}__", _unary(getattr(operator, _name)))
for _name in _READING:
    setattr(TracedNumber, f"__{_name}__", _reading(f"__{_name}__"))
