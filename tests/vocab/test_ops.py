"""The op rows, and ops a user declares: every switch seen at work in every dialect."""

from __future__ import annotations

from typing import Any

import pytest

import castwise
from castwise.errors import PromotionError, UsageError
from castwise.vocab.ops import (
    ARBITRARY,
    OPS,
    Op,
    declare_op,
    known_op,
    op,
    op_of_symbol,
    ops,
)

REQUIRED = """
    add sub mul div floor_divide remainder fmod pow float_power
    eq ne lt le gt ge
    logical_and logical_or logical_xor logical_not
    bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift
    maximum minimum fmax fmin atan2 hypot logaddexp copysign nextafter heaviside xlogy
    matmul dot where clamp lerp addcmul concat stack
    mse_loss l1_loss huber_loss poisson_nll_loss
    abs neg positive exp log sqrt rsqrt sin tanh sigmoid relu erf gelu square sign
    floor ceil round trunc reciprocal isnan isinf isfinite real imag angle conj softmax log_softmax
    sum prod mean cumsum cumprod any all max min argmax argmin std var median norm logsumexp
    count_nonzero allclose threshold result_type promote_types
"""
DIALECTS = castwise.dialects()
# Those that join, lift, sum and write as the tests of the switches ask; others refuse some of it.
PROMOTING = ("torch", "torch@2.1", "numpy", "numpy@1", "array-api")


@pytest.fixture(autouse=True)
def _forget_declared_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castwise.vocab.ops._declared", {})


@pytest.mark.parametrize("name", REQUIRED.split())
def test_every_op_of_the_list_has_a_row(name: str) -> None:
    assert op(name).name == name
    assert known_op(name)
    assert name in ops()


def test_every_row_stands_in_a_family() -> None:
    assert [row.name for row in OPS.values() if not row.family] == []


@pytest.mark.parametrize("row", OPS.values(), ids=lambda row: row.name)
def test_a_wrong_number_of_operands_is_a_usage_error(row: Op) -> None:
    low, high = row.arity
    assert 1 <= low <= high <= ARBITRARY
    for count in (low - 1, high + 1):
        with pytest.raises(UsageError, match=rf"{row.name} takes {low}.*not {count}"):
            castwise.resolve(row.name, *["int8[3]"] * count, dialect="torch")


