"""Random programs: one seed, one program, on any machine."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

import castwise as cw
from castwise.conformance.programs import (
    MAKE,
    Menu,
    Program,
    Raised,
    Side,
    Step,
    made,
    program,
    signature,
)
from castwise.conformance.questions import LITERALS, OPS
from castwise.conformance.recorders import find_speaker
from castwise.conformance.values import DTYPES, Held

FORMS = ("function", "operator", "inplace", "augmented")
MENU = Menu(
    dtypes=DTYPES,
    forms={
        "add": FORMS,
        "mul": FORMS,
        "exp": ("function", "inplace"),
        "sum": ("function",),
        "matmul": ("function",),
        "where": ("function",),
        "clamp": ("function",),
        "concat": ("function",),
        "mse_loss": ("function",),
    },
    literals=LITERALS,
    along_axes=("sum",),
    need_axes=(),
)


def programs(count: int) -> list[Program]:
    return [program(MENU, 7, place) for place in range(count)]


def test_a_seed_gives_the_same_programs_on_every_machine() -> None:
    text = "\n".join(map(repr, programs(20)))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "045e3d46c2a3d2af"


def test_seeds_and_places_give_different_programs() -> None:
    texts = {repr(program(MENU, seed, place)) for seed in range(3) for place in range(3)}
    assert len(texts) == 9


def test_a_name_stands_before_it_is_used() -> None:
    for steps in programs(200):
        known: set[str] = set()
        for step in steps:
            assert set(step.names) <= known
            assert step.name in known or step.instead is not None
            known.add(step.name)


def test_every_kind_of_step_is_met() -> None:
    met = Counter(step.op for steps in programs(300) for step in steps)
    assert set(met) == {*MENU.forms, MAKE, "alias", "index", "assign", "cast"}
    forms = {step.form for steps in programs(300) for step in steps}
    assert forms == {*FORMS, "assigned"}


def test_arrays_are_empty_and_0_d_at_times() -> None:
    shapes = {step.instead.shape for steps in programs(300) for step in steps if step.instead}
    assert () in shapes
    assert any(0 in shape for shape in shapes)


def test_a_signature_leaves_out_what_arrays_hold() -> None:
    held, two = Held("float32", (1, 2), (0.5, 1.5)), Held(None, (), (2,))
    assert signature(Step("b", "mul", operands=(held, two))) == "float32[1,2];2"


def test_a_framework_without_programs_is_refused() -> None:
    with pytest.raises(ValueError, match="no programs run in 'oneflow', only in "):
        find_speaker("oneflow")


@pytest.mark.parametrize(
    "framework", ["keras", "mlx", "paddle", "tensorflow", "tinygrad", "torch", "jax"]
)
def test_a_speaker_makes_reads_and_computes(framework: str) -> None:
    pytest.importorskip(framework)
    speaker = find_speaker(framework)
    with speaker.session():
        side = Side(speaker)
        held = Held("float32", (2,), (1.5, -0.0))
        assert side.run(made("a", held)) == held
        assert side.run(Step("b", "add", operands=("a", "a"))) == held._replace(values=(3.0, -0.0))
        joined = side.run(Step("c", "concat", operands=("a", "b")))
        assert isinstance(joined, Held)
        assert joined.shape == (4,)


def test_tinygrad_writes_numbers_in_front_and_weak_arrays() -> None:
    pytest.importorskip("tinygrad")
    speaker = find_speaker("tinygrad")
    one, weak = Held(None, (), (1,)), Held("int32*", (2,), (1, 2))
    with speaker.session():
        side = Side(speaker)
        side.run(made("a", Held("int32", (), (3,))))
        assert side.run(Step("b", "sub", operands=(one, "a"))) == Held("int32", (), (-2,))
        assert side.run(Step("c", "maximum", operands=(one, "a"))) == Held("int32", (), (3,))
        assert side.run(made("d", weak)) == weak
        written = side.run(Step("d", "assign", "assigned", ("d", one), key=(0,)))
        assert isinstance(written, Raised)  # it has no memory
    read: dict[str, object] = {}
    exec(f"{speaker.prelude}\nfound = {speaker.handed(weak)}", read)
    array = cw.asarray(read["found"], dialect="tinygrad")
    assert (array.weak_type, array.dtype.name, array.tolist()) == (True, "int32", [1, 2])


@pytest.mark.parametrize("op", sorted({*OPS} - {"result_type", "promote_types", "can_cast"}))
def test_numpy_can_write_every_op_it_is_asked(op: str) -> None:
    pytest.importorskip("numpy")
    speaker = find_speaker("numpy")
    if op in speaker.menu.forms:
        text = speaker.called(Step("b", op, operands=("a",)), ["a"])
        names = text.partition("(")[0].removeprefix("np.").split(".")
        import numpy as np

        found = np
        for name in names:
            found = getattr(found, name)
        assert callable(found)
