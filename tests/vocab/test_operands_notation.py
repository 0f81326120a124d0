"""The notation: every form of the design, the printer's round trip, text that is not notation."""

from __future__ import annotations

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from castwise.engine.ask import question_in
from castwise.errors import UsageError
from castwise.vocab.dtypes import DTYPES, DType, dtype
from castwise.vocab.notation import parse_expression, parse_operand, parse_scalar
from castwise.vocab.operands import (
    Operand,
    Role,
    array_operand,
    held_value,
    numpy_scalar_operand,
    scalar_operand,
    scalar_text,
    value_class,
)

ARRAYS = [
    # text, role, dtype, value, shape, weak
    ("int32[3]", Role.ARRAY, "int32", None, (3,), False),
    ("int32[2,3]", Role.ARRAY, "int32", None, (2, 3), False),
    ("int32[0]", Role.ARRAY, "int32", None, (0,), False),
    ("int32[]", Role.ZERO_D, "int32", None, (), False),
    ("np.int32[3]", Role.NUMPY_ARRAY, "int32", None, (3,), False),
    ("np.int32[]", Role.NUMPY_ZERO_D, "int32", None, (), False),
    ("np.int32(7)", Role.NUMPY_SCALAR, "int32", 7, (), False),
    ("np.float64(-inf)", Role.NUMPY_SCALAR, "float64", -math.inf, (), False),
    ("np.bool(True)", Role.NUMPY_SCALAR, "bool", True, (), False),
    ("np.complex64(1+2j)", Role.NUMPY_SCALAR, "complex64", 1 + 2j, (), False),
    ("int32*[3]", Role.ARRAY, "int32", None, (3,), True),
    ("int32*[]", Role.ZERO_D, "int32", None, (), True),
    ("float32*=1.5[]", Role.ZERO_D, "float32", 1.5, (), True),
    ("int8", Role.ARRAY, "int8", None, None, False),
    ("np.int8", Role.NUMPY_ARRAY, "int8", None, None, False),
    ("float16[n]", Role.ARRAY, "float16", None, ("n",), False),
    ("int32[n,3]", Role.ARRAY, "int32", None, ("n", 3), False),
    ("int64=300[]", Role.ZERO_D, "int64", 300, (), False),
    ("np.int64=300[]", Role.NUMPY_ZERO_D, "int64", 300, (), False),
    ("bool=True[]", Role.ZERO_D, "bool", True, (), False),
    ("float64=nan[]", Role.ZERO_D, "float64", math.nan, (), False),
    ("bf16[3]", Role.ARRAY, "bfloat16", None, (3,), False),
    ("e4m3fn[3]", Role.ARRAY, "float8_e4m3fn", None, (3,), False),
    ("torch.long[3]", Role.ARRAY, "int64", None, (3,), False),
    ("tf.half[]", Role.ZERO_D, "float16", None, (), False),
    ("jnp.bfloat16[3]", Role.ARRAY, "bfloat16", None, (3,), False),
    ("np.intc(5)", Role.NUMPY_SCALAR, "int32", 5, (), False),
    ("numpy.uint8[3]", Role.NUMPY_ARRAY, "uint8", None, (3,), False),
    ("  int8[ 2 , n ]\n", Role.ARRAY, "int8", None, (2, "n"), False),
]
SCALARS = [
    ("True", True),
    ("False", False),
    ("5", 5),
    ("-1", -1),
    ("+5", 5),
    ("5.5", 5.5),
    (".5", 0.5),
    ("5.", 5.0),
    ("-0.0", -0.0),
    ("1e39", 1e39),
    ("1E-3", 1e-3),
    ("1+2j", 1 + 2j),
    ("1-2j", 1 - 2j),
    ("2j", 2j),
    ("-2.5j", complex(0, -2.5)),
    ("infj", complex(0, math.inf)),
    ("1+infj", complex(1, math.inf)),
    ("nan-nanj", complex(math.nan, math.nan)),
    ("inf", math.inf),
    ("-inf", -math.inf),
    ("nan", math.nan),
    ("18446744073709551616", 2**64),
    ("9" * 4000, 10**4000 - 1),
]


