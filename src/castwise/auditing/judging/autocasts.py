"""What autocast did: which op ran in which dtype because of which list, and what it cast again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from castwise.auditing.records.beyond import AutocastOp, RepeatedCast
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.records.seen import Seen


@dataclass(frozen=True, slots=True)
class ListedOp:
    """An op at a line of the user, in all modules that ran it there."""

    place: SourcePlace
    modules: tuple[str, ...]
    seen: AutocastOp


@dataclass(frozen=True, slots=True)
class CastAgain:
    """An array that autocast cast more than once."""

    place: SourcePlace
    seen: RepeatedCast

    @property
    def is_once_per_block(self) -> bool:
        """Whether it was cast only once in each block, as a weight that is trained must be."""
        return self.seen.casts == self.seen.blocks


@dataclass(frozen=True, slots=True)
class Autocasts:
    """What autocast did."""

    ops: tuple[ListedOp, ...] = ()
    repeats: tuple[CastAgain, ...] = ()


def autocasts_in(seen: Seen) -> Autocasts:
    """The ops by line, and the arrays that were cast most often first."""
    ops: dict[object, ListedOp] = {}
    for op in seen.beyond.autocast_ops:
        place = seen.sites[op.mark].place
        key = op.mark, op.op, op.autocast, op.device, op.changes, op.result
        old = ops.get(key)
        modules = (*(old.modules if old else ()), *((op.module,) if op.module else ()))
        ops[key] = ListedOp(place, modules, _sum(old.seen if old else None, op))
    repeats: dict[object, CastAgain] = {}
    for again in seen.beyond.repeats:
        place = seen.sites[again.mark].place
        name = again.mark, again.name, again.source, again.target, again.shape
        known = repeats.get(name)
        more = replace(again, casts=again.casts + known.seen.casts,
                       blocks=max(again.blocks, known.seen.blocks)) if known else again  # fmt: skip
        repeats[name] = CastAgain(place, more)
    return Autocasts(
        _sorted(ops.values()),
        tuple(sorted(repeats.values(), key=_most_often_first)),
    )


def _most_often_first(again: CastAgain) -> tuple[object, ...]:
    """Equal counts by line and name: in which order an op casts its operands is the compiler's."""
    seen = again.seen
    return (again.is_once_per_block, -seen.casts, again.place,
            not seen.name, seen.name, seen.shape)  # fmt: skip


def _sum(old: AutocastOp | None, new: AutocastOp) -> AutocastOp:
    if old is None:
        return new
    return replace(
        new,
        count=old.count + new.count,
        casts=old.casts + new.casts,
        bytes=old.bytes + new.bytes,
    )


_Placed = TypeVar("_Placed", bound=ListedOp)


def _sorted(ops: Iterable[_Placed]) -> tuple[_Placed, ...]:
    return tuple(sorted(ops, key=lambda o: (o.seen.autocast, o.place)))
