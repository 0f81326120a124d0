"""FusedOp: an op whose casts and computation are one loop over large arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.engine.decision import Decision
from castwise.execute.backend import Backend
from castwise.execute.functions.lookup import Function
from castwise.execute.fusing import kernels
from castwise.execute.fusing.lowering import lowered, may_be_lowered
from castwise.execute.fusing.program import FusedProgram
from castwise.execute.steps.steps import EntryCast, Steps
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import UNDEFINED


class FusedOp:
    """How an op is computed on large arrays; small ones are left to the plain path."""

    def __init__(
        self, program: FusedProgram, casts: Sequence[EntryCast | None], numbers: Sequence[int]
    ) -> None:
        self.program, self._casts = program, casts
        self._numbers = numbers  # the places of operands that are Python numbers

    def unless_small(self, plain: Function) -> Function:
        """A computation of small arrays by a plain function, and of large ones by a kernel."""
        holder, run, least = self.program.holder, self.program.run, kernels.least_size()
        size, numbers = holder.size_of, frozenset(self._numbers)

        def large(x: Any, y: Any) -> Any:
            found = run((x, y))
            return plain(x, y) if found is None else found[0]

        def of_any(*operands: Any) -> Any:
            arrays = [o for place, o in enumerate(operands) if place not in numbers]
            if all(size(array) < least for array in arrays):
                return plain(*operands)
            found = run([self._given(place, o) for place, o in enumerate(operands)])
            return plain(*operands) if found is None else found[0]

        if len(self._casts) == 2 and not numbers:  # as short as it can be: every operator passes it
            return holder.by_size(plain, large, least)
        return of_any

    def with_number(self, plain: Function, place: int, number: Any) -> Function:
        """The same for one array and a number, which is already cast."""
        size, run, known = self.program.holder.size_of, self.program.run, self._as_array(number)
        least = kernels.least_size()

        def of_one(x: Any) -> Any:
            if size(x) < least:
                return plain(x)
            found = run((x, known) if place else (known, x))
            return plain(x) if found is None else found[0]

        return of_one

    def writes(self, target: Any, operands: Sequence[Any]) -> bool:
        """Whether a kernel has computed into an array. If not, it has changed nothing."""
        holder = self.program.holder
        if holder.size_of(target) < kernels.least_size():
            return False
        arrays = [self._given(place, operand) for place, operand in enumerate(operands)]
        if not holder.may_write(target, arrays):
            return False
        is_written = self.program.run(arrays, [target]) is not None
        if is_written:
            holder.wrote(target)
        return is_written

    def _given(self, place: int, operand: Any) -> Any:
        """An array unchanged, and a number in the dtype that the op needs."""
        if place not in self._numbers:
            return operand
        cast = self._casts[place]
        return self._as_array(cast(operand) if cast else operand)

    def _as_array(self, number: Any) -> Any:
        return self.program.holder.as_array(number)


def fused_op(steps: Steps, decision: Decision, backend: Backend) -> FusedOp | None:
    """The op of a decision as a kernel; None if no device has a kernel for it."""
    holder = kernels.memory_of(backend)
    if holder is None or not may_be_lowered(steps) or not kernels.are_there():
        return None
    if holder.is_as_fast(steps):
        return None
    operands = [o for o in decision.question.operands if o is not UNDEFINED]
    sources: list[DType | None] = [None if o.is_scalar else o.dtype for o in operands]
    numbers = [place for place, source in enumerate(sources) if source is None]
    program = FusedProgram(
        holder, steps.values, lambda traits: lowered(steps, sources, backend, traits), numbers
    )
    return FusedOp(program, steps.entry_casts(backend), numbers)
