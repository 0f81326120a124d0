"""Asks MindSpore: PyNative mode, on the CPU."""

from __future__ import annotations

import os
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
from castwise.conformance.grid import OPS, Question, Scope, existing_forms
from castwise.conformance.operand import Spec, foreign_operand, read_operand, words
from castwise.conformance.recorder import Header, versions_of
from castwise.conformance.recorders.mindspore_errors import (
    NoKernelError,
    classify,
    is_missing_kernel,
    promoted_dtype,
)

DTYPES = words(
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
)
NUMPY_DTYPES = words(
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 float32 float64 "
    "complex64 complex128"
)
# All NumPy arrays are refused alike, for being no tensors.
NUMPY_ARRAYS = words("np.bool[3] np.int8[3] np.float32[3] np.float32[] np.complex64[]")
_NEED_AXIS = {"cumsum", "cumprod", "logsumexp"}
_MISSING = {"poisson_nll_loss", "can_cast"}  # the first is a layer, the second is not there
_SHIFTS = {"bitwise_left_shift", "bitwise_right_shift"}  # tensors have no << and >>
# Where a tensor and a 0-d one are of these two, these ops end in a segmentation fault.
_CRASHING_DTYPES = {"float16", "bfloat16"}
_CRASHING = {"mul", "div", "fmod", "dot"}


class MindSporeRecorder:
    """The MindSpore installed here."""

    name = "mindspore"
    dialects = ("mindspore",)
    dialect = "mindspore"

    def __init__(self, mode: str = "") -> None:
        os.environ.setdefault("GLOG_v", "4")  # read at import; each missing kernel is logged else
        import mindspore

        if mode:
            raise ValueError(f"mindspore is recorded in PyNative mode; not {mode!r}.")
        self.scope = _scope()
        self._mindspore: Any = mindspore
        self._functions = _functions()

    def versions(self) -> Header:
        return versions_of(self._mindspore.__version__, "numpy")

    @contextmanager
    def session(self) -> Iterator[None]:
        # Without this an error may come up in a later call than the one that made it.
        self._mindspore.runtime.launch_blocking()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield

    def make(self, notation: str) -> Any:
        return _make(read_operand(notation))

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        try:
            return self._call(op, form, operands)
        except (RuntimeError, TypeError) as error:
            if not is_missing_kernel(error):
                raise
            raise NoKernelError(promoted_dtype(error, op)) from error

    def dtype_of(self, result: Any) -> str | None:
        first = result[0] if isinstance(result, tuple) else result  # max and median tell where, too
        dtype = first.dtype if isinstance(first, self._mindspore.Tensor) else first
        is_own = isinstance(dtype, self._mindspore.Type)
        return str(dtype).lower() if is_own else None

    def classify(self, error: Exception) -> str | None:
        return classify(error)

    def _call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if form == "operator":
            return OPERATORS[op](*operands)
        if form == "inplace":
            return INPLACE_OPERATORS[op](operands[0].copy(), operands[1])
        return self._functions[op](*operands)


recorder = MindSporeRecorder


def _scope() -> Scope:
    return Scope(
        dtypes=DTYPES,
        forms={op: forms for op in OPS if (forms := _forms(op))},
        foreign=(*(f"np.{dtype}(1)" for dtype in NUMPY_DTYPES), *NUMPY_ARRAYS),
        is_left_out=_is_crashing,
    )


def _is_crashing(question: Question) -> bool:
    if question.op not in _CRASHING:
        return False
    parts = [operand.partition("[") for operand in question.operands]
    dtypes, sizes = {part[0] for part in parts}, {part[2] for part in parts}
    return dtypes == _CRASHING_DTYPES and len(sizes) == 2


def _forms(op: str) -> tuple[str, ...]:
    return existing_forms(
        function=op not in _MISSING,
        operator=op in OPERATORS and op not in _SHIFTS,
        inplace=op in INPLACE_OPERATORS and op not in _SHIFTS,
    )


def _functions() -> dict[str, Callable[..., Any]]:
    import mindspore
    from mindspore import mint, ops

    functions = {op: getattr(ops, op) for op in OPS if hasattr(ops, op)}
    for op in _NEED_AXIS:
        functions[op] = _along_last(functions[op])
    functions["threshold"] = partial(ops.threshold, thr=1, value=1)
    functions["where"] = _where
    functions["concat"] = of_sequence(ops.concat)
    functions["stack"] = of_sequence(ops.stack)
    functions["bitwise_not"] = ops.invert  # mint.bitwise_not has no kernel at all
    functions["dot"] = mindspore.numpy.dot  # that of ops takes no vectors
    functions["allclose"] = refusing(mint.allclose, yes=mindspore.bool_)
    functions["result_type"] = mindspore.numpy.result_type
    functions["promote_types"] = of_dtypes(mindspore.numpy.promote_types)
    return functions


def _along_last(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda tensor: function(tensor, -1)


def _where(a: Any, b: Any) -> Any:
    import mindspore
    from mindspore import ops

    return ops.where(mindspore.Tensor([True] * 3), a, b)


def _make(spec: Spec) -> Any:
    import mindspore
    import numpy as np

    if spec.dtype is None or spec.is_numpy:
        return foreign_operand(spec)
    dtype = mindspore.bool_ if spec.dtype == "bool" else getattr(mindspore, spec.dtype)
    return mindspore.Tensor(np.full(spec.shape, spec.value), dtype)
