"""What a recorder of values is, and how a framework's results become value cells.

A value cell is in a cell file like any other, but its operands and its answer show what
they hold. A call that a framework refuses for its dtypes gives none: the other cells tell that.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, cast

from castwise.conformance import recorders
from castwise.conformance.grid import GridQuestion, Scope
from castwise.conformance.recorder import Cell, Header
from castwise.conformance.values.grid import CAST, value_questions
from castwise.conformance.values.notation import Held, read_held
from castwise.vocab.architecture import architecture
from castwise.vocab.cell_words import OUT_OF_RANGE

ZERO_DIVISION = "!zero"  # it raised, since an integer was divided by zero


class ValueRecorder(Protocol):
    """A framework that can be asked what it computes."""

    name: str
    dialect: str
    scope: Scope
    dtypes: tuple[str, ...]  # of the operands it is asked with

    def versions(self) -> Header:
        """The versions the answers depend on."""

    def session(self) -> AbstractContextManager[None]:
        """The settings the questions are asked under, undone at its end."""

    def hold(self, held: Held) -> Any:
        """The live operand that holds these values."""

    def cast(self, array: Any, dtype: str) -> Any:
        """The array in another dtype, as an explicit cast gives it."""

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        """What the framework returns; its errors pass through."""

    def held_by(self, result: Any) -> Held | None:
        """What a result holds, or None where the framework did not answer in its own arrays."""

    def is_division_by_zero(self, error: Exception) -> bool:
        """Whether an error says that an integer was divided by zero."""

    def classify(self, error: Exception) -> str | None:
        """The answer an error amounts to, or None where it is not about dtypes or values."""


def valued_frameworks() -> tuple[str, ...]:
    """The frameworks whose values can be recorded, installed or not."""
    files = [file.name for file in pkgutil.iter_modules(recorders.__path__)]
    return tuple(f.removesuffix("_values") for f in files if f.endswith("_values"))


def find_value_recorder(framework: str, mode: str = "") -> ValueRecorder:
    """The recorder of a framework's values in a mode.

    Raises ImportError where the framework is not installed, ValueError where none records it.
    """
    known = valued_frameworks()
    if framework not in known:
        raise ValueError(f"no values are recorded of {framework!r}, only of {', '.join(known)}.")
    module = importlib.import_module(f"castwise.conformance.recorders.{framework}_values")
    return cast(ValueRecorder, module.recorder(mode))


def value_header(recorder: ValueRecorder) -> Header:
    """The first line of the file: what was asked, and where; processors differ in casts."""
    machine = {"machine": architecture()}
    return {
        "dialect": recorder.dialect, "framework": recorder.name, **recorder.versions(), **machine
    }  # fmt: skip


def ask_values(recorder: ValueRecorder, question: GridQuestion) -> str | None:
    """What the framework computes, or None where it refuses or fails for another reason."""
    try:
        operands = [recorder.hold(read_held(notation)) for notation in question.operands]
        if question.op == CAST:
            result = recorder.cast(operands[0], question.form.removeprefix("to="))
        else:
            result = recorder.compute(question.op, question.form, operands)
    except Exception as error:  # whatever a framework raises is an answer to judge
        if recorder.is_division_by_zero(error):
            return ZERO_DIVISION
        return OUT_OF_RANGE if recorder.classify(error) == OUT_OF_RANGE else None
    held = recorder.held_by(result)
    return None if held is None else str(held)


def value_cells(
    recorder: ValueRecorder,
    ops: Iterable[str] | None = None,
    on_question: Callable[[GridQuestion], object] | None = None,
) -> Iterator[Cell]:
    """Asks every question on values and yields those that have an answer."""
    with recorder.session():
        for question in value_questions(recorder.scope.forms, recorder.dtypes, ops):
            if on_question is not None:
                on_question(question)
            answer = ask_values(recorder, question)
            if answer is not None:
                yield Cell(*question, answer)
