"""FusedProgram: a lowered program on the arrays of a backend."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from castwise.execute.fusing import kernels
from castwise.kernels.emitter import Traits
from castwise.kernels.layouts import Place, Strides, broadcast_strides
from castwise.kernels.program import Lowered
from castwise.kernels.threads import get_threads
from castwise.kernels.writing import NotLoweredError
from castwise.rules.values import Values

# Writes the programs for a device; the next is tried where one ends with an alarm.
Write = Callable[[Traits], "tuple[Lowered, ...]"]
Launch = Callable[[Sequence[int]], bool]  # computes arrays at these addresses
_MOST_CALLS = 256  # layouts of arrays that are remembered


@dataclass
class _Call:
    """What arrays of one layout need, whatever their addresses."""

    device: str
    programs: tuple[Lowered, ...]  # none: the plain path computes such arrays
    shape: tuple[int, ...]
    strides: Strides  # of the arrays, broadcast
    makers: Sequence[Callable[[Sequence[Any]], Any]] = ()  # of new results
    made: Strides | None = None  # the strides of new results, once there were any
    # What computes each program that was needed yet, by the strides of the results and the number
    # of threads.
    launches: dict[tuple[Strides, int, Lowered], Launch] = field(default_factory=dict)


class FusedProgram:
    """What one kernel computes, on any device. It is compiled once it has been used enough."""

    def __init__(
        self, holder: kernels.HasMemory, values: Values | None, write: Write,
        numbers: Sequence[int] = (),
    ) -> None:  # fmt: skip
        self.holder, self._values, self._write = holder, values, write
        self._numbers = frozenset(numbers)  # the places of operands that are numbers
        self._programs: dict[str, tuple[Lowered, ...]] = {}  # by device
        self._calls: dict[tuple[object, ...], _Call] = {}
        self._work = 0  # elements that were computed without a kernel

    def on(self, device: str) -> tuple[Lowered, ...]:
        """The programs for a device; none if it has no kernels, or not for this."""
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

    def run(
        self, arrays: Sequence[Any], targets: Sequence[Any] = (), *, may_compile: bool = False
    ) -> Sequence[Any] | None:
        """The results for arrays of the program's dtypes, in new arrays or in the given ones; None
        if the plain path must compute them. `may_compile`: also if it was not used much yet."""
        holder = self.holder
        key = (len(targets), *[holder.place(array) for array in arrays])
        call = self._calls.get(key)
        if call is None:
            call = self._remember(key, arrays)
        if not call.programs or any(tuple(t.shape) != call.shape for t in targets):
            return None
        if call.device != "cpu":
            arrays = [
                holder.moved(a, call.device) if n in self._numbers else a
                for n, a in enumerate(arrays)
            ]
        results = targets or [make(arrays) for make in call.makers]
        strides = None if targets else call.made
        if strides is None:
            strides = self._strides(results)
            if strides is None:
                return None
            if not targets:
                call.made = strides
        addresses = [holder.address(array) for array in (*results, *arrays)]
        return results if self._computed(call, strides, addresses, may_compile) else None

    def _strides(self, results: Sequence[Any]) -> Strides | None:
        """The strides of results; None if a kernel may not write them."""
        places = [self.holder.place(result) for result in results]
        return None if None in places else tuple([place.strides for place in places if place])

    def _remember(self, key: tuple[int | Place | None, ...], arrays: Sequence[Any]) -> _Call:
        if len(self._calls) >= _MOST_CALLS:
            self._calls.clear()
        targets, *places = key
        call = self._call(cast("list[Place | None]", places), arrays)
        if targets:  # which may be operands: they must not change before it is sure that they may
            call.programs = tuple([p for p in call.programs if not p.has_alarm][-1:])
        self._calls[key] = call
        return call

    def _call(self, places: Sequence[Place | None], arrays: Sequence[Any]) -> _Call:
        """What arrays of a layout need."""
        shape = _broadcast([tuple(array.shape) for array in arrays])
        known = [place for place in places if place]
        if shape is None or len(known) < len(places):
            return _Call("none", (), (), ())  # if the shapes do not fit, the library says so
        # A number of the host computes with arrays of any device.
        on = {place.device for n, place in enumerate(known) if n not in self._numbers}
        device = next(iter(on), known[0].device)
        least = kernels.COSTS[kernels.device_kind(device)].size
        if len(on) > 1 or math.prod(shape) < least:
            return _Call(device, (), shape, ())
        strides = [broadcast_strides(shape, place.shape, place.strides) for place in known]
        programs = self.on(device)
        makers = [
            self.holder.maker(shape, dtype, arrays)
            for program in programs[:1] for dtype in program.results
        ]  # fmt: skip
        return _Call(device, programs, shape, tuple(strides), makers)

    def _computed(
        self, call: _Call, results: Strides, addresses: Sequence[int], may_compile: bool
    ) -> bool:
        """Whether a kernel has computed the results, whose strides are given."""
        for program in call.programs:
            key = (results, get_threads(), program)
            launch = call.launches.get(key)
            if launch is None:
                launch = self._launch(call, program, results, may_compile)
                if launch is None:
                    return False
                if len(call.launches) >= _MOST_CALLS:
                    call.launches.clear()
                call.launches[key] = launch
            if launch(addresses):
                return True
        return False

    def _launch(
        self, call: _Call, program: Lowered, results: Strides, may_compile: bool
    ) -> Launch | None:
        """What computes a program; None if its kernel would have to be compiled, and may not be
        yet."""
        kind = kernels.device_kind(call.device)
        generator = kernels.generator(kind)
        assert generator is not None  # there are programs
        may_compile = may_compile or self._work >= kernels.COSTS[kind].work
        found: Launch | None = generator.launch_for(
            program, call.shape, (*results, *call.strides), may_compile=may_compile
        )
        if found is None:
            self._work += math.prod(call.shape)
        return found


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
