"""The hook for cloudpickle, which writes the code of functions: without observers. What it reads is
observed again."""

from __future__ import annotations

import functools
import sys
import types

from castwise.auditing.hook import Calls, Hook, Watching

# The package itself, and the copies of it in others.
_PACKAGES = (
    "cloudpickle", "joblib.externals.cloudpickle", "ray.cloudpickle", "pyspark.cloudpickle",
    "apache_beam.internal.cloudpickle",
)  # fmt: skip
_MODULES = ("cloudpickle", "cloudpickle_fast")  # the pickler is in the second before version 3


def _pickle_originals(name: str) -> None:
    from castwise.auditing.hooks.python_code import making_observed, taking_originals

    names = vars(sys.modules[name])
    if "CloudPickler" not in names:
        return
    reducers = names["CloudPickler"]._dispatch_table
    reducers[types.CodeType] = taking_originals(reducers[types.CodeType])
    for reader in ("_extract_code_globals", "_find_imported_submodules"):
        if reader in names:
            names[reader] = taking_originals(names[reader])
    maker = names.get("_make_function")
    if maker is not None and maker.__module__ == name:  # it is pickled by its name there
        names["_make_function"] = making_observed(maker)


HOOK = Hook(
    framework="cloudpickle",
    calls=Calls(keeps="dump dumps load loads register_pickle_by_value unregister_pickle_by_value"),
    watching=Watching(
        when_imported={
            f"{package}.{module}": functools.partial(_pickle_originals, f"{package}.{module}")
            for package in _PACKAGES
            for module in _MODULES
        },
    ),
)
