"""Finds the function for an op on a backend's arrays of one dtype."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias

from castwise.errors import UsageError
from castwise.execute.backend import Backend
from castwise.execute.functions import recipes
from castwise.rules.catalog import dialect_named
from castwise.rules.default import STANDARD
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.ops import known_op

Function: TypeAlias = Callable[..., Any]

SIGNLESS = dtype("float8_e8m0fnu")  # powers of two, without a sign and without a zero
# Small dtypes are computed in a wider one and rounded, or wrapped, once; bool as in C.
_WIDER = {
    "bool": dtype("int32"),
    "int": dtype("int32"),
    "float": dtype("float32"),
    "complex": dtype("complex64"),
}


def standard_name(op: str) -> str:
    """The name of an op in the array API standard."""
    return dialect_named(STANDARD).naming.aliases.get(op, op)


@functools.lru_cache(maxsize=4096)
def function_for(backend: Backend, op: str, compute: DType) -> Function:
    """The function for an op in a dtype: the backend's own, or a recipe.

    Raises UsageError if there is neither.
    """
    own = backend.function(op, compute)
    if own is not None:
        return own
    wider = widened_to(backend, op, compute)
    if wider is None:
        return _recipe(backend, op, compute)
    wide = backend.function(op, wider) or _recipe(backend, op, compute)
    return _widened(backend, wide, compute, wider)


def widened_to(backend: Backend, op: str, compute: DType) -> DType | None:
    """The wider dtype in which an op of a small one is computed; None if it is not."""
    wider = _WIDER[compute.kind]
    is_small = compute.bits < wider.bits and wider in backend.dtypes
    return wider if is_small and backend.function(op, compute) is None else None


def _recipe(backend: Backend, op: str, compute: DType) -> Function:
    recipe = recipes.RECIPES.get(op)
    if recipe is not None:
        return functools.partial(recipe, backend.namespace)
    part, _, name = op.rpartition(".")  # linalg.inv is in an extension of the standard
    found: Function | None = getattr(getattr(backend.namespace, part, None), name, None)
    if found is None:
        row = known_op(op)
        way = f" Declare it with a kernel: cw.declare_op({op!r}, compute=...)."
        is_declared = row is not None and row.family == "declared"
        raise UsageError(
            f"the backend {backend.name} cannot compute {op} in {compute}."
            f"{way if is_declared else ''}"
        )
    return found


def _widened(backend: Backend, function: Function, compute: DType, wider: DType) -> Function:
    """A function that computes in a wider dtype and casts its results back."""

    def widen(array: Any) -> Any:
        if isinstance(array, (list, tuple)):
            return [widen(part) for part in array]
        return backend.cast(array, wider) if backend.dtype_of(array) is compute else array

    def computed(*arrays: Any, **options: Any) -> Any:
        result = function(*[widen(array) for array in arrays], **options)
        several = [narrow(part) for part in result] if isinstance(result, tuple) else None
        return narrow(result) if several is None else tuple(several)

    def narrow(result: Any) -> Any:
        if not backend.owns(result):  # a scalar of the library
            result = backend.make(result, None, copy=None, device=None)
        if backend.dtype_of(result) is not wider:
            return result
        positive = above_zero(backend, result, wider) if compute is SIGNLESS else result
        return backend.cast(positive, compute)

    return computed


def above_zero(backend: Backend, array: Any, held: DType) -> Any:
    """The array with NaN for numbers that are not positive, whose sign a library would drop."""
    zero, nan = backend.number(0.0, held), backend.number(math.nan, held)
    is_none = function_for(backend, "le", held)(array, zero)
    return function_for(backend, "where", held)(is_none, nan, array)
