"""What was seen as plain data: how processes hand it on, and what findings are made of."""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from castwise import __version__
from castwise.auditing.observing.arrays import ARRAYS, NUMBERS, Signature
from castwise.auditing.observing.inside import PLAIN, Inside
from castwise.auditing.observing.log import FILES, LOG, SITES, UNOBSERVED, Log, Tally
from castwise.errors import UsageError
from castwise.vocab.dtypes import CANONICAL
from castwise.vocab.live import to_dtype

Data: TypeAlias = "dict[str, Any]"


def seen_in(log: Log) -> Data:
    """All that a log has seen."""
    events = [event_of(key, tally) for key, tally in list(log.events.items())]
    attempts = [event_of(key, tally) for key, tally in list(log.attempts.items())]
    marks = {event["mark"] for event in (*events, *attempts)} | {*log.quieted, *log.late}
    marks |= {o["origin"] for event in (*events, *attempts) for o in arrays_in(event["operands"])}
    return {
        "events": [event for event in events if "inside" not in event],
        "inside": [event for event in events if "inside" in event],
        "attempts": attempts,
        "sites": {str(mark): site_of(mark) for mark in sorted(marks - {0})},
        "files": sorted(FILES.values()),
        "unobserved": [[path, *u] for path, found in UNOBSERVED.items() for u in found],
        "is_deep": log.is_deep,
        "plain": sum(list(PLAIN.values())),
        "quiet": len(log.quieted),
        "late": sum(log.late.values()),
        "failures": dict(log.failures),
        "dialects": running_dialects(),
        "versions": _versions(),
        "peak_memory": _peak_memory(),
    }


def event_of(key: tuple[Any, ...], tally: Tally) -> Data:
    """An operation as data."""
    mark, callee, operands, flags, result = key
    described = [
        _operand(operand, shape, tally.extremes.get(place))
        for place, (operand, shape) in enumerate(zip(operands, tally.shapes, strict=True))
    ]
    event: Data = {"mark": mark, "operands": described, "count": tally.count,
                   "elements": tally.elements}  # fmt: skip
    event["result"] = None if result is None else _operand(Signature(*result), tally.result, None)
    if callee is not None:
        event["callee"] = {"module": callee.module, "name": callee.name, "method": callee.is_method}
        given, is_complete, positional, *keywords = flags
        event |= {"dtype_given": given is not None, "dtype": _given_name(given)}
        event["complete"] = is_complete
        event |= {"positional": positional, "keywords": keywords}
    if isinstance(callee, Inside):
        event["inside"] = {"backward_of": callee.backward_of, "autocast": callee.autocast,
                           "spot": callee.spot}  # fmt: skip
    return event


def _operand(key: Any, shape: Any, extremes: Any) -> Data | None:
    """An operand as data: an array, a Python number, a list of them, or None."""
    if isinstance(key, type):
        if key not in NUMBERS:
            return None
        return {"python": key.__name__, "low": _low(extremes), "high": _high(extremes)}
    if not isinstance(key, Signature):
        return {"list": [_operand(k, s, None) for k, s in zip(key, shape, strict=True)]}
    kind, dtype, is_zero_d, is_weak, origin = key
    found = ARRAYS[kind]
    return {
        "framework": found.hook.framework,
        "dtype": _dtype_name(dtype),
        "zero_d": is_zero_d,
        "scalar": found.is_scalar,
        "traced": found.is_traced,
        "weak": bool(is_weak),
        "origin": origin,
        "shape": None if shape is None else [int(size) for size in shape],
        "low": _low(extremes),
        "high": _high(extremes),
    }


def _low(extremes: Any) -> Any:
    return None if extremes is None else extremes[0]


def _high(extremes: Any) -> Any:
    return None if extremes is None else extremes[1]


def _dtype_name(dtype: Any) -> str | None:
    """castwise's name of a live dtype; None for one it does not know, such as text."""
    try:
        return to_dtype(dtype).name
    except UsageError:
        return None


