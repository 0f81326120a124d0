"""The kernels that ONNX runtimes have: one data file per runtime, written by testing it."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass

from castwise.errors import UsageError, did_you_mean
from castwise.vocab.dtypes import DType

_ASKING = "__main__"  # the script that writes the data


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime at a version: the newest opset it supports, and what it lacks on the CPU."""

    name: str
    version: str
    opset: int
    has_no: frozenset[str]  # dtypes that it has no arrays of
    lacks: Mapping[str, frozenset[str]]  # ONNX op -> dtypes without a kernel
    differs: Mapping[str, frozenset[str]]  # op -> dtypes in which it computes something different
    casts: frozenset[str]  # "float64:float16": casts that round or overflow differently

    def computes(self, op: str, held: DType) -> bool:
        """Whether it has a kernel for an op in a dtype that does what ONNX defines."""
        return held.name not in self.lacks.get(op, ()) and held.name not in self.differs.get(op, ())

    def casts_differently(self, source: DType, target: DType) -> bool:
        """Whether its cast between two dtypes differs from ONNX."""
        return f"{source}:{target}" in self.casts


@functools.cache
def runtime_named(name: str) -> Runtime:
    """The runtime of a name.

    Raises UsageError for an unknown one.
    """
    known = [file.name for file in pkgutil.iter_modules(__path__) if file.name != _ASKING]
    if name not in known:
        hint = did_you_mean(str(name), known)
        raise UsageError(
            f"castwise does not know the runtime {str(name)[:40]!r}.{hint} It knows "
            f"{', '.join(known)}."
        )
    data = importlib.import_module(f"{__name__}.{name}")
    return Runtime(
        name,
        data.VERSION,
        data.OPSET,
        frozenset(data.HAS_NO.split()),
        _sets(data.LACKS),
        _sets(data.DIFFERS),
        frozenset(data.CASTS.split()),
    )


def _sets(table: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {op: frozenset(dtypes.split()) for op, dtypes in table.items()}
