"""FusedOp: an op whose casts and computation are one loop over large arrays."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

from castwise.arrays.backend import Backend
from castwise.arrays.casting import own_values
from castwise.arrays.functions import Function
from castwise.arrays.steps import EntryCast, Steps, Warns
from castwise.engine.decision import Decision
from castwise.kernels.emitter import Traits, emitters_with
from castwise.kernels.ops import LOWERED_OPS
from castwise.kernels.program import (
    COMPARE,
    Lowered,
    NotLoweredError,
    Place,
    Strides,
    Value,
    Writer,
    broadcast_strides,
)
from castwise.kernels.resources import get_threads
from castwise.rules.values import Values
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import UNDEFINED

# Whether there are kernels here, and when an op uses one.

PACKAGES = {"cpu": "llvmlite", "gpu": "triton"}  # the kinds of devices, and what compiles for them
VARIABLE = "CASTWISE_KERNELS"  # "off": every op runs as if there were none
_OFF = ("off", "0", "false", "no")


class Costs(NamedTuple):
    """From when on a kernel is faster than a library's own functions, in elements."""

    size: int  # of an array, everything counted that a call needs
    work: int  # done by the library before a kernel is compiled: about as long as that takes


# Measured; benchmarks/cpu_pairs.py and gpu.py show it.
COSTS = {"cpu": Costs(1 << 15, 1 << 25), "gpu": Costs(1 << 22, 1 << 32)}


@runtime_checkable
class HasMemory(Protocol):
    """A backend whose arrays kernels can read."""

    own_casts: frozenset[DType]  # dtypes that it rounds to in its own way

    def is_as_fast(self, steps: Steps) -> bool:
        """Whether the library's own function for an op is as fast as a kernel."""

    def size_of(self, array: Any) -> int:
        """How many elements an array has; 0 for one that kernels leave alone."""

    def by_size(self, small: Function, large: Function, least: int) -> Function:
        """A function of two arrays: `large` if one of them has at least so many elements."""

    def as_array(self, number: Any) -> Any:
        """A number of the library as a 0-d array."""

    def moved(self, array: Any, device: str) -> Any:
        """A 0-d array of the CPU on another device."""

    def place(self, array: Any) -> Place | None:
        """How the elements of an array lie in memory; None if a kernel may not read them."""

    def address(self, array: Any) -> int:
        """The address of its first element."""

    def maker(
        self, shape: tuple[int, ...], dtype: DType, like: Sequence[Any]
    ) -> Callable[[Sequence[Any]], Any]:
        """A function that makes a new array for the result of arrays that lie in memory as these
        do, in the order that the library would choose."""

    def may_write(self, target: Any, arrays: Sequence[Any]) -> bool:
        """Whether each element of a target can be written as soon as it is computed from the same
        elements of arrays."""

    def wrote(self, target: Any) -> None:
        """Tells the library that a kernel has written into an array."""

    def halves_doubles_once(self, device: str) -> bool:
        """Whether it casts float64 to float16 with one rounding."""


@functools.cache
def is_installed(kind: str) -> bool:
    """Whether the package for the kernels of a kind of device is there, and they are not off. It is
    not loaded: most programs have no large arrays."""
    is_off = os.environ.get(VARIABLE, "").lower() in _OFF
    return not is_off and importlib.util.find_spec(PACKAGES[kind]) is not None


@functools.cache
def generator_for(kind: str) -> ModuleType | None:
    """The kernels of a kind of device; None if there are none here."""
    if not is_installed(kind):
        return None
    try:
        if kind == "cpu":
            from castwise.kernels import processor as found
        else:
            from castwise.kernels import triton as found  # type: ignore[no-redef]
    except ImportError:  # a package that is damaged, or of another version
        return None
    return found


def are_there() -> bool:
    """Whether any device has kernels."""
    return any(map(is_installed, COSTS))


def least_size() -> int:
    """Elements below which no device uses a kernel."""
    return min(costs.size for kind, costs in COSTS.items() if is_installed(kind))


def _device_kind(device: str) -> str:
    """The kind of kernels that a device needs."""
    return "cpu" if device == "cpu" else "gpu"


@functools.lru_cache(maxsize=64)
def backend_memory(backend: Backend) -> HasMemory | None:
    """The backend itself, if kernels can read its arrays."""
    return backend if isinstance(backend, HasMemory) else None


def _traits_for(backend: HasMemory, device: str, values: Values | None) -> Traits | None:
    """What the steps of a kernel may be made of; None if there are no kernels, or if they could not
    notice the float errors that the dialect warns about."""
    kernels = generator_for(_device_kind(device))
    if kernels is None:
        return None
    is_silent = values is None or values.arithmetic.float_errors == "silent"
    notices = not is_silent and isinstance(backend, Warns)
    if notices and not kernels.has_float_state():
        return None
    return Traits(
        converts=kernels.converts(),
        halves_doubles=kernels.halves_doubles(),
        doubles_halve_once=backend.halves_doubles_once(device),
        own_casts=backend.own_casts,
        flushes=kernels.has_float_state(),
        notices_errors=notices,
    )


