"""Seed 003, on promotion in PyTorch, the Array API standard and OneFlow: examples, rules, APIs."""

from __future__ import annotations

import pytest
from asking import result

import castwise as cw


@pytest.fixture(autouse=True)
def _forget_declared_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castwise.vocab.ops._declared", {})


# The opening questions, in PyTorch.


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("torch.mul(int8[3], float64[])", "float64"),
        ("torch.mul(int8[3], int64[])", "int8"),
        ("torch.mul(int8[3], 1.0)", "float32"),
        (f"torch.mul(int8[3], {2**63 - 1})", "int8"),
    ],
)
def test_the_opening_questions(question: str, expected: str) -> None:
    assert result(question, "torch") == expected


# The Array API standard.

SHORT = {
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
    "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
}  # fmt: skip
MIXED = """
         u1  u2  u4
    i1   i2  i4  i8
    i2   i2  i4  i8
    i4   i4  i4  i8
    i8   i8  i8  i8
"""
_HEAD, *_ROWS = [line.split() for line in MIXED.split("\n") if line.strip()]
CELLS = [
    (row, column, cell) for row, *cells in _ROWS for column, cell in zip(_HEAD, cells, strict=True)
]


@pytest.mark.parametrize(("signed", "unsigned", "expected"), CELLS)
def test_the_table_of_mixed_signs(signed: str, unsigned: str, expected: str) -> None:
    a, b = SHORT[signed], SHORT[unsigned]
    assert result(f"{a}[3] + {b}[3]", "array-api") == SHORT[expected]
    assert result(f"{b}[3] + {a}[3]", "array-api") == SHORT[expected]


@pytest.mark.parametrize("sign", ["i", "u"])
def test_within_one_sign_the_wider_wins(sign: str) -> None:
    names = [name for short, name in SHORT.items() if short[0] == sign]
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            assert result(f"{a}[3] + {b}[3]", "array-api") == names[max(i, j)]


@pytest.mark.parametrize(
    "question",
    [
        "bool[3] + int8[3]",
        "bool[3] + float32[3]",
        "int8[3] + float32[3]",
        "int64[3] + float64[3]",
        "uint64[3] + int8[3]",  # no line joins uint64 with a signed integer either
    ],
)
def test_without_a_line_there_is_no_promotion(question: str) -> None:
    assert result(question, "array-api") == "!"


@pytest.mark.parametrize("question", ["int8[3] + 300", "uint8[3] + -1", f"int64[3] + {2**63}"])
def test_the_dashed_lines_end_where_a_scalar_overflows(question: str) -> None:
    """The standard leaves it undefined; array-api-strict refuses it."""
    assert result(question, "array-api") == "!range"


# Arrays with scalars.


@pytest.mark.parametrize("dialect", ["torch", "array-api", "numpy"])
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int16[3] + 2", "int16"),
        ("int32[3] + 2", "int32"),
        ("uint8[3] + 2", "uint8"),
        ("float32[3] + 2.0", "float32"),
        ("float64[3] + 2.0", "float64"),
    ],
)
def test_a_scalar_of_the_same_family_takes_the_arrays_dtype(
    question: str, expected: str, dialect: str
) -> None:
    assert result(question, dialect) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("int16[3] + 2", "int16"),
        ("int16[3] + 2.0", "float32"),
        # The same with 0-d tensors: torch.tensor(2) is int64, torch.tensor(2.0) float32.
        ("int16[3] + int64[]", "int16"),
        ("int16[3] + float32[]", "float32"),
    ],
)
def test_in_pytorch_a_scalar_does_what_a_0d_tensor_does(question: str, expected: str) -> None:
    assert result(question, "torch") == expected


@pytest.mark.parametrize(
    ("value", "in_numpy_1", "in_numpy_2"),
    [(2**31 - 1, "int32", "int32"), (2**31, "int64", "!range")],
)
def test_numpy_looked_at_the_value_and_now_refuses_it(
    value: int, in_numpy_1: str, in_numpy_2: str
) -> None:
    assert result(f"int32[3,3] + {value}", "numpy@1") == in_numpy_1
    assert result(f"int32[3,3] + {value}", "numpy") == in_numpy_2
    assert result(f"int32[3,3] + {value}", "torch") == "int32"


# The other cases.


def test_dot_wants_equal_dtypes() -> None:
    assert result("torch.dot(float32[3], float32[3])", "torch") == "float32"
    with pytest.raises(cw.PromotionError, match=r"dot.*needs operands of one dtype"):
        cw.resolve("dot", "int16[3]", "float32[3]", dialect="torch")


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_sum_of_integers_is_int64(dtype: str) -> None:
    assert result(f"torch.sum({dtype}[3])", "torch") == "int64"


# How PyTorch does it: infer a dtype, cast the inputs that are not of it, compute in it.


def test_inputs_of_another_dtype_are_cast_and_the_kernel_sees_one_dtype() -> None:
    decision = cw.resolve("add", "int32[3]", "float16[3]", dialect="torch")
    assert decision.compute is decision.result
    assert [cast and cast.target for cast in decision.casts] == [decision.compute, None]


