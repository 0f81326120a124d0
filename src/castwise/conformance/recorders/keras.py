"""Asks Keras on its JAX backend, on the CPU, with float32 as its floatx."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from castwise.conformance.programs import program_forms
from castwise.conformance.questions import (
    INITIALS,
    OPS,
    Scope,
    Spec,
    named_forms,
    read_operand,
    words,
)
from castwise.conformance.recorder import (
    FoundFunction,
    Header,
    called_with_operands,
    existing_forms,
    found_functions,
)
from castwise.conformance.recorders.jax import (
    LITERALS,
    NUMPY,
    JaxRecorder,
    JaxSpeaker,
    JaxValues,
)
from castwise.conformance.values import Held
from castwise.frameworks.keras import KERAS

DTYPES = words(
    "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float8_e4m3fn float8_e5m2 float16 "
    "bfloat16 float32 float64 complex64 complex128"
)
# Tensors are JAX's own arrays, and so are their operators: a few show that.
_OPERATORS = words("add div pow")
_TAKE_DTYPE = words("prod cumsum cumprod")
_TAKE_INITIAL = words("max min")


class KerasRecorder(JaxRecorder):
    """The Keras installed here; `keras.ops` on JAX arrays."""

    name = "keras"
    dialects: tuple[str, ...] = ("keras",)

    def __init__(self, mode: str = "") -> None:
        super().__init__(mode)
        os.environ["KERAS_BACKEND"] = "jax"
        import keras

        if keras.backend.backend() != "jax":
            raise ValueError("keras is recorded on JAX, and runs here on another backend.")
        self._keras: Any = keras
        self.found = _found()
        self._functions = _functions(self.found)
        self._requested: dict[int, Spec] = {}
        self.scope = Scope(
            dtypes=DTYPES,
            forms={op: _forms(op) for op in OPS if op in self._functions},
            weak=words("int32 float32 complex64"),
            literals=LITERALS,
            foreign=NUMPY,
        )

    def versions(self) -> Header:
        versions = super().versions()
        return {**versions, "version": self._keras.__version__, "jax": versions["version"]}

    @contextmanager
    def session(self) -> Iterator[None]:
        before = self._keras.config.floatx()
        self._keras.config.set_floatx("float32")
        try:
            with super().session():
                yield
        finally:
            self._keras.config.set_floatx(before)

    def make(self, notation: str) -> Any:
        made = super().make(notation)
        self._requested[id(made)] = read_operand(notation)
        return made

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if op == "result_type":
            return self._result_type([self._requested[id(x)] for x in operands])
        if op == "pow" and form == "function":
            # What Keras does first is done here, where the exponent stays concrete.
            operands = [self._keras.ops.convert_to_tensor(x) for x in operands]
        return super().call(op, form, operands)

    def _result_type(self, operands: Sequence[Spec]) -> str | None:
        """Keras's own function: of dtypes, which nothing truncates, and types of Python numbers.

        A dtype does not say that an array is weak.
        """
        if any(spec.is_weak for spec in operands):
            return None
        given = [spec.dtype or type(spec.value) for spec in operands]
        return str(self._keras.backend.result_type(*given))

    def dtype_of(self, result: Any) -> str | None:
        return result if isinstance(result, str) else super().dtype_of(result)


recorder = KerasRecorder


def _forms(op: str) -> tuple[str, ...]:
    forms = existing_forms(op, operators=_OPERATORS, augmented=_OPERATORS)
    dtypes = named_forms("dtype", DTYPES) if op in _TAKE_DTYPE else ()
    return (*forms, *dtypes, *(named_forms("initial", INITIALS) if op in _TAKE_INITIAL else ()))


def _found() -> dict[str, FoundFunction]:
    from keras import ops

    return found_functions({"ops": ops}, KERAS.naming.aliases)


def _functions(found: dict[str, FoundFunction]) -> dict[str, Callable[..., Any]]:
    from keras import backend

    functions = called_with_operands(found)
    if "threshold" in functions:  # from 3.8 on
        functions["threshold"] = partial(functions["threshold"], threshold=1, default_value=1)
    functions["result_type"] = backend.result_type
    return functions


# Asks Keras what it computes.


class KerasValues(KerasRecorder):
    """The values of the Keras installed here, on JAX's arrays."""

    def __init__(self, mode: str = "") -> None:
        super().__init__(mode)
        self._values = JaxValues(mode)
        self.dtypes = self._values.dtypes

    def hold(self, held: Held) -> Any:
        return self._values.hold(held)

    def cast(self, array: Any, dtype: str) -> Any:
        return self._values.cast(array, dtype)

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return self.bare_call(op, form, operands)

    def held_by(self, result: Any) -> Held | None:
        return self._values.held_by(result)

    def is_division_by_zero(self, error: Exception) -> bool:
        return isinstance(error, ZeroDivisionError)


values_recorder = KerasValues

# Programs in Keras, on its JAX backend, on the CPU.

# They have different parameters.
_NOT_WRITTEN = words("result_type norm")


class KerasSpeaker(JaxSpeaker):
    """The Keras installed here: its functions on JAX's arrays."""

    prelude = (
        'import os\nos.environ["KERAS_BACKEND"] = "jax"\n'
        f"{JaxSpeaker.prelude}\nfrom keras import ops"
    )
    more_arguments: Mapping[str, tuple[str, ...]] = {"threshold": ("1", "1")}

    def __init__(self, mode: str = "") -> None:
        super().__init__(mode)
        self._recorder = recorder = KerasRecorder(mode)
        self._found = recorder.found
        self.name, self.dialect = recorder.name, recorder.dialect
        forms = program_forms(recorder.scope.forms, without=_NOT_WRITTEN)
        self.menu = self.menu._replace(forms=forms)


speaker = KerasSpeaker
