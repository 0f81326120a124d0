"""Ops by their symbols, by frameworks' own functions, and by words that are nearly right."""

from __future__ import annotations

import importlib
import operator
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import castwise as cw


def asked(name: Any, *operands: Any, dialect: str | None = "torch") -> tuple[str, str, bool]:
    question = cw.resolve(name, *operands, dialect=dialect).question
    return question.op.name, question.form, question.inplace


@pytest.mark.parametrize(
    ("name", "op", "form"),
    [
        ("+", "add", "operator"),
        ("**", "pow", "operator"),
        ("<=", "le", "operator"),
        ("-", "sub", "operator"),
        ("+=", "add", "augmented"),
        (operator.add, "add", "operator"),
        (operator.truediv, "div", "operator"),
        (operator.mod, "remainder", "operator"),
        (operator.iadd, "add", "augmented"),
        (pow, "pow", "operator"),
        (np.add, "add", "function"),
        (np.true_divide, "div", "function"),
        (np.arctan2, "atan2", "function"),
        (np.ndarray.__mul__, "mul", "operator"),
        (np.ndarray.__imul__, "mul", "augmented"),
    ],
)
def test_a_symbol_or_a_function_names_an_op_and_its_form(name: Any, op: str, form: str) -> None:
    assert asked(name, "float32[3]", "float32[3]") == (op, form, False)


@pytest.mark.parametrize(
    ("name", "op"),
    [("-", "neg"), ("+", "positive"), ("~", "bitwise_not"), (operator.neg, "neg"),
     (operator.invert, "bitwise_not"), (abs, "abs"), (np.sum, "sum"), (np.ndarray.sum, "sum"),
     (np.linalg.norm, "norm")],
)  # fmt: skip
def test_of_one_operand(name: Any, op: str) -> None:
    operand = "int32[3]" if op == "bitwise_not" else "float32[3]"
    assert asked(name, operand)[0] == op


def test_a_method_that_writes() -> None:
    assert asked("add_", "int32[3]", 5) == ("add", "operator", True)
    with pytest.raises(cw.PromotionError, match=r"add_\(int32\[3\], 5.5\)"):
        cw.resolve("add_", "int32[3]", 5.5, dialect="torch")


def test_a_form_that_is_given_counts() -> None:
    assert cw.resolve(np.add, "int8[3]", 1, form="operator").question.form == "operator"


@pytest.mark.parametrize(
    ("framework", "path", "op", "inplace"),
    [
        ("torch", "add", "add", False),
        ("torch", "true_divide", "div", False),
        ("torch", "Tensor.add_", "add", True),
        ("torch", "nn.functional.gelu", "gelu", False),
        ("torch", "nn.functional.softmax", "softmax", False),
        ("torch", "linalg.vector_norm", "norm", False),
        ("torch", "ops.aten.add.Tensor", "add", False),
        ("jax", "numpy.add", "add", False),
        ("jax", "numpy.arctan2", "atan2", False),
        ("jax", "nn.relu", "relu", False),
        ("jax", "lax.add", "add", False),
        ("array_api_strict", "add", "add", False),
        ("mlx.core", "add", "add", False),
        ("tinygrad", "Tensor.add", "add", False),
        ("paddle", "add", "add", False),
        ("tensorflow", "math.reduce_sum", "sum", False),
    ],
)
def test_a_framework_s_own_function(framework: str, path: str, op: str, inplace: bool) -> None:
    module = pytest.importorskip(framework)
    if framework == "jax":
        importlib.import_module("jax.numpy")
    operands = ["float32[3]"] if op in ONE else ["float32[3]", "float32[3]"]
    question = cw.resolve(attrgetter(path)(module), *operands).question
    assert (question.op.name, question.form, question.inplace) == (op, "function", inplace)
    assert question.dialect.framework == FRAMEWORK.get(framework, framework)


ONE = ("gelu", "softmax", "norm", "relu", "sum")
FRAMEWORK = {"array_api_strict": "array-api", "mlx.core": "mlx"}


def test_a_chosen_dialect_goes_before_that_of_a_function() -> None:
    with cw.use("torch"):
        assert cw.resolve(np.add, "int32[3]", 5.5).result.name == "float32"
    assert cw.resolve(np.add, "int32[3]", 5.5, dialect="jax").result.name == "float32"
    assert cw.resolve(np.add, "int32[3]", 5.5).result.name == "float64"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("plus", "unknown op 'plus'. Did you mean 'add'?"),
        ("torch.plus", "Did you mean 'add'?"),
        ("multiply", "Did you mean 'mul'?"),  # as most frameworks say
        ("arctan2", "Did you mean 'atan2'?"),
        ("Add", "Did you mean 'add'?"),
        ("astype", "Did you mean 'cast'?"),
        ("ad", "Did you mean 'pad' or 'add'?"),
        (np.sort, "castwise has no op for numpy.sort"),
        (max, "not builtins.max"),
        (test_a_method_that_writes, "an op is named by a string, a symbol or a framework's own"),
        (3, "not a int"),
        (None, "not a NoneType"),
    ],
)
def test_what_names_no_op_says_what_would(wrong: Any, why: str) -> None:
    with pytest.raises(cw.UsageError) as refused:
        cw.resolve(wrong, "int8[3]", "int8[3]", dialect="tinygrad")
    assert why in str(refused.value)


@pytest.mark.parametrize("plus", [np.add, operator.add, "+"])
def test_everything_that_takes_an_op_takes_these(plus: Any) -> None:
    form = "function" if plus is np.add else "operator"
    assert cw.table(plus, "torch").title == cw.table("add", "torch", form=form).title
    assert cw.diff("array-api", "array-api", op=plus).ops == ("add",)
    assert cw.apply(plus, cw.asarray([1, 2]), 1).tolist() == [2, 3]
    assert cw.apply("-", cw.asarray([1, 2])).tolist() == [-1, -2]
    head = "add(int8[3], 1)" if plus is np.add else "int8[3] + 1"
    assert cw.explain(plus, "int8[3]", 1).startswith(f"{head} in numpy\n")


def test_a_function_without_operands_is_no_expression() -> None:
    with pytest.raises(cw.UsageError, match="add takes 2 operands, not 0"):
        cw.explain(np.add)


def test_a_table_takes_op_and_dialect_in_either_order() -> None:
    expected = str(cw.table("div", "torch"))
    assert str(cw.table("torch", "div")) == expected
    assert str(cw.table(cw.dialect("torch"), "div")) == expected
    assert cw.table("torch").title == "row + column in torch"