def test_inputs_of_one_dtype_are_left() -> None:
    assert cw.resolve("add", "int32[3]", "int32[3]", dialect="torch").casts == (None, None)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "float16", "float64"])
def test_threshold_promotes_its_input_to_a_common_dtype(dtype: str) -> None:
    assert result(f"F.threshold({dtype}[3])", "torch") == dtype


# How OneFlow does it: TensorProcessor.


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
def test_oneflow_promotes_inputs_to_a_common_dtype(question: str, expected: str) -> None:
    assert result(question, "oneflow") == expected


def test_oneflow_casts_the_inputs_that_differ_from_the_common_dtype() -> None:
    decision = cw.resolve("add", "int32[3]", "float32[3]", dialect="oneflow")
    assert [cast and cast.target.name for cast in decision.casts] == ["float32", None]
    assert cw.resolve("add", "int32[3]", "int32[3]", dialect="oneflow").casts == (None, None)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("bool", "int64"), ("uint8", "int64"), ("int8", "int64"), ("int32", "int64"),
        ("int64", "int64"), ("float32", "float32"), ("float64", "float64"),
    ],
)  # fmt: skip
def test_oneflows_sum_has_int64_as_its_lowest_dtype(dtype: str, expected: str) -> None:
    assert result(f"oneflow.sum({dtype}[3])", "oneflow") == expected


# The article's OneFlow, where it is not the one that was recorded.

ARTICLE = "oneflow:article"


@pytest.mark.parametrize(
    ("question", "in_the_article", "recorded"),
    [
        # "Array with scalar behaves as array with 0-d array."
        ("int8[3] * float64[]", "float64", "int8"),
        ("int8[3] * int64[]", "int8", "int8"),
        ("int16[3] + int64[]", "int16", "int16"),
        ("int16[3] + float32[]", "float32", "int16"),
        ("int16[3] + 2", "int16", "int16"),
        ("int16[3] + 2.0", "float32", "float32"),
        ("float32[3] + float64[]", "float32", "float32"),
        # "Any integer dtype gives int64."
        ("sum(int16[3])", "int64", "int16"),
        ("sum(uint64[3])", "int64", "uint64"),
        ("sum(int8[])", "int64", "int8"),
        ("sum(bool[])", "int64", "bool"),
        ("sum(int8[3])", "int64", "int64"),
        ("sum(float32[3])", "float32", "float32"),
        # Not spoken of: as recorded.
        ("int8[3] + uint8[3]", "int16", "int16"),
        ("cumsum(int16[3])", "int16", "int16"),
        ("-int8[3]", "float32", "float32"),
    ],
)
def test_oneflow_as_the_article_has_it(question: str, in_the_article: str, recorded: str) -> None:
    assert result(question, ARTICLE) == in_the_article
    assert result(question, "oneflow") == recorded


def test_in_the_article_an_op_promotes_or_has_lowest_dtypes() -> None:
    """Apply(): if promote_inputs_to_common_dtype_ ... else lowest dtypes."""
    cw.declare_op("promoted", lowest="int64")
    cw.declare_op("raised", lowest="int64", promotes=False)
    for op, in_the_article in (("promoted", "int16"), ("raised", "int64")):
        assert cw.resolve(op, "int8[3]", "int16[3]", dialect=ARTICLE).result.name == in_the_article
        assert cw.resolve(op, "int8[3]", "int16[3]", dialect="oneflow").result.name == "int64"


@pytest.mark.parametrize("zero_d", ["int64[]", "float64[]"])
def test_the_author_would_have_0d_tensors_be_tensors(zero_d: str) -> None:
    wished = f"{ARTICLE}:zero_d=as arrays"
    assert result(f"int8[3] * {zero_d}", wished) == zero_d.removesuffix("[]")
    assert result("int8[3] * 1", wished) == "int8"


@pytest.mark.parametrize("dialect", [ARTICLE, "oneflow", "torch", "numpy", "array-api"])
def test_add_inputs_with_a_lowest_dtype(dialect: str) -> None:
    """AddInputs({x}, /*lowest_dtype=*/DType::Int64())."""
    cw.declare_op("reduced", operands=1, lowest="int64")
    for dtype, expected in (("int32", "int64"), ("int64", "int64"), ("float32", "float32")):
        assert cw.resolve("reduced", f"{dtype}[3]", dialect=dialect).result.name == expected


@pytest.mark.parametrize("dialect", [ARTICLE, "oneflow", "torch", "numpy", "array-api"])
def test_without_promotion_each_input_is_raised_to_its_own_lowest_dtype(dialect: str) -> None:
    cw.declare_op("raised", promotes=False, lowest_per_input=("int64", None))
    decision = cw.resolve("raised", "int32[3]", "float32[3]", dialect=dialect)
    assert [str(cast) if cast else None for cast in decision.casts] == ["int32 -> int64", None]
