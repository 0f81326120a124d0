"""Which elements of a result are not what the operation should give: NumPy computes it again in
float64.

An integer that wrapped is a multiple of 2**bits away from the right one, so half of that tells it
from rounding. A float overflowed if it is infinite and float64 holds it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from castwise.vocab.dtypes import DType

_LEAST_ERROR = 2.0**-20  # relative; float32 is more exact, float16 less


class Loss(NamedTuple):
    """What an operation lost in one run."""

    how: str
    lost: int
    elements: int
    example: str


class Values(NamedTuple):
    """An operand or a result: a NumPy array or a Python number, and its dtype."""

    held: Any
    dtype: DType | None


# How NumPy computes an operator or a call again. A name that is missing is not checked: bit
# operations mean to lose bits, and `//` and `%` lose nothing.
_OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "**": "power",
              "@": "matmul"}  # fmt: skip
_CALLS = {
    "add": "add", "subtract": "subtract", "sub": "subtract", "multiply": "multiply",
    "mul": "multiply", "divide": "divide", "true_divide": "divide", "div": "divide",
    "power": "power", "pow": "power", "float_power": "power", "square": "square",
    "negative": "negative", "neg": "negative", "absolute": "absolute", "abs": "absolute",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "sinh": "sinh", "cosh": "cosh",
    "sqrt": "sqrt", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin",
    "cos": "cos", "tan": "tan", "tanh": "tanh", "arctan": "arctan", "hypot": "hypot",
    "matmul": "matmul", "mm": "matmul", "dot": "dot", "inner": "inner", "outer": "outer",
    "sum": "sum", "prod": "prod", "cumsum": "cumsum", "cumprod": "cumprod", "mean": "mean",
}  # fmt: skip
_ALONG = frozenset({"sum", "prod", "cumsum", "cumprod", "mean"})
_SYMBOLS = {name: symbol for symbol, name in _OPERATORS.items()}


def operator_function(symbol: str, operands: int) -> str | None:
    """NumPy's name of an operator that is checked."""
    if operands == 1:
        return "negative" if symbol == "-" else None
    return _OPERATORS.get(symbol)


def call_function(name: str) -> str | None:
    """NumPy's name of a call that is checked."""
    return _CALLS.get(name)


def takes_axis(function: str) -> bool:
    """Whether a function may be told along which axis it computes."""
    return function in _ALONG


def count_inputs(function: Any) -> int | None:
    """How many operands a function takes before its output arrays; None if it takes no such."""
    np: Any = sys.modules.get("numpy")
    is_universal = np is not None and isinstance(function, np.ufunc)
    return int(function.nin) if is_universal else None


def share_memory(one: Any, other: Any) -> bool:
    """Whether two arrays may have elements in common."""
    np: Any = sys.modules["numpy"]
    return bool(np.may_share_memory(one, other))


def is_checked(result: DType) -> bool:
    """Whether an operation with such a result can lose values that float64 shows. Unsigned integers
    of 32 and 64 bits wrap by intent: hashes and random generators compute in them."""
    if result.kind == "int":
        return result.min < 0 or result.bits < 32
    return result.kind == "float" and result.bits < 64


def lost_in_operation(
    function: str, operands: Sequence[Values], named: dict[str, Any], result: Values
) -> Loss | None:
    """What an operation lost; None if nothing, or if it cannot be computed again. With `where`, it
    computes some elements only."""
    np: Any = sys.modules["numpy"]
    assert result.dtype is not None  # is_checked has looked at it
    computed: Any = True
    if function not in _ALONG:
        computed = named.get("where", True)
        if {*named} - {"where"}:
            return None
        named = {}
    with np.errstate(all="ignore"):
        wide = [_wide(operand.held) for operand in operands]
        right = np.asarray(getattr(np, function)(*wide, **named))
        made = np.asarray(_wide(result.held))
        if right.shape != made.shape:
            return None
        for how, is_wrong in _losses(np, operands, right, made, result.dtype):
            is_lost = is_wrong & computed
            if is_lost.any():
                place = tuple(int(n) for n in np.argwhere(is_lost)[0])
                example = _example(np, function, operands, place, right, np.asarray(result.held))
                return Loss(how, int(is_lost.sum()), is_lost.size, example)
    return None


def _losses(
    np: Any, operands: Sequence[Values], right: Any, made: Any, dtype: DType
) -> list[tuple[str, Any]]:
    if dtype.kind == "int":
        return [("wrapped", np.abs(right - made) > 2.0 ** (dtype.bits - 1))]
    found = [("overflowed", np.isinf(made) & np.isfinite(right))]
    are_integers = all(o.dtype is not None and o.dtype.kind in ("bool", "int") for o in operands)
    if are_integers and dtype.bits < 32:  # nobody has chosen this float
        error = np.abs(right - made) > _LEAST_ERROR * np.abs(right)
        found.append((f"rounded to {dtype}", error & np.isfinite(right)))
    return found


def lost_in_cast(source: Values, target: DType, made: Any = None) -> Loss | None:
    """What a cast lost; `made` is its result, if there is one. Fractions and rounding are not lost:
    they are what such a cast is for."""
    np: Any = sys.modules["numpy"]
    held = np.asarray(source.held)
    if held.dtype.kind == "c" or target.kind not in ("int", "float"):
        return None
    with np.errstate(all="ignore"):
        if made is None:
            made = held.astype(target.name) if target.name in _NUMPYS else None
        if made is None or np.shape(made) != held.shape:
            return None
        how, is_lost = _lost_by_cast(np, held, target, made)
        if not is_lost.any():
            return None
        place = tuple(int(n) for n in np.argwhere(is_lost)[0])
        example = f"{held[place]} -> {np.asarray(made)[place]}"
        return Loss(how, int(is_lost.sum()), is_lost.size, example)


_NUMPYS = frozenset(
    {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
     "float32", "float64"}
)  # fmt: skip


def _lost_by_cast(np: Any, held: Any, target: DType, made: Any) -> tuple[str, Any]:
    if target.kind == "float":
        wide = _wide(held)
        return "overflowed", np.isfinite(wide) & ~np.isfinite(_wide(made))
    if held.dtype.kind in "bui":
        # Python's integers, because NumPy 1 compares int64 with uint64 as floats.
        low, high = (held.min(), held.max()) if held.size else (0, 0)
        if target.min <= int(low) and int(high) <= target.max:
            return "", np.zeros(held.shape, bool)
        is_within = [target.min <= value <= target.max for value in held.ravel().tolist()]
        return "wrapped", ~np.asarray(is_within).reshape(held.shape)
    whole = np.trunc(_wide(held))
    is_held = (whole >= float(target.min)) & (whole < float(int(target.max) + 1))
    return "out of range", ~is_held


def _wide(held: Any) -> Any:
    """A value in float64."""
    np: Any = sys.modules["numpy"]
    return np.asarray(held).astype("float64")


def _example(
    np: Any,
    function: str,
    operands: Sequence[Values],
    place: tuple[int, ...],
    right: Any,
    made: Any,
) -> str:
    try:
        values = [np.broadcast_to(o.held, right.shape)[place] for o in operands]
    except ValueError:  # an operation that is not by element
        return f"{right[place]:.6g} became {made[place]}"
    if function in _ALONG or function in ("matmul", "dot", "inner", "outer"):
        return f"{right[place]:.6g} became {made[place]}"
    symbol = _SYMBOLS.get(function)
    if symbol and len(values) == 2:
        return f"{values[0]} {symbol} {values[1]} -> {made[place]}"
    return f"{function}({', '.join(map(str, values))}) -> {made[place]}"