def text_id(value: object) -> str:
    return (value if isinstance(value, str) else type(value).__name__)[:20]


def same_value(a: object, b: object) -> bool:
    """Equal in type, value and the sign of zeros, NaN equal to NaN."""
    return type(a) is type(b) and (a == b if isinstance(a, int) else repr(a) == repr(b))


def same_operand(a: Operand, b: Operand) -> bool:
    facts = [(o.dtype, o.role, o.shape, o.is_weak, o.kind) for o in (a, b)]
    return facts[0] == facts[1] and same_value(a.value, b.value)


@pytest.mark.parametrize(("text", "role", "name", "value", "shape", "weak"), ARRAYS)
def test_every_form_of_an_array_or_numpy_scalar(
    text: str, role: Role, name: str, value: object, shape: object, weak: bool
) -> None:
    operand = parse_operand(text)
    assert (operand.role, operand.shape, operand.is_weak) == (role, shape, weak)
    assert operand.dtype is dtype(name)
    assert operand.kind == dtype(name).kind
    assert same_value(operand.value, value)
    assert not operand.is_scalar


@pytest.mark.parametrize(("text", "value"), SCALARS, ids=text_id)
def test_every_form_of_a_python_scalar(text: str, value: object) -> None:
    operand = parse_operand(text)
    assert same_value(operand.value, value)
    assert same_value(parse_scalar(text), value)
    assert (operand.role, operand.dtype, operand.shape) == (Role.SCALAR, None, None)
    assert operand.is_scalar
    assert operand.kind == type(value).__name__


@pytest.mark.parametrize("text", ["(1-2j)", "(5)", "(-1.5)"])
def test_a_scalar_may_stand_in_brackets(text: str) -> None:
    assert same_operand(parse_operand(text), parse_operand(text.strip("()")))


@pytest.mark.parametrize("row", DTYPES, ids=repr)
@pytest.mark.parametrize(
    ("form", "role"),
    [
        ("{}", Role.ARRAY),
        ("{}[3]", Role.ARRAY),
        ("{}[]", Role.ZERO_D),
        ("{}*[3]", Role.ARRAY),
        ("{}=1[]", Role.ZERO_D),
        ("np.{}[n,3]", Role.NUMPY_ARRAY),
        ("np.{}[]", Role.NUMPY_ZERO_D),
    ],
)
def test_every_dtype_can_stand_in_every_form(row: DType, form: str, role: Role) -> None:
    if row.name == "int1" and "=1" in form:
        form = "{}=-1[]"  # int1 has no 1
    operand = parse_operand(form.format(row))
    assert (operand.dtype, operand.role) == (row, role)


REFUSED = {
    "": "cannot read",
    "   ": "cannot read",
    "int32[": "cannot read",
    "int32]": "cannot read",
    "int32[3": "cannot read",
    "int32[[3]]": "cannot read",
    "int32 [3]": "cannot read",
    "int32*": "cannot read",
    "1_000": "cannot read",
    "0x10": "cannot read",
    "1+2": "cannot read",
    "5 5": "cannot read",
    "(5": "cannot read",
    "5)": "cannot read",
    "((5))": "cannot read",
    "np.int32(": "cannot read",
    "np.int32(int8)": "cannot read",
    "a b c": "cannot read",
    "1" * 5000: "cannot read",
    "hello": "unknown dtype 'hello'",
    "flaot32[3]": "Did you mean 'float32'",
    "trch.int8[3]": "unknown prefix 'trch'.*Did you mean 'torch'",
    "torch.nope[3]": "unknown dtype 'nope'",
    "int32[-1]": "'-1' is not a size",
    "int32[3,]": "'' is not a size",
    "int32[2.5]": "'2.5' is not a size",
    "int32[n+1]": r"'n\+1' is not a size",
    "int32(7)": r"write np.int32\(7\)",
    "np.int8(300)": "300 is not a value of int8",
    "np.int8(1.5)": "1.5 is not a value of int8",
    "np.float32(2j)": "2j is not a value of float32",
    "np.int8(nan)": "nan is not a value of int8",
    "bool=2[]": "2 is not a value of bool",
    "uint8=-1[]": "-1 is not a value of uint8",
    "int64=300[3]": r"only a 0-d array can show its value: int64=300\[\]",
    "int64=300": "only a 0-d array can show its value",
    "np.int32*[3]": "never weakly typed",
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.items(), ids=lambda v: v[:20])
def test_text_that_is_no_operand_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as refused:
        parse_operand(text)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("text", ["٣", "５", "int32[٣]", "np.int8(٣)"])
