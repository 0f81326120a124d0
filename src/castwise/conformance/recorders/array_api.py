"""Asks array-api-strict, the reference implementation of the array API standard."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from castwise.conformance.questions import (
    OPS,
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
    refusing,
)
from castwise.frameworks.array_api import ARRAY_API
from castwise.vocab.notation import OUT_OF_RANGE, REFUSED

DTYPES = words(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
)
_TAKE_DTYPE = words("sum prod cumsum cumprod")
# A Python int beyond 64 bits becomes a NumPy array of objects inside clip.
_OUT_OF_RANGE = re.compile("negative integer powers|only defined for x2 >= 0|dtype 'object'")
# Before this version functions take no Python numbers, and read the dtype or the device of one.
_TAKES_NUMBERS = "2024.12"
_NO_NUMBERS = re.compile("'(bool|int|float|complex)' object has no attribute")
_SIGNATURE = re.compile("neither Array nor Python scalars|must be Array API arrays")


class ArrayApiRecorder(FrameworkRecorder):
    """The array-api-strict installed here, at the newest version of the standard it knows, or at
    the one that a mode such as "standard=2023.12" names."""

    name = "array-api-strict"
    dialects = ("array-api",)

    def __init__(self, mode: str = "") -> None:
        import array_api_strict

        setting, _, standard = mode.partition("=")
        if mode and not (setting == "standard" and standard):
            raise ValueError(f"array-api has no mode {mode!r}; write standard=2023.12.")
        self._xp: Any = array_api_strict
        flags = array_api_strict.get_array_api_strict_flags()
        self._standard = standard or str(flags["api_version"])
        self._array = type(array_api_strict.zeros(()))  # it has no public name
        self.dialect = "array-api"
        self._functions = _functions()
        self.scope = Scope(
            dtypes=DTYPES,
            forms={op: _forms(op) for op in OPS if op in self._functions},
            foreign=numpy_operands(DTYPES),
        )

    def versions(self) -> Header:
        import numpy as np

        return {
            "version": self._xp.__version__,
            "standard": self._standard,
            "numpy": np.__version__,
            "python": platform.python_version(),
        }

    @contextmanager
    def session(self) -> Iterator[None]:
        import numpy as np

        flags = self._xp.ArrayAPIStrictFlags(api_version=self._standard)
        with super().session(), np.errstate(all="ignore"), flags:
            yield

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if form == "operator" and type(operands[0]).__module__ == "numpy":
            return None  # NumPy's operators take any left operand of NumPy's for their own
        return super().call(op, form, operands)

    def dtype_of(self, result: Any) -> str | None:
        dtype = result.dtype if isinstance(result, self._array) else result
        is_own = isinstance(dtype, type(self._xp.bool))
        return str(dtype).removeprefix("array_api_strict.") if is_own else None

    def classify(self, error: Exception) -> str | None:
        text = str(error)
        if isinstance(error, OverflowError) or _OUT_OF_RANGE.search(text):
            return OUT_OF_RANGE
        is_of_types = isinstance(error, TypeError) and not _SIGNATURE.search(text)
        is_of_numbers = self._standard < _TAKES_NUMBERS and _NO_NUMBERS.search(text)
        return REFUSED if is_of_types or is_of_numbers else None

    def _copied(self, array: Any) -> Any:
        return self._xp.asarray(array, copy=True)

    def _named(self, op: str, name: str, text: str) -> Any:
        return getattr(self._xp, text)

    def _own(self, dtype: str, spec: Spec) -> Any:
        return self._xp.asarray(foreign_operand(spec))


recorder = ArrayApiRecorder


def _forms(op: str) -> tuple[str, ...]:
    forms = existing_forms(op)
    return (*forms, *named_forms("dtype", DTYPES)) if op in _TAKE_DTYPE else forms


def _functions() -> dict[str, Callable[..., Any]]:
    import array_api_strict as xp

    found = found_functions({"xp": xp, "xp.linalg": xp.linalg}, ARRAY_API.naming.aliases)
    can_cast = refusing(dtype_function(xp.can_cast), yes=xp.bool)
    functions = called_with_operands(found)
    functions["tensordot"] = partial(xp.tensordot, axes=1)
    functions["linalg.matrix_power"] = lambda x: xp.linalg.matrix_power(x, 2)
    return functions | {"can_cast": can_cast}
