"""Numba compiles what the program says, and not what observes it."""

from __future__ import annotations

import functools
import sys
from typing import Any

from castwise.auditing.observing.originals import restore

_COMPILER = "numba"


def read_originals() -> None:
    """Takes the observers out of a function whose code is read."""
    module = sys.modules["numba.core.bytecode"]
    plain = module.get_code_object

    @functools.wraps(plain)
    def get_code_object(function: Any) -> Any:
        restore(function, _COMPILER)
        return plain(function)

    module.get_code_object = get_code_object  # type: ignore[attr-defined]


def dispatch_originals() -> None:
    """Takes the observers out before the code is looked up in Numba's own cache on disk."""
    dispatcher = sys.modules["numba.core.dispatcher"]._DispatcherBase
    plain = dispatcher.__init__

    @functools.wraps(plain)
    def begin(this: Any, arguments: int, function: Any, *others: Any, **options: Any) -> None:
        restore(function, _COMPILER)
        plain(this, arguments, function, *others, **options)

    dispatcher.__init__ = begin
