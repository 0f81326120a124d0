"""Asks PaddlePaddle, in dynamic graph mode on the CPU."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from castwise.conformance.programs import (
    ASSIGN,
    AxisWords,
    Menu,
    RecordedSpeaker,
    Step,
    arguments,
    array_text,
    in_list,
    program_forms,
)
from castwise.conformance.questions import (
    LITERALS,
    NUMPY_DTYPES,
    OPS,
    SCANS,
    Scope,
    Spec,
    named_forms,
    numpy_operands,
    words,
)
from castwise.conformance.recorder import (
    FoundFunction,
    FrameworkRecorder,
    Header,
    NoKernelError,
    RefusalError,
    called_with_operands,
    existing_forms,
    found_functions,
    framework_versions,
)
from castwise.conformance.values import Held, numpy_array, numpy_held
from castwise.frameworks.paddle import PADDLE
from castwise.vocab.notation import REFUSED

# What an error of PaddlePaddle means: only its text tells the kinds apart.

# A 0-d tensor may have to be expanded first, and lack a kernel for that before anything promotes.
_MISSING_KERNEL = re.compile(
    r"The kernel with key \(CPU, [^,]+, (?P<dtype>\w+)\) of kernel `(?!expand`)|"
    "is not implemented for data type"
)
# Most TypeErrors are promotion's; these are about signatures: no operator fits, or a function is
# given a NumPy operand.
_SIGNATURE = re.compile("unsupported operand type|positional argument|<class 'numpy")
# A NumPy scalar or array of a dtype that does not become a tensor, and the errors of ops that do
# not promote: a kernel of one dtype is handed a tensor of another.
_REFUSAL = re.compile(
    "but got numpy|is expected to be a boolean Tensor|does not match the type of data|"
    "not supported when casting data type|Only supports to align data type|isn't consistent"
)
# A function that wants tensors says so of a NumPy scalar too; of a Python number it may find out
# by asking it for its shape.
_WANTS_TENSOR = re.compile("must be Tensor")
_REFUSES_NUMBER = re.compile(
    "must be Tensor, but got (bool|int|float|complex)\\b|"
    "'(bool|int|float|complex)' object has no attribute '(shape|dtype)'"
)


def is_missing_kernel(error: Exception) -> bool:
    """Whether PaddlePaddle got as far as looking for a kernel, and found none for the dtype."""
    return _MISSING_KERNEL.search(str(error)) is not None


DTYPES = words(
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 "
    "float16 bfloat16 float32 float64 complex64 complex128"
)
_TAKE_DTYPE = words("sum prod mean cumsum cumprod softmax log_softmax")
# Where no kernel is found for the dtype the operands were promoted to, that is also the result's
# (or the result would have been bool); elsewhere several kernels run, or none was promoted.
_RESULT_OF_KERNEL = words(
    "add sub mul div floor_divide remainder pow maximum minimum fmax fmin where copysign nextafter "
    "outer cross promote_types"
)
_BOOL_RESULT = words("eq ne lt le gt ge logical_and logical_or logical_xor")
# The kernel of one step may be missing before another step would have promoted.
_COMPOSED = words("hypot logaddexp mse_loss l1_loss poisson_nll_loss vecdot outer")
# A kernel is chosen by one operand's dtype and gets the others unchanged.
_UNPROMOTED = words(
    "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift matmul dot "
    "inner kron heaviside lerp allclose isclose concat stack"
)
_OPERATOR_FORMS = ("operator", "augmented")

# What dtypes are called before 3.0.
_OLD_NAMES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}


class PaddleRecorder(FrameworkRecorder):
    """The PaddlePaddle installed here."""

    name = "paddle"
    dialects: tuple[str, ...] = ("paddle",)

    def __init__(self, mode: str = "") -> None:
        # Its C++ side would announce on stderr, op by op, that it promotes.
        os.environ.setdefault("GLOG_minloglevel", "2")
        import paddle

        if mode:
            raise ValueError(f"paddle has no mode {mode!r}.")
        self._paddle: Any = paddle
        self.dialect = "paddle"
        self.found = _found()
        self._functions = called_with_operands(self.found) | {"promote_types": _promoted}
        self.scope = Scope(
            dtypes=DTYPES,
            forms={op: self._forms(op) for op in OPS if op in self._functions},
            foreign=numpy_operands(NUMPY_DTYPES),
        )

    def versions(self) -> Header:
        return framework_versions(self._paddle.__version__, "numpy")

    @contextmanager
    def session(self) -> Iterator[None]:
        paddle = self._paddle
        level = paddle.get_flags("FLAGS_call_stack_level")
        paddle.set_flags({"FLAGS_call_stack_level": 0})  # no C++ stack in half a million errors
        try:
            with super().session():
                yield
        finally:
            paddle.set_flags(level)

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        others = operands[op == "where" :]
        if form not in _OPERATOR_FORMS and any(type(x).__module__ == "numpy" for x in others):
            return None
        # It needs tensors, but checks late, with half of the answer computed.
        if op == "logaddexp" and not all(map(self._is_tensor, operands)):
            raise RefusalError
        if op == "pow" and _never_returns(*operands):
            return None
        try:
            if form == "inplace":
                return getattr(self._copied(operands[0]), self._method(op))(*operands[1:])
            return super().call(op, form, operands)
        except (RuntimeError, OSError) as error:
            if not is_missing_kernel(error):
                raise
            self._judge(error, op, form, [x for x in operands if self._is_tensor(x)])

    def dtype_of(self, result: Any) -> str | None:
        if not self._is_tensor(result):
            return None
        name = str(result.dtype.name).lower()
        return _OLD_NAMES.get(name, name)

    def classify(self, error: Exception) -> str | None:
        if isinstance(error, NoKernelError):
            return error.answer
        text = str(error)
        if _REFUSES_NUMBER.search(text):
            return REFUSED
        if isinstance(error, TypeError):
            return None if _SIGNATURE.search(text) else REFUSED
        return REFUSED if _REFUSAL.search(text) and not _WANTS_TENSOR.search(text) else None

    def _is_tensor(self, operand: Any) -> bool:
        return isinstance(operand, self._paddle.Tensor)

    def _judge(self, error: Exception, op: str, form: str, tensors: Sequence[Any]) -> NoReturn:
        """Raises what a missing kernel amounts to, which the dtypes asked for tell."""
        op = "mul" if op == "inner" and any(x.ndim == 0 for x in tensors) else op
        is_mixed = len({x.dtype for x in tensors}) > 1
        if is_mixed and op in _COMPOSED:
            raise error
        is_promoted = op not in _UNPROMOTED or (op == "matmul" and form in _OPERATOR_FORMS)
        if is_mixed and not is_promoted:
            raise RefusalError from error
        found = _MISSING_KERNEL.search(str(error))  # with the dtype that was promoted to
        raise NoKernelError(_result_of(op, found["dtype"] if found else None)) from error

    def _copied(self, array: Any) -> Any:
        return _copied(array)

    def _named(self, op: str, name: str, text: str) -> Any:
        # By the dtype's own object, since the name "uint16" means bfloat16.
        return getattr(self._paddle, text)

    def _forms(self, op: str) -> tuple[str, ...]:
        forms = existing_forms(
            op,
            # The tensor whose where_ is called is the condition.
            inplace=op != "where" and hasattr(self._paddle.Tensor, self._method(op)),
        )
        return (*forms, *named_forms("dtype", DTYPES)) if op in _TAKE_DTYPE else forms

    def _method(self, op: str) -> str:
        return f"{self.found[op].name if op in self.found else op}_"

    def _own(self, dtype: str, spec: Spec) -> Any:
        return _ones(spec.shape, getattr(self._paddle, dtype))


recorder = PaddleRecorder


def _ones(shape: Sequence[int], dtype: Any) -> Any:
    """A tensor of ones: filled, then converted, since not every dtype can be filled or cloned."""
    import paddle

    return paddle.full(shape, 1).cast(dtype)


def _copied(tensor: Any) -> Any:
    """A tensor like one that was made here, with ones in it too."""
    return _ones(tensor.shape, tensor.dtype)


def _promoted(a: Any, b: Any) -> Any:
    """There is no function for it, but with 0-d tensors addition promotes by the whole table."""
    import paddle

    return paddle.add(_ones((), a.dtype), _ones((), b.dtype))


def _never_returns(base: Any, exponent: Any) -> bool:
    """Whether an integer tensor is raised to a number that its dtype takes as negative: the kernel
    then never ends. A tensor of booleans becomes one of int64."""
    highest = {"BOOL": 2**63, "INT32": 2**31, "INT64": 2**63}
    dtype = getattr(getattr(base, "dtype", None), "name", "")
    is_real = isinstance(exponent, (int, float))
    return dtype in highest and is_real and not 0 <= float(exponent) < highest[dtype]


def _result_of(op: str, dtype: str | None) -> str | None:
    """The dtype of the result an op would have had with a kernel for a dtype, if that is known."""
    if op in _BOOL_RESULT:
        return "bool"
    return dtype if op in _RESULT_OF_KERNEL else None


def _found() -> dict[str, FoundFunction]:
    import paddle
    from paddle.nn import functional

    rooms = {"paddle": paddle, "paddle.nn.functional": functional}
    # By the short names it has other functions, or methods in place of other names.
    instead = {
        "mul": "paddle.multiply", "div": "paddle.divide", "eq": "paddle.equal",
        "gt": "paddle.greater_than", "clamp": "paddle.clip", "norm": "paddle.linalg.vector_norm",
    }  # fmt: skip
    return found_functions(rooms, PADDLE.naming.aliases, instead)


# Asks PaddlePaddle what it computes, on the CPU.

# Of uint16, uint32 and uint64 it computes next to nothing.
PROGRAM_DTYPES = words(
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
)


class PaddleValues(PaddleRecorder):
    """The values of the PaddlePaddle installed here."""

    dtypes = PROGRAM_DTYPES

    def hold(self, held: Held) -> Any:
        if held.dtype is None:
            return held.values[0]
        if held.dtype in ("bfloat16", "float16"):
            return self.cast(self.hold(held._replace(dtype="float32")), held.dtype)
        return self._paddle.to_tensor(numpy_array(held))

    def cast(self, array: Any, dtype: str) -> Any:
        return array.cast(getattr(self._paddle, dtype))

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return self.call(op, form, operands)

    def held_by(self, result: Any) -> Held | None:
        dtype = self.dtype_of(result)
        if dtype is None:
            return None
        # NumPy is handed the bits of a bfloat16.
        held = result.cast("float32") if dtype == "bfloat16" else result
        return numpy_held(held.numpy())._replace(dtype=dtype)

    def is_division_by_zero(self, error: Exception) -> bool:
        return isinstance(error, ZeroDivisionError)

    def _copied(self, array: Any) -> Any:
        return self._paddle.assign(array)


values_recorder = PaddleValues

# Programs in PaddlePaddle, in dynamic graph mode on the CPU.

# Its power of an integer may never return; the others have different parameters.
_NOT_WRITTEN = words("pow result_type promote_types huber_loss threshold norm")
_WANTS_A_TENSOR = re.compile("must be (Tensor|tensor type)")


class PaddleSpeaker(RecordedSpeaker):
    """The PaddlePaddle installed here."""

    prelude = "import paddle\nfrom math import inf, nan"

    def __init__(self, mode: str = "") -> None:
        self._values = recorder = PaddleValues(mode)
        super().__init__(recorder)
        self.menu = Menu(
            dtypes=PROGRAM_DTYPES,
            forms=program_forms(recorder.scope.forms, "inplace", without=_NOT_WRITTEN),
            literals=LITERALS,
            along_axes=words("sum prod mean any all max min argmax argmin std var logsumexp"),
            need_axes=SCANS,
            has_array_keys=False,  # places out of bounds are written to, whatever is there
            is_left_out=_is_left_out,
        )

    def array(self, held: Held) -> str:
        return array_text(held, "paddle.zeros", "paddle.to_tensor", f'dtype="{held.dtype}"')

    def cast(self, array: str, dtype: str) -> str:
        return f'{array}.astype("{dtype}").clone()'  # to its own dtype it is the tensor itself

    def called(self, step: Step, operands: Sequence[str]) -> str:
        found = self._found[step.op]
        named = AxisWords("dim" if step.op == "cumprod" else "axis", "keepdim")
        if step.form == "inplace":
            return f"{operands[0]}.{found.name}_({arguments(step, operands[1:], named)})"
        return f"{found.path}({arguments(step, in_list(step, operands), named)})"

    def read(self, array: Any) -> Held | None:
        return self._values.held_by(array)

    def is_no_answer(self, error: Exception) -> bool:
        is_signature = _WANTS_A_TENSOR.search(str(error)) is not None
        return is_signature or is_missing_kernel(error) or super().is_no_answer(error)


speaker = PaddleSpeaker


def _is_left_out(step: Step) -> bool:
    """Whether a Python complex number is assigned, which ends the process."""
    value = step.operands[-1]
    if isinstance(value, str) or value.dtype is not None:
        return False
    return step.op == ASSIGN and isinstance(value.values[0], complex)
