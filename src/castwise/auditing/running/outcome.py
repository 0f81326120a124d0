"""What a program leaves behind at its end, for comparing two runs: the arrays and numbers that its
main module holds, directly or in lists, dictionaries and objects."""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from castwise.auditing.noting.arrays import ARRAYS, NUMBERS, is_array_type
from castwise.auditing.records.runs import FinalValues, Outcome

_MOST_VALUES = 100_000  # per array; a larger one is sampled evenly
_MOST_IN_ALL = 1_000_000
_MOST_THINGS = 10_000  # that are looked at
_DEEPEST = 8
_FILE = "arrays"
_CODE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)


def save_arrays(main_module: types.ModuleType, directory: Path) -> None:
    """Writes the final values, for the comparing process."""
    found: dict[str, tuple[list[float], bool, bool]] = {}
    left = _MOST_IN_ALL
    for name, thing in _things(main_module):
        with suppress(Exception):  # an array that cannot be read, as on a device that is gone
            values, is_exact = _values(thing)
            if values and left > 0:
                found[name] = (values, is_exact, type(thing) in NUMBERS)
                left -= len(values)
    (directory / _FILE).write_text(json.dumps(found), encoding="utf-8")


def _things(main_module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """The numbers of a module, and the arrays in it, each with the expression that names it."""
    own = [(n, thing) for n, thing in list(vars(main_module).items()) if not n.startswith("__")]
    yield from [(name, thing) for name, thing in own if type(thing) in NUMBERS]
    waiting = [(name, thing, 0) for name, thing in own]
    visited: set[int] = set()
    while waiting and len(visited) < _MOST_THINGS:
        name, thing, depth = waiting.pop(0)
        if is_array_type(type(thing)):
            yield name, thing
        elif depth < _DEEPEST and id(thing) not in visited:
            visited.add(id(thing))
            waiting += [(name + part, inner, depth + 1) for part, inner in _parts(thing)]


def _parts(thing: Any) -> Iterable[tuple[str, Any]]:
    """What a list, dictionary or object holds; no code of the program runs for it."""
    kind = type(thing)  # isinstance would ask an object that stands for another
    if issubclass(kind, _CODE) or kind in (str, bytes, *NUMBERS):
        return []
    if issubclass(kind, (list, tuple)):
        items = tuple.__iter__(thing) if issubclass(kind, tuple) else list.__iter__(thing)
        return [(f"[{place}]", inner) for place, inner in enumerate(items)]
    if issubclass(kind, dict):
        return [(f"[{k!r}]", inner) for k, inner in dict.items(thing) if type(k) in (str, int)]
    try:
        held = object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):
        return []
    return [(f".{name}", inner) for name, inner in dict.items(held)] if type(held) is dict else []


def _values(thing: Any) -> tuple[list[float], bool]:
    """The values of an array or number, and whether they are integers or bools."""
    if type(thing) in NUMBERS:
        is_complex = isinstance(thing, complex)
        values = [thing.real, thing.imag] if is_complex else [float(thing)]
        return values, isinstance(thing, int)
    hook = ARRAYS[type(thing)].hook
    values = list(hook.arrays.values(thing)) if hook.arrays.values else []
    step = max(1, len(values) // _MOST_VALUES)
    is_exact = not any(kind in str(thing.dtype) for kind in ("float", "complex"))
    return [float(value) for value in values[::step]], is_exact


def load_outcome(directory: Path, printed: str, said: str) -> Outcome:
    """The outcome of a run that reported to a directory."""
    place = directory / _FILE
    data = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    return Outcome({name: FinalValues(*fields) for name, fields in data.items()}, printed, said)
