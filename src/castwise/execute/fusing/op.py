"""FusedOp: an op whose casts and computation are one loop over large arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from castwise.engine.decision import Decision
from castwise.execute.backend import Backend
from castwise.execute.functions.lookup import Function
from castwise.execute.fusing import kernels
from castwise.execute.fusing.lowering import lowered
from castwise.execute.steps.steps import Steps
from castwise.kernels.layouts import Memory, broadcast_strides
from castwise.kernels.program import Lowered
from castwise.kernels.writing import NotLoweredError
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import UNDEFINED


class FusedOp:
    """An op as one kernel. It is compiled once the op has been used enough."""

    def __init__(
        self, programs: Sequence[Lowered], holder: kernels.HasMemory, are_numbers: Sequence[bool]
    ) -> None:
        self.programs, self._holder = programs, holder
        self._numbers = [place for place, is_number in enumerate(are_numbers) if is_number]
        self._work = 0  # elements that were computed without a kernel

    def unless_small(self, plain: Function, casts: Sequence[Function | None]) -> Function:
        """A computation by the plain function for small arrays, and by the kernel for large ones,
        whose numbers are first cast."""
        size, least, numbers = self._holder.size_of, kernels.LEAST_SIZE, self._numbers

        def run_two(x: Any, y: Any, **options: Any) -> Any:
            if (size(x) < least and size(y) < least) or options:
                return plain(x, y, **options)
            found = self.run((x, y))
            return plain(x, y) if found is None else found

        def run(*operands: Any, **options: Any) -> Any:
            arrays = [o for place, o in enumerate(operands) if place not in numbers]
            if options or all(size(array) < least for array in arrays):
                return plain(*operands, **options)
            given = list(operands)
            for place in numbers:
                cast = casts[place]
                given[place] = self._holder.as_array(cast(given[place]) if cast else given[place])
            found = self.run(given)
            return plain(*operands) if found is None else found

        return run_two if len(casts) == 2 and not numbers else run

    def with_number(self, plain: Function, place: int, number: Any) -> Function:
        """The same for one array and a number, which is already cast."""
        size, least = self._holder.size_of, kernels.LEAST_SIZE
        known = self._holder.as_array(number)

        def run(x: Any) -> Any:
            if size(x) < least:
                return plain(x)
            found = self.run((x, known) if place else (known, x))
            return plain(x) if found is None else found

        return run

    def run(self, arrays: Sequence[Any], target: Any = None) -> Any:
        """The result for arrays of the program's dtypes, written to a target if there is one; None
        if the plain path must compute it."""
        places = [self._holder.memory(array) for array in arrays]
        if None in places:
            return None
        shape = _broadcast([array.shape for array in arrays])
        if shape is None:
            return None  # the library says what is wrong
        if target is None:
            target = self._holder.empty(shape, self.programs[0].results[0], list(arrays))
        place = self._holder.memory(target)
        if place is None:
            return None
        memories = [
            Memory(p.address, broadcast_strides(shape, array.shape, p.strides), p.itemsize)
            for p, array in zip([place, *places], [target, *arrays], strict=True)
            if p is not None
        ]
        return target if self._computed(shape, memories) else None

    def _computed(self, shape: tuple[int, ...], memories: Sequence[Memory]) -> bool:
        may_compile = self._work >= kernels.LEAST_WORK
        processor = kernels.processor()
        assert processor is not None
        for program in self.programs:
            found = processor.run(program, shape, memories, may_compile=may_compile)
            if found:
                return True
            if found is None:
                self._work += math.prod(shape)
                return False
        return False


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The common shape; None if there is none."""
    longest = max(shapes, key=len)
    found = list(longest)
    for shape in shapes:
        if shape == longest:
            continue
        for n in range(1, len(shape) + 1):
            if found[-n] == 1:
                found[-n] = shape[-n]
            elif shape[-n] not in (1, found[-n]):
                return None
    return tuple(found)


def fused_op(steps: Steps, decision: Decision, backend: Backend) -> FusedOp | None:
    """The op of a decision as a kernel; None if there are none here, or for this op."""
    holder = kernels.memory_of(backend)
    traits = kernels.traits_for(backend, steps.values) if holder else None
    if holder is None or traits is None or not steps.is_elementwise:
        return None
    operands = [o for o in decision.question.operands if o is not UNDEFINED]
    sources: list[DType | None] = [None if o.is_scalar else o.dtype for o in operands]
    try:
        programs = lowered(steps, sources, backend, traits)
    except NotLoweredError:
        return None
    return FusedOp(programs, holder, [source is None for source in sources])
