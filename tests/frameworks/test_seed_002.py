"""Seed 002, TensorFlow's RFC 431: its proposed tables cell by cell, its rules and its examples."""

from __future__ import annotations

import itertools

import pytest
from asking import result
from rfc431_tables import operand, read_table

import castwise as cw
from castwise.vocab.dtypes import dtype

MODES = ("tensorflow:all", "tensorflow:safe", "tensorflow:none")
DTYPES = [d.name for d in cw.dialect("tensorflow:all").dtypes]


def expected(cell: str, mode: str) -> str:
    """What a mode answers: S marks the cells SAFE and ALL allow, A those of ALL alone."""
    short, _, needed = cell.partition(" ")
    allowed = {"": MODES, "S": MODES[:2], "A": MODES[:1]}[needed]
    return dtype(short).name if short != "-" and mode in allowed else "!"


ADD = read_table("add-proposed")
ASSIGN_ADD = read_table("assign_add-proposed")


# The proposed tables.


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", ADD)
@pytest.mark.parametrize("asked", ["{} + {}", "tf.add({}, {})"])
def test_the_proposed_table_of_add(row: str, mode: str, asked: str) -> None:
    found = {c: result(asked.format(operand(row), operand(c)), mode) for c in ADD[row]}
    assert found == {column: expected(cell, mode) for column, cell in ADD[row].items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", ASSIGN_ADD)
def test_the_proposed_table_of_assign_add(row: str, mode: str) -> None:
    cells = ASSIGN_ADD[row]
    found = {c: result(f"{operand(row)} += {operand(c)}", mode) for c in cells}
    assert found == {column: expected(cell, mode) for column, cell in cells.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", ADD)
@pytest.mark.parametrize("tensor", ["np.{}[3]", "np.{}[]", "np.{}(1)", "{}[]"])
def test_numpy_operands_and_0d_tensors_count_as_tensors(row: str, mode: str, tensor: str) -> None:
    found = {c: result(f"{operand(row)} + {operand(c, tensor)}", mode) for c in ADD[row]}
    assert found == {column: expected(cell, mode) for column, cell in ADD[row].items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", ASSIGN_ADD)
def test_so_they_do_in_assign_add(row: str, mode: str) -> None:
    cells = ASSIGN_ADD[row]
    found = {c: result(f"{operand(row)} += {operand(c, 'np.{}[3]')}", mode) for c in cells}
    assert found == {column: expected(cell, mode) for column, cell in cells.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("symbol", ["-", "*", "**", "%"])
@pytest.mark.parametrize("row", [short for short in ADD if short[0] != "c"])
def test_sub_mul_pow_and_mod_promote_as_add(row: str, symbol: str, mode: str) -> None:
    cells = {column: cell for column, cell in ADD[row].items() if column[0] != "c"}
    found = {c: result(f"{operand(row)} {symbol} {operand(c)}", mode) for c in cells}
    assert found == {column: expected(cell, mode) for column, cell in cells.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", ADD)
@pytest.mark.parametrize("symbol", ["==", "!=", "<", ">="])
def test_comparisons_promote_as_add_and_return_bool(row: str, symbol: str, mode: str) -> None:
    found = {c: result(f"{operand(row)} {symbol} {operand(c)}", mode) for c in ADD[row]}
    refused = {column for column, cell in ADD[row].items() if expected(cell, mode) == "!"}
    assert {column for column, answer in found.items() if answer == "!"} == refused
    assert set(found.values()) <= {"bool", "!"}


def test_the_proposal_is_commutative() -> None:
    assert all(ADD[row][column] == ADD[column][row] for row in ADD for column in ADD)
    assert all(cw.dialect(mode).is_commutative for mode in MODES)


def test_a_python_bool_is_a_bool_tensor() -> None:
    """The RFC is silent on it, save that NONE takes Python scalars as SAFE does."""
    for mode, name in itertools.product(MODES, DTYPES):
        as_tensor = "tensorflow:safe" if mode == "tensorflow:none" else mode
        assert result(f"{name}[3] + True", mode) == result(f"{name}[3] + bool[3]", as_tensor)
        assert result(f"True + {name}[3]", mode) == result(f"{name}[3] + True", mode)


# Mode ALL.


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("bfloat16[3] + uint8[3]", "bfloat16"),
        ("int64[3] + float64[3]", "float64"),  # capped despite precision loss
        ("uint64[3] + int8[3]", "float64"),
        ("uint64[3] + complex64[3]", "complex128"),
        ("uint8[3] + int8[3]", "int16"),
        ("uint64[3] + float32[3]", "float64"),
    ],
)
def test_all_takes_the_narrowest_dtype_for_both_up_to_64_bits(question: str, answer: str) -> None:
    assert result(question, "tensorflow:all") == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("bool[3] + 1", "int64"),
        ("uint16[3] + 1", "uint16"),
        ("int16[3] + 1.5", "float64"),
        ("float16[3] + 1.5", "float16"),
        ("float16[3] + 1j", "complex64"),
        ("complex64[3] + 1j", "complex64"),
    ],
)
def test_all_leads_scalars_from_bool_over_integers_and_floats_to_complex(
    question: str, answer: str
) -> None:
    assert result(question, "tensorflow:all") == answer


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("int8[1] + 1", "int8"),
        ("int8[1] + 1000", "!range"),
        ("int8[1] += 1000", "!range"),
        ("int8[1] < 1000", "!range"),
        ("int8[1] / 1000", "!range"),  # the scalar becomes int8 before the division
        ("int8[1] + -128", "int8"),
        ("int8[1] + -129", "!range"),
        ("uint8[1] + -1", "!range"),
        (f"uint64[1] + {2**63}", "uint64"),
        (f"int64[1] + {2**63}", "!range"),
        (f"bool[1] + {2**63}", "!range"),
        (f"float64[1] + {2**63}", "float64"),
        ("float16[1] + 65504", "float16"),
        ("float16[1] + 65505", "!range"),
        ("float16[1] + 7e4", "!range"),
        ("bfloat16[1] + 7e4", "bfloat16"),
        ("float32[1] + 1e39", "!range"),
        ("float32[1] + inf", "float32"),
        ("float32[1] + nan", "float32"),
        ("complex64[1] + 1e39j", "!range"),
        ("complex128[1] + 1e39j", "complex128"),
        (f"1 + {2**63}", "!range"),
    ],
)
def test_a_scalar_must_be_within_the_range_of_the_dtype(
    question: str, answer: str, mode: str
) -> None:
    assert result(question, mode) == answer


