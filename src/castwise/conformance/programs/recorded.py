"""What speakers share: a recorder knows its framework's settings, versions and errors."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from castwise.conformance.calls import AUGMENTED_OPERATORS
from castwise.conformance.recorder import Header, Recorder
from castwise.conformance.values.held import numpy_held
from castwise.conformance.values.notation import Held
from castwise.vocab.cell_words import NO_KERNEL

Forms = Mapping[str, tuple[str, ...]]


class RecordedSpeaker:
    """A speaker whose framework a recorder can ask."""

    prelude = ""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.name = recorder.name
        self.dialect = recorder.dialect

    def versions(self) -> Header:
        """The versions the answers depend on."""
        return self._recorder.versions()

    def session(self) -> AbstractContextManager[None]:
        """The recorder's settings."""
        return self._recorder.session()

    def bound(self, result: Any) -> Any:
        """The result itself."""
        return result

    def handed(self, held: Held) -> str:
        """The framework's own array."""
        return self.array(held)

    def array(self, held: Held) -> str:
        """An array that holds these values."""
        raise NotImplementedError

    def read(self, array: Any) -> Held | None:
        """What NumPy reads of an array of the framework."""
        dtype = self._recorder.dtype_of(array)
        return numpy_held(array)._replace(dtype=dtype) if dtype else None

    def is_no_answer(self, error: Exception) -> bool:
        """Whether the recorder takes an error for a missing kernel, or for a wrong signature."""
        answer = self._recorder.classify(error)
        if answer is None:
            return isinstance(error, TypeError)
        return answer.startswith(NO_KERNEL)


def with_augmented(forms: Forms, *others: str) -> Forms:
    """The forms of each op: as a function, an operator, `a += b`, and others that are named."""
    kept = ("function", "operator", *others)
    return {
        op: (*[f for f in own if f in kept], *(["augmented"] if op in AUGMENTED_OPERATORS else []))
        for op, own in forms.items()
    }
