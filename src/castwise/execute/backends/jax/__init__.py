"""JAX, eager and traced."""

from castwise.execute.backend import Backend


def backend() -> Backend:
    """The backend; this also registers tensors with JAX."""
    from castwise.execute.backends.jax.arrays import (
        JAX,
    )  # so that walking the packages does not load JAX
    from castwise.execute.backends.jax.tree import register

    found = JAX()
    register(found)
    return found
