"""Training with PyTorch, where no audited source shows what happens: arrays go from a dataset into
the batches of a loader, and from the processes of its workers; optimizers keep states.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from castwise.auditing.arrays import (
    ARRAYS,
    find_maker,
    find_sent_maker,
    is_array_type,
    remember,
    share_maker,
)
from castwise.auditing.log import LOG, frame_mark, users_frame
from castwise.auditing.observers import log_states
from castwise.auditing.process import stand_in_for

_ARRAYS = ("Tensor", "ndarray")  # not is_array_type, which takes note that a type was seen


def follow_batches(module: Any) -> None:
    """Gives a batch the origin of its first element, from now on."""
    table = getattr(module, "default_collate_fn_map", {})  # from torch 1.13 on
    for kind, collate in list(table.items()):
        if getattr(kind, "__name__", "") in _ARRAYS:
            table[kind] = _keeping_origin(collate)


def _keeping_origin(plain: Callable[..., Any]) -> Callable[..., Any]:
    @stand_in_for(plain)
    def collate(batch: Any, *others: Any, **named: Any) -> Any:
        made = plain(batch, *others, **named)
        first = batch[0] if type(batch) in (list, tuple) and batch else None
        if is_array_type(type(made)) and is_array_type(type(first)) and not find_maker(made):
            maker = find_maker(first, ARRAYS[type(first)].owner)
            if maker:
                remember(made, maker)
        return made

    return collate


def follow_sent(reductions: Any) -> None:
    """Gives a tensor that another process has sent the origin it has there, from now on."""
    plain_reduce, plain_rebuild = reductions.reduce_tensor, reductions.rebuild_tensor

    @stand_in_for(plain_reduce)
    def reduce_tensor(tensor: Any) -> Any:
        try:
            share_maker(_look(tensor), find_maker(tensor, "_base"))
        except Exception as error:
            LOG.failed(error)
        return plain_reduce(tensor)

    @stand_in_for(plain_rebuild)
    def rebuild_tensor(*arguments: Any) -> Any:
        tensor = plain_rebuild(*arguments)
        try:
            maker = find_sent_maker(_look(tensor))
            if maker:
                remember(tensor, maker)
        except Exception as error:
            LOG.failed(error)
        return tensor

    reductions.reduce_tensor = reduce_tensor
    reductions.rebuild_tensor = rebuild_tensor  # pickles name it


def _look(tensor: Any) -> str:
    """What the arrays of a dataset have in common in each batch."""
    return f"{tensor.dtype} {tuple(tensor.shape[1:])}"


# The states of optimizers, after a step.

_PARAMETERS = "parameters"
_steps: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def watch_optimizers(module: Any) -> None:
    """Asks PyTorch to report every step of an optimizer."""
    register = getattr(module, "register_optimizer_step_post_hook", None)
    if register is not None:
        register(_log_step)


def _log_step(optimizer: Any, _: Any, __: Any) -> None:
    if sys.modules["torch"].compiler.is_compiling():
        return
    try:
        steps = _steps[optimizer] = _steps.get(optimizer, 0) + 1
        if steps & (steps - 1) == 0:  # a state seldom changes its dtype
            user = users_frame(sys._getframe(1))
            if user is not None:
                log_states(frame_mark(user), type(optimizer).__name__, _arrays(optimizer))
    except Exception as error:
        LOG.failed(error)


def _arrays(optimizer: Any) -> list[tuple[str, Any]]:
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    # Not parameter.data: that is an op, which the program's modes would see.
    found: list[tuple[str, Any]] = [(_PARAMETERS, parameter) for parameter in parameters]
    for parameter in parameters:
        state = optimizer.state.get(parameter)
        found += list(state.items()) if isinstance(state, dict) else []
    return found
