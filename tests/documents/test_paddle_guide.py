"""PaddlePaddle's guide "Introduction to Data Type Promotion": every statement, in its order.

Each test quotes what it checks. Where the guide contradicts itself, the test says what castwise
follows; docs/evidence/documents.md lists these places, and where Paddle does something else than
the guide.

Without a check, as they say nothing that could be checked: the first sentence, why type promotion
is useful, what is usual in training, and the last sentence, on what the article is for.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ways import Way

import castwise as cw
from asking import result

GUIDE = "paddle:documented"
SHORT = {
    "bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64", "bool": "bool",
    "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "c64": "complex64",
    "c128": "complex128",
}  # fmt: skip
WHOLE = ("bool", "uint8", "int8", "int16", "int32", "int64")
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
RANDOM = np.random.default_rng(0).random((3, 3))


def answers(expression: str) -> str:
    """The dtype of an expression by the guide, "!" for a refusal."""
    return result(expression, GUIDE)


def long(short: str) -> str:
    """The name of a dtype that a table writes short; "-" is a refusal."""
    return SHORT.get(short, "!")


def rand(way: Way, dtype: str) -> cw.Tensor:
    """paddle.rand([3,3], dtype=dtype)."""
    return way.tensor(RANDOM, dtype, dialect=GUIDE)


def ones(way: Way, dtype: str) -> cw.Tensor:
    """paddle.ones([3,3], dtype=dtype)."""
    return way.tensor(np.ones((3, 3)), dtype, dialect=GUIDE)


def run(way: Way, fn: Callable[..., Any], *operands: Any) -> Any:
    """What a function of tensors gives under the guide's rules."""
    return way.run(fn, *operands, dialect=GUIDE)


def casts_in(way: Way, fn: Callable[..., Any], *operands: Any) -> set[tuple[str, str]]:
    """The dtypes that operands had before and after, where one was cast."""
    with cw.count_casts() as casts:
        run(way, fn, *operands)
    return {(source, target) for _, source, target, _ in casts.by}


# "Background"


@pytest.mark.parametrize("symbol", OPERATORS)
def test_it_determines_the_resulting_dtype(way: Way, symbol: str) -> None:
    """ "automatically determines the resulting data type when performing operations (+/-/*//)" """
    found = run(way, OPERATORS[symbol], rand(way, "float16"), rand(way, "float32"))
    assert found.dtype.name == "float32"


def test_there_are_operators_and_binary_apis(way: Way) -> None:
    """ "Operator Overloading: ... a + b or a - b"; "Binary API: ... paddle.add(a, b)" """
    a, b = rand(way, "float16"), rand(way, "float32")
    assert run(way, lambda a, b: a + b, a, b).dtype.name == "float32"
    assert run(way, lambda a, b: a - b, a, b).dtype.name == "float32"
    assert run(way, lambda a, b: cw.apply("paddle.add", a, b), a, b).dtype.name == "float32"


def test_no_user_intervention(way: Way) -> None:
    """ "automatically handles type promotion without user intervention" """
    a, b = rand(way, "float16"), rand(way, "float32")
    by_hand = run(way, lambda a, b: a.astype("float32") + b, a, b)
    assert run(way, operator.add, a, b).tolist() == by_hand.tolist()


# "Type Promotion Rules"


def test_the_rules_differ_between_tensors_and_scalars() -> None:
    """ "The scope and rules of type promotion differ between Tensor-to-Tensor and
    Tensor-to-Scalar operations." """
    assert (answers("float32[3,3] + int64[3,3]"), answers("float32[3,3] + 1")) == ("!", "float32")


def test_both_a_and_b_is_tensor(way: Way) -> None:
    """ "when both a and b is tensor, treats as Tensor-to-Tensor" """
    a = rand(way, "float16")
    b = rand(way, "float32")
    assert run(way, lambda a, b: a + b, a, b).dtype.name == "float32"