def test_digits_of_other_scripts_are_not_guessed_at(text: str) -> None:
    with pytest.raises(UsageError):
        parse_operand(text)


def test_the_refusal_lists_the_forms_that_can_be_written() -> None:
    with pytest.raises(UsageError, match=r"Write one of: int32\[3\], int32\[\], np\.int32\[3\]"):
        parse_operand("?")


size_names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
shapes = st.none() | st.lists(st.integers(0, 10**17) | size_names, max_size=4).map(tuple)
dtypes = st.sampled_from(DTYPES)
numbers = st.one_of(
    st.booleans(),
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    st.complex_numbers(),
    st.builds(complex, *[st.sampled_from([0.0, -0.0, 1.0, math.inf, -math.inf, math.nan])] * 2),
)


def values_of(row: DType) -> st.SearchStrategy[object]:
    """Values the dtype has, as held_value gives them."""
    if row.kind == "bool":
        return st.booleans()
    if row.kind == "int":
        return st.integers(int(row.min), int(row.max))
    raw = st.complex_numbers() if row.kind == "complex" else st.floats()
    return raw.map(lambda value: held_value(row, value))


@st.composite
def operands(draw: st.DrawFn) -> Operand:
    """Any operand of any role."""
    role = draw(st.sampled_from(Role))
    if role is Role.SCALAR:
        return scalar_operand(draw(numbers))
    row, is_numpy = draw(dtypes), role in (Role.NUMPY_ARRAY, Role.NUMPY_ZERO_D)
    if role is Role.NUMPY_SCALAR:
        return numpy_scalar_operand(row, draw(values_of(row)))
    if role in (Role.ARRAY, Role.NUMPY_ARRAY):
        weak = not is_numpy and draw(st.booleans())
        shape = draw(shapes.filter(lambda s: s != () and not (weak and s is None)))
        return array_operand(row, shape, is_weak=weak, is_numpy=is_numpy)
    value = draw(st.none() | values_of(row))
    weak = not is_numpy and draw(st.booleans())
    return array_operand(row, (), value=value, is_weak=weak, is_numpy=is_numpy)


@given(operands())
@example(scalar_operand(complex(-0.0, 0.0)))
@example(scalar_operand(complex(0.0, -0.0)))
@example(scalar_operand(complex(-0.0, -0.0)))
@example(scalar_operand(complex(1.0, -0.0)))
@example(numpy_scalar_operand(dtype("complex64"), complex(-0.0, math.nan)))
def test_the_printed_operand_is_parsed_back_as_the_same(operand: Operand) -> None:
    again = parse_operand(str(operand))
    assert same_operand(again, operand), (str(operand), again)
    assert str(again) == str(operand)


@given(numbers)
def test_a_printed_scalar_is_parsed_back_as_the_same(value: object) -> None:
    assert same_value(parse_scalar(scalar_text(value)), value)


@pytest.mark.parametrize("digits", [4299, 5000, 20_000])
def test_an_int_of_any_size_prints(digits: int) -> None:
    assert str(scalar_operand(10**digits))


