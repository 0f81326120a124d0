"""Asks PyTorch what it computes, on the CPU or on a CUDA device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.conformance.operand import words
from castwise.conformance.recorders.torch import TorchRecorder
from castwise.conformance.values.notation import Held


class TorchValues(TorchRecorder):
    """The values of the PyTorch installed here."""

    dtypes = words(
        "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
        "complex64 complex128"
    )

    def hold(self, held: Held) -> Any:
        if held.dtype is None:
            return held.values[0]
        dtype = getattr(self._torch, held.dtype)
        array = self._torch.tensor(held.values, dtype=dtype).reshape(held.shape)
        return array.to(self._device)

    def cast(self, array: Any, dtype: str) -> Any:
        return array.to(getattr(self._torch, dtype))

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if op == "where":
            return self._torch.where(*operands)
        return self.bare_call(op, form, operands)  # not call, which looks further for a dtype

    def held_by(self, result: Any) -> Held | None:
        dtype = self.dtype_of(result)
        if dtype is None or not isinstance(result, self._torch.Tensor):
            return None
        values = result.detach().resolve_conj().reshape(-1).tolist()
        return Held(dtype, tuple(result.shape), tuple(values))

    def is_division_by_zero(self, error: Exception) -> bool:
        return "ZeroDivisionError" in str(error)


recorder = TorchValues
