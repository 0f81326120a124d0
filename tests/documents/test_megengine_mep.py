"""MegEngine's MEP 3, a draft on the type promotion of tensors, statement by statement.

Not checked, for they say nothing about what a framework does: the number, the title, the author,
the status, the type and the date, what the draft is for, and the link to a discussion.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest
from ways import Way

import castwise as cw
from asking import result

MEP3, NUMPY, TORCH = "megengine:mep3", "numpy@1", "torch"  # the NumPy of 2020 is numpy@1


# 背景与动机 (background)


def test_tensors_have_many_dtypes() -> None:
    """ "MegEngine 中的 Tensor 存在着多种 数据类型（dtype）" (tensors have many dtypes)"""
    for dialect in (MEP3, "megengine"):
        kinds = {dtype.kind for dtype in cw.dialect(dialect).dtypes}
        assert {"bool", "int", "float"} <= kinds


def test_a_tensor_is_cast_explicitly_with_astype(way: Way) -> None:
    """ "可以通过 :py:meth:`~.Tensor.astype` 进行显式类型转换" (explicit casts by astype)"""
    tensor = way.tensor([1.5, 2.5], "float32", dialect=MEP3)
    found = way.run(lambda t: t.astype("int32"), tensor, dialect=MEP3)
    assert (found.dtype.name, found.tolist()) == ("int32", [1, 2])


def test_variables_of_different_dtypes_in_one_expression_are_promoted(way: Way) -> None:
    """ "将变量从一种类型转换成另一种数据类型" (a variable is converted): ">>> (int_tensor +
    float_tensor).dtype", "numpy.float32" """
    int_tensor = way.tensor(np.ones(1), "int32", dialect=MEP3)
    float_tensor = way.tensor(np.ones(1), "float32", dialect=MEP3)
    found = way.run(operator.add, int_tensor, float_tensor, dialect=MEP3)
    assert (found.dtype, found.tolist()) == (cw.dtype("numpy.float32"), [2.0])
    casts = cw.resolve("add", "int32[1]", "float32[1]", dialect=MEP3).casts
    assert [str(cast) if cast else None for cast in casts] == ["int32 -> float32", None]
    assert result("int32[1] + float32[1]", "megengine") == "float32"  # as it came to be, too


def test_numpy_and_pytorch_have_a_function_for_the_result() -> None:
    """ "numpy.result_type", "torch.result_type" """
    assert cw.result_type("int32[3]", "float32[3]", dialect=NUMPY).name == "float64"
    assert cw.result_type("int32[3]", "float32[3]", dialect=TORCH).name == "float32"


# NumPy 方案 (NumPy's scheme)


def test_numpy_compares_the_highest_kinds_of_scalars_and_arrays() -> None:
    """ "首先检查 scalar 和 array 中各自最大的类型 （float > int > bool）" (the highest of each)"""
    kinds = {"bool": ("bool", "True"), "int": ("int16", "5"), "float": ("float32", "5.5")}
    ranks = list(kinds)
    for array, scalar in itertools.product(ranks, ranks):
        found = cw.dtype(result(f"{kinds[array][0]}[3] + {kinds[scalar][1]}", NUMPY))
        assert found.kind == max(array, scalar, key=ranks.index)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("result_type(int8[], int16[])", "int16"),
        ("result_type(int32[], float32[])", "float64"),
        ("bool[3] + int64=300[]", "int64"),
        ("int32[3] + float32[]", "float64"),
        ("int8[3] + np.float64(1)", "float64"),
    ],
)
def test_numpy_takes_all_where_scalars_are_alone_or_higher(question: str, expected: str) -> None:
    """ "如果只有 scalar 或者 scalar 中最大的类型比 array 中最大的类型大" (alone, or higher)"""
    assert result(question, NUMPY) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int16[3] + int64=300[]", "int16"),
        ("float32[3] + int32[]", "float32"),
        ("float16[3] + float64[]", "float16"),
        ("result_type(int8[3], int16[3], int64[])", "int16"),
    ],
)
def test_else_numpy_takes_the_arrays(question: str, expected: str) -> None:
    """ "否则返回一个所有 array 都能安全 cast 过去的最小类型" (else what all arrays cast to)"""
    assert result(question, NUMPY) == expected


def test_the_size_of_a_scalar_counts_all_the_same() -> None:
    """The same sentence: the arrays alone do not decide, as the summary says with its uint16."""
    assert result("uint8[3] + 5", NUMPY) == "uint8"
    assert result("uint8[3] + 50000", NUMPY) == "uint16"


