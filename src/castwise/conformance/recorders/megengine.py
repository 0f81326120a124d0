"""Asks MegEngine, on the CPU, as it is shipped.

Each error carries a C++ backtrace, whose symbols take most of the time; a preloaded library with an
empty backtrace_symbols() makes a recording thirty times faster and changes no answer.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from castwise.conformance.questions import (
    OPS,
    SCANS,
    GridQuestion,
    Scope,
    Spec,
    read_operand,
    words,
)
from castwise.conformance.recorder import (
    FrameworkRecorder,
    Header,
    called_with_operands,
    existing_forms,
    found_functions,
    framework_versions,
    sequence_function,
)
from castwise.conformance.values import Held, numpy_array, numpy_held
from castwise.frameworks.megengine import MEGENGINE
from castwise.vocab.notation import NO_KERNEL, OUT_OF_RANGE, REFUSED

# What an error of MegEngine means: only its text tells the kinds apart.

# Raised where the op runs, once its result's dtype is known.
_MISSING_KERNEL = re.compile("bad dtype|Unsupported input dtype|Impossible: internal error")
_OUT_OF_RANGE = re.compile("OverflowError")
_REFUSAL = re.compile(
    "unsupport mode|different signedness|unsupported (op|elemwise|numpy dtype)|no dtype avaliable|"
    "requires (2|a) bool tensor|not 'complex'|A.dtype == B.dtype|no fallback implementation|"
    "must be a tensor|expects tensor|has no attribute '(dtype|ndim)'|unless input is a vector|"
    "deduce_dtype|mask must be bool"
)


DTYPES = words("bool uint8 uint16 int8 int16 int32 float16 bfloat16 float32 complex64")
# NumPy operands of every dtype; their role makes no difference, which a few show.
NUMPY_OPERANDS = words(
    "np.bool[3] np.uint8[3] np.int8[3] np.int16[3] np.int32[3] np.int64[3] np.uint16[3] "
    "np.uint32[3] np.uint64[3] np.float16[3] np.float32[3] np.float64[3] np.complex64[3] "
    "np.complex128[3] np.uint8[] np.float32[] np.bool(1) np.int16(1) np.float16(1) np.float64(1)"
)
_NEED_AXIS = (*SCANS, "logsumexp")


class MegengineRecorder(FrameworkRecorder):
    """The MegEngine installed here."""

    name = "megengine"
    dialects = ("megengine",)
    dialect = "megengine"

    def __init__(self, mode: str = "") -> None:
        import megengine

        if mode:
            raise ValueError(f"megengine has no mode {mode!r}.")
        self._megengine: Any = megengine
        self._functions = _functions()
        self.scope = Scope(
            dtypes=DTYPES,
            forms={
                op: forms
                for op in OPS
                if (forms := existing_forms(op, function=op in self._functions))
            },
            foreign=NUMPY_OPERANDS,
            has_matrices=True,
            is_left_out=_is_left_out,
        )

    def versions(self) -> Header:
        return framework_versions(str(self._megengine.__version__), "numpy")

    @contextmanager
    def session(self) -> Iterator[None]:
        config = self._megengine.config
        before = config.async_level
        config.async_level = 0  # an error is raised by the call it belongs to
        try:
            with super().session():
                yield
        finally:
            config.async_level = before

    def dtype_of(self, result: Any) -> str | None:
        dtype = result.dtype if isinstance(result, self._megengine.Tensor) else result
        name = str(getattr(dtype, "name", "")).removeprefix("py")  # its bfloat16 is pybfloat16
        return name if name in DTYPES else None

    def classify(self, error: Exception) -> str | None:
        # An error of the interpreter is reported by another one.
        text = f"{error} {error.__cause__ or error.__context__ or ''}"
        if _OUT_OF_RANGE.search(text):
            return OUT_OF_RANGE
        if _MISSING_KERNEL.search(text):
            return NO_KERNEL
        return REFUSED if _REFUSAL.search(text) else None

    def _copied(self, array: Any) -> Any:
        return self._megengine.Tensor(array)

    def _own(self, dtype: str, spec: Spec) -> Any:
        import numpy as np
        from megengine import functional, tensor
        from megengine.core.tensor.dtype import bfloat16

        ones = tensor(np.full(spec.shape, spec.value, "float32"))
        if dtype == "complex64":
            return functional.complex(ones, ones)
        return ones.astype(bfloat16 if dtype == "bfloat16" else dtype)


recorder = MegengineRecorder

# Asks MegEngine what it computes, on the CPU.


class MegengineValues(MegengineRecorder):
    """The values of the MegEngine installed here."""

    dtypes = words("bool uint8 uint16 int8 int16 int32 float16 float32")

    def hold(self, held: Held) -> Any:
        from megengine import tensor

        return held.values[0] if held.dtype is None else tensor(numpy_array(held))

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype)

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return self.call(op, form, operands)

    def held_by(self, result: Any) -> Held | None:
        dtype = self.dtype_of(result)
        if dtype not in self.dtypes or not isinstance(result, self._megengine.Tensor):
            return None
        return numpy_held(result.numpy())._replace(dtype=dtype)

    def is_division_by_zero(self, error: Exception) -> bool:
        return isinstance(error, ZeroDivisionError)


values_recorder = MegengineValues


def _functions() -> dict[str, Callable[..., Any]]:
    from megengine import functional
    from megengine.core._imperative_rt import core2

    losses = {"l1_loss": "functional.nn.l1_loss", "mse_loss": "functional.nn.square_loss"}
    found = found_functions({"functional": functional}, MEGENGINE.naming.aliases, losses)
    functions = called_with_operands(found)
    functions["reciprocal"] = partial(operator.truediv, 1)  # it has no other
    functions |= {op: partial(functions[op], axis=-1) for op in _NEED_AXIS if op in functions}
    functions["result_type"] = sequence_function(core2.dtype_promotion)
    return functions


def _is_left_out(question: GridQuestion) -> bool:
    """Whether the call would end the process: integers divided by a number that wraps to zero."""
    if question.op not in ("floor_divide", "remainder") or question.operands[-1].endswith("]"):
        return False
    divisor = read_operand(question.operands[-1]).value
    return isinstance(divisor, int) and divisor % 256 == 0
