"""Converts records to JSON and back: the event log, and the options for a program's processes.

Only this file knows the names in the event log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, TypeAlias

from castwise.auditing.records.events import (
    Counts,
    Event,
    RunFacts,
    Seen,
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
        "dialects": seen.facts.dialects,
        "versions": seen.facts.versions,
        "processes": seen.facts.processes,
        "peak_memory": seen.facts.peak_memory,
        **({"losses": [asdict(loss) for loss in seen.losses]} if seen.losses else {}),
        **({"checks_values": True} if seen.facts.checks_values else {}),
        **({"included": list(seen.facts.included)} if seen.facts.included else {}),
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
            data["dialects"],
            data["versions"],
            data["is_deep"],
            data["processes"],
            data["peak_memory"],
            data.get("checks_values", False),
            tuple(data.get("included", ())),
        ),
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
    if inside is not None:
        data["inside"] = {
            "backward_of": inside.backward_of,
            "autocast": inside.autocast,
            "spot": inside.spot,
        }
    if event.allowed:
        data["allowed"] = list(event.allowed)
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