@pytest.mark.parametrize(
    ("array", "scalar", "expected"),
    [("int32", np.float32(1), "float64"), ("float32", np.int32(1), "float32")],
)
def test_the_examples_of_numpys_scheme(
    way: Way, array: str, scalar: np.generic, expected: str
) -> None:
    """ "array(int32) + float32 → float64", "array(float32) + int32 → float32" """
    tensor = way.tensor(np.ones(3), array, dialect=NUMPY)
    found = way.run(lambda t: t + scalar, tensor, dialect=NUMPY)
    assert (found.dtype.name, found.tolist()) == (expected, [2.0] * 3)


def test_since_numpy_2_a_numpy_scalar_counts_as_an_array() -> None:
    """The second of these examples was true of NumPy 1 alone."""
    assert result("int32[3] + np.float32(1)", "numpy") == "float64"
    assert result("float32[3] + np.int32(1)", "numpy") == "float64"


# PyTorch 方案 (PyTorch's scheme)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int8[2] + int64[]", "int8"),
        ("int8[2] + 1", "int8"),
        ("int8[] + 1", "int8"),
        ("result_type(int8[2], int16[], 1)", "int8"),
        ("result_type(int8[], 1, 2)", "int8"),
        ("float16[2] + float64[]", "float16"),
    ],
)
def test_dimensioned_tensors_come_before_0d_tensors_and_these_before_scalars(
    question: str, expected: str
) -> None:
    """ "dimensioned tensor e.g. torch.ones(2)", "0-dim tensor e.g. torch.tensor(1)", "scalar" """
    assert result(question, TORCH) == expected


def test_the_kinds_are_float_then_int_then_bool() -> None:
    """ "float", "bool", "int": printed in this order, but the summary says float > int > bool."""
    assert result("bool[2] + int8[]", TORCH) == "int8"
    assert result("bool[2] + 1", TORCH) == "int64"
    assert result("int8[2] + bool[]", TORCH) == "int8"
    assert result("int8[2] + True", TORCH) == "int8"
    assert result("int8[2] + float16[]", TORCH) == "float16"


def test_operands_of_the_highest_priority_are_promoted(way: Way) -> None:
    """ "优先级最高的元素参与 dtype promotion" (the operands of the highest priority take part)"""
    tensors = [way.tensor(np.ones(2), dtype, dialect=TORCH) for dtype in ("uint8", "int8")]
    zero_d = way.tensor(np.ones(()), "int64", dialect=TORCH)

    def joined(a: Any, b: Any, c: Any) -> Any:
        return a + b + c

    found = way.run(joined, *tensors, zero_d, dialect=TORCH)
    assert (found.dtype.name, found.tolist()) == ("int16", [3, 3])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int8[2] + float64[]", "float64"),
        ("int8[2] + 1.0", "float32"),
        ("int8[] + 1.0", "float32"),
        ("result_type(int8[2], int64[], 1.0)", "float32"),
        ("result_type(int8[2], float16[2], 1.0)", "float16"),
    ],
)
def test_unless_a_lower_one_is_of_a_higher_kind_than_all_above_it(
    question: str, expected: str
) -> None:
    """ "除非低优先级的元素的类型优先级...超过了所有比他优先级高的元素的所有类型" (unless higher)"""
    assert result(question, TORCH) == expected


# 例子 (examples): "1 表示 scalar / tensor(int8) 表示 0 维tensor / ones(int8) 表示 ≥1 维 tensor"

ONES, ZERO_D, ONE = ((2,), "int8"), ((), "int8"), ((), "int64")  # tensor(1) is an int64 in both
EXAMPLES = [
    (ONES, 1, "int8", "int8"),  # "ones(int8) 参与 promote" (takes part)
    (ZERO_D, 1, "int64", "int8"),  # "1 虽然是int64, 但是不参与 promote" (1 does not)
    (ONES, ONE, "int8", "int8"),  # "虽然tensor(1) 是 int64" (though it is int64)
    (ZERO_D, ONE, "int64", "int64"),  # "tensor(int8) 和 tensor(1) 共同参与 promote" (both do)
    (ZERO_D, 1.0, "float64", "float32"),  # "它的 float 优先级比 int8 高" (float comes before int8)
]


@pytest.mark.parametrize(("first", "second", "in_numpy", "in_torch"), EXAMPLES)
def test_the_table_of_examples(
    way: Way, first: Any, second: Any, in_numpy: str, in_torch: str
) -> None:
    """ "ones(int8) + 1 ->", "tensor(int8) + 1 ->" and so on"""
    for dialect, expected in ((NUMPY, in_numpy), (TORCH, in_torch)):
        given = [
            way.tensor(np.ones(o[0]), o[1], dialect=dialect) if isinstance(o, tuple) else o
            for o in (first, second)
        ]
        found = way.run(operator.add, *given, dialect=dialect)
        assert found.dtype.name == expected
        assert np.all(np.asarray(found.tolist()) == 2)


