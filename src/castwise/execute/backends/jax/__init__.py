"""JAX, eager and traced."""

from castwise.execute.backend import Backend


def backend() -> Backend:
    """The backend of this package; JAX learns of tensors with it."""
    from castwise.execute.backends.jax.arrays import JAX  # walking packages loads no JAX
    from castwise.execute.backends.jax.tree import register

    found = JAX()
    register(found)
    return found