def test_the_error_names_the_scalar_and_the_range() -> None:
    with pytest.raises(cw.ScalarRangeError, match=r"1000 is out of range for int8.*-128 to 127"):
        cw.resolve("add", "int8[1]", 1000, dialect="tensorflow:all")


# Mode SAFE.


@pytest.mark.parametrize("question", ["uint8[3] + int8[3]", "bfloat16[3] + float16[3]"])
def test_safe_refuses_a_result_wider_than_both(question: str) -> None:
    assert result(question, "tensorflow:safe") == "!"


@pytest.mark.parametrize("question", ["uint64[3] + float32[3]", "int64[3] + float64[3]"])
def test_safe_refuses_a_result_that_loses_precision(question: str) -> None:
    assert result(question, "tensorflow:safe") == "!"


@pytest.mark.parametrize("mode", ["tensorflow:safe", "tensorflow:none"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("int32[3] + 1.5", "!"),
        ("int32[3] + 1.0", "!"),
        ("float32[3] + 1j", "!"),
        ("uint8[3] + 0", "uint8"),
        ("uint8[3] + 255", "uint8"),
        ("uint8[3] + 256", "!range"),
        ("uint8[3] + -1", "!range"),
    ],
)
def test_safe_and_none_take_a_scalar_that_fits_into_the_tensors_dtype(
    question: str, answer: str, mode: str
) -> None:
    assert result(question, mode) == answer


