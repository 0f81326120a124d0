"""Dask: lazy arrays in chunks, which NumPy computes in this process or on workers."""

from __future__ import annotations

from castwise.execute.backend import Backend


def backend() -> Backend:
    """The backend; this also registers tensors with Dask."""
    from castwise.execute.backends.dask.arrays import (
        Dask,
    )  # so that walking the packages does not load Dask
    from castwise.execute.backends.dask.collection import register

    register()
    return Dask()