def test_numbers_of_different_kinds_are_different_operands() -> None:
    kinds = [scalar_operand(value) for value in (True, 1, 1.0, 1 + 0j)]
    for place, operand in enumerate(kinds):
        assert operand not in kinds[:place], f"{operand.kind} equals another kind"


@pytest.mark.parametrize(
    ("name", "value", "held"),
    [
        ("float16", 70000, math.inf),
        ("float16", -70000.0, -math.inf),
        ("float16", 1e-9, 0.0),
        ("float32", 0.1, float(np.float32(0.1))),
        ("float64", 0.1, 0.1),
        ("bfloat16", 1.001, 1.0),
        ("float8_e5m2", 60000.0, 57344.0),
        ("float8_e4m3", 0.3, 0.3125),
        ("float4_e2m1fn", 2.4, 2.0),
        ("complex64", 0.1j, complex(0, float(np.float32(0.1)))),
        ("complex32", 70000j, complex(0, math.inf)),
        ("bcomplex32", 1.001 + 0j, 1 + 0j),
        ("int8", 1.0, 1),
        ("int64", True, 1),
        ("bool", 1, True),
        ("float32", True, 1.0),
        ("complex64", 1, 1 + 0j),
    ],
)
def test_held_value_is_the_value_as_the_dtype_holds_it(
    name: str, value: object, held: object
) -> None:
    assert same_value(held_value(dtype(name), value), held)


@pytest.mark.parametrize(
    "row",
    [d for d in DTYPES if d.kind == "float" and d.name != "float8_e8m0fnu"],
    ids=repr,
)
@settings(max_examples=100)  # of each format
@given(value=st.one_of(st.floats(), st.floats(-1000, 1000, width=32)))
def test_held_value_rounds_as_numpy_and_ml_dtypes_do(row: DType, value: float) -> None:
    assume(row.has_inf or abs(value) <= row.max)  # beyond, formats without inf differ
    target = getattr(ml_dtypes, row.name, None) or np.dtype(row.name)
    with np.errstate(all="ignore"):
        expected = float(np.float64(value).astype(target))
    held = held_value(row, value)
    assert held == expected or (math.isnan(held) and math.isnan(expected))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("int8", 128), ("int8", -129), ("uint8", -1), ("bool", 2), ("int8", 0.5), ("int8", 1j),
        ("float32", 1j), ("int64", math.inf), ("int64", math.nan), ("float64", 10**400),
        ("complex128", 10**400), ("int128", 2**127),
    ],
    ids=lambda v: str(v)[:20],
)  # fmt: skip
def test_held_value_refuses_what_the_dtype_has_not(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"is not a value of {name}"):
        held_value(dtype(name), value)


def test_held_value_refuses_an_int_too_long_to_print() -> None:
    with pytest.raises(UsageError, match="is not a value of int64"):
        held_value(dtype("int64"), 10**6000)


def test_scalar_operand_takes_numbers_alone() -> None:
    with pytest.raises(UsageError, match="str is not a Python number"):
        scalar_operand("5")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("low", "high"),
    [(127, 128), (-128, -129), (255, 256), (2**31 - 1, 2**31), (2**63 - 1, 2**63),
     (2**64 - 1, 2**64), (0, 1), (0, -1), (1, True), (1, 1.0), (1.0, 1 + 0j), (0.5, 0.25),
     (65504.0, 65505.0), (1.0, math.inf), (math.inf, -math.inf), (math.inf, math.nan),
     (3.4028234663852886e38, 3.5e38), (1j, math.inf * 1j)],
)  # fmt: skip
def test_values_a_rule_can_tell_apart_are_of_two_classes(low: object, high: object) -> None:
    assert value_class(low) != value_class(high)


@pytest.mark.parametrize(
    ("a", "b"),
    [(300, 301), (-9, -10), (3.25, 3.5), (2**70, 2**71), (1e100, 1e200), (10 + 20j, 11 + 21j)],
)
def test_values_no_rule_can_tell_apart_are_of_one_class(a: object, b: object) -> None:
    assert value_class(a) == value_class(b)


BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floor_divide", "%": "remainder",
    "**": "pow", "@": "matmul", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt",
    ">=": "ge", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor",
    "<<": "bitwise_left_shift", ">>": "bitwise_right_shift",
}  # fmt: skip
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@pytest.mark.parametrize(("symbol", "op"), BINARY.items())
@pytest.mark.parametrize("gap", ["", " ", "\t "])
def test_every_operator_names_its_op(symbol: str, op: str, gap: str) -> None:
    question = question_in(f"int32[3]{gap}{symbol}{gap}5", "numpy")
    assert (question.op.name, question.form, question.inplace) == (op, "operator", False)
    assert question.operands == (parse_operand("int32[3]"), parse_operand("5"))


@pytest.mark.parametrize("symbol", ["+", " - ", "**"])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("5", "int32[]"),
        ("int8", "int8"),
        ("np.int8(3)", "int8[n,2]"),
        ("np.float16(1.5)", "np.intc(3)"),
        ("numpy.float16(1.5)", "np.float16(3)"),
        ("np.half(1.5)", "np.half(3)"),
        ("int32*[3]", "-1"),
        ("int64=300[]", "True"),
        ("1+2j", "int8[3]"),
        ("infj", "float32[3]"),
    ],
)
def test_an_operator_stands_between_any_two_operands(left: str, right: str, symbol: str) -> None:
    parsed = parse_expression(f"{left}{symbol}{right}")
    assert parsed.symbol == symbol.strip()
    assert parsed.operands == (parse_operand(left), parse_operand(right))


@pytest.mark.parametrize(("symbol", "op"), BINARY.items())
def test_an_augmented_operator_is_a_form_and_a_comparison_has_none(symbol: str, op: str) -> None:
    text = f"int32[3] {symbol}= 5"
    if symbol in ("<", ">"):  # those are <= and >=
        assert not parse_expression(text).is_augmented
    elif symbol in COMPARISONS:
        with pytest.raises(UsageError):
            parse_expression(text)
    else:
        question = question_in(text, "numpy")
        assert (question.op.name, question.form, question.inplace) == (op, "augmented", False)


@pytest.mark.parametrize(
    ("symbol", "op"), {"-": "neg", "+": "positive", "~": "bitwise_not"}.items()
)
@pytest.mark.parametrize("operand", ["int32[3]", " int8", "np.int8(3)", "int8*[]"])
def test_a_unary_operator(symbol: str, op: str, operand: str) -> None:
    question = question_in(f"{symbol}{operand}", "numpy")
    assert (question.op.name, question.form) == (op, "operator")
    assert question.operands == (parse_operand(operand),)


@pytest.mark.parametrize(
    ("text", "op", "args"),
    [
        ("add(int32[3], 5.5)", "add", ["int32[3]", "5.5"]),
        (" add( int32[2,3] ,5.5 ) ", "add", ["int32[2,3]", "5.5"]),
        ("where(bool[3], np.int8(3), (1+2j))", "where", ["bool[3]", "np.int8(3)", "1+2j"]),
        ("exp(float16[])", "exp", ["float16[]"]),
        ("concat(int8[n,3], int8[n,3], int8)", "concat", ["int8[n,3]", "int8[n,3]", "int8"]),
        ("add()", "add", []),
        ("np.add(int8[3], 5)", "np.add", ["int8[3]", "5"]),
    ],
)
def test_a_call_names_its_op_and_operands(text: str, op: str, args: list[str]) -> None:
    parsed = parse_expression(text)
    assert (parsed.op, parsed.symbol, parsed.is_augmented) == (op, None, False)
    assert parsed.operands == tuple(parse_operand(arg) for arg in args)


