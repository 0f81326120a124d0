"""JAX's own function for an op on arrays of a dtype."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from castwise.execute.functions.lookup import Function, standard_name
from castwise.execute.functions.products import vecdot
from castwise.vocab.dtypes import DType
from castwise.vocab.ops import LAYERS

# These move elements and never round, for any dtype.
_MOVES = frozenset({"where", "concat", "stack"})
_NOT_JOINED = ("int2", "uint2")  # XLA crashes when it compiles their concatenation
# These return an index or a count, which a small dtype could not hold.
_COUNTS = frozenset({"argmax", "argmin", "count_nonzero"})
# Each is one operation of XLA, which rounds 16-bit floats once. Others consist of several.
_ONCE = frozenset({
    "add", "sub", "mul", "div", "neg", "abs", "positive", "maximum", "minimum", "max", "min",
    "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "nextafter",
})  # fmt: skip
# These do not round, and compare with a constant zero. XLA compares a 16-bit float by its bits, but
# in float32 it would treat a subnormal bfloat16 as zero.
_TRUTHS = frozenset({"logical_and", "logical_or", "logical_xor", "logical_not"})
_FOR_BOOL = frozenset({
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "logical_not",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "any", "all",
})  # fmt: skip
# The fewest bits that XLA computes with correctly.
_SMALLEST = {"bool": 1, "int": 8, "float": 16, "complex": 64}


def function_of(op: str, dtype: DType) -> Function | None:
    """JAX's function; None if it lacks the dtype or rounds more than once."""
    if op in LAYERS:  # a recipe calls JAX's
        return None
    if dtype.kind == "complex" and op in _NOT_FOR_COMPLEX:
        return _NOT_FOR_COMPLEX[op]
    found = _functions().get(op) or getattr(jnp, standard_name(op), None)
    if op == "concat" and dtype.name in _NOT_JOINED:
        return None
    if found is None or op in _MOVES:
        return found
    is_native = dtype.bits >= _SMALLEST[dtype.kind]
    if op in _COUNTS:
        return found if is_native else _of_wider(found)
    if dtype.kind == "bool":
        return found if op in _FOR_BOOL else None
    rounds_once = dtype.kind == "int" or dtype.bits >= 32 or op in _ONCE | _TRUTHS
    return found if is_native and rounds_once else None


def _of_wider(function: Function) -> Function:
    """A function that does not return elements, for dtypes with fewer bits than XLA computes in."""

    def computed(array: Any, **options: Any) -> Any:
        wide = jnp.float32 if jnp.issubdtype(array.dtype, jnp.floating) else jnp.int32
        return function(array.astype(wide), **options)

    return computed


def _clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    """The bounds in the order of NumPy: by real part, then by imaginary part."""
    x = x if low is None else jnp.maximum(x, low)
    return x if high is None else jnp.minimum(x, high)


def _ldexp(x: Any, y: Any) -> Any:
    """x * 2**y; exact for integers y until the product is rounded."""
    return x * jnp.exp2(y) if jnp.issubdtype(y.dtype, jnp.inexact) else jnp.ldexp(x, y)


def _place(
    farthest: Callable[..., Any], x: Any, *, axis: int | None = None, keepdims: bool = False
) -> Any:
    """The index of the first NaN or, if there is none, of the extreme element."""
    is_nan = jnp.isnan(x)
    has_nan = jnp.any(is_nan, axis=axis, keepdims=True)
    is_it = jnp.where(has_nan, is_nan, x == farthest(x, axis=axis, keepdims=True))
    return jnp.argmax(is_it, axis=axis, keepdims=keepdims)


# JAX itself does not take complex numbers here; None means that the recipe does.
_NOT_FOR_COMPLEX: dict[str, Function | None] = {
    "clamp": _clamp,
    "argmax": functools.partial(_place, jnp.max),
    "argmin": functools.partial(_place, jnp.min),
    "median": None,
    "gelu": None,
}


@functools.cache
def _functions() -> dict[str, Function]:
    """The ops that JAX has outside jax.numpy, or under another name than the standard."""
    return {
        "ldexp": _ldexp, "vecdot": functools.partial(vecdot, jnp),
        "erf": jax.lax.erf, "rsqrt": jax.lax.rsqrt, "norm": jnp.linalg.norm,
        "xlogy": jax.scipy.special.xlogy, "logsumexp": jax.nn.logsumexp, "relu": jax.nn.relu,
        "sigmoid": jax.nn.sigmoid, "softmax": jax.nn.softmax, "log_softmax": jax.nn.log_softmax,
        "gelu": functools.partial(jax.nn.gelu, approximate=False),
    }  # fmt: skip
