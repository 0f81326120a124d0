"""Asks NumPy what it computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.conformance.recorders.numpy import DTYPES, NumpyRecorder
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


def numpy_array(held: Held) -> Any:
    """A Python number, or a NumPy array that holds the values."""
    import ml_dtypes  # noqa: F401  (registers bfloat16)
    import numpy as np

    if held.dtype is None:
        return held.values[0]
    # An array of Python ints would be one of objects beyond int64.
    wide = held.dtype if "int" in held.dtype else None
    return np.array(held.values, wide).astype(held.dtype).reshape(held.shape)


def numpy_held(array: Any) -> Held:
    """What a NumPy array or scalar holds."""
    import numpy as np

    array = np.asarray(array)
    name = str(array.dtype.name)
    wide = array.astype("float32") if name == "bfloat16" else array
    return Held(name, array.shape, tuple(wide.reshape(-1).tolist()))
