"""Programs in NumPy, 1 or 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.conformance.grid import LITERALS
from castwise.conformance.operand import words
from castwise.conformance.programs.program import Step
from castwise.conformance.programs.recorded import RecordedSpeaker, with_augmented
from castwise.conformance.programs.speaker import Menu
from castwise.conformance.programs.spelling import AxisWords, arguments, in_list, numbers
from castwise.conformance.recorders.numpy_values import NumpyValues
from castwise.conformance.values.notation import Held


class NumpySpeaker(RecordedSpeaker):
    """The NumPy installed here."""

    prelude = "import numpy as np\nfrom ml_dtypes import bfloat16\nfrom math import inf, nan"

    def __init__(self, mode: str = "") -> None:
        import numpy as np

        values = NumpyValues(mode)
        super().__init__(values)
        self._np: Any = np
        self._found = values.found
        self.menu = Menu(
            dtypes=values.dtypes,
            forms=with_augmented(values.scope.forms),
            literals=LITERALS,
            along_axes=words("sum prod mean any all max min argmax argmin std var median"),
            need_axes=words("cumsum cumprod count_nonzero"),
        )

    def array(self, held: Held) -> str:
        values, dtype = numbers(held), _dtype(str(held.dtype))
        return (
            f"np.zeros({held.shape}, {dtype})" if values is None else f"np.array({values}, {dtype})"
        )

    def cast(self, array: str, dtype: str) -> str:
        return f"{array}.astype({_dtype(dtype)})"

    def called(self, step: Step, operands: Sequence[str]) -> str:
        given = arguments(step, in_list(step, operands), AxisWords())
        return f"{self._found[step.op].path}({given})"

    def bound(self, result: Any) -> Any:
        """A scalar, which NumPy gives for one element, as a 0-d array."""
        return self._np.asarray(result)


speaker = NumpySpeaker


def _dtype(name: str) -> str:
    return name if name == "bfloat16" else f'"{name}"'
