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


def number_maker(node: Node, backend: Backend, *, is_operand: bool) -> Function:
    """A function that makes the value of a constant from its number: what the backend computes
    with, or an array where the value is not only an operand."""
    number, target = backend.number, node.dtype
    if is_operand:
        return lambda value: number(value, target)
    return lambda value: in_node_dtype(number(value, target), node, backend)
