"""Python's divmod and round of tensors, if the dialect's framework has them for its arrays."""

from __future__ import annotations

import math
from typing import Any

from castwise.execute.calling.ops import apply_op
from castwise.execute.python_data import default_dtype
from castwise.execute.tensor import Tensor

_DIVMOD = "divmod(x, y) does not take arrays in {}: write x // y and x % y."
_ROUND = "round(x) does not take arrays in {}: write cw.apply('round', x), or round(x.item())."
_DIGITS = "round(x, digits) does not take {} in {}: cast first, x.astype('float32')."


def quotient_and_remainder(first: Any, second: Any) -> Any:
    """`x // y` and `x % y` of two operands, at least one of which is a tensor."""
    if isinstance(first, Tensor):
        quotient, remainder = first.__floordiv__, first.__mod__
        other = second
    else:
        quotient, remainder = second.__rfloordiv__, second.__rmod__
        other = first
    found = quotient(other)
    return found if found is NotImplemented else (found, remainder(other))


def divmod_of(first: Any, second: Any) -> Any:
    """Python's divmod of two operands, at least one of which is a tensor.

    Raises TypeError if the framework's arrays have none.
    """
    _check(first if isinstance(first, Tensor) else second, "divmod", _DIVMOD)
    return quotient_and_remainder(first, second)


def round_of(x: Tensor, ndigits: int | None) -> Tensor:
    """Python's round of a tensor.

    Raises TypeError if the framework's arrays have none.
    """
    _check(x, "round", _ROUND)
    dialect, kind = x.dialect, x.dtype.kind
    gives_integers = dialect.values.functions.round == "integers"
    by_tens = kind == "int" and (ndigits or 0) < 0
    if kind == "bool" or by_tens or (kind == "complex" and ndigits):
        raise TypeError(_DIGITS.format(x.dtype, dialect.name))
    found = _scaled(x, ndigits) if ndigits else apply_op("round", x)
    return found.astype(default_dtype(0, dialect)) if gives_integers and ndigits is None else found


def rounded(x: Tensor, decimals: int) -> Tensor:
    """Each element, rounded to a number of decimals."""
    if not decimals:
        return apply_op("round", x)
    if x.dtype.kind == "bool" or (x.dtype.kind == "int" and decimals < 0):
        raise TypeError(_DIGITS.format(x.dtype, x.dialect.name))
    return _scaled(x, decimals)


def _scaled(x: Tensor, digits: int) -> Tensor:
    """Floats rounded to a number of digits, by a factor that float16 cannot hold."""
    if x.dtype.kind == "int" or digits > math.log10(x.dtype.part.max):
        return x.astype(x.dtype)
    wide = x.astype("float32") if x.dtype.name == "float16" else x
    factor = 10**digits
    scaled = apply_op("round", apply_op("mul", wide, factor))
    return apply_op("div", scaled, factor).astype(x.dtype, copy=False)


def _check(x: Tensor, function: str, message: str) -> None:
    """Raises TypeError if the framework's arrays have no such function."""
    if getattr(x.dialect.values.functions, function) == "refused":
        raise TypeError(message.format(x.dialect.name))
