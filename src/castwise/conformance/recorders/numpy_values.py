"""Asks NumPy what it computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.conformance.recorders.numpy import DTYPES, NumpyRecorder
from castwise.conformance.values.held import numpy_array, numpy_held
from castwise.conformance.values.notation import Held


class NumpyValues(NumpyRecorder):
    """The values of the NumPy installed here."""

    dtypes = DTYPES

    def hold(self, held: Held) -> Any:
        return numpy_array(held)

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype)

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if op == "where":
            return self._np.where(*operands)
        return self.call(op, form, operands)

    def held_by(self, result: Any) -> Held | None:
        return numpy_held(result) if self.dtype_of(result) else None

    def is_division_by_zero(self, error: Exception) -> bool:
        return isinstance(error, ZeroDivisionError)


recorder = NumpyValues