def test_a_refusal_asks_for_an_explicit_cast() -> None:
    with pytest.raises(
        cw.PromotionError, match=r"wider than both or loses precision. Cast both: x.astype..int16"
    ):
        cw.resolve("add", "uint8[3]", "int8[3]", dialect="tensorflow:safe")
    with pytest.raises(cw.PromotionError, match=r"float does not fit into int32. Cast the arrays"):
        cw.resolve("add", "int32[3]", 1.5, dialect="tensorflow:safe")


def test_safe_casts_have_no_hazard_but_width() -> None:
    for a, b in itertools.product(DTYPES, repeat=2):
        if result(f"{a}[3] + {b}[3]", "tensorflow:safe") != "!":
            hazards = cw.resolve("add", a, b, dialect="tensorflow:safe").hazards
            assert set(hazards) <= {"widens", "not-on-device"}


def bracketings(a: str, b: str, c: str, mode: str) -> tuple[str, str]:
    """(a + b) + c and a + (b + c)."""
    left, right = result(f"{a}[3] + {b}[3]", mode), result(f"{b}[3] + {c}[3]", mode)
    return (
        result(f"{left}[3] + {c}[3]", mode) if left != "!" else "!",
        result(f"{a}[3] + {right}[3]", mode) if right != "!" else "!",
    )


def test_all_is_silently_nonassociative_and_safe_is_not() -> None:
    triple = ("uint8", "int8", "float16")
    assert bracketings(*triple, "tensorflow:all") == ("float32", "float16")
    assert bracketings(*triple, "tensorflow:safe") == ("!", "float16")
    assert cw.dialect("tensorflow:all").associativity_witness == triple
    for mode in ("tensorflow:safe", "tensorflow:none"):
        assert cw.dialect(mode).associativity_witness is None


def test_safe_never_has_two_answers() -> None:
    for triple in itertools.product(DTYPES, repeat=3):
        assert len({*bracketings(*triple, "tensorflow:safe")} - {"!"}) <= 1


# Mode NONE.


def test_none_promotes_nothing_between_tensors() -> None:
    for a, b in itertools.product(DTYPES, repeat=2):
        assert result(f"{a}[3] + {b}[3]", "tensorflow:none") == (a if a == b else "!")


@pytest.mark.parametrize("scalar", ["1", "300", "1.5", "1e39", "1j", "True"])
def test_none_takes_scalars_as_safe_does(scalar: str) -> None:
    for name in DTYPES:
        question = f"{name}[3] + {scalar}"
        assert result(question, "tensorflow:none") == result(question, "tensorflow:safe")


# Alternatives considered.


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("int32[3] + float32[3]", "float32"),
        ("int8[3] + 1.5", "float32"),
        ("float64[3] + float64[3]", "float32"),
        ("float32[3] + complex128[3]", "complex64"),
        ("int32[3] / int32[3]", "float32"),
        ("int64[3] + int8[3]", "int64"),
    ],
)
def test_allow_float64_false_is_a_cap_at_32_bits(question: str, answer: str) -> None:
    assert result(question, "tensorflow:all:cap_float=32") == answer


def test_numpys_value_dependent_promotion_is_left_out() -> None:
    assert result("result_type(int8[3], 200)", "numpy@1") == "int16"
    assert result("result_type(int8[3], 100)", "numpy@1") == "int8"
    for mode in MODES:
        assert result("result_type(int8[3], 200)", mode) == "!range"
        assert result("result_type(int8[3], 100)", mode) == "int8"


# Variables and NumPy arrays.


def test_adding_to_a_variable_reads_it_into_a_tensor() -> None:
    """tf.Variable(1) + np.array(1.5), which gave 2."""
    answers = [result("int32[] + np.float64[]", mode) for mode in MODES]
    assert answers == ["float64", "float64", "!"]


