"""Looks at the states of PyTorch's optimizers after a step."""

from __future__ import annotations

import sys
from typing import Any
from weakref import WeakKeyDictionary

from castwise.auditing.noting.frames import mark_of, users_frame
from castwise.auditing.noting.log import LOG
from castwise.auditing.observing.states import hold

_PARAMETERS = "parameters"
_steps: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def watch_optimizers() -> None:
    """Asks PyTorch to report every step of an optimizer."""
    module: Any = sys.modules["torch.optim.optimizer"]
    register = getattr(module, "register_optimizer_step_post_hook", None)
    if register is not None:
        register(_stepped)


def _stepped(optimizer: Any, _: Any, __: Any) -> None:
    if sys.modules["torch"].compiler.is_compiling():
        return
    try:
        steps = _steps[optimizer] = _steps.get(optimizer, 0) + 1
        if steps & (steps - 1) == 0:  # a state seldom changes its dtype
            user = users_frame(sys._getframe(1))
            if user is not None:
                hold(mark_of(user), type(optimizer).__name__, _arrays(optimizer))
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
