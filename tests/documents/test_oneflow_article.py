"""The article on type promotion in PyTorch and OneFlow, statement by statement.

Not checked, for they say nothing about what a framework does: the invitation to guess, the links
and the addresses of source files, the numbers of lines there, which file or function holds what,
that the work took two or three weeks, and the thanks. The three pictures are not part of the
text; what they show (the graph and the table of the standard, PyTorch's matrix) is checked where
the text tells what is to be seen.
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

TORCH, STANDARD, NUMPY = "torch", "array-api", "numpy@1"
ONEFLOW = "oneflow:article"  # as the article designs it; `oneflow` is what version 0.9 does


def mul(way: Way, *operands: Any) -> cw.Tensor:
    found: cw.Tensor = way.run(
        lambda *given: cw.apply("torch.mul", *given), *operands, dialect=TORCH
    )
    return found


def casts_of(decision: cw.Decision) -> list[str | None]:
    return [str(cast) if cast else None for cast in decision.casts]


# 问题引入 (introducing the question)


@pytest.mark.parametrize(
    ("y", "expected", "value"),
    [
        ((1, "torch.float64"), "float64", 1),  # out1
        ((1, "torch.int64"), "int8", 1),  # out2
        (1.0, "float32", 1),  # out3
        (2**63 - 1, "int8", -1),  # out4
    ],
)
def test_the_opening_questions(way: Way, y: Any, expected: str, value: int) -> None:
    """ "out1 = torch.mul(x_tensor, y1_tensor)" to "out4.dtype: torch.int8" """
    x_tensor = way.tensor(np.ones(3), "torch.int8", dialect=TORCH)
    other = way.tensor(*y, dialect=TORCH) if isinstance(y, tuple) else y
    found = mul(way, x_tensor, other)
    assert (found.dtype.name, found.tolist()) == (expected, [value] * 3)


def test_the_largest_int64_is_not_what_python_reads_there(way: Way) -> None:
    """ "2^63-1(the max value of int64)": `^` is xor in Python, and 2^63-1 is 60."""
    assert 2 ^ 63 - 1 == 60
    found = mul(way, way.tensor(np.ones(3), "torch.int8", dialect=TORCH), 2 ^ 63 - 1)
    assert (found.dtype.name, found.tolist()) == ("int8", [60] * 3)


def test_some_results_are_promoted_and_some_are_not() -> None:
    """ "有些结果的数据类型被提升到更高的一级，有些并没有被提升" (some are raised, some are not)"""
    found = [result(f"int8[3] * {y}", TORCH) for y in ("float64[]", "int64[]", "1.0", 2**63 - 1)]
    assert found == ["float64", "int8", "float32", "int8"]


def test_the_result_follows_from_the_dtypes_of_the_inputs() -> None:
    """ "根据输入的数据类型来推导最终结果的数据类型" (the result's dtype follows from theirs)

    So a graph knows it before there are values.
    """
    graph = cw.trace(operator.mul, "int8[n]", "float64[]", dialect=TORCH)
    assert "float64[n]" in str(graph)


# Python Array API标准 (the standard)

SHORT = {
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
    "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
}  # fmt: skip


def test_dtypes_are_promoted_along_the_lines() -> None:
    """ "不同数据类型的提升遵循这个连接的规则" (promotion follows the lines of the graph)"""
    lines = ["i1 i2 i4 i8", "u1 u2 u4 u8", "u1 i2", "u2 i4", "u4 i8"]
    for line in lines:
        names = [SHORT[short] for short in line.split()]
        for (i, a), (j, b) in itertools.product(enumerate(names), repeat=2):
            assert result(f"{a}[3] + {b}[3]", STANDARD) == names[max(i, j)]
    assert result("float32[3] + float64[3]", STANDARD) == "float64"


@pytest.mark.parametrize("question", ["int8[3] + 300", "uint8[3] + -1", f"int64[3] + {2**63}"])
def test_where_a_scalar_overflows_nothing_is_defined(question: str) -> None:
    """ "虚线表示python标量在溢出的时候未定义" (dashed: undefined where a Python scalar overflows)

    castwise refuses it, as array-api-strict does.
    """
    assert result(question, STANDARD) == "!range"


@pytest.mark.parametrize(
    ("first", "second"),
    [("bool", "int8"), ("bool", "float32"), ("int8", "float32"), ("int64", "float64"),
     ("uint64", "int8")],
)  # fmt: skip
def test_without_a_line_nothing_is_defined(way: Way, first: str, second: str) -> None:
    """ "bool int float之间没有连线，表示这种混合类型的提升未定义" (no lines between these kinds)

    Nor is there one from uint64 to a signed integer.
    """
    tensors = [way.tensor(np.ones(3), dtype, dialect=STANDARD) for dtype in (first, second)]
    with pytest.raises(cw.PromotionError, match="have no common dtype"):
        way.run(operator.add, *tensors, dialect=STANDARD)


def test_int8_and_uint8_meet_in_int16(way: Way) -> None:
    """ "`int8`和`uint8`，两者最终指向了`int16`" (both point to int16)"""
    small = way.tensor([-128], "int8", dialect=STANDARD)
    large = way.tensor([255], "uint8", dialect=STANDARD)
    found = way.run(operator.add, small, large, dialect=STANDARD)
    assert (found.dtype.name, found.tolist()) == ("int16", [127])


MIXED = """
         u1  u2  u4
    i1   i2  i4  i8
    i2   i2  i4  i8
    i4   i4  i4  i8
    i8   i8  i8  i8
"""


def test_the_table_of_mixed_signs() -> None:
    """ "横坐标和纵坐标分别代表输入的数据类型" (the axes of the table are the inputs' dtypes)"""
    head, *rows = [line.split() for line in MIXED.split("\n") if line.strip()]
    for signed, *cells in rows:
        for unsigned, cell in zip(head, cells, strict=True):
            a, b = SHORT[signed], SHORT[unsigned]
            assert result(f"{a}[3] + {b}[3]", STANDARD) == SHORT[cell]
            assert result(f"{b}[3] + {a}[3]", STANDARD) == SHORT[cell]


def test_the_short_names_are_signs_and_bytes() -> None:
    """ "i1 : 8-bit signed integer (i.e., int8 )" and "同理于unsigned int" (unsigned alike)"""
    for short, name in SHORT.items():
        dtype = cw.dtype(name)
        assert (dtype.bits, name.startswith("u")) == (8 * int(short[1]), short[0] == "u")


# Python Array 和 Scalar 的类型提升 (arrays with scalars)


def test_arrays_and_scalars_have_another_rule() -> None:
    """ "array与scalar...的类型提升规则则不一样" (another rule than for two arrays)"""
    for dialect in (STANDARD, TORCH, NUMPY, ONEFLOW):
        assert result("int16[3] + int64[3]", dialect) == "int64"
        assert result("int16[3] + 2", dialect) == "int16"


@pytest.mark.parametrize("dialect", [TORCH, STANDARD, "numpy", NUMPY, ONEFLOW])
def test_a_scalar_of_the_same_family_takes_the_arrays_dtype(dialect: str) -> None:
    """ "两者同属于一个数据类型系列...遵循数组的数据类型" (of one family: the array's dtype)"""
    for dtype in ("uint8", "int8", "int16", "int32", "int64"):
        assert result(f"{dtype}[3] + 2", dialect) == dtype
    for dtype in ("float32", "float64"):
        assert result(f"{dtype}[3] + 2.0", dialect) == dtype


def test_a_scalar_of_another_family_promotes() -> None:
    """ "不属于一个数据类型系列（比如...int32，...float)，则进行类型提升" (of two: promotion)"""
    assert result("int32[3] + 2.0", TORCH) == "float32"
    assert result("int32[3] + 2.0", NUMPY) == "float64"
    assert result("int32[3] + 2.0", ONEFLOW) == "float32"


def test_in_the_standard_an_int_array_with_a_float_is_not_defined(way: Way) -> None:
    """The same sentence stands under a heading on the standard, which has no such promotion."""
    tensor = way.tensor(np.ones(3), "int32", dialect=STANDARD)
    with pytest.raises(cw.PromotionError, match="a Python float cannot be mixed with int32"):
        way.run(operator.add, tensor, 2.0, dialect=STANDARD)
    assert result("float32[3] + 2", STANDARD) == "float32"  # this way round there is one


@pytest.mark.parametrize(("scalar", "expected"), [(2, "int16"), (2.0, "float32")])
def test_the_example_with_scalars(way: Way, scalar: float, expected: str) -> None:
    """ "out1 = x_tensor + 2 # out.dtype = torch.int16", "out2 = x_tensor + 2.0" """
    x_tensor = way.tensor(np.ones(3), "torch.int16", dialect=TORCH)
    found = way.run(operator.add, x_tensor, scalar, dialect=TORCH)
    assert (found.dtype.name, found.tolist()) == (expected, [3] * 3)


@pytest.mark.parametrize(("scalar", "expected"), [(2, "int16"), (2.0, "float32")])
def test_the_example_with_0d_arrays(way: Way, scalar: float, expected: str) -> None:
    """ "y1_tensor = torch.tensor(2)", "out1 = x_tensor + y1_tensor # out.dtype = torch.int16" """
    x_tensor = way.tensor(np.ones(3), "torch.int16", dialect=TORCH)
    found = way.run(operator.add, x_tensor, way.tensor(scalar, dialect=TORCH), dialect=TORCH)
    assert (found.dtype.name, found.tolist()) == (expected, [3] * 3)


def test_a_scalar_does_what_the_0d_array_of_it_does() -> None:
    """ "Array与Scalar的行为会和Array与0d Array的行为保持一致" (scalars and 0-d arrays are alike)"""
    made = {"True": "bool[]", "2": "int64[]", "2.0": "float32[]", "2j": "complex64[]"}
    for dtype, (scalar, zero_d) in itertools.product(cw.dialect("torch@2.1").dtypes, made.items()):
        assert result(f"{dtype}[3] + {scalar}", TORCH) == result(f"{dtype}[3] + {zero_d}", TORCH)
    for dtype, scalar in itertools.product(cw.dialect(ONEFLOW).dtypes, ("2", "2.0")):
        alike = f"{dtype}[3] + {made[scalar]}"
        assert result(f"{dtype}[3] + {scalar}", ONEFLOW) == result(alike, ONEFLOW)


@pytest.mark.parametrize(
    ("question", "in_the_article", "in_version_0_9"),
    [
        ("int8[3] * float64[]", "float64", "int8"),
        ("int8[3] * int64[]", "int8", "int8"),
        ("int16[3] + int64[]", "int16", "int16"),
        ("int16[3] + float32[]", "float32", "int16"),
        ("int16[3] + 2", "int16", "int16"),
        ("int16[3] + 2.0", "float32", "float32"),
        ("float32[3] + float64[]", "float32", "float32"),
    ],
)
def test_oneflow_came_to_ignore_a_0d_array(
    question: str, in_the_article: str, in_version_0_9: str
) -> None:
    """The same sentence, in OneFlow as the article has it and in OneFlow 0.9."""
    assert result(question, ONEFLOW) == in_the_article
    assert result(question, "oneflow") == in_version_0_9


def test_they_are_not_alike_in_every_dtype_nor_outside_pytorch() -> None:
    """The same sentence: the article's own out1 and out3 are float64 and float32.

    In the standard, in NumPy 2 and in the OneFlow that ships, a 0-d array is not like a scalar.
    """
    assert result("int8[3] * float64[]", TORCH) != result("int8[3] * 1.0", TORCH)
    for dialect in (STANDARD, "numpy"):
        assert result("int16[3] + int64[]", dialect) == "int64"
        assert result("int16[3] + 2", dialect) == "int16"
    assert result("int16[3] + float32[]", "oneflow") == "int16"
    assert result("int16[3] + 2.0", "oneflow") == "float32"


def test_pytorch_agrees_with_the_standard_where_that_defines_something() -> None:
    """ "Pytorch是和Python Array API标准一致的" (PyTorch agrees with the standard on scalars)

    The standard leaves 32 of the 52 pairs undefined; PyTorch has an answer to each.
    """
    undefined = []
    for dtype, scalar in itertools.product(cw.dialect(STANDARD).dtypes, ("True", "2", "2.0", "2j")):
        question = f"{dtype}[3] * {scalar}"
        if result(question, STANDARD) == "!":
            undefined.append(question)
        else:
            assert result(question, TORCH) == result(question, STANDARD)
    assert len(undefined) == 32
    assert "!" not in {result(question, TORCH) for question in undefined}


@pytest.mark.parametrize(
    ("scalar", "expected", "value"),
    [(2**31 - 1, "int32", -(2**31)), (2**31, "int64", 2**31 + 1)],
)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_numpy_looks_at_the_value(way: Way, scalar: int, expected: str, value: int) -> None:
    """ "Numpy则不同，他会根据scalar的数据范围" (NumPy goes by its range): "x + (2**31-1)" """
    x = way.tensor(np.ones((3, 3)), np.dtype("int32").name, dialect=NUMPY)
    found = way.run(operator.add, x, scalar, dialect=NUMPY)
    assert (found.dtype.name, found.tolist()) == (expected, [[value] * 3] * 3)


def test_since_numpy_2_it_does_not() -> None:
    """The same sentence was true of NumPy 1 alone."""
    assert result(f"int32[3,3] + {2**31 - 1}", "numpy") == "int32"
    assert result(f"int32[3,3] + {2**31}", "numpy") == "!range"
    assert result(f"int32[3,3] + {2**31}", TORCH) == "int32"


def test_the_author_prefers_0d_arrays_to_count_as_arrays(way: Way) -> None:
    """ "Scalar是单独一种行为，而Scalar Tensor和Tensor的行为一致" (0-d like n-d, scalars apart)"""
    preferred = f"{ONEFLOW}:zero_d=as arrays"
    for a, b in itertools.product(("int8", "int32", "int64", "float32", "float64"), repeat=2):
        assert result(f"{a}[3] * {b}[]", preferred) == result(f"{a}[3] * {b}[3]", preferred)
    x = way.tensor(np.ones(3), "int8", dialect=preferred)
    zero_d = way.tensor(np.array(2), "int64", dialect=preferred)
    for other, expected in ((zero_d, "int64"), (2, "int8")):
        found = way.run(operator.mul, x, other, dialect=preferred)
        assert (found.dtype.name, found.tolist()) == (expected, [2] * 3)


# 其他情况 (other cases)


def test_dot_wants_equal_dtypes(way: Way) -> None:
    """ "要求两个输入的数据类型完全一致，如`torch.dot`" (both inputs of one dtype)

    "dot : expected both vectors to have same dtype, but found Short and Float"
    """
    short = way.tensor([1, 2, 3], "torch.short", dialect=TORCH)
    single = way.tensor([1, 2, 3], "torch.float", dialect=TORCH)

    def dotted(a: Any, b: Any) -> Any:
        return cw.apply("torch.dot", a, b)

    with pytest.raises(cw.PromotionError, match=r"dot\(int16.*, float32.*of the same dtype"):
        way.run(dotted, short, single, dialect=TORCH)
    found = way.run(dotted, single, single, dialect=TORCH)
    assert (found.dtype.name, found.tolist()) == ("float32", 14.0)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_sum_of_integers_is_int64(way: Way, dtype: str) -> None:
    """ "比如`torch.sum`，传任意int系列数据类型，最终输出结果均为`torch.int64`" (any int: int64)"""
    tensor = way.tensor([100, 100, 100], dtype, dialect=TORCH)
    found = way.run(lambda t: cw.apply("torch.sum", t), tensor, dialect=TORCH)
    assert (found.dtype.name, found.tolist()) == ("int64", 300)


# Pytorch是怎么做类型提升的 (how PyTorch does it)


def test_a_kernel_has_one_dtype_for_its_inputs_and_its_output() -> None:
    """ "输入和输出的数据类型都是相同的模板参数" (inputs and output have one dtype)"""
    for name in ("add", "sub", "mul", "div", "maximum", "atan2"):
        decision = cw.resolve(name, "int32[3]", "float16[3]", dialect=TORCH)
        assert decision.compute is decision.result
        assert casts_of(decision) == ["int32 -> float16", None]


def test_a_comparison_has_another_dtype_for_its_output() -> None:
    """The same sentence: not so where the result is a bool, or the size of a complex number."""
    decision = cw.resolve("lt", "int32[3]", "float32[3]", dialect=TORCH)
    assert (decision.compute.name, decision.result.name) == ("float32", "bool")
    decision = cw.resolve("abs", "complex64[3]", dialect=TORCH)
    assert (decision.compute.name, decision.result.name) == ("complex64", "float32")


def test_a_cast_is_put_before_the_kernel(way: Way) -> None:
    """ "推断出一个合理的dtype，然后插入一个`to`这个op" (infers a dtype, then inserts `to`)"""
    graph = cw.trace(operator.add, "int32[3]", "float16[3]", dialect=TORCH)
    cast, added, _ = str(graph).splitlines()[1:]
    assert cast.startswith("  %0 = cast a to float16 ")
    assert added.startswith("  %1 = add(%0, b) ")
    a = way.tensor([1, 2, 3], "torch.int32", dialect=TORCH)
    b = way.tensor([0.5, 0.5, 0.5], "torch.float16", dialect=TORCH)
    by_hand = way.run(lambda x, y: x.astype("torch.float16") + y, a, b, dialect=TORCH)
    found = way.run(operator.add, a, b, dialect=TORCH)
    assert found.dtype is by_hand.dtype
    assert found.tolist() == by_hand.tolist() == [1.5, 2.5, 3.5]


# ScalarType.h


def test_two_dtypes_index_a_matrix() -> None:
    """ "输入两个数据类型，根据索引拿到提升后的数据类型" (two dtypes index the promoted one)

    The matrix itself is checked cell by cell with the article that prints it.
    """
    for a, b in itertools.product(cw.dialect("torch@2.1").dtypes, repeat=2):
        promoted = cw.promote_types(a, b, dialect=TORCH)
        assert cw.promote_types(b, a, dialect=TORCH) is promoted
        assert result(f"{a}[3] + {b}[3]", TORCH) == promoted.name


# Activation.cpp


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "float16", "float64"])
def test_threshold_promotes_its_input_to_a_common_dtype(way: Way, dtype: str) -> None:
    """ "TORCH_META_FUNC(threshold)(const Tensor& self, const Scalar& threshold, ..." with
    ".promote_inputs_to_common_dtype(true)": the numbers are no inputs, the tensor keeps its dtype.
    """
    tensor = way.tensor([1, 2, 3], dtype, dialect=TORCH)
    found = way.run(lambda t: cw.apply("F.threshold", t, 2, 7), tensor, dialect=TORCH)
    assert (found.dtype.name, found.tolist()) == (dtype, [7, 7, 3])


