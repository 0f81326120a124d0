"""The hook for CuPy: NumPy's functions on the GPU."""

from __future__ import annotations

from castwise.auditing.hook import Hook
from castwise.auditing.hooks.numpy import HOOK as NUMPY

HOOK = Hook(
    framework="cupy",
    dialect=NUMPY.dialect,
    arrays="ndarray",
    owner="base",
    callables="ufunc",
    related="numpy",
    casts=NUMPY.casts,
    makes=NUMPY.makes,
    keeps=f"{NUMPY.keeps} get set asnumpy toDlpack",
    like=NUMPY.like,
    operands=NUMPY.operands,
    names="cupy",
    alias="cp",
    makes_without_dtype=NUMPY.makes_without_dtype,
    dtypes=NUMPY.dtypes,
    dtype_places=NUMPY.dtype_places,
    takes_dtype_first="astype",
    takes_dtype=NUMPY.takes_dtype,
    functions=NUMPY.functions,
)
