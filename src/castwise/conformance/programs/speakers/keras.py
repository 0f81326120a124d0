"""Programs in Keras, on its JAX backend, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence

from castwise.conformance.operand import words
from castwise.conformance.programs.program import Step
from castwise.conformance.programs.recorded import with_augmented
from castwise.conformance.programs.speakers.jax import JaxSpeaker
from castwise.conformance.programs.spelling import AxisWords, arguments, in_list
from castwise.conformance.recorders.keras import KerasRecorder

# They have different parameters.
_NOT_WRITTEN = words("result_type norm")


class KerasSpeaker(JaxSpeaker):
    """The Keras installed here: its functions on JAX's arrays."""

    prelude = (
        'import os\nos.environ["KERAS_BACKEND"] = "jax"\n'
        f"{JaxSpeaker.prelude}\nfrom keras import ops"
    )

    def __init__(self, mode: str = "") -> None:
        super().__init__(mode)
        self._recorder = recorder = KerasRecorder(mode)
        self._found = recorder.found
        self.name, self.dialect = recorder.name, recorder.dialect
        forms = {op: own for op, own in recorder.scope.forms.items() if op not in _NOT_WRITTEN}
        self.menu = self.menu._replace(forms=with_augmented(forms))

    def called(self, step: Step, operands: Sequence[str]) -> str:
        more = ("1", "1") if step.op == "threshold" else ()
        given = arguments(step, in_list(step, operands), AxisWords(), *more)
        return f"{self._found[step.op].path}({given})"


speaker = KerasSpeaker
