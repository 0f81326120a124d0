"""The op rows, and ops a user declares: every switch seen at work in every dialect."""

from __future__ import annotations

from typing import Any

import pytest

import castwise
from castwise.errors import PromotionError, UsageError
from castwise.vocab.dtypes import dtype
from castwise.vocab.ops import ARBITRARY, OPS, Op, declare_op, known_op, op, op_of_symbol, ops
from loops import each

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
# Where a dialect does with a declared op something else than most do, and why. A dialect is not
# asked about dtypes it has not.
NO_MIXES = {
    "jax:strict": "only weak types promote",
    "jax:strict-x32": "only weak types promote",
    "paddle:documented": "an op that its guide does not list promotes nothing",
    "tensorflow": "all tensors must have one dtype",
    "tensorflow:none": "tensors are not promoted",
}
NO_INT_MIXES = {**NO_MIXES, "paddle": "arrays promote among floats and with complex alone"}
NO_SIGN_MIXES = {
    "megengine": "signed and unsigned integers do not join",
    "tensorflow:np-safe": "the result must be the dtype of an operand",
    "tensorflow:safe": "the result must be the dtype of an operand",
}
# Of operands of one dtype that the op itself raises to two: the guide speaks of what is written.
NO_RAISED_MIXES = {d: why for d, why in NO_INT_MIXES.items() if d != "paddle:documented"}
NO_LIFTING = dict.fromkeys(
    ("tensorflow", "tensorflow:np-all", "tensorflow:np-safe"),
    "an op that takes floats refuses integers",
)
NO_LOWEST = {"oneflow:article": "an op promotes, or has lowest dtypes"}
NO_CHECK_OF_DTYPES = {"paddle:documented": "its guide does not say what an op computes in"}
ONE_DTYPE = {
    "paddle:documented": "not among those that promote",
    "tensorflow": "needs operands of the same dtype",
}
# These have no out= at all, or one that is not cast to.
WRITES_ANYTHING = (
    "jax", "jax:x64", "jax:strict", "jax:strict-x32", "jax:explicit-x64", "keras", "megengine",
    "mindspore", "mlx", "paddle", "paddle:documented", "tensorflow", "tinygrad",
)  # fmt: skip
_INT32 = ("jax", "jax:strict-x32", "jax:explicit-x64", "keras", "megengine", "megengine:mep3",
          "tinygrad")  # fmt: skip
INDEX = {**dict.fromkeys(_INT32, "int32"), "mlx": "uint32"}


def having(*dtypes: str) -> list[str]:
    """The dialects that have some dtypes."""
    return [d for d in DIALECTS if set(dtypes) <= {own.name for own in castwise.dialect(d).dtypes}]


