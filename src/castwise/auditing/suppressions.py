"""Which findings count: those that are not expected, that neither a comment nor a baseline accepts,
and that are large enough; and which of them make a run fail."""

from __future__ import annotations

import functools
import io
import json
import linecache
import os
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from castwise.auditing.origins import Audit, DtypeOrigin, worst_first
from castwise.auditing.records import DIFFERS, LOST, Finding, SourcePlace
from castwise.auditing.sections import CompiledFinding, LostValues
from castwise.auditing.source import text_at
from castwise.engine.decision import HAZARDS
from castwise.errors import UsageError, did_you_mean

# The words that comments and options may name.

WORDS = (*HAZARDS, LOST, DIFFERS)
ANY = "any"  # every hazard, and what has none


def hazards_named(
    texts: Iterable[str], option: str = "--fail-on", beside: Sequence[str] = (ANY,)
) -> tuple[str, ...]:
    """The hazards that texts such as `widens,loses-precision` name; `any` stands for every finding.
    `beside` are the words that an option takes beside them.

    Raises UsageError for an unknown one.
    """
    named = [word.strip() for text in texts for word in text.split(",") if word.strip()]
    for word in named:
        if word not in (*WORDS, *beside):
            known = f"Hazards: {'; or '.join([', '.join(HAZARDS), *beside])}."
            hint = did_you_mean(word, [*WORDS, *beside])
            raise UsageError(f"{option}: there is no hazard {word!r}.{hint} {known}")
    return tuple(named)


# A file of known findings, so that only new ones count. Lines may move without being new.

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


def write_baseline(findings: Iterable[Finding], file: Path) -> None:
    """Writes findings to a baseline file."""
    directory = file.absolute().parent
    places: dict[Known, set[SourcePlace]] = {}
    for finding in findings:
        places.setdefault(known_as(finding, directory), set()).add(finding.place)
    entries = [{**key._asdict(), "places": len(found)} for key, found in sorted(places.items())]
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
        known = {}
        for entry in data["findings"]:
            texts = (entry["file"], entry["code"], entry["op"])
            finding = Known(*texts, tuple(entry["operands"]), entry["result"])
            known[finding] = int(entry["places"])
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


# Comments that accept findings: `# castwise: ignore` and `# castwise: ignore[widens]`.

_COMMENT = re.compile(r"#\s*castwise:\s*ignore(?:\[([^\]]*)\])?")


class _Comment(NamedTuple):
    """What one comment accepts."""

    hazards: frozenset[str]
    unknown: tuple[str, ...] = ()  # words in its brackets that are not hazards


def _hazards_left(
    finding: Finding, origin: SourcePlace, everywhere: Iterable[str]
) -> tuple[str, ...] | None:
    """The hazards that no comment at a finding or its origin accepts, and that are not accepted
    everywhere; None if the finding is accepted.

    A cast that widens to float64 is also not-on-device: accepting the first accepts the second.
    """
    comments = [*_comments_at(finding.place), *_comments_at(origin)]
    accepted = set(everywhere).union(*(comment.hazards for comment in comments))
    left = tuple(hazard for hazard in finding.hazards if hazard not in accepted)
    is_rest = "widens" in accepted and left == ("not-on-device",)
    is_accepted = any(comment.hazards.issuperset(HAZARDS) for comment in comments)
    if is_accepted or is_rest or (finding.hazards and not left):
        return None
    return left


def _accepts(word: str, place: SourcePlace) -> bool:
    """Whether a comment on the lines of a place accepts a hazard, or one of the other words."""
    return any(word in comment.hazards for comment in _comments_at(place))


def _comments_at(place: SourcePlace) -> list[_Comment]:
    """The comments on the lines of a place."""
    found = _comments_in("".join(linecache.getlines(place.file)))
    return [found[n] for n in range(place.line, place.end_line + 1) if n in found]


def _remarks(file: str) -> Iterator[str]:
    """A remark on each comment in a file that names an unknown hazard."""
    for line, comment in _comments_in("".join(linecache.getlines(file))).items():
        for word in comment.unknown:
            hint = did_you_mean(word, WORDS)
            yield f"{file}:{line}: castwise: ignore[{word}] names no hazard.{hint}"


@functools.lru_cache(maxsize=256)
def _comments_in(source: str) -> dict[int, _Comment]:
    """All comments for castwise in a source, by line."""
    if "castwise:" not in source:
        return {}
    found = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and (match := _COMMENT.match(token.string)):
                found[token.start[0]] = _parse_comment(match[1])
    except (tokenize.TokenError, SyntaxError):
        pass  # keep what was read so far
    return found


