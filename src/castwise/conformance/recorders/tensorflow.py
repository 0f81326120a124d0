"""Asks TensorFlow, on the CPU, eagerly, with or without NumPy behaviour switched on."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from castwise.conformance.programs import Menu, RecordedSpeaker, array_text, program_forms
from castwise.conformance.questions import (
    LITERALS,
    OPS,
    GridQuestion,
    Scope,
    Spec,
    foreign_operand,
    numpy_operands,
    words,
)
from castwise.conformance.recorder import (
    OPERATORS,
    FoundFunction,
    FrameworkRecorder,
    Header,
    called_with_operands,
    existing_forms,
    found_functions,
    framework_versions,
    sequence_function,
)
from castwise.conformance.transformations import Function, Transformation
from castwise.conformance.values import Held, numpy_array, numpy_held
from castwise.frameworks.tensorflow import TENSORFLOW
from castwise.vocab.notation import NO_KERNEL, OUT_OF_RANGE, REFUSED

# What an error of TensorFlow means: its type says little, its text the rest.

_NO_KERNEL = re.compile(r"Could not find device for node|No OpKernel was registered")
_KERNEL_DTYPE = re.compile(r"\b(?:T|dtype)=DT_(\w+)")
_OUT_OF_RANGE = re.compile(
    "out-of-range integer|out of range for a double|returned a result with an exception set"
)
_REFUSAL = re.compile(
    "was expected to be a|"  # the second operand is not of the first one's dtype
    "is not in the list of allowed values|"  # the op is not declared for the dtype, on any device
    "Tensor conversion requested dtype|must be a floating point tensor|"
    "Expected scan axis"  # a 0-d tensor has no axis to accumulate along
)
_NOT_ABOUT_DTYPES = re.compile("ndims|dimensions|rank|shape")
_SPELLINGS = {"HALF": "float16", "FLOAT": "float32", "DOUBLE": "float64"}


class NotAskedError(Exception):
    """The question makes no sense here."""


DTYPES = words(
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 bfloat16 float16 float32 float64 "
    "complex64 complex128"
)
WEAK = words("int32 int64 float32 float64 complex128")
_INPLACE = {"add": "assign_add", "sub": "assign_sub"}  # all a Variable has


class TensorflowRecorder(FrameworkRecorder):
    """The TensorFlow installed here, in a mode of `experimental_enable_numpy_behavior` or none."""

    name = "tensorflow"
    dialects: tuple[str, ...] = ("tensorflow", "tensorflow:np-all", "tensorflow:np-safe")

    def __init__(self, mode: str = "") -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # it logs each refused call
        import tensorflow as tf

        self.dialect = self._dialect_in(mode)
        self._tf: Any = tf
        self._mode = mode.removeprefix("np-")
        self.found = _found(tf)
        self._functions = _functions(tf, self.found)
        if mode:
            self._functions["result_type"] = tf.experimental.numpy.result_type
        self.scope = Scope(
            dtypes=DTYPES,
            forms={op: forms for op in OPS if (forms := self._forms(op))},
            weak=WEAK if mode else (),
            foreign=numpy_operands(DTYPES, "[3]", "(1)"),
        )

    def versions(self) -> Header:
        return framework_versions(self._tf.__version__, "numpy", "ml_dtypes")

    @contextmanager
    def session(self) -> Iterator[None]:
        from tensorflow.python.framework import ops

        known = set(vars(self._tf.Tensor))
        if self._mode:
            numpy = self._tf.experimental.numpy
            numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=self._mode)
        try:
            with super().session():
                yield
        finally:
            if hasattr(ops, "set_dtype_conversion_mode"):  # since 2.14
                ops.set_dtype_conversion_mode("off")
            for added in set(vars(self._tf.Tensor)) - known:  # such as +x, which is an answer
                delattr(self._tf.Tensor, added)

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        from tensorflow.python import pywrap_tfe

        # A scalar that failed to convert may be found in this cache, or end the process there.
        pywrap_tfe.TFE_ClearScalarCache()
        if op == "matmul":
            operands = self._matrices(*operands)
        if form == "inplace":
            return getattr(self._variable(*operands), _INPLACE[op])(operands[1])
        if (op, form) == ("abs", "operator"):
            return abs(*operands)
        return super().call(op, form, operands)

    def dtype_of(self, result: Any) -> str | None:
        if isinstance(result, self._tf.DType):
            return str(result.name)
        if _is_weak(result):
            return f"{result.dtype.name}*"
        is_own = isinstance(result, (self._tf.Tensor, self._tf.Variable))
        return str(result.dtype.name) if is_own else None

    def classify(self, error: Exception) -> str | None:
        text = str(error)
        if isinstance(error, OverflowError) or _OUT_OF_RANGE.search(text):
            return OUT_OF_RANGE
        if _NO_KERNEL.search(text):
            found = _KERNEL_DTYPE.search(text)
            dtype = found and _SPELLINGS.get(found[1], found[1].lower())
            return f"{NO_KERNEL}:{dtype}" if dtype else NO_KERNEL
        if _REFUSAL.search(text):
            return REFUSED
        is_refusal = isinstance(error, TypeError) and not _NOT_ABOUT_DTYPES.search(text)
        return REFUSED if is_refusal else None

    def _forms(self, op: str) -> tuple[str, ...]:
        return existing_forms(
            op,
            function=op in self._functions,
            operators=(*OPERATORS, "abs"),
            inplace=op in _INPLACE,
        )

    def _own(self, dtype: str, spec: Spec) -> Any:
        tensor = self._tf.convert_to_tensor(foreign_operand(spec))
        return _weak_tensor().from_tensor(tensor) if spec.is_weak else tensor

    def _variable(self, first: Any, second: Any) -> Any:
        """A variable of one operand's dtype and the other's shape, so that only dtypes can fail."""
        import numpy as np

        if _is_weak(first):
            raise NotAskedError("a variable is never weak")
        return self._tf.Variable(self._tf.ones(np.shape(second), first.dtype))

    def _matrices(self, first: Any, second: Any) -> tuple[Any, Any]:
        """A column and a row: matmul takes no vectors. A list stays one."""
        reshape = self._tf.reshape
        column = [[x] for x in first] if isinstance(first, list) else reshape(first, [-1, 1])
        row = [second] if isinstance(second, list) else reshape(second, [1, -1])
        return column, row


recorder = TensorflowRecorder


def _found(tf: Any) -> dict[str, FoundFunction]:
    rooms = {
        "tf": tf, "tf.math": tf.math, "tf.nn": tf.nn, "tf.bitwise": tf.bitwise,
        "tf.linalg": tf.linalg,
    }  # fmt: skip
    instead = {
        "floor_div": "tf.compat.v1.floor_div",
        "pad": "tf.pad",
        "one_hot": "tf.one_hot",
        "topk": "tf.math.top_k",
        "embedding": "tf.nn.embedding_lookup",
    }
    return found_functions(rooms, TENSORFLOW.naming.aliases, instead)


def _functions(tf: Any, found: dict[str, FoundFunction]) -> dict[str, Callable[..., Any]]:
    concat = sequence_function(partial(tf.concat, axis=0))
    layers = {
        "pad": partial(tf.pad, paddings=[[1, 1]]),
        "one_hot": partial(tf.one_hot, depth=3),
        "topk": lambda x: tf.math.top_k(x, 1).values,
        "embedding": lambda ids, params: tf.nn.embedding_lookup(params, ids),
    }
    return called_with_operands(found) | {"dot": _dot, "concat": concat} | layers


def _dot(a: Any, b: Any) -> Any:
    import tensorflow as tf

    if 0 in (len(x.shape) if hasattr(x, "shape") else 0 for x in (a, b)):
        raise NotAskedError("tensordot needs an axis; of a number only the conversion would show")
    return tf.tensordot(a, b, axes=1)


@functools.cache
def _weak_tensor() -> Any:
    """TensorFlow's weakly typed tensor; none where it has none yet, as in 2.12."""
    try:
        from tensorflow.python.framework.weak_tensor import WeakTensor
    except ImportError:
        return None
    return WeakTensor


