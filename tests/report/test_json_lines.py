"""`castwise resolve`: the format of its lines, and that nothing on stdin can break it."""

from __future__ import annotations

import io
import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castwise.catalog import dialects
from castwise.engine.ask import resolve
from castwise.errors import PromotionError
from castwise.report import answers
from castwise.report.answers import (
    MAX_LINE,
    answer_line,
    answer_lines,
    answer_stream,
    decision_json,
)
from castwise.vocab.ops import ops


def ask(option: str | None = None, /, **fields: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(answer_line(json.dumps(fields).encode(), option).text)
    return answer


def stream(data: bytes, dialect: str | None = None) -> tuple[list[dict[str, Any]], bool]:
    written = io.BytesIO()
    is_well_formed = answer_stream(
        io.BytesIO(data), written, partial(answer_lines, dialect=dialect)
    )
    return [json.loads(line) for line in written.getvalue().splitlines()], is_well_formed


def test_a_decision_has_the_documented_fields_in_order() -> None:
    line = b'{"dialect": "torch", "op": "add", "args": ["int32[3]", "5.5"], "form": "operator"}'
    assert answer_line(line).text == (
        '{"result": "float32", "compute": "float32", "weak": false, "casts": '
        '[{"from": "int32", "to": "float32", "hazards": ["loses-precision"]}, null], '
        '"hazards": ["loses-precision"], "notes": []}'
    )


def test_decisions_that_differ_have_texts_of_their_own() -> None:
    for op in ("add", "lt", "logical_and", "div", "sum"):
        for dtype in ("bool", "int32", "float16", "complex64"):
            for out in ("bool", "uint8", "int64", "float32", "complex128"):
                args = [f"{dtype}[3]"] * (1 if op == "sum" else 2)
                try:
                    decision = resolve(op, *args, dialect="torch", out=out)
                except PromotionError:
                    continue
                assert ask("torch", op=op, args=args, out=out) == decision_json(decision)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"op": "sub", "args": ["bool[3]", True]}, "PromotionError"),
        ({"op": "add", "args": ["int8[3]", 300]}, "ScalarRangeError"),
        ({"op": "pow", "args": ["int8[3]", -1]}, "ScalarRangeError"),
        ({"op": "ad", "args": ["int8[3]", 1]}, "UsageError"),
        ({"op": "add", "args": ["int8[3]"]}, "UsageError"),
        ({"op": "add", "args": ["int8[3", 1]}, "UsageError"),
        ({"op": "add", "args": ["int8[3]", None]}, "UsageError"),
        ({"op": "add", "args": ["int8[3]", ["int8[3]"]]}, "UsageError"),
        ({"op": "add", "args": "int8[3]"}, "UsageError"),
        ({"op": "add", "args": None}, "UsageError"),
        ({"op": 1, "args": ["int8[3]", 1]}, "UsageError"),
        ({"args": ["int8[3]", 1]}, "UsageError"),
        ({"op": "add", "args": ["int8[3]", 1], "dialect": "nampy"}, "UsageError"),
        ({"op": "add", "args": ["int8[3]", 1], "dialect": ""}, "UsageError"),
        ({"op": "add", "args": ["int8[3]", 1], "inplace": 1}, "UsageError"),
        ({"op": "add", "args": ["int8[3]", 1], "in_place": True}, "UsageError"),
        ({"op": "add", "args": ["int8[3]", 1], "form": "method"}, "UsageError"),
        ({"op": "add", "args": ["int8[3]", 1], "out": "int9"}, "UsageError"),
        ({"op": "add", "args": ["int8[3]", 1], "alpha": "int8[3]"}, "UsageError"),
        ({"op": "mul", "args": ["int8[3]", 1], "alpha": 1}, "UsageError"),
    ],
)
def test_an_error_says_its_type(fields: dict[str, Any], kind: str) -> None:
    answer = ask("numpy", **fields)
    assert answer["error"]["type"] == kind
    assert answer["error"]["message"]


def test_an_unknown_field_gets_a_hint() -> None:
    message = ask("numpy", op="add", arg=["int8[3]"])["error"]["message"]
    assert message.startswith("unknown field 'arg'. Did you mean 'args'?")


def test_numbers_and_booleans_are_literals() -> None:
    for value, literal in ((5, "5"), (5.5, "5.5"), (True, "True"), (2**70, str(2**70))):
        args = ["int32[3]", value], ["int32[3]", literal]
        assert ask("torch", op="add", args=args[0]) == ask("torch", op="add", args=args[1])
    assert answer_line(b'{"op": "add", "args": ["int8[3]", NaN]}', "torch").is_well_formed


def test_null_is_a_field_left_out() -> None:
    assert ask("torch", op="add", args=["int32[3]", 1], form=None, out=None, alpha=None)["result"]
    assert "no dialect" in ask(op="add", args=["int32[3]", 1], dialect=None)["error"]["message"]


def test_an_augmented_assignment_is_told_from_the_method() -> None:
    question: dict[str, Any] = {"op": "add", "args": ["int32[3]", 0.5]}
    assert ask("jax", **question, form="augmented")["result"] == "float32"
    assert ask("jax", **question, inplace=True)["result"] == "int32"
    assert ask("torch", **question, form="augmented")["error"]["type"] == "PromotionError"
    both = ask("jax", **question, form="augmented", inplace=True)
    assert both["error"]["type"] == "UsageError"