def _parse_comment(words: str | None) -> _Comment:
    """What a comment accepts that has these words in its brackets; `words` is None without any."""
    if words is None:
        return _Comment(frozenset(WORDS))
    named = [word.strip() for word in words.split(",") if word.strip()]
    known = frozenset(word for word in named if word in WORDS)
    return _Comment(known, tuple(word for word in named if word not in known))


# An audit without what is suppressed.


def without_ignored(audit: Audit, hazards: Sequence[str] = ()) -> Audit:
    """The audit without the findings and hazards that comments accept, or that are accepted
    everywhere."""

    def kept(finding: Finding, origin: DtypeOrigin) -> Finding | None:
        left = _hazards_left(finding, origin.place, hazards)
        return None if left is None else replace(finding, hazards=left)

    files = {
        place.file for o in audit.origins for place in (o.place, *(f.place for f in o.findings))
    }
    remarks = tuple(remark for file in sorted(files) for remark in _remarks(file))
    filtered = _filtered(audit, kept)
    if audit.losses:
        seen = () if LOST in hazards else audit.losses
        left = tuple(loss for loss in seen if not _accepts(LOST, loss.place))
        filtered = replace(filtered, losses=left)
    filtered = _without_accepted_compilations(filtered, hazards)
    ignored = _findings_removed(audit, filtered)
    return replace(filtered, ignored=ignored, ignored_hazards=tuple(hazards), remarks=remarks)


def _without_accepted_compilations(audit: Audit, hazards: Sequence[str]) -> Audit:
    compared = audit.sections.compared
    if compared is None:
        return audit
    seen = () if DIFFERS in hazards else compared.findings
    left = tuple(finding for finding in seen if not _accepts(DIFFERS, finding.place))
    sections = replace(audit.sections, compared=replace(compared, findings=left))
    return replace(audit, sections=sections)


def without_allowed(audit: Audit) -> Audit:
    """The audit without hazards that were allowed where they occurred, for example by a test's
    marker."""

    def kept(finding: Finding, _: DtypeOrigin) -> Finding | None:
        allowed = finding.operation.event.allowed
        left = tuple([h for h in finding.hazards if h not in allowed])
        is_gone = ANY in allowed or (allowed and not left)
        return None if is_gone else replace(finding, hazards=left)

    return _filtered(audit, kept)


def without_expected(audit: Audit, hazards: Sequence[str] = ()) -> Audit:
    """The audit with the findings apart that are expected, except those with a hazard that is asked
    for by name."""

    def is_apart(finding: Finding) -> bool:
        return finding.is_expected and not set(hazards) & set(finding.hazards)

    listed = _filtered(audit, lambda finding, _: None if is_apart(finding) else finding)
    apart = _filtered(audit, lambda finding, _: finding if is_apart(finding) else None)
    return replace(listed, expected=apart.origins)


def without_known(audit: Audit, baseline: Baseline) -> Audit:
    """The audit without the findings in a baseline."""
    known = {id(finding) for finding in baseline.knows(audit.findings)}
    filtered = _filtered(audit, lambda finding, _: None if id(finding) in known else finding)
    return replace(filtered, baselined=_findings_removed(audit, filtered))


def without_small(audit: Audit, least: int) -> Audit:
    """The audit without the findings whose results take less than so many bytes."""
    filtered = _filtered(audit, lambda finding, _: finding if finding.size >= least else None)
    return replace(filtered, hidden=_findings_removed(audit, filtered), least_size=least)


def _filtered(audit: Audit, kept: Callable[[Finding, DtypeOrigin], Finding | None]) -> Audit:
    origins = []
    for origin in audit.origins:
        found = [new for finding in origin.findings if (new := kept(finding, origin))]
        if found:
            origins.append(replace(origin, findings=tuple(found)))
    return replace(audit, origins=worst_first(origins, audit.target))


def _findings_removed(audit: Audit, filtered: Audit) -> int:
    return len(audit.findings) - len(filtered.findings)


# What makes a run fail.


def failing(audit: Audit, hazards: Sequence[str]) -> list[Finding]:
    """The findings that have one of these hazards. `any` counts those that are not expected."""
    return [
        finding
        for finding in audit.findings
        if (ANY in hazards and not finding.is_expected) or set(hazards) & set(finding.hazards)
    ]


def failing_losses(audit: Audit, hazards: Sequence[str]) -> tuple[LostValues, ...]:
    """The lost values, if they count as one of these hazards."""
    return (audit.losses or ()) if {ANY, LOST} & set(hazards) else ()


def failing_compilations(audit: Audit, hazards: Sequence[str]) -> tuple[CompiledFinding, ...]:
    """What compiled functions give otherwise, if it counts as one of these hazards."""
    compared = audit.sections.compared
    return compared.findings if compared and {ANY, DIFFERS} & set(hazards) else ()
