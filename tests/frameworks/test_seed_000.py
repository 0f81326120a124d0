"""Seed 000, Paddle's "Introduction to Data Type Promotion": its tables, rules and examples.

Where a cell contradicts the seed's own text, the text is followed and the cell stands in MENDED.
"""

from __future__ import annotations

import itertools

import pytest

import castwise as cw
from asking import result

SHORT = {
    "bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64", "bool": "bool",
    "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "c64": "complex64",
    "c128": "complex128",
}  # fmt: skip
WHOLE = ("bool", "uint8", "int8", "int16", "int32", "int64")
TENSOR_TENSOR = """
    bf16 bf16 f32 f32 f64 - - - - - - c64 c128
    f16 f32 f16 f32 f64 - - - - - - c64 c128
    f32 f32 f32 f32 f64 - - - - - - c64 c128
    f64 f64 f64 f64 f64 - - - - - - c128 c128
    bool - - - - - - - - - - c64 c128
    u8 - - - - - - - - - - c64 c128
    i8 - - - - - - - - - - c64 c128
    i16 - - - - - - - - - - c64 c128
    i32 - - - - - - - - - - c64 c128
    i64 - - - - - - - - - - c64 c128
    c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c128 c64 c128
    c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
"""
# Equal dtypes need no promotion, and promotion is commutative: complex64 with float64 is
# complex128 in the seed's example, so the two cells of its row are swapped.
MENDED = {
    **{(name, name): name for name in ("bool", "u8", "i8", "i16", "i32", "i64")},
    ("c64", "f64"): "c128",
    ("c64", "i64"): "c64",
}
TENSOR_SCALAR = """
    bool bool i64 f32 c64
    u8 u8 u8 f32 c64
    i8 i8 i8 f32 c64
    i16 i16 i16 f32 c64
    i32 i32 i32 f32 c64
    i64 i64 i64 f32 c64
    bf16 bf16 bf16 bf16 c64
    f16 f16 f16 f16 c64
    f32 f32 f32 f32 c64
    f64 f64 f64 f64 c128
    c64 c64 c64 c64 c64
    c128 c128 c128 c128 c128
"""
SCALARS = ("True", "1", "1.0", "1j")
# Number, API, rule for two tensors, rule for a tensor and a scalar.
SCOPE = """
    1 add common common
    2 subtract common common
    3 multiply common common
    4 divide common divide
    5 floor_divide common common
    6 pow common common
    7 equal logic logic
    8 not_equal logic logic
    9 less_than logic logic
    10 less_equal logic logic
    11 greater_than logic logic
    12 greater_equal logic logic
    13 logical_and logic logic
    14 logical_or logic logic
    15 logical_xor logic logic
    16 bitwise_and - common
    17 bitwise_or - common
    18 bitwise_xor - common
    19 where common common
    20 fmax common -
    21 fmin common -
    22 logaddexp common -
    23 maximum common -
    24 minimum common -
    25 remainder common common
    26 huber_loss common -
    27 nextafter common -
    28 atan2 common -
    29 poisson_nll_loss common -
    30 l1_loss common -
    31 huber_loss common -
    32 mse_loss common -
"""
APIS = [line.split() for line in SCOPE.split("\n") if line.strip()]


def answers(expression: str) -> str:
    return result(expression, "paddle:documented")


def call(api: str, *operands: str) -> str:
    condition = ["bool[3,3]"] if api == "where" else []
    return f"paddle.{api}({', '.join([*condition, *operands])})"


def long(short: str) -> str:
    return SHORT.get(short, "!")


def table(text: str) -> dict[tuple[str, int], str]:
    """The cells of a table by the name of the row and the place in it."""
    rows = [line.split() for line in text.split("\n") if line.strip()]
    return {(row[0], place): cell for row in rows for place, cell in enumerate(row[1:])}


PAIRS = {
    (a, b): MENDED.get((a, b), table(TENSOR_TENSOR)[a, place])
    for a, (place, b) in itertools.product(SHORT, enumerate(SHORT))
}
SCALAR_PAIRS = {
    (a, scalar): table(TENSOR_SCALAR)[a, place]
    for a, (place, scalar) in itertools.product(SHORT, enumerate(SCALARS))
}


# Section "Type Promotion Rules": the two tables, for + - and *.


@pytest.mark.parametrize("symbol", ["+", "-", "*"])
@pytest.mark.parametrize(("pair", "expected"), PAIRS.items(), ids=str)
def test_tensor_to_tensor(pair: tuple[str, str], expected: str, symbol: str) -> None:
    a, b = map(long, pair)
    assert answers(f"{a}[3,3] {symbol} {b}[3,3]") == long(expected)


@pytest.mark.parametrize("symbol", ["+", "-", "*"])
@pytest.mark.parametrize(("pair", "expected"), SCALAR_PAIRS.items(), ids=str)
def test_tensor_to_scalar(pair: tuple[str, str], expected: str, symbol: str) -> None:
    tensor, scalar = f"{long(pair[0])}[3,3]", pair[1]
    assert answers(f"{tensor} {symbol} {scalar}") == long(expected)
    assert answers(f"{scalar} {symbol} {tensor}") == long(expected)


def test_the_mended_table_is_commutative() -> None:
    assert all(PAIRS[a, b] == PAIRS[b, a] for a, b in PAIRS)


@pytest.mark.parametrize(
    ("scalar", "expected"), [*zip(SCALARS, ["bool", "i64", "f32", "c64"], strict=True)]
)
def test_the_default_dtype_of_a_scalar(scalar: str, expected: str) -> None:
    assert answers(f"bool[3,3] + {scalar}") == long(expected)


