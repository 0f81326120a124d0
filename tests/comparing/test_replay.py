"""Decisions replayed by value: the judge finds what is told wrongly, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from castwise.comparing import replay as replaying
from castwise.comparing.replay import Judge, Part, Replay, replay, replay_here, same_bits
from castwise.conformance.arithmetic import computed, converted, rounded, totals
from castwise.conformance.questions import GridQuestion
from castwise.conformance.recorder import ValueRecorder
from castwise.conformance.recorders import find_value_recorder
from castwise.conformance.replays import accumulated, cases_of, replayed_questions, telling
from castwise.conformance.transformations import sampled
from castwise.conformance.values import Held
from castwise.engine.decision import Cast, Decision, Question
from castwise.report.verify import replay_json, replay_text
from castwise.vocab.dtypes import dtype

# How many questions of each op and form are replayed; more show more.
SAMPLE = int(os.environ.get("CASTWISE_REPLAY_SAMPLE", "4"))
OPS = ("add", "sub", "mul", "maximum", "where", "bitwise_and", "sqrt", "neg", "stack")


def replayed(framework: str, ops: Sequence[str], sample: int = SAMPLE) -> Replay:
    recorder = find_value_recorder(framework)
    every = replayed_questions(recorder.scope, recorder.dtypes, ops)
    asked = sampled((q for q in every if "=" not in q.form), sample)
    return replay_here(framework, recorder, asked)


def judged(
    monkeypatch: pytest.MonkeyPatch, question: GridQuestion, **told: Any
) -> replaying.Judged:
    """What NumPy shows of a question whose decision is changed."""

    def varied(asked: Question) -> Decision:
        return replace(decide(asked), **told)

    decide = replaying.decide
    monkeypatch.setattr(replaying, "decide", varied)
    recorder = find_value_recorder("numpy")
    with recorder.session():
        return Judge("numpy", recorder).judged(question)


def asked(op: str, *operands: str, form: str = "function") -> GridQuestion:
    return GridQuestion(op, form, operands)


FLOAT16, FLOAT32, FLOAT64 = map(dtype, ("float16", "float32", "float64"))


def test_what_numpy_decides_is_what_it_computes() -> None:
    found = replayed("numpy", OPS)
    assert [(each.kind, each.example) for each in found.classes] == []
    assert found.replayed > 10 * SAMPLE
    assert found.evaluated > found.replayed // 3


def test_a_told_cast_that_does_not_happen_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    casts = (None, Cast(FLOAT64, FLOAT32, ()))
    found = judged(monkeypatch, asked("maximum", "float64[3]", "float64[3]"), casts=casts)
    assert found.finding is not None
    assert (found.finding.kind, found.finding.casts) == ("values", ("", "float32"))


def test_a_cast_that_is_not_told_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing differs where the framework casts anyway, but no value shows that it does not."""
    question = asked("add", "int64[3]", "float64[3]")
    found = judged(monkeypatch, question, casts=(None, None))
    assert found.finding is None
    assert found.not_shown == ("0: int64 array, not float64",)


def test_an_operand_that_is_read_as_it_is_is_shown() -> None:
    recorder = find_value_recorder("numpy")
    with recorder.session():
        found = Judge("numpy", recorder).judged(asked("lt", "int64[3]", "uint64[3]"))
    assert (found.finding, found.not_shown, found.shown) == (None, (), 2)


def test_another_compute_dtype_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch, asked("mul", "float32[3]", "float32[3]"), compute=FLOAT16)
    assert found.finding is not None
    assert found.finding.kind == "compute"


@pytest.mark.parametrize("compute", [FLOAT16, FLOAT32, FLOAT64])
def test_it_is_found_in_what_a_sum_is_kept(monkeypatch: pytest.MonkeyPatch, compute: Any) -> None:
    found = judged(monkeypatch, asked("cumsum", "float32[3]"), compute=compute)
    assert (found.finding is None) == (compute is FLOAT32)
    assert found.is_evaluated


def test_another_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch, asked("add", "int8[3]", "int8[3]"), result=FLOAT16)
    assert found.finding is not None
    assert found.finding.kind == "dtype"


def test_a_number_read_in_another_dtype_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch, asked("mul", "float64[3]", "1.5"), compute=FLOAT32)
    assert found.finding is not None
    assert found.finding.kind == "number"


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_other_frameworks_compute_what_is_decided(framework: str) -> None:
    pytest.importorskip(framework)
    found = replayed(framework, ("add", "maximum", "neg"), sample=2)
    assert [(each.kind, each.example) for each in found.classes] == []
    assert found.replayed > 5


# A few questions of each class that is told by steps, and of casts that sums make.
STEPPED = {
    "numpy": {
        "mean": ("out=int8", "out=float16", "out=complex64"),
        "std": ("out=float32", "dtype=float16", "dtype=int32"),
        "var": ("dtype=complex64",),
        "isclose": ("function",),
    },
    "torch": {
        "std": ("out=float16", "out=float32"),
        "cross_entropy": ("function",),
        "huber_loss": ("function",),
    },
}


@pytest.mark.parametrize("framework", STEPPED)
def test_what_is_told_by_steps_is_what_it_computes(framework: str) -> None:
    pytest.importorskip(framework)
    recorder = find_value_recorder(framework)
    wanted = STEPPED[framework]
    every = replayed_questions(recorder.scope, recorder.dtypes, tuple(wanted))
    mine = [question for question in every if question.form in wanted[question.op]]
    found = replay_here(framework, recorder, sampled(mine, 5 * SAMPLE))
    assert [(each.kind, each.example) for each in found.classes] == []
    assert found.replayed > 5 * SAMPLE