def _is_weak(thing: Any) -> bool:
    weak = _weak_tensor()
    return weak is not None and isinstance(thing, weak)


# Asks TensorFlow what it computes, on the CPU, eagerly.


class TensorflowValues(TensorflowRecorder):
    """The values of the TensorFlow installed here."""

    dtypes = DTYPES

    def hold(self, held: Held) -> Any:
        dtype = held.dtype
        if dtype is None:
            return held.values[0]
        if dtype.endswith("*"):
            return _weak_tensor().from_tensor(self.hold(held._replace(dtype=dtype.rstrip("*"))))
        return self._tf.convert_to_tensor(numpy_array(held))

    def cast(self, array: Any, dtype: str) -> Any:
        return self._tf.cast(array, dtype)

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return self.call(op, form, operands)

    def held_by(self, result: Any) -> Held | None:
        dtype = self.dtype_of(result)
        return numpy_held(result.numpy())._replace(dtype=dtype) if dtype else None

    def is_division_by_zero(self, error: Exception) -> bool:
        return "division by zero" in str(error).lower()

    def _variable(self, first: Any, second: Any) -> Any:
        """A variable that holds what the first operand holds."""
        if _is_weak(first):
            raise NotAskedError("a variable is never weak")
        return self._tf.Variable(first)


