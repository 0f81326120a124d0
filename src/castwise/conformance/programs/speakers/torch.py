"""Programs in PyTorch, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.conformance.grid import LITERALS
from castwise.conformance.operand import words
from castwise.conformance.programs.program import Step
from castwise.conformance.programs.recorded import RecordedSpeaker, with_augmented
from castwise.conformance.programs.speaker import Menu
from castwise.conformance.programs.spelling import AxisWords, arguments, in_list, numbers
from castwise.conformance.recorders.torch import NEED_AXIS
from castwise.conformance.recorders.torch_errors import is_missing_kernel
from castwise.conformance.recorders.torch_values import TorchValues
from castwise.conformance.values.notation import Held


class TorchSpeaker(RecordedSpeaker):
    """The PyTorch installed here."""

    prelude = "import torch\nfrom math import inf, nan"

    def __init__(self, mode: str = "") -> None:
        self._values = TorchValues(mode)
        super().__init__(self._values)
        self.menu = Menu(
            dtypes=self._values.dtypes,
            forms=with_augmented(self._values.scope.forms, "inplace"),
            literals=LITERALS,
            along_axes=words("sum prod mean any all argmax argmin std var logsumexp"),
            need_axes=NEED_AXIS,
            has_axis_of_0d=True,
        )

    def array(self, held: Held) -> str:
        values = numbers(held)
        made = f"torch.zeros({held.shape}" if values is None else f"torch.tensor({values}"
        return f"{made}, dtype=torch.{held.dtype})"

    def cast(self, array: str, dtype: str) -> str:
        return f"{array}.to(torch.{dtype}, copy=True)"

    def called(self, step: Step, operands: Sequence[str]) -> str:
        more = ("1", "1") if step.op == "threshold" else ()
        passed = operands[1:] if step.form == "inplace" else in_list(step, operands)
        found = self._values.found[step.op]
        given = arguments(step, passed, AxisWords("dim", "keepdim"), *more)
        if step.form == "inplace":
            return f"{operands[0]}.{found.name}_({given})"
        return f"{found.path}({given})"

    def read(self, array: Any) -> Held | None:
        return self._values.held_by(array)

    def is_no_answer(self, error: Exception) -> bool:
        is_missing = isinstance(error, RuntimeError) and is_missing_kernel(error)
        return is_missing or super().is_no_answer(error)


speaker = TorchSpeaker
