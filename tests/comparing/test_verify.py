"""`castwise verify`: cells of a framework against the engine's answers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from castwise.catalog import dialect_named, dialects
from castwise.comparing.verify import agrees, answer_for, recorder_for, verify
from castwise.conformance.questions import Scope
from castwise.conformance.recorder import Cell
from castwise.conformance.recorders import recorded_dialects
from castwise.conformance.recorders.numpy import NumpyRecorder
from castwise.errors import UsageError
from castwise.progress import progress
from castwise.report.verify import verification_html, verification_json, verification_text


class AlwaysFloat32:
    """A framework that answers float32 to every question."""

    name = "always-float32"
    dialects: tuple[str, ...] = ("numpy",)
    dialect = "numpy"
    scope = Scope(dtypes=("int8", "float32"), forms={"add": ("function", "inplace")})

    def versions(self) -> dict[str, str]:
        return {"version": "1.0", "python": "3"}

    def session(self) -> AbstractContextManager[None]:
        return nullcontext()

    def make(self, notation: str) -> Any:
        return notation

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return "float32"

    def dtype_of(self, result: Any) -> str | None:
        return str(result)

    def classify(self, error: Exception) -> str | None:
        return None


def cell(op: str, form: str, *operands: str, answer: str = "") -> Cell:
    return Cell(op, form, operands, answer)


@pytest.mark.parametrize(
    ("asked", "dialect", "answer"),
    [
        (cell("add", "operator", "int32[3]", "5.5"), "torch", "float32"),
        (cell("add", "inplace", "int32[3]", "5.5"), "torch", "!"),
        (cell("add", "augmented", "int32[3]", "5.5"), "torch", "!"),
        (cell("add", "augmented", "int32[3]", "5.5"), "jax", "float32*"),
        (cell("add", "out=float64", "int32[3]", "int32[3]"), "torch", "float64"),
        (cell("add", "alpha=1.5", "int32[3]", "int32[3]"), "torch", "!"),
        (cell("add", "function", "int8[3]", "300"), "numpy", "!range"),
        (cell("where", "function", "bool[3]", "int8[3]", "float32[3]"), "numpy", "float32"),
        (cell("can_cast", "function", "int64[3]", "uint8[3]"), "torch", "bool"),
        (cell("can_cast", "function", "float32[3]", "int32[3]"), "torch", "!"),
        (cell("add", "function", "uint16[3]", "uint16[3]"), "torch", "no-kernel:uint16"),
    ],
)
def test_the_engine_answers_in_the_words_of_the_cells(
    asked: Cell, dialect: str, answer: str
) -> None:
    assert answer_for(asked, dialect) == answer


@pytest.mark.parametrize(
    ("recorded", "is_agreed"),
    [("!", True), ("!range", True), ("int8", False), ("no-kernel", False)],
)
def test_refusals_agree(recorded: str, is_agreed: bool) -> None:
    asked = cell("add", "function", "int8[3]", "300", answer=recorded)
    assert agrees(asked, "numpy") == is_agreed


@pytest.mark.parametrize(
    ("recorded", "is_agreed"),
    [("no-kernel", True), ("no-kernel:uint16", True), ("uint16", True), ("int8", False)],
)
def test_missing_kernels_agree(recorded: str, is_agreed: bool) -> None:
    asked = cell("add", "function", "uint16[3]", "uint16[3]", answer=recorded)
    assert agrees(asked, "torch") == is_agreed


def test_drift_is_listed_by_op() -> None:
    asked: list[object] = []
    found = verify("numpy", AlwaysFloat32(), on_question=asked.append)
    assert found.compared == len(asked) > 0
    assert all(agrees(drift.cell, "numpy") is False for drift in found.drift)
    told = verification_text(found)
    assert told.startswith("Installed: always-float32 1.0, python 3.\nnumpy is recorded from ")
    assert f"{len(found.drift):,} of {found.compared:,} answers differ." in told
    assert (
        "         add(int8[3], int8[3])\n           always-float32: float32, castwise: int8\n"
        in told
    )
    made = verification_json(found)
    assert made["installed"] == {"version": "1.0", "python": "3"}
    assert made["drift"][0] == {
        "op": "add",
        "form": "function",
        "operands": ["int8[3]", "int8[3]"],
        "framework": "float32",
        "castwise": "int8",
    }


def test_the_page_lists_every_answer_that_differs() -> None:
    found = verify("numpy", AlwaysFloat32())
    made = verification_html(found)
    assert "<h1>numpy and always-float32</h1>" in made
    assert "<td>add(int8[3], int8[3])</td><td>float32</td><td>int8</td>" in made
    assert made.count("<td>") == 3 * len(found.drift)
    kernels = verification_html(verify("numpy", WithoutKernels()))
    assert "but only one of the two has a kernel for it." in kernels
    assert "<td>no kernel for int8</td><td>int8</td>" in kernels


class WithoutKernels(AlwaysFloat32):
    """A framework that promotes as NumPy does, and runs nothing of it."""

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return answer_for(Cell(op, form, tuple(operands), ""), "numpy")

    def dtype_of(self, result: Any) -> str | None:
        return str(result) if result.startswith("!") else f"no-kernel:{result}"


def test_what_only_one_of_the_two_runs_is_listed_apart() -> None:
    found = verify("numpy", WithoutKernels())
    assert found.agrees
    assert found.drift == ()
    assert 0 < len(found.kernels) < found.compared  # what is refused needs no kernel
    told = verification_text(found)
    assert f"All {found.compared:,} answers agree." in told
    assert f"{len(found.kernels):,} answers have the same dtype, but only one" in told
    assert "always-float32: no kernel for int8, castwise: int8" in told
    assert verification_json(found)["kernels"][0]["framework"] == "no-kernel:int8"


def test_a_bar_is_shown_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with progress("Asking", 1000) as on_question:
        assert on_question is None
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress("Asking", 1000) as on_question:
        assert on_question is not None
        on_question(0)
    assert capsys.readouterr().err == ""  # it was quick
    monkeypatch.setattr("castwise.progress._PATIENCE", 0)
    with progress("Asking", 1000) as on_question:
        assert on_question is not None
        for question in range(1000):
            on_question(question)
    assert "Asking" in capsys.readouterr().err


def test_no_drift_is_said_in_one_line() -> None:
    pytest.importorskip("array_api_strict")
    found = verify(
        "array-api", recorder_for(dialect_named("array-api"), ["can_cast"]), ["can_cast"]
    )
    assert found.drift == ()
    assert verification_text(found).splitlines()[-1] == f"All {found.compared:,} answers agree."


def test_a_framework_that_is_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "array_api_strict", None)
    with pytest.raises(UsageError, match=r"Install it first: .* array-api-strict 2"):
        recorder_for(dialect_named("array-api"))


def test_an_op_that_is_not_asked_is_an_error() -> None:
    pytest.importorskip("array_api_strict")
    with pytest.raises(UsageError, match="has no recorded op 'ad'"):
        recorder_for(dialect_named("array-api"), ["ad"])


def test_a_dialect_without_recorder_is_an_error() -> None:
    unheard = dialect_named("numpy").vary(framework="unheard")
    with pytest.raises(UsageError, match="unheard cannot be verified: no recorder"):
        recorder_for(unheard)


@pytest.mark.parametrize(
    ("dialect", "evidence", "instead"),
    [
        ("tensorflow:all", "RFC 431", "tensorflow, tensorflow:np-all or tensorflow:np-safe"),
        ("tensorflow:safe", "RFC 431", "tensorflow, tensorflow:np-all or tensorflow:np-safe"),
        ("tensorflow:none", "RFC 431", "tensorflow, tensorflow:np-all or tensorflow:np-safe"),
        ("paddle:documented", "the guide", "paddle"),
        ("megengine:mep3", "MEP 3", "megengine"),
        ("oneflow:article", "the article", "oneflow"),
        ("torch@2.1", "the lookup table of c10", "torch, torch:default_float=float64,"),
        ("numpy:strict=True", "recorded from", "numpy or numpy@1"),
    ],
)
def test_a_dialect_that_no_framework_speaks_says_what_it_comes_from(
    dialect: str, evidence: str, instead: str
) -> None:
    """Whether or not the framework it is named after is installed."""
    with pytest.raises(UsageError) as raised:
        recorder_for(dialect_named(dialect))
    told = str(raised.value)
    assert told.startswith(f"{dialect} cannot be verified: no installed framework implements it.")
    assert f"Evidence: {evidence}" in told
    assert f"Verify {instead}" in told
    assert told.endswith(f"castwise diff {dialect} {dialect_named(dialect).framework}")


def test_every_dialect_is_recorded_or_says_what_else_it_comes_from() -> None:
    for spoken in map(dialect_named, dialects()):
        is_recorded = spoken.name in recorded_dialects(spoken.framework)
        assert spoken.evidence.source.startswith("recorded from") == is_recorded


class TakesInt4(AlwaysFloat32):
    """A framework that promotes int4, which the dialect lacks, and float32, and nothing else."""

    scope = Scope(dtypes=("float32",), forms={"promote_types": ("function",)})

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        name = operands[0].removesuffix("[3]")
        if name not in ("int4", "float32"):
            raise TypeError(name)
        return name

    def classify(self, error: Exception) -> str | None:
        return "!"


def test_a_dtype_that_the_dialect_lacks_is_found() -> None:
    found = verify("numpy", TakesInt4())
    assert found.drift == ()
    assert found.dtypes.missing == ("int4",)
    assert "int8" in found.dtypes.not_taken
    assert not found.agrees
    told = verification_text(found)
    assert "Dtypes of always-float32 that castwise lacks: int4." in told
    assert "Dtypes that always-float32 does not promote here: bool, " in told
    assert verification_json(found)["dtypes"]["missing"] == ["int4"]


def test_the_list_of_dtypes_is_left_alone_where_one_op_is_asked() -> None:
    assert verify("numpy", TakesInt4(), ["promote_types"]).agrees


def test_a_release_is_verified_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    release = dialect_named("numpy@2.2")
    with pytest.raises(UsageError, match=r"numpy installed here has the dialect numpy\."):
        recorder_for(release)
    versions = {"framework": "numpy", "version": "2.2.6"}
    monkeypatch.setattr(NumpyRecorder, "versions", lambda self: versions)
    assert recorder_for(release, ["add"]).name == "numpy"
    with pytest.raises(UsageError, match=r"has the dialect numpy@2\.2\."):
        recorder_for(dialect_named("numpy@2.5"))
