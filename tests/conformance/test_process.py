"""Questions that end a process cost their own answers alone."""

from __future__ import annotations

import pytest
from losing import LosingPart

import own_process as process
from castwise.conformance.questions import GridQuestion
from castwise.conformance.recorder import Cell, NoAnswer, cells
from castwise.conformance.recorders import find_recorder
from own_process import Lost, Part, Unanswered, asked_apart
from record import unanswered_text


def test_a_lost_process_loses_one_question_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_LONGEST", 2.0)
    found = list(asked_apart(LosingPart()))  # type: ignore[arg-type]
    lost = [each.question.operands for each in found if isinstance(each, Lost)]
    assert sorted(lost) == [("int16[3]",), ("int64[3]",), ("uint8[3]",)]
    told = {each.operands[0]: each.answer for each in found if isinstance(each, Cell)}
    assert {told[f"{d}[]"] for d in ("int16", "uint8", "int64")} == {"int16", "uint8", "int64"}
    assert (told["int8[3]"], told["int32[3]"]) == ("int8", "int32")


def test_answers_are_those_of_this_process() -> None:
    asked = []
    apart = list(asked_apart(Part("numpy", ops=("matmul",)), asked.append))
    answered = [each for each in apart if isinstance(each, Cell)]
    assert answered == list(cells(find_recorder("numpy"), ["matmul"]))
    unanswered = [each for each in apart if isinstance(each, Unanswered)]
    assert unanswered
    assert {each.why.error for each in unanswered} == {"ValueError"}
    assert len(asked) == len(apart) == len(answered) + len(unanswered)


def test_what_was_not_answered_is_told_with_its_reason() -> None:
    def unanswered(op: str, dtype: str, error: str, text: str) -> Unanswered:
        return Unanswered(GridQuestion(op, "function", (f"{dtype}[3]",)), NoAnswer(error, text))

    text = unanswered_text(
        [
            unanswered("sum", "int8", "", "the result is a int"),
            unanswered("sum", "int16", "", "the result is a int"),
            unanswered("exp", "int8", "AttributeError", "no trace\nin this release"),
        ],
        {("sum", "function")},
    )
    assert text.splitlines() == [
        "no answer: 3 questions, not for their dtypes",
        "       1 (no answer at all)  exp function int8[3]: AttributeError: no trace",
        "       2  sum function int8[3]: the result is a int",
    ]
    assert unanswered_text([], ()) == ""
