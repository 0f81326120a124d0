"""Converts a log to records, to be judged or saved."""

from __future__ import annotations

import functools
import platform
import resource
import sys
from pathlib import Path
from typing import Any

from castwise import __version__
from castwise.auditing.noting.arrays import ARRAYS, NUMBERS, Numbers, Signature
from castwise.auditing.noting.callees import AnyCallee, InsideCallee
from castwise.auditing.noting.inside import PLAIN
from castwise.auditing.noting.log import (
    DIGESTS,
    FILES,
    INCLUDED,
    SITES,
    UNOBSERVED,
    EventKey,
    Log,
    Tally,
)
from castwise.auditing.records.beyond import Beyond
from castwise.auditing.records.events import (
    Event,
    SeenArray,
    SeenCall,
    SeenInside,
    SeenList,
    SeenNumber,
    SeenOperand,
    arrays_in,
)
from castwise.auditing.records.losses import SeenLoss
from castwise.auditing.records.places import LocatedSite, UnobservedFunction
from castwise.auditing.records.seen import Counts, RunFacts, Seen
from castwise.auditing.rewriting.marks import SITES_PER_FILE
from castwise.errors import UsageError
from castwise.loaded.state import name_of_loaded
from castwise.vocab.dtypes import CANONICAL
from castwise.vocab.live import to_dtype


def seen_in(log: Log) -> Seen:
    """Everything in a log."""
    for complete in log.before_report:
        complete()
    events = [event_of(key, tally) for key, tally in list(log.events.items())]
    attempts = [event_of(key, tally) for key, tally in list(log.attempts.items())]
    marks = {event.mark for event in (*events, *attempts)} | {*log.quieted, *log.late}
    crashed = [operation.event for operation in log.crash.operations] if log.crash else []
    operands = [o for event in (*events, *attempts, *crashed) for o in event.operands]
    autocast = log.autocast
    hooks = {found.hook for found in list(ARRAYS.values())}
    beyond = Beyond(
        tuple(log.states.values()),
        autocast.records if autocast else (),
        autocast.repeats if autocast else (),
        tuple(found for calls in list(log.compilations.values()) for found in calls),
        tuple(log.compared),
    )
    losses = [
        SeenLoss(mark, what, how, *found) for (mark, what, how), found in list(log.losses.items())
    ]
    marks |= {loss.mark for loss in losses}
    marks |= {a.maker for a in arrays_in(operands)} | beyond.marks
    return Seen(
        events=tuple(event for event in events if event.inside is None),
        inside=tuple(event for event in events if event.inside is not None),
        attempts=tuple(attempts),
        losses=tuple(losses),
        sites={mark: site_of(mark) for mark in sorted(marks - {0})},
        files=tuple(sorted(FILES.values())),
        unobserved=tuple(
            UnobservedFunction(path, *function)
            for path, functions in UNOBSERVED.items()
            for function in functions
        )
        + tuple(_text(mark, runs) for mark, runs in list(log.texts.items())),
        counts=Counts(
            sum(list(PLAIN.values())), len(log.quieted), sum(log.late.values()), dict(log.failures)
        ),
        facts=RunFacts(
            running_frameworks(),
            _versions(),
            log.is_deep,
            peak_memory=_peak_memory(),
            checks_values=log.checks_values,
            used_gpu=any(hook.inside.used_gpu() for hook in hooks if hook.inside.used_gpu),
            included=tuple(sorted(INCLUDED)),
            compares=log.compares,
        ),
        digests=dict(DIGESTS),
        crashes=() if log.crash is None else (log.crash,),
        beyond=beyond,
    )


def _text(mark: int, runs: int) -> UnobservedFunction:
    """Code that was compiled while the program ran."""
    site = site_of(mark)
    times = f"{runs:,} times" if runs > 1 else "once"
    return UnobservedFunction(site.file, site.line, site.site.name, f"ran code from text {times}")


def event_of(key: EventKey, tally: Tally) -> Event:
    """The event of an operation, from its key and its tally."""
    mark, callee, operands, flags, result = key
    return Event(
        mark,
        tuple(
            _operand(operand, shape, tally.extremes.get(place))
            for place, (operand, shape) in enumerate(zip(operands, tally.shapes, strict=True))
        ),
        tally.count,
        tally.elements,
        _array(Signature(*result[:5]), tally.result, None) if isinstance(result, tuple) else None,
        None if callee is None else _call(callee, result, *flags),
        _inside(callee) if isinstance(callee, InsideCallee) else None,
        alive=tally.alive.peak if tally.alive else 0,
        seconds=tally.seconds,
    )


