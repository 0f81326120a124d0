"""Dask: lazy arrays in chunks, which NumPy computes in this process or on workers."""

from __future__ import annotations

from castwise.execute.backend import Backend


def backend() -> Backend:
    """The backend of this folder; Dask learns of tensors with it."""
    from castwise.execute.backends.dask.arrays import Dask  # walking packages loads no Dask
    from castwise.execute.backends.dask.collection import register

    register()
    return Dask()