def test_a_configuration_has_many_attributes() -> None:
    """ "这个Config类是用于配制各种属性" (the Config class sets attributes): switches here"""
    row = cw.declare_op("configured", promotes=True)
    assert row.switches.promotes
    assert cw.resolve("configured", "int8[3]", "int16[3]", dialect=TORCH).casts[0]


# TensorIterator.cpp


def test_one_common_dtype_is_found_in_all_inputs() -> None:
    """ "多个for循环来推导得到一个`common_dtype`" (loops over the tensors find a common dtype)"""
    for names in itertools.permutations(("uint8", "int8", "float16")):
        operands = ", ".join(f"{name}[3]" for name in names)
        assert result(f"concat({operands})", TORCH) == "float16"


def test_numpy_has_such_an_iterator() -> None:
    """ "Numpy里也有一个类似的容器`NpyIter`" (NumPy has a container like it)"""
    for a, b in itertools.product(("uint8", "int8", "int32", "float32", "float64"), repeat=2):
        arrays = [np.ones(3, a), np.ones(3, b)]
        found = np.nditer(arrays, flags=["common_dtype", "buffered"]).dtypes
        assert {dtype.name for dtype in found} == {result(f"{a}[3] + {b}[3]", "numpy")}


def test_an_input_is_cast_where_its_dtype_is_not_the_common_one() -> None:
    """ "promote_inputs_to_common_dtype_ && !op.is_output && op.current_dtype != common_dtype_" """
    assert casts_of(cw.resolve("add", "int32[3]", "float32[3]", dialect=TORCH)) == [
        "int32 -> float32",
        None,
    ]
    assert cw.resolve("add", "int32[3]", "int32[3]", dialect=TORCH).casts == (None, None)
    cw.declare_op("as_it_is", promotes=False)
    assert cw.resolve("as_it_is", "int32[3]", "float32[3]", dialect=TORCH).casts == (None, None)
    into = cw.resolve("add", "int32[3]", "int32[3]", out="float64", dialect=TORCH)
    assert into.compute.name == "int32"  # an output is no input


