"""Whether there are kernels here, and when an op uses one."""

from __future__ import annotations

import functools
import os
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from castwise.execute.backend import Backend
from castwise.execute.steps.steps import Warns
from castwise.kernels.emitter import Traits
from castwise.kernels.layouts import Memory
from castwise.rules.values import Values
from castwise.vocab.dtypes import DType

VARIABLE = "CASTWISE_KERNELS"  # "off": every op runs as if there were none
# Elements from which a kernel is faster than a library's own function, everything counted.
LEAST_SIZE = 1 << 15
# Elements that a library computes before a kernel is compiled for the same op: about as much work
# as the compilation.
LEAST_WORK = 1 << 25


@runtime_checkable
class HasMemory(Protocol):
    """A backend whose arrays are in the memory of this processor."""

    doubles_halve_once: bool  # it casts float64 to float16 with one rounding

    def size_of(self, array: Any) -> int:
        """How many elements an array has; 0 for one that a kernel cannot read."""

    def as_array(self, number: Any) -> Any:
        """A number of the library as a 0-d array."""

    def memory(self, array: Any) -> Memory | None:
        """Where the elements of an array are; None if a kernel may not read them."""

    def empty(self, shape: tuple[int, ...], dtype: DType, like: list[Any]) -> Any:
        """A new array for the result of arrays, in the order that the library would choose."""


@functools.cache
def processor() -> ModuleType | None:
    """The kernels of this processor; None if llvmlite is not installed, or they are off."""
    if os.environ.get(VARIABLE, "").lower() in ("off", "0", "false", "no"):
        return None
    try:
        from castwise.kernels.llvm import kernels
    except ImportError:
        return None
    return kernels


@functools.lru_cache(maxsize=64)
def memory_of(backend: Backend) -> HasMemory | None:
    """The backend itself, if kernels can run on its arrays here."""
    return backend if isinstance(backend, HasMemory) and processor() else None


def traits_for(backend: Backend, values: Values | None) -> Traits | None:
    """What the steps of a kernel may be made of; None if it could not notice float errors."""
    kernels, held = processor(), memory_of(backend)
    if kernels is None or held is None:
        return None
    is_silent = values is None or values.arithmetic.float_errors == "silent"
    notices = not is_silent and isinstance(backend, Warns)
    if notices and not kernels.can_notice_errors():
        return None
    traits: Traits = kernels.traits_here(
        doubles_halve_once=held.doubles_halve_once, notices_errors=notices
    )
    return traits
