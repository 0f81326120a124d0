"""How the tests of a recorder ask: a cell's question, answered by the installed framework."""

from __future__ import annotations

import pytest

from castwise.conformance.questions import GridQuestion
from castwise.conformance.recorder import ask
from castwise.conformance.recorders import find_recorder


def recorded(framework: str, op: str, form: str, operands: str, mode: str = "") -> str | None:
    """What a recorder answers; the test is skipped if the framework is not installed."""
    try:
        recorder = find_recorder(framework, mode)
    except ImportError as error:
        pytest.skip(str(error))
    with recorder.session():
        return ask(recorder, GridQuestion(op, form, tuple(operands.split(";"))))
