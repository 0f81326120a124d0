"""Which function of a framework computes each op.

The `aliases` in a framework's data file list its names for the ops; a recorder says in which
of the framework's modules to look, and what it calls otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, NamedTuple

from castwise.conformance.calls import of_sequence
from castwise.conformance.grid import JOINS, OPS
from castwise.vocab.ops import LAYERS

Rooms = Mapping[str, Any]  # modules, or a class with methods, by the name a program has for them


class FoundFunction(NamedTuple):
    """A function, and how a program writes it."""

    path: str  # such as jax.nn.relu
    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


def found_functions(
    rooms: Rooms, aliases: Mapping[str, str], instead: Mapping[str, str] | None = None
) -> dict[str, FoundFunction]:
    """The function of each op that a framework has, in the first room that has one by castwise's
    name of the op or by an alias. `instead` names the path of another. A layer must be named
    there, since no two frameworks call it alike.

    >>> import math, operator
    >>> rooms = {"math": math, "operator": operator}
    >>> found = found_functions(rooms, {"neg": "minus", "abs": "absolute fabs"}, {"exp": "math.e"})
    >>> [found[op].path for op in ("pow", "neg", "abs", "exp")]
    ['math.pow', 'operator.neg', 'math.fabs', 'math.e']

    An op of which the framework has the name for another op is not found by it.

    >>> "sqrt" in found_functions(rooms, {"pow": "power sqrt"})
    False
    """
    framework_names = {name for names in aliases.values() for name in names.split()}
    found = {}
    for op in OPS:
        path = (instead or {}).get(op) or (
            None if op in framework_names or op in LAYERS else _path(rooms, aliases, op)
        )
        function = None if path is None else _at(rooms, path)
        if path is not None and function is not None:
            found[op] = FoundFunction(path, function)
    return found


def called_with_operands(found: Mapping[str, FoundFunction]) -> dict[str, Callable[..., Any]]:
    """The functions as they are called: with the operands, those too that take a sequence."""
    return {
        op: of_sequence(each.function) if op in JOINS else each.function
        for op, each in found.items()
    }


def _path(rooms: Rooms, aliases: Mapping[str, str], op: str) -> str | None:
    names = (op, *aliases.get(op, "").split())
    paths = (f"{room}.{name}" for room in rooms for name in names if hasattr(rooms[room], name))
    return next(paths, None)


def _at(rooms: Rooms, path: str) -> Any:
    """What a path leads to; None where an older version does not have it."""
    room, _, name = path.rpartition(".")
    if room in rooms:
        return getattr(rooms[room], name, None)
    root, *parts = path.split(".")
    return reduce(lambda found, part: getattr(found, part, None), parts, rooms[root])
