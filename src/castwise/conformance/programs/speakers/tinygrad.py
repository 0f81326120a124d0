"""Programs in tinygrad, on the device that is written in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.conformance.grid import LITERALS
from castwise.conformance.operand import words
from castwise.conformance.programs.program import Operand, Step
from castwise.conformance.programs.recorded import RecordedSpeaker, with_augmented
from castwise.conformance.programs.speaker import Menu
from castwise.conformance.programs.spelling import AxisWords, arguments, numbers
from castwise.conformance.recorders.tinygrad import DTYPES, REVERSIBLE, TinygradRecorder
from castwise.conformance.values.held import numpy_held
from castwise.conformance.values.notation import Held

# They are only about dtypes.
_NOT_WRITTEN = words("result_type promote_types")
_WEAK = {"float32*": "weakfloat"}


class TinygradSpeaker(RecordedSpeaker):
    """The tinygrad installed here, under a default int."""

    # castwise reads no tinygrad arrays: a weak one is passed as a NumPy array marked as weak.
    prelude = (
        "import numpy as np\nfrom tinygrad import Tensor, dtypes\nfrom math import inf, nan\n"
        'Weak = type("Weak", (np.ndarray,), {"weak_type": True, "__module__": "__main__"})'
    )

    def __init__(self, mode: str = "") -> None:
        recorder = TinygradRecorder(mode)
        super().__init__(recorder)
        self._found = recorder.found
        forms = {op: own for op, own in recorder.scope.forms.items() if op not in _NOT_WRITTEN}
        self.menu = Menu(
            # Its float8 numbers can be handed to no other library.
            dtypes=tuple(name for name in DTYPES if not name.startswith("float8")),
            forms=with_augmented(forms),
            literals=tuple(text for text in LITERALS if "j" not in text),
            along_axes=words("sum prod mean any all max min argmax argmin std var logsumexp"),
            need_axes=words("cumprod"),
            has_array_keys=False,  # it takes no masks
        )

    def array(self, held: Held) -> str:
        dtype, values = str(held.dtype), numbers(held)
        if dtype.endswith("*"):  # no memory holds weak numbers, only what is computed of it
            strong = self.array(held._replace(dtype=dtype.rstrip("*")))
            return f"{strong}.cast(dtypes.{_WEAK.get(dtype, 'weakint')})"
        if values is None:
            return f"Tensor.zeros({held.shape}, dtype=dtypes.{dtype})"
        # What is made of a single number is a constant, which nothing can be written into.
        made = f"Tensor({values if held.shape else f'[{values}]'}, dtype=dtypes.{dtype})"
        return made if held.shape else f"{made}.reshape(())"

    def handed(self, held: Held) -> str:
        dtype = str(held.dtype).rstrip("*")
        return f'np.array({list(held.values)}, "{dtype}").reshape({held.shape}).view(Weak)'

    def cast(self, array: str, dtype: str) -> str:
        return f"{array}.cast(dtypes.{dtype}).clone()"  # to its own dtype it is the tensor itself

    def called(self, step: Step, operands: Sequence[str]) -> str:
        first, *others = operands
        more: tuple[str, ...] = ()
        if _is_number(step.operands[0]):
            is_reversed = step.op in REVERSIBLE and isinstance(step.operands[1], str)
            first, others = (others[0], [first]) if is_reversed else (f"Tensor({first})", others)
            more = ("reverse=True",) if is_reversed else ()
        if step.op == "floor_divide":
            more = (*more, 'rounding_mode="floor"')
        name = self._found[step.op].name
        return f"{first}.{name}({arguments(step, others, AxisWords(keeps='keepdim'), *more)})"

    def bound(self, result: Any) -> Any:
        """The result computed: what is written later shows in what was not yet."""
        return result.realize()

    def read(self, array: Any) -> Held | None:
        from tinygrad import Tensor, dtypes

        dtype = self._recorder.dtype_of(array) if isinstance(array, Tensor) else None
        if dtype is None:
            return None
        # NumPy itself has no bfloat16 to read, and a constant has no memory.
        wide = array.cast(dtypes.float32) if dtype == "bfloat16" else array
        try:
            return numpy_held(wide.contiguous().realize().numpy())._replace(dtype=dtype)
        except Exception:  # an expression that was built and cannot be computed holds nothing
            return None


speaker = TinygradSpeaker


def _is_number(operand: Operand) -> bool:
    return not isinstance(operand, str) and operand.dtype is None
