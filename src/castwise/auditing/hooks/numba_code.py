"""Lets Numba compile the original code, without observers."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

from castwise.auditing.originals import compiled_code

_COMPILER = "numba"


def read_originals() -> None:
    """Removes the observers from a function before Numba reads its code."""
    module = sys.modules["numba.core.bytecode"]
    plain = module.get_code_object

    @functools.wraps(plain)
    def get_code_object(function: Any) -> Any:
        _restore(function)
        return plain(function)

    module.get_code_object = get_code_object  # type: ignore[attr-defined]


def dispatch_originals() -> None:
    """Removes the observers before Numba looks up the code in its disk cache."""
    dispatcher = sys.modules["numba.core.dispatcher"]._DispatcherBase
    plain = dispatcher.__init__

    @functools.wraps(plain)
    def begin(this: Any, arguments: int, function: Any, *others: Any, **options: Any) -> None:
        _restore(function)
        plain(this, arguments, function, *others, **options)

    dispatcher.__init__ = begin


def _restore(function: Any) -> None:
    """Removes the observers from a function permanently."""
    if isinstance(function, types.FunctionType):
        function.__code__ = compiled_code(function.__code__, _COMPILER)
