"""A file of known findings, so that only new ones count. Lines may move without being new."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from castwise.auditing.records.findings import Finding
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.rewriting.source import text_at
from castwise.errors import UsageError

_FORMAT = 1
_INSTALLED = "/site-packages/"


class Known(NamedTuple):
    """What identifies a finding independent of its line."""

    file: str
    code: str
    op: str
    operands: tuple[str, ...]  # their dtypes, or the type of a Python number
    result: str


class Baseline(NamedTuple):
    """The number of places of each known finding."""

    directory: Path  # file names are relative to it
    known: dict[Known, int]

    def knows(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that are known; of identical places, the first ones."""
        by_key: dict[Known, dict[SourcePlace, list[Finding]]] = {}
        for finding in findings:
            places = by_key.setdefault(known_as(finding, self.directory), {})
            places.setdefault(finding.place, []).append(finding)
        return [
            finding
            for key, places in by_key.items()
            for place in sorted(places)[: self.known.get(key, 0)]
            for finding in places[place]
        ]


def known_as(finding: Finding, directory: Path) -> Known:
    """How a baseline in a directory names a finding."""
    return Known(
        file_named_from(finding.place.file, directory),
        " ".join(text_at(finding.place).split()),
        finding.op,
        tuple(str(operand.dtype or operand.kind) for operand in finding.operands),
        str(finding.result),
    )


def file_named_from(file: str, directory: Path) -> str:
    """A file name that is the same on other machines: relative to the directory, or to a
    package."""
    whole = Path(file).as_posix()
    if _INSTALLED in whole:
        return whole.rpartition(_INSTALLED)[2]
    near = Path(os.path.relpath(file, directory)).as_posix()
    return whole if near.startswith("../") else near


def baseline_of(findings: Iterable[Finding], directory: Path) -> Baseline:
    """The baseline of these findings."""
    places: dict[Known, set[SourcePlace]] = {}
    for finding in findings:
        places.setdefault(known_as(finding, directory), set()).add(finding.place)
    return Baseline(directory, {key: len(found) for key, found in sorted(places.items())})


def write_baseline(findings: Iterable[Finding], file: Path) -> None:
    """Writes findings to a baseline file."""
    known = baseline_of(findings, file.absolute().parent).known
    entries = [{**key._asdict(), "places": count} for key, count in known.items()]
    text = json.dumps({"castwise_baseline": _FORMAT, "findings": entries}, indent=1)
    file.write_text(f"{text}\n", encoding="utf-8")


def read_baseline(file: Path) -> Baseline:
    """The baseline in a file.

    Raises UsageError if it is not one.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if data["castwise_baseline"] != _FORMAT:
            raise ValueError(f"format {data['castwise_baseline']}")
        known = dict(_read_entry(entry) for entry in data["findings"])
    except FileNotFoundError:
        raise UsageError(
            f"there is no baseline {str(file)!r}: make it with --write-baseline {file}."
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{str(file)!r} is not a baseline castwise can read ({type(error).__name__}: {error}): "
            f"make it again with --write-baseline {file}."
        ) from None
    return Baseline(file.absolute().parent, known)


def _read_entry(entry: dict[str, Any]) -> tuple[Known, int]:
    texts = (entry["file"], entry["code"], entry["op"])
    return Known(*texts, tuple(entry["operands"]), entry["result"]), int(entry["places"])
