"""`castwise verify --programs`: random programs in a framework and as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from castwise.catalog import dialect_named
from castwise.comparing.programs import (
    Budget,
    ProgramDifference,
    TensorSpeaker,
    check_programs,
    difference_of,
    run,
    shrunk,
    speaker_for,
)
from castwise.comparing.verify import FoundDifference, listed_at, listed_differences
from castwise.conformance.programs import ALIAS, ASSIGN, Program, Step, made
from castwise.conformance.recorders import find_speaker
from castwise.conformance.recorders.numpy import NumpySpeaker
from castwise.conformance.values import Held
from castwise.errors import UsageError
from castwise.report.verify import checked_json, checked_text

NUMPY = dialect_named("numpy")


class Wrong(NumpySpeaker):
    """A NumPy that adds one too much, and whose positive is a view."""

    def called(self, step: Step, operands: Sequence[str]) -> str:
        text = super().called(step, operands)
        if step.op == "positive":
            return f"{operands[0]}[...]"
        return f"({text} + 1)" if step.op == "add" else text

    def bound(self, result: Any) -> Any:
        return self._np.asarray(result)


def found_by(program: Program, speaker: NumpySpeaker | None = None) -> ProgramDifference | None:
    framework = speaker or NumpySpeaker()
    castwise = TensorSpeaker("numpy", "numpy", framework)
    with framework.session():
        return difference_of(program, framework, castwise)


def int8(*values: int) -> Held:
    return Held("int8", (len(values),), values)


A, B = made("a", int8(1, 2, 3)), made("b", int8(4, 5, 6))
SUM = Step("c", "add", operands=("a", "b"), instead=int8(0, 0, 0))


def test_what_agrees_is_no_difference() -> None:
    assert found_by((A, B, SUM)) is None


def test_other_values_are_found() -> None:
    found = found_by((A, B, SUM), Wrong())
    assert found is not None
    assert (found.what, str(found.expected), str(found.computed)) == (
        "values", "int8=6,8,10[3]", "int8=5,7,9[3]"
    )  # fmt: skip


def test_both_go_on_from_the_frameworks_value() -> None:
    again = Step("d", "mul", operands=("c", "c"), instead=int8(0))
    framework = Wrong()
    with framework.session():
        judged = list(
            run((A, B, SUM, again), framework, TensorSpeaker("numpy", "numpy", framework))
        )
    assert [one.difference is not None for one in judged] == [False, False, True, False]


class Flushing(NumpySpeaker):
    """A NumPy that makes a zero of each nine."""

    def array(self, held: Held) -> str:
        return super().array(held._replace(values=tuple(0 if v == 9 else v for v in held.values)))


def test_both_go_on_from_what_the_framework_made() -> None:
    steps = (made("a", int8(9, 1)), Step("b", ALIAS, operands=("a",), instead=int8(9, 1)))
    framework = Flushing()
    with framework.session():
        judged = list(run(steps, framework, TensorSpeaker("numpy", "numpy", framework)))
    assert [one.difference is not None for one in judged] == [True, False]


def test_a_refusal_on_both_sides_agrees() -> None:
    bools = made("a", Held("bool", (1,), (True,)))
    assert found_by((bools, Step("b", "sub", operands=("a", "a"), instead=int8(1)))) is None


def test_a_view_is_found_by_what_is_written_into_it() -> None:
    view = Step("b", "positive", operands=("a",), instead=int8(7))
    write = Step("b", ASSIGN, "assigned", ("b", Held(None, (), (9,))), key=(...,))
    assert found_by((A, view, write)) is None
    found = found_by((A, view, write), Wrong())
    assert found is not None
    assert (found.what, found.seen_in, str(found.expected)) == ("aliasing", "a", "int8=9,9,9[3]")


def test_two_names_of_one_array_agree() -> None:
    alias = Step("b", ALIAS, operands=("a",), instead=int8(7))
    write = Step("b", "add", "augmented", ("b", Held(None, (), (9,))))
    assert found_by((A, alias, write)) is None


def test_a_difference_is_shrunk() -> None:
    found = found_by((A, B, SUM), Wrong())
    assert found is not None
    small = shrunk(found, lambda program: found_by(program, Wrong()))
    assert small.program == (SUM._replace(operands=(int8(1), int8(1))),)


def test_causes_are_counted_and_can_be_pasted() -> None:
    checked = check_programs(NUMPY, Wrong(), ["numpy"], Budget(programs=200), seed=1)
    added = [g for g in checked.unlisted if (g.cause.op, g.cause.what) == ("add", "values")]
    assert added
    assert added[0].count > 1
    text = checked_text(checked)
    assert f"{checked.steps['numpy']:,} steps compared" in text
    assert "Before pasting: import numpy as np; " in text
    names: dict[str, Any] = {}
    exec(checked.preludes["numpy"], names)
    eval(added[0].example.framework, names)
    eval(added[0].example.castwise, names)
    made = checked_json(checked)
    assert made["backends"]["numpy"]["differing"] == checked.differing("numpy")
    assert made["causes"][0]["count"] == checked.by_count()[0].count


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("dialect", ["numpy", "torch"])
def test_next_to_no_step_differs(dialect: str, backend: str) -> None:
    pytest.importorskip(dialect)
    pytest.importorskip(backend)
    checked = check_programs(
        dialect_named(dialect), find_speaker(dialect), [backend], Budget(programs=60), seed=2
    )
    assert checked.steps[backend] > 500
    assert checked.differing(backend) < 0.01 * checked.steps[backend], checked_text(checked)


def test_every_listed_difference_has_a_reason() -> None:
    assert all(listed.reason for listed in listed_differences())


def test_a_listed_difference_is_told_by_what_was_raised() -> None:
    found = FoundDifference(
        "torch", "numpy", "add", "inplace", "the framework raises", "int8[2];int8[]",
        "unsupported operation: they refer to a single memory location",
    )  # fmt: skip
    listed = listed_at(found)
    assert listed is not None
    assert "same memory" in listed.reason
    assert listed_at(found._replace(error="value cannot be converted")) is None


def test_a_framework_without_programs_says_what_to_use() -> None:
    pytest.importorskip("array_api_strict")
    with pytest.raises(UsageError, match="castwise verify array-api asks it op by op"):
        speaker_for(dialect_named("array-api"))
