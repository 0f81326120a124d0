"""Expressions of several ops: Python's precedence, inner results, and what is told."""

from __future__ import annotations

import ast
import contextlib
import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import castwise as cw
from castwise.engine.ask import question_in
from castwise.engine.explain import broadcast, computed, taken_apart
from castwise.vocab.notation import MOST_OPS, Expression, parse_expression
from castwise.vocab.operands import Operand


def asked(text: str, dialect: str = "torch") -> list[str]:
    """Each op as it is asked about, and the last one's result."""
    taken = taken_apart(text, dialect)
    return [part.text for part in taken.parts]


def result(text: str, dialect: str) -> str:
    return cw.explain(text, dialect=dialect).splitlines()[-1].strip()


@pytest.mark.parametrize(
    ("text", "ops"),
    [
        ("(int8[3] + int16[3]) * 1.5", ["int8[3] + int16[3]", "int16[3] * 1.5"]),
        ("float32[3].mean()", ["mean(float32[3])"]),
        ("sum(int8[3] * 2) / 3", ["int8[3] * 2", "sum(int8[3])", "int64[] / 3"]),
        ("-(uint8[3]) ** 2", ["uint8[3] ** 2", "-uint8[3]"]),
        ("float32[3].add_(1)", ["add_(float32[3], 1)"]),
        ("float32[3].add_(1).exp()", ["add_(float32[3], 1)", "exp(float32[3])"]),
        ("(1 + 2) * int8[3]", ["1 + 2", "3 * int8[3]"]),
        ("int8[3] + 2 ** 3 ** 0", ["3 ** 0", "2 ** 1", "int8[3] + 2"]),
        ("-1 ** int8[3]", ["1 ** int8[3]", "-int8[3]"]),
        ("(-1) ** int8[3]", ["(-1) ** int8[3]"]),
        ("int8[3] ** -1.5", ["int8[3] ** -1.5"]),
        ("~~int8[3]", ["~int8[3]", "~int8[3]"]),
        ("int8[3] - 1 - 2", ["int8[3] - 1", "int8[3] - 2"]),
        ("int8[3] * 1+2j", ["int8[3] * (1+2j)"]),  # 1+2j is one number of the notation
        ("int32[3] += 5 * 2", ["5 * 2", "int32[3] += 10"]),
        ("int8.sum() + 1", ["sum(int8)", "int64[] + 1"]),
        ("torch.add(int8[3], np.int8(3)).abs()", ["add(int8[3], np.int8(3))", "abs(int8[3])"]),
        ("sum(int8[3], dtype=int8)", ["sum(int8[3], dtype=int8)"]),
        ("div(int8[3], 2, rounding_mode='trunc')", ["div(int8[3], 2, rounding_mode=trunc)"]),
        ("clamp(int8[3], max=1 + 1)", ["1 + 1", "clamp(int8[3], None, 2)"]),
        ("add(int64=300[], 1) + int8*[3]", ["add(int64=300[], 1)", "int32[] + int8*[3]"]),
    ],
)
def test_the_ops_in_the_order_in_which_they_run(text: str, ops: list[str]) -> None:
    assert asked(text, "jax" if "*[" in text else "torch") == ops


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("(int8[3] + int16[2,1]) * 1", "int16[2,3] * 1"),
        ("(int8[n] + int8[1]) * 1", "int8[n] * 1"),
        ("(int8 + int8[3]) * 1", "int8 * 1"),
        ("int8[2,3].sum(axis=0) + 1", "int64[3] + 1"),
        ("int8[2,3].sum(1, keepdim=True) + 1", "int64[2,1] + 1"),
        ("softmax(float32[2,3], -1) + 1", "float32[2,3] + 1"),
        ("(float32[3] @ float32[3]) + 1", "float32[] + 1"),
        ("(float32[2,3] @ float32[3]) + 1", "float32[2] + 1"),
        ("(float32[5,2,3] @ float32[3,4]) + 1", "float32[5,2,4] + 1"),
        ("outer(float32[2], float32[3]) + 1", "float32[2,3] + 1"),
        ("concat(float32[2], float32[3]) + 1", "float32[5] + 1"),
        ("stack(float32[3], float32[3]) + 1", "float32[2,3] + 1"),
        ("mse_loss(float32[3], float32[3]) + 1", "float32[] + 1"),
        ("where(bool[2,1], float32[3], 1) + 1", "float32[2,3] + 1"),
        ("argmax(float32[3]) + 1", "int64[] + 1"),
        ("cast(int8[3], float16) + 1", "float16[3] + 1"),
    ],
)
def test_the_shape_of_an_inner_result(text: str, operand: str) -> None:
    assert asked(text)[-1] == operand