@pytest.mark.parametrize(
    ("name", "count", "text"),
    [
        ("add", 3, "add takes 2 operands, not 3"),
        ("exp", 2, "exp takes 1 operand, not 2"),
        ("clamp", 4, "clamp takes 1 to 3.*not 4"),
        ("where", 2, "where takes 3 operands, not 2"),
    ],
)
def test_the_error_says_how_many_operands_are_taken(name: str, count: int, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        castwise.resolve(name, *["int8[3]"] * count, dialect="torch")


@pytest.mark.parametrize(
    ("symbol", "count", "name"),
    [
        ("+", 2, "add"), ("-", 2, "sub"), ("*", 2, "mul"), ("/", 2, "div"), ("**", 2, "pow"),
        ("//", 2, "floor_divide"), ("%", 2, "remainder"), ("@", 2, "matmul"), ("==", 2, "eq"),
        ("!=", 2, "ne"), ("<", 2, "lt"), ("<=", 2, "le"), (">", 2, "gt"), (">=", 2, "ge"),
        ("&", 2, "bitwise_and"), ("|", 2, "bitwise_or"), ("^", 2, "bitwise_xor"),
        ("<<", 2, "bitwise_left_shift"), (">>", 2, "bitwise_right_shift"),
        ("-", 1, "neg"), ("+", 1, "positive"), ("~", 1, "bitwise_not"),
    ],
)  # fmt: skip
def test_every_operator_of_python_is_an_op(symbol: str, count: int, name: str) -> None:
    assert op_of_symbol(symbol, count) is op(name)
    assert op(name).symbol == symbol


@pytest.mark.parametrize(("symbol", "count"), [("~", 2), ("*", 1), ("?", 2), ("", 1), ("+", 3)])
def test_a_symbol_of_no_op_is_refused(symbol: str, count: int) -> None:
    with pytest.raises(UsageError, match="no op is written"):
        op_of_symbol(symbol, count)


@pytest.mark.parametrize(("wrong", "hint"), [("ad", "add"), ("maximun", "maximum"), ("exq", "exp")])
def test_an_unknown_op_gets_a_did_you_mean(wrong: str, hint: str) -> None:
    assert known_op(wrong) is None
    with pytest.raises(UsageError, match=f"unknown op '{wrong}'.*Did you mean .*'{hint}'"):
        op(wrong)


def test_the_table_of_ops_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        OPS["mine"] = OPS["add"]  # type: ignore[index]


# Declared ops. Each switch must do something one can see, in every dialect.


def answered(*operands: Any, dialect: str, **parts: Any) -> castwise.Decision | PromotionError:
    try:
        return castwise.resolve("mine", *operands, dialect=dialect, **parts)
    except PromotionError as refused:
        return refused


def test_a_declared_op_is_listed_last_and_can_be_declared_anew() -> None:
    declare_op("mine")
    assert ops()[-1] == "mine"
    assert castwise.resolve("mine", "int8[3]", "int8[3]", dialect="torch").result.name == "int8"
    declare_op("mine", result="bool")
    assert ops().count("mine") == 1
    assert castwise.resolve("mine", "int8[3]", "int8[3]", dialect="torch").result.name == "bool"


@pytest.mark.parametrize("dialect", PROMOTING)
def test_a_declared_op_promotes_as_the_dialect_does(dialect: str) -> None:
    declare_op("mine")
    assert castwise.resolve("mine", "int8[3]", "uint8[3]", dialect=dialect).result.name == "int16"
    assert castwise.resolve("mine", "float32[3]", 1, dialect=dialect).result.name == "float32"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_operands_counts_the_operands(dialect: str, count: int) -> None:
    declare_op("mine", operands=count)
    decision = castwise.resolve("mine", *["int32[3]"] * count, dialect=dialect)
    assert decision.result.name == "int32"
    assert len(decision.casts) == count
    with pytest.raises(UsageError, match=f"mine takes {count}.*not {count + 1}"):
        castwise.resolve("mine", *["int32[3]"] * (count + 1), dialect=dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_operands_may_be_a_range(dialect: str) -> None:
    declare_op("mine", operands=(1, 3))
    for count in (1, 2, 3):
        castwise.resolve("mine", *["int32[3]"] * count, dialect=dialect)
    with pytest.raises(UsageError, match=r"mine takes 1 to 3.*not 4"):
        castwise.resolve("mine", *["int32[3]"] * 4, dialect=dialect)


@pytest.mark.parametrize("dialect", PROMOTING)
def test_computes_keeps_other_kinds_out(dialect: str) -> None:
    """An int operand ends in a float, in a refusal, or in a note that no kernel takes it."""
    declare_op("mine", computes="float")
    decided = castwise.resolve("mine", "float32[3]", "float64[3]", dialect=dialect)
    assert (decided.result.name, decided.notes) == ("float64", ())
    found = answered("int32[3]", "int32[3]", dialect=dialect)
    assert isinstance(found, PromotionError) or found.compute.kind == "float" or found.notes


@pytest.mark.parametrize("dialect", PROMOTING)
def test_integers_become_float(dialect: str) -> None:
    declare_op("mine", computes="float complex", integers_become_float=True)
    for operands in (("int32[3]", "int32[3]"), ("int64[3]", 1), ("uint8[3]", "int8[]")):
        assert castwise.resolve("mine", *operands, dialect=dialect).result.kind == "float"
    assert castwise.resolve("mine", *["complex64[3]"] * 2, dialect=dialect).result.kind == "complex"


@pytest.mark.parametrize("dialect", PROMOTING)
@pytest.mark.parametrize(
    ("result", "operands", "name"),
    [
        ("same", ("int32[3]", "int64[3]"), "int64"),
        ("bool", ("float32[3]", "float32[3]"), "bool"),
        ("real", ("complex64[3]", "complex128[3]"), "float64"),
        ("index", ("float32[3]", "float32[3]"), "int64"),
        ("first", ("int32[3]", "int32[3]"), "int32"),
        ("int16", ("float32[3]", "float32[3]"), "int16"),
        ("float32", ("int64[3]", "int64[3]"), "float32"),
    ],
)
def test_result(dialect: str, result: str, operands: tuple[str, str], name: str) -> None:
    declare_op("mine", result=result)
    assert castwise.resolve("mine", *operands, dialect=dialect).result.name == name


@pytest.mark.parametrize("dialect", DIALECTS)
def test_result_first_takes_the_first_operands_dtype_where_the_dialect_writes_there(
    dialect: str,
) -> None:
    declare_op("mine", result="first")
    found = answered("float32[3]", "float64[3]", dialect=dialect)
    assert isinstance(found, PromotionError) or found.result.name == "float32"


@pytest.mark.parametrize("dialect", PROMOTING)
def test_lowest_lifts_every_operand(dialect: str) -> None:
    declare_op("mine", lowest="int32")
    for operands, name in [
        (("int8[3]", "int8[3]"), "int32"),
        (("int8[3]", "int64[3]"), "int64"),
        (("float32[3]", "float32[3]"), "float32"),
    ]:
        assert castwise.resolve("mine", *operands, dialect=dialect).result.name == name


@pytest.mark.parametrize("dialect", PROMOTING)
@pytest.mark.parametrize(
    ("lowest", "operands", "name"),
    [
        (("int32", None), ("int8[3]", "int8[3]"), "int32"),
        ((None, "int32"), ("int8[3]", "int8[3]"), "int32"),
        ((None, "int16"), ("int8[3]", "int64[3]"), "int64"),
        (("int32", "int64"), ("int8[3]", "int8[3]"), "int64"),
        ((None, None), ("int8[3]", "int8[3]"), "int8"),
        (("int32",), ("int8[3]", "int64[3]"), "int64"),  # the second input has no lowest
    ],
)
def test_lowest_per_input(
    dialect: str, lowest: tuple[str | None, ...], operands: tuple[str, str], name: str
) -> None:
    declare_op("mine", lowest_per_input=lowest)
    assert castwise.resolve("mine", *operands, dialect=dialect).result.name == name


@pytest.mark.parametrize("dialect", PROMOTING)
def test_same_dtype_refuses_mixed_arrays(dialect: str) -> None:
    declare_op("mine", same_dtype=True)
    assert castwise.resolve("mine", "int8[3]", "int8[3]", dialect=dialect).result.name == "int8"
    with pytest.raises(PromotionError, match=r"one dtype.*Cast one"):
        castwise.resolve("mine", "int8[3]", "int16[3]", dialect=dialect)


@pytest.mark.parametrize("dialect", PROMOTING)
def test_promotes_false_casts_no_operand(dialect: str) -> None:
    declare_op("mine", promotes=False)
    decision = castwise.resolve("mine", "int8[3]", "int16[3]", dialect=dialect)
    assert decision.casts == (None, None)
    assert decision.result.name == "int8"
    declare_op("mine", promotes=True)
    decision = castwise.resolve("mine", "int8[3]", "int16[3]", dialect=dialect)
    assert decision.casts[0] is not None


@pytest.mark.parametrize("dialect", PROMOTING)
@pytest.mark.parametrize(
    ("second", "parts"), [("int32[3]", {"out": "int64"}), ("int64[3]", {"inplace": True})]
)
def test_casts_to_output_false_demands_the_results_dtype(
    dialect: str, second: str, parts: dict[str, Any]
) -> None:
    declare_op("mine", casts_to_output=False)
    with pytest.raises(PromotionError, match="not written into"):
        castwise.resolve("mine", "int32[3]", second, dialect=dialect, **parts)
    fitting = {"out": "int32"} if "out" in parts else parts
    decision = castwise.resolve("mine", "int32[3]", "int32[3]", dialect=dialect, **fitting)
    assert decision.result.name == "int32"


@pytest.mark.parametrize("dialect", PROMOTING)
@pytest.mark.parametrize(
    ("operands", "parts", "name"),
    [
        (("float32[3]", "float32[3]"), {"out": "int8"}, "int8"),
        (("complex64[3]", "complex64[3]"), {"out": "bool"}, "bool"),
        (("float32[3]", "float64[3]"), {"inplace": True}, "float32"),
    ],
)
def test_safe_output_false_writes_anywhere(
    dialect: str, operands: tuple[str, str], parts: dict[str, Any], name: str
) -> None:
    declare_op("mine", safe_output=True)
    if "out" in parts:
        assert isinstance(answered(*operands, dialect=dialect, **parts), PromotionError)
    declare_op("mine", safe_output=False)
    assert castwise.resolve("mine", *operands, dialect=dialect, **parts).result.name == name


@pytest.mark.parametrize("dialect", PROMOTING)
def test_accumulates_sums_small_integers_in_a_wide_one(dialect: str) -> None:
    declare_op("mine", operands=1, accumulates=True)
    assert castwise.resolve("mine", "int8[3]", dialect=dialect).result.name == "int64"
    assert castwise.resolve("mine", "float32[3]", dialect=dialect).result.name == "float32"


SWITCHES: list[dict[str, Any]] = [
    {},
    {"computes": "float", "integers_become_float": True},
    {"result": "bool"},
    {"result": "int16"},
    {"result": "index"},
    {"lowest": "int32"},
    {"lowest_per_input": (None, "int32")},
    {"same_dtype": True},
    {"promotes": False},
    {"casts_to_output": False},
    {"safe_output": False},
    {"accumulates": True},
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_a_declared_op_is_explained_down_to_its_result(
    dialect: str, switches: dict[str, Any]
) -> None:
    declare_op("mine", **switches)
    for operands in (("int8[3]", "int16[3]"), ("float32[3]", 1.5), ("int8[3]", "int8[3]")):
        told = castwise.explain("mine", *operands, dialect=dialect)
        assert told.startswith("mine(")
        found = answered(*operands, dialect=dialect)
        if isinstance(found, PromotionError):
            assert "Refused: " in told
        else:
            assert told.endswith(f"The result is {found.result}.")


@pytest.mark.parametrize("dialect", PROMOTING)
@pytest.mark.parametrize(
    ("switches", "operands", "word"),
    [
        ({"lowest": "int32"}, ("int8[3]", "int8[3]"), "int32"),
        ({"result": "int16"}, ("float32[3]", "float32[3]"), "returns int16"),
        ({"same_dtype": True}, ("int8[3]", "int16[3]"), "one dtype"),
        ({"computes": "bool"}, ("bool[3]", "bool[3]"), "The result is bool"),
    ],
)
def test_the_explanation_tells_what_the_switch_did(
    dialect: str, switches: dict[str, Any], operands: tuple[str, str], word: str
) -> None:
    declare_op("mine", **switches)
    assert word in castwise.explain("mine", *operands, dialect=dialect)


def test_a_declared_op_can_be_written_as_a_call() -> None:
    declare_op("mine", result="bool")
    assert castwise.explain("mine(int8[3], 5)", dialect="torch").endswith("The result is bool.")


@pytest.mark.parametrize(
    ("switches", "reason"),
    [
        ({"comptes": "float"}, "no switch 'comptes'.*Did you mean 'computes'"),
        ({"symbol": "+"}, "no switch 'symbol'"),
        ({"computes": "flaot"}, "flaot"),
        ({"computes": ""}, "computes"),
        ({"computes": 5}, "computes"),
        ({"lowest": "int33"}, "int33"),
        ({"lowest": 32}, "32"),
        ({"lowest_per_input": ("int8", "nope")}, "nope"),
        ({"lowest_per_input": ("int8", "int8", "int8")}, "lowest_per_input|3"),
        ({"lowest_per_input": "int8"}, "lowest"),
        ({"result": "sam"}, "unknown result 'sam'.*same"),
        ({"result": "float33"}, "unknown result 'float33'"),
        ({"operands": 0}, "operand"),
        ({"operands": (3, 1)}, "operand"),
        ({"operands": (1,)}, "operand"),
        ({"operands": "two"}, "operand"),
        ({"same_dtype": "yes"}, "same_dtype"),
        ({"is_condition_first": True, "operands": 1}, "operand"),
    ],
    ids=str,
)
def test_a_bad_switch_is_refused(switches: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        declare_op("mine", **switches)
    assert not known_op("mine")


@pytest.mark.parametrize("name", ["add", "result_type"])
def test_a_name_of_castwise_is_taken(name: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}' is an op of castwise"):
        declare_op(name)


@pytest.mark.parametrize("name", ["", "two words", "1st", "a.b", "a-b"])
def test_a_name_must_be_an_identifier(name: str) -> None:
    with pytest.raises(UsageError, match="is not a name"):
        declare_op(name)
