"""Asks OneFlow, eagerly, on the CPU.

Its wheel needs the libraries of nvidia-cudnn-cu11 and nvidia-cublas-cu11 on LD_LIBRARY_PATH to be
imported at all, though no GPU.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from castwise.conformance.questions import (
    OPS,
    SCANS,
    GridQuestion,
    Scope,
    Spec,
    named_forms,
    numpy_operands,
    read_literal,
    words,
)
from castwise.conformance.recorder import (
    AUGMENTED_OPERATORS,
    OPERATORS,
    FrameworkRecorder,
    Header,
    NoKernelError,
    RefusalError,
    called_with_operands,
    existing_forms,
    found_functions,
    framework_versions,
    refusing,
)
from castwise.conformance.values import Held, numpy_array, numpy_held
from castwise.frameworks.oneflow import ONEFLOW
from castwise.vocab.notation import OUT_OF_RANGE, REFUSED

# What an error of OneFlow means: only its text tells the kinds apart.

_MISSING_KERNEL = "Cannot find the kernel matching"
_OUTPUT = re.compile(r"DataType_Name of (?:out|y|z|output_tensor)_0: k(\w+)")
_DTYPES = {"Float": "float32", "Double": "float64"}  # the others differ in case only
# Shapes that do not fit together, and a bound of clamp that is not a number. An op that refuses
# arrays of too few dimensions does so whatever their shapes: that is a refusal.
_NOT_ABOUT_DTYPES = re.compile(
    "origin shape|same shape|same number of elements|must be scalar, not|unsupported operand"
)


def dtype_lacking_kernel(error: RuntimeError) -> str | None:
    """The dtype that the step without a kernel would have given, be it a cast or the op itself."""
    found = _OUTPUT.search(str(error))
    return _DTYPES.get(found[1], found[1].lower()) if found else None


PUBLIC_DTYPES = words("bool uint8 int8 int32 int64 float16 bfloat16 float32 float64")
# Not among the names of the package, but in its promotion table. Most have no kernels, and then it
# is the message about the missing one that tells what they were promoted to.
INTERNAL_DTYPES = words("int16 uint16 uint32 uint64 int128")
_ONLY_EMPTY = words("uint16 int128")  # no array of them can be filled
# Ops that show the table, the lowest dtype of a reduction, and who promotes at all.
_ASKED_OF_INTERNAL = words(
    "add sub mul div maximum lt eq logical_and dot concat stack sum prod cumsum neg exp mean"
)
NUMPY_DTYPES = words("bool int8 int64 float32 float64 complex64")
# Tensors have no shift operators: with a NumPy array it is NumPy that shifts.
_NO_OPERATORS = {"bitwise_left_shift", "bitwise_right_shift", "positive"}
_NEED_AXIS = (*SCANS, "logsumexp")
_TAKE_DTYPE = words("sum prod")
# The step without a kernel is not the last one: its dtype is not the result's.
_ENDING_OTHERWISE = words(
    "sub div eq ne lt le gt ge logical_and logical_or logical_xor bitwise_and bitwise_or "
    "bitwise_xor logaddexp logsumexp l1_loss mse_loss addcmul addcdiv std var isfinite isinf isnan "
    "allclose"
)
_DIVIDING = words("floor_divide remainder fmod")
_CROSSED = words("float32 float64")  # the dtypes that cross has kernels for


class OneflowRecorder(FrameworkRecorder):
    """The OneFlow installed here."""

    name = "oneflow"
    dialects = ("oneflow",)
    dialect = "oneflow"

    def __init__(self, mode: str = "") -> None:
        import oneflow

        if mode:
            raise ValueError(f"oneflow has no mode {mode!r}.")
        self._oneflow: Any = oneflow
        self._functions = _functions()
        self.scope = Scope(
            dtypes=(*PUBLIC_DTYPES, *INTERNAL_DTYPES),
            forms={op: forms for op in OPS if (forms := self._forms(op))},
            foreign=numpy_operands(NUMPY_DTYPES),
            has_matrices=True,
            is_left_out=lambda question: _crashes(question) or _is_beyond_the_table(question),
        )

    def versions(self) -> Header:
        return framework_versions(str(self._oneflow.__version__), "numpy")

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        try:
            if form == "inplace":
                return getattr(operands[0].clone(), f"{op}_")(*operands[1:])
            return super().call(op, form, operands)
        except RuntimeError as error:
            if _MISSING_KERNEL not in str(error):  # of some step
                raise
            is_told = op not in _ENDING_OTHERWISE
            raise NoKernelError(dtype_lacking_kernel(error) if is_told else None) from error

    def dtype_of(self, result: Any) -> str | None:
        # With a NumPy operand on the left of an operator it is NumPy that answers.
        dtype = getattr(result, "dtype", None)
        return None if dtype is None else str(dtype).removeprefix("oneflow.")

    def classify(self, error: Exception) -> str | None:
        if isinstance(error, NoKernelError):
            return error.answer
        # A function that has met an int beyond int64 goes on with the OverflowError set.
        if isinstance(error, (OverflowError, SystemError)):
            return OUT_OF_RANGE
        if isinstance(error, (RuntimeError, TypeError, RefusalError)):
            return None if _NOT_ABOUT_DTYPES.search(str(error)) else REFUSED
        return None

    def _copied(self, array: Any) -> Any:
        return self._oneflow.Tensor.clone(array)

    def _named(self, op: str, name: str, text: str) -> Any:
        return getattr(self._oneflow, text)

    def _forms(self, op: str) -> tuple[str, ...]:
        forms = existing_forms(
            op,
            function=op in self._functions,
            operators=OPERATORS.keys() - _NO_OPERATORS,
            augmented=AUGMENTED_OPERATORS.keys() - _NO_OPERATORS,
            inplace=hasattr(self._oneflow.Tensor, f"{op}_"),
        )
        return (*forms, *named_forms("dtype", PUBLIC_DTYPES)) if op in _TAKE_DTYPE else forms

    def _own(self, dtype: str, spec: Spec) -> Any:
        import numpy as np

        oneflow = self._oneflow
        if dtype == "int16":  # nothing can be cast to it
            return oneflow.from_dlpack(np.full(spec.shape, spec.value, "int16").__dlpack__())
        names = oneflow._oneflow_internal if dtype in INTERNAL_DTYPES else oneflow
        own = getattr(names, dtype)
        if dtype in _ONLY_EMPTY:
            # What they are cast to, or that they cannot be, is found before shapes are compared.
            return oneflow.empty((0, *spec.shape[1:]), dtype=own)
        return oneflow.tensor(np.full(spec.shape, spec.value)).to(own)


recorder = OneflowRecorder

# Asks OneFlow what it computes, on the CPU.


class OneflowValues(OneflowRecorder):
    """The values of the OneFlow installed here."""

    dtypes = words("bool uint8 int8 int32 int64 float16 float32 float64")

    def hold(self, held: Held) -> Any:
        if held.dtype is None:
            return held.values[0]
        if held.dtype == "float16":
            return self.cast(self.hold(held._replace(dtype="float32")), "float16")
        return self._oneflow.tensor(numpy_array(held))

    def cast(self, array: Any, dtype: str) -> Any:
        return array.to(getattr(self._oneflow, dtype))

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return self.call(op, form, operands)

    def held_by(self, result: Any) -> Held | None:
        dtype = self.dtype_of(result)
        if dtype not in PUBLIC_DTYPES or not isinstance(result, self._oneflow.Tensor):
            return None
        small = dtype in ("float16", "bfloat16")
        wide = result.to(self._oneflow.float32) if small else result
        return numpy_held(wide.numpy())._replace(dtype=dtype)

    def is_division_by_zero(self, error: Exception) -> bool:
        return isinstance(error, ZeroDivisionError)


values_recorder = OneflowValues


def _functions() -> dict[str, Callable[..., Any]]:
    import oneflow

    instead = {op: f"oneflow.nn.functional.{op}" for op in ("mse_loss", "l1_loss")}
    instead["concat"] = "oneflow.cat"
    found = found_functions({"oneflow": oneflow}, ONEFLOW.naming.aliases, instead)
    functions = called_with_operands(found)
    functions |= {op: partial(functions[op], dim=-1) for op in _NEED_AXIS if op in functions}
    functions["threshold"] = partial(oneflow.threshold, threshold=1, value=1)
    functions["allclose"] = refusing(oneflow.allclose, yes=oneflow.ones(3, dtype=oneflow.bool))
    return functions


def _is_beyond_the_table(question: GridQuestion) -> bool:
    """Whether internal dtypes stand where they show nothing of the table, or cannot be made."""
    op, form, operands = question
    internal = [o for o in operands if o.partition("[")[0] in INTERNAL_DTYPES]
    if not internal:
        return False
    is_by_numpy = form == "operator" and operands[0].startswith("np.")
    # The division does not treat int128 as an integer, nor its kernel as a float.
    is_unanswered = op == "div" and "int128[3]" in internal
    is_shown = op in _ASKED_OF_INTERNAL and form not in ("augmented", "inplace")
    is_0d = any(operand.endswith("[]") for operand in internal)
    return not is_shown or is_by_numpy or is_unanswered or is_0d


def _crashes(question: GridQuestion) -> bool:
    """Whether the call would end the process."""
    op, form, operands = question
    last = operands[-1]
    if op == "cross":
        # The kernel for the first dtype aborts where it is handed another one.
        first, second = [operand.partition("[")[0] for operand in operands]
        return first in _CROSSED and first != second
    if op == "add" and form in ("function", "operator"):
        # Looking for what else could be added ends in a segmentation fault, except for numbers that
        # are Python's or refused earlier.
        is_number = last.endswith("(1)") and not last.startswith(("np.bool", "np.complex"))
        return last.endswith("j") or (last.startswith("np.") and not is_number)
    if op in _DIVIDING and not last.endswith("]") and not last.startswith("np."):
        # Integers are divided by a number that wraps to zero.
        value = read_literal(last)
        return isinstance(value, int) and value % 256 == 0
    return op in SCANS and last.endswith("[]")
