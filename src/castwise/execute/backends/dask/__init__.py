"""Dask: lazy arrays in chunks, which NumPy computes in this process or on workers."""

from __future__ import annotations

from castwise.execute.backend import Backend


def backend() -> Backend:
    """The backend of this folder."""
    from castwise.execute.backends.dask.arrays import Dask

    return Dask()
