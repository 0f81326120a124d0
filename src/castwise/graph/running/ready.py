"""A program that is ready to run again and again on tensors of the same kinds and shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from castwise.execute.backend import TracesAlone
from castwise.execute.tensor import Tensor
from castwise.graph.program import Program
from castwise.graph.running.arguments import common_backend
from castwise.graph.running.number_steps import Numbers, OtherNumbersError
from castwise.graph.running.plan import plan_of
from castwise.graph.running.run import notify, returned, run_program
from castwise.graph.running.state import is_as_traced
from castwise.graph.structure import Slot
from castwise.vocab.operands import Scalar

_NO_SIZES: dict[str, int] = {}


class Ready:
    """Runs a program on tensors of the kinds and shapes of the given ones, without checking them
    again, unless it has state or symbolic sizes."""

    def __init__(self, program: Program, tensors: Sequence[Tensor], numbers: Numbers) -> None:
        self.program, self._numbers = program, numbers
        backend = common_backend(tensors, None)
        self._plan = plan_of(program, backend, [tensor._array for tensor in tensors], numbers)
        self._plain = backend.plain if isinstance(backend, TracesAlone) else None
        pairs = zip(tensors, program.inputs, strict=True)
        is_held = all(tensor.dtype is node.dtype for tensor, node in pairs)
        is_known = all(isinstance(n, int) for node in program.inputs for n in node.shape)
        self._is_checked = bool(program.state) or not is_held or not is_known
        # A function of the arrays and numbers, if they are all that the program needs. It gives
        # NotImplemented for arrays that another plan is for.
        self.of_list = None if self._is_checked else self._free()

    def _free(self) -> Callable[[Sequence[Any]], Any]:
        kinds, program, run = self._plan.kinds, self.program, self._plan.run
        written = self._plan.written
        if program.structure == Slot(0) and written:
            of_list: Callable[[Sequence[Any]], Any] = written.of_list(kinds[0])
        else:
            of_list = lambda given: returned(program, kinds, run(_NO_SIZES, *given))  # noqa: E731
        plain, count = self._plain, len(program.inputs)
        if plain is None:
            return of_list

        def of_plain(given: Sequence[Any]) -> Any:
            is_plain = all([type(array) is plain for array in given[:count]])
            return of_list(given) if is_plain else NotImplemented

        return of_plain

    def run(self, tensors: Sequence[Tensor], numbers: Sequence[Scalar]) -> Any:
        """The program's results; it notifies watchers.

        Raises OtherNumbersError if the program is not for these numbers, or not for the state that
        it reads.
        """
        arrays = [tensor._array for tensor in tensors]
        plain = self._plain
        if self._is_checked or (plain and any(type(array) is not plain for array in arrays)):
            return self._checked(tensors, numbers)
        found = self._plan.run(_NO_SIZES, *arrays, *numbers)
        notify(self.program, _NO_SIZES)
        return returned(self.program, self._plan.kinds, found)

    def _checked(self, tensors: Sequence[Tensor], numbers: Sequence[Scalar]) -> Any:
        if not is_as_traced(self.program):
            raise OtherNumbersError
        return run_program(self.program, tensors, numbers=numbers, computed_from=self._numbers)