def test_either_a_or_b_is_scalar(way: Way) -> None:
    """ "when either a or b is Scalar, treats as Tensor-to-Scalar" """
    a = rand(way, "float16")
    b = 1.0
    assert run(way, lambda a: a + b, a).dtype.name == "float16"
    assert run(way, lambda a: b + a, a).dtype.name == "float16"
    assert run(way, lambda a, b: a + b, a, b).dtype.name == "float16"


# "1. Type Promotion Rules in Tensor-to-Tensor"

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
# complex128 in the guide's example, so the two cells of its row are swapped.
MENDED = {
    **{(name, name): name for name in ("bool", "u8", "i8", "i16", "i32", "i64")},
    ("c64", "f64"): "c128",
    ("c64", "i64"): "c64",
}


def table(text: str) -> dict[tuple[str, int], str]:
    """The cells of a table by the name of the row and the place in it."""
    rows = [line.split() for line in text.split("\n") if line.strip()]
    return {(row[0], place): cell for row in rows for place, cell in enumerate(row[1:])}


PRINTED = {
    (a, b): table(TENSOR_TENSOR)[a, place]
    for a, (place, b) in itertools.product(SHORT, enumerate(SHORT))
}
PAIRS = {**PRINTED, **MENDED}
ALLOWED = [pair for pair, cell in PAIRS.items() if cell != "-"]


def test_only_floats_and_complex_with_real_are_promoted() -> None:
    """ "automatic type promotion between Tensors only supports floating-point types and
    calculations between complex and real numbers" """
    for a, b in itertools.product(SHORT.values(), repeat=2):
        kinds = {cw.dtype(a).kind, cw.dtype(b).kind}
        is_promoted = kinds == {"float"} or "complex" in kinds
        assert (answers(f"{a}[3,3] + {b}[3,3]") != "!") == (is_promoted or a == b), (a, b)


def test_the_result_is_the_larger_of_the_two() -> None:
    """ "The result type is the larger of the two input types."

    In the guide's own table it is larger than both where neither input holds the other.
    """
    neither = {pair for pair in ALLOWED if PAIRS[pair] not in pair}
    assert neither == {("bf16", "f16"), ("f16", "bf16"), ("f64", "c64"), ("c64", "f64")}
    for a, b in ALLOWED:
        bits = [cw.dtype(long(short)).bits for short in (a, b, PAIRS[a, b])]
        assert bits[2] >= max(bits[:2]), (a, b)


@pytest.mark.parametrize("symbol", ["+", "-", "*"])
def test_the_table_of_two_tensors(symbol: str) -> None:
    """ "More Details show in this table": +/-/*, of twelve dtypes"""
    for (a, b), expected in PAIRS.items():
        assert answers(f"{long(a)}[3,3] {symbol} {long(b)}[3,3]") == long(expected), (a, b)


@pytest.mark.parametrize("symbol", ["+", "-", "*"])
def test_the_table_of_two_tensors_executed(way: Way, symbol: str) -> None:
    tensors = {short: ones(way, name) for short, name in SHORT.items()}

    def every_pair(*given: cw.Tensor) -> list[cw.Tensor]:
        by_name = dict(zip(tensors, given, strict=True))
        return [OPERATORS[symbol](by_name[a], by_name[b]) for a, b in ALLOWED]

    found = run(way, every_pair, *tensors.values())
    assert [each.dtype.name for each in found] == [long(PAIRS[pair]) for pair in ALLOWED]


def test_what_the_table_refuses_is_a_type_error_when_it_runs(way: Way) -> None:
    tensors = {short: ones(way, name) for short, name in SHORT.items()}
    for a, b in PAIRS.keys() - set(ALLOWED):
        with pytest.raises(TypeError, match="tensors promote only among floats and with complex"):
            run(way, operator.add, tensors[a], tensors[b])


