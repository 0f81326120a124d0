"""Actions that wait for a module to be imported."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

_waiting: dict[str, Callable[[], None]] = {}


def when_imported(name: str, action: Callable[[], None]) -> None:
    """Runs an action once a module is imported, or now if it already is."""
    if name in sys.modules:
        action()
    else:
        _waiting[name] = action


def notice(spec: ModuleSpec) -> None:
    """Schedules the action waiting for a module to run after its loader."""
    loader: Any = spec.loader
    if spec.name not in _waiting or loader is None:
        return
    run = loader.exec_module

    def run_and_act(module: types.ModuleType) -> None:
        del loader.exec_module  # restore the program's loader
        run(module)
        action = _waiting.pop(spec.name, None)  # not earlier: a spec may be looked up and not used
        if action is not None:
            action()

    loader.exec_module = run_and_act
