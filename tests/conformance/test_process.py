"""Questions that end a process cost their own answers alone."""

from __future__ import annotations

import pytest
from losing import LosingPart

from castwise.conformance import process
from castwise.conformance.process import Lost, Part, asked_apart
from castwise.conformance.recorder import Cell, cells, find_recorder


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
    apart = list(asked_apart(Part("numpy", ops=("sign",)), asked.append))
    assert apart == list(cells(find_recorder("numpy"), ["sign"]))
    assert len(asked) >= len(apart)
