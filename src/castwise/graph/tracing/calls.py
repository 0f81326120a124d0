"""Calls of a compiled function: the arrays and numbers in them, and a key for the rest."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from castwise.execute.tensor import Tensor, asarray
from castwise.execute.variable import Variable
from castwise.graph.structure import Slot, filled, sequence_like
from castwise.rules.dialect import Dialect
from castwise.vocab.operands import Operand, array_operand, value_class

# Numbers of these types are arguments of the graph. A bool is not: there are only two, and a
# function may ask `flag is True`, which cannot be traced.
NUMBERS = frozenset({int, float, complex})
_ANY_NUMBER = (bool, int, float, complex)
_slot = functools.cache(Slot)


def read(value: Any, key: list[object], leaves: list[Any]) -> Any:
    """The argument with a slot for each array and number in it, which are added to `leaves`.

    All that tells two calls apart is added to `key`, except for the values of the numbers.
    """
    kind = type(value)
    if kind is Tensor:
        key += (value._kind, value._array.shape)
    elif kind in NUMBERS:
        key.append(kind)
    elif isinstance(value, Tensor) or (hasattr(value, "dtype") and hasattr(value, "shape")):
        value = value if isinstance(value, Tensor) else asarray(value)
        if type(value) is not Tensor:
            key.append(type(value))
        key += (value._kind, value._array.shape)
    elif isinstance(value, (list, tuple)):
        key += (kind, len(value))
        return sequence_like(value, [read(part, key, leaves) for part in value])
    elif isinstance(value, dict):
        key += (kind, len(value), *map(static_key, value))
        return {name: read(part, key, leaves) for name, part in value.items()}
    else:
        key.append(static_key(value))
        return value
    leaves.append(value)
    return _slot(len(leaves) - 1)


def static_key(part: Any) -> object:
    """The key of what is not traced; numbers as text, because 0.0 and -0.0 are equal."""
    if isinstance(part, (list, tuple)):
        return (type(part), *map(static_key, part))
    if isinstance(part, dict):
        return (dict, *map(static_key, part.items()))
    if isinstance(part, _ANY_NUMBER):
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
class Signature:
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
        return tuple(
            [
                _exact(leaves[slot]) if place in read else value_class(leaves[slot])
                for place, slot in enumerate(self.numbers)
            ]
        )


def _exact(number: Any) -> object:
    """A number as a key: as text where it equals another number, or not even itself."""
    return number if number == number and number and type(number) is not complex else repr(number)


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """How calls of one form fill the slots of their signature."""

    order: tuple[int, ...] | None  # None: as they come
    defaults: tuple[Any, ...]  # arrays and numbers that the call leaves out

    def arranged(self, leaves: list[Any]) -> list[Any]:
        """The arrays and numbers of a call, in the order of the parameters."""
        if self.order is None:
            return leaves
        leaves += self.defaults
        return [leaves[n] for n in self.order]


def bound(
    parameters: inspect.Signature, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Call, dict[str, Any], list[str], list[Any]]:
    """How a call fills its slots, its parameters with slots, the names of these and their values.

    Raises TypeError if the function does not take these arguments.
    """
    leaves: list[Any] = []
    placed = [read(argument, [], leaves) for argument in arguments]
    named = {name: read(argument, [], leaves) for name, argument in keywords.items()}
    given = parameters.bind(*placed, **named)
    own, count = {*given.arguments}, len(leaves)
    given.apply_defaults()
    found = {
        name: part if name in own else read(part, [], leaves)
        for name, part in given.arguments.items()
    }
    slots = [(name, n) for top, part in found.items() for name, n in _named(top, part)]
    order = tuple([n for _, n in slots])
    renumbered = {n: _slot(place) for place, n in enumerate(order)}
    is_plain = order == tuple(range(count))
    call = Call(None if is_plain else order, tuple(leaves[count:]))
    canonical = {
        name: filled(part, [renumbered[n] for n in range(len(leaves))])
        for name, part in found.items()
    }
    return call, canonical, [name for name, _ in slots], [leaves[n] for n in order]


def _named(name: str, part: Any) -> Iterator[tuple[str, int]]:
    """The slots in a parameter, each with a name of its own."""
    if isinstance(part, Slot):
        yield name, part.number
    elif isinstance(part, (list, tuple)):
        for n, inner in enumerate(part):
            yield from _named(f"{name}_{n}", inner)
    elif isinstance(part, dict):
        for key, inner in part.items():
            yield from _named(f"{name}_{key}", inner)


def signature_of(
    dialect: Dialect, parameters: dict[str, Any], names: list[str], leaves: list[Any]
) -> Signature:
    """The signature of parameters whose slots have these values."""
    keys = [
        (isinstance(leaf, Variable), spec_of(leaf)) if isinstance(leaf, Tensor) else type(leaf)
        for leaf in leaves
    ]
    return Signature(
        (dialect, *map(static_key, parameters.items()), *keys),
        dialect,
        parameters,
        tuple(names),
        tuple([n for n, leaf in enumerate(leaves) if not isinstance(leaf, Tensor)]),
        tuple([n for n, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]),
    )


def spec_of(tensor: Tensor) -> Operand:
    """The dtype and shape that a function is traced for."""
    return array_operand(tensor.dtype, tensor.shape, is_weak=tensor.weak_type)
