"""Steps as Python source, in each framework's words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from castwise.conformance.programs import ASSIGN, CAST, INDEX, Step, made, numbers_text, statement
from castwise.conformance.values import Held


class Plain:
    """A framework with the shortest words."""

    def array(self, held: Held) -> str:
        return f"array({numbers_text(held)})"

    def cast(self, array: str, dtype: str) -> str:
        return f"cast({array}, {dtype})"

    def called(self, step: Step, operands: Sequence[str]) -> str:
        return f"{step.op}({', '.join(operands)})"


PAIR = Held("int8", (2,), (1, -2))
MINUS = Held(None, (), (-1,))


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (made("a", PAIR), "a = array([1, -2])"),
        (Step("b", "alias", operands=("a",)), "b = a"),
        (Step("b", "exp", operands=("a",)), "b = exp(a)"),
        (Step("b", "neg", "operator", ("a",)), "b = -a"),
        (Step("b", "pow", "operator", (MINUS, "a")), "b = (-1) ** a"),
        (Step("a", "add", "augmented", ("a", MINUS)), "a += (-1)"),
        (Step("a", "add", "inplace", ("a", "b")), "add(a, b)"),
        (Step("b", CAST, operands=("a",), dtype="int8"), "b = cast(a, int8)"),
        (Step("b", INDEX, operands=("a",), key=(slice(1, None),)), "b = a[1:]"),
        (Step("b", INDEX, operands=("a",), key=(..., slice(None, 2))), "b = a[..., :2]"),
        (Step("b", INDEX, operands=("a",), key=(slice(None, None, 2),)), "b = a[::2]"),
        (Step("b", INDEX, operands=("a",)), "b = a[()]"),
        (Step("a", ASSIGN, "assigned", ("a", "b"), key=(PAIR,)), "a[array([1, -2])] = b"),
        (Step("a", ASSIGN, "assigned", ("a", MINUS), key=(None,)), "a[None] = (-1)"),
    ],
)
def test_a_step_is_a_line_of_python(step: Step, text: str) -> None:
    assert statement(Plain(), step) == text


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((), "5"),
        ((1,), "[5]"),
        ((1, 1), "[[5]]"),
        ((0,), "[]"),
        ((2, 0), "[[], []]"),
        ((0, 2), None),
    ],
)
def test_values_are_nested_lists(shape: tuple[int, ...], text: str | None) -> None:
    count = 0 if 0 in shape else 1
    assert numbers_text(Held("int8", shape, (5,) * count)) == text
