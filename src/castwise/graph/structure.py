"""Takes arrays out of lists, tuples and dicts, and puts them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Slot:
    """A placeholder for one array in a structure, by its number."""

    number: int


def sequence_like(sequence: Any, parts: list[Any]) -> Any:
    """A list, tuple or named tuple like another, with other parts."""
    kind = type(sequence)
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def filled(structure: Any, arrays: Sequence[Any]) -> Any:
    """A structure with arrays in its slots.

    >>> filled({"a": [Slot(1), None], "b": Slot(0)}, ["x", "y"])
    {'a': ['y', None], 'b': 'x'}
    """
    if isinstance(structure, Slot):
        return arrays[structure.number]
    if isinstance(structure, (list, tuple)):
        return sequence_like(structure, [filled(part, arrays) for part in structure])
    if isinstance(structure, dict):
        return {key: filled(part, arrays) for key, part in structure.items()}
    return structure


def slots_in(structure: Any) -> list[int]:
    """The numbers of the slots in a structure."""
    if isinstance(structure, Slot):
        return [structure.number]
    parts = structure.values() if isinstance(structure, dict) else structure or ()
    return [number for part in parts for number in slots_in(part)]