def asked(*cases: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Each case, whose second part are its operands, in every dialect that has their dtypes."""
    return [
        (dialect, *case)
        for case in cases
        for dialect in having(*[o.partition("[")[0] for o in case[1] if isinstance(o, str)])
    ]


def held(dialect: str, name: str) -> str:
    """The dtype that arrays of a dtype really have."""
    spoken = castwise.dialect(dialect)
    return spoken.truncations.get(dtype(name), dtype(name)).name


def is_refused(dialect: str, refused_in: dict[str, str], *dtypes: str) -> bool:
    """Whether a dialect refuses what is raised to some dtypes, or has them: a mix of two that
    arrays hold as one is none."""
    is_one = len({held(dialect, name.partition("[")[0]) for name in dtypes}) == 1
    return dialect in refused_in and not (dialect == "jax:strict-x32" and is_one)


@pytest.fixture(autouse=True)
def _forget_declared_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castwise.vocab.ops._declared", {})


@each("name", REQUIRED.split())
def test_every_op_of_the_list_has_a_row(name: str) -> None:
    assert op(name).name == name
    assert known_op(name)
    assert name in ops()


def test_every_row_stands_in_a_family() -> None:
    assert [row.name for row in OPS.values() if not row.family] == []


@each("row", OPS.values())
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


def having_dtypes(dialect: str) -> set[str]:
    return {own.name for own in castwise.dialect(dialect).dtypes}


def rebinds(dialect: str) -> bool:
    """Whether the dialect writes nothing, in one form at least."""
    ops = castwise.dialect(dialect).ops
    return any(
        ops[key].writes.into in ("rebinds", "becomes")
        for key in ("*", "*/inplace", "*/out")
        if key in ops
    )


def lowest_of(
    dialect: str,
    operands: tuple[str, str],
    lowest: tuple[str | None, ...],
    name: str,
    refused_in: dict[str, str],
) -> str:
    """What operands raised to their lowest dtypes give: `name`, or what they give unraised."""
    if dialect in NO_LOWEST:
        return castwise.result_type(*operands, dialect=dialect).name
    own = [dtype(operand.partition("[")[0]) for operand in operands]
    least = [dtype(low) if low else mine for low, mine in zip((*lowest, None), own, strict=False)]
    raised = [
        max(pair, key=lambda d: (d.rank, d.bits)).name for pair in zip(own, least, strict=True)
    ]
    return "refused" if is_refused(dialect, refused_in, *raised) else held(dialect, name)


def answered(*operands: Any, dialect: str, **parts: Any) -> castwise.Decision | PromotionError:
    try:
        return castwise.resolve("mine", *operands, dialect=dialect, **parts)
    except PromotionError as refused:
        return refused


def result_of(*operands: Any, dialect: str, **parts: Any) -> str:
    """The name of the result's dtype, or "refused"."""
    found = answered(*operands, dialect=dialect, **parts)
    return "refused" if isinstance(found, PromotionError) else found.result.name


def test_a_declared_op_is_listed_last_and_can_be_declared_anew() -> None:
    declare_op("mine")
    assert ops()[-1] == "mine"
    assert castwise.resolve("mine", "int8[3]", "int8[3]", dialect="torch").result.name == "int8"
    declare_op("mine", result="bool")
    assert ops().count("mine") == 1
    assert castwise.resolve("mine", "int8[3]", "int8[3]", dialect="torch").result.name == "bool"


@each("dialect", DIALECTS)
def test_a_declared_op_promotes_as_the_dialect_does(dialect: str) -> None:
    declare_op("mine")
    is_refused = dialect in {**NO_INT_MIXES, **NO_SIGN_MIXES}
    mixed = result_of("int8[3]", "uint8[3]", dialect=dialect)
    assert mixed == ("refused" if is_refused else "int16")
    assert result_of("float32[3]", 1, dialect=dialect) == "float32"


@each("dialect", DIALECTS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_operands_counts_the_operands(dialect: str, count: int) -> None:
    declare_op("mine", operands=count)
    decision = castwise.resolve("mine", *["int32[3]"] * count, dialect=dialect)
    assert decision.result.name == "int32"
    assert len(decision.casts) == count
    with pytest.raises(UsageError, match=f"mine takes {count}.*not {count + 1}"):
        castwise.resolve("mine", *["int32[3]"] * (count + 1), dialect=dialect)


@each("dialect", DIALECTS)
def test_operands_may_be_a_range(dialect: str) -> None:
    declare_op("mine", operands=(1, 3))
    for count in (1, 2, 3):
        castwise.resolve("mine", *["int32[3]"] * count, dialect=dialect)
    with pytest.raises(UsageError, match=r"mine takes 1 to 3.*not 4"):
        castwise.resolve("mine", *["int32[3]"] * 4, dialect=dialect)


@each("dialect", DIALECTS)
def test_computes_keeps_other_kinds_out(dialect: str) -> None:
    """An int operand ends in a float, in a refusal, or in a note that no kernel takes it."""
    declare_op("mine", computes="float")
    decided = castwise.resolve("mine", "float32[3]", "float32[3]", dialect=dialect)
    assert (decided.result.name, decided.notes) == ("float32", ())
    found = answered("int32[3]", "int32[3]", dialect=dialect)
    is_out = isinstance(found, PromotionError) or found.compute.kind == "float" or found.notes
    assert bool(is_out) == (dialect not in NO_CHECK_OF_DTYPES)


@each("dialect", having("float32", "float64"))
def test_computes_takes_a_mix_of_its_kinds(dialect: str) -> None:
    declare_op("mine", computes="float")
    found = answered("float32[3]", "float64[3]", dialect=dialect)
    if is_refused(dialect, NO_MIXES, "float32", "float64"):
        assert isinstance(found, PromotionError)
    else:
        assert isinstance(found, castwise.Decision)
        assert (found.result.name, found.notes) == (held(dialect, "float64"), ())


@each(
    ("dialect", "kind", "operands", "refused_in"),
    asked(
        ("float", ("int32[3]", "int32[3]"), NO_LIFTING),
        ("float", ("int64[3]", 1), NO_LIFTING),
        ("float", ("uint8[3]", "int8[]"), {**NO_LIFTING, **NO_MIXES, **NO_SIGN_MIXES}),
        ("complex", ("complex64[3]", "complex64[3]"), {}),
    ),
)
def test_integers_become_float(
    dialect: str, kind: str, operands: tuple[Any, Any], refused_in: dict[str, str]
) -> None:
    declare_op("mine", computes="float complex", integers_become_float=True)
    found = answered(*operands, dialect=dialect)
    assert isinstance(found, PromotionError) == (dialect in refused_in)
    assert isinstance(found, PromotionError) or found.result.kind == kind


@each(
    ("dialect", "result", "operands", "name", "refused_in"),
    asked(
        ("same", ("int32[3]", "int64[3]"), "int64", NO_INT_MIXES),
        ("bool", ("float32[3]", "float32[3]"), "bool", {}),
        ("real", ("complex64[3]", "complex128[3]"), "float64", NO_MIXES),
        ("first", ("int32[3]", "int32[3]"), "int32", {}),
        ("int16", ("float32[3]", "float32[3]"), "int16", {}),
        ("int64", ("int64[3]", "int64[3]"), "int64", {}),
        ("float32", ("int64[3]", "int64[3]"), "float32", {}),
    ),
)
def test_result(
    dialect: str, result: str, operands: tuple[str, str], name: str, refused_in: dict[str, str]
) -> None:
    declare_op("mine", result=result)
    wanted = "refused" if is_refused(dialect, refused_in, *operands) else held(dialect, name)
    assert result_of(*operands, dialect=dialect) == wanted


@each("dialect", DIALECTS)
def test_result_index_is_the_dialects_own(dialect: str) -> None:
    declare_op("mine", result="index")
    found = result_of("float32[3]", "float32[3]", dialect=dialect)
    assert found == INDEX.get(dialect, "int64")


@each("dialect", DIALECTS)
def test_result_first_takes_the_first_operands_dtype_where_the_dialect_writes_there(
    dialect: str,
) -> None:
    declare_op("mine", result="first")
    found = answered("float32[3]", "float64[3]", dialect=dialect)
    assert isinstance(found, PromotionError) or found.result.name == "float32"


@each(
    ("dialect", "lowest", "operands", "name", "refused_in"),
    asked(
        ("int32", ("int8[3]", "int8[3]"), "int32", {}),
        ("int32", ("int8[3]", "int64[3]"), "int64", NO_INT_MIXES),
        ("int32", ("float32[3]", "float32[3]"), "float32", {}),
    ),
)
def test_lowest_lifts_every_operand(
    dialect: str, lowest: str, operands: tuple[str, str], name: str, refused_in: dict[str, str]
) -> None:
    declare_op("mine", lowest=lowest)
    wanted = lowest_of(dialect, operands, (lowest, lowest), name, refused_in)
    assert result_of(*operands, dialect=dialect) == wanted


@each(
    ("dialect", "lowest", "operands", "name", "refused_in"),
    asked(
        (("int32", None), ("int8[3]", "int8[3]"), "int32", NO_RAISED_MIXES),
        ((None, "int32"), ("int8[3]", "int8[3]"), "int32", NO_RAISED_MIXES),
        ((None, "int16"), ("int8[3]", "int64[3]"), "int64", NO_INT_MIXES),
        (("int16", "int32"), ("int8[3]", "int8[3]"), "int32", NO_RAISED_MIXES),
        ((None, None), ("int8[3]", "int8[3]"), "int8", {}),
        # The second input has no lowest.
        (("int32",), ("int8[3]", "int64[3]"), "int64", NO_INT_MIXES),
    ),
)
def test_lowest_per_input(
    dialect: str,
    lowest: tuple[str | None, ...],
    operands: tuple[str, str],
    name: str,
    refused_in: dict[str, str],
) -> None:
    declare_op("mine", lowest_per_input=lowest)
    wanted = lowest_of(dialect, operands, lowest, name, refused_in)
    assert result_of(*operands, dialect=dialect) == wanted


@each("dialect", having("int64"))
def test_a_lowest_dtype_is_truncated_as_arrays_are(dialect: str) -> None:
    declare_op("mine", lowest_per_input=("int32", "int64"))
    is_mixed = held(dialect, "int64") != "int32"
    refused_in = NO_RAISED_MIXES if is_mixed else {}
    operands = ("int8[3]", "int8[3]")
    wanted = lowest_of(dialect, operands, ("int32", "int64"), "int64", refused_in)
    assert result_of(*operands, dialect=dialect) == wanted


@each("dialect", DIALECTS)
def test_a_lowest_dtype_lifts_one_operand_and_where_nothing_is_promoted(dialect: str) -> None:
    declare_op("mine", operands=1, lowest="int32")
    assert result_of("int8[3]", dialect=dialect) == "int32"
    declare_op("mine", lowest="int32", promotes=False)
    assert result_of("int8[3]", "int8[3]", dialect=dialect) == "int32"


@each("dialect", NO_LOWEST)
def test_where_an_op_promotes_that_lowest_dtypes_do_not_count_is_told(dialect: str) -> None:
    declare_op("mine", lowest="int32")
    told = castwise.explain("mine", "int8[3]", "int16[3]", dialect=dialect)
    assert "promotes its operands, so its lowest dtypes do not count" in told
    assert told.endswith("The result is int16.")


@each("dialect", DIALECTS)
def test_same_dtype_refuses_mixed_arrays(dialect: str) -> None:
    declare_op("mine", same_dtype=True)
    assert result_of("int8[3]", "int8[3]", dialect=dialect) == "int8"
    with pytest.raises(
        PromotionError, match=rf"{ONE_DTYPE.get(dialect, 'the same dtype')}.*Cast one"
    ):
        castwise.resolve("mine", "int8[3]", "int16[3]", dialect=dialect)


@each("dialect", DIALECTS)
def test_same_dtype_counts_what_is_written_into(dialect: str) -> None:
    declare_op("mine", same_dtype=True)
    assert result_of("int8[3]", "int8[3]", dialect=dialect, out="int8") == "int8"
    for out in ("int16", "bool"):
        assert result_of("int8[3]", "int8[3]", dialect=dialect, out=out) == "refused"
    # It is looked at before integers become floats and before a comparison gives bool.
    declare_op("mine", same_dtype=True, result="bool")
    assert result_of("int8[3]", "int8[3]", dialect=dialect, out="bool") == "refused"


@each("dialect", DIALECTS)
@pytest.mark.parametrize("number", [True, 1, 1.5])
def test_same_dtype_counts_python_numbers(dialect: str, number: float) -> None:
    """As what the dialect makes of them alone, or wraps them in."""
    declare_op("mine", same_dtype=True)
    kind = type(number).__name__
    spoken = castwise.dialect(dialect)
    python = {**spoken.python, **(spoken.ops["*"].numbers.dtypes or {})}
    own = python.get(f"wrapped {kind}", python[kind])
    for name in ("bool", "int8", "int32", "int64", "float16", "float32", "float64"):
        if name in having_dtypes(dialect):
            found = answered(f"{name}[3]", number, dialect=dialect)
            is_one = held(dialect, name) == held(dialect, own)
            assert isinstance(found, PromotionError) != is_one
            if isinstance(found, PromotionError):
                assert "of the same dtype" in str(found)


@pytest.mark.parametrize(
    ("operands", "name"),
    [
        (("int64[3]", 5), "int64"),
        (("int32[3]", 5), "refused"),  # "Found dtype Long but expected Int"
        (("float64[3]", 5.5), "float64"),
        (("float32[3]", 5.5), "refused"),  # "Found dtype Double but expected Float"
        (("complex64[3]", 2j), "refused"),
        (("complex128[3]", 2j), "complex128"),
        ((1, 1.5), "refused"),
        (("int64[3]", "int64[]"), "int64"),
        (("int64[3]", "int32[]"), "refused"),
    ],
)
def test_same_dtype_is_torchs_check_all_same_dtype(operands: tuple[Any, ...], name: str) -> None:
    """A number is wrapped as int64, float64 or complex128, before the default dtype counts."""
    declare_op("mine", same_dtype=True)
    assert result_of(*operands, dialect="torch") == name
    assert result_of(*operands, dialect="torch:default_float=float64") == name


@each("dialect", DIALECTS)
def test_promotes_false_casts_no_operand(dialect: str) -> None:
    declare_op("mine", promotes=False)
    found = answered("int8[3]", "int16[3]", dialect=dialect)
    assert isinstance(found, PromotionError) == (dialect in ONE_DTYPE)
    if not isinstance(found, PromotionError):
        assert (found.casts, found.result.name) == ((None, None), "int8")
    declare_op("mine", promotes=True)
    found = answered("int8[3]", "int16[3]", dialect=dialect)
    assert isinstance(found, PromotionError) == (dialect in NO_INT_MIXES)
    assert isinstance(found, PromotionError) or found.casts[0] is not None


@each("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("second", "parts"), [("int16[3]", {"out": "int32"}), ("int32[3]", {"inplace": True})]
)
def test_casts_to_output_false_demands_the_results_dtype(
    dialect: str, second: str, parts: dict[str, Any]
) -> None:
    declare_op("mine", casts_to_output=False)
    is_mix_refused = second == "int32[3]" and dialect in NO_INT_MIXES
    with pytest.raises(
        PromotionError, match="Cast one" if is_mix_refused else "cannot be written into"
    ):
        castwise.resolve("mine", "int16[3]", second, dialect=dialect, **parts)
    fitting = {"out": "int16"} if "out" in parts else parts
    assert result_of("int16[3]", "int16[3]", dialect=dialect, **fitting) == "int16"


@each("dialect", DIALECTS)
@pytest.mark.parametrize("is_safe", [True, False])
def test_casts_to_output_false_holds_whatever_safe_output_says(dialect: str, is_safe: bool) -> None:
    declare_op("mine", casts_to_output=False, safe_output=is_safe)
    assert result_of("int16[3]", "int16[3]", dialect=dialect, out="int32") == "refused"
    assert result_of("int16[3]", "int16[3]", dialect=dialect, out="int16") == "int16"


MIX = ("int8[3]", "int16[3]")  # which the op promotes nothing of


@each("dialect", [d for d in DIALECTS if d not in ONE_DTYPE])
@pytest.mark.parametrize(
    "switches", [{}, {"casts_to_output": False}, {"safe_output": False}], ids=str
)
def test_a_mix_that_nothing_promotes_is_cast_to_no_output(
    dialect: str, switches: dict[str, Any]
) -> None:
    """torch asserts that there is a common dtype where one is cast or checked."""
    declare_op("mine", promotes=False, **switches)
    assert result_of(*MIX, dialect=dialect) == "int8"
    is_rebinding = not switches and rebinds(dialect)
    for parts in ({"out": "int16"}, {"out": "int8"}, {"inplace": True}):
        found = answered(*MIX, dialect=dialect, **parts)
        if is_rebinding:
            continue
        assert isinstance(found, PromotionError)
        assert "no single dtype" in str(found)
    assert result_of("int8[3]", "int8[3]", dialect=dialect, out="int8") == "int8"


@each("dialect", [d for d in DIALECTS if d not in ONE_DTYPE])
@pytest.mark.parametrize("same_device", [True, False])
def test_a_mix_that_nothing_promotes_or_casts_is_as_the_output_says(
    dialect: str, same_device: bool
) -> None:
    """torch's early return; with check_all_same_device it goes on, and finds nothing to do."""
    switches = {"promotes": False, "casts_to_output": False, "safe_output": False}
    declare_op("mine", same_device=same_device, **switches)
    for out in ("int8", "int32", "bool"):
        found = castwise.resolve("mine", *MIX, dialect=dialect, out=out)
        assert (found.result.name, found.casts, found.result_cast) == (out, (None, None), None)
        told = castwise.explain("mine", *MIX, dialect=dialect, out=out)
        assert f"Nothing is cast: the result takes the destination's dtype, {out}." in told
    assert result_of(*MIX, dialect=dialect, inplace=True) == "int8"


@each(
    ("dialect", "name", "operands"),
    asked(("int8", ("float32[3]", "float32[3]")), ("bool", ("complex64[3]", "complex64[3]"))),
)
def test_safe_output_false_writes_anywhere(
    dialect: str, name: str, operands: tuple[str, str]
) -> None:
    declare_op("mine", safe_output=True)
    is_refused = result_of(*operands, dialect=dialect, out=name) == "refused"
    assert is_refused == (dialect not in WRITES_ANYTHING)
    declare_op("mine", safe_output=False)
    assert result_of(*operands, dialect=dialect, out=name) == name


@each("dialect", having("float32", "float64"))
def test_safe_output_false_writes_anything_in_place(dialect: str) -> None:
    declare_op("mine", safe_output=False)
    found = result_of("float32[3]", "float64[3]", dialect=dialect, inplace=True)
    assert found == (
        "refused" if is_refused(dialect, NO_MIXES, "float32", "float64") else "float32"
    )


@each("dialect", DIALECTS)
def test_accumulates_widens_small_integers_as_the_dialects_own_sum_does(dialect: str) -> None:
    declare_op("mine", operands=1, accumulates=True)
    for operand in ("int8[3]", "float32[3]"):
        own = castwise.resolve("sum", operand, dialect=dialect).result
        assert result_of(operand, dialect=dialect) == own.name


SWITCHES: list[dict[str, Any]] = [
    {},
    {"computes": "float", "integers_become_float": True},
    {"result": "bool"},
    {"result": "int16"},
    {"result": "index"},
    {"lowest": "int32"},
    {"lowest_per_input": (None, "int32")},
    {"same_dtype": True},
    {"same_device": False},
    {"promotes": False},
    {"casts_to_output": False},
    {"safe_output": False},
    {"accumulates": True},
]


@each("dialect", DIALECTS)
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


@each("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("switches", "operands", "word"),
    [
        ({"lowest": "int32"}, ("int8[3]", "int8[3]"), "int32"),
        ({"result": "int16"}, ("float32[3]", "float32[3]"), "returns int16"),
        ({"same_dtype": True}, ("int8[3]", "int16[3]"), "the same dtype"),
        ({"computes": "bool"}, ("bool[3]", "bool[3]"), "The result is bool"),
    ],
)
def test_the_explanation_tells_what_the_switch_did(
    dialect: str, switches: dict[str, Any], operands: tuple[str, str], word: str
) -> None:
    declare_op("mine", **switches)
    told = castwise.explain("mine", *operands, dialect=dialect)
    if "lowest" in switches and dialect in NO_LOWEST:
        word = "lowest dtypes do not count"
    assert (ONE_DTYPE.get(dialect, word) if "same_dtype" in switches else word) in told


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
