"""The observers of `x[i]`: what an index takes from an array has the array's origin."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from castwise.auditing.noting.arrays import ARRAYS, NUMBERS, is_array_type
from castwise.auditing.noting.log import LOG
from castwise.auditing.noting.makers import maker_of, remember
from castwise.auditing.rewriting.items import BASE, TOOK

_MOST_KEPT = 1 << 12  # of unfinished expressions; those that raised never finish
_NOTHING = object()
_frame = sys._getframe
_makers: dict[tuple[int, int], int] = {}  # of the array of an index, by mark and frame


def observers(quiet: set[int], settle: Callable[[int], None]) -> dict[str, Any]:
    """The observers of indices; `settle` counts a run that takes no array from any."""

    def base(mark: int, thing: Any) -> Any:
        """Keeps the maker of an array until something is taken from it."""
        kind = type(thing)
        if mark not in quiet and (kind in ARRAYS or (kind not in NUMBERS and is_array_type(kind))):
            maker = _maker(thing)
            if maker:
                if len(_makers) > _MOST_KEPT:
                    _makers.clear()
                _makers[mark, id(_frame(1))] = maker
        return thing

    def took(mark: int, result: Any, thing: Any = _NOTHING) -> Any:
        """Records where an array that was taken from another one comes from."""
        if mark in quiet:
            return result
        kind = type(result)
        if kind in NUMBERS or not is_array_type(kind) or ARRAYS[kind].is_scalar:
            settle(mark)
        else:
            is_known = thing is not _NOTHING
            maker = _maker(thing) if is_known else _makers.pop((mark, id(_frame(1))), 0)
            _inherit(result, maker)
        return result

    return {BASE: base, TOOK: took}


def _maker(thing: Any) -> int:
    kind = type(thing)
    return maker_of(thing, ARRAYS[kind].owner) if is_array_type(kind) else 0


def _inherit(result: Any, maker: int) -> None:
    try:
        if maker and not _maker(result):
            remember(result, maker)
    except RecursionError:
        pass
    except Exception as error:
        LOG.failed(error)