def test_a_weak_result_stays_weak() -> None:
    assert asked("(int32*[3] + 1) * int8[3]", "jax")[-1] == "int32*[3] * int8[3]"
    assert result("(int32*[3] + 1) * int8[3]", "jax") == "The result is int8."


def test_numpy_computes_what_no_other_framework_sees() -> None:
    told = cw.explain("np.float32[3].mean() * float16[3]", dialect="torch")
    assert "Part 1: mean(np.float32[3]) in numpy is np.float32(1.0)" in told
    assert cw.explain("np.int8[3].sum()", dialect="torch").startswith("sum(np.int8[3]) in numpy\n")
    assert asked("(np.int8[3] + 300.5) * 1", "numpy")[-1] == "float64[3] * 1"
    assert asked("[1, 2] * int8[2] + 1", "numpy")[-1] == "int64[2] + 1"


def test_each_step_is_told_and_a_refusal_says_at_which() -> None:
    told = cw.explain("(int8[3] + 1).mean() * 2", dialect="numpy").splitlines()
    assert told[0] == "(int8[3] + 1).mean() * 2 in numpy"
    assert [line.strip() for line in told if "Part" in line] == [
        "Part 1: int8[3] + 1 is int8[3]",
        "Part 2: mean(int8[3]) is float64[]",
        "Part 3: float64[] * 2",
    ]
    refused = cw.explain("1 + (bool[3] - bool[3]) * 2", dialect="numpy")
    assert refused.startswith("1 + (bool[3] - bool[3]) * 2 in numpy is refused in part 1\n")
    assert "Refused: " in refused.splitlines()[-2]


def test_what_has_no_kernel_is_headed_by_that() -> None:
    assert cw.explain("softmax(int32[3])", dialect="torch").startswith(
        "softmax(int32[3]) in torch fails to run\n"
    )
    nested = cw.explain("softmax(int32[3]) + 1", dialect="torch")
    assert nested.startswith("softmax(int32[3]) + 1 in torch fails to run in part 1\n")
    assert "Part 2" not in nested


def test_explain_takes_the_dialect_before_or_after_an_expression() -> None:
    expected = cw.explain("int32[3] + 5.5", dialect="torch")
    assert cw.explain("torch", "int32[3] + 5.5") == expected
    assert cw.explain("int32[3] + 5.5", "torch") == expected
    assert cw.explain("int32[3] + 5.5", cw.dialect("torch")) == expected
    assert cw.explain("neg", "int8[3]").startswith("-int8[3] in numpy\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(int8[3] + int8[4]) * 2", r"shapes \[3\] and \[4\] do not broadcast"),
        ("1 < int8[3] < 2", "chain of comparisons"),
        ("9 ** 9 ** 9 * int8[3]", "too many digits"),
        ("(1 << 99999) * int8[3]", "too many digits"),
        ("(1 // 0) * int8[3]", "Python cannot compute 1 // 0"),
        ("(1.5 @ 2) * int8[3]", "Python cannot compute"),
        ("result_type(int8[3]) + 1", "gives a dtype"),
        ("(3).sum() + int8[3]", "3 is no array, and has no method sum"),
        ("int8[2,3].sum(2) * 2", "no axis 2"),
        ("int8[3].sum(axis=0.5) * 2", "whole number"),
        ("sum(int8[3], dtype=int8, dtype=int8)", "takes no dtype="),
        ("sum(int8[3], form=operator)", "takes no form="),
        ("sum(dtype=int8, int8[3])", "comes last"),
        ("add(int8[3], 1, color=2)", "takes no color="),
        ("(int8[3] + 1", "unclear|cannot read"),
        ("int8[3] + (", "cannot read"),
        ("int8[3] + 1)", r"It is unclear from '\)' on"),
        ("(int8[3] + 1) += 2", "cannot read"),
        ("(" * 100 + "int8[3] + 1" + ")" * 100, "nested no deeper"),
        ("-" * 100 + "int8[3]", "nested no deeper"),
        ("int8[3]" + " ** int8[3]" * 100, "nested no deeper"),
        ("int8[3]" + " + int8[3]" * 100, f"at most {MOST_OPS} ops"),
        ("int8[3]" + ".abs()" * 100, f"at most {MOST_OPS} ops"),
    ],
)
def test_what_makes_no_sense_says_why(text: str, why: str) -> None:
    with pytest.raises(cw.UsageError, match=why) as refused:
        cw.explain(text, dialect="torch")
    assert len(str(refused.value)) < 400


