"""The operands that recorded cells name, live on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

import castwise as cw
from castwise.arrays.backends import backend_named
from castwise.arrays.tensor import Tensor
from castwise.conformance.questions import read_operand
from castwise.vocab.dtypes import dtype

NUMPY = backend_named("numpy")


def live_operand(notation: str, dialect: cw.Dialect) -> Any:
    """A tensor of the dialect, a NumPy array or scalar, or a Python number."""
    spec = read_operand(notation)
    if spec.dtype is None:
        return spec.value
    array = np.full(spec.shape, spec.value).astype(NUMPY.native(dtype(spec.dtype)))
    if spec.is_numpy:
        return array[()] if spec.is_scalar else array
    tensor = cw.asarray(array, dialect=dialect)
    return Tensor._of(tensor.array, tensor._kind.with_(is_weak=spec.is_weak))
