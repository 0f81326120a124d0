"""Regions of a program as one layer: each task runs the whole region on one chunk of each array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da

from castwise.execute.backend import Backend
from castwise.execute.backends.dask.chunks import (
    aligned,
    as_chunk,
    blocks,
    broadcast_indices,
    numpy_backend,
)
from castwise.execute.regions import Region

_TOKEN = "region"


@dataclass(frozen=True)
class RegionOfChunks:
    """A region on one chunk of each array: its result, or a tuple of its results."""

    region: Region

    def __call__(self, *chunks: Any) -> Any:
        numpy = numpy_backend()
        found = self.region.compute(numpy, [as_chunk(chunk) for chunk in chunks])
        return found[0] if len(found) == 1 else tuple(found)

    def __dask_tokenize__(self) -> Any:
        return _TOKEN, self.region.text


@dataclass(frozen=True)
class Picked:
    """One of the results of a region."""

    number: int

    def __call__(self, results: Any) -> Any:
        return results[self.number]

    def __dask_tokenize__(self) -> Any:
        return "picked", self.number


def computed(region: Region, backend: Backend, arrays: Sequence[Any]) -> Sequence[Any]:
    """The results of a region. Arrays whose chunks differ are rechunked, as often as the nodes
    require, so they are computed node by node."""
    if not _are_chunked_alike(arrays):
        return region.compute(backend, arrays)
    indices, dtypes = broadcast_indices(*arrays), region.dtypes
    operands = [aligned(array) for array in arrays]
    whole = blocks(RegionOfChunks(region), indices, operands, dtypes[0], token=_TOKEN)
    if len(dtypes) == 1:
        return [whole]
    return [
        blocks(Picked(n), indices, [(whole, indices)], dtype, token="picked")
        for n, dtype in enumerate(dtypes)
    ]


def _are_chunked_alike(arrays: Sequence[Any]) -> bool:
    """Whether all arrays have the same chunks along each dimension, if they are not broadcast
    along it."""
    found: dict[int, Any] = {}
    for array in arrays:
        operand, indices = aligned(array)
        for n, index in enumerate(indices or ()):
            chunks = operand.chunks[n]
            if chunks != (1,) and found.setdefault(index, chunks) != chunks:
                return False
    return any(isinstance(array, da.Array) for array in arrays)
