"""Asks MindSpore: PyNative mode, on the CPU."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from castwise.conformance.calls import (
    AUGMENTED_OPERATORS,
    OPERATORS,
    RefusalError,
    assigned,
    of_dtypes,
    refusing,
)
from castwise.conformance.functions import called_with_operands, found_functions
from castwise.conformance.grid import (
    ALPHAS,
    OPS,
    GridQuestion,
    Scope,
    existing_forms,
    named_forms,
)
from castwise.conformance.operand import Spec, foreign_operand, read_literal, read_operand, words
from castwise.conformance.recorder import Header, NoKernelError, versions_of
from castwise.conformance.recorders.mindspore_errors import (
    classify,
    is_missing_kernel,
    is_missing_signature,
    promoted_dtype,
)
from castwise.frameworks.mindspore import MINDSPORE

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
# A layer; not there; only in mindspore.numpy; made of a product and a power that end the process;
# torch's and TensorFlow's own.
_MISSING = set(
    words(
        "poisson_nll_loss can_cast cbrt ldexp rsub clamp_min clamp_max real_div floor_div "
        "truncate_div div_no_nan multiply_no_nan"
    )
)
_TAKE_DTYPE = words("sum prod cumsum cumprod softmax")
_NUMBERS = {"addcmul": "value", "huber_loss": "delta"}  # those that have a name, by op
_SHIFTS = {"bitwise_left_shift", "bitwise_right_shift"}  # tensors have no << and >>
# Where a tensor and a 0-d one are of these two, these ops end in a segmentation fault.
_CRASHING_DTYPES = {"float16", "bfloat16"}
_CRASHING = {"mul", "div", "fmod", "dot", "outer", "inner", "vecdot", "kron"}


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
        self._mindspore: Any = mindspore
        self._functions = _functions()
        self.scope = _scope(self._functions)

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
        except (RuntimeError, TypeError, AttributeError) as error:
            if is_missing_kernel(error):
                raise NoKernelError(promoted_dtype(error, op)) from error
            # A signature says nothing of dtypes, but that a list has no place in it is an answer.
            if any(type(o) is list for o in operands) and is_missing_signature(error):
                raise RefusalError from error
            raise

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
        if form == "augmented":
            return assigned(op, operands, self._mindspore.Tensor.copy)
        name, _, value = form.partition("=")
        if name == "dtype":
            return self._functions[op](*operands, dtype=_dtype(value))
        named = {name: read_literal(value)} if value else {}
        return self._functions[op](*operands, **named)


recorder = MindSporeRecorder


def _scope(functions: Container[str]) -> Scope:
    return Scope(
        dtypes=DTYPES,
        forms={op: forms for op in OPS if (forms := _forms(op, op in functions))},
        foreign=(*(f"np.{dtype}(1)" for dtype in NUMPY_DTYPES), *NUMPY_ARRAYS),
        is_left_out=_is_crashing,
    )


def _is_crashing(question: GridQuestion) -> bool:
    if question.op not in _CRASHING:
        return False
    parts = [operand.partition("[") for operand in question.operands]
    dtypes, sizes = {part[0] for part in parts}, {part[2] for part in parts}
    # outer makes a column of the first operand before it multiplies.
    is_with_0d = parts[1][2] == "]" if question.op == "outer" else len(sizes) == 2
    return dtypes == _CRASHING_DTYPES and is_with_0d


def _forms(op: str, has_function: bool) -> tuple[str, ...]:
    forms = existing_forms(
        function=has_function and op not in _MISSING,
        operator=op in OPERATORS and op not in _SHIFTS,
        augmented=op in AUGMENTED_OPERATORS and op not in _SHIFTS,
    )
    dtypes = named_forms("dtype", DTYPES) if op in _TAKE_DTYPE else ()
    numbers = named_forms(_NUMBERS[op], ALPHAS) if op in _NUMBERS else ()
    return (*forms, *dtypes, *numbers)


def _functions() -> dict[str, Callable[..., Any]]:
    import mindspore
    from mindspore import mint, ops

    functions = called_with_operands(found_functions({"ops": ops}, MINDSPORE.naming.aliases))
    for op in _NEED_AXIS:
        functions[op] = _along_last(functions[op])
    functions["threshold"] = partial(ops.threshold, thr=1, value=1)
    functions["bitwise_not"] = ops.invert  # mint.bitwise_not has no kernel at all
    functions["dot"] = mindspore.numpy.dot  # that of ops takes no vectors
    functions["allclose"] = refusing(mint.allclose, yes=mindspore.bool_)
    functions["result_type"] = mindspore.numpy.result_type
    functions["promote_types"] = of_dtypes(mindspore.numpy.promote_types)
    return functions


def _along_last(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda tensor, **named: function(tensor, -1, **named)


def _make(spec: Spec) -> Any:
    import mindspore
    import numpy as np

    if spec.dtype is None or spec.is_numpy:
        return foreign_operand(spec)
    return mindspore.Tensor(np.full(spec.shape, spec.value), _dtype(spec.dtype))


def _dtype(name: str) -> Any:
    import mindspore

    return mindspore.bool_ if name == "bool" else getattr(mindspore, name)
