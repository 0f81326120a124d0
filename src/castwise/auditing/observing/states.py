"""The arrays that optimizers keep from step to step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from castwise.auditing.hook import all_hooks
from castwise.auditing.noting.arrays import Note, note
from castwise.auditing.noting.log import LOG
from castwise.auditing.noting.seen import dtype_name
from castwise.auditing.records.beyond import HeldState
from castwise.vocab.dtypes import dtype

_MOST_ARRAYS = 100_000
_NARROW = 16  # bits
STATEFUL = frozenset(hook.framework for hook in all_hooks() if hook.inside.states)


def hold(mark: int, owner: str, named: Iterable[tuple[str, Any]]) -> None:
    """Records the arrays of 16 bits that an optimizer keeps."""
    sizes: dict[tuple[str, str], list[int]] = {}
    for name, thing in named:
        noted = note(thing)
        if type(noted) is not Note:
            continue
        known = dtype_name(noted.signature.dtype)
        if known and dtype(known).kind == "float" and dtype(known).bits == _NARROW:
            sizes.setdefault((name, known), []).append(_size(noted.shape))
    for (name, known), elements in sizes.items():
        state = HeldState(mark, owner, name, known, len(elements), sum(elements))
        LOG.states[mark, owner, name, known] = state


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for length in shape:
        size *= int(length)
    return size


def returned_state(mark: int, module: str, name: str, result: Any) -> None:
    """Records the state that a call returns."""
    if any(name in hook.inside.states.split() for hook in all_hooks() if hook.framework == module):
        hold(mark, f"{module}'s state", _arrays_in(result))


def _arrays_in(tree: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of nested tuples, lists and dicts, with the name of the field of a named tuple
    that they are in."""
    waiting = [("", tree)]
    for _ in range(_MOST_ARRAYS):
        if not waiting:
            return
        name, thing = waiting.pop()
        fields = getattr(type(thing), "_fields", None)
        if isinstance(thing, tuple) and fields:
            waiting += [(str(field), part) for field, part in zip(fields, thing, strict=True)]
        elif type(thing) in (tuple, list):
            waiting += [(name, part) for part in thing]
        elif type(thing) is dict:
            waiting += [(name, part) for part in thing.values()]
        else:
            yield name, thing