def test_the_original_tensor_is_kept(way: Way) -> None:
    """ "op.original_tensor = op.tensor;": a temporary is cast, not the input"""
    a = way.tensor([1, 2, 3], "torch.int32", dialect=TORCH)
    b = way.tensor([0.5, 0.5, 0.5], "torch.float16", dialect=TORCH)
    way.run(operator.add, a, b, dialect=TORCH)
    assert (a.dtype.name, a.tolist()) == ("int32", [1, 2, 3])


# OneFlow的做法 (how OneFlow does it): TensorProcessor


def test_a_processor_does_not_promote_unless_it_is_told(way: Way) -> None:
    """ "common_dtype_(DType::InvalidDataType()), promote_inputs_to_common_dtype_(false)" """
    cw.declare_op("unprocessed", compute=lambda x, y: x, promotes=False)
    x = way.tensor([1, 2], "int32", dialect=ONEFLOW)
    y = way.tensor([0.5, 0.5], "float32", dialect=ONEFLOW)
    found = way.run(lambda a, b: cw.apply("unprocessed", a, b), x, y, dialect=ONEFLOW)
    assert (found.dtype.name, found.tolist()) == ("int32", [1, 2])


def processed(decision: cw.Decision, *inputs: cw.Tensor) -> list[str]:
    """The dtypes of GetInputs(), after AddInputs(...) and Apply()."""
    return [tensor.dtype.name for tensor in decision.cast_inputs(*inputs)]


