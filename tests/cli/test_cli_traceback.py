"""`castwise explain --traceback`."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from ran import Ran

Explain: TypeAlias = "Callable[..., Ran]"
SAME_DTYPE = "RuntimeError: mat1 and mat2 must have the same dtype, but got Float and Half"
NO_KERNEL = "RuntimeError: \"bitwise_and_cpu\" not implemented for 'Float'"


@pytest.fixture
def explained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Explain:
    def run(text: str, *arguments: str) -> Ran:
        monkeypatch.chdir(tmp_path)
        Path("error.txt").write_text(text, encoding="utf-8")
        return Ran(capsys, "explain", "--traceback", "error.txt", *arguments)

    return run


def test_a_traceback_is_explained(explained: Explain) -> None:
    ran = explained(SAME_DTYPE)
    assert (ran.status, ran.err) == (1, "")
    assert ran.out.startswith(
        "Read from: mat1 and mat2 must have the same dtype, but got Float and Half\n\n"
        "float32 @ float16 in torch is refused\n"
    )


def test_it_may_come_from_stdin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = io.TextIOWrapper(io.BytesIO(SAME_DTYPE.encode()))
    monkeypatch.setattr("sys.stdin", text)
    ran = Ran(capsys, "explain", "--traceback", "-")
    assert "float32 @ float16 in torch is refused" in ran.out
    assert ran.err == ""


def test_what_is_not_told_is_said(explained: Explain) -> None:
    out = explained(NO_KERNEL).out
    assert "It reads ? & ?. The op computes in float32, so that is what is explained for ?." in out
    assert "float32 & float32 in torch fails to run" in out
    out = explained("expected scalar type Half but found Float\n----> 1 torch.bmm(a, b)").out
    assert "The message does not tell which operand comes first." in out
    out = explained("Input type (double) and bias type (float) should be the same").out
    assert "The op may also be conv1d." in out


def test_an_error_that_the_dialect_does_not_raise(explained: Explain) -> None:
    devices = "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be"
    ran = explained(f"{devices} the same")
    assert ran.status == 0
    assert "torch accepts this. The error has another cause: operands on two devices" in ran.out


@pytest.mark.parametrize("arguments", [("numpy",), ("--dialect", "numpy")])
def test_another_dialect_may_be_asked(explained: Explain, arguments: tuple[str, ...]) -> None:
    ran = explained(SAME_DTYPE, *arguments)
    assert ran.status == 0
    assert "float32 @ float16 in numpy is float32" in ran.out


def test_as_json(explained: Explain) -> None:
    found = json.loads(explained(SAME_DTYPE, "--json").out)
    assert found["read"]["operands"] == ["float32", "float16"]
    assert found["question"] == found["read"]["question"] == "float32 @ float16"
    assert found["error"]["type"] == "PromotionError"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("hello", "this text has no message about dtypes that castwise knows"),
        ("Python integer 300 out of bounds for uint8", 'castwise explain numpy "OP(uint8, 300)"'),
        (
            "result type Float can't be cast to the desired output type Long",
            'castwise explain torch "OP(float32, out=int64)"',
        ),
        ("ufunc 'bitwise_and' not supported for the input types", 'explain numpy "? & ?"'),
    ],
)
def test_what_to_do_where_too_little_is_told(explained: Explain, text: str, advice: str) -> None:
    ran = explained(text)
    assert (ran.status, ran.out) == (2, "")
    assert advice in ran.err


def test_an_expression_beside_a_traceback_is_refused(explained: Explain) -> None:
    for arguments in [("torch", "int8[3] + 1"), ("int8[3] + 1",), ("torch", "-d", "numpy")]:
        ran = explained(SAME_DTYPE, *arguments)
        assert (ran.status, ran.out) == (2, "")
        assert "give no expression and at most one dialect" in ran.err