def test_eight_cells_contradict_the_text() -> None:
    """The table is commutative except for two cells, which are mended, as is its '-' for equal
    integers."""
    assert {pair for pair in PRINTED if PRINTED[pair] != PAIRS[pair]} == set(MENDED)
    assert {(a, b) for a, b in PRINTED if PRINTED[a, b] != PRINTED[b, a]} == {
        ("c64", "f64"), ("f64", "c64"), ("c64", "i64"), ("i64", "c64"),
    }  # fmt: skip
    assert all(PAIRS[a, b] == PAIRS[b, a] for a, b in PAIRS)


def test_line_represents_a_and_column_b() -> None:
    """ "Taking Paddle add (a, b) as an example, in the table above, line represent a and column
    represent b." """
    for (line, column), expected in PAIRS.items():
        assert answers(f"paddle.add({long(line)}[3,3], {long(column)}[3,3])") == long(expected)


def test_calculation_between_floating_points(way: Way) -> None:
    """ "casting 'a' to float32 ... the dtype of 'c' is float32" """
    a = rand(way, "float16")
    b = rand(way, "float32")
    c = run(way, lambda a, b: a + b, a, b)
    assert c.dtype.name == "float32"
    assert casts_in(way, operator.add, a, b) == {("float16", "float32")}


def test_calculation_between_bfloat16_and_float64(way: Way) -> None:
    """ "casting 'a' to float64 ... the dtype of 'c' is float64" """
    a = rand(way, "bfloat16")
    b = rand(way, "float64")
    c = run(way, lambda a, b: a + b, a, b)
    assert c.dtype.name == "float64"
    assert casts_in(way, operator.add, a, b) == {("bfloat16", "float64")}


def test_calculation_between_complex_and_real_number(way: Way) -> None:
    """ "casting both 'a' and 'b' to complex128 ... the dtype of 'c' is complex128" """
    a = ones(way, "complex64")
    b = rand(way, "float64")
    c = run(way, lambda a, b: a + b, a, b)
    assert c.dtype.name == "complex128"
    both = {("complex64", "complex128"), ("float64", "complex128")}
    assert casts_in(way, operator.add, a, b) == both


def test_calculation_between_complex_numbers(way: Way) -> None:
    """ "casting 'b' to complex128 ... the dtype of 'c' is complex128" """
    a = ones(way, "complex128")
    b = ones(way, "complex64")
    c = run(way, lambda a, b: a + b, a, b)
    assert c.dtype.name == "complex128"
    assert casts_in(way, operator.add, a, b) == {("complex64", "complex128")}


# "2. Type Promotion Rules in Tensor-to-Scalar"

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
SCALARS = {"bool": True, "int": 1, "float": 1.0, "complex": 1j}
DEFAULTS = {"bool": "bool", "int": "i64", "float": "f32", "complex": "c64"}
SCALAR_PAIRS = {
    (a, scalar): table(TENSOR_SCALAR)[a, place]
    for a, (place, scalar) in itertools.product(SHORT, enumerate(SCALARS))
}


def test_tensor_and_scalar_support_all_types() -> None:
    """ "Type promotion between Tensor and Scalar supports all types." """
    for a, scalar in SCALAR_PAIRS:
        assert answers(f"{long(a)}[3,3] + {SCALARS[scalar]}") != "!", (a, scalar)


def test_promote_towards_the_tensors_type_when_the_broad_type_matches() -> None:
    """ "promote towards the Tensor's type when the Scalar's broad type (both are integers or both
    are floating-point, etc.) matches" """
    for a, scalar in SCALAR_PAIRS:
        if cw.dtype(long(a)).kind == scalar:
            assert answers(f"{long(a)}[3,3] + {SCALARS[scalar]}") == long(a)


