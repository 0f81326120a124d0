"""What a call has among its operands that is no operand: einsum's equation, the sizes of
layer_norm."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from castwise.vocab.dtypes import find_dtype

_EQUATION = re.compile(r"[A-Za-z.,\s]*(->[A-Za-z.\s]*)?")


def taken_out(
    between: tuple[int, str] | None, given: Sequence[Any], named: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The operands without what is no operand, which is added to what was given by name.

    >>> taken_out((0, "equation"), ["ij,jk->ik", "float16[2,3]", "float16[3,4]"], {})
    (['float16[2,3]', 'float16[3,4]'], {'equation': 'ij,jk->ik'})
    >>> taken_out((0, "equation"), ["float16[2,3]", "float16[3,4]"], {})
    (['float16[2,3]', 'float16[3,4]'], {})
    """
    if between is None or len(given) <= between[0] or not _is_data(given[between[0]]):
        return given, named
    place, name = between
    return [*given[:place], *given[place + 1 :]], {name: given[place], **named}


def _is_data(thing: Any) -> bool:
    """Whether something is an equation, or sizes."""
    if isinstance(thing, str):
        return bool(_EQUATION.fullmatch(thing)) and find_dtype(thing.strip()) is None
    return isinstance(thing, (list, tuple)) and all(map(_is_size, thing))


def _is_size(thing: Any) -> bool:
    """Whether something is a size, or a pair of them."""
    is_pair = isinstance(thing, (list, tuple)) and all(isinstance(n, int) for n in thing)
    return is_pair or isinstance(thing, int)
