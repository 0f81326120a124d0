"""Programs in MLX, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.conformance.grid import LITERALS, LOSSES
from castwise.conformance.operand import words
from castwise.conformance.programs.program import Step
from castwise.conformance.programs.recorded import RecordedSpeaker, with_augmented
from castwise.conformance.programs.speaker import Menu
from castwise.conformance.programs.spelling import AxisWords, arguments, in_list, numbers
from castwise.conformance.recorders.mlx import DTYPES, MlxRecorder
from castwise.conformance.values.held import numpy_held
from castwise.conformance.values.notation import Held

# nn.log_softmax of a 0-d array ends the process; the others are only about dtypes.
_NOT_WRITTEN = words("log_softmax result_type can_cast")


class MlxSpeaker(RecordedSpeaker):
    """The MLX installed here."""

    prelude = (
        "import mlx.core as mx\nimport numpy as np\nfrom mlx import nn\nfrom math import inf, nan"
    )

    def __init__(self, mode: str = "") -> None:
        recorder = MlxRecorder(mode)
        super().__init__(recorder)
        self._found = recorder.found
        forms = {op: own for op, own in recorder.scope.forms.items() if op not in _NOT_WRITTEN}
        self.menu = Menu(
            dtypes=DTYPES,
            forms=with_augmented(forms),
            literals=LITERALS,
            along_axes=words("sum prod mean any all max min argmax argmin std var logsumexp"),
            need_axes=words("cumsum cumprod softmax"),
            has_array_keys=False,  # places out of bounds are read, whatever is there
        )

    def array(self, held: Held) -> str:
        values, dtype = numbers(held), _dtype(str(held.dtype))
        if values is None:
            return f"mx.zeros({held.shape}, dtype={dtype})"
        if "int" in str(held.dtype):  # of which MLX itself does not read the largest
            return f'mx.array(np.array({values}, "{held.dtype}"))'
        return f"mx.array({values}, dtype={dtype})"

    def cast(self, array: str, dtype: str) -> str:
        return f"{array}.astype({_dtype(dtype)})"

    def called(self, step: Step, operands: Sequence[str]) -> str:
        more = ('reduction="mean"',) if step.op in LOSSES else ()
        given = arguments(step, in_list(step, operands), AxisWords(), *more)
        return f"{self._found[step.op].path}({given})"

    def read(self, array: Any) -> Held | None:
        import mlx.core as mx
        import numpy as np

        if not isinstance(array, mx.array):
            return None
        # NumPy itself has no bfloat16 to read.
        wide = array.astype(mx.float32) if array.dtype == mx.bfloat16 else array
        dtype = self._recorder.dtype_of(array)
        return numpy_held(np.array(wide))._replace(dtype=dtype)


speaker = MlxSpeaker


def _dtype(name: str) -> str:
    return "mx.bool_" if name == "bool" else f"mx.{name}"