def test_otherwise_the_tensor_to_tensor_rules() -> None:
    """ "Otherwise, the result follows the Tensor-to-Tensor rules."

    These refuse integers beside floats, and bool beside anything real, while the guide's table of
    scalars has a dtype there. The table is followed: the rule holds where it has an answer.
    """
    refused = set()
    for (a, scalar), expected in SCALAR_PAIRS.items():
        if cw.dtype(long(a)).kind == scalar:
            continue
        by_tensors = PAIRS[a, DEFAULTS[scalar]]
        if by_tensors == "-":
            refused.add((a, scalar))
        else:
            assert expected == by_tensors, (a, scalar)
        assert answers(f"{long(a)}[3,3] + {SCALARS[scalar]}") == long(expected)
    numbers, integers, floats = set(SHORT), {"u8", "i8", "i16", "i32", "i64"}, set(list(SHORT)[:4])
    real = numbers - {"c64", "c128"}
    assert refused == {
        *((a, "bool") for a in real - {"bool"}),
        *((a, "int") for a in floats | {"bool"}),
        *((a, "float") for a in integers | {"bool"}),
    }


def test_the_default_dtype_of_a_scalar() -> None:
    """ "int -> int64, float -> float32, bool -> bool, complex -> complex64" """
    for scalar, short in DEFAULTS.items():
        assert answers(f"bool[3,3] + {SCALARS[scalar]}") == long(short)
        assert cw.result_type(SCALARS[scalar], dialect=GUIDE).name == long(short)


@pytest.mark.parametrize("symbol", ["+", "-", "*"])
def test_the_table_of_a_tensor_and_a_scalar(symbol: str) -> None:
    """ "More Details show in this table": +/-/*, of twelve dtypes and four kinds of scalars"""
    for (a, scalar), expected in SCALAR_PAIRS.items():
        tensor, number = f"{long(a)}[3,3]", SCALARS[scalar]
        assert answers(f"{tensor} {symbol} {number}") == long(expected), (a, scalar)
        assert answers(f"{number} {symbol} {tensor}") == long(expected), (a, scalar)


@pytest.mark.parametrize("symbol", ["+", "-", "*"])
def test_the_table_of_a_tensor_and_a_scalar_executed(way: Way, symbol: str) -> None:
    def every_pair(*tensors: cw.Tensor) -> list[tuple[cw.Tensor, cw.Tensor]]:
        of, by_name = OPERATORS[symbol], dict(zip(SHORT, tensors, strict=True))
        return [
            (of(by_name[a], SCALARS[scalar]), of(SCALARS[scalar], by_name[a]))
            for a, scalar in SCALAR_PAIRS
        ]

    found = run(way, every_pair, *(ones(way, name) for name in SHORT.values()))
    names = [(left.dtype.name, right.dtype.name) for left, right in found]
    assert names == [(long(cell), long(cell)) for cell in SCALAR_PAIRS.values()]


def test_both_are_floating_point_then_the_tensors_type(way: Way) -> None:
    """ "casting 'b' to float16 ... the dtype of 'c' is float16" """
    a = rand(way, "float16")
    b = 1.0
    c = run(way, lambda a: a + b, a)
    assert c.dtype.name == "float16"
    assert cw.resolve("add", "float16[3,3]", 1.0, dialect=GUIDE).compute.name == "float16"


def test_unmatched_in_broad_type(way: Way) -> None:
    """ "casting 'b' to float32 ... the dtype of 'c' is float16"

    The second half is a slip: the table says float32, and so does the first half.
    """
    a = 1.0
    b = ones(way, "int64")
    c = run(way, lambda b: a + b, b)
    assert c.dtype.name == "float32"
    assert casts_in(way, lambda b: a + b, b) == {("int64", "float32")}


# "How to Use Type Promotion": "1. For Supported Case"


def is_true(found: cw.Tensor) -> bool:
    """Whether it is what the guide prints: a tensor of shape [] and dtype bool, True."""
    return (found.shape, found.dtype.name, found.tolist()) == ((), "bool", True)


