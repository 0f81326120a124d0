"""The hook for TensorFlow."""

from __future__ import annotations

import sys
from typing import Any

from castwise.auditing.hook import Arrays, Callables, Calls, Compiling, Hook, Inside, Read, Spelling


def _read(tensor: Any) -> Read:
    """Reads a tensor; sizes that tracing does not know count as 0."""
    shape = tensor.shape
    known = (0,) if shape.rank is None else tuple([size or 0 for size in shape])
    return tensor.dtype, known, type(tensor).__name__.endswith("WeakTensor"), None


def _compilations(function: Any) -> int:
    return int(function.experimental_get_tracing_count())


def _leaves(argument: Any) -> list[tuple[str, Any, Any, tuple[int, ...], bool]]:
    """The leaves of an argument; a Python number is a part of the graph."""
    found: list[tuple[str, Any, Any, tuple[int, ...], bool]] = []
    for place, leaf in enumerate(sys.modules["tensorflow"].nest.flatten(argument)):
        where = "" if leaf is argument else f"[{place}]"
        dtype = getattr(leaf, "dtype", None)
        shape = tuple([size or 0 for size in leaf.shape]) if dtype is not None else ()
        found.append((where, leaf, dtype, shape, False))
    return found


HOOK = Hook(
    framework="tensorflow",
    rules="tensorflow",
    arrays=Arrays(
        types="EagerTensor SymbolicTensor ResourceVariable EagerWeakTensor GraphWeakTensor",
        traced="SymbolicTensor GraphWeakTensor",
        read=_read,
    ),
    callables=Callables(
        renamed=r"(_v[12])?(_with_dispatch|_nd)?$",
        operands={"x": 0, "y": 1, "a": 0, "b": 1, "input_tensor": 0, "condition": 0, "tensor": 0},
    ),
    calls=Calls(
        casts="cast saturate_cast bitcast astype to_float to_double to_int32 to_int64",
        makes="constant zeros ones fill zeros_like ones_like eye range linspace random_normal "
        "random_uniform truncated_normal stateless_random_normal stateless_random_uniform "
        "convert_to_tensor Variable one_hot variable",
        keeps="reshape transpose expand_dims squeeze concat stack unstack split gather gather_nd "
        "slice strided_slice tile pad identity stop_gradient broadcast_to reverse roll sort "
        "argsort numpy read_value assign shape size rank boolean_mask scatter_nd repeat top_k "
        "unique shuffle function gradient watch apply_gradients",
    ),
    spelling=Spelling(
        names="tensorflow",
        alias="tf",
        cast="{module}.cast({code}, {0})",
        makes_without_dtype="fill linspace convert_to_tensor Variable variable random_normal "
        "random_uniform truncated_normal stateless_random_normal stateless_random_uniform",
        dtype_places={"constant": 1, "zeros": 1, "ones": 1, "zeros_like": 1, "ones_like": 1,
                      "eye": 3, "range": 3},
    ),
    compiling=Compiling(compiled="Function", compilations=_compilations, leaves=_leaves),
    inside=Inside(
        dtype_errors=(
            r"was expected to be an? \w+ tensor", r"that does not match type",
            r"Tensor conversion requested dtype", r"is not in list of allowed values",
        ),
    ),
)  # fmt: skip
