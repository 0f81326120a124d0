"""Transformations of functions of NumPy's arrays, which change what a test looks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from castwise.conformance.transformations import Spread, UnsupportedError

Function = Callable[..., Any]


def unchanged(function: Function) -> Function:
    return function


def narrowing(function: Function) -> Function:
    """float64 results become float32."""
    return lambda *arrays: _each(function(*arrays), _narrowed)


def refusing(function: Function) -> Function:
    """int8 operands are refused, as NumPy refuses a dtype."""

    def called(*arrays: Any) -> Any:
        if any(array.dtype == np.int8 for array in arrays):
            raise TypeError("ufunc 'add' did not contain a loop with signature matching types")
        return function(*arrays)

    return called


def breaking(function: Function) -> Function:
    """uint64 operands end in an error of another kind."""

    def called(*arrays: Any) -> Any:
        if any(array.dtype == np.uint64 for array in arrays):
            raise KeyError("uint64")
        return function(*arrays)

    return called


def taking(function: Function) -> Function:
    """What NumPy refuses is given a result."""

    def called(*arrays: Any) -> Any:
        try:
            return function(*arrays)
        except TypeError:
            return [np.zeros(3, "int8")]

    return called


def listing(function: Function) -> Function:
    """Results are Python numbers, and lists of them."""
    return lambda *arrays: _each(function(*arrays), lambda result: result.tolist())


def lying(function: Function) -> Function:
    """Results say that they are float64, and one of their parts is float32."""

    def spread(result: Any) -> Spread:
        parts = {"part 0": result, "part 1": _narrowed(result)}
        return Spread(result.dtype, parts)

    return lambda *arrays: _each(function(*arrays), spread)


def lacking(function: Function) -> Function:
    """Nothing is implemented."""

    def called(*arrays: Any) -> Any:
        raise UnsupportedError("there is no such op")

    return called


def widening(function: Function) -> Function:
    """Floats are computed in float64 and rounded at the end, as compilers do that drop roundings
    in between."""

    def called(*arrays: Any) -> Any:
        wide = [x.astype("float64") if _is_small_float(x) else x for x in arrays]
        pairs = zip(function(*arrays), function(*wide), strict=True)
        return [exact.astype(own.dtype) for own, exact in pairs]

    return called


def _is_small_float(array: Any) -> bool:
    return array.dtype.name in ("float16", "bfloat16", "float32")


def _each(results: Any, change: Callable[[Any], Any]) -> Any:
    return list(map(change, results)) if isinstance(results, list) else change(results)


def _narrowed(result: Any) -> Any:
    return result.astype("float32") if result.dtype == np.float64 else result


not_a_function = 3
