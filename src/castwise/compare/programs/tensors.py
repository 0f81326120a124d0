"""castwise in a framework's place: the steps of a program on tensors of a backend."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from castwise.conformance.programs.program import Step
from castwise.conformance.programs.speaker import Framework
from castwise.conformance.programs.spelling import AxisWords, arguments, numbers
from castwise.conformance.values.held import numpy_held
from castwise.conformance.values.notation import Held
from castwise.execute.tensor import Tensor

_MISSING = re.compile(r"the backend \w+ has (no|nothing)|not implemented for '")


class TensorSpeaker:
    """Tensors of a backend under a dialect."""

    def __init__(self, dialect: str, backend: str, framework: Framework) -> None:
        self._framework = framework
        self._home = f'dialect="{dialect}", backend="{backend}"'
        # A weak array is handed over by its framework.
        self.prelude = f"{framework.prelude}\nimport castwise as cw"

    @contextmanager
    def session(self) -> Iterator[None]:
        import numpy as np

        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield

    def array(self, held: Held) -> str:
        dtype, values = str(held.dtype), numbers(held)
        if dtype.endswith("*"):
            return f"cw.asarray({self._framework.handed(held)}, {self._home})"
        made = f'cw.asarray({values or "[]"}, dtype="{dtype}", {self._home})'
        return f"cw.array_api.reshape({made}, {held.shape})" if values is None else made

    def cast(self, array: str, dtype: str) -> str:
        return f'{array}.astype("{dtype}")'

    def called(self, step: Step, operands: Sequence[str]) -> str:
        more = ("1", "1") if step.op == "threshold" else ()
        if step.form == "inplace":
            given = arguments(step, operands[1:], AxisWords(), *more)
            return f"{operands[0]}.{step.op}_({given})"
        return f'cw.apply("{step.op}", {arguments(step, operands, AxisWords(), *more)})'

    def bound(self, result: Any) -> Any:
        return result

    def read(self, array: Any) -> Held | None:
        if not isinstance(array, Tensor):
            return None
        weak = "*" if array.weak_type else ""
        return numpy_held(array.numpy())._replace(dtype=f"{array.dtype.name}{weak}")

    def is_no_answer(self, error: Exception) -> bool:
        return _MISSING.search(str(error)) is not None