def allclose(way: Way, first: cw.Tensor, second: cw.Tensor) -> cw.Tensor:
    found: cw.Tensor = run(way, lambda a, b: cw.apply("paddle.allclose", a, b), first, second)
    return found


def test_the_supported_case(way: Way) -> None:
    """ "casting 'a' to float32, and no additional user actions required" """
    a, b = rand(way, "float16"), rand(way, "float32")
    c = run(way, lambda a, b: a + b, a, b)
    assert c.dtype.name == "float32"


def test_coincidence_computative_law(way: Way) -> None:
    """ "Coincidence computative law": "print (paddle.allclose(c, d)) # ... True" """
    a, b = rand(way, "float16"), rand(way, "float32")
    c = run(way, lambda a, b: a + b, a, b)
    d = run(way, lambda a, b: b + a, a, b)
    assert d.dtype.name == "float32"
    assert is_true(allclose(way, c, d))


def test_same_with_binary_api(way: Way) -> None:
    """ "Same with binary API": "print (paddle.allclose(c, e)) # ... True" """
    a, b = rand(way, "float16"), rand(way, "float32")
    c = run(way, lambda a, b: a + b, a, b)
    e = run(way, lambda a, b: cw.apply("paddle.add", a, b), a, b)
    assert e.dtype.name == "float32"
    assert is_true(allclose(way, c, e))


def test_same_with_static_graph(way: Way) -> None:
    """ "Same with static graph": "print (res[0].dtype) # float32", "print (paddle.allclose(c,
    paddle.to_tensor(res[0]))) # ... True"

    The guide draws new random numbers in its static program, so that they differ from those in
    `c`. The graph is given the same ones here; with others, as written there, allclose is False.
    """
    a, b = rand(way, "float16"), rand(way, "float32")
    c = run(way, lambda a, b: a + b, a, b)
    train_program = cw.trace(
        lambda a, b: cw.apply("paddle.add", a, b), "float16[3,3]", "float32[3,3]", dialect=GUIDE
    )
    res = train_program(a, b, backend=way.backend)
    assert res.dtype.name == "float32"
    assert is_true(allclose(way, c, res))
    drawn_anew = train_program(b.astype("float16") * 0.5, b, backend=way.backend)
    assert allclose(way, c, drawn_anew).tolist() is False


# "2、For Unsupported Case"


def test_the_unsupported_case(way: Way) -> None:
    """ "due to the unsupported of automatic type promotion between int and float, TypeError will
    be raised" """
    a, b = ones(way, "int64"), rand(way, "float32")
    with pytest.raises(TypeError, match=r"int64 \+ float32 is not defined in paddle:documented"):
        run(way, lambda a, b: a + b, a, b)


def test_users_manually_perform_type_promotion(way: Way) -> None:
    """ "For those unsupported cases, we suggest that users manually perform type promotion" """
    with pytest.raises(TypeError) as refused:
        cw.resolve("add", "int64[3]", "float32[3]", dialect=GUIDE, form="function")
    assert str(refused.value) == (
        "add(int64[3], float32[3]) is not defined in paddle:documented: tensors promote only among"
        " floats and with complex. Cast one: x.astype('float32')."
    )
    a, b = ones(way, "int64"), rand(way, "float32")
    assert run(way, lambda a, b: a.astype("float32") + b, a, b).dtype.name == "float32"


def test_method_1_use_astype_api(way: Way) -> None:
    """ "a = a.astype("float32")", "a = a.astype(b.dtype)" """
    a, b = ones(way, "int64"), rand(way, "float32")
    assert run(way, lambda a: a.astype("float32"), a).dtype.name == "float32"
    assert run(way, lambda a, b: a.astype(b.dtype), a, b).dtype.name == "float32"


