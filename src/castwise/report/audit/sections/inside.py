"""What an audit saw inside libraries and in backward, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from castwise.auditing.records.findings import InsideCast, InsideCoverage
from castwise.report.amounts import counted, place_text, size_text
from castwise.report.terminal.folding import folded

_MOST_CASTS = 8


def inside_text(inside: InsideCoverage, width: int = 80) -> str:
    """The implicit casts, and how much was seen, so that "none" means something."""
    return "\n".join(
        folded(line, width, 5 if line[0] == " " else 2) for line in inside_lines(inside)
    )


def inside_lines(inside: InsideCoverage) -> Iterator[str]:
    """The same, one point per line."""
    if inside.casts:
        size = size_text(sum(cast.bytes for cast in inside.casts))
        times = counted(sum(cast.count for cast in inside.casts), "cast")
        spent = _time_text(sum(cast.seconds for cast in inside.casts))
        yield f"Inside libraries and in backward: {times}, {size} of copies{spent}."
    for cast in inside.casts[:_MOST_CASTS]:
        yield _cast_line(cast)
    if len(inside.casts) > _MOST_CASTS:
        yield f"   and {len(inside.casts) - _MOST_CASTS} more"
    yield f"Seen inside libraries and in backward: {counted(inside.seen, 'operation')}."
    if inside.not_understood:
        total = sum(inside.not_understood.values())
        most = ", ".join(f"{name} {n:,}" for name, n in inside.not_understood.most_common(5))
        yield f"Not understood there: {total:,} ({most})."
    if inside.cannot_show:
        named = " and ".join(inside.cannot_show)
        have = "has" if len(inside.cannot_show) == 1 else "have"
        yield f"{named} {have} no hook to look inside libraries: audit them with --include PACKAGE."


def _cast_line(cast: InsideCast) -> str:
    times = f", {cast.count:,} times" if cast.count > 1 else ""
    change = f"{cast.source} -> {cast.target}"
    cost = f"{size_text(cast.bytes)}{times}{_time_text(cast.seconds)}"
    return f"   {place_text(cast.place)}: {change}, {cast.why}, {cost}"


def _time_text(seconds: float) -> str:
    """The time on the device, if it was measured."""
    return f", {1000 * seconds:.3g} ms on the GPU" if seconds else ""