# The sample code, its constructions written as notation: ones and rand of [3,3].


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("float16[3,3] + float32[3,3]", "float32"),
        ("float16[3,3] + 1.0", "float16"),
        ("bfloat16[3,3] + float64[3,3]", "float64"),
        ("complex64[3,3] + float64[3,3]", "complex128"),
        ("complex128[3,3] + complex64[3,3]", "complex128"),
        ("1.0 + int64[3,3]", "float32"),  # its comment says float16, its table float32
        ("float32[3,3] + float16[3,3]", "float32"),
        ("paddle.add(float16[3,3], float32[3,3])", "float32"),
        ("int64[3,3] + float32[3,3]", "!"),
        ("int32[3,3] / 1", "float32"),
        ("float32[3,3] == float16[3,3]", "bool"),
    ],
)
def test_the_examples(expression: str, expected: str) -> None:
    assert answers(expression) == expected


def test_the_first_example_casts_the_float16_tensor_alone() -> None:
    decision = cw.resolve("add", "float16[3,3]", "float32[3,3]", dialect="paddle:documented")
    assert [str(cast and cast.target) for cast in decision.casts] == ["float32", "None"]


def test_the_complex_example_casts_both() -> None:
    decision = cw.resolve("add", "complex64[3,3]", "float64[3,3]", dialect="paddle:documented")
    assert [str(cast and cast.target) for cast in decision.casts] == ["complex128"] * 2


# Section "For Unsupported Case": a TypeError, and what to do.


def test_the_unsupported_case_is_a_type_error_that_advises_to_cast() -> None:
    with pytest.raises(TypeError) as refused:
        cw.resolve("add", "int64[3]", "float32[3]", dialect="paddle:documented", form="function")
    assert str(refused.value) == (
        "add(int64[3], float32[3]) is not defined in paddle:documented: tensors promote only among"
        " floats and with complex. Cast one: x.astype('float32')."
    )
    assert answers("add(float32[3], float32[3])") == "float32"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("int32[3] + int64[3]", "tensors promote only among floats and with complex"),
        ("equal(complex64[3], 1)", "complex numbers are not for logic"),
        ("maximum(float32[3], 1.0)", "it promotes tensors, and takes no scalar"),
        ("bitwise_and(int32[3], int64[3])", "bitwise APIs take tensors of one dtype"),
        ("hypot(float32[3], float64[3])", "it is not among the APIs that promote"),
    ],
)
def test_every_refusal_says_why(expression: str, why: str) -> None:
    assert why in cw.explain(expression, dialect="paddle:documented")


# Section "The Scope of Type Promotion": 32 rows, three rules.


def test_32_apis_are_listed_one_of_them_twice() -> None:
    names = [api for _, api, _, _ in APIS]
    assert [number for number, *_ in APIS] == [str(n) for n in range(1, 33)]
    assert len(set(names)) == 31
    assert names.count("huber_loss") == 2


def tensors_expected(api: str, rule: str, a: str, b: str) -> str:
    """What the rule of two tensors says, "!" for a refusal."""
    common = long(PAIRS[a, b])
    if rule == "logic" and common != "!":
        return "!" if "complex" in common else "bool"
    if rule == "-":
        return common if a == b and common in WHOLE else "!"
    return "float32" if api == "divide" and common in WHOLE else common


@pytest.mark.parametrize(("number", "api", "rule", "_"), APIS)
def test_the_rule_for_two_tensors(number: str, api: str, rule: str, _: str) -> None:
    for a, b in PAIRS:
        expected = tensors_expected(api, rule, a, b)
        assert answers(call(api, f"{long(a)}[3,3]", f"{long(b)}[3,3]")) == expected


def scalar_expected(api: str, rule: str, a: str, scalar: str) -> str:
    """What the rule of a tensor and a scalar says, "!" for a refusal."""
    common = long(SCALAR_PAIRS[a, scalar])
    if rule == "-" or (api.startswith("bitwise") and common not in WHOLE):
        return "!"
    if rule == "logic":
        return "!" if "complex" in common else "bool"
    return "float32" if rule == "divide" and common in WHOLE else common


@pytest.mark.parametrize(("number", "api", "_", "rule"), APIS)
def test_the_rule_for_a_tensor_and_a_scalar(number: str, api: str, _: str, rule: str) -> None:
    for a, scalar in SCALAR_PAIRS:
        expected = scalar_expected(api, rule, a, scalar)
        assert answers(call(api, f"{long(a)}[3,3]", scalar)) == expected


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_divide_never_returns_less_than_a_float(dtype: str) -> None:
    assert answers(f"{dtype}[3,3] / 1") == "float32"
    assert answers(f"{dtype}[3,3] / {dtype}[3,3]") == "float32"
    assert answers("float16[3,3] / 1") == "float16"


# Section "Summary": commutative, and the same for operators and APIs.


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "pow", "remainder", "eq", "lt"])
def test_operator_and_api_agree(op: str) -> None:
    operands = [*(f"{name}[3,3]" for name in SHORT.values()), *SCALARS]
    for pair in itertools.product(operands[:12], operands):
        forms = set()
        for form in ("operator", "function"):
            try:
                decided = cw.resolve(op, *pair, dialect="paddle:documented", form=form)
                forms.add(decided.result.name)
            except cw.PromotionError:
                forms.add("!")
        assert len(forms) == 1
