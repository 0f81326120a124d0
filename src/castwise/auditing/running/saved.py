"""The event log on disk: how a program's processes report what they have seen."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from castwise.auditing.noting.log import LOG
from castwise.auditing.noting.seen import seen_in
from castwise.auditing.records.as_json import seen_from_json, seen_to_json
from castwise.auditing.records.beyond import together
from castwise.auditing.records.seen import Counts, RunFacts, Seen
from castwise.errors import UsageError


def save(directory: Path) -> None:
    """Writes what this process has seen to its own file, atomically."""
    place = directory / f"{os.getpid()}.json"
    unfinished = place.with_suffix(".part")
    unfinished.write_text(json.dumps(seen_to_json(seen_in(LOG))), encoding="utf-8")
    os.replace(unfinished, place)


def load(directory: Path) -> Seen:
    """What all processes of a program have seen, merged."""
    return put_together([load_process(place) for place in sorted(directory.glob("*.json"))])


def load_process(place: Path) -> Seen:
    """What one process has seen, from the file that save wrote."""
    return seen_from_json(json.loads(place.read_text(encoding="utf-8")))


def put_together(parts: Iterable[Seen]) -> Seen:
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
        beyond=together([part.beyond for part in parts]),
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
