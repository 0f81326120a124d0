"""Single ops on random arrays, as text: a framework and castwise's tensors run the same, and the
results are compared bit by bit, or the types of the errors."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import castwise as cw

# More cases, and other ones: CASTWISE_SINGLE_OPS=50000 CASTWISE_SINGLE_OPS_SEED=1 pytest ...
COUNT = int(os.environ.get("CASTWISE_SINGLE_OPS", "1500"))
SEED = int(os.environ.get("CASTWISE_SINGLE_OPS_SEED", "0"))

# Values that tell dtypes apart: beyond the range of halves, sums that wrap in a byte, negative
# zeros, infinities and NaN, and numbers that float32 and float64 cannot hold.
_WHOLE = (0, 1, 2, 3, 5, 7, 100, 127, 128, 200, 255, -1, -2, -100, 2**15, 2**24 + 1, 2**53 + 1)
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.1, 0.5, -2.5, 3.0, 200.0, 3e4, 6e4, -6e4, 1e-7, 1e-40, 1e30,
           1e39, np.inf, -np.inf, np.nan)  # fmt: skip
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (4,), (2, 3), (3, 3), (2, 1, 3), (0,), (2, 0))


class Case(NamedTuple):
    """A call of x, y and z, their dtypes and shapes, and the seed of their values."""

    call: str
    dtypes: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    seed: int


def cases(calls: Sequence[str], dtypes: Sequence[str], count: int, seed: int) -> list[Case]:
    """Random cases: every call in turn, half of them on arrays of one shape and dtype."""
    chooser, found = random.Random(seed), []
    for n in range(count):
        shape, dtype = chooser.choice(SHAPES[1:6]), chooser.choice(dtypes)
        is_mixed, is_odd = chooser.random() < 0.5, chooser.random() < 0.3
        found.append(Case(
            calls[n % len(calls)],
            tuple([chooser.choice(dtypes) if is_mixed else dtype for _ in range(3)]),
            tuple([chooser.choice(SHAPES) if is_odd else shape for _ in range(3)]),
            chooser.randrange(1 << 30),
        ))  # fmt: skip
    return found


def written(text: str) -> list[str]:
    """The calls in a text, in which bars and ends of lines stand between them."""
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" | ")]


def arrays(case: Case) -> list[Any]:
    """The arrays of a case, as NumPy's."""
    chooser = np.random.default_rng(case.seed)
    return [_array(chooser, *pair) for pair in zip(case.dtypes, case.shapes, strict=True)]


def _array(chooser: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    is_tame = chooser.random() < 0.5
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "float" not in dtype and "complex" not in dtype:
            whole = chooser.choice([0, 1, 2, 3, 5] if is_tame else _WHOLE, shape)
            return np.asarray(whole).astype(np.int64).astype(dtype)
        parts = [chooser.choice([0.5, 1.0, 2.0, -3.0, 0.0] if is_tame else _FLOATS, shape)
                 for _ in range(2)]  # fmt: skip
        made = np.asarray(parts[0])
        if "complex" in dtype:
            made = np.empty(shape, "complex128")
            made.real, made.imag = parts
        return made.astype(cw.asarray([0.0], dtype=dtype, backend="numpy").numpy().dtype)


# Comparing results.

BUILT_IN = (ValueError, TypeError, IndexError, RuntimeError, OverflowError, ZeroDivisionError,
            AttributeError, NotImplementedError)  # fmt: skip


class Outcome(NamedTuple):
    """What a call gave: a value, or an error."""

    value: Any = None
    error: BaseException | None = None


def outcome(run: Callable[[], Any]) -> Outcome:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Outcome(run())
        except Exception as error:
            return Outcome(error=error)


def objection(found: Outcome, expected: Outcome) -> str:
    """How castwise's outcome differs from the framework's; "" if it does not."""
    mine, theirs = found.error, expected.error
    if theirs is not None:
        if mine is None:
            return f"refused by the framework: {type(theirs).__name__}: {theirs}"
        return error_objection(mine, theirs)
    if mine is not None:
        return f"refused: {type(mine).__name__}: {mine}"
    pairs = leaves(found.value), leaves(expected.value)
    if len(pairs[0]) != len(pairs[1]):
        return f"{len(pairs[0])} results, not {len(pairs[1])}"
    return next(filter(None, map(_difference, *pairs)), "")


def error_objection(mine: BaseException, theirs: BaseException) -> str:
    """What is wrong with an error: it is not caught as the framework's own is, or it is raw."""
    kinds = [kind for kind in BUILT_IN if isinstance(theirs, kind)]
    if not isinstance(mine, tuple(kinds or [Exception])):
        return f"{type(mine).__name__}, not {type(theirs).__name__}: {mine} ({theirs})"
    is_python = isinstance(mine, (TypeError, AttributeError)) and not _is_raw(mine)
    if not isinstance(mine, cw.CastwiseError) and not is_python:
        return f"a raw {type(mine).__name__}: {mine}"
    return ""


def _is_raw(error: BaseException) -> bool:
    """Whether an error was raised outside of castwise and its caller."""
    frame, last = error.__traceback__, ""
    while frame is not None:
        last, frame = frame.tb_frame.f_code.co_filename, frame.tb_next
    return "castwise" not in last and "/tests/" not in last and last != "<string>"


def leaves(value: Any) -> list[Any]:
    """A result, or each of several, as NumPy arrays or plain values."""
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, cw.Tensor) or hasattr(value, "resolve_neg"):  # a tensor of torch
        return [cw.asarray(value).numpy()]
    return [value]


def _difference(mine: Any, theirs: Any) -> str:
    if not hasattr(theirs, "dtype"):
        if isinstance(mine, np.ndarray) and not mine.shape:
            mine = mine[()]
        is_same = mine == theirs or (mine != mine and theirs != theirs)
        return "" if is_same else f"{mine!r}, not {theirs!r}"
    if not hasattr(mine, "dtype"):
        return f"{mine!r}, not an array"
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    if (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
        return f"{mine.dtype}{mine.shape}, not {theirs.dtype}{theirs.shape}"
    return "" if _bits(mine) == _bits(theirs) else f"{mine.tolist()}, not {theirs.tolist()}"


def _bits(array: Any) -> bytes:
    """The bits of all numbers, with one NaN for all NaN."""
    array = np.array(array)
    parts = [array.real.copy(), array.imag.copy()] if array.dtype.kind == "c" else [array]
    for part in parts:
        if part.dtype.kind not in "biu":
            part[part != part] = np.nan
    return b"".join([part.tobytes() for part in parts])


def ran(call: str, names: dict[str, Any], operands: Sequence[Any]) -> Any:
    """The value of the last statement of a call of x, y and z."""
    known = {**names, **dict(zip("xyz", operands, strict=True))}
    *statements, result = call.split("; ")
    for statement in statements:
        exec(statement, known)
    return eval(result, known)
