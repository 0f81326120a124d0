"""The event log as records, as JSON and on disk: how a program's processes report what they have
seen."""

from __future__ import annotations

import functools
import json
import os
import platform
import resource
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from castwise import __version__
from castwise.auditing.arrays import ARRAYS, NUMBERS, Numbers, Signature
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
    AutocastOp,
    Beyond,
    CodeSpot,
    ComparedCompilation,
    Compilation,
    CompiledDifference,
    Counts,
    Crash,
    CrashedOperation,
    EnforcedDialect,
    Event,
    HeldState,
    Literal,
    LocatedSite,
    Options,
    RepeatedCast,
    RunFacts,
    Seen,
    SeenArgument,
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
    merge_beyond,
)
from castwise.auditing.rewriting import SITES_PER_FILE
from castwise.errors import UsageError
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
        sites={mark: site_at(mark) for mark in sorted(marks - {0})},
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
    site = site_at(mark)
    times = f"{runs:,} times" if runs > 1 else "once"
    return UnobservedFunction(site.file, site.line, site.site.name, f"ran code from text {times}")


def tallied_event(key: EventKey, tally: Tally) -> Event:
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
        SeenInside(callee.backward_of, callee.autocast, callee.spot)
        if isinstance(callee, InsideCallee)
        else None,
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