def test_a_processor_gives_the_inputs_back(way: Way) -> None:
    """ "AddInputs(const TensorTuple& init_list)", "Apply()", "GetInputs()" """
    cw.declare_op("processed", promotes=True)
    x = way.tensor([1, 2], "int32", dialect=ONEFLOW)
    y = way.tensor([0.5, 0.5], "float32", dialect=ONEFLOW)
    decision = cw.resolve("processed", x, y, dialect=ONEFLOW)
    assert processed(decision, x, y) == ["float32", "float32"]
    assert decision.result.name == "float32"


def test_a_binary_functor_promotes_then_dispatches(way: Way) -> None:
    """ "tensor_processor.PromoteInputsToCommonDtype(true).AddInputs({x, y}).Apply()" """
    cw.declare_op("binary_functor", compute=lambda x, y: x * y, promotes=True)
    x = way.tensor([1, 2], "int32", dialect=ONEFLOW)
    y = way.tensor([0.5, 0.5], "float32", dialect=ONEFLOW)
    found = way.run(lambda a, b: cw.apply("binary_functor", a, b), x, y, dialect=ONEFLOW)
    assert (found.dtype.name, found.tolist()) == ("float32", [0.5, 1.0])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int8[3] + int32[3]", "int32"),
        ("int64[3] * float32[3]", "float32"),
        ("bool[3] - int8[3]", "int8"),
        ("float32[3] + float64[3]", "float64"),
        ("int8[3] * 1.0", "float32"),
        (f"int8[3] * {2**63 - 1}", "int8"),
        ("result_type(uint8[3], int8[3])", "int16"),
    ],
)
@pytest.mark.parametrize("dialect", [ONEFLOW, "oneflow"])
def test_a_common_dtype_is_inferred_from_the_inputs(
    question: str, expected: str, dialect: str
) -> None:
    """ "ComputeCommonDType 根据输入dtype推导一个合理的提升过的dtype" (infers a promoted dtype)"""
    assert result(question, dialect) == expected


