"""What an index picks of an array, as a dialect has it."""

from __future__ import annotations

from typing import Any

from castwise.execute.backend import TakesConstants
from castwise.execute.casting import own_values
from castwise.execute.kinds import Kind


def picked(array: Any, key: Any, kind: Kind) -> Any:
    """The elements at an index. One element is a view, or an array of its own; so are many."""
    backend, elements = kind.backend, kind.in_force.values.elements
    found = backend.read(array, key)
    parts = key if isinstance(key, tuple) else (key,)
    if found.shape or any(part is ... for part in parts):
        is_own = kind.in_force.values.slices == own_values(backend).slices
        is_own = is_own or isinstance(backend, TakesConstants)  # a graph has no memory
        return found if is_own else backend.make(found, None, copy=True, device=None)
    if elements == own_values(backend).elements:
        return found
    if elements == "views":
        kept = (*parts, ...)  # a view, where there would be a scalar
        return found if backend.owns(found) else array[kept]
    return backend.make(found, None, copy=True, device=None)
