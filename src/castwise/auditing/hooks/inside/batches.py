"""Follows arrays from a dataset into the batches of PyTorch's loader, whose source is not audited,
and from one process to another, as the batches of its workers come."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from castwise.auditing.noting.arrays import ARRAYS, is_array_type
from castwise.auditing.noting.log import LOG
from castwise.auditing.noting.makers import maker_of, remember
from castwise.auditing.noting.sent import maker_of_sent, tell
from castwise.auditing.observing.tracebacks import standing_in

_ARRAYS = ("Tensor", "ndarray")  # not is_array_type, which takes note that a type was seen
_COLLATE = "torch.utils.data._utils.collate"
_REDUCTIONS = "torch.multiprocessing.reductions"


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


def follow_sent() -> None:
    """Gives a tensor that another process has sent the origin it has there, from now on."""
    names = vars(sys.modules[_REDUCTIONS])
    names["reduce_tensor"] = _telling(names["reduce_tensor"])
    names["rebuild_tensor"] = _asking(names["rebuild_tensor"])  # pickles name it


def _telling(reduce: Callable[..., Any]) -> Callable[..., Any]:
    @standing_in(reduce)
    def telling(tensor: Any) -> Any:
        try:
            tell(_look(tensor), maker_of(tensor, "_base"))
        except Exception as error:
            LOG.failed(error)
        return reduce(tensor)

    return telling


def _asking(rebuild: Callable[..., Any]) -> Callable[..., Any]:
    @standing_in(rebuild)
    def asking(*arguments: Any) -> Any:
        tensor = rebuild(*arguments)
        try:
            maker = maker_of_sent(_look(tensor))
            if maker:
                remember(tensor, maker)
        except Exception as error:
            LOG.failed(error)
        return tensor

    return asking


def _look(tensor: Any) -> str:
    """What the arrays of a dataset have in common in each batch."""
    return f"{tensor.dtype} {tuple(tensor.shape[1:])}"
