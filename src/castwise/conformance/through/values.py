"""Questions on values through a transformation: the answers are what results hold, not dtypes only.

A compiler that drops a rounding between two ops changes no dtype. So there are short chains among
the questions: `add` in the form `then sub` is (x + y) - z.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from castwise.conformance.grid import GridQuestion
from castwise.conformance.recorder import Header
from castwise.conformance.values.grid import CAST, OPS, value_questions
from castwise.conformance.values.notation import Held, read_held, vector
from castwise.conformance.values.operands import FLOATS, ordinary, paired
from castwise.conformance.values.recorder import ValueRecorder

THEN = "then "  # the form of a chain: the op that takes the result, and the last operand
# Pairs of ops between which a rounding shows.
_CHAINS = (
    ("add", "sub"), ("add", "mul"), ("sub", "add"), ("mul", "add"), ("mul", "sub"), ("mul", "div"),
    ("div", "mul"), ("div", "add"),
)  # fmt: skip
_WIDER = {"float16": "float32", "bfloat16": "float32", "float32": "float64"}


class ValuesAsked:
    """A recorder of values as a recorder of answers, each of which shows what a result holds."""

    def __init__(self, recorder: ValueRecorder, dialects: tuple[str, ...] = ()) -> None:
        self._recorder = recorder
        self.name, self.dialect, self.scope = recorder.name, recorder.dialect, recorder.scope
        self.dialects = dialects

    def versions(self) -> Header:
        return self._recorder.versions()

    def session(self) -> AbstractContextManager[None]:
        return self._recorder.session()

    def make(self, notation: str) -> Any:
        return self._recorder.hold(read_held(notation))

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        if op == CAST:
            return self._recorder.cast(operands[0], form.removeprefix("to="))
        if form.startswith(THEN):
            first = self._recorder.compute(op, "function", operands[:2])
            second = [first, *operands[2:]]
            return self._recorder.compute(form.removeprefix(THEN), "function", second)
        return self._recorder.compute(op, form, operands)

    def dtype_of(self, result: Any) -> str | None:
        """What a result holds, in notation."""
        held = self._recorder.held_by(result)
        return None if held is None else str(held)

    def classify(self, error: Exception) -> str | None:
        return self._recorder.classify(error)

    def questions(self, ops: Iterable[str] | None = None) -> Iterator[GridQuestion]:
        """Every question on values, those of an op together, and its chains after them."""
        forms, dtypes = self.scope.forms, self._recorder.dtypes
        for op in OPS if ops is None else [op for op in ops if op in OPS]:
            yield from value_questions(forms, dtypes, [op])
            for first, second in _CHAINS:
                if first == op and second in forms and op in forms:
                    yield from _chained(first, second, dtypes)


def _chained(first: str, second: str, dtypes: Sequence[str]) -> Iterator[GridQuestion]:
    """Two ops on floats of one dtype; and on a last operand that is wider, to which the rounded
    result of the first op is cast."""
    for dtype in filter(dtypes.__contains__, FLOATS):
        left, right = paired(ordinary(dtype), ordinary(dtype)[::-1])
        operands = [vector(dtype, left), vector(dtype, right)]
        form = f"{THEN}{second}"
        yield GridQuestion(first, form, tuple(map(str, (*operands, operands[1]))))
        wide = _WIDER.get(dtype)
        if wide in dtypes:
            last = Held(wide, operands[1].shape, operands[1].values)
            yield GridQuestion(first, form, tuple(map(str, (*operands, last))))
