"""Asks OneFlow, eagerly, on the CPU.

Its wheel needs the libraries of nvidia-cudnn-cu11 and nvidia-cublas-cu11 on LD_LIBRARY_PATH to be
imported at all, though no GPU.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from castwise.conformance.calls import (
    AUGMENTED_OPERATORS,
    OPERATORS,
    assigned,
    refusing,
)
from castwise.conformance.functions import called_with_operands, found_functions
from castwise.conformance.grid import OPS, SCANS, GridQuestion, Scope, existing_forms, named_forms
from castwise.conformance.operand import Spec, foreign_operand, read_literal, read_operand, words
from castwise.conformance.recorder import Header, NoKernelError, versions_of
from castwise.conformance.recorders.oneflow_errors import (
    classify,
    dtype_lacking_kernel,
    is_missing_kernel,
)
from castwise.frameworks.oneflow import ONEFLOW

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


class OneflowRecorder:
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
            foreign=tuple(f"np.{d}{role}" for d in NUMPY_DTYPES for role in ("[3]", "[]", "(1)")),
            has_matrices=True,
            is_left_out=_is_left_out,
        )

    def versions(self) -> Header:
        return versions_of(str(self._oneflow.__version__), "numpy")

    @contextmanager
    def session(self) -> Iterator[None]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield

    def make(self, notation: str) -> Any:
        return _make(read_operand(notation))

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        try:
            return self._call(op, form, operands)
        except RuntimeError as error:
            if not is_missing_kernel(error):
                raise
            is_told = op not in _ENDING_OTHERWISE
            raise NoKernelError(dtype_lacking_kernel(error) if is_told else None) from error

    def dtype_of(self, result: Any) -> str | None:
        # With a NumPy operand on the left of an operator it is NumPy that answers.
        dtype = getattr(result, "dtype", None)
        return None if dtype is None else str(dtype).removeprefix("oneflow.")

    def classify(self, error: Exception) -> str | None:
        return classify(error)

    def _call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if form == "operator":
            return OPERATORS[op](*operands)
        if form == "augmented":
            return assigned(op, operands, self._oneflow.Tensor.clone)
        if form == "inplace":
            return getattr(operands[0].clone(), f"{op}_")(*operands[1:])
        _, is_dtype, name = form.partition("=")
        named = {"dtype": getattr(self._oneflow, name)} if is_dtype else {}
        return self._functions[op](*operands, **named)

    def _forms(self, op: str) -> tuple[str, ...]:
        # Tensors have no shift operators: with a NumPy array it is NumPy that shifts.
        is_operator = op in OPERATORS and not op.endswith("shift") and op != "positive"
        forms = existing_forms(
            function=op in self._functions,
            operator=is_operator,
            augmented=is_operator and op in AUGMENTED_OPERATORS,
            inplace=hasattr(self._oneflow.Tensor, f"{op}_"),
        )
        return (*forms, *named_forms("dtype", PUBLIC_DTYPES)) if op in _TAKE_DTYPE else forms


recorder = OneflowRecorder


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


def _make(spec: Spec) -> Any:
    import numpy as np
    import oneflow

    if spec.dtype is None or spec.is_numpy:
        return foreign_operand(spec)
    if spec.dtype == "int16":  # nothing can be cast to it
        return oneflow.from_dlpack(np.full(spec.shape, spec.value, "int16").__dlpack__())
    names = oneflow._oneflow_internal if spec.dtype in INTERNAL_DTYPES else oneflow
    dtype = getattr(names, spec.dtype)
    if spec.dtype in _ONLY_EMPTY:
        # What they are cast to, or that they cannot be, is found before shapes are compared.
        return oneflow.empty((0, *spec.shape[1:]), dtype=dtype)
    return oneflow.tensor(np.full(spec.shape, spec.value)).to(dtype)


def _is_left_out(question: GridQuestion) -> bool:
    return _crashes(question) or _is_beyond_the_table(question)


def _is_beyond_the_table(question: GridQuestion) -> bool:
    """Whether internal dtypes stand where they show nothing of the table, or cannot be made."""
    op, form, operands = question
    internal = [o for o in operands if o.partition("[")[0] in INTERNAL_DTYPES]
    if not internal:
        return False
    is_by_numpy = form == "operator" and operands[0].startswith("np.")
    # The division does not treat int128 as an integer, nor its kernel as a float.
    is_unanswered = op == "div" and "int128[3]" in internal
    is_apart = (
        op not in _ASKED_OF_INTERNAL
        or form in ("augmented", "inplace")
        or is_by_numpy
        or is_unanswered
    )
    return is_apart or any(operand.endswith("[]") for operand in internal)


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