def test_inplace_out_and_alpha_are_passed_on() -> None:
    assert ask("torch", op="add", args=["int32[3]", 1.5], inplace=True)["error"]
    assert ask("torch", op="add", args=["int32[3]", 1], out="float64")["result"] == "float64"
    assert ask("torch", op="add", args=["int32[3]", 1], alpha=1.5)["error"]
    assert ask("torch", op="add", args=["complex64[3]", 1], alpha="1+1j")["result"] == "complex64"


def test_the_field_goes_before_the_option() -> None:
    fields = {"op": "add", "args": ["int32[3]", 1.5]}
    assert ask("numpy", dialect="torch", **fields)["result"] == "float32"
    assert ask("numpy", **fields)["result"] == "float64"


@pytest.mark.parametrize(
    "line",
    [
        b"x",
        b"[]",
        b"5",
        b"{} {}",
        b'{"op": "add"',
        b"\xff\xfe",
        b"\x00",
        b"[" * 100_000,
        b'{"op":' * 50_000,
        b'{"op": "add", "args": [%s]}' % (b"9" * 5000),
        b'{"op": "\\ud800", "args": []}',
        b'{"op": "add", "args": ["\\ud800", 1]}',
        b'{"\\ud800": 1}',
        b'"' + b"a" * MAX_LINE + b'"',
        b"\xef\xbb\xbf{}",
    ],
)
def test_a_malformed_line_has_an_answer_of_its_own(line: bytes) -> None:
    good = b'{"op": "add", "args": ["int32[3]", 5.5]}'
    answers, is_well_formed = stream(b"\n".join([good, line, good]), "torch")
    assert [next(iter(answer)) for answer in answers] == ["result", "error", "result"]
    assert answers[1]["error"]["type"] == "UsageError"
    assert not is_well_formed


def test_a_refusal_is_well_formed() -> None:
    answers, is_well_formed = stream(b'{"op": "sub", "args": ["bool[3]", true]}\n', "numpy")
    assert answers[0]["error"]["type"] == "PromotionError"
    assert is_well_formed


def test_a_bug_does_not_end_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(question: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(answers, "decide", fail)
    answer = answer_line(b'{"op": "add", "args": ["int16[3]", 5.5]}' + b" " * 256, "torch")
    assert json.loads(answer.text)["error"]["type"] == "InternalError"
    assert not answer.is_well_formed


def test_blank_lines_are_skipped_and_the_last_newline_may_be_missing() -> None:
    good = b'{"op": "add", "args": ["int32[3]", 5.5]}'
    answers, is_well_formed = stream(b"\n  \r\n" + good + b"\r\n\n\t" + good, "torch")
    assert [answer["result"] for answer in answers] == ["float32", "float32"]
    assert is_well_formed
    assert stream(b"") == ([], True)


class InPieces(io.BytesIO):
    """Input that arrives a few bytes at a time."""

    def read1(self, size: int | None = -1) -> bytes:
        return super().read1(7)


def test_lines_may_arrive_in_pieces() -> None:
    data = b'{"op": "add", "args": ["int32[3]", 5.5]}\n' * 3
    written = io.BytesIO()
    answer_stream(InPieces(data), written, partial(answer_lines, dialect="torch"))
    assert len(written.getvalue().splitlines()) == 3


def test_a_line_too_long_is_not_held() -> None:
    endless = io.BytesIO(b"x" * (5 * MAX_LINE) + b'\n{"op": "neg", "args": ["int8[3]"]}')
    written = io.BytesIO()
    answer_stream(endless, written, partial(answer_lines, dialect="torch"))
    first, second = map(json.loads, written.getvalue().splitlines())
    assert first["error"]["message"] == f"a line has more than {MAX_LINE} bytes."
    assert second["result"] == "int8"


_WORDS = st.sampled_from(
    ["int32[3]", "int8[]", "5", "1e39", "np.float64(1.5)", "int64=300[]", "float32*[n,3]", "1+2j"]
)
_NOTATION = _WORDS | st.text(max_size=12) | st.text("[]()*=.,0123456789einfjpuT", max_size=12)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _NOTATION,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)
_QUESTIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(ops()), "args": st.lists(_NOTATION | _VALUES, max_size=4)},
    optional={
        "dialect": st.sampled_from(dialects()) | _VALUES,
        "form": st.sampled_from(["operator", "function"]) | _VALUES,
        "inplace": st.booleans() | _VALUES,
        "out": st.sampled_from(["int8", "float32"]) | _VALUES,
        "alpha": _VALUES,
    },
)


@given(_QUESTIONS)
@settings(deadline=None)
def test_any_question_is_answered(fields: dict[str, Any]) -> None:
    (answer,), is_well_formed = stream(json.dumps(fields).encode(), "numpy@1")
    assert answer.keys() in (
        {"error"},
        {"result", "compute", "weak", "casts", "hazards", "notes"},
    )
    kind = answer.get("error", {}).get("type")
    assert kind in (None, "PromotionError", "ScalarRangeError", "UsageError")
    assert is_well_formed == (kind != "UsageError")


@given(st.data(), _QUESTIONS)
@settings(deadline=None)
def test_a_mutated_line_is_answered(data: st.DataObject, fields: dict[str, Any]) -> None:
    line = bytearray(json.dumps(fields).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(line) - 1))
        line[place] = data.draw(st.integers(0, 255).filter(lambda byte: byte != 10))
    answers, _ = stream(bytes(line), "torch")
    assert len(answers) == bool(line.strip())


@given(st.lists(st.binary(max_size=40), max_size=5))
@settings(deadline=None)
def test_any_bytes_are_answered(lines: list[bytes]) -> None:
    answers, _ = stream(b"\n".join(lines), "torch")
    pieces = b"\n".join(lines).split(b"\n")
    assert len(answers) == sum(1 for piece in pieces if piece.strip())