def test_inputs_of_one_dtype_are_left() -> None:
    """ "CheckHasDifferentInputDType ...检查输入Tensor是否有不同的dtype" (do dtypes differ)"""
    for dialect in (ONEFLOW, "oneflow"):
        for dtype in cw.dialect(dialect).dtypes:
            decision = cw.resolve("add", f"{dtype}[3]", f"{dtype}[3]", dialect=dialect)
            assert decision.casts == (None, None)


def test_inputs_that_differ_from_the_common_dtype_are_cast(way: Way) -> None:
    """ "CastToSameType 给输入Tensor插入一个Cast操作" (inserts casts): "tensor_ptr->dtype() !=
    common_dtype" """
    tensors = [way.tensor([1, 2], dtype, dialect=ONEFLOW) for dtype in ("int32", "float32", "int8")]
    decision = cw.resolve("concat", *tensors, dialect=ONEFLOW)
    assert casts_of(decision) == ["int32 -> float32", None, "int8 -> float32"]
    assert processed(decision, *tensors) == ["float32"] * 3
    found = way.run(operator.mul, *tensors[:2], dialect=ONEFLOW)
    assert (found.dtype.name, found.tolist()) == ("float32", [1.0, 4.0])


def test_without_promotion_each_input_is_raised_to_its_lowest_dtype(way: Way) -> None:
    """ "Cast all the inputs to it's attribute `lowest_dtype` if the input ... is lower" """
    cw.declare_op("raised", promotes=False, lowest_per_input=("int64", None))
    for dialect in (ONEFLOW, "oneflow", TORCH, "numpy", STANDARD):
        decision = cw.resolve("raised", "int32[3]", "float32[3]", dialect=dialect)
        assert casts_of(decision) == ["int32 -> int64", None]
    x = way.tensor([1, 2], "int32", dialect=ONEFLOW)
    y = way.tensor([0.5, 0.5], "float32", dialect=ONEFLOW)
    decision = cw.resolve("raised", x, y, dialect=ONEFLOW)
    assert processed(decision, x, y) == ["int64", "float32"]


