"""Names for state: the names by which the traced function refers to its tensors."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

from castwise.execute.tensor import Tensor

# How deep and how far objects are searched: enough to find a list of layers with their weights.
_DEEPEST, _MOST = 4, 4096


class Names:
    """Gives each tensor its own name: the variable, attribute or key through which the function
    reaches it, with its index in a list, or `state0` and so on."""

    def __init__(self, fn: Callable[..., Any], used: Sequence[str]) -> None:
        self._used = {*used, *_parameters(fn)}
        self._known: dict[int, str] = {}
        self._search = _reachable(fn)  # continues where the last search ended

    def _found(self, tensor: Tensor) -> str:
        while id(tensor) not in self._known:
            name, thing = next(self._search, ("", tensor))
            self._known.setdefault(id(thing), re.sub(r"\W", "_", name))
        return self._known[id(tensor)]

    def __call__(self, tensor: Tensor) -> str:
        found = self._found(tensor)
        first = [found] if found else []
        others = (f"{found}_{n}" if found else f"state{n}" for n in itertools.count())
        name = next(n for n in itertools.chain(first, others) if n not in self._used)
        self._used.add(name)
        return name


def _parameters(fn: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return []


def _reachable(fn: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The objects a function can reach besides its arguments, and their contents, nearest first."""
    layer = list(_seen_by(fn))
    met: set[int] = set()
    for _ in range(_DEEPEST):
        yield from layer
        new = [(name, thing) for name, thing in layer if id(thing) not in met]
        met.update(id(thing) for _, thing in new)
        parts = (part for name, thing in new for part in _inside(name, thing))
        layer = list(itertools.islice(parts, _MOST))


def _seen_by(fn: Any) -> Iterator[tuple[str, Any]]:
    """The object of a method, and the objects in a function's closure and its globals."""
    yield "self", getattr(fn, "__self__", fn)
    for is_unwrapped in (True, False):
        with contextlib.suppress(
            TypeError, ValueError
        ):  # not a function, or one with unset closure cells
            inner = inspect.unwrap(fn) if is_unwrapped else fn
            seen = inspect.getclosurevars(getattr(inner, "__func__", inner))
            yield from seen.nonlocals.items()
            yield from seen.globals.items()


def _inside(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """The parts of an object with their names; none is computed for this."""
    if isinstance(thing, (Tensor, ModuleType)):
        return
    if isinstance(thing, dict):
        yield from ((str(key), part) for key, part in thing.items())
    elif isinstance(thing, (list, tuple)):
        yield from ((f"{name}_{n}", part) for n, part in enumerate(thing))
    elif hasattr(thing, "__dict__"):
        yield from vars(thing).items()
        if type(thing).__module__ != "builtins":
            yield from vars(type(thing)).items()
        if callable(thing):
            yield from _seen_by(thing)
