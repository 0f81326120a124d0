"""The dtype rows against NumPy and ml_dtypes, which know the formats independently."""

from __future__ import annotations

import copy
import itertools
import math
import pickle

import ml_dtypes
import numpy as np
import pytest

from castwise.errors import UsageError
from castwise.vocab.dtypes import DTYPES, DType, dtype, dtypes_named, exact_int_text, find_dtype

SIGNED = ["int1", "int2", "int4", "int8", "int16", "int32", "int64", "int128"]
UNSIGNED = ["uint1", "uint2", "uint4", "uint8", "uint16", "uint32", "uint64"]
SMALL_FLOATS = [
    "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3",
    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu",
]  # fmt: skip
FLOATS = [*SMALL_FLOATS, "bfloat16", "float16", "float32", "float64"]
PARTS = {
    "complex32": "float16",
    "bcomplex32": "bfloat16",
    "complex64": "float32",
    "complex128": "float64",
}
VOCABULARY = ["bool", *SIGNED, *UNSIGNED, *FLOATS, *PARTS]
KIND_OF = {
    "bool": "bool",
    **dict.fromkeys([*SIGNED, *UNSIGNED], "int"),
    **dict.fromkeys(FLOATS, "float"),
    **dict.fromkeys(PARTS, "complex"),
}
SMALL_INTS = [name for name in (*SIGNED, *UNSIGNED) if dtype(name).bits <= 8]
SMALL = [*SMALL_INTS, *SMALL_FLOATS]  # few enough values to look at every one


def numpy_type(name: str) -> type:
    return getattr(ml_dtypes, name, None) or np.dtype(name).type


def every_value(name: str) -> list[float]:
    """Every finite value of a format of at most 8 bits."""
    if name == "bool":
        return [0.0, 1.0]
    row = dtype(name)
    if row.kind == "int":
        return [float(n) for n in range(row.min, row.max + 1)]
    codes = np.arange(1 << row.bits, dtype=np.uint8).view(numpy_type(name))
    return [x for x in codes.astype(np.float64).tolist() if math.isfinite(x)]


def survives(value: float, name: str) -> bool:
    """Whether a value comes back unchanged from a cast that NumPy or ml_dtypes makes."""
    row = dtype(name)
    if row.kind in ("bool", "int"):
        return value == int(value) and row.min <= value <= row.max
    with np.errstate(all="ignore"):
        return float(np.float64(value).astype(numpy_type(name))) == value


