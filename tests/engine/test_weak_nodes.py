"""Weakly typed operands as nodes of a dialect's order, and dtypes that are truncated."""

from __future__ import annotations

from dataclasses import replace

import pytest

import castwise as cw
from castwise.engine.ask import answer, question_in
from castwise.rules.dialect import Becomes, Dialect, Evidence, Joining
from castwise.rules.rule import Arrays, NumPyOperands, Rule, Weakness, Writes

LATTICE = Dialect(
    framework="lattice",
    about="A small lattice with a weak node a kind.",
    evidence=Evidence("made up"),
    order="bool int* int8 int32 int64 float* float16 float32 float64",
    reaches="bool -> int*; int* -> int8; int8 -> int32; int32 -> int64; int64 -> float*;"
    "float* -> float16; float16 -> float32; float32 -> float64",
    joining=Joining(weak_arrays="keep their width"),
    python={"bool": "bool", "int": "int64", "float": "float64", "complex": "float64"},
    becomes=Becomes(lifts="int -> default_float"),
    casts="any",
    ops={
        "*": Rule(scalars="as nodes", writes=Writes(into="any")),
        "sum": Rule(weakness=Weakness(makes_strong=True)),
        "mul": Rule(arrays=Arrays(is_truncated=False)),
    },
)
BY_WIDTH = LATTICE.vary(
    order="bool int32* int8 int32 float32* float16 float32",
    reaches="bool int32* -> int8; int8 -> int32; int32 -> float32*; float32* -> float16;"
    "float16 -> float32",
    python={"bool": "bool", "int": "int32", "float": "float32", "complex": "float32"},
)
NARROW = LATTICE.vary(
    becomes=replace(LATTICE.becomes, truncates="int64 -> int32; float64 -> float32"),
    python={"bool": "bool", "int": "int32", "float": "float32", "complex": "float32"},
)


@pytest.mark.parametrize(
    ("expression", "result", "is_weak"),
    [
        ("int8[3] + 1", "int8", False),
        ("bool[3] + 1", "int64", True),
        ("int8[3] + 1.5", "float64", True),
        ("float16[3] + 1.5", "float16", False),
        ("int32*[3] + int8[3]", "int8", False),
        ("int32*[3] + int32*[3]", "int32", True),
        ("int32*[3] + 1", "int64", True),
        ("float32*[] + float16[3]", "float16", False),
        ("int32*[3] < 1", "bool", False),
        ("int32*[3] / int32*[3]", "float64", True),
        ("sum(int32*[3])", "int32", False),
        ("bool[3] + True", "bool", False),
    ],
)
def test_weak_operands_stand_on_nodes(expression: str, result: str, is_weak: bool) -> None:
    decision = answer(question_in(expression, LATTICE))
    assert (decision.result.name, decision.is_weak) == (result, is_weak)


def test_a_node_may_have_a_width() -> None:
    decision = cw.resolve("add", "int8[3]", 1.5, dialect=BY_WIDTH)
    assert (decision.result.name, decision.is_weak) == ("float32", True)
    assert cw.resolve("add", "int32*[3]", "float16[3]", dialect=BY_WIDTH).result.name == "float16"


def test_weak_nodes_are_no_dtypes_of_the_dialect() -> None:
    assert [d.name for d in LATTICE.dtypes if d.is_weak] == []
    assert [d.name for d in LATTICE.nodes if d.is_weak] == ["int*", "float*"]
    with pytest.raises(cw.UsageError, match="'int' has several readings"):
        cw.resolve("add", "int*[3]", 1, dialect=LATTICE)


def test_a_dtype_may_be_a_request_that_is_truncated() -> None:
    decision = cw.resolve("add", "int64[3]", "int8[3]", dialect=NARROW)
    assert decision.result.name == "int32"
    assert [str(cast) for cast in decision.casts] == ["int64 -> int32", "int8 -> int32"]
    assert cw.resolve("mul", "int64[3]", "int8[3]", dialect=NARROW).result.name == "int64"
    inplace = cw.resolve("add", "int64[3]", "int8[3]", dialect=NARROW, inplace=True)
    assert inplace.result.name == "int32"


def test_in_place_may_rebind() -> None:
    rebinding = LATTICE.vary(ops={"*": Rule(scalars="as nodes", writes=Writes(into="rebinds"))})
    decision = cw.resolve("add", "int8[3]", "float16[3]", dialect=rebinding, inplace=True)
    assert decision.result.name == "float16"