def test_since_numpy_2_two_of_the_examples_give_another_dtype() -> None:
    """ "tensor(int8) + 1" and "ones(int8) + tensor(1)" were so in NumPy 1 alone."""
    questions = [
        "int8[2] + 1",
        "int8[] + 1",
        "int8[2] + int64[]",
        "int8[] + int64[]",
        "int8[] + 1.0",
    ]
    assert [result(question, NUMPY) for question in questions] == [row[2] for row in EXAMPLES]
    found = [result(question, "numpy") for question in questions]
    assert found == ["int8", "int8", "int64", "int64", "float64"]


# 简单总结 (summary)


@pytest.mark.parametrize(
    ("scalar", "expected"),
    [
        ("255", "uint8"),
        ("-1", "int16"),
        ("70000", "uint32"),
        ("-70000", "int32"),
        ("5000000000", "uint64"),
        ("-5000000000", "int64"),
    ],
)
def test_numpy_looks_at_the_size_of_an_integer(scalar: str, expected: str) -> None:
    """ "根据值的大小判断是uint8/int8/int16/int32/int64" (by its value, it is one of these)

    The list leaves out uint16, uint32 and uint64; the example after it has a uint16.
    """
    assert result(f"{scalar} + uint8[2]", NUMPY) == expected


@pytest.mark.parametrize(
    ("scalar", "expected"), [("1.5", "float16"), ("1e5", "float32"), ("1e39", "float64")]
)
def test_numpy_looks_at_the_size_of_a_float(scalar: str, expected: str) -> None:
    """ "float16/float32/float64" """
    assert result(f"{scalar} + float16[2]", NUMPY) == expected


def test_numpys_50000_is_a_uint16(way: Way) -> None:
    """ "scalar(50000) + uint8(array) → uint16" """
    tensor = way.tensor(np.ones(2), "uint8", dialect=NUMPY)
    found = way.run(operator.add, 50000, tensor, dialect=NUMPY)
    assert (found.dtype.name, found.tolist()) == ("uint16", [50001, 50001])
    assert result("50000 + uint8[2]", "numpy") == "!range"  # NumPy 2 refuses it


@pytest.mark.parametrize("scalar", ["255", "50000", "-1", "70000", "5000000000"])
def test_pytorch_ignores_the_value(scalar: str) -> None:
    """ "无视值，直接根据类型决定是 int64 或 float32" (whatever its value, int64 or float32)"""
    assert result(f"result_type({scalar})", TORCH) == "int64"
    assert result(f"result_type({scalar}.0)", TORCH) == "float32"
    assert result(f"{scalar} + uint8[2]", TORCH) == "uint8"


def test_pytorchs_50000_overflows(way: Way) -> None:
    """ "scalar(50000) + uint8(tensor) → uint8 # overflow" """
    tensor = way.tensor(np.ones(2), "uint8", dialect=TORCH)
    found = way.run(operator.add, 50000, tensor, dialect=TORCH)
    assert (found.dtype.name, found.tolist()) == ("uint8", [(50000 + 1) % 256] * 2)


def test_numpy_loses_as_little_as_it_can(way: Way) -> None:
    """ "尽可能不损失精度。如 float32 + int32 → float64" (as little precision as possible)"""
    single = way.tensor([0.5], "float32", dialect=NUMPY)
    large = way.tensor([2**24 + 1], "int32", dialect=NUMPY)
    found = way.run(operator.add, single, large, dialect=NUMPY)
    assert (found.dtype.name, found.tolist()) == ("float64", [2**24 + 1.5])


def test_pytorch_keeps_the_precision_of_the_highest_kind_alone(way: Way) -> None:
    """ "只保证最高优先级的类型不丢精度。如 float32 + int32 → float32" (only the highest kind
    keeps its precision)"""
    single = way.tensor([0.0], "float32", dialect=TORCH)
    large = way.tensor([2**24 + 1], "int32", dialect=TORCH)
    found = way.run(operator.add, single, large, dialect=TORCH)
    assert (found.dtype.name, found.tolist()) == ("float32", [2.0**24])