def test_method_2_use_cast_api(way: Way) -> None:
    """ "a = paddle.cast(a, "float32")", "a = paddle.cast(a, b.dtype)" """
    a, b = ones(way, "int64"), rand(way, "float32")
    assert run(way, lambda a: cw.apply("paddle.cast", a, "float32"), a).dtype.name == "float32"
    assert run(way, lambda a, b: cw.apply("paddle.cast", a, b.dtype), a, b).dtype.name == "float32"
    assert run(way, lambda a: a.cast("float32"), a).dtype.name == "float32"


# "The Scope of Type Promotion"

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
# Floor division and remainder of complex numbers do not exist, nor numbers next to what is no
# float. These APIs take fewer dtypes than their rule has answers for.
TAKES = {"floor_divide": "bool int float", "remainder": "bool int float", "nextafter": "float"}


def takes(api: str, dtype: str) -> bool:
    """Whether an API computes in a dtype."""
    return api not in TAKES or cw.dtype(dtype).kind in TAKES[api].split()


def call(api: str, *operands: str) -> str:
    condition = ["bool[3,3]"] if api == "where" else []
    return f"paddle.{api}({', '.join([*condition, *operands])})"


def apply(api: str, *operands: Any) -> Any:
    """Calls an API on tensors; `where` chooses by a condition made of the first."""
    condition = [operands[0].astype("bool")] if api == "where" else []
    return cw.apply(f"paddle.{api}", *condition, *operands)


def tensors_expected(api: str, rule: str, a: str, b: str) -> str:
    """What the rule of two tensors says, "!" for a refusal."""
    common = long(PAIRS[a, b])
    if common == "!" or not takes(api, common):
        return "!"
    if rule == "logic":
        return "!" if "complex" in common else "bool"
    if rule == "-":
        return common if a == b and common in WHOLE else "!"
    return "float32" if api == "divide" and common in WHOLE else common


def scalar_expected(api: str, rule: str, a: str, scalar: str) -> str:
    """What the rule of a tensor and a scalar says, "!" for a refusal."""
    common = long(SCALAR_PAIRS[a, scalar])
    if rule == "-" or not takes(api, common):
        return "!"
    if api.startswith("bitwise") and common not in WHOLE:
        return "!"
    if rule == "logic":
        return "!" if "complex" in common else "bool"
    return "float32" if rule == "divide" and common in WHOLE else common


def test_as_of_paddle_version_2_6() -> None:
    """ "As of Paddle version 2.6": docs/evidence/paddle-versions.md has what 2.6.2 does instead."""
    assert cw.dialect(GUIDE).version == "2.6"
    assert cw.dialect("paddle").version == "3.3"


def test_32_apis_are_listed_one_of_them_twice() -> None:
    """ "the supported binary APIs and their rules are as follows": 1 to 32"""
    names = [api for _, api, _, _ in APIS]
    assert [number for number, *_ in APIS] == [str(n) for n in range(1, 33)]
    assert len(set(names)) == 31
    assert names.count("huber_loss") == 2


@pytest.mark.parametrize(("number", "api", "rule", "_"), APIS)
def test_the_rule_for_two_tensors(number: str, api: str, rule: str, _: str) -> None:
    """The column "Tensor-to-Tensor"."""
    for a, b in PAIRS:
        found = answers(call(api, f"{long(a)}[3,3]", f"{long(b)}[3,3]"))
        assert found == tensors_expected(api, rule, a, b), (a, b)


@pytest.mark.parametrize(("number", "api", "_", "rule"), APIS)
def test_the_rule_for_a_tensor_and_a_scalar(number: str, api: str, _: str, rule: str) -> None:
    """The column "Tensor-to-Scalar"."""
    for a, scalar in SCALAR_PAIRS:
        found = answers(call(api, f"{long(a)}[3,3]", str(SCALARS[scalar])))
        assert found == scalar_expected(api, rule, a, scalar), (a, scalar)


def test_the_name_mod() -> None:
    """Row 25: "remainder(mod)" """
    assert answers("paddle.mod(float16[3,3], float32[3,3])") == "float32"
    assert answers("paddle.mod(int32[3,3], 1.0)") == "float32"