def _given_name(given: Any) -> str | None:
    """castwise's name of what was given as a dtype; None where nothing was, or where it is for the
    framework to say what it means, as `"i8"` or `float`."""
    if isinstance(given, str):
        return given if given in CANONICAL else None
    return None if given is None else _dtype_name(given)


def arrays_in(operands: list[Any]) -> list[Data]:
    """The arrays among operands, those in lists included."""
    flat: list[Data] = []
    for operand in operands:
        if operand and "list" in operand:
            flat += arrays_in(operand["list"])
        elif operand and "dtype" in operand:
            flat.append(operand)
    return flat


def site_of(mark: int) -> Data:
    """Where an operation stands, as data."""
    site = SITES[mark]
    return {"file": FILES[mark >> 20 << 20], **site._asdict()}


def running_dialects() -> dict[str, str]:
    """The dialect of each framework whose arrays have been met."""
    hooks = {found.hook for found in ARRAYS.values()}
    return {hook.framework: hook.dialect() for hook in hooks if hook.dialect}


def _versions() -> dict[str, str]:
    found = {"castwise": __version__, "python": platform.python_version()}
    for hook in {kind.hook for kind in ARRAYS.values()}:
        module = sys.modules.get(hook.framework)
        found[hook.framework] = str(getattr(module, "__version__", "unknown"))
    return found


def _peak_memory() -> int:
    """The most memory this process has held, in bytes."""
    try:  # where the kernel tells it of this program alone: ru_maxrss begins with the parent's
        status = Path("/proc/self/status").read_text(encoding="ascii")
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return held if sys.platform == "darwin" else held * 1024


def save(directory: Path) -> None:
    """Writes what this process has seen to its own file, whole or not at all."""
    place = directory / f"{os.getpid()}.json"
    beside = place.with_suffix(".part")
    beside.write_text(json.dumps(seen_in(LOG)), encoding="utf-8")
    os.replace(beside, place)


def load(directory: Path) -> Data:
    """What all processes of a program have seen, put together."""
    places = sorted(directory.glob("*.json"))
    return put_together([json.loads(place.read_text(encoding="utf-8")) for place in places])


def put_together(parts: Iterable[Data]) -> Data:
    """What several processes have seen, as one."""
    whole: Data = {"events": [], "inside": [], "attempts": [], "sites": {}, "files": [],
                   "unobserved": [], "is_deep": False, "plain": 0, "quiet": 0, "late": 0,
                   "failures": {}, "dialects": {}, "versions": {}, "processes": 0,
                   "peak_memory": 0}  # fmt: skip
    for part in parts:
        whole["processes"] += 1
        whole["peak_memory"] = max(whole["peak_memory"], part["peak_memory"])
        for name in ("events", "inside", "attempts"):
            whole[name] += part[name]
        whole["is_deep"] |= part["is_deep"]
        for name in ("sites", "dialects", "versions"):
            whole[name].update(part[name])
        for name in ("files", "unobserved"):
            whole[name] += [entry for entry in part[name] if entry not in whole[name]]
        for name in ("plain", "quiet", "late"):
            whole[name] += part[name]
        for text, count in part["failures"].items():
            whole["failures"][text] = whole["failures"].get(text, 0) + count
    return whole


_FORMAT = "castwise seen 1"  # what a saved file says it is


def save_file(seen: Data, place: Path) -> None:
    """Writes what was seen to a file, for `castwise port` to read."""
    text = json.dumps({"format": _FORMAT, **seen})
    place.write_text(text + "\n", encoding="utf-8")


def load_file(place: Path) -> Data:
    """What was seen, from a file that save_file wrote.

    Raises UsageError where it is no such file.
    """
    try:
        seen = json.loads(place.read_text(encoding="utf-8"))
    except ValueError:
        seen = None
    if not isinstance(seen, dict) or seen.get("format") != _FORMAT:
        raise UsageError(
            f"{place} is no file of `castwise audit --save`. The report of --json is for people "
            "and tools; port needs what was seen."
        )
    return seen
