"""The hooks for JAX, and for Optax, whose states are trees of JAX arrays."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from typing import Any

from castwise.auditing.hook import (
    Arrays,
    Callables,
    Calls,
    CannotRunPlainlyError,
    Compiling,
    Hook,
    Inside,
    Read,
    Spelling,
)


def _read(array: Any) -> Read:
    return array.dtype, array.shape, array.weak_type, None


def _values(array: Any) -> list[float]:
    """The values of an array; the real parts, then the imaginary parts, if complex."""
    flat = array.ravel()
    return [*flat.real.tolist(), *(flat.imag.tolist() if flat.dtype.kind == "c" else ())]


def _compilations(function: Any) -> int:
    return int(function._cache_size())


def _leaves(argument: Any) -> list[tuple[str, Any, Any, tuple[int, ...], bool]]:
    """The leaves of an argument, with what is traced of each."""
    jax = sys.modules["jax"]
    found: list[tuple[str, Any, Any, tuple[int, ...], bool]] = []
    for path, leaf in jax.tree_util.tree_flatten_with_path(argument)[0]:
        where = jax.tree_util.keystr(path)
        try:
            known = jax.api_util.shaped_abstractify(leaf)
        except (TypeError, ValueError):  # such as a string: it must be static
            found.append((where, leaf, None, (), False))
        else:
            is_weak = bool(getattr(known, "weak_type", False))
            found.append((where, leaf, known.dtype, known.shape, is_weak))
    return found


def _plainly(function: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Calls a compiled function step by step. Random numbers that it draws as it is traced are
    drawn again, from the same state."""
    jax = sys.modules["jax"]
    for leaf in jax.tree_util.tree_leaves((arguments, keywords)):
        if isinstance(leaf, jax.Array) and leaf.is_deleted():
            raise CannotRunPlainlyError("the call gave its arguments away (donate_argnums)")
    draws = sys.modules["numpy"].random
    states = random.getstate(), draws.get_state()
    try:
        with jax.disable_jit():
            return function(*arguments, **keywords)
    finally:
        random.setstate(states[0])
        draws.set_state(states[1])


def _held_values(array: Any) -> Any:
    """The array's values, once they are computed; None if its memory was given away."""
    return None if array.is_deleted() else sys.modules["numpy"].asarray(array)


HOOK = Hook(
    framework="jax",
    rules="jax",
    modes="jax:jit",
    modules="jaxlib",
    arrays=Arrays(
        types="ArrayImpl DynamicJaxprTracer JVPTracer BatchTracer LinearizeTracer",
        traced="DynamicJaxprTracer JVPTracer BatchTracer LinearizeTracer",
        read=_read, values=_values, held_values=_held_values,
    ),
    callables=Callables(
        types="PjitFunction ufunc",
        updates={"_IndexUpdateRef": "array"},
        random="jax.random jax._src.random",
        renamed=r"^_",
        operands={"x1": 0, "x2": 1, "a": 0, "b": 1, "x": 0, "y": 1, "min": 1, "max": 2, "arrays": 0,
                  "condition": 0},
    ),
    calls=Calls(
        value_casts="astype _astype asarray array convert_element_type",
        casts="astype _astype convert_element_type bitcast_convert_type",
        makes="array asarray zeros ones empty full zeros_like ones_like empty_like full_like "
        "arange linspace logspace eye identity tri normal uniform bernoulli randint PRNGKey key "
        "split load one_hot",
        keeps="reshape transpose ravel flatten copy squeeze swapaxes moveaxis expand_dims "
        "broadcast_to take repeat tile roll flip sort argsort unique split device_put device_get "
        "block_until_ready tolist item stop_gradient jit grad vmap value_and_grad pmap scan "
        "fori_loop while_loop cond switch tree_map dynamic_slice top_k pad tril triu meshgrid "
        "choice permutation array_split",
        like={"sin": "cos tan sinh cosh log1p expm1 log2 log10 exp2", "concat": "vstack hstack"},
        mixes="set_ get_ apply_ broadcast_arrays meshgrid digitize searchsorted lexsort "
        "block_until_ready eval_shape",
        writes={"full_like": (0, 1, "fill_value")},
        cuts="array asarray",
        files="load",
    ),
    spelling=Spelling(
        names="jax.numpy",
        alias="jnp",
        dtype_places={"array": 1, "asarray": 1, "zeros": 1, "ones": 1, "empty": 1, "full": 2,
                      "zeros_like": 1, "ones_like": 1, "empty_like": 1, "full_like": 2, "arange": 3,
                      "linspace": 5, "logspace": 5, "eye": 3, "identity": 1, "tri": 3},
        takes_dtype_first="astype",
        makes_without_dtype="load PRNGKey key split bernoulli randint normal uniform",
    ),
    compiling=Compiling(
        name="jax.jit", compiled="PjitFunction",
        compilations=_compilations, plainly=_plainly, leaves=_leaves,
    ),
    inside=Inside(
        dtype_errors=(
            r"implicit dtype promotion path", r"to have the same dtypes", r"does not accept dtype",
            r"the dtypes do not match", r"input dtype", r"must have integer or boolean type",
        ),
        stricter={"jax": "jax:strict-x32", "jax:x64": "jax:strict"},
        strict_error=r"jax_numpy_dtype_promotion=strict",
    ),
)  # fmt: skip

OPTAX = Hook(framework="optax", inside=Inside(states="init_fn init"))
