"""Asks MindSpore: PyNative mode, on the CPU."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from castwise.conformance.questions import (
    ALPHAS,
    NUMPY_DTYPES,
    OPS,
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
    dtype_function,
    existing_forms,
    found_functions,
    framework_versions,
    refusing,
)
from castwise.frameworks.mindspore import MINDSPORE
from castwise.vocab.notation import OUT_OF_RANGE, REFUSED

# What an error of MindSpore means: only its text tells the kinds apart.

_NO_KERNEL = re.compile(
    r"Select CPU operator\[|KernelMod Init Failed|Unsupported op \[|unregistered"
    r"|Reduce does not support"
)
# "... but get input[Bool Bool ] and output[Bool ]", "... output[[const vector]{UInt32}]."
_WANTED = re.compile(
    r"Select CPU operator\[(\w+)\].*but get input.*?output\[(?:\[const vector\]\{)?(\w+)", re.DOTALL
)
# The primitives by which an op is called otherwise than by its own name; a function that calls
# several names the dtype of a step.
_PRIMITIVES = {
    "lt": "less", "le": "lessequal", "gt": "greater", "ge": "greaterequal", "eq": "equal",
    "ne": "notequal", "remainder": "floormod", "where": "select", "lerp": "lerp",
}  # fmt: skip
_OUT_OF_RANGE = re.compile(
    "Unable to cast Python instance of type <class 'int'>|returned a result with an exception set"
    "|Cannot construct Tensor because of unsupported data type|Unsupported tensor type!"
    "|that contain unsupported element|int too large to convert"
)
# A condition that is not a tensor, and copysign's first operand where it is a number.
_WANTS_TENSOR = re.compile(
    r"with \"Select\(\)\(condition=(?!Tensor)"
    "|Tensor is expected, but got <class '(bool|int|float|complex)'>"
)
# Some report a complex scalar as a signature, others as a dtype.
_SIGNATURES = re.compile(
    "Failed calling|unsupported operand|must be Tensor|must be a Tensor|[Tt]ensor is expected"
    "|at least one of the inputs|[Aa]t least one of the types|should be a Tensor|must be all tensor"
)
_SHAPES = re.compile(
    "required positional argument|cannot broadcast|non-broadcastable|rank >= 1"
    "|primitive descriptor|must have at least one dimension|inputs dim must contain 3"
    "|dim is out of range"
)


def is_missing_signature(error: Exception) -> bool:
    """Whether an op takes no such thing as one of its operands, be its dtype what it may."""
    return isinstance(error, AttributeError) or _SIGNATURES.search(str(error)) is not None


def promoted_dtype(error: Exception, op: str) -> str | None:
    """The result dtype the missing kernel was to give, where it is the op's own kernel."""
    found = _WANTED.search(str(error))
    primitive = _PRIMITIVES.get(op, op.replace("_", ""))
    return found[2].lower() if found and found[1].lower() == primitive else None


DTYPES = words(
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
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


class MindSporeRecorder(FrameworkRecorder):
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
        self.scope = Scope(
            dtypes=DTYPES,
            forms={op: forms for op in OPS if (forms := _forms(op, op in self._functions))},
            foreign=(*numpy_operands(NUMPY_DTYPES, "(1)"), *NUMPY_ARRAYS),
            is_left_out=_is_crashing,
        )

    def versions(self) -> Header:
        return framework_versions(self._mindspore.__version__, "numpy")

    @contextmanager
    def session(self) -> Iterator[None]:
        # Without this an error may come up in a later call than the one that made it.
        self._mindspore.runtime.launch_blocking()
        with super().session():
            yield

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        try:
            return super().call(op, form, operands)
        except (RuntimeError, TypeError, AttributeError) as error:
            if _NO_KERNEL.search(str(error)):
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
        text = str(error)
        if isinstance(error, NoKernelError):
            return error.answer
        if isinstance(error, RefusalError) or _WANTS_TENSOR.search(text):
            return REFUSED
        if _OUT_OF_RANGE.search(text):
            return OUT_OF_RANGE
        is_refusal = isinstance(error, (TypeError, ValueError, RuntimeError))
        is_about_dtypes = not (_SIGNATURES.search(text) or _SHAPES.search(text))
        return REFUSED if is_refusal and is_about_dtypes else None

    def _copied(self, array: Any) -> Any:
        return self._mindspore.Tensor.copy(array)

    def _named(self, op: str, name: str, text: str) -> Any:
        return _dtype(text) if name == "dtype" else read_literal(text)

    def _own(self, dtype: str, spec: Spec) -> Any:
        import numpy as np

        return self._mindspore.Tensor(np.full(spec.shape, spec.value), _dtype(dtype))


recorder = MindSporeRecorder


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
        op,
        function=has_function and op not in _MISSING,
        operators=OPERATORS.keys() - _SHIFTS,
        augmented=AUGMENTED_OPERATORS.keys() - _SHIFTS,
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
    functions["promote_types"] = dtype_function(mindspore.numpy.promote_types)
    return functions


def _along_last(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda tensor, **named: function(tensor, -1, **named)


def _dtype(name: str) -> Any:
    import mindspore

    return mindspore.bool_ if name == "bool" else getattr(mindspore, name)