@pytest.mark.parametrize("dialect", [TORCH, MEP3])
def test_even_the_highest_kind_loses_precision_below_the_highest_tier(dialect: str) -> None:
    """The same sentence: by the draft's own tiers a 0-d float64 beside float16 is cut."""
    decision = cw.resolve("add", "float16[2]", "float64[]", dialect=dialect)
    assert decision.result.name == "float16"
    assert decision.hazards == ("loses-precision", "loses-range")


# 实现方案 (the scheme): as PyTorch's, float > int > bool


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int8[2] + 1", "int8"),
        ("int8[] + 1", "int8"),
        ("int8[2] + int32[]", "int8"),
        ("int8[] + int32[]", "int32"),
        ("int8[] + 1.0", "float32"),
        ("int8[2] + 1.0", "float32"),
        ("int8[2] + float16[]", "float16"),
        ("float16[2] + 1.0", "float16"),
        ("bool[2] + 1", "int32"),
        ("bool[2] + True", "bool"),
        ("result_type(1)", "int32"),
        ("result_type(1.0)", "float32"),
        ("result_type(1, 1.0)", "float32"),
    ],
)
def test_it_is_pytorchs_scheme_changed(question: str, expected: str) -> None:
    """ "在 Pytorch 的基础上修改" (a change of PyTorch's): the open points say an int is int32"""
    assert result(question, MEP3) == expected


def test_it_agrees_with_pytorch_on_every_pair_of_its_dtypes() -> None:
    """ "在 Pytorch 的基础上修改" (a change of PyTorch's): tensors are promoted as there"""
    for a, b in itertools.product(cw.dialect(MEP3).dtypes, repeat=2):
        for question in (f"{a}[2] * {b}[2]", f"{a}[2] * {b}[]", f"{a}[] * {b}[]"):
            assert result(question, MEP3) == result(question, TORCH)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("float32", "int32", "float32"),
        ("float16", "int32", "float16"),
        ("float16", "float32", "float32"),
        ("int32", "bool", "int32"),
        ("uint8", "int8", "int16"),
    ],
)
def test_only_the_highest_kind_keeps_its_precision(
    way: Way, first: str, second: str, expected: str
) -> None:
    """ "根据 float > int > bool 的优先级，只保证最高优先级的类型不丢精度" (float > int > bool)"""
    tensors = [way.tensor(np.ones(2), dtype, dialect=MEP3) for dtype in (first, second)]
    found = way.run(operator.add, *tensors, dialect=MEP3)
    assert (found.dtype.name, found.tolist()) == (expected, [2, 2])


def test_what_the_draft_does_not_speak_of() -> None:
    """Complex numbers are refused; division, sums and `+=` are as MegEngine has them."""
    assert result("float32[2] + 1j", MEP3) == "!"
    assert result("complex64[2] + 1", MEP3) == "!"
    for question in ("int8[2] / int8[2]", "int8[2] += 1.5", "sum(bool[2])", "argmax(int8[2])"):
        assert result(question, MEP3) == result(question, "megengine")


def test_what_shipped_is_something_else() -> None:
    """MegEngine 1.13 answers 35 of 64 pairs of their common dtypes otherwise than the draft.

    Unequal kinds meet in float32 there, float16 gives way, and mixed signs are refused.
    """
    shared = [dtype for dtype in cw.dialect(MEP3).dtypes if dtype in cw.dialect("megengine").dtypes]
    pairs = [f"{a}[2] * {b}[2]" for a, b in itertools.product(shared, shared)]
    unlike = [pair for pair in pairs if result(pair, MEP3) != result(pair, "megengine")]
    assert (len(pairs), len(unlike)) == (64, 35)
    assert result("bool[2] + int32[2]", "megengine") == "float32"
    assert result("float16[2] + int8[2]", "megengine") == "float32"
    assert result("int8[2] + uint8[2]", "megengine") == "!"
    assert result("int8[2] + int32[]", "megengine") == "int32"
    assert result("bool[2] + 1", "megengine") == "float32"


