"""FusedProgram: a lowered program on the arrays of a backend."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from castwise.execute.fusing import kernels
from castwise.kernels.emitter import Traits
from castwise.kernels.layouts import Memory, broadcast_strides
from castwise.kernels.program import Lowered
from castwise.kernels.writing import NotLoweredError
from castwise.rules.values import Values

# Writes the programs for a device; the next is tried where one ends with an alarm.
Write = Callable[[Traits], "tuple[Lowered, ...]"]


class FusedProgram:
    """What one kernel computes, on any device. It is compiled once it has been used enough."""

    def __init__(self, holder: kernels.HasMemory, values: Values | None, write: Write) -> None:
        self.holder, self._values, self._write = holder, values, write
        self._programs: dict[str, tuple[Lowered, ...]] = {}  # by device
        self._work = 0  # elements that were computed without a kernel

    def on(self, device: str) -> tuple[Lowered, ...]:
        """The programs for a device; none if it has no kernels, or not for this."""
        if device == "none":
            return ()
        found = self._programs.get(device)
        if found is None:
            found = self._programs[device] = self._written(device)
        return found

    def _written(self, device: str) -> tuple[Lowered, ...]:
        traits = kernels.traits_for(self.holder, device, self._values)
        try:
            programs = self._write(traits) if traits else ()
        except NotLoweredError:
            return ()
        if device == "cpu":
            return programs
        # Whether there was an alarm is known only when the GPU is done.
        return tuple([program for program in programs if not program.has_alarm][:1])

    def run(self, arrays: Sequence[Any], targets: Sequence[Any] = ()) -> Sequence[Any] | None:
        """The results for arrays of the program's dtypes, in new arrays or in the given ones; None
        if the plain path must compute them."""
        shape = _broadcast([tuple(array.shape) for array in arrays])
        if shape is None:
            return None  # the library says what is wrong
        given, device = self._on_one_device(arrays)
        programs = self.on(device)
        if not programs or math.prod(shape) < kernels.COSTS[kernels.device_kind(device)].size:
            return None
        results = targets or [
            self.holder.empty(shape, dtype, given) for dtype in programs[0].results
        ]  # fmt: skip
        memories = [self._memory(array, shape, device) for array in (*results, *given)]
        known = [memory for memory in memories if memory]
        if len(known) < len(memories) or not self._computed(programs, device, shape, known):
            return None
        return results

    def _on_one_device(self, arrays: Sequence[Any]) -> tuple[list[Any], str]:
        """The arrays, with those that are numbers on the device of the others."""
        large = next((array for array in arrays if array.shape), arrays[0])
        place = self.holder.memory(large)
        device = place.device if place else "none"
        if device in ("cpu", "none"):
            return list(arrays), device
        return [a if a.shape else self.holder.moved(a, device) for a in arrays], device

    def _memory(self, array: Any, shape: tuple[int, ...], device: str) -> Memory | None:
        """Where an array is, broadcast to a shape; None if it is not on the device."""
        place = self.holder.memory(array)
        if place is None or place.device != device:
            return None
        return place._replace(strides=broadcast_strides(shape, tuple(array.shape), place.strides))

    def _computed(
        self, programs: Sequence[Lowered], device: str, shape: tuple[int, ...],
        memories: Sequence[Memory],
    ) -> bool:  # fmt: skip
        kind = kernels.device_kind(device)
        generator, may_compile = kernels.generator(kind), self._work >= kernels.COSTS[kind].work
        assert generator is not None
        for program in programs:
            found = generator.run(program, shape, memories, may_compile=may_compile)
            if found is None:
                self._work += math.prod(shape)
            if found is not False:
                return bool(found)
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
