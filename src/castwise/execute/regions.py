"""Regions: stretches of a program that a backend runs at once, instead of node by node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from castwise.execute.backend import Backend
from castwise.vocab.dtypes import DType


class Computes(Protocol):
    """Computes the results of a region node by node, on arrays of any backend."""

    def __call__(self, backend: Backend, arrays: Sequence[Any]) -> list[Any]: ...


@dataclass(frozen=True, eq=False)
class Region:
    """Elementwise nodes that follow each other. It is plain data, so another process can run it."""

    compute: Computes
    dtypes: tuple[DType, ...]  # of its results, which all have one shape
    text: str  # what it computes; equal for two regions only if they compute the same


@runtime_checkable
class RunsRegions(Protocol):
    """A backend that runs a region at once, with the same bits as node by node."""

    def takes(self, op: str, compute: DType | None, dtypes: Sequence[DType]) -> bool:
        """Whether a region may contain an elementwise op, or a cast, which computes in no dtype.
        `dtypes` are those of its result and its inputs, in this order."""

    def whole_region(self, region: Region) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """A function that computes the results of a region from its arrays. Numbers may be among
        them."""
