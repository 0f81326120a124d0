"""The hook for dill, which writes the code of functions: without observers. What it reads is
observed again."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

from castwise.auditing.hook import Calls, Hook, Watching


def _save_originals(name: str) -> None:
    """Makes the pickler of a module save original code."""
    from castwise.auditing.originals import original_code

    savers = sys.modules[name].Pickler.dispatch
    plain = savers[types.CodeType]

    @functools.wraps(plain)
    def save_code(pickler: Any, code: types.CodeType) -> None:
        plain(pickler, original_code(code))

    savers[types.CodeType] = save_code


def _pickle_originals() -> None:
    from castwise.auditing.hooks.python_code import making_observed

    module: Any = sys.modules["dill._dill"]
    module._create_function = making_observed(module._create_function)
    _save_originals("dill._dill")


def _find_the_globals_of_originals() -> None:
    from castwise.auditing.originals import original_code

    module: Any = sys.modules["dill.detect"]
    plain = module.nestedglobals

    @functools.wraps(plain)
    def nestedglobals(function: Any, *options: Any, **named: Any) -> Any:
        code = module.code(function)
        return plain(None if code is None else original_code(code), *options, **named)

    module.nestedglobals = nestedglobals


HOOK = Hook(
    framework="dill",
    calls=Calls(keeps="dump dumps load loads copy"),
    watching=Watching(
        when_imported={
            "dill._dill": _pickle_originals,
            "dill.detect": _find_the_globals_of_originals,
            # It hashes functions to find results that it has kept from earlier runs.
            "datasets.utils._dill": functools.partial(_save_originals, "datasets.utils._dill"),
        },
    ),
)
