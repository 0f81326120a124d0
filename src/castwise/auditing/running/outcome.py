"""The final array values of a program, for comparing two runs."""

from __future__ import annotations

import json
import math
import re
import types
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from castwise.auditing.observing.arrays import ARRAYS, is_array_type
from castwise.auditing.records.runs import Outcome, ValueChange

_MOST_VALUES = 100_000  # per array; a larger one is sampled evenly
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


def save_arrays(main_module: types.ModuleType, directory: Path) -> None:
    """Writes the values of the main module's arrays, for the comparing process."""
    found = {
        name: list(_values(thing))
        for name, thing in list(vars(main_module).items())
        if is_array_type(type(thing))
    }
    (directory / "arrays").write_text(json.dumps(found), encoding="utf-8")


def _values(thing: Any) -> Iterable[float]:
    hook = ARRAYS[type(thing)].hook
    values = hook.values(thing) if hook.values else ()
    step = max(1, len(values) // _MOST_VALUES)
    return array("d", values[::step]) if values else ()


def load_outcome(directory: Path, printed: str) -> Outcome:
    """The outcome of a run that reported to a directory."""
    place = directory / "arrays"
    arrays = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    return Outcome(arrays, [float(number) for number in _NUMBER.findall(printed)])


def largest_change(before: Outcome, after: Outcome) -> ValueChange | None:
    """The largest relative change of any array or printed number; None if there is nothing to
    compare."""
    changes = [
        ValueChange(_change(values, after.arrays[name]), name)
        for name, values in before.arrays.items()
        if name in after.arrays and values
    ]
    if before.printed:
        changes.append(ValueChange(_change(before.printed, after.printed), "what it prints"))
    return max(changes, default=None)


def _change(before: list[float], after: list[float]) -> float:
    if len(before) != len(after):
        return math.inf
    scale = max((abs(value) for value in before if math.isfinite(value)), default=0.0)
    moved = max((_distance(a, b) for a, b in zip(before, after, strict=True)), default=0.0)
    return moved / scale if scale else moved


def _distance(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    distance = abs(one - other)
    return math.inf if math.isnan(distance) else distance
