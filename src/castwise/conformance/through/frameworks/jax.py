"""JAX's compiler and batcher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from castwise.conformance.through.transformation import Function, Transformation

_MANY = 100


def _jit() -> Transformation:
    import jax

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        return jax.jit(lambda *x: function(*x))(*arrays)

    return Transformation("jit", run, "jax.jit({f})({arrays})", "", _MANY, _declines)


def _vmap() -> Transformation:
    import jax

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        # A new axis, not a copy: a stacked array is not weakly typed any more.
        batched = jax.vmap(lambda *x: function(*x))(*[array[None] for array in arrays])
        return [result[0] for result in batched]

    written = "jax.vmap({f})(*[a[None] for a in ({arrays},)])"
    return Transformation("vmap", run, written, "", 1)


def _declines(function: Function, arrays: Sequence[Any]) -> Exception | None:
    """What tracing raises, before anything is compiled."""
    import jax

    try:
        jax.eval_shape(lambda *x: function(*x), *arrays)
    except Exception as error:
        return error
    return None


TRANSFORMATIONS: dict[str, Callable[[], Transformation]] = {"jit": _jit, "vmap": _vmap}
