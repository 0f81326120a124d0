"""Asks MLX, on the CPU."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from castwise.conformance.programs import Menu, RecordedSpeaker, numbers_text, program_forms
from castwise.conformance.questions import (
    LITERALS,
    LOSSES,
    NUMPY_DTYPES,
    OPS,
    Scope,
    Spec,
    named_forms,
    numpy_operands,
    product_equation,
    words,
)
from castwise.conformance.recorder import (
    FoundFunction,
    FrameworkRecorder,
    Header,
    RefusalError,
    called_with_operands,
    dtype_function,
    existing_forms,
    found_functions,
    framework_versions,
    refusing,
)
from castwise.conformance.values import Held, numpy_array, numpy_held
from castwise.frameworks.mlx import MLX
from castwise.vocab.notation import OUT_OF_RANGE, REFUSED

DTYPES = words(
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 "
    "complex64"
)
_TAKE_DTYPE = words("cumsum cumprod")
_OUT_OF_RANGE = re.compile(r"would result in overflow|^std::bad_cast$")
_REFUSAL = re.compile(
    "not supported|not allowed|only allowed|only inexact types|only real floating point types"
    "|cannot cast to non-floating|Invalid type +list|and list$",
    re.IGNORECASE,
)
# With a NumPy array on the left of an operator it is NumPy that answers, and that reads the array.
_REFUSED_BY_NUMPY = re.compile(
    "not supported for the input types|numpy boolean subtract|not a valid PEP 3118"
)


class MlxRecorder(FrameworkRecorder):
    """The MLX installed here."""

    name = "mlx"
    dialects: tuple[str, ...] = ("mlx",)
    dialect = "mlx"

    def __init__(self, mode: str = "") -> None:
        import mlx.core as mx
        import numpy as np

        if mode:
            raise ValueError(f"mlx has no mode {mode!r}.")
        self._mx: Any = mx
        self._np: Any = np
        self.found = _found()
        self._functions = _functions(self.found)
        self.scope = Scope(
            dtypes=DTYPES,
            forms={op: _forms(op) for op in OPS if op in self._functions},
            foreign=numpy_operands(NUMPY_DTYPES),
        )

    def versions(self) -> Header:
        return framework_versions(self._mx.__version__, "numpy")

    @contextmanager
    def session(self) -> Iterator[None]:
        device = self._mx.default_device()
        self._mx.set_default_device(self._mx.cpu)
        try:
            with super().session(), self._np.errstate(all="ignore"):
                yield
        finally:
            self._mx.set_default_device(device)

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        result = super().call(op, form, operands)
        if isinstance(result, self._mx.array):
            self._mx.eval(result)  # until then nothing is computed, and no kernel looked for
        return result

    def dtype_of(self, result: Any) -> str | None:
        """Of a NumPy array too: `numpy + mlx` is decided by NumPy, and stays NumPy's."""
        dtype = getattr(result, "dtype", result)
        if isinstance(dtype, self._np.dtype):
            return str(dtype.name)
        is_own = isinstance(dtype, self._mx.Dtype)
        return str(dtype).removeprefix("mlx.core.") if is_own else None

    def classify(self, error: Exception) -> str | None:
        text = str(error)
        if _OUT_OF_RANGE.search(text):
            return OUT_OF_RANGE
        is_refusal = isinstance(error, RefusalError) or _REFUSAL.search(text)
        return REFUSED if is_refusal or _REFUSED_BY_NUMPY.search(text) else None

    def _copied(self, array: Any) -> Any:
        return self._mx.array(array)

    def _named(self, op: str, name: str, text: str) -> Any:
        return _dtype(text)

    def _own(self, dtype: str, spec: Spec) -> Any:
        # Filled, then converted: full() takes the dtype bool for the default and makes int32.
        return self._mx.full(spec.shape, spec.value).astype(_dtype(dtype))


recorder = MlxRecorder


def _dtype(name: str) -> Any:
    import mlx.core as mx

    return mx.bool_ if name == "bool" else getattr(mx, name)


