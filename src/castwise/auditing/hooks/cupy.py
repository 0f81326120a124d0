"""The hook for CuPy: NumPy's functions on the GPU."""

from __future__ import annotations

from castwise.auditing.hook import Arrays, Callables, Calls, Hook, Spelling
from castwise.auditing.hooks.numpy import HOOK as NUMPY

HOOK = Hook(
    framework="cupy",
    rules=NUMPY.rules,
    related="numpy",
    arrays=Arrays(
        types="ndarray",
        owner="base",
    ),
    callables=Callables(
        types="ufunc",
        operands=NUMPY.callables.operands,
    ),
    calls=Calls(
        casts=NUMPY.calls.casts,
        makes=NUMPY.calls.makes,
        keeps=f"{NUMPY.calls.keeps} get set asnumpy toDlpack",
        like=NUMPY.calls.like,
    ),
    spelling=Spelling(
        names="cupy",
        alias="cp",
        makes_without_dtype=NUMPY.spelling.makes_without_dtype,
        dtypes=NUMPY.spelling.dtypes,
        dtype_places=NUMPY.spelling.dtype_places,
        takes_dtype_first="astype",
        takes_dtype=NUMPY.spelling.takes_dtype,
        functions=NUMPY.spelling.functions,
    ),
)