@pytest.mark.parametrize("mode", MODES)
def test_a_variables_dtype_cannot_change(mode: str) -> None:
    assert result("int32[] += np.float64[]", mode) == "!"
    assert result("float32[] += int32[]", mode) == "!"
    assert result("float32[] += 1", mode) == "float32"


@pytest.mark.parametrize(
    ("mode", "answer"), [(MODES[0], "float64"), (MODES[1], "float64"), (MODES[2], "!")]
)
def test_the_place_of_a_numpy_array_does_not_matter(mode: str, answer: str) -> None:
    """tf.add(np.array(3.1), tf.constant(1)) raised, the other way round gave 4."""
    assert result("tf.add(np.float64[], int32[])", mode) == answer
    assert result("tf.add(int32[], np.float64[])", mode) == answer


@pytest.mark.parametrize("mode", MODES)
def test_the_place_of_a_scalar_does_not_matter(mode: str) -> None:
    """tf.add(tf.constant(1.0), 3) gave 4.0, tf.add(3, tf.constant(1.0)) raised."""
    assert result("tf.add(float32[], 3)", mode) == "float32"
    assert result("tf.add(3, float32[])", mode) == "float32"


# truediv.


@pytest.mark.parametrize(
    ("question", "by_mode"),
    [
        ("int16[3] / int16[3]", ("float32", "float32", "float32")),
        ("int32[3] / int32[3]", ("float64", "float64", "float64")),
        ("int8[3] / int16[3]", ("float32", "float32", "!")),
        ("uint8[3] / uint32[3]", ("float64", "float64", "!")),
        ("int8[3] / 1", ("float32", "float32", "float32")),
        ("int8[3] / uint16[3]", ("float64", "!", "!")),
        ("float16[3] / int8[3]", ("float16", "float16", "!")),
        ("int8[3] / 1.5", ("float64", "!", "!")),
    ],
)
@pytest.mark.parametrize("place", range(3))
def test_truediv_promotes_first_and_then_turns_integers_into_floats(
    question: str, by_mode: tuple[str, str, str], place: int
) -> None:
    assert result(question, MODES[place]) == by_mode[place]


@pytest.mark.parametrize("mode", MODES)
def test_truediv_of_a_variable_of_integers_is_refused(mode: str) -> None:
    assert result("int32[3] /= int32[3]", mode) == "!"
    assert result("float32[3] /= float32[3]", mode) == "float32"


# What the RFC does not speak of is as it is in TensorFlow.


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("tf.exp(int32[3])", "!"),
        ("tf.sqrt(int8[3])", "!"),
        ("tf.exp(bfloat16[3])", "bfloat16"),
        ("atan2(int8[3], int8[3])", "!"),
        ("bool[3] / bool[3]", "!"),
        ("sum(int8[3])", "int8"),
        ("mean(int8[3])", "int8"),
        ("argmax(float32[3])", "int64"),
        ("any(int8[3])", "!"),
        ("logical_and(int8[3], int8[3])", "!"),
        ("logical_and(bool[3], True)", "bool"),
    ],
)
def test_ops_beyond_arithmetic(question: str, answer: str, mode: str) -> None:
    assert result(question, mode) == answer


# The modes by their names.


@pytest.mark.parametrize(
    ("name", "mode"), [("ALL", MODES[0]), ("SAFE", MODES[1]), ("NONE", MODES[2])]
)
def test_the_modes_are_chosen_by_the_rfcs_names(name: str, mode: str) -> None:
    member = cw.ImplicitPromotion[name]
    assert member == mode
    assert cw.dialect(member) is cw.dialect(mode)
    with cw.use(member) as chosen:
        assert chosen is cw.current() is cw.dialect(mode)
    assert cw.resolve("add", "int8[3]", 1, dialect=member).result.name == "int8"
    assert cw.result_type("int8[3]", 1, dialect=member).name == "int8"


def test_there_are_three_modes() -> None:
    assert [mode.value for mode in cw.ImplicitPromotion] == list(MODES)
