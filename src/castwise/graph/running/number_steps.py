"""Number arguments in a plan: arithmetic with them, their classes, and their arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from castwise.execute.backend import Backend
from castwise.execute.functions.lookup import Function
from castwise.execute.numbers import TracedNumber
from castwise.graph.program import Node, in_order
from castwise.graph.running.nodes import in_node_dtype
from castwise.vocab.operands import Scalar, value_class


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The number arguments of a program: how many, and which constants are computed from them."""

    count: int
    nodes: Mapping[Node, TracedNumber]


class OtherNumbersError(Exception):
    """Raised by a plan for numbers that need another trace."""


def with_parts(number: TracedNumber) -> list[TracedNumber]:
    """A number and all that it is computed from, each after its own parts."""
    return in_order([number], lambda n: [part for part in n.inputs if type(part) is TracedNumber])


def arithmetic(function: Function) -> Function:
    """A function of numbers. Where it raises, so does the function that was traced, perhaps only to
    go on: another trace is needed."""

    def computed(*numbers: Scalar) -> Any:
        try:
            return function(*numbers)
        except Exception as error:
            raise OtherNumbersError from error

    return computed


def checker(number: TracedNumber) -> Function:
    """A function that gives a number unchanged, if decisions about it are those of the trace."""
    expected = value_class(number.traced_value)

    def checked(value: Scalar) -> Scalar:
        if value_class(value) != expected:
            raise OtherNumbersError
        return value

    return checked


def number_maker(node: Node, backend: Backend) -> Function:
    """A function that makes the array of a constant from its number."""
    return lambda value: in_node_dtype(backend.number(value, node.dtype), node, backend)


def operand_maker(node: Node, backend: Backend, *, keeps: bool) -> Function:
    """A function that makes what the backend computes with from a number, for a constant that is
    nothing but an operand. With `keeps` it makes it once while the same number comes."""
    make, target = backend.number, node.dtype
    if not keeps:
        return lambda value: make(value, target)
    last: tuple[Any, Any] = (object(), None)

    def made(value: Scalar) -> Any:
        nonlocal last
        number, kept = last
        is_same = type(number) is float is type(value) and number == value != 0  # not -0.0 for 0.0
        if not is_same and number is not value:
            kept = make(value, target)
            last = (value, kept)
        return kept

    return made
