"""JAX's mode: whether it promotes, and whether it has 64 bits."""

from __future__ import annotations

from typing import Any


def mode(jax: Any) -> str:
    """The mode of the dialect that it follows now."""
    config = jax.config
    if config.jax_numpy_dtype_promotion == "strict":
        return "strict" if config.jax_enable_x64 else "strict-x32"
    return "x64" if config.jax_enable_x64 else ""