# From the steps of an op to a lowered program: the same code that computes writes its steps.

Sources = Sequence["DType | None"]  # the dtypes of operands; None is a number, which is cast before


# The names under which a dialect's rules compute an op that can be lowered.
_SUBSTITUTES = frozenset({
    "reciprocal_times", "times_reciprocal", "div_of_arrays", "truncated_quotient",
    *[f"{op}_with_wide" for op in ("mul", "div")],
    *[f"{op}_of_mixed_signs" for op in COMPARE],
})  # fmt: skip


def _may_be_lowered(steps: Steps) -> bool:
    """Whether an op is one that steps can express, for most dtypes and rules at least."""
    is_known = steps.op in LOWERED_OPS or steps.op in _SUBSTITUTES
    is_real = "complex" not in (steps.compute.kind, steps.result.kind)
    return is_known and is_real and not (steps.kernel or steps.composed)


def lowered(
    steps: Steps, sources: Sources, backend: Backend, traits: Traits
) -> tuple[Lowered, ...]:
    """The programs of an op on a backend's arrays. If one ends with an alarm, the next may not.

    Raises NotLoweredError if no steps can express it with the bits that the backend gives.
    """
    check_values(steps.op, steps.values, backend)
    values, traits = guarded(steps.values, traits)
    steps = replace(steps, values=values)
    return tried(traits, lambda emitter: _written(steps, sources, emitter, traits.notices_errors))


def tried(traits: Traits, write: Callable[[Any], Lowered]) -> tuple[Lowered, ...]:
    """The different programs that emitters write, the fastest first. An emitter has those methods
    of a backend that rules call.

    Raises NotLoweredError if the last one, which can do most, cannot.
    """
    found: list[Lowered] = []
    *others, last = emitters_with(traits)
    for emitter in others:
        with contextlib.suppress(NotLoweredError):
            found.append(write(emitter))
    found.append(write(last))
    return tuple(dict.fromkeys(found))


def _written(steps: Steps, sources: Sources, emitter: Backend, notices: bool) -> Lowered:
    writer, given = Writer(), []
    casts = steps.entry_casts(emitter)
    for entry, source, enter in zip(steps.entries, sources, casts, strict=True):
        if source is None:
            if entry is None:
                raise NotLoweredError("a number as it is")
            given.append(writer.operand(entry.dtype))
        else:
            value = writer.operand(source)
            given.append(enter(value) if enter else value)
    result = steps.as_result(steps.function(emitter)(*given), emitter)
    return finished(writer, [result], notices=notices)


def check_values(op: str, values: Values | None, backend: Backend) -> None:
    """Raises NotLoweredError for an op whose values depend on shapes, or on a library."""
    if op.startswith("clamp") and values and values.clamping.bound_shapes != "broadcast":
        raise NotLoweredError(op)
    if "sqrt" in op and own_values(backend).powers.square_root != "exact":
        raise NotLoweredError(op)


def guarded(values: Values | None, traits: Traits) -> tuple[Values | None, Traits]:
    """Rules and traits that leave casts of floats beyond an integer's range to the backend, where
    the result depends on the processor."""
    if values is None or values.casting.float_to_int != "wraps":
        return values, traits
    casting = replace(values.casting, float_to_int="saturates", float_to_byte="as others")
    return replace(values, casting=casting), replace(traits, guards_casts=True)


def finished(writer: Writer, results: Sequence[Value], *, notices: bool) -> Lowered:
    """The program with these results."""
    if any(result.is_known for result in results):
        raise NotLoweredError("a known number as a result")
    return writer.finished(results, notices_float_errors=notices)


# FusedProgram: a lowered program on the arrays of a backend.

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
        self, holder: HasMemory, values: Values | None, write: Write,
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
        traits = _traits_for(self.holder, device, self._values)
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
        least = COSTS[_device_kind(device)].size
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
        kind = _device_kind(call.device)
        generator = generator_for(kind)
        assert generator is not None  # there are programs
        may_compile = may_compile or self._work >= COSTS[kind].work
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


class FusedOp:
    """How an op is computed on large arrays; small ones are left to the plain path."""

    def __init__(
        self, program: FusedProgram, casts: Sequence[EntryCast | None], numbers: Sequence[int]
    ) -> None:
        self.program, self._casts = program, casts
        self._numbers = numbers  # the places of operands that are Python numbers

    def unless_small(self, plain: Function) -> Function:
        """A computation of small arrays by a plain function, and of large ones by a kernel."""
        holder, run, least = self.program.holder, self.program.run, least_size()
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
        least = least_size()

        def of_one(x: Any) -> Any:
            if size(x) < least:
                return plain(x)
            found = run((x, known) if place else (known, x))
            return plain(x) if found is None else found[0]

        return of_one

    def writes(self, target: Any, operands: Sequence[Any]) -> bool:
        """Whether a kernel has computed into an array. If not, it has changed nothing."""
        holder = self.program.holder
        if holder.size_of(target) < least_size():
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
    holder = backend_memory(backend)
    if holder is None or not _may_be_lowered(steps) or not are_there():
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
