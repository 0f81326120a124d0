"""A program that is ready to run again and again on tensors of the same kinds and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.execute import tracing
from castwise.execute.backend import TracesAlone
from castwise.execute.fast_path import watchers
from castwise.execute.tensor import Tensor
from castwise.graph.program import Program
from castwise.graph.running.arguments import common_backend
from castwise.graph.running.number_steps import Numbers, OtherNumbersError
from castwise.graph.running.plan import plan_of
from castwise.graph.running.run import notify, returned, run_program
from castwise.graph.running.state import is_as_traced
from castwise.graph.structure import Slot
from castwise.vocab.operands import Scalar

_new = object.__new__
_NO_SIZES: dict[str, int] = {}


class Ready:
    """Runs a program on tensors of the kinds and shapes of the given ones, without checking them
    again, unless it has state or symbolic sizes."""

    def __init__(self, program: Program, tensors: Sequence[Tensor], numbers: Numbers) -> None:
        self.program, self._numbers = program, numbers
        backend = common_backend(tensors, None)
        plan = plan_of(program, backend, [tensor._array for tensor in tensors], numbers)
        self._run, self._kinds = plan.run, plan.kinds
        self._one = plan.kinds[0] if program.structure == Slot(0) else None
        self._plain = backend.plain if isinstance(backend, TracesAlone) else None
        pairs = zip(tensors, program.inputs, strict=True)
        is_held = all(tensor.dtype is node.dtype for tensor, node in pairs)
        is_known = all(isinstance(n, int) for node in program.inputs for n in node.shape)
        self._is_checked = bool(program.state) or not is_held or not is_known
        self.is_free = not self._is_checked and self._plain is None  # arrays are all that it needs

    def run(self, tensors: Sequence[Tensor], numbers: Sequence[Scalar]) -> Any:
        """The program's results.

        Raises OtherNumbersError if the program is not for these numbers, or not for the state that
        it reads.
        """
        arrays = [tensor._array for tensor in tensors]
        plain = self._plain
        if self._is_checked or (plain and any(type(array) is not plain for array in arrays)):
            return self._checked(tensors, numbers)
        return self.of_arrays((*arrays, *numbers))

    def of_arrays(self, arrays: Sequence[Any]) -> Any:
        """The program's results for arrays, and the numbers after them."""
        found = self._run(_NO_SIZES, *arrays)
        if watchers():
            notify(self.program, _NO_SIZES)
        if self._one is None or tracing.running:
            return returned(self.program, self._kinds, found)
        tensor = _new(Tensor)
        tensor._array, tensor._kind = found[0], self._one
        return tensor

    def _checked(self, tensors: Sequence[Tensor], numbers: Sequence[Scalar]) -> Any:
        if not is_as_traced(self.program):
            raise OtherNumbersError
        return run_program(self.program, tensors, numbers=numbers, computed_from=self._numbers)
