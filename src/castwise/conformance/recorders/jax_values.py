"""Asks JAX what it computes, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.conformance.recorders.jax import JaxRecorder
from castwise.conformance.values.held import numpy_array, numpy_held
from castwise.conformance.values.notation import Held
from castwise.conformance.values.operands import DTYPES as VALUE_DTYPES

_WIDE = ("int64", "uint64", "float64", "complex128")  # without x64 no array has them


class JaxValues(JaxRecorder):
    """The values of the JAX installed here."""

    def __init__(self, mode: str = "") -> None:
        super().__init__(mode)
        self.dtypes = tuple(d for d in VALUE_DTYPES if self._has_x64 or d not in _WIDE)
        # An operator calls its function, but is compiled anew.
        functions = {
            op: tuple(form for form in forms if form != "operator")
            for op, forms in self.scope.forms.items()
        }
        self.scope = self.scope._replace(forms=functions)

    def hold(self, held: Held) -> Any:
        made = numpy_array(held)
        return made if held.dtype is None else self._jax.numpy.asarray(made)

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype)

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if op == "where":
            return self._jax.numpy.where(*operands)
        return self.bare_call(op, form, operands)  # not call, which computes nothing

    def held_by(self, result: Any) -> Held | None:
        return numpy_held(result) if self.dtype_of(result) else None

    def is_division_by_zero(self, error: Exception) -> bool:
        return isinstance(error, ZeroDivisionError)


recorder = JaxValues
