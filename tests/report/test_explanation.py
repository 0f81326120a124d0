"""`castwise explain`: the text and the JSON of an explanation."""

from __future__ import annotations

from castwise.engine.ask import question_in
from castwise.report.answers import Explanation, explained, explanation_json, explanation_text
from castwise.report.terminal import coloured


def explanation(text: str, dialect: str) -> Explanation:
    return explained(question_in(text, dialect))


def test_the_result_stands_first_and_the_steps_are_numbered() -> None:
    told = str(explanation("int32[3] + 5.5", "torch")).splitlines()
    assert told[:4] == [
        "int32[3] + 5.5 in torch is float32",
        "",
        "  1. int32[3] is an array of int32.",
        "  2. 5.5 is a Python float.",
    ]
    assert "What the casts may cost:" in told
    assert told[-1] == "  loses-precision  not every value is held exactly"


def test_a_refusal_is_told_with_what_to_do() -> None:
    found = explanation("int8[3] + 300", "numpy")
    told = str(found)
    assert told.startswith("int8[3] + 300 in numpy is refused\n")
    assert "Refused: 300 is out of range for int8." in told
    assert told.endswith("Use a value from -128 to 127, or cast the array.")
    assert found.is_refused


def test_lines_keep_to_the_width() -> None:
    for text in ("uint8[3] + float16[]", "int64[3] += float32[3]", "pow(int8[3], -1)"):
        told = explanation_text(explanation(text, "torch"), width=40)
        assert all(len(line) <= 40 for line in told.splitlines()[1:-1])


def test_colours_change_nothing_but_colours() -> None:
    found = explanation("int64[3] += float32[3]", "torch")
    painted = explanation_text(found, coloured)
    assert "\x1b[31mrefused" in painted
    assert "\x1b[32mfloat32" in explanation_text(explanation("1 + float32[3]", "torch"), coloured)


def test_the_json_is_the_answer_with_its_steps() -> None:
    found = explanation_json(explanation("int32[3] + 5.5", "torch"))
    assert list(found) == [
        "question", "dialect", "result", "compute", "weak", "casts", "hazards", "notes", "steps",
    ]  # fmt: skip
    assert found["steps"][-1] == "The result is float32."
    refused = explanation_json(explanation("bool[3] - bool[3]", "numpy"))
    assert list(refused) == ["question", "dialect", "error", "steps"]
    assert refused["error"]["type"] == "PromotionError"