def test_one_question_is_of_one_op() -> None:
    with pytest.raises(cw.UsageError, match=r"cannot read .* as one op"):
        question_in("int8[3] + 1 + 2", "torch")


SYMBOLS = ["+", "-", "*", "/", "//", "%", "@", "&", "|", "^", "<<", ">>", "**", "==", "<"]


def shown(node: Operand | Expression) -> str:
    """An expression with every op in brackets."""
    if isinstance(node, Operand):
        return str(node.dtype)
    words = [shown(operand) for operand in node.operands]
    return (
        f"({node.symbol}{words[0]})" if len(words) == 1 else f"({f' {node.symbol} '.join(words)})"
    )


def python_shown(node: ast.expr) -> str:
    """The same of what Python itself reads."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.UnaryOp):
        return (
            f"({ast.unparse(ast.UnaryOp(node.op, ast.Name('x')))[:1]}{python_shown(node.operand)})"
        )
    if isinstance(node, ast.Compare):
        symbol = {ast.Eq: "==", ast.Lt: "<"}[type(node.ops[0])]  # type: ignore[index]
        return f"({python_shown(node.left)} {symbol} {python_shown(node.comparators[0])})"
    assert isinstance(node, ast.BinOp)
    symbol = ast.unparse(ast.BinOp(ast.Name("x"), node.op, ast.Name("y"))).strip("xy ")
    return f"({python_shown(node.left)} {symbol} {python_shown(node.right)})"


def test_operators_bind_as_they_do_in_python() -> None:
    for first, second, sign in itertools.product(SYMBOLS, SYMBOLS, ["", "-", "~"]):
        if {first, second} <= {"==", "<"}:
            continue  # a chain
        text = f"{sign}int8 {first} {sign}int16 {second} {sign}int32"
        expected = python_shown(ast.parse(text, mode="eval").body)
        assert shown(parse_expression(text)) == expected, text


PIECES = [
    "int8[3]", "float32[]", "np.int8[3]", "np.float32(1.5)", "int8*[3]", "int64=300[]", "f*",
    "bfloat16", "5", "-1", "1.5", "1+2j", "True", "inf", "[1, 2]", "None", "(", ")", "(", ")", ",",
    ".", "sum(", ".mean(", ".add_(", "add(", "dtype=int8", "axis=", "=", "+=", *SYMBOLS, "~", "-",
    "np.", "'", "9999999999", "e9", "[", "]", " ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_any_text_is_explained_or_is_a_usage_error(text: str) -> None:
    begun = time.monotonic()
    for dialect in ("torch", "jax"):
        with contextlib.suppress(cw.UsageError):
            assert cw.explain(text, dialect=dialect)
    assert time.monotonic() - begun < 5


def test_a_question_reads_back_as_it_is_written() -> None:
    for text in ("(-1) ** int8[3]", "int8[3] ** -1", "-int8[3]", "int8[3] - -1", "2 ** int8[3]"):
        question = question_in(text, "numpy")
        assert question_in(str(question), "numpy") == question


def test_python_s_own_numbers() -> None:
    assert computed("//", (7, 2)) == 3
    assert computed("<", (1, 2)) is True
    assert computed("-", (True,)) == -1
    assert broadcast([(2, 1), (3,), ()]) == (2, 3)
