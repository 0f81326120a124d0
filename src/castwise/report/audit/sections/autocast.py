"""What autocast did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from castwise.auditing.judging.autocasts import Autocasts, CastAgain, ListedOp
from castwise.report.amounts import counted, place_text, size_text

_MOST = 12
_MOST_MODULES = 3


def autocast_lines(found: Autocasts) -> Iterator[str]:
    """The ops by line, then what was cast again."""
    if found.ops:
        casts = counted(sum(op.seen.casts for op in found.ops), "cast")
        size = size_text(sum(op.seen.bytes for op in found.ops))
        targets = dict.fromkeys(f"{o.seen.autocast} on {o.seen.device}" for o in found.ops)
        yield f"Autocast to {' and to '.join(targets)}: {casts}, {size} of copies."
    for op in found.ops[:_MOST]:
        yield _op_line(op)
    if len(found.ops) > _MOST:
        yield f"   and {len(found.ops) - _MOST} more: --json FILE lists them all"
    yield from _repeat_lines(found)


def _op_line(op: ListedOp) -> str:
    seen = op.seen
    times = f", {seen.count:,} times" if seen.count > 1 else ""
    named = ", ".join(op.modules[:_MOST_MODULES])
    more = len(op.modules) - _MOST_MODULES
    modules = f" in {named}{f' and {more} more' if more > 0 else ''}" if named else ""
    casts = f"; {', '.join(seen.changes)}, {counted(seen.casts, 'cast')}" if seen.casts else ""
    what = f"{seen.op}{modules} ran in {seen.result} (list: {seen.rule})"
    return f"   {place_text(op.place)}: {what}{times}{casts}"


def _repeat_lines(found: Autocasts) -> Iterator[str]:
    trained = [r for r in found.repeats if r.is_once_per_block and r.seen.is_cached]
    others = [r for r in found.repeats if r not in trained]
    if others:
        yield (
            "Autocast casts these again and again: until a block ends, it keeps the copies only of "
            "leaves that require a gradient. Cast them once instead."
        )
    for again in others[:_MOST]:
        yield _repeat_line(again)
    if len(others) > _MOST:
        yield f"   and {len(others) - _MOST} more: --json FILE lists them all"
    if trained:
        casts = counted(sum(again.seen.casts for again in trained), "cast")
        arrays = counted(len(trained), "weight")
        yield f"Autocast casts {arrays} that are trained once in each block: {casts}."


def _repeat_line(again: CastAgain) -> str:
    seen = again.seen
    shape = ",".join(map(str, seen.shape))
    name = f"{seen.name} " if seen.name else ""
    what = f"{name}{seen.source}[{shape}] -> {seen.target}"
    blocks = counted(seen.blocks, "block")
    return f"   {place_text(again.place)}: {what}, {seen.casts:,} times in {blocks}"


def autocast_json(found: Autocasts) -> dict[str, Any]:
    """The same for programs."""
    return {
        "ops": [
            {
                "file": op.place.file,
                "line": op.place.line,
                "op": op.seen.op,
                "modules": list(op.modules),
                "list": op.seen.rule,
                "autocast": op.seen.autocast,
                "device": op.seen.device,
                "result": op.seen.result,
                "changes": list(op.seen.changes),
                "count": op.seen.count,
                "casts": op.seen.casts,
                "bytes": op.seen.bytes,
            }
            for op in found.ops
        ],
        "repeats": [
            {
                "file": again.place.file,
                "line": again.place.line,
                "name": again.seen.name,
                "from": again.seen.source,
                "to": again.seen.target,
                "shape": list(again.seen.shape),
                "casts": again.seen.casts,
                "blocks": again.seen.blocks,
                "kept": again.seen.is_cached,
            }
            for again in found.repeats
        ],
    }
