"""Programs in TensorFlow, on the CPU, eagerly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from castwise.conformance.grid import LITERALS
from castwise.conformance.operand import words
from castwise.conformance.programs.program import Step
from castwise.conformance.programs.recorded import RecordedSpeaker, with_augmented
from castwise.conformance.programs.speaker import Menu
from castwise.conformance.programs.spelling import AxisWords, arguments, in_list, numbers
from castwise.conformance.recorders.tensorflow import DTYPES, TensorflowRecorder
from castwise.conformance.values.held import numpy_held
from castwise.conformance.values.notation import Held

# They take only matrices, or an axis that castwise has no name for.
_NOT_WRITTEN = words("matmul dot result_type")


class TensorflowSpeaker(RecordedSpeaker):
    """The TensorFlow installed here."""

    prelude = "import tensorflow as tf\nfrom math import inf, nan"

    def __init__(self, mode: str = "") -> None:
        recorder = TensorflowRecorder(mode)
        super().__init__(recorder)
        self._found = recorder.found
        import tensorflow as tf

        self._tf: Any = tf
        forms = {op: own for op, own in recorder.scope.forms.items() if op not in _NOT_WRITTEN}
        self.menu = Menu(
            dtypes=DTYPES,
            forms=with_augmented(forms),
            literals=LITERALS,
            along_axes=words("sum prod mean any all max min std var logsumexp count_nonzero"),
            need_axes=words("cumsum cumprod argmax argmin"),
            has_axis_of_0d=True,
            has_assignment=False,
            has_array_keys=False,
        )

    @contextmanager
    def session(self) -> Iterator[None]:
        logger = self._tf.get_logger()
        level = logger.level
        logger.setLevel("ERROR")  # it tells of every cast that drops an imaginary part
        try:
            with super().session():
                yield
        finally:
            logger.setLevel(level)

    def array(self, held: Held) -> str:
        values = numbers(held)
        made = f"tf.zeros({held.shape}" if values is None else f"tf.constant({values}"
        return f'{made}, dtype="{held.dtype}")'

    def cast(self, array: str, dtype: str) -> str:
        return f'tf.cast({array}, "{dtype}")'

    def called(self, step: Step, operands: Sequence[str]) -> str:
        more = ("axis=0",) if step.op == "concat" else ()
        given = arguments(step, in_list(step, operands), AxisWords(), *more)
        return f"{self._found[step.op].path}({given})"

    def read(self, array: Any) -> Held | None:
        dtype = self._recorder.dtype_of(array)
        return numpy_held(array.numpy())._replace(dtype=dtype) if dtype else None

    def is_no_answer(self, error: Exception) -> bool:
        from tensorflow.python import pywrap_tfe

        # A scalar that failed to convert may be found in this cache, or end the process there.
        pywrap_tfe.TFE_ClearScalarCache()
        return super().is_no_answer(error)


speaker = TensorflowSpeaker
