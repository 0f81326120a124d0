"""Versions: which recorded one answers for a version that a user names or has installed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from castwise.errors import UsageError
from castwise.rules.dialect import Dialect

# A release such as 2.13, 2.13.0+cpu or 2.5.0rc1: what follows the numbers does not count.
_RELEASE = re.compile(
    r"(\d{1,9}(?:\.\d{1,9})*)(?:[._-]?(?:a|b|rc|alpha|beta|dev|post)\d*)*(?:\+[\w.-]*)?", re.ASCII
)


class Nearest(NamedTuple):
    """The recorded dialect that answers for a version, and a sentence where it is another one."""

    dialect: Dialect
    note: str = ""


def nearest_of(known: Sequence[Dialect], asked: str, version: str) -> Nearest:
    """The dialect among those of one framework and mode that is recorded from a version, or from
    the nearest one. `asked` is what messages call it: "torch@2.14".

    A release counts by its first two numbers, and by the third where several with the same two are
    recorded. A name of two numbers, such as torch@2.1, may also be that of a dialect from another
    source: it answers for that name alone where a release of these numbers is recorded. Between two
    recorded ones, the one with the same first number is the nearest, then the one with the closer
    second number. An old dialect answers for no release after its last.

    Raises UsageError for text that is no version, or where the dialect has no versions.
    """
    match = _RELEASE.fullmatch(version)
    recorded = {_numbers(_recorded(d)): d for d in known if d.version or d.naming.recorded}
    recorded |= {_numbers(d.naming.release): d for d in known if d.naming.release}
    names = " or ".join(d.name for d in known)
    if not match:
        raise UsageError(f"{asked[:80]!r} names no version: write numbers, as in {_example(known)}")
    if not recorded:
        raise UsageError(f"{names} is no release of a framework: leave out @{version[:40]}.")
    wanted = _numbers(match[1])
    if wanted in recorded:
        return Nearest(recorded[wanted])
    recorded = {numbers: d for numbers, d in recorded.items() if not _is_in(numbers, recorded)}
    exact = [numbers for numbers in recorded if numbers[: len(wanted[:2])] == wanted[:2]]
    if exact and len(wanted) < 3:  # of 2 alone, the dialect with that name comes first
        return Nearest(recorded[exact[0] if len(wanted) == 1 else max(exact)])
    if exact:
        patch = min(exact, key=lambda numbers: abs(_patch(numbers) - _patch(wanted)))
        found = recorded[patch]
        if len(exact) == 1 or patch == wanted:
            return Nearest(found)
    else:
        speaking = [numbers for numbers, d in recorded.items() if _speaks_for(d, wanted)]
        found = recorded[_closest(wanted, sorted(speaking))]
    return Nearest(found, f"{asked} is not recorded: {_said(found)} answers, the nearest that is.")


def _numbers(version: str) -> tuple[int, ...]:
    """The first three numbers of a version."""
    return tuple([int(part) for part in version.split(".")[:3]])


def _is_in(numbers: tuple[int, ...], recorded: Iterable[tuple[int, ...]]) -> bool:
    """Whether two numbers begin a release of three."""
    return any(len(numbers) == 2 < len(each) and each[:2] == numbers for each in recorded)


def _patch(numbers: tuple[int, ...]) -> int:
    return numbers[2] if len(numbers) > 2 else 0


def _speaks_for(dialect: Dialect, wanted: tuple[int, ...]) -> bool:
    return not dialect.naming.last or wanted[:2] <= _numbers(dialect.naming.last)


def _recorded(dialect: Dialect) -> str:
    return dialect.naming.recorded or dialect.version


def _closest(wanted: tuple[int, ...], known: list[tuple[int, ...]]) -> tuple[int, ...]:
    below = [numbers for numbers in known if numbers < wanted][-1:]
    above = [numbers for numbers in known if numbers > wanted][:1]
    return min([*above, *below], key=lambda numbers: _distance(wanted, numbers))


def _distance(wanted: tuple[int, ...], numbers: tuple[int, ...]) -> tuple[int, int]:
    major = abs(wanted[0] - numbers[0])
    minors = [*wanted[1:2], 0][0], [*numbers[1:2], 0][0]
    return major, 0 if major else abs(minors[0] - minors[1])


def _said(dialect: Dialect) -> str:
    """The recorded version as a name that can be written: numpy@2, recorded from 2.4."""
    mode = f":{dialect.mode}" if dialect.mode else ""
    named = f"{dialect.framework}@{dialect.version}{mode}" if dialect.version else dialect.name
    recorded = dialect.naming.recorded
    return f"{named} (recorded from {recorded})" if recorded else named


def _example(known: Sequence[Dialect]) -> str:
    versions = [f"{d.framework}@{_recorded(d)}" for d in known if _recorded(d)]
    return f"{' or '.join(versions[:3])}." if versions else f"{known[0].name}."