def test_what_is_not_lower_is_left() -> None:
    """ "DType::priority_order[base_dtype->data_type()] > DType::priority_order[...]" """
    cw.declare_op("reduced", operands=1, lowest="int64")
    for dialect in (ONEFLOW, "oneflow", TORCH, "numpy", STANDARD):
        for dtype in ("bool", "uint8", "int8", "int32"):
            assert result(f"reduced({dtype}[3])", dialect) == "int64"
        for dtype in ("int64", "float32", "float64"):
            assert result(f"reduced({dtype}[3])", dialect) == dtype


def test_a_processor_promotes_or_raises() -> None:
    """ "if内执行的是类型提升，而else内逻辑则是...第二条" (if: promotion; else: the lowest dtype)

    In other dialects than the article's an op may do both.
    """
    cw.declare_op("promoting", promotes=True, lowest="int64")
    cw.declare_op("raising", promotes=False, lowest="int64")
    inputs = ("int8[3]", "int16[3]")
    both = ["int8 -> int64", "int16 -> int64"]
    assert casts_of(cw.resolve("promoting", *inputs, dialect=ONEFLOW)) == ["int8 -> int16", None]
    assert casts_of(cw.resolve("raising", *inputs, dialect=ONEFLOW)) == both
    for dialect in ("oneflow", TORCH, "numpy", STANDARD):
        for name in ("promoting", "raising"):
            assert casts_of(cw.resolve(name, *inputs, dialect=dialect)) == both


