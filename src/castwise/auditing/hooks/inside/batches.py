"""Follows arrays from a dataset into the batches of PyTorch's loader, whose source is not audited.

The batches of worker processes come through a queue, and are not followed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from castwise.auditing.noting.arrays import ARRAYS, is_array_type
from castwise.auditing.noting.makers import maker_of, remember
from castwise.auditing.observing.tracebacks import standing_in

_ARRAYS = ("Tensor", "ndarray")  # not is_array_type, which takes note that a type was seen
_COLLATE = "torch.utils.data._utils.collate"


def follow_batches() -> None:
    """Gives a batch the origin of its first element, from now on."""
    table = getattr(sys.modules[_COLLATE], "default_collate_fn_map", {})  # from torch 1.13 on
    for kind, collate in list(table.items()):
        if getattr(kind, "__name__", "") in _ARRAYS:
            table[kind] = _followed(collate)


def _followed(collate: Callable[..., Any]) -> Callable[..., Any]:
    @standing_in(collate)
    def followed(batch: Any, *others: Any, **named: Any) -> Any:
        made = collate(batch, *others, **named)
        first = batch[0] if type(batch) in (list, tuple) and batch else None
        if is_array_type(type(made)) and is_array_type(type(first)) and not maker_of(made):
            maker = maker_of(first, ARRAYS[type(first)].owner)
            if maker:
                remember(made, maker)
        return made

    return followed