@pytest.mark.parametrize(
    "text",
    ["", "   ", "()", "int32[3]", "5", "-5", "np.int32(7)", "add", "add int8", "add(", "add(int8",
     "int8[3] +", "int8 ! 5", "int8[3] = 5", "add(,)", "add(int8,)", "add(int8 int8)",
     "int8[3] + flaot32[3]", "int8 && int8", "int8[3] === 5", "int8 +* 5", "x" * 5000],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_text_that_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"cannot read|unknown dtype|too long") as refused:
        parse_expression(text)
    assert len(str(refused.value)) < 400


def test_the_refusal_shows_how_an_expression_is_written() -> None:
    with pytest.raises(UsageError, match=r'"add\(int32\[3\], 5.5\)".*"int32\[3\] \+ 5.5"'):
        parse_expression("gibberish")


SEEDS = [text for text, *_ in ARRAYS] + [text for text, _ in SCALARS] + [
    "add(int32[3], 5.5)", "int32[3] + 5.5", "int8[3] **= np.int8(3)", "-int8[n]",
    "where(bool[3], int8[], 1+2j)", "torch.add(bf16[3], 1)", "np.arctan2(np.float64(nan), infj)",
]  # fmt: skip
PIECES = [
    *"()[]*=,.+-/<>!~&|^@% \t\n\0_0159nj\"'\\{}é٣²",
    "np.", "inf", "nan", "e9", "True", "int", "int8", "float64", "**", "//", "1e999", "complex64",
]  # fmt: skip


@st.composite
def mutated_notation(draw: st.DrawFn) -> str:
    """A piece of notation with a few pieces put in, taken out or doubled."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 5))):
        place = draw(st.integers(0, len(text)))
        end = draw(st.integers(place, min(place + 4, len(text))))
        middle = draw(st.sampled_from(["", text[place:end] * 2, *PIECES]))
        text = text[:place] + middle + text[end:]
    return text


def outcome(parse: Callable[[str], object], text: str) -> object:
    try:
        return parse(text)
    except UsageError as refused:
        return refused


@given(st.text() | mutated_notation())
def test_any_text_parses_or_is_a_usage_error(text: str) -> None:
    operand = outcome(parse_operand, text)
    if isinstance(operand, Operand):
        assert same_operand(parse_operand(str(operand)), operand)
    else:
        assert str(operand)
    for parse in (parse_expression, lambda t: question_in(t, "torch")):
        assert str(outcome(parse, text))


@pytest.mark.parametrize(("text", "value"), [("i*", 1), ("f*", 1.0), ("c*", 1j)])
def test_the_kind_of_a_python_number_alone(text: str, value: complex) -> None:
    """As RFC 431 writes Python's numbers, whose values it leaves open."""
    operand = parse_operand(text)
    assert operand == parse_operand(str(value).strip("()"))
    assert operand.role is Role.SCALAR
    assert parse_expression(f"int8[3] + {text}").operands[1] == operand
    assert parse_expression(f"{text} * int8[3]").operands[0] == operand
    assert parse_expression(f"add(int8[3], {text})").operands[1] == operand


@pytest.mark.parametrize("text", ["i**", "i*[3]", "i*2", "b*", "u*", "i *"])
def test_what_only_looks_like_a_kind_is_no_operand(text: str) -> None:
    with pytest.raises(UsageError):
        parse_operand(text)


@pytest.mark.parametrize(("text", "name"), [("Short[3]", "int16"), ("Double[]", "float64")])
def test_torchs_scalar_types_are_dtypes(text: str, name: str) -> None:
    assert str(parse_operand(text)) == text.replace(text.partition("[")[0], name)


@pytest.mark.parametrize("text", ["i4[3]", "f8[]", "c8", "np.u1[3]"])
def test_a_short_form_with_two_readings_is_no_operand(text: str) -> None:
    with pytest.raises(UsageError, match="two readings"):
        parse_operand(text)


def test_none_is_an_undefined_operand() -> None:
    assert str(parse_operand("None")) == "None"
    assert parse_operand("None").role.value == "undefined operand"