def test_every_api_runs_on_two_tensors(way: Way) -> None:
    tensors = {short: ones(way, name) for short, name in SHORT.items()}
    for _, api, rule, _ in APIS:
        expected = {pair: tensors_expected(api, rule, *pair) for pair in PAIRS}
        allowed = [pair for pair, answer in expected.items() if answer != "!"]

        def every_pair(*given: cw.Tensor, api: str = api, pairs: Any = allowed) -> list[cw.Tensor]:
            by_name = dict(zip(tensors, given, strict=True))
            return [apply(api, by_name[a], by_name[b]) for a, b in pairs]

        found = run(way, every_pair, *tensors.values())
        assert [each.dtype.name for each in found] == [expected[pair] for pair in allowed], api


def test_every_api_runs_on_a_tensor_and_a_scalar(way: Way) -> None:
    tensors = {short: ones(way, name) for short, name in SHORT.items()}
    for _, api, _, rule in APIS:
        expected = {pair: scalar_expected(api, rule, *pair) for pair in SCALAR_PAIRS}
        allowed = [pair for pair, answer in expected.items() if answer != "!"]

        def every_pair(*given: cw.Tensor, api: str = api, pairs: Any = allowed) -> list[cw.Tensor]:
            by_name = dict(zip(tensors, given, strict=True))
            return [apply(api, by_name[a], SCALARS[scalar]) for a, scalar in pairs]

        if allowed:
            found = run(way, every_pair, *tensors.values())
            assert [each.dtype.name for each in found] == [expected[pair] for pair in allowed], api


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("int32[3] + int64[3]", "tensors promote only among floats and with complex"),
        ("equal(complex64[3], 1)", "logic ops do not take complex numbers"),
        ("maximum(float32[3], 1.0)", "this API promotes tensors, and takes no scalar"),
        ("bitwise_and(int32[3], int64[3])", "bitwise APIs take tensors of one dtype"),
        ("hypot(float32[3], float64[3])", "this API is not among those that promote"),
    ],
)
def test_what_is_out_of_scope_is_refused_with_a_reason(expression: str, why: str) -> None:
    """ "-" in a column, an API that is not listed, or what a rule leaves out"""
    assert why in cw.explain(expression, dialect=GUIDE)


def test_bitwise_with_a_scalar_that_has_no_bits() -> None:
    """Rows 16 to 18 have the "Common Rule" for scalars, under which int32 with 1.0 is float32;
    a float has no bits to combine, so it is refused."""
    assert answers("int32[3,3] + 1.0") == "float32"
    for api, scalar in itertools.product(("and", "or", "xor"), ("1.0", "1j")):
        assert answers(f"paddle.bitwise_{api}(int32[3,3], {scalar})") == "!"


# "There are two specail rules in this table above"


def test_the_divide_rule(way: Way) -> None:
    """ "it will not return dtype smaller than float. Such as int32 / Scalar returns float32." """
    for name in WHOLE:
        assert answers(f"{name}[3,3] / 1") == "float32"
    for name in ("float16", "bfloat16", "float64", "complex64"):
        assert answers(f"{name}[3,3] / 1") == name
    a = ones(way, "int32")
    b = 1
    c = run(way, lambda a: a / b, a)
    assert c.dtype.name == "float32"


def test_the_divide_rule_holds_for_two_tensors(way: Way) -> None:
    """Row 4 has the "Common Rule" for two tensors, under which int32 with int32 stays int32; but
    "For divide API, it will not return dtype smaller than float" speaks of the whole API."""
    for name in WHOLE:
        assert answers(f"{name}[3,3] / {name}[3,3]") == "float32"
    a = ones(way, "int32")
    assert run(way, lambda a, b: a / b, a, a).dtype.name == "float32"