def test_rebinding_may_still_be_refused() -> None:
    rules = {"*": Rule(scalars="as nodes", writes=Writes(into="rebinds", never="float -> int"))}
    rebinding = LATTICE.vary(ops=rules)
    with pytest.raises(cw.PromotionError, match="cannot be written into int8"):
        cw.resolve("add", "int8[3]", "float16[3]", dialect=rebinding, inplace=True)


def test_what_is_converted_may_be_strong() -> None:
    rules = {**LATTICE.ops, "div": Rule(weakness=Weakness(converted_is_strong=True))}
    lifting = LATTICE.vary(ops=rules)
    assert not cw.resolve("div", "int32*[3]", 1, dialect=lifting).is_weak
    assert cw.resolve("div", "int8[3]", 1.5, dialect=lifting).is_weak
    assert cw.resolve("exp", "int32*[3]", dialect=lifting).is_weak


def test_without_weak_arrays_no_result_is_weak() -> None:
    strong = LATTICE.vary(joining=Joining(weak_arrays="none"))
    decision = cw.resolve("add", "int8[3]", 1.5, dialect=strong)
    assert (decision.result.name, decision.is_weak) == ("float64", False)
    assert decision.steps[-1] == "The result is float64."


def test_pair_by_pair_a_weak_node_is_left_for_its_dtype() -> None:
    fork = LATTICE.vary(
        order="bool int* int8 uint64 float* float16 float32",
        reaches="bool -> int*; int* -> int8 uint64; int8 uint64 -> float*; float* -> float16;"
        "float16 -> float32",
        python={"bool": "bool", "int": "int8", "float": "float32"},
    )
    operands = ("uint64[3]", "int8[3]", "float16[3]")
    strong = fork.vary(joining=Joining(folds=True, weak_arrays="none"))
    assert cw.result_type(*operands, dialect=fork).name == "float16"
    assert cw.result_type(*operands, dialect=strong).name == "float32"
    assert cw.result_type(1, 1.5, "float16[3]", dialect=strong).name == "float16"
    # With weak arrays, a result on a weak node stays weak for the next pair.
    assert (
        cw.result_type(*operands, dialect=fork.vary(joining=replace(fork.joining, folds=True))).name
        == "float16"
    )


def test_numpy_arrays_may_adapt() -> None:
    adapting = LATTICE.vary(
        ops={"*": Rule(scalars="as nodes", numpy=NumPyOperands(arrays="adapts"))}
    )
    for operands in (("int8[3]", "np.float32[3]"), ("np.float32(1.5)", "int8[3]")):
        decision = cw.resolve("add", *operands, dialect=adapting)
        assert decision.result.name == "int8"
        assert any(step.endswith("counts as int8 here.") for step in decision.steps)


def test_numpy_may_decide_where_it_stands_left() -> None:
    asking = LATTICE.vary(
        ops={
            "*": Rule(
                scalars="as nodes",
                numpy=NumPyOperands(arrays="adapts", left_decider="numpy"),
            )
        }
    )
    left = cw.resolve("add", "np.complex128[3]", "int8[3]", dialect=asking)
    assert (left.result.name, left.notes) == ("complex128", ())
    assert cw.resolve("add", "int8[3]", "np.complex128[3]", dialect=asking).result.name == "int8"


def test_the_steps_speak_of_weakness() -> None:
    steps = cw.resolve("add", "int8[3]", 1.5, dialect=LATTICE).steps
    assert "1.5 is weak: it counts as float*, below the float dtypes." in steps
    assert steps[-1] == "The result is a weak float64."


@pytest.mark.parametrize("expression", ["bool*[3] + int8[3]", "int8[3] + bool*[3]", "abs(bool*[])"])
@pytest.mark.parametrize("dialect", [LATTICE, BY_WIDTH], ids=["lattice", "by width"])
def test_no_weak_array_stands_where_there_is_no_node(dialect: Dialect, expression: str) -> None:
    with pytest.raises(cw.UsageError, match="has no weakly typed bool arrays"):
        answer(question_in(expression, dialect))


@pytest.mark.parametrize("expression", ["int8*[3] + int8[3]", "int8*[3] += int8[3]"])
def test_a_node_with_a_width_is_for_that_dtype_alone(expression: str) -> None:
    with pytest.raises(cw.UsageError, match=r"int8\*\[3\]: .* has no weakly typed int8 arrays"):
        answer(question_in(expression, BY_WIDTH))