# 待讨论的点 (points to discuss)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int32[2] + int64[2]", "int64"),
        ("float32[2] + float64[2]", "float64"),
        ("int32[2] + float64[]", "float64"),
    ],
)
def test_results_of_64_bits_are_promoted_to(question: str, expected: str) -> None:
    """ "是否要 promote 出 int64 / float64 的结果", "要：报错很不友好" (yes: errors are unkind)"""
    assert result(question, MEP3) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int32[2] + int64[2]", "!"),
        ("float32[2] + float64[2]", "!"),
        ("int32[2] + float64[]", "!"),
        ("int64[2] + int64[2]", "int64"),  # nothing is promoted
        ("int32[2] + float32[2]", "float32"),
    ],
)
def test_or_they_are_refused(question: str, expected: str) -> None:
    """ "不要：不知道会不会有问题（？）" (no: who knows whether there will be problems)"""
    assert result(question, f"{MEP3}:promote_64=False") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("uint8[2] + 5", "uint8"),
        ("int8[2] + 5", "int8"),
        ("int8[2] + 300", "int16"),
        ("uint8[2] + 50000", "int32"),  # there is no uint16 in the list
        ("float16[2] + 1.5", "float16"),
        ("float16[2] + 1e5", "float32"),
        ("float16[2] + 1e300", "float32"),  # float16 or float32: it overflows
        ("bfloat16[2] + 1.5", "bfloat16"),
        # Also where the scalar's kind is higher than the tensor's.
        ("bool[2] + 1", "uint8"),
        ("bool[2] + -1", "int8"),
        ("bool[2] + 300", "int16"),
        ("int8[2] + 1.5", "float16"),
        ("int8[2] + 1e5", "float32"),
        ("int32[2] + 1.5", "float16"),  # as beside a float16 tensor
        # A 0-d tensor is no scalar: its dtype counts as it did.
        ("int8[2] + int32[]", "int8"),
        ("int8[] + 1", "int8"),
        ("int8[] + 300", "int16"),
        ("int32[] + 1", "int32"),
        # The draft does not say what an int beyond int32 is; here, what holds it.
        (f"int8[2] + {2**31}", "int64"),
        (f"int8[2] + {2**64}", "!range"),
        ("result_type(1)", "int32"),  # with nothing beside it
    ],
)
def test_a_scalars_value_may_count(question: str, expected: str) -> None:
    """ "如果考虑：int → uint8/int8/int16/int32, float→ float16/float32" (if values count)"""
    assert result(question, f"{MEP3}:scalars=by value") == expected


def test_a_float_beyond_the_widest_is_told_to_overflow() -> None:
    """ "float→ float16/float32": there is no third one for what is larger"""
    told = cw.explain("float16[2] + 1e300", dialect=f"{MEP3}:scalars=by value")
    assert "1e+300 counts by value: it overflows float32, the widest" in told
    assert "Python scalar -> float32 overflows beyond 3.40282e+38" in told
    assert "1e+300 fits" not in told


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("result_type(1)", "int32"),
        ("result_type(1.0)", "float32"),
        ("uint8[2] + 50000", "uint8"),
        ("float16[2] + 1e39", "float16"),
        ("int8[] + 50000", "int8"),
        # Beyond int32, too.
        (f"int64[2] + {2**31}", "int64"),
        (f"int32[2] + {2**31}", "int32"),
        (f"float32[2] + {2**31}", "float32"),
        (f"bool[2] + {2**64}", "int32"),
        (f"int8[] + {-(2**31) - 1}", "int8"),
        (f"result_type({2**31})", "int32"),
    ],
)
def test_or_it_does_not_count(question: str, expected: str) -> None:
    """ "如果不考虑：int → int32, float→ float32" (if values do not count), as decided here"""
    assert result(question, MEP3) == expected


def test_a_scalar_ranks_below_a_tensor(way: Way) -> None:
    """ "是否区别对待他们的 dtype" (are scalars and tensors to be told apart): here they are"""
    tensor = way.tensor(np.ones(2), "int8", dialect=MEP3)
    found = way.run(operator.add, tensor, 1, dialect=MEP3)
    assert (found.dtype.name, found.tolist()) == ("int8", [2, 2])


@pytest.mark.parametrize(
    ("question", "as_tensors", "as_zero_d"),
    [
        ("int8[2] + 1", "int32", "int8"),
        ("int8[2] + 1.5", "float32", "float32"),
        ("float16[2] + 1.5", "float32", "float16"),
        ("int8[] + 1", "int32", "int32"),  # two 0-d tensors
        ("int8[] + 1.5", "float32", "float32"),
        ("float16[] + 1.5", "float32", "float32"),
        (f"int64[2] + {2**31}", "int64", "int64"),
        ("int8[2] + int64[]", "int64", "int8"),  # with no tiers left, 0-d tensors count as all do
    ],
)
def test_or_all_of_them_become_tensors(question: str, as_tensors: str, as_zero_d: str) -> None:
    """ "我觉得可以全部转成 tensor" (all can become tensors): n-d ones, or those of 0 dimensions

    The first would make int8 + 1 an int32, which the table of examples has as int8.
    """
    assert result(question, f"{MEP3}:scalars=as tensors") == as_tensors
    assert result(question, f"{MEP3}:scalars=as 0-d tensors") == as_zero_d
