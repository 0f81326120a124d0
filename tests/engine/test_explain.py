"""explain: a decision in steps, down to the dtype that was decided."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

import castwise as cw
import cells
from castwise.engine.ask import question_about
from castwise.engine.decide import decision_steps
from castwise.vocab.ops import OPS

DIALECTS = cw.dialects()
SAMPLE: list[Any] = [
    "bool[3]", "int8[3]", "int64[]", "uint16[3]", "float16[3]", "float64[]", "bfloat16[3]",
    "complex64[3]", True, 5, 300, 1.5, 2j, "np.float32(1.5)", "np.int64[3]", "int64=300[]",
]  # fmt: skip


SHARE = 11  # one question in so many is asked, without --all-cells


def questions() -> Iterator[tuple[Any, ...]]:
    """Every op with a sample of operands."""
    for op, row in OPS.items():
        count = min(max(row.arity[0], 2), row.arity[1])
        if count == 3:
            asked = itertools.product(["bool[3]"], SAMPLE[::3], SAMPLE[::2])
        else:
            asked = itertools.product(*[SAMPLE[::2], SAMPLE][-count:])
        yield from ((op, *operands) for operands in asked)


Told = list[tuple[tuple[Any, ...], cw.Decision | None, list[str]]]


# With a module's scope pytest runs the tests of one dialect together.
@pytest.fixture(scope="module", params=DIALECTS)
def told(request: pytest.FixtureRequest) -> Told:
    """The questions, their decisions (None for a refusal) and how a dialect explains them.

    Questions on which the engine itself fails are left out: test_resolve.py has them.
    """
    found = []
    for asked in itertools.islice(questions(), 0, None, 1 if cells.takes_all else SHARE):
        try:
            decision = cw.resolve(*asked, dialect=request.param)
        except cw.PromotionError:
            decision = None
        except Exception:
            continue
        found.append(
            (asked, decision, decision_steps(question_about(*asked, dialect=request.param)))
        )
    return found


def test_the_last_step_names_the_decided_dtype_for_every_op(told: Told) -> None:
    wrong = []
    for asked, decision, steps in told:
        if decision is None:
            is_told = any(step.startswith("Refused: ") for step in steps[-2:])
        else:
            weak = "a weak " if decision.is_weak else ""
            verb = "is" if decision.has_kernel else "would be"
            is_told = steps[-1] == f"The result {verb} {weak}{decision.result}."
        if not is_told:
            wrong.append((asked, steps))
    assert wrong == []


def test_the_notes_are_told_before_the_result(told: Told) -> None:
    for _, decision, steps in told:
        if decision:
            assert set(decision.notes) <= set(steps[:-1])


def test_every_op_is_explained_for_some_operands(told: Told) -> None:
    assert {asked[0] for asked, _, _ in told} == set(OPS)
    assert any(decision for _, decision, _ in told)


def test_a_step_tells_where_the_compute_dtype_comes_from(told: Told) -> None:
    """If no operand has the dtype, something other than the casts and the result names it."""
    silent = {}
    for asked, decision, steps in told:
        if decision is None:
            continue
        own = {operand.dtype for operand in decision.question.operands}
        reasons = [step for step in steps[:-1] if not step.startswith("Cast: ")]
        if decision.compute not in own and not any(decision.compute.name in r for r in reasons):
            silent[asked[0]] = asked
    assert silent == {}


@pytest.mark.parametrize(
    ("operand", "role"),
    [
        ("int32[3]", "int32[3] is an array of int32."),
        ("int32[]", "int32[] is a 0-d array of int32."),
        ("int8", "int8 is an array of int8."),
        ("5", "5 is a Python int."),
        ("True", "True is a Python bool."),
        ("1.5", "1.5 is a Python float."),
        ("2j", "2j is a Python complex."),
        ("np.int8[3]", "np.int8[3] is a NumPy array of int8."),
        ("np.int8[]", "np.int8[] is a NumPy 0-d array of int8."),
        ("np.int8(3)", "np.int8(3) is a NumPy scalar of int8."),
    ],
)
def test_every_operand_is_introduced_by_its_role(operand: str, role: str) -> None:
    assert role in cw.explain("add", "float32[3]", operand, dialect="numpy").split("\n  ")


TOLD = [
    # dialect, expression, words in the explanation
    ("torch", "int32[3] + 5.5", ["float is higher than", "float32", "exact up to 2**24"]),
    ("torch", "int8[3] + int64[]", ["the arrays decide", "int8"]),
    ("torch", "int8[3] + 5", ["the arrays decide", "The result is int8."]),
    ("torch", "int32[3] / int32[3]", ["div does not compute in int32", "float32"]),
    ("torch", "uint8[3] + 300", ["wraps around"]),
    ("torch", "uint16[3] + uint16[3]", ["no CPU kernel for uint16"]),
    ("torch", "5.5 / int8[3]", ["reciprocal", "float32 * 5.5"]),
    ("torch", "int8[3] < float16[3]", ["lt computes in float16 and returns bool"]),
    ("torch", "float32[3] + np.float64[3]", ["numpy decides", "float64"]),
    ("torch", "float_power(int8[3], 2)", ["float_power", "float64"]),
    ("numpy", "int32[3] + 5", ["5 is weak", "int32"]),
    ("numpy", "int32[3] + 5.5", ["higher kind", "float64"]),
    ("numpy", "exp(int8[3])", ["the first dtype exp computes in", "float16"]),
    ("numpy", "int64[3] + float32[3]", ["promote to float64", "exact up to 2**53"]),
    ("numpy@1", "uint8[3] + 300", ["counts by value", "uint16"]),
    ("numpy@1", "int8[3] + 1.5", ["Values are ignored", "higher kind"]),
    ("array-api", "int8[3] + uint8[3]", ["promote to int16"]),
    ("numpy", "int8[3] += int16[3]", ["written into int8", "The result is int8."]),
]


@pytest.mark.parametrize(("dialect", "expression", "words"), TOLD)
def test_the_explanation_tells_the_rule_that_applied(
    dialect: str, expression: str, words: list[str]
) -> None:
    text = cw.explain(expression, dialect=dialect)
    assert [word for word in words if word not in text] == [], text


REFUSED = [
    ("array-api", "int32[3] + 5.5", "Refused: a Python float cannot be mixed with int32."),
    ("numpy", "uint8[3] + 300", "Refused: 300 is out of range for uint8."),
    ("torch", "bool[3] - bool[3]", "Refused: "),
    ("torch", "int32[3] ** -1", "Refused: an integer to a negative integer power"),
    ("torch", "int32[3] += 1.5", "float32 result cannot be written into int32"),
]


@pytest.mark.parametrize(("dialect", "expression", "words"), REFUSED)
def test_a_refusal_is_told_and_not_raised(dialect: str, expression: str, words: str) -> None:
    text = cw.explain(expression, dialect=dialect)
    assert words in text
    assert "The result is" not in text


@pytest.mark.parametrize(("dialect", "expression", "words"), REFUSED)
def test_the_error_and_the_explanation_give_the_same_reason(
    dialect: str, expression: str, words: str
) -> None:
    text = cw.explain(expression, dialect=dialect)
    reason = text.partition("Refused: ")[2].splitlines()[0]
    left, symbol, right = expression.split()
    name = {"+": "add", "-": "sub", "**": "pow", "+=": "add"}[symbol]
    form = "augmented" if symbol == "+=" else "operator"
    with pytest.raises(cw.PromotionError) as refused:
        cw.resolve(name, left, right, dialect=dialect, form=form)
    assert reason in str(refused.value)


def test_the_first_line_is_the_question_and_the_dialect() -> None:
    assert cw.explain("int32[3] + 5", dialect="torch").startswith("int32[3] + 5 in torch\n  ")
    assert cw.explain("add(int32[3], 5)", dialect="numpy").startswith("add(int32[3], 5) in numpy")
    assert cw.explain("exp", "int8[3]", dialect="torch@2.1").startswith("exp(int8[3]) in torch@2.1")


def test_an_expression_and_its_parts_are_explained_alike() -> None:
    torch = pytest.importorskip("torch")
    whole = cw.explain("int32[3] + 5.5", dialect="torch")
    assert cw.explain("add", "int32[3]", 5.5, dialect="torch") == whole
    assert cw.explain("add", torch.zeros(3, dtype=torch.int32), 5.5, dialect="torch") == whole


def test_explain_takes_what_resolve_takes() -> None:
    text = cw.explain("add", "int8[3]", "int64[3]", dialect="torch", inplace=True)
    assert text.splitlines()[-1].strip() == "The result is int8."
    text = cw.explain("add", "int8[3]", "int8[3]", dialect="torch", out="float64")
    assert "written into float64" in text


def test_the_condition_of_where_is_not_told_to_take_part() -> None:
    text = cw.explain("where(bool[3], int8[3], float32[3])", dialect="torch")
    assert "bool[3] is an array" not in text
    assert "int8[3] is an array of int8." in text


def test_explaining_leaves_the_answer_alone() -> None:
    before = cw.resolve("add", "int8[3]", 5.5, dialect="torch")
    cw.explain("add", "int8[3]", 5.5, dialect="torch")
    assert cw.resolve("add", "int8[3]", 5.5, dialect="torch") == before


@pytest.mark.parametrize("text", ["nonsense", "int8[3] +", "nope(int8)", "add(int8)"])
def test_a_question_that_makes_no_sense_is_a_usage_error(text: str) -> None:
    with pytest.raises(cw.UsageError):
        cw.explain(text, dialect="torch")


@pytest.mark.parametrize("dialect", ["torch", "torch@2.1"])
def test_a_loss_of_complex_numbers_does_not_drop_the_imaginary_part(dialect: str) -> None:
    """l1_loss is mean(abs(a - b)): the operands are not cast, abs makes them real."""
    decision = cw.resolve("l1_loss", "complex64[3]", "complex64[3]", dialect=dialect)
    assert decision.result.name == "float32"
    assert "drops-imaginary" not in decision.hazards
