"""Asks tinygrad, which infers dtypes when an expression is built and computes later."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from castwise.conformance.programs import (
    AxisWords,
    Menu,
    Operand,
    RecordedSpeaker,
    Step,
    arguments,
    numbers_text,
    program_forms,
)
from castwise.conformance.questions import (
    LITERALS,
    OPS,
    REDUCTIONS,
    ROUNDING_MODES,
    UNARY,
    Scope,
    Spec,
    named_forms,
    numpy_operands,
    product_equation,
    words,
)
from castwise.conformance.recorder import (
    OPERATORS,
    FoundFunction,
    FrameworkRecorder,
    Header,
    NoKernelError,
    dtype_function,
    existing_forms,
    found_functions,
    framework_versions,
)
from castwise.conformance.values import Held, numpy_held
from castwise.frameworks.tinygrad import TINYGRAD
from castwise.vocab.notation import OUT_OF_RANGE, REFUSED, given_by_name

DTYPES = words(
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float8_e4m3fn float8_e5m2 "
    "float8_e4m3fnuz float8_e5m2fnuz float16 bfloat16 float32 float64"
)
# Refused, except for float64 scalars, which are Python floats: a few show it.
NUMPY_DTYPES = words("bool int64 float32 float64")
# What the default int can change, and enough of the rest to show that it does not.
_MODE_OPS = words(
    "add sub mul div floor_divide remainder pow lt bitwise_and bitwise_left_shift maximum copysign "
    "where clamp lerp dot matmul concat result_type promote_types"
)
_FLOAT8 = {
    "fp8e4m3": "float8_e4m3fn", "fp8e5m2": "float8_e5m2", "fp8e4m3fnuz": "float8_e4m3fnuz",
    "fp8e5m2fnuz": "float8_e5m2fnuz",
}  # fmt: skip
# Their methods take reverse=True, which is how tinygrad's own operators put a number on the left.
REVERSIBLE = words(
    "add sub mul div floor_divide remainder pow bitwise_and bitwise_or bitwise_xor "
    "bitwise_left_shift bitwise_right_shift"
)
_TAKE_DTYPE = words("sum prod softmax log_softmax")
# An expression of these is built for floats too, and refused when it is computed: "UOp
# verification failed". Computing every answer to see it would take hours.
_INTEGERS_ONLY = words("bitwise_and bitwise_or bitwise_xor bitwise_not")
_NUMBERS = (bool, int, float)  # the Python numbers it makes tensors of
_NEGATIVE_POWER = re.compile("base needs to be float")
_REFUSAL = re.compile(
    "assign dtype mismatch|shift operands must be int|Could not infer dtype of|"
    "where cond must be bool|has no attribute 'where'|^type\\(y\\)=<class 'complex'>"
)


class TinygradRecorder(FrameworkRecorder):
    """The tinygrad installed here, on the device that is written in Python, under a default int."""

    name = "tinygrad"
    dialects: tuple[str, ...] = ("tinygrad", "tinygrad:default_int=int64")

    def __init__(self, mode: str = "") -> None:
        import tinygrad

        self.dialect = self._dialect_in(mode)
        self._tinygrad: Any = tinygrad
        self._tensor: Any = tinygrad.Tensor
        self._default_int = mode.partition("=")[2] or "int32"
        self._names = _dtype_names(self._default_int)
        self.found = _found()
        self._functions = _functions(self.found)
        asked = (*_MODE_OPS, *UNARY, *REDUCTIONS) if mode else OPS
        self.scope = Scope(
            dtypes=DTYPES,
            forms={op: forms for op in asked if (forms := self._forms(op))},
            weak=(self._default_int, "float32") if hasattr(tinygrad.dtypes, "weaks") else (),
            foreign=numpy_operands(NUMPY_DTYPES),
        )

    def versions(self) -> Header:
        return framework_versions(importlib.metadata.version("tinygrad"), "numpy")

    @contextmanager
    def session(self) -> Iterator[None]:
        settings = {"DEV": "PYTHON", "DEFAULT_INT": self._default_int}
        # Before 0.14 they are no settings: the default int is int32, and nothing is computed.
        known = self._tinygrad.helpers.ContextVar._cache
        settings = {name: value for name, value in settings.items() if name in known}
        with self._tinygrad.Context(**settings), super().session():
            yield

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if form != "function" and type(operands[0]).__module__ == "numpy":
            return None  # NumPy's operator, on an array of objects
        if form in ("operator", "augmented"):
            result = super().call(op, form, operands)
        else:
            result = self._call_function(op, form, operands)
        is_own = isinstance(result, self._tensor)
        if is_own and op in _INTEGERS_ONLY and result.is_floating_point():
            raise NoKernelError(self.dtype_of(result))
        return result

    def dtype_of(self, result: Any) -> str | None:
        dtype = getattr(result, "dtype", result)
        return self._names.get(dtype) if isinstance(dtype, self._tinygrad.dtype.DType) else None

    def classify(self, error: Exception) -> str | None:
        text = str(error)
        if isinstance(error, NoKernelError):
            return error.answer
        if _NEGATIVE_POWER.search(text):
            return OUT_OF_RANGE
        is_of_integers = isinstance(error, AssertionError) and not text  # `x & y`, before 0.10
        return REFUSED if is_of_integers or _REFUSAL.search(text) else None

    def _forms(self, op: str) -> tuple[str, ...]:
        is_function = op in self._functions
        forms = existing_forms(op, function=is_function, operators=OPERATORS.keys() - {"positive"})
        dtypes = named_forms("dtype", DTYPES) if op in _TAKE_DTYPE else ()
        modes = named_forms("rounding_mode", ROUNDING_MODES) if op == "div" else ()
        return (*forms, *dtypes, *modes)

    def _named(self, op: str, name: str, text: str) -> Any:
        dtypes = {name: dtype for dtype, name in self._names.items()}
        return dtypes.get(text, text)  # or a rounding mode

    def _call_function(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        """A call of a method, of which the first operand may have to become a tensor."""
        first, *others = operands
        if type(first) not in _NUMBERS or op == "where":
            return super().call(op, form, operands)
        if op in REVERSIBLE and isinstance(others[0], self._tensor):
            named = {n: self._named(op, n, text) for n, text in given_by_name(form).items()}
            return self._functions[op](others[0], first, reverse=True, **named)
        return super().call(op, form, [self._tensor(first), *others])

    def _copied(self, tensor: Any) -> Any:
        """A tensor that may be written to; a clone would be strong where the tensor is weak."""
        if tensor.dtype in getattr(self._tinygrad.dtypes, "weaks", ()):
            return self._tensor(tensor.uop)
        if hasattr(tensor, "clone"):
            return tensor.clone()
        return self._tensor.full(tensor.shape, 1, dtype=tensor.dtype)  # before 0.10

    def _own(self, dtype: str, spec: Spec) -> Any:
        if spec.is_weak:  # what remains of a bool tensor with a Python number
            number = 0.0 if dtype == "float32" else 0
            return self._tensor.full(spec.shape, True) + number
        named = {name: dtype for dtype, name in self._names.items()}
        return self._tensor.full(spec.shape, spec.value, dtype=named[dtype])


recorder = TinygradRecorder


def _dtype_names(default_int: str) -> dict[Any, str]:
    from tinygrad import dtypes

    plain = [name for name in DTYPES if name not in _FLOAT8.values()]
    weak = {"weakint": f"{default_int}*", "weakfloat": "float32*"}  # as they are stored
    own = {name: name for name in plain} | _FLOAT8 | weak
    # Older versions have fewer: no weak ones before 0.14.
    return {getattr(dtypes, its): name for its, name in own.items() if hasattr(dtypes, its)}


def _found() -> dict[str, FoundFunction]:
    from tinygrad import Tensor

    layers = {op: f"Tensor.{op}" for op in ("einsum", "pad", "one_hot", "topk", "conv2d")}
    instead = {"floor_divide": "Tensor.div", **layers}
    return found_functions({"Tensor": Tensor}, TINYGRAD.naming.aliases, instead)


def _functions(found: dict[str, FoundFunction]) -> dict[str, Callable[..., Any]]:
    from tinygrad import Tensor
    from tinygrad.dtype import least_upper_dtype

    functions = {op: each.function for op, each in found.items()}
    functions["floor_divide"] = partial(Tensor.div, rounding_mode="floor")
    functions["cumprod"] = lambda tensor: tensor.cumprod(axis=0)  # from 0.10 on
    functions["where"] = lambda condition, a, b: condition.where(a, b)  # only of tensors
    functions["allclose"] = _all_close
    functions["einsum"] = lambda *tensors: Tensor.einsum(product_equation(tensors), *tensors)
    functions["pad"] = lambda tensor: tensor.pad(((1, 1),))  # by place: 0.9 has another name
    functions["one_hot"] = partial(Tensor.one_hot, num_classes=3)
    functions["topk"] = lambda tensor: tensor.topk(1)[0]
    functions["stack"] = lambda first, *others: first.stack(*others)
    functions["promote_types"] = dtype_function(least_upper_dtype)
    functions["result_type"] = _result_type
    return functions


def _all_close(tensor: Any, other: Any) -> Any:
    from tinygrad import dtypes

    found = tensor.allclose(other)
    return dtypes.bool if isinstance(found, bool) else found  # a Python bool before 0.14


def _result_type(*operands: Any) -> Any:
    from tinygrad import Tensor
    from tinygrad.dtype import least_upper_dtype

    tensors = [Tensor(x) if isinstance(x, _NUMBERS) else x for x in operands]
    return least_upper_dtype(*(tensor.dtype for tensor in tensors))


# Asks tinygrad what it computes, on the device that is written in Python.


class TinygradValues(TinygradRecorder):
    """The values of the tinygrad installed here."""

    # Its float8 numbers can be handed to no other library.
    dtypes = tuple(name for name in DTYPES if not name.startswith("float8"))

    def hold(self, held: Held) -> Any:
        name = held.dtype
        if name is None:
            return held.values[0]
        named = {name: dtype for dtype, name in self._names.items()}
        if name.endswith("*"):  # no memory holds weak numbers, only what is computed of it
            return self.hold(held._replace(dtype=name.rstrip("*"))).cast(named[name])
        # What is made of a single number is a constant, which nothing can be written into.
        made = self._tensor(list(held.values), dtype=named[name])
        return made.reshape(held.shape)

    def cast(self, array: Any, dtype: str) -> Any:
        named = {name: dtype for dtype, name in self._names.items()}
        return array.cast(named[dtype])

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return self.call(op, form, operands)

    def held_by(self, result: Any) -> Held | None:
        dtype = self.dtype_of(result) if isinstance(result, self._tensor) else None
        if dtype is None:
            return None
        # NumPy itself has no bfloat16 to read, and a constant has no memory.
        wide = result.cast(self._tinygrad.dtypes.float32) if dtype == "bfloat16" else result
        try:
            return numpy_held(wide.contiguous().realize().numpy())._replace(dtype=dtype)
        except Exception:  # an expression that was built and cannot be computed holds nothing
            return None

    def is_division_by_zero(self, error: Exception) -> bool:
        return isinstance(error, ZeroDivisionError)


values_recorder = TinygradValues

# Programs in tinygrad, on the device that is written in Python.

# They are only about dtypes.
_NOT_WRITTEN = words("result_type promote_types")
_WEAK = {"float32*": "weakfloat"}


class TinygradSpeaker(RecordedSpeaker):
    """The tinygrad installed here, under a default int."""

    # castwise reads no tinygrad arrays: a weak one is passed as a NumPy array marked as weak.
    prelude = (
        "import numpy as np\nfrom tinygrad import Tensor, dtypes\nfrom math import inf, nan\n"
        'Weak = type("Weak", (np.ndarray,), {"weak_type": True, "__module__": "__main__"})'
    )

    def __init__(self, mode: str = "") -> None:
        self._values = recorder = TinygradValues(mode)
        super().__init__(recorder)
        self.menu = Menu(
            dtypes=recorder.dtypes,
            forms=program_forms(recorder.scope.forms, without=_NOT_WRITTEN),
            literals=tuple(text for text in LITERALS if "j" not in text),
            along_axes=words("sum prod mean any all max min argmax argmin std var logsumexp"),
            need_axes=words("cumprod"),
            has_array_keys=False,  # it takes no masks
        )

    def array(self, held: Held) -> str:
        dtype, values = str(held.dtype), numbers_text(held)
        if dtype.endswith("*"):  # no memory holds weak numbers, only what is computed of it
            strong = self.array(held._replace(dtype=dtype.rstrip("*")))
            return f"{strong}.cast(dtypes.{_WEAK.get(dtype, 'weakint')})"
        if values is None:
            return f"Tensor.zeros({held.shape}, dtype=dtypes.{dtype})"
        # What is made of a single number is a constant, which nothing can be written into.
        made = f"Tensor({values if held.shape else f'[{values}]'}, dtype=dtypes.{dtype})"
        return made if held.shape else f"{made}.reshape(())"

    def weak_array(self, held: Held) -> str:
        dtype = str(held.dtype).rstrip("*")
        return f'np.array({list(held.values)}, "{dtype}").reshape({held.shape}).view(Weak)'

    def cast(self, array: str, dtype: str) -> str:
        return f"{array}.cast(dtypes.{dtype}).clone()"  # to its own dtype it is the tensor itself

    def called(self, step: Step, operands: Sequence[str]) -> str:
        first, *others = operands
        more: tuple[str, ...] = ()
        if _is_number(step.operands[0]):
            is_reversed = step.op in REVERSIBLE and isinstance(step.operands[1], str)
            first, others = (others[0], [first]) if is_reversed else (f"Tensor({first})", others)
            more = ("reverse=True",) if is_reversed else ()
        if step.op == "floor_divide":
            more = (*more, 'rounding_mode="floor"')
        name = self._found[step.op].name
        return f"{first}.{name}({arguments(step, others, AxisWords(keeps='keepdim'), *more)})"

    def bound(self, result: Any) -> Any:
        """The result computed: what is written later shows in what was not yet."""
        return result.realize()

    def read(self, array: Any) -> Held | None:
        return self._values.held_by(array)


speaker = TinygradSpeaker


def _is_number(operand: Operand) -> bool:
    return not isinstance(operand, str) and operand.dtype is None
