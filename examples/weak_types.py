"""JAX's weak types: which Python numbers adapt to an array, and which no longer do.

    castwise audit examples/weak_types.py

A Python number is weak: it takes the dtype of the other array. It stays weak through JAX's own
arithmetic, but not through NumPy or a constructor that gives it a dtype.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np


def schedule(step: jax.Array) -> jax.Array:
    """A weak learning rate: its numbers are Python numbers."""
    return 0.1 * 0.5 ** (step // 10)


@jax.jit
def update(weights: jax.Array, gradient: jax.Array, rate: jax.Array) -> jax.Array:
    """One step of gradient descent."""
    return weights - rate * gradient


def main() -> None:
    weights = jnp.ones((256, 256), dtype=jnp.bfloat16)
    gradient = jnp.full((256, 256), 0.01, dtype=jnp.bfloat16)

    weak = jnp.asarray(0.1)  # weak: no dtype was given
    print("weak rate:      ", update(weights, gradient, weak).dtype)

    strong = jnp.float32(0.1)  # the same number, no longer weak
    print("float32 rate:   ", update(weights, gradient, strong).dtype)

    decay = np.exp(-0.1)  # a NumPy scalar: float64, not weak
    print("NumPy decay:    ", (weights * decay).dtype)

    rate = schedule(jnp.asarray(25))
    print("scheduled rate: ", update(weights, gradient, rate).dtype)

    mask = jnp.arange(256) > 10  # booleans and integers adapt to any float
    print("masked:         ", (weights * mask).dtype)

    key = jax.random.key(0)
    noise = jax.random.normal(key, (256, 256))  # float32
    print("with noise:     ", (weights + 0.1 * noise).dtype)


if __name__ == "__main__":
    main()
