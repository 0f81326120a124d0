"""Asks CuPy, on a CUDA device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from castwise.conformance.questions import (
    OPS,
    OUT_OPS,
    Scope,
    existing_forms,
    foreign_operand,
    named_forms,
    out_forms,
    read_operand,
    words,
)
from castwise.conformance.recorder import (
    AUGMENTED_OPERATORS,
    OPERATORS,
    Header,
    assigned,
    called_with_operands,
    dtype_function,
    found_functions,
    framework_versions,
    refusing,
)
from castwise.frameworks.numpy import NUMPY
from castwise.vocab.notation import OUT_OF_RANGE, REFUSED, given_by_name

DTYPES = words(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128"
)
_TAKE_DTYPE = words("sum prod mean cumsum cumprod std var")


class CupyRecorder:
    """The CuPy installed here."""

    name = "cupy"
    dialects: tuple[str, ...] = ("numpy:cupy",)

    def __init__(self, mode: str = "") -> None:
        import cupy

        if mode:
            raise ValueError(f"cupy has no mode {mode!r}.")
        self.dialect = self.dialects[0]
        self._cupy: Any = cupy
        self._functions = _functions(cupy)
        self.scope = Scope(
            dtypes=DTYPES,
            forms={op: _forms(op) for op in OPS if op in self._functions},
            foreign=tuple(f"np.{dtype}(1)" for dtype in DTYPES),
        )

    def versions(self) -> Header:
        return framework_versions(self._cupy.__version__, "numpy")

    @contextmanager
    def session(self) -> Iterator[None]:
        yield

    def make(self, notation: str) -> Any:
        spec = read_operand(notation)
        made = foreign_operand(spec)
        is_own = spec.dtype is not None and not spec.is_numpy
        return self._cupy.asarray(made) if is_own else made

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if form == "operator":
            return OPERATORS[op](*operands)
        if form == "augmented":
            return assigned(op, operands, self._cupy.copy)
        named = {name: self._named(name, text) for name, text in given_by_name(form).items()}
        return self._functions[op](*operands, **named)

    def _named(self, name: str, text: str) -> Any:
        return self._cupy.empty((3,), text) if name == "out" else self._cupy.dtype(text)

    def dtype_of(self, result: Any) -> str | None:
        dtype = getattr(result, "dtype", result)
        is_own = isinstance(dtype, self._cupy.dtype) and dtype.name in DTYPES
        return str(dtype.name) if is_own else None

    def classify(self, error: Exception) -> str | None:
        if isinstance(error, OverflowError) or "negative integer powers" in str(error):
            return OUT_OF_RANGE
        return REFUSED if isinstance(error, TypeError) else None


recorder = CupyRecorder


def _forms(op: str) -> tuple[str, ...]:
    forms = existing_forms(
        function=True, operator=op in OPERATORS, augmented=op in AUGMENTED_OPERATORS
    )
    outs = out_forms(DTYPES) if op in OUT_OPS and op not in ("matmul", "sum", "mean") else ()
    dtypes = named_forms("dtype", DTYPES) if op in _TAKE_DTYPE else ()
    return (*forms, *outs, *dtypes)


def _functions(cupy: Any) -> dict[str, Callable[..., Any]]:
    found = found_functions({"cupy": cupy, "cupy.linalg": cupy.linalg}, NUMPY.naming.aliases)
    functions = called_with_operands(found)
    functions["count_nonzero"] = partial(cupy.count_nonzero, axis=-1)
    functions["promote_types"] = dtype_function(cupy.promote_types)
    functions["can_cast"] = refusing(dtype_function(cupy.can_cast), yes=cupy.dtype(bool))
    return functions