def _forms(op: str) -> tuple[str, ...]:
    forms = existing_forms(op)
    return (*forms, *named_forms("dtype", DTYPES)) if op in _TAKE_DTYPE else forms


def _found() -> dict[str, FoundFunction]:
    import mlx.core as mx
    from mlx import nn

    rooms = {"mx": mx, "nn": nn, "nn.losses": nn.losses, "mx.linalg": mx.linalg}
    instead = {"dot": "mx.inner", "einsum": "mx.einsum", "pad": "mx.pad", "topk": "mx.topk"}
    return found_functions(rooms, MLX.naming.aliases, instead)


def _functions(found: dict[str, FoundFunction]) -> dict[str, Callable[..., Any]]:
    import mlx.core as mx

    functions = called_with_operands(found)
    for op in LOSSES:
        if op in functions:
            functions[op] = partial(functions[op], reduction="mean")
    functions["einsum"] = lambda *arrays: mx.einsum(product_equation(arrays), *arrays)
    functions["pad"] = partial(mx.pad, pad_width=1)
    functions["topk"] = partial(mx.topk, k=1)
    functions["can_cast"] = refusing(dtype_function(mx.can_cast), yes=mx.bool_)
    return functions


# Asks MLX what it computes, on the CPU.


class MlxValues(MlxRecorder):
    """The values of the MLX installed here."""

    dtypes = DTYPES

    def hold(self, held: Held) -> Any:
        if held.dtype is None:
            return held.values[0]
        if held.dtype == "bfloat16":
            wide = self._np.array(held.values, "float32").reshape(held.shape)
            return self._mx.array(wide).astype(self._mx.bfloat16)
        return self._mx.array(numpy_array(held), dtype=_dtype(held.dtype))

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(_dtype(dtype))

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return self.call(op, form, operands)

    def held_by(self, result: Any) -> Held | None:
        if not isinstance(result, self._mx.array):
            return None
        # NumPy itself has no bfloat16 to read.
        wide = result.astype(self._mx.float32) if result.dtype == self._mx.bfloat16 else result
        return numpy_held(self._np.array(wide))._replace(dtype=self.dtype_of(result))

    def is_division_by_zero(self, error: Exception) -> bool:
        return isinstance(error, ZeroDivisionError)


values_recorder = MlxValues

# Programs in MLX, on the CPU.

# nn.log_softmax of a 0-d array ends the process; the others are only about dtypes.
_NOT_WRITTEN = words("log_softmax result_type can_cast")


class MlxSpeaker(RecordedSpeaker):
    """The MLX installed here."""

    prelude = (
        "import mlx.core as mx\nimport numpy as np\nfrom mlx import nn\nfrom math import inf, nan"
    )

    more_arguments: Mapping[str, tuple[str, ...]] = dict.fromkeys(LOSSES, ('reduction="mean"',))

    def __init__(self, mode: str = "") -> None:
        self._values = recorder = MlxValues(mode)
        super().__init__(recorder)
        self.menu = Menu(
            dtypes=DTYPES,
            forms=program_forms(recorder.scope.forms, without=_NOT_WRITTEN),
            literals=LITERALS,
            along_axes=words("sum prod mean any all max min argmax argmin std var logsumexp"),
            need_axes=words("cumsum cumprod softmax"),
            has_array_keys=False,  # places out of bounds are read, whatever is there
        )

    def array(self, held: Held) -> str:
        values, dtype = numbers_text(held), _dtype_of(str(held.dtype))
        if values is None:
            return f"mx.zeros({held.shape}, dtype={dtype})"
        if "int" in str(held.dtype):  # of which MLX itself does not read the largest
            return f'mx.array(np.array({values}, "{held.dtype}"))'
        return f"mx.array({values}, dtype={dtype})"

    def cast(self, array: str, dtype: str) -> str:
        return f"{array}.astype({_dtype_of(dtype)})"

    def read(self, array: Any) -> Held | None:
        return self._values.held_by(array)


speaker = MlxSpeaker


def _dtype_of(name: str) -> str:
    return "mx.bool_" if name == "bool" else f"mx.{name}"
