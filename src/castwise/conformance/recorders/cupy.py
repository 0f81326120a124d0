"""Asks CuPy, on a CUDA device."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from castwise.conformance.questions import (
    OPS,
    OUT_OPS,
    Scope,
    Spec,
    foreign_operand,
    named_forms,
    numpy_operands,
    words,
)
from castwise.conformance.recorder import (
    FrameworkRecorder,
    Header,
    called_with_operands,
    dtype_function,
    existing_forms,
    found_functions,
    framework_versions,
    refusing,
)
from castwise.frameworks.numpy import NUMPY
from castwise.vocab.notation import OUT_OF_RANGE, REFUSED

DTYPES = words(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128"
)
_TAKE_DTYPE = words("sum prod mean cumsum cumprod std var")


class CupyRecorder(FrameworkRecorder):
    """The CuPy installed here."""

    name = "cupy"
    dialects: tuple[str, ...] = ("numpy:cupy",)

    def __init__(self, mode: str = "") -> None:
        import cupy

        if mode:
            raise ValueError(f"cupy has no mode {mode!r}.")
        self.dialect = self.dialects[0]
        self._cupy: Any = cupy
        self._functions = _functions(cupy)
        self.scope = Scope(
            dtypes=DTYPES,
            forms={op: _forms(op) for op in OPS if op in self._functions},
            foreign=numpy_operands(DTYPES, "(1)"),
        )

    def versions(self) -> Header:
        return framework_versions(self._cupy.__version__, "numpy")

    def _own(self, dtype: str, spec: Spec) -> Any:
        return self._cupy.asarray(foreign_operand(spec))

    def _copied(self, array: Any) -> Any:
        return self._cupy.copy(array)

    def _named(self, op: str, name: str, text: str) -> Any:
        return self._cupy.empty((3,), text) if name == "out" else self._cupy.dtype(text)

    def dtype_of(self, result: Any) -> str | None:
        dtype = getattr(result, "dtype", result)
        is_own = isinstance(dtype, self._cupy.dtype) and dtype.name in DTYPES
        return str(dtype.name) if is_own else None

    def classify(self, error: Exception) -> str | None:
        if isinstance(error, OverflowError) or "negative integer powers" in str(error):
            return OUT_OF_RANGE
        return REFUSED if isinstance(error, TypeError) else None


recorder = CupyRecorder


def _forms(op: str) -> tuple[str, ...]:
    forms = existing_forms(op)
    takes_out = op in OUT_OPS and op not in ("matmul", "sum", "mean")
    outs = named_forms("out", DTYPES) if takes_out else ()
    dtypes = named_forms("dtype", DTYPES) if op in _TAKE_DTYPE else ()
    return (*forms, *outs, *dtypes)


def _functions(cupy: Any) -> dict[str, Callable[..., Any]]:
    found = found_functions({"cupy": cupy, "cupy.linalg": cupy.linalg}, NUMPY.naming.aliases)
    functions = called_with_operands(found)
    functions["count_nonzero"] = partial(cupy.count_nonzero, axis=-1)
    functions["promote_types"] = dtype_function(cupy.promote_types)
    functions["can_cast"] = refusing(dtype_function(cupy.can_cast), yes=cupy.dtype(bool))
    return functions
