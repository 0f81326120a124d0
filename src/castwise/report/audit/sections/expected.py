"""The findings that are expected, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from castwise.auditing.judging.audited import Audit
from castwise.report.amounts import counted

_WORDS = {"int": "integers", "bool": "masks", "float": "real numbers"}


def expected_text(audit: Audit, where: str) -> str:
    """What is not listed, and where to find it; "" if there is nothing."""
    found = audit.expected_findings
    if not found:
        return ""
    casts = [cast for finding in found for cast in finding.operation.casts]
    kinds = {cast.source.kind for cast in casts if cast.source}
    sources = _joined(word for kind, word in _WORDS.items() if kind in kinds)
    targets = _joined(sorted({cast.target.name for cast in casts}, reverse=True))
    of_kinds = sorted({cast.target.kind for cast in casts}, reverse=True)
    whose = f"this program's {_joined(of_kinds)} dtype{'s' if len(of_kinds) > 1 else ''}"
    is_one = len(found) == 1
    return (
        f"{counted(len(found), 'cast')} of {sources} to {targets}, {whose}, "
        f"{'is' if is_one else 'are'} expected and not listed; "
        f"{where.format('it' if is_one else 'them')}."
    )


def expected_count(audit: Audit) -> str:
    """How many there are, for the end of a sentence."""
    apart = len(audit.expected_findings)
    listed = sum(finding.is_expected for finding in audit.findings)
    verb = "is" if listed == 1 else "are"
    text = f"; {counted(listed, 'finding')} {verb} expected" if listed else ""
    noun = "more expected cast" if listed else "expected cast"
    return f"{text}; {counted(apart, noun)}" if apart else text


def _joined(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