def test_the_sum_has_int64_as_its_lowest_dtype(way: Way) -> None:
    """ "tensor_processor.AddInputs({x}, /*lowest_dtype=*/DType::Int64()).Apply()" """
    cw.declare_op("reduce_sum", compute=lambda x: x.sum(), operands=1, lowest="int64")
    for name in ("oneflow.sum", "reduce_sum"):
        for dtype, expected in (("int8", "int64"), ("int64", "int64"), ("float32", "float32")):
            x = way.tensor([100, 100], dtype, dialect=ONEFLOW)
            found = way.run(lambda t, name=name: cw.apply(name, t), x, dialect=ONEFLOW)
            assert (found.dtype.name, found.tolist()) == (expected, 200)


def test_the_sum_of_any_integer_is_int64_here_and_not_in_version_0_9() -> None:
    """The same code: OneFlow 0.9 ranks int16 and uint64 wrongly and leaves a 0-d array alone."""
    for dtype in ("bool", "uint8", "int8", "int16", "int32", "int64"):
        assert result(f"sum({dtype}[3])", ONEFLOW) == "int64"
        assert result(f"sum({dtype}[])", ONEFLOW) == "int64"
    for dtype in ("bool", "uint8", "int8", "int32", "int64"):
        assert result(f"sum({dtype}[3])", "oneflow") == "int64"
    for dtype in ("float32", "float64"):
        assert result(f"sum({dtype}[3])", "oneflow") == dtype
    assert result("sum(int16[3])", "oneflow") == "int16"
    assert result("sum(uint64[3])", ONEFLOW) == "int64"
    assert result("sum(uint64[3])", "oneflow") == "uint64"
    assert result("sum(int8[])", "oneflow") == "int8"
    assert result("sum(bool[])", "oneflow") == "bool"


def test_what_the_article_does_not_speak_of_is_as_in_version_0_9() -> None:
    """Nor does any of its sentences: the table, and ops other than its two examples."""
    for question in ("int8[3] + uint8[3]", "cumsum(int16[3])", "-int8[3]", "int8[3] / int8[3]"):
        assert result(question, ONEFLOW) == result(question, "oneflow")


# 总结 (summary)


def test_a_result_in_the_wrong_dtype_overflows(way: Way) -> None:
    """ "没有正确处理输出的数据类型，则可能导致结果溢出，出现错误的结果" (else results overflow)"""
    small = way.tensor([100, 100, 100], "torch.int8", dialect=TORCH)
    kept = way.run(lambda t: t + t, small, dialect=TORCH)
    assert (kept.dtype.name, kept.tolist()) == ("int8", [-56] * 3)
    wide = way.tensor([100, 100, 100], "torch.int16", dialect=TORCH)
    promoted = way.run(operator.add, small, wide, dialect=TORCH)
    assert (promoted.dtype.name, promoted.tolist()) == ("int16", [200] * 3)