def test_steps_in_another_dtype_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    question = asked("mean", "float64[3]", form="out=int8")
    found = judged(monkeypatch, question, program="div(sum(x), n)")
    assert found.finding is not None
    assert found.finding.kind == "values"


def test_a_numpy_scalar_is_cast_as_one_where_an_array_is_computed_otherwise() -> None:
    pytest.importorskip("torch")
    recorder = find_value_recorder("torch")
    with recorder.session():
        judge = Judge("torch", recorder)
        for text in ("float64[3]", "uint16[3]"):
            question = asked("pow", text, "np.int32(1)", form="operator")
            assert judge.judged(question).finding is None


def test_it_runs_in_a_process_of_its_own() -> None:
    here = replayed("numpy", ("neg",), sample=3)
    part = Part("numpy", "numpy", ops=("neg",), sample=3)
    found = replay(part, part.questions())
    assert found.replayed >= here.replayed > 0
    assert found.lost == ()


def test_the_report_names_classes_with_lines_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    casts = (None, Cast(FLOAT64, FLOAT32, ()))
    found = judged(monkeypatch, asked("maximum", "float64[3]", "float64[3]"), casts=casts)
    recorder = find_value_recorder("numpy")
    summed = replaying.summed(replaying.to_dialect("numpy"), recorder, 1, [found, found])
    speaker = replaying.speaker_of(Part("numpy", "numpy"))
    (each,) = summed.classes
    assert each.count == 2
    text = replay_text(summed, speaker)
    plain, by_hand = replay_json(summed, speaker)["classes"][0]["example"]["lines"]
    assert plain in text
    assert by_hand in text
    names: dict[str, Any] = {}
    exec("import numpy as np\nfrom math import inf, nan", names)
    with recorder.session():
        assert eval(plain, names) != eval(by_hand, names)


def test_a_listed_difference_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = replaying.listed_replays()
    assert all(each.reason and {*each.kind.split("|")} <= {*replaying.KINDS} for each in listed)
    found = judged(monkeypatch, asked("mul", "float32[3]", "float32[3]"), compute=FLOAT16)
    assert found.finding is not None
    assert replaying.listed_replay_at("numpy", found.finding) is None
    known = replaying.ListedReplay("numpy", "compute", "mul", ".*", "float32.*", "known")
    monkeypatch.setattr(replaying, "listed_replays", lambda: (known,))
    recorder = find_value_recorder("numpy")
    summed = replaying.summed(replaying.to_dialect("numpy"), recorder, 1, [found])
    assert summed.agrees
    assert [each.reason for each in summed.listed] == ["known"]


# The values, and the arithmetic.


def test_every_case_holds_equally_many_values() -> None:
    recorder: ValueRecorder = find_value_recorder("numpy")
    ops = ("pow", "where", "clamp", "stack", "ldexp", "cross", "matmul", "floor_divide")
    every = replayed_questions(recorder.scope, recorder.dtypes, ops)
    for question in sampled(every, 5):
        for case in cases_of(question).cases:
            assert all(len(given.held.values) for given in case), question


def test_the_same_seed_gives_the_same_cases() -> None:
    question = asked("mul", "float16[3]", "float32[]")
    assert cases_of(question, 1) == cases_of(question, 1)
    assert cases_of(question, 1) != cases_of(question, 2)


@pytest.mark.parametrize("name", ["int8", "uint16", "float16", "bfloat16", "float32", "complex64"])
def test_a_dtype_holds_its_values(name: str) -> None:
    assert all(converted(value, name) == value for value in telling(name))


def test_sums_tell_accumulators_apart() -> None:
    for name, wider in (("float16", "float32"), ("bfloat16", "float32"), ("float32", "float64")):
        arrays = accumulated(name, "sum")
        narrow = [set(map(repr, totals("sum", name, values))) for values in arrays]
        wide = [set(map(repr, totals("sum", wider, values))) for values in arrays]
        assert any(a != b for a, b in zip(narrow, wide, strict=True))


def test_arithmetic_is_that_of_ieee() -> None:
    np = pytest.importorskip("numpy")
    for name in ("float16", "float32"):
        values = telling(name)
        with np.errstate(all="ignore"):
            for op in ("add", "sub", "mul"):
                ufunc = getattr(np, {"sub": "subtract", "mul": "multiply"}.get(op, op))
                for a in values:
                    b = values[(values.index(a) * 3 + 1) % len(values)]
                    told = computed(op, name, (a, b))
                    found = float(ufunc(np.array(a, name), np.array(b, name)))
                    assert told == found or (told != told and found != found), (op, a, b)


def test_rounding_goes_to_the_nearest_number() -> None:
    np = pytest.importorskip("numpy")
    with np.errstate(all="ignore"):
        for value in (1e-8, 6e-8, 65519.0, 65520.0, 2049.0, 2051.0, 0.1, -1 / 3, 5.9e-8):
            assert rounded(value, "float16") == float(np.float64(value).astype("float16"))


def test_the_sign_of_zero_counts() -> None:
    zero, minus, both = (Held("float32", (), (v,)) for v in (0.0, -0.0, float("nan")))
    assert not same_bits(zero, minus)
    assert same_bits(both, both)
