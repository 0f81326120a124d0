"""The event log as records, as JSON and on disk: how a program's processes report what they have
seen."""

from __future__ import annotations

import functools
import json
import os
import platform
import resource
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

from castwise.auditing.arrays import ARRAYS, NUMBERS, Numbers, Signature, hooks_seen
from castwise.auditing.calls import AnyCallee, InsideCallee
from castwise.auditing.log import (
    DIGESTS,
    FILES,
    INCLUDED,
    LOG,
    PLAIN,
    SITES,
    UNOBSERVED,
    EventKey,
    Log,
    Tally,
)
from castwise.auditing.records import (
    Beyond,
    Counts,
    Crash,
    CrashedOperation,
    Event,
    LocatedSite,
    Options,
    RunFacts,
    Seen,
    SeenArray,
    SeenCall,
    SeenInside,
    SeenList,
    SeenLoss,
    SeenNumber,
    SeenOperand,
    Site,
    SourceEdit,
    UnobservedFunction,
    arrays_in,
)
from castwise.auditing.rewriting import SITES_PER_FILE
from castwise.errors import UsageError
from castwise.version import __version__
from castwise.vocab.dtypes import CANONICAL
from castwise.vocab.live import loaded_name, to_dtype

# Converts a log to records, to be judged or saved.


def seen_in(log: Log) -> Seen:
    """Everything in a log."""
    for complete in log.before_report:
        complete()
    events = [tallied_event(key, tally) for key, tally in list(log.events.items())]
    attempts = [tallied_event(key, tally) for key, tally in list(log.attempts.items())]
    marks = {event.mark for event in (*events, *attempts)} | {*log.quieted, *log.late}
    crashed = [operation.event for operation in log.crash.operations] if log.crash else []
    operands = [o for event in (*events, *attempts, *crashed) for o in event.operands]
    autocast = log.autocast
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
    unobserved = [UnobservedFunction(file, *one) for file in UNOBSERVED for one in UNOBSERVED[file]]
    unobserved += [_text(mark, runs) for mark, runs in list(log.texts.items())]
    return Seen(
        events=tuple(event for event in events if event.inside is None),
        inside=tuple(event for event in events if event.inside is not None),
        attempts=tuple(attempts),
        losses=tuple(losses),
        sites={mark: site_at(mark) for mark in sorted(marks - {0})},
        files=tuple(sorted(FILES.values())),
        unobserved=tuple(unobserved),
        counts=Counts(
            sum(list(PLAIN.values())), len(log.quieted), sum(log.late.values()), dict(log.failures)
        ),
        facts=RunFacts(
            running_frameworks(),
            _versions(),
            log.is_deep,
            peak_memory=_peak_memory(),
            checks_values=log.checks_values,
            used_gpu=any(h.inside.used_gpu() for h in hooks_seen() if h.inside.used_gpu),
            included=tuple(sorted(INCLUDED)),
            compares=log.compares,
        ),
        digests=dict(DIGESTS),
        crashes=() if log.crash is None else (log.crash,),
        beyond=beyond,
    )


def _text(mark: int, runs: int) -> UnobservedFunction:
    """Code that was compiled while the program ran."""
    site = site_at(mark)
    times = f"{runs:,} times" if runs > 1 else "once"
    return UnobservedFunction(site.file, site.line, site.site.name, f"ran code from text {times}")


def tallied_event(key: EventKey, tally: Tally) -> Event:
    """The event of an operation, from its key and its tally."""
    mark, callee, operands, flags, result = key
    placed = enumerate(zip(operands, tally.shapes, strict=True))
    seen = tuple([_operand(o, shape, tally.extremes.get(place)) for place, (o, shape) in placed])
    made = _array(Signature(*result[:5]), tally.result, None) if isinstance(result, tuple) else None
    call = None if callee is None else _call(callee, result, flags)
    inside = None
    if isinstance(callee, InsideCallee):
        inside = SeenInside(callee.backward_of, callee.autocast, callee.spot)
    alive = tally.alive.peak if tally.alive else 0
    return Event(mark, seen, tally.count, tally.elements, made, call, inside, alive=alive,
                 seconds=tally.seconds)  # fmt: skip


def _call(callee: AnyCallee, result: Any, flags: tuple[Any, ...]) -> SeenCall:
    given, is_complete, hides, positional, *keywords = flags
    kind = result[5:] if isinstance(result, tuple) else (result,)
    returned = kind[0].__name__ if kind and kind[0] else ""  # if it is not an array itself
    return SeenCall(callee.module, callee.name, callee.is_method, given is not None,
                    _given_name(given), is_complete, positional, tuple(keywords), hides,
                    returned)  # fmt: skip


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
    found: list[SeenList | SeenNumber] = []
    for value in values:
        kind, known = type(value).__name__, None if type(value) is complex else value
        is_row = isinstance(value, tuple)
        found.append(_numbers(kind, value) if is_row else SeenNumber(kind, known, known))
    return SeenList(tuple(found or [SeenNumber(kind, None, None)]))


