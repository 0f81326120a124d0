"""The hook for cloudpickle, which writes the code of functions: without observers. What it reads is
observed again."""

from __future__ import annotations

import functools
import sys
import types

from castwise.auditing.hook import Hook

_COPIES = ("cloudpickle", "joblib.externals.cloudpickle", "ray.cloudpickle", "pyspark.cloudpickle")
_MODULES = ("cloudpickle", "cloudpickle_fast")  # version 3 has all in the first one


def _pickle_originals(name: str) -> None:
    from castwise.auditing.hooks.inside.python import making_observed, taking_originals

    names = vars(sys.modules[name])
    for reader in ("_extract_code_globals", "_find_imported_submodules"):
        if reader in names:
            names[reader] = taking_originals(names[reader])
    if "_make_function" in names:
        names["_make_function"] = making_observed(names["_make_function"])
    if "CloudPickler" in names:
        reducers = names["CloudPickler"]._dispatch_table
        reducers[types.CodeType] = taking_originals(reducers[types.CodeType])


HOOK = Hook(
    framework="cloudpickle",
    keeps="dump dumps load loads register_pickle_by_value unregister_pickle_by_value",
    when_imported={
        f"{copy}.{module}": functools.partial(_pickle_originals, f"{copy}.{module}")
        for copy in _COPIES
        for module in _MODULES
    },
)