def significant_bits(value: float) -> int:
    numerator = abs(value.as_integer_ratio()[0])
    return (numerator // (numerator & -numerator)).bit_length() if numerator else 0


def test_the_vocabulary_is_the_one_of_the_design() -> None:
    assert sorted(d.name for d in DTYPES) == sorted(VOCABULARY)


def test_every_type_of_ml_dtypes_is_in_the_vocabulary() -> None:
    types = [n for n in ml_dtypes.__all__ if isinstance(getattr(ml_dtypes, n), type)]
    named = {n for n in types if issubclass(getattr(ml_dtypes, n), np.generic)}
    assert len(named) > 15
    assert named <= set(VOCABULARY)


@pytest.mark.parametrize("name", VOCABULARY)
def test_kind_and_rank_follow_the_name(name: str) -> None:
    row = dtype(name)
    assert row.kind == KIND_OF[name]
    assert row.rank == ("bool", "int", "float", "complex").index(KIND_OF[name])
    assert repr(row) == name


@pytest.mark.parametrize("name", [n for n in (*SIGNED, *UNSIGNED) if n != "int128"])
def test_integer_facts_agree_with_iinfo(name: str) -> None:
    info = ml_dtypes.iinfo(numpy_type(name))
    row = dtype(name)
    assert (row.bits, row.min, row.max) == (info.bits, int(info.min), int(info.max))
    assert row.is_signed == (info.min < 0)
    assert row.smallest == 1


def test_int128_has_the_range_of_two_complement() -> None:
    row = dtype("int128")
    assert (row.bits, row.min, row.max) == (128, -(2**127), 2**127 - 1)


def test_bool_holds_zero_and_one() -> None:
    row = dtype("bool")
    assert (row.min, row.max, row.largest_exact_int) == (0, 1, 1)
    assert not row.is_signed


@pytest.mark.parametrize("name", FLOATS)
def test_float_facts_agree_with_finfo(name: str) -> None:
    info = ml_dtypes.finfo(numpy_type(name))
    row = dtype(name)
    assert row.bits == info.bits
    assert row.exponent_bits == info.nexp
    assert row.mantissa_bits == info.nmant
    assert float(row.max) == float(info.max)
    assert float(row.min) == float(info.min)
    assert float(row.smallest) == float(info.smallest_subnormal)
    assert row.is_signed == (info.min < 0)


@pytest.mark.parametrize("name", FLOATS)
def test_a_float_has_inf_where_ml_dtypes_rounds_to_it(name: str) -> None:
    with np.errstate(all="ignore"):
        converted = float(np.float64(math.inf).astype(numpy_type(name)))
    assert dtype(name).has_inf == math.isinf(converted)


@pytest.mark.parametrize(("name", "part"), PARTS.items())
def test_a_complex_dtype_has_the_facts_of_its_part(name: str, part: str) -> None:
    row, float_row = dtype(name), dtype(part)
    assert row.part is float_row
    assert row.bits == 2 * float_row.bits
    facts = ("min", "max", "smallest", "exponent_bits", "mantissa_bits", "has_inf")
    for fact in (*facts, "largest_exact_int"):
        assert getattr(row, fact) == getattr(float_row, fact)


@pytest.mark.parametrize("name", ["bool", "int8", "float8_e5m2", "float64"])
def test_a_real_dtype_is_its_own_part(name: str) -> None:
    assert dtype(name).part is dtype(name)


@pytest.mark.parametrize("name", [n for n in FLOATS if n != "float8_e8m0fnu"])
def test_largest_exact_int_is_exact_and_the_next_one_is_not(name: str) -> None:
    limit = dtype(name).largest_exact_int
    below = range(limit + 1) if limit <= 4096 else (0, 1, limit // 3, limit - 1, limit)
    assert all(survives(float(n), name) for n in below)
    if name == "float64":  # n + 1 is itself no float64
        assert int(np.float64(limit + 1)) != limit + 1
    else:
        assert not survives(float(limit + 1), name)


def test_a_format_of_powers_of_two_holds_one_and_two_but_no_zero() -> None:
    assert dtype("float8_e8m0fnu").largest_exact_int == 2
    assert [survives(n, "float8_e8m0fnu") for n in (0.0, 1.0, 2.0, 3.0)] == [
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("name", [*SIGNED, *UNSIGNED])
def test_an_integer_dtype_holds_every_int_up_to_its_max(name: str) -> None:
    assert dtype(name).largest_exact_int == dtype(name).max


@pytest.mark.parametrize("source", [*SMALL, "bool"])
def test_holds_agrees_with_casting_every_value(source: str) -> None:
    values = every_value(source)
    wrong = [
        target
        for target in (*SMALL, "float16", "bfloat16", "float32", "int16", "uint16")
        if dtype(target).holds(dtype(source)) != all(survives(v, target) for v in values)
    ]
    assert wrong == []


def test_a_lower_kind_never_holds_a_higher_one() -> None:
    lower = [(a.name, b.name) for a in DTYPES for b in DTYPES if a.rank < b.rank and a.holds(b)]
    assert lower == []


@pytest.mark.parametrize("source", [*SMALL, "bool"])
def test_keeps_range_agrees_with_comparing_every_value(source: str) -> None:
    values = every_value(source)
    wrong = [
        target
        for target in (*SMALL, "bool", "float16")
        if dtype(target).keeps_range(dtype(source))
        != all(dtype(target).min <= v <= dtype(target).max for v in values)
    ]
    assert wrong == []


@pytest.mark.parametrize("source", [*SMALL, "bool"])
def test_keeps_precision_agrees_with_the_digits_of_every_value(source: str) -> None:
    """Range aside: a float keeps a value whose digits fit its significand and that is a multiple
    of its smallest; an integer dtype keeps whole numbers."""
    values = every_value(source)
    wrong = []
    for target in (*SMALL_FLOATS, "float16", "bfloat16"):
        row = dtype(target)
        fits = all(
            significant_bits(v) <= row.mantissa_bits + 1 and (v / row.smallest).is_integer()
            for v in values
        )
        if row.keeps_precision(dtype(source)) != fits:
            wrong.append(target)
    for target in SMALL_INTS:
        if dtype(target).keeps_precision(dtype(source)) != all(v.is_integer() for v in values):
            wrong.append(target)
    assert wrong == []


@pytest.mark.parametrize(
    ("target", "source", "range_kept", "precision_kept"),
    [
        ("float32", "int32", True, False),
        ("float64", "int32", True, True),
        ("float64", "int64", True, False),
        ("float64", "int128", True, False),
        ("float16", "uint16", False, False),
        ("float16", "bfloat16", False, False),
        ("bfloat16", "float16", True, False),
        ("float32", "bfloat16", True, True),
        ("int8", "uint8", False, True),
        ("int64", "float16", True, False),
        ("complex64", "float32", True, True),
        ("complex64", "float64", False, False),
        ("complex32", "complex64", False, False),
        ("bcomplex32", "complex32", True, False),
        ("bool", "int8", False, False),
        ("int8", "bool", True, True),
    ],
)
def test_wider_pairs(target: str, source: str, range_kept: bool, precision_kept: bool) -> None:
    to, origin = dtype(target), dtype(source)
    assert (to.keeps_range(origin), to.keeps_precision(origin)) == (range_kept, precision_kept)
    assert to.holds(origin) == (range_kept and precision_kept)


@pytest.mark.parametrize("row", DTYPES, ids=repr)
def test_every_dtype_holds_itself(row: DType) -> None:
    assert row.holds(row)


def test_holds_is_transitive() -> None:
    for a, b, c in itertools.permutations(DTYPES, 3):
        if a.holds(b) and b.holds(c):
            assert a.holds(c), (a, b, c)


SHORT = {
    **{f"i{n}": f"int{n}" for n in (16, 32, 64, 128)},
    **{f"u{n}": f"uint{n}" for n in (16, 32, 64)},
    **{f"f{n}": f"float{n}" for n in (16, 32, 64)},
    **{f"c{n}": f"complex{n}" for n in (32, 64, 128)},
    **{name.partition("_")[2]: name for name in SMALL_FLOATS},
    "bool_": "bool",
    "bf16": "bfloat16",
    "bc32": "bcomplex32",
    # Of a table that counts bytes, what can be nothing else.
    "b1": "bool",
    "bf": "bfloat16",
    "f2": "float16",
    "c2": "complex32",
    "c16": "complex128",
}
# In bits and in bytes, or in bytes per part and in all.
TWO_READINGS = {
    "i1": ("int1", "int8"), "i2": ("int2", "int16"), "i4": ("int4", "int32"),
    "u1": ("uint1", "uint8"), "u2": ("uint2", "uint16"), "u4": ("uint4", "uint32"),
    "f4": ("float4_e2m1fn", "float32"), "f8": ("float8_e4m3fn", "float64"),
    "c4": ("complex64", "complex32"), "c8": ("complex128", "complex64"),
    "i8": ("int8", "int64"), "u8": ("uint8", "uint64"), "b": ("bool", "int8"),
}  # fmt: skip


@pytest.mark.parametrize(("short", "name"), SHORT.items())
def test_short_forms(short: str, name: str) -> None:
    assert dtype(short) is dtype(name)
    assert find_dtype(short) is dtype(name)


@pytest.mark.parametrize(("short", "readings"), TWO_READINGS.items())
def test_a_short_form_with_two_readings_is_refused_with_both(
    short: str, readings: tuple[str, str]
) -> None:
    assert find_dtype(short) is None
    with pytest.raises(UsageError, match=f"'{short}' has two readings: .*{readings[0]}.*") as error:
        dtype(short)
    assert readings[1] in str(error.value)
    for name in readings:
        assert dtype(name).name == name


# The names of two tables, one of PyTorch's source and one of the Array API standard.
IN_BYTES = {
    "u1": "uint8", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "f2": "float16",
    "f4": "float32", "f8": "float64", "c2": "complex32", "c4": "complex64", "c8": "complex128",
    "b1": "bool", "bf": "bfloat16", "u2": "uint16", "u4": "uint32", "u8": "uint64",
}  # fmt: skip


@pytest.mark.parametrize(("short", "meant"), IN_BYTES.items())
def test_a_name_in_bytes_is_never_silently_another_dtype(short: str, meant: str) -> None:
    found = find_dtype(short)
    assert found is None or found is dtype(meant)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [("flaot32", "float32"), ("int33", "int32"), ("bfloat", "bfloat16"), ("uint", "uint8")],
)
def test_an_unknown_name_gets_a_did_you_mean(wrong: str, hint: str) -> None:
    assert find_dtype(wrong) is None
    with pytest.raises(UsageError, match=rf"unknown dtype '{wrong}'.*Did you mean .*'{hint}'"):
        dtype(wrong)


@pytest.mark.parametrize("wrong", ["", "zzz", "INT32", "int32 ", "f128", "x" * 10_000])
def test_a_name_like_nothing_is_refused_briefly(wrong: str) -> None:
    with pytest.raises(UsageError, match="unknown dtype") as refused:
        dtype(wrong)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("row", DTYPES, ids=repr)
def test_pickling_and_copying_keep_identity(row: DType) -> None:
    assert copy.copy(row) is row
    assert copy.deepcopy([row])[0] is row
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(row, protocol)) is row


def test_a_dtype_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        dtype("int8").bits = 9  # type: ignore[misc]


def test_dtypes_of_reads_kinds_and_names_once_each() -> None:
    assert dtypes_named("bool bool") == (dtype("bool"),)
    assert [d.name for d in dtypes_named("complex")] == list(PARTS)
    assert {d.name for d in dtypes_named("int")} == {*SIGNED, *UNSIGNED}
    assert dtypes_named("i16 int16 f16") == (dtype("int16"), dtype("float16"))
    assert dtypes_named("") == ()


def test_dtypes_of_refuses_an_unknown_word() -> None:
    with pytest.raises(UsageError, match="floats"):
        dtypes_named("int8 floats")


@pytest.mark.parametrize(
    ("name", "text"),
    [("float32", "2**24"), ("float16", "2**11"), ("bfloat16", "2**8"), ("float8_e3m4", "15")],
)
def test_exact_int_text_is_a_power_of_two_where_it_is_one(name: str, text: str) -> None:
    assert exact_int_text(dtype(name)) == text


def test_an_element_takes_a_byte_at_least() -> None:
    assert [dtype(name).itemsize for name in ("bool", "int4", "bfloat16", "complex128")] == [
        1,
        1,
        2,
        16,
    ]