values_recorder = TensorflowValues

# Programs in TensorFlow, on the CPU, eagerly.

# They take only matrices, or an axis that castwise has no name for.
_NOT_WRITTEN = words("matmul dot result_type")


class TensorflowSpeaker(RecordedSpeaker):
    """The TensorFlow installed here."""

    prelude = "import tensorflow as tf\nfrom math import inf, nan"
    more_arguments: Mapping[str, tuple[str, ...]] = {"concat": ("axis=0",)}

    def __init__(self, mode: str = "") -> None:
        self._values = recorder = TensorflowValues(mode)
        super().__init__(recorder)
        import tensorflow as tf

        self._tf: Any = tf
        self.menu = Menu(
            dtypes=DTYPES,
            forms=program_forms(recorder.scope.forms, without=_NOT_WRITTEN),
            literals=LITERALS,
            along_axes=words("sum prod mean any all max min std var logsumexp count_nonzero"),
            need_axes=words("cumsum cumprod argmax argmin"),
            has_axis_of_0d=True,
            has_assignment=False,
            has_array_keys=False,
        )

    @contextmanager
    def session(self) -> Iterator[None]:
        logger = self._tf.get_logger()
        level = logger.level
        logger.setLevel("ERROR")  # it tells of every cast that drops an imaginary part
        try:
            with super().session():
                yield
        finally:
            logger.setLevel(level)

    def array(self, held: Held) -> str:
        return array_text(held, "tf.zeros", "tf.constant", f'dtype="{held.dtype}"')

    def cast(self, array: str, dtype: str) -> str:
        return f'tf.cast({array}, "{dtype}")'

    def read(self, array: Any) -> Held | None:
        return self._values.held_by(array)

    def is_no_answer(self, error: Exception) -> bool:
        from tensorflow.python import pywrap_tfe

        # A scalar that failed to convert may be found in this cache, or end the process there.
        pywrap_tfe.TFE_ClearScalarCache()
        return super().is_no_answer(error)


speaker = TensorflowSpeaker

# TensorFlow's graphs.

_MANY = 100


def _function() -> Transformation:
    import tensorflow as tf

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        return tf.function(lambda *x: function(*x), autograph=False)(*arrays)

    def leaves_out(question: GridQuestion) -> bool:
        return question.form == "inplace"  # a call would make a variable, which a graph may not

    written = "tf.function({f})({arrays})"
    return Transformation("tf.function", run, written, "", _MANY, leaves_out=leaves_out)


TRANSFORMATIONS: dict[str, Callable[[], Transformation]] = {"tf.function": _function}