def _call(
    callee: AnyCallee,
    result: Any,
    given: Any,
    is_complete: bool,
    hides: bool,
    positional: int,
    *keywords: str,
) -> SeenCall:
    return SeenCall(
        callee.module,
        callee.name,
        callee.is_method,
        given is not None,
        _given_name(given),
        is_complete,
        positional,
        keywords,
        hides,
        _returned(result),
    )


def _returned(result: Any) -> str:
    """The type of a result that is not an array itself."""
    kind = result[5:] if isinstance(result, tuple) else (result,)
    return kind[0].__name__ if kind and kind[0] else ""


def _inside(callee: InsideCallee) -> SeenInside:
    return SeenInside(callee.backward_of, callee.autocast, callee.spot)


def _operand(key: Any, shape: Any, extremes: Any) -> SeenOperand | None:
    """An array, a Python number, a list of them, or None."""
    if isinstance(key, type):
        return SeenNumber(key.__name__, *(extremes or (None, None))) if key in NUMBERS else None
    if isinstance(key, Signature):
        return _array(key, shape, extremes)
    if isinstance(key, Numbers):
        return _numbers(key.kind, shape)
    return SeenList(tuple(_operand(k, s, None) for k, s in zip(key, shape, strict=True)))


def _numbers(kind: str, values: Any) -> SeenList:
    """A list of Python numbers, as in the first run."""
    if not values:
        return SeenList((SeenNumber(kind, None, None),))
    return SeenList(
        tuple(_numbers(type(v).__name__, v) if isinstance(v, tuple) else _number(v) for v in values)
    )


def _number(value: Any) -> SeenNumber:
    kind = type(value).__name__
    return SeenNumber(kind, None, None) if kind == "complex" else SeenNumber(kind, value, value)


def _array(signature: Signature, shape: Any, extremes: Any) -> SeenArray:
    kind, dtype, is_zero_d, is_weak, maker = signature
    low, high = extremes or (None, None)
    found = ARRAYS[kind]
    return SeenArray(
        found.hook.framework,
        dtype_name(dtype),
        is_zero_d,
        found.is_scalar,
        found.is_traced,
        bool(is_weak),
        maker,
        None if shape is None else tuple([int(size) for size in shape]),
        low,
        high,
        found.hook.arrays.own_names(dtype) if found.hook.arrays.own_names else (),
    )


@functools.lru_cache(maxsize=256, typed=True)
def dtype_name(dtype: Any) -> str | None:
    """castwise's name of a live dtype; None for an unknown one, such as text."""
    try:
        return to_dtype(dtype).name
    except UsageError:
        return None


def _given_name(given: Any) -> str | None:
    """castwise's name of the value of dtype=; None if there was none, or if only the framework
    knows what it means, such as `"i8"` or `float`."""
    if isinstance(given, str):
        return given if given in CANONICAL else None
    return None if given is None else dtype_name(given)


def site_of(mark: int) -> LocatedSite:
    """The site of a mark."""
    return LocatedSite(FILES[mark // SITES_PER_FILE * SITES_PER_FILE], SITES[mark])


def running_frameworks() -> dict[str, str]:
    """The version and mode of each framework whose arrays were seen, as a dialect is named.

    Which recorded dialect answers for it is decided after the program: rules take time to load.
    """
    hooks = {found.hook for found in ARRAYS.values()}
    return {hook.framework: name_of_loaded(hook.rules) for hook in hooks if hook.rules}


def _versions() -> dict[str, str]:
    found = {"castwise": __version__, "python": platform.python_version()}
    for hook in {kind.hook for kind in ARRAYS.values()}:
        name = hook.framework.partition(".")[0]
        found[name] = str(getattr(sys.modules.get(name), "__version__", "unknown"))
    return found


def _peak_memory() -> int:
    """The most memory this process has held, in bytes."""
    try:  # the kernel's figure for this program alone: ru_maxrss starts with the parent's
        status = Path("/proc/self/status").read_text(encoding="ascii")
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return held if sys.platform == "darwin" else held * 1024
