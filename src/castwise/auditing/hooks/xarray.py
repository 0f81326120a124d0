"""The hook for xarray: an object counts as its array. Nothing lazy is computed."""

from __future__ import annotations

from typing import Any

from castwise.auditing.hook import Arrays, Callables, Calls, Hook, Read, Spelling, read_array
from castwise.auditing.hooks.numpy import HOOK as NUMPY

_slot = object.__getattribute__


def _read(array: Any) -> Read:
    """Reads the array inside. The object's properties are Python code, which may be observed."""
    try:
        if type(array).__name__ == "DataArray":
            array = _slot(array, "_variable")
        return read_array(_slot(array, "_data"))
    except AttributeError:  # xarray's own __init__ is running and has not set the array yet
        return None, (), False, None


HOOK = Hook(
    framework="xarray",
    rules=NUMPY.rules,
    related="numpy",
    arrays=Arrays(types="DataArray Variable", read=_read),
    callables=Callables(operands={"other": 1}),
    calls=Calls(
        casts="astype",
        makes="DataArray Variable zeros_like ones_like full_like open_dataset open_dataarray "
        "load_dataset load_dataarray concat",
        keeps=f"{NUMPY.calls.keeps} sel isel to_numpy compute load persist chunk rename drop_vars "
        "assign assign_coords stack unstack groupby rolling resample coarsen to_dataset to_netcdf "
        "sortby isnull notnull dropna reindex interp_like broadcast_like shift set_index "
        "reset_index",
        like=NUMPY.calls.like,
    ),
    spelling=Spelling(
        names="numpy",
        alias="np",
        makes_without_dtype="DataArray Variable open_dataset open_dataarray load_dataset "
        "load_dataarray concat",
        dtypes=NUMPY.spelling.dtypes,
        takes_dtype_first="astype",
    ),
)  # fmt: skip
