"""The version and the mode of a loaded framework. A program under audit is asked for them, so that
this imports no rules."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable
from typing import Any

from castwise.vocab.live import module_of

_MODES = "castwise.loaded.modes"


def name_of_loaded(framework: str) -> str:
    """A framework with its version and mode here, as a dialect is named: torch@2.13.0."""
    version, mode = version_of_loaded(framework), mode_of_loaded(framework)
    return framework + (f"@{version}" if version else "") + (f":{mode}" if mode else "")


def version_of_loaded(framework: str) -> str:
    """The version of a loaded framework; nothing where it is not loaded or names none."""
    return str(getattr(sys.modules.get(module_of(framework)), "__version__", ""))


def mode_of_loaded(framework: str) -> str:
    """The mode that a loaded framework is in now, as a dialect's name has it."""
    module, mode = sys.modules.get(module_of(framework)), _mode_function(framework)
    return mode(module) if module is not None and mode is not None else ""


def has_modes(framework: str) -> bool:
    """Whether a framework's mode may change while it runs."""
    return _mode_function(framework) is not None


@functools.lru_cache(maxsize=64)
def _mode_function(framework: str) -> Callable[[Any], str] | None:
    folder = importlib.import_module(_MODES)
    if framework not in [file.name for file in pkgutil.iter_modules(folder.__path__)]:
        return None
    found: Callable[[Any], str] = importlib.import_module(f"{_MODES}.{framework}").mode
    return found