def _array(signature: Signature, shape: Any, extremes: Any) -> SeenArray:
    kind, dtype, is_zero_d, is_weak, maker = signature
    low, high = extremes or (None, None)
    found = ARRAYS[kind]
    own_names = found.hook.arrays.own_names
    sizes = None if shape is None else tuple([int(size) for size in shape])
    return SeenArray(found.hook.framework, dtype_name(dtype), is_zero_d, found.is_scalar,
                     found.is_traced, bool(is_weak), maker, sizes, low, high,
                     own_names(dtype) if own_names else ())  # fmt: skip


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


def site_at(mark: int) -> LocatedSite:
    """The site of a mark."""
    return LocatedSite(FILES[mark // SITES_PER_FILE * SITES_PER_FILE], SITES[mark])


def running_frameworks() -> dict[str, str]:
    """The version and mode of each framework whose arrays were seen, as a dialect is named.

    Which recorded dialect answers for it is decided after the program: rules take time to load.
    """
    return {hook.framework: loaded_name(hook.rules) for hook in hooks_seen() if hook.rules}


def _versions() -> dict[str, str]:
    found = {"castwise": __version__, "python": platform.python_version()}
    for hook in hooks_seen():
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


# Converts records to JSON and back: the event log, and the options for a program's processes.
#
# A record becomes an object with its fields, a short tuple such as a CodeSpot a list. Saved logs
# are on users' disks, so what is called or arranged otherwise there than in the records stays so.

Json: TypeAlias = "dict[str, Any]"

_KEYS: dict[type, dict[str, str]] = {  # what the log calls a field, if not as the record does
    SeenNumber: {"kind": "python"},
    SeenList: {"elements": "list"},
    SeenArray: {"is_zero_d": "zero_d", "is_scalar": "scalar", "is_traced": "traced",
                "is_weak": "weak"},
    SeenCall: {"is_method": "method", "gives_dtype": "dtype_given", "is_complete": "complete"},
    CrashedOperation: {"located": "site"},
    Crash: {"is_about_dtypes": "about_dtypes"},
}  # fmt: skip
_LAST = ("losses", "checks_values", "used_gpu", "compares", "included", "digests", "beyond",
         "crashes")  # fmt: skip
_LEFT_OUT: dict[type, set[str]] = {  # fields that the log leaves out if they are empty
    SeenArray: {"names"},
    SeenCall: {"hides", "returns"},
    Event: {"call", "inside", "allowed", "alive", "seconds"},
    RunFacts: {*_LAST},
    Seen: {*_LAST},
}
_NOTHING_BEYOND = Beyond()
_CALLEE = ("module", "name", "method")  # the keys of a call that stand in an object of their own


def seen_to_json(seen: Seen) -> Json:
    """What was seen as a JSON object."""
    data = _record_to_json(seen)
    counts, facts = data.pop("counts"), data.pop("facts")
    data = {**data, "is_deep": facts.pop("is_deep"), **counts, **facts}
    last = {name: data.pop(name) for name in _LAST if name in data}
    return {**data, **last}


def seen_from_json(data: Json) -> Seen:
    """What seen_to_json wrote.

    Raises KeyError, TypeError or ValueError if it is something else.
    """
    for name in ("events", "sites", "files", "plain", "running"):
        data[name]  # every log has these
    seen: Seen = _from_json(Seen, {**data, "counts": data, "facts": data})
    return seen


_PLAIN = frozenset({str, int, float, bool, type(None)})


def _to_json(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is LocatedSite:
        return {"file": value.file, **_to_json(value.site._asdict())}
    if isinstance(value, (list, tuple)):
        return [_to_json(element) for element in value]
    if is_dataclass(kind):
        return _record_to_json(value)
    if kind is dict:
        return {str(key): _to_json(element) for key, element in value.items()}
    return {"complex": str(value)} if kind is complex else value  # JSON has no complex numbers


def _record_to_json(record: Any) -> Json:
    kind: Any = type(record)
    data: Json = {}
    for name, key, _, is_left_out in _fields(kind):
        value = getattr(record, name)
        if is_left_out and (not value or value == _NOTHING_BEYOND):
            continue
        if type(value) is SeenCall:
            call = _record_to_json(value)
            data |= {"callee": {part: call.pop(part) for part in _CALLEE}, **call}
        else:
            data[key] = _to_json(value)
    return data


def _from_json(kind: Any, data: Any) -> Any:
    """A value of a type from what _to_json made of it."""
    if type(data) in _PLAIN:
        return data
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if isinstance(data, list):
        if hasattr(kinds[0], "_fields"):
            return kinds[0](*data)
        element, _ = get_args(kinds[0])  # of tuple[element, ...]
        return tuple([_from_json(element, part) for part in data])
    if complex in kinds:
        return complex(data["complex"])
    if len(kinds) > 1:  # the first key of each of these types of records is its own
        kinds = tuple([k for k in kinds if k is not NoneType and _fields(k)[0][1] in data])
    return _object_from_json(kinds[0], data)


def _object_from_json(kind: Any, data: Json) -> Any:
    if get_origin(kind) is dict:
        key_kind, value_kind = get_args(kind)
        return {key_kind(key): _from_json(value_kind, value) for key, value in data.items()}
    if kind is LocatedSite:
        return LocatedSite(data["file"], _object_from_json(Site, data))
    if kind is Event and "callee" in data:
        data = {**data, "call": {**data, **data["callee"]}}
    given = {name: _from_json(k, data[key]) for name, key, k, _ in _fields(kind) if key in data}
    return kind(**given)


@functools.cache
def _fields(kind: Any) -> list[tuple[str, str, Any, bool]]:
    """The fields of a type of record: what the record and the log call it, its type, and whether
    the log leaves it out if it is empty."""
    keys, left_out = _KEYS.get(kind, {}), _LEFT_OUT.get(kind, ())
    hints = get_type_hints(kind)
    return [(name, keys.get(name, name), hints[name], name in left_out) for name in hints]


def options_to_json(options: Options, script: str) -> Json:
    """How a program is audited, and its script, as a JSON object."""
    return {**asdict(options), "script": script}


def options_from_json(data: Json) -> tuple[Options, str]:
    """What options_to_json wrote."""
    edits = data["edits"] or {}
    options: Options = _object_from_json(Options, {**data, "edits": None})
    placed = {file: [SourceEdit(*edit) for edit in edits[file]] for file in edits}
    return replace(options, edits=placed), data["script"]


def save(directory: Path) -> None:
    """Writes what this process has seen to its own file, atomically."""
    place = directory / f"{os.getpid()}.json"
    unfinished = place.with_suffix(".part")
    unfinished.write_text(json.dumps(seen_to_json(seen_in(LOG))), encoding="utf-8")
    os.replace(unfinished, place)


def load(directory: Path) -> Seen:
    """What all processes of a program have seen, merged."""
    return merge_seen([load_process(place) for place in sorted(directory.glob("*.json"))])


def load_process(place: Path) -> Seen:
    """What one process has seen, from the file that save wrote."""
    return seen_from_json(json.loads(place.read_text(encoding="utf-8")))


def merge_seen(parts: Iterable[Seen]) -> Seen:
    """Merges what several processes have seen."""
    parts = list(parts)
    counts, facts = [part.counts for part in parts], [part.facts for part in parts]
    digests: dict[str, str] = {}
    for file, digest in [item for part in parts for item in part.digests.items()]:
        is_same = digests.get(file, digest) == digest  # else processes read two versions of it
        digests[file] = digest if is_same else ""
    return Seen(
        **_joined(parts, "events", "inside", "attempts", "losses", "crashes"),
        sites={mark: site for part in parts for mark, site in part.sites.items()},
        files=tuple(dict.fromkeys(file for part in parts for file in part.files)),
        unobserved=tuple(dict.fromkeys(u for part in parts for u in part.unobserved)),
        counts=Counts(
            sum(part.plain for part in counts),
            sum(part.quiet for part in counts),
            sum(part.late for part in counts),
            dict(sum((Counter(part.failures) for part in counts), Counter())),
        ),
        facts=RunFacts(
            {name: found for part in facts for name, found in part.running.items()},
            {name: version for part in facts for name, version in part.versions.items()},
            any(part.is_deep for part in facts),
            sum(part.processes for part in facts),
            max((part.peak_memory for part in facts), default=0),
            any(part.checks_values for part in facts),
            any(part.used_gpu for part in facts),
            tuple(sorted({name for part in facts for name in part.included})),
            any(part.compares for part in facts),
        ),
        digests=digests,
        beyond=Beyond(**_joined([part.beyond for part in parts], *get_type_hints(Beyond))),
    )


def _joined(records: Iterable[Any], *names: str) -> dict[str, tuple[Any, ...]]:
    """The named fields of several records, one after another."""
    return {name: tuple(o for record in records for o in getattr(record, name)) for name in names}


_FORMAT = "castwise seen 2"  # identifies a saved file


def save_file(seen: Seen, place: Path) -> None:
    """Writes what was seen to a file, for `castwise port` to read."""
    text = json.dumps({"format": _FORMAT, **seen_to_json(seen)})
    place.write_text(text + "\n", encoding="utf-8")


def load_file(place: Path) -> Seen:
    """What was seen, from a file that save_file wrote.

    Raises UsageError if it is no such file.
    """
    try:
        data = json.loads(place.read_text(encoding="utf-8"))
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise UsageError(
            f"{place} was not written by `castwise audit --save`. The report of --json does not "
            "contain the operations that port needs."
        )
    return seen_from_json(data)
