"""Programs in PaddlePaddle, in dynamic graph mode on the CPU."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from castwise.conformance.grid import LITERALS, SCANS
from castwise.conformance.operand import words
from castwise.conformance.programs.program import ASSIGN, Step
from castwise.conformance.programs.recorded import RecordedSpeaker, with_augmented
from castwise.conformance.programs.speaker import Menu
from castwise.conformance.programs.spelling import AxisWords, arguments, in_list, numbers
from castwise.conformance.recorders.paddle import PaddleRecorder
from castwise.conformance.recorders.paddle_errors import is_missing_kernel
from castwise.conformance.values.held import numpy_held
from castwise.conformance.values.notation import Held

# Of uint16, uint32 and uint64 it computes next to nothing.
DTYPES = words(
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
)
# Its power of an integer may never return; the others have different parameters.
_NOT_WRITTEN = words("pow result_type promote_types huber_loss threshold norm")
_WANTS_TENSOR = re.compile("must be (Tensor|tensor type)")


class PaddleSpeaker(RecordedSpeaker):
    """The PaddlePaddle installed here."""

    prelude = "import paddle\nfrom math import inf, nan"

    def __init__(self, mode: str = "") -> None:
        recorder = PaddleRecorder(mode)
        super().__init__(recorder)
        self._found = recorder.found
        forms = {op: own for op, own in recorder.scope.forms.items() if op not in _NOT_WRITTEN}
        self.menu = Menu(
            dtypes=DTYPES,
            forms=with_augmented(forms, "inplace"),
            literals=LITERALS,
            along_axes=words("sum prod mean any all max min argmax argmin std var logsumexp"),
            need_axes=SCANS,
            has_array_keys=False,  # places out of bounds are written to, whatever is there
            is_left_out=_is_left_out,
        )

    def array(self, held: Held) -> str:
        values = numbers(held)
        made = f"paddle.zeros({held.shape}" if values is None else f"paddle.to_tensor({values}"
        return f'{made}, dtype="{held.dtype}")'

    def cast(self, array: str, dtype: str) -> str:
        return f'{array}.astype("{dtype}").clone()'  # to its own dtype it is the tensor itself

    def called(self, step: Step, operands: Sequence[str]) -> str:
        found = self._found[step.op]
        named = AxisWords("dim" if step.op == "cumprod" else "axis", "keepdim")
        if step.form == "inplace":
            return f"{operands[0]}.{found.name}_({arguments(step, operands[1:], named)})"
        return f"{found.path}({arguments(step, in_list(step, operands), named)})"

    def read(self, array: Any) -> Held | None:
        dtype = self._recorder.dtype_of(array)
        if dtype is None:
            return None
        # NumPy is handed the bits of a bfloat16.
        held = array.astype("float32") if dtype == "bfloat16" else array
        return numpy_held(held.numpy())._replace(dtype=dtype)

    def is_no_answer(self, error: Exception) -> bool:
        is_signature = _WANTS_TENSOR.search(str(error)) is not None
        return is_signature or is_missing_kernel(error) or super().is_no_answer(error)


speaker = PaddleSpeaker


def _is_left_out(step: Step) -> bool:
    """Whether a Python complex number is assigned, which ends the process."""
    value = step.operands[-1]
    if isinstance(value, str) or value.dtype is not None:
        return False
    return step.op == ASSIGN and isinstance(value.values[0], complex)
