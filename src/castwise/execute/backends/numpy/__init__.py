"""NumPy, with the small dtypes of ml_dtypes."""

from castwise.execute.backend import Backend


def backend() -> Backend:
    """The NumPy backend."""
    from castwise.execute.backends.numpy.arrays import (
        NumPy,
    )  # so that walking the packages does not load NumPy

    return NumPy()
