"""Comments that accept findings: `# castwise: ignore` and `# castwise: ignore[widens]`."""

from __future__ import annotations

import functools
import io
import linecache
import re
import tokenize
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from castwise.auditing.records.beyond import DIFFERS
from castwise.auditing.records.findings import Finding
from castwise.auditing.records.losses import LOST
from castwise.auditing.records.places import SourcePlace
from castwise.engine.decision import HAZARDS
from castwise.errors import did_you_mean

WORDS = (*HAZARDS, LOST, DIFFERS)  # what comments and options may name
_COMMENT = re.compile(r"#\s*castwise:\s*ignore(?:\[([^\]]*)\])?")


class Comment(NamedTuple):
    """What one comment accepts."""

    hazards: frozenset[str]
    unknown: tuple[str, ...] = ()  # words in its brackets that are not hazards


def hazards_left(
    finding: Finding, origin: SourcePlace, everywhere: Iterable[str] = ()
) -> tuple[str, ...] | None:
    """The hazards that no comment at a finding or its origin accepts, and that are not accepted
    everywhere; None if the finding is accepted.

    A cast that widens to float64 is also not-on-device: accepting the first accepts the second.
    """
    accepted = set(everywhere)
    comments = [*comments_at(finding.place), *comments_at(origin)]
    for comment in comments:
        accepted |= comment.hazards
    left = tuple(hazard for hazard in finding.hazards if hazard not in accepted)
    is_rest = "widens" in accepted and left == ("not-on-device",)
    is_accepted = any(comment.hazards.issuperset(HAZARDS) for comment in comments)
    if is_accepted or is_rest or (finding.hazards and not left):
        return None
    return left


def accepts(word: str, place: SourcePlace) -> bool:
    """Whether a comment on the lines of a place accepts a hazard, or one of the other words."""
    return any(word in comment.hazards for comment in comments_at(place))


def comments_at(place: SourcePlace) -> list[Comment]:
    """The comments on the lines of a place."""
    found = _comments_in("".join(linecache.getlines(place.file)))
    return [found[n] for n in range(place.line, place.end_line + 1) if n in found]


def remarks_on(file: str) -> Iterator[str]:
    """A remark on each comment in a file that names an unknown hazard."""
    for line, comment in _comments_in("".join(linecache.getlines(file))).items():
        for word in comment.unknown:
            hint = did_you_mean(word, WORDS)
            yield f"{file}:{line}: castwise: ignore[{word}] names no hazard.{hint}"


@functools.lru_cache(maxsize=256)
def _comments_in(source: str) -> dict[int, Comment]:
    """All comments for castwise in a source, by line."""
    if "castwise:" not in source:
        return {}
    found = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and (match := _COMMENT.match(token.string)):
                found[token.start[0]] = _comment(match[1])
    except (tokenize.TokenError, SyntaxError):
        pass  # keep what was read so far
    return found


def _comment(words: str | None) -> Comment:
    if words is None:
        return Comment(frozenset(WORDS))
    named = [word.strip() for word in words.split(",") if word.strip()]
    known = frozenset(word for word in named if word in WORDS)
    return Comment(known, tuple(word for word in named if word not in known))
