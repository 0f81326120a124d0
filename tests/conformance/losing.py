"""A framework that ends the process at some questions, or never ends."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from castwise.conformance.questions import Scope
from castwise.conformance.recorder import LostDeviceError


class LosingRecorder:
    """It has one op; int16 ends the process, uint8 loses the device, and int64 takes for ever."""

    scope = Scope(dtypes=("int8", "int16", "uint8", "int32", "int64"), forms={"abs": ("function",)})

    def session(self) -> AbstractContextManager[None]:
        return nullcontext()

    def make(self, notation: str) -> str:
        return notation

    def call(self, op: str, form: str, operands: Sequence[str]) -> str:
        if operands[0] == "int16[3]":
            os._exit(3)
        if operands[0] == "uint8[3]":
            raise LostDeviceError
        while operands[0] == "int64[3]":
            time.sleep(1)
        return operands[0]

    def dtype_of(self, result: str) -> str:
        return result.partition("[")[0]

    def classify(self, error: Exception) -> str | None:
        if isinstance(error, LostDeviceError):
            raise error
        return None


class LosingPart(NamedTuple):
    """In the place of a part, as another process can read it."""

    framework: str = "losing"
    ops: tuple[str, ...] | None = ("abs",)

    def recorder(self) -> LosingRecorder:
        return LosingRecorder()