def test_the_logic_rule(way: Way) -> None:
    """ "complex types cannot be directly used for logical operations"; "Within the supported
    scope, all results return bool type." """
    logic = [api for _, api, rule, _ in APIS if rule == "logic"]
    for api, other in itertools.product(logic, ("complex64[3,3]", "float32[3,3]", "1")):
        assert answers(f"paddle.{api}(complex64[3,3], {other})") == "!"
    a = rand(way, "float32")
    b = rand(way, "float16")
    c = run(way, lambda a, b: a == b, a, b)
    assert c.dtype.name == "bool"


# "Summary"


def test_the_commutative_property() -> None:
    """ "calculations comply with the commutative property": for every API, also `a - b`, whose
    values do not"""
    for api, rule in {(api, rule) for _, api, rule, _ in APIS}:
        for a, b in itertools.combinations(SHORT.values(), 2):
            operands = f"{a}[3,3]", f"{b}[3,3]"
            assert answers(call(api, *operands)) == answers(call(api, *operands[::-1])), (api, rule)


def test_consistent_results_for_operators_and_apis() -> None:
    """ "consistent results for operator overloading and binary APIs" """
    operands = [*(f"{name}[3,3]" for name in SHORT.values()), "True", "1", "1.0", "1j"]
    ops = ("add", "sub", "mul", "div", "floor_divide", "pow", "remainder", "eq", "ne", "lt", "le",
           "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor")  # fmt: skip
    for op, a, b in itertools.product(ops, operands[:12], operands):
        forms = set()
        for form in ("operator", "function"):
            try:
                forms.add(cw.resolve(op, a, b, dialect=GUIDE, form=form).result.name)
            except cw.PromotionError:
                forms.add("!")
        assert len(forms) == 1, (op, a, b)


def test_consistent_results_for_dynamic_and_static_graphs(way: Way) -> None:
    """ "as well as for dynamic and static graphs" """

    def program(a: cw.Tensor, b: cw.Tensor) -> list[cw.Tensor]:
        return [a + b, a - 1, b / 2.0, cw.apply("paddle.maximum", a, b) == b, 1j * a]

    a, b = rand(way, "float16"), rand(way, "float32")
    dynamic = program(a, b)
    static = cw.trace(program, a, b, dialect=GUIDE)(a, b, backend=way.backend)
    assert [each.dtype for each in static] == [each.dtype for each in dynamic]
    assert [each.tolist() for each in static] == [each.tolist() for each in dynamic]


# Where Paddle 3.3 does something else than the guide.


@pytest.mark.parametrize(
    ("expression", "guide", "shipped"),
    [
        ("where(bool[3], float16[3], 1.5)", "float16", "float32"),
        ("where(bool[3], int32[3], 1)", "int32", "!"),
        ("logical_and(float32[3], 1)", "bool", "!"),
        ("complex64[3] == complex64[3]", "!", "bool"),
        ("complex64[3] < complex64[3]", "!", "bool"),
        ("logical_and(complex64[3], complex64[3])", "!", "bool"),
        ("bool[3] / True", "float32", "bool"),
        ("bool[3] / bool[3]", "float32", "bool"),
        ("bool[3] & 1", "int64", "!"),
        ("floor_divide(int32[3], 1)", "int32", "int64"),
        ("remainder(int32[3], 1.5)", "float32", "int32"),
        ("pow(int32[3], 1.5)", "float32", "int32"),
        ("remainder(complex64[3], complex64[3])", "!", "complex64"),
        ("l1_loss(complex64[3], complex64[3])", "complex64", "float32"),
        ("atan2(int32[3], int32[3])", "int32", "float64"),
        ("logaddexp(int32[3], int32[3])", "int32", "float32"),
        ("float32[3] + float64[]", "float64", "float32"),
        ("int32[3] + float64[]", "!", "float64"),
    ],
)
def test_what_shipped_is_something_else(expression: str, guide: str, shipped: str) -> None:
    assert (answers(expression), result(expression, "paddle")) == (guide, shipped)