def site_at(mark: int) -> LocatedSite:
    """The site of a mark."""
    return LocatedSite(FILES[mark // SITES_PER_FILE * SITES_PER_FILE], SITES[mark])


def running_frameworks() -> dict[str, str]:
    """The version and mode of each framework whose arrays were seen, as a dialect is named.

    Which recorded dialect answers for it is decided after the program: rules take time to load.
    """
    hooks = {found.hook for found in ARRAYS.values()}
    return {hook.framework: loaded_name(hook.rules) for hook in hooks if hook.rules}


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


# Converts records to JSON and back: the event log, and the options for a program's processes.
#
# Only this file knows the names in the event log.

Json: TypeAlias = "dict[str, Any]"


def seen_to_json(seen: Seen) -> Json:
    """What was seen as a JSON object."""
    return {
        "events": [_event_to_json(event) for event in seen.events],
        "inside": [_event_to_json(event) for event in seen.inside],
        "attempts": [_event_to_json(event) for event in seen.attempts],
        "sites": {str(mark): _site_to_json(site) for mark, site in seen.sites.items()},
        "files": list(seen.files),
        "unobserved": [[u.file, u.line, u.name, u.why] for u in seen.unobserved],
        "is_deep": seen.facts.is_deep,
        "plain": seen.counts.plain,
        "quiet": seen.counts.quiet,
        "late": seen.counts.late,
        "failures": seen.counts.failures,
        "running": seen.facts.running,
        "versions": seen.facts.versions,
        "processes": seen.facts.processes,
        "peak_memory": seen.facts.peak_memory,
        **({"losses": [asdict(loss) for loss in seen.losses]} if seen.losses else {}),
        **({"checks_values": True} if seen.facts.checks_values else {}),
        **({"used_gpu": True} if seen.facts.used_gpu else {}),
        **({"compares": True} if seen.facts.compares else {}),
        **({"included": list(seen.facts.included)} if seen.facts.included else {}),
        **({"digests": seen.digests} if seen.digests else {}),
        **({"beyond": asdict(seen.beyond)} if seen.beyond != _NOTHING else {}),
        **({"crashes": [_crash_to_json(c) for c in seen.crashes]} if seen.crashes else {}),
    }


def seen_from_json(data: Json) -> Seen:
    """What seen_to_json wrote.

    Raises KeyError, TypeError or ValueError if it is something else.
    """
    return Seen(
        events=_events_from_json(data["events"]),
        inside=_events_from_json(data["inside"]),
        attempts=_events_from_json(data.get("attempts", ())),
        losses=tuple(SeenLoss(**loss) for loss in data.get("losses", ())),
        sites={int(mark): _site_from_json(site) for mark, site in data["sites"].items()},
        files=tuple(data["files"]),
        unobserved=tuple(UnobservedFunction(*fields) for fields in data["unobserved"]),
        counts=Counts(data["plain"], data["quiet"], data["late"], data["failures"]),
        facts=RunFacts(
            data["running"],
            data["versions"],
            data["is_deep"],
            data["processes"],
            data["peak_memory"],
            data.get("checks_values", False),
            data.get("used_gpu", False),
            tuple(data.get("included", ())),
            data.get("compares", False),
        ),
        digests=data.get("digests", {}),
        crashes=tuple(_crash_from_json(crash) for crash in data.get("crashes", ())),
        beyond=_beyond_from_json(data.get("beyond", {})),
    )


_NOTHING = Beyond()


def _beyond_from_json(data: Json) -> Beyond:
    return Beyond(
        tuple(HeldState(**_flat(state)) for state in data.get("states", ())),
        tuple(AutocastOp(**_flat(op)) for op in data.get("autocast_ops", ())),
        tuple(RepeatedCast(**_flat(repeat)) for repeat in data.get("repeats", ())),
        tuple(_compilation_from_json(found) for found in data.get("compilations", ())),
        tuple(_compared_from_json(found) for found in data.get("compared", ())),
    )


def _compilation_from_json(data: Json) -> Compilation:
    arguments = tuple(SeenArgument(**_flat(argument)) for argument in data["arguments"])
    return Compilation(**{**data, "arguments": arguments})


def _compared_from_json(data: Json) -> ComparedCompilation:
    differences = tuple(CompiledDifference(**found) for found in data["differences"])
    return ComparedCompilation(**{**data, "differences": differences})


def _flat(data: Json) -> Json:
    """The fields of a record, with tuples, which JSON does not have."""
    return {name: tuple(v) if isinstance(v, list) else v for name, v in data.items()}


def _crash_to_json(crash: Crash) -> Json:
    operations = [
        {"event": _event_to_json(o.event), "site": _site_to_json(o.located)}
        for o in crash.operations
    ]
    return {
        "error": crash.error,
        "spot": crash.spot,
        "operations": operations,
        "inside": crash.inside,
        "about_dtypes": crash.is_about_dtypes,
    }


def _crash_from_json(data: Json) -> Crash:
    inside = data["inside"]
    return Crash(
        data["error"],
        CodeSpot(*data["spot"]),
        tuple(
            CrashedOperation(_event_from_json(o["event"]), _site_from_json(o["site"]))
            for o in data["operations"]
        ),
        None if inside is None else CodeSpot(*inside),
        data["about_dtypes"],
    )


def _events_from_json(data: Iterable[Json]) -> tuple[Event, ...]:
    return tuple(_event_from_json(event) for event in data)


def _event_to_json(event: Event) -> Json:
    data: Json = {
        "mark": event.mark,
        "operands": [_operand_to_json(operand) for operand in event.operands],
        "count": event.count,
        "elements": event.elements,
        "result": _operand_to_json(event.result),
    }
    call, inside = event.call, event.inside
    if call is not None:
        data["callee"] = {"module": call.module, "name": call.name, "method": call.is_method}
        data |= {"dtype_given": call.gives_dtype, "dtype": call.dtype}
        data["complete"] = call.is_complete
        data |= {"positional": call.positional, "keywords": list(call.keywords)}
        data |= {"hides": True} if call.hides else {}
        data |= {"returns": call.returns} if call.returns else {}
    if inside is not None:
        data["inside"] = {
            "backward_of": inside.backward_of,
            "autocast": inside.autocast,
            "spot": inside.spot,
        }
    if event.allowed:
        data["allowed"] = list(event.allowed)
    if event.alive:
        data["alive"] = event.alive
    if event.seconds:
        data["seconds"] = event.seconds
    return data


def _event_from_json(data: Json) -> Event:
    result = _operand_from_json(data["result"])
    if not isinstance(result, SeenArray | None):
        raise TypeError("a result that is not an array")
    return Event(
        data["mark"],
        tuple(_operand_from_json(operand) for operand in data["operands"]),
        data["count"],
        data["elements"],
        result,
        _call_from_json(data) if "callee" in data else None,
        _inside_from_json(data["inside"]) if "inside" in data else None,
        tuple(data.get("allowed", ())),
        data.get("alive", 0),
        data.get("seconds", 0.0),
    )


def _call_from_json(data: Json) -> SeenCall:
    callee = data["callee"]
    return SeenCall(
        callee["module"],
        callee["name"],
        callee["method"],
        data["dtype_given"],
        data["dtype"],
        data["complete"],
        data["positional"],
        tuple(data["keywords"]),
        data.get("hides", False),
        data.get("returns", ""),
    )


def _inside_from_json(data: Json) -> SeenInside:
    spot = data["spot"]
    return SeenInside(
        data["backward_of"], data["autocast"], None if spot is None else CodeSpot(*spot)
    )


def _operand_to_json(operand: SeenOperand | None) -> Json | None:
    if operand is None:
        return None
    if isinstance(operand, SeenNumber):
        return {"python": operand.kind, "low": operand.low, "high": operand.high}
    if isinstance(operand, SeenList):
        return {"list": [_operand_to_json(element) for element in operand.elements]}
    return {
        "framework": operand.framework,
        "dtype": operand.dtype,
        "zero_d": operand.is_zero_d,
        "scalar": operand.is_scalar,
        "traced": operand.is_traced,
        "weak": operand.is_weak,
        "maker": operand.maker,
        "shape": operand.shape,
        "low": operand.low,
        "high": operand.high,
        **({"names": list(operand.names)} if operand.names else {}),
    }


def _operand_from_json(data: Json | None) -> SeenOperand | None:
    if data is None:
        return None
    if "python" in data:
        return SeenNumber(data["python"], data["low"], data["high"])
    if "list" in data:
        return SeenList(tuple(_operand_from_json(element) for element in data["list"]))
    shape = data["shape"]
    return SeenArray(
        data["framework"],
        data["dtype"],
        data["zero_d"],
        data["scalar"],
        data["traced"],
        data["weak"],
        data["maker"],
        None if shape is None else tuple(shape),
        data["low"],
        data["high"],
        tuple(data.get("names", ())),
    )


def _site_to_json(located: LocatedSite) -> Json:
    site = located.site
    literals = [_literal_to_json(literal) for literal in site.literals]
    return {"file": located.file, **site._asdict(), "literals": literals}


def _site_from_json(data: Json) -> LocatedSite:
    fields = dict(data)
    file = fields.pop("file")
    fields["literals"] = tuple(_literal_from_json(literal) for literal in fields["literals"])
    return LocatedSite(file, Site(**fields))


def _literal_to_json(literal: Literal) -> Any:
    """A literal as JSON, which has no complex numbers."""
    return {"complex": str(literal)} if isinstance(literal, complex) else literal


def _literal_from_json(data: Any) -> Literal:
    return complex(data["complex"]) if isinstance(data, dict) else data


def options_to_json(options: Options, script: str) -> Json:
    """How a program is audited, and its script, as a JSON object."""
    return {**asdict(options), "script": script}


def options_from_json(data: Json) -> tuple[Options, str]:
    """What options_to_json wrote."""
    fields = dict(data)
    script = fields.pop("script")
    edits, enforce = fields["edits"] or {}, fields["enforce"]
    fields["include"] = tuple(fields["include"])
    fields["edits"] = {file: [SourceEdit(*edit) for edit in edits[file]] for file in edits}
    if enforce:
        fields["enforce"] = EnforcedDialect(**{**enforce, "allow": tuple(enforce["allow"])})
    return Options(**fields), script


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
    failures: dict[str, int] = {}
    for part in counts:
        for text, count in part.failures.items():
            failures[text] = failures.get(text, 0) + count
    return Seen(
        events=tuple(event for part in parts for event in part.events),
        inside=tuple(event for part in parts for event in part.inside),
        attempts=tuple(event for part in parts for event in part.attempts),
        losses=tuple(loss for part in parts for loss in part.losses),
        sites={mark: site for part in parts for mark, site in part.sites.items()},
        files=tuple(dict.fromkeys(file for part in parts for file in part.files)),
        unobserved=tuple(dict.fromkeys(u for part in parts for u in part.unobserved)),
        counts=Counts(
            sum(part.plain for part in counts),
            sum(part.quiet for part in counts),
            sum(part.late for part in counts),
            failures,
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
        digests=_merged_digests(parts),
        crashes=tuple(crash for part in parts for crash in part.crashes),
        beyond=merge_beyond([part.beyond for part in parts]),
    )


def _merged_digests(parts: Iterable[Seen]) -> dict[str, str]:
    """The digest of each file; an empty one if two processes read two versions of it."""
    found: dict[str, str] = {}
    for part in parts:
        for file, digest in part.digests.items():
            found[file] = digest if found.get(file, digest) == digest else ""
    return found


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
