"""Whether there are kernels here, and when an op uses one."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple, Protocol, runtime_checkable

from castwise.execute.backend import Backend
from castwise.execute.functions.lookup import Function
from castwise.execute.steps.steps import Steps, Warns
from castwise.kernels.emitter import Traits
from castwise.kernels.layouts import Place
from castwise.rules.values import Values
from castwise.vocab.dtypes import DType

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
def generator(kind: str) -> ModuleType | None:
    """The kernels of a kind of device; None if there are none here."""
    if not is_installed(kind):
        return None
    try:
        if kind == "cpu":
            from castwise.kernels.llvm import kernels as found
        else:
            from castwise.kernels.triton import kernels as found  # type: ignore[no-redef]
    except ImportError:  # a package that is damaged, or of another version
        return None
    return found


def are_there() -> bool:
    """Whether any device has kernels."""
    return any(map(is_installed, COSTS))


def least_size() -> int:
    """Elements below which no device uses a kernel."""
    return min(costs.size for kind, costs in COSTS.items() if is_installed(kind))


def device_kind(device: str) -> str:
    """The kind of kernels that a device needs."""
    return "cpu" if device == "cpu" else "gpu"


@functools.lru_cache(maxsize=64)
def memory_of(backend: Backend) -> HasMemory | None:
    """The backend itself, if kernels can read its arrays."""
    return backend if isinstance(backend, HasMemory) else None


def traits_for(backend: HasMemory, device: str, values: Values | None) -> Traits | None:
    """What the steps of a kernel may be made of; None if there are no kernels, or if they could not
    notice the float errors that the dialect warns about."""
    kernels = generator(device_kind(device))
    if kernels is None:
        return None
    is_silent = values is None or values.arithmetic.float_errors == "silent"
    notices = not is_silent and isinstance(backend, Warns)
    if notices and not kernels.notices_errors():
        return None
    return Traits(
        converts=kernels.converts(),
        halves_doubles=kernels.halves_doubles(),
        doubles_halve_once=backend.halves_doubles_once(device),
        own_casts=backend.own_casts,
        flushes=kernels.flushes(),
        notices_errors=notices,
    )
