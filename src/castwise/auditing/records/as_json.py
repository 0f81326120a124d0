"""Converts records to JSON and back: the event log, and the options for a program's processes.

Only this file knows the names in the event log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, TypeAlias

from castwise.auditing.records.beyond import (
    AutocastOp,
    Beyond,
    ComparedCompilation,
    Compilation,
    CompiledDifference,
    HeldState,
    RepeatedCast,
    SeenArgument,
)
from castwise.auditing.records.crashes import Crash, CrashedOperation
from castwise.auditing.records.events import (
    Event,
    SeenArray,
    SeenCall,
    SeenInside,
    SeenList,
    SeenNumber,
    SeenOperand,
)
from castwise.auditing.records.losses import SeenLoss
from castwise.auditing.records.places import (
    CodeSpot,
    Literal,
    LocatedSite,
    Site,
    SourceEdit,
    UnobservedFunction,
)
from castwise.auditing.records.runs import EnforcedDialect, Options
from castwise.auditing.records.seen import Counts, RunFacts, Seen

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
