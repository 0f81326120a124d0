"""Asks NumPy, 1 or 2, with ml_dtypes' bfloat16 as a guest dtype."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from castwise.conformance.calls import (
    INPLACE_OPERATORS,
    OPERATORS,
    of_dtypes,
    of_sequence,
    refusing,
)
from castwise.conformance.grid import OPS, OUT_OPS, REDUCTIONS, Scope, existing_forms, out_forms
from castwise.conformance.operand import foreign_operand, read_operand, words
from castwise.conformance.recorder import OUT_OF_RANGE, REFUSED, Header, versions_of

DTYPES = words(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
)
# The names that both NumPy 1 and NumPy 2 know.
_NAMES = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "pow": "power",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "bitwise_not": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "atan2": "arctan2",
    "clamp": "clip",
    "concat": "concatenate",
    "abs": "absolute",
    "neg": "negative",
}
# ml_dtypes' way to say that a Python int does not fit a C long.
_OUT_OF_RANGE = re.compile("negative integer powers|expected number, got int")
# In an array of objects it is Python that refuses, and names only its own types.
_BY_PYTHON = re.compile(r"(unsupported operand|not supported between)(?!.*(numpy|bfloat16))")


class NumpyRecorder:
    """The NumPy installed here."""

    name = "numpy"
    dialects = ("numpy", "numpy@1")

    def __init__(self, mode: str = "") -> None:
        import ml_dtypes  # noqa: F401  (registers bfloat16)
        import numpy as np

        if mode:
            raise ValueError(f"numpy has no mode {mode!r}.")
        self._np: Any = np
        self.dialect = "numpy@1" if np.__version__.startswith("1.") else "numpy"
        self._functions = _functions()
        self.scope = Scope(
            dtypes=DTYPES,
            forms={op: _forms(op) for op in OPS if op in self._functions},
            scalars=tuple(f"np.{dtype}(1)" for dtype in DTYPES),
            by_value=True,
        )

    def versions(self) -> Header:
        return versions_of(self._np.__version__, "ml_dtypes")

    @contextmanager
    def session(self) -> Iterator[None]:
        with warnings.catch_warnings(), self._np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield

    def make(self, notation: str) -> Any:
        return foreign_operand(read_operand(notation))

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        kind, _, dtype = form.partition("=")
        if kind == "operator":
            return OPERATORS[op](*operands)
        if kind == "inplace":
            return INPLACE_OPERATORS[op](operands[0].copy(), operands[1])
        if kind == "out":
            is_single = op == "matmul" or op in set(REDUCTIONS) - {"cumsum", "cumprod"}
            out = self._np.empty(() if is_single else (3,), dtype)
            return self._functions[op](*operands, out=out)
        return self._functions[op](*operands)

    def dtype_of(self, result: Any) -> str | None:
        dtype = getattr(result, "dtype", result)
        # NumPy 1 leaves a Python int of 65 bits to Python: an array of objects, or an object.
        is_own = isinstance(dtype, self._np.dtype) and dtype.name in DTYPES
        return str(dtype.name) if is_own else None

    def classify(self, error: Exception) -> str | None:
        text = str(error)
        if isinstance(error, OverflowError) or _OUT_OF_RANGE.search(text):
            return OUT_OF_RANGE
        if isinstance(error, TypeError) and not _BY_PYTHON.search(text):
            return REFUSED
        return None


recorder = NumpyRecorder


def _forms(op: str) -> tuple[str, ...]:
    forms = existing_forms(function=True, operator=op in OPERATORS, inplace=op in INPLACE_OPERATORS)
    return (*forms, *out_forms(DTYPES)) if op in OUT_OPS else forms


def _functions() -> dict[str, Callable[..., Any]]:
    import numpy as np

    named = {op: _NAMES.get(op, op) for op in OPS}
    functions = {op: getattr(np, name) for op, name in named.items() if hasattr(np, name)}
    functions["norm"] = np.linalg.norm
    functions["where"] = partial(np.where, np.ones(3, bool))
    # Told an axis it answers an array; otherwise a Python int, which has no dtype.
    functions["count_nonzero"] = partial(np.count_nonzero, axis=-1)
    functions["concat"] = of_sequence(np.concatenate)
    functions["stack"] = of_sequence(np.stack)
    functions["promote_types"] = of_dtypes(np.promote_types)
    functions["can_cast"] = refusing(of_dtypes(np.can_cast), yes=np.dtype(bool))
    functions["allclose"] = refusing(np.allclose, yes=np.dtype(bool))
    return functions
