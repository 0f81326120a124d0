"""Held values as NumPy arrays, and back."""

from __future__ import annotations

from typing import Any

from castwise.conformance.values.notation import Held


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
