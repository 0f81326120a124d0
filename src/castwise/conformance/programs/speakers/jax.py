"""Programs in JAX, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence

from castwise.conformance.operand import words
from castwise.conformance.programs.program import Step
from castwise.conformance.programs.recorded import RecordedSpeaker, with_augmented
from castwise.conformance.programs.speaker import Menu
from castwise.conformance.programs.spelling import AxisWords, arguments, in_list, numbers
from castwise.conformance.recorders.jax import LITERALS, JaxRecorder
from castwise.conformance.recorders.jax_values import JaxValues
from castwise.conformance.values.notation import Held


class JaxSpeaker(RecordedSpeaker):
    """The JAX installed here, in one of its modes."""

    prelude = (
        "import jax\nimport jax.numpy as jnp\nfrom math import inf, nan\n"
        "from jax._src.lax.lax import _convert_element_type"
    )

    def __init__(self, mode: str = "") -> None:
        values = JaxValues(mode)
        super().__init__(values)
        self._found = values.found
        self.menu = Menu(
            dtypes=values.dtypes,
            forms=with_augmented(JaxRecorder(mode).scope.forms),
            literals=LITERALS,
            along_axes=words(
                "sum prod mean any all max min argmax argmin std var median logsumexp"
            ),
            need_axes=words("cumsum cumprod count_nonzero"),
            has_assignment=False,
        )

    def array(self, held: Held) -> str:
        dtype = str(held.dtype)
        values = numbers(held)
        made = f"jnp.zeros({held.shape}" if values is None else f"jnp.array({values}"
        strong = f'{made}, dtype="{dtype.rstrip("*")}")'
        # Public functions make weak arrays only of a single number.
        return f"_convert_element_type({strong}, weak_type=True)" if dtype.endswith("*") else strong

    def cast(self, array: str, dtype: str) -> str:
        return f'{array}.astype("{dtype}")'

    def called(self, step: Step, operands: Sequence[str]) -> str:
        given = arguments(step, in_list(step, operands), AxisWords())
        return f"{self._found[step.op].path}({given})"


speaker = JaxSpeaker
