"""Runs a plan with kernels, and without them where their results do not count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from castwise.execute.backend import Backend
from castwise.execute.fusing import kernels
from castwise.execute.fusing.program import FusedProgram

Run = Callable[..., "tuple[Any, ...]"]
_MOST_ALARMS = 8  # in a row, after which a plan no longer tries


class AlarmedError(Exception):
    """Raised by a step whose kernel could not compute it."""


def has_large(backend: Backend, arrays: Sequence[Any]) -> bool:
    """Whether any array is large enough for a kernel."""
    holder = kernels.memory_of(backend)
    if holder is None or not kernels.are_there():
        return False
    least = kernels.least_size()
    return any(holder.size_of(array) >= least for array in arrays)


def kernel_step(program: FusedProgram) -> Callable[..., Sequence[Any]]:
    """A function of arrays that gives all results of a kernel."""

    def computed(*arrays: Any) -> Sequence[Any]:
        found = program.run(arrays, may_compile=True)
        if found is None:
            raise AlarmedError
        return found

    return computed


def unless_alarmed(fused: Run, plain: Run, programs: Sequence[FusedProgram]) -> Run:
    """A plan with kernels that starts again without them after an alarm. Nothing was written yet:
    a program writes its state at its end."""
    if not programs:
        return plain
    alarms = 0

    def run(*given: Any) -> tuple[Any, ...]:
        nonlocal alarms
        if alarms >= _MOST_ALARMS:
            return plain(*given)
        try:
            found = fused(*given)
        except AlarmedError:
            alarms += 1
            return plain(*given)
        alarms = 0
        return found

    return run
