"""TensorFlow's RFC 431, "Making dtype promotion semantics in TensorFlow more consistent": every
statement, in its order.

Each test quotes what it checks. The seven tables, which the RFC shows as pictures, are transcribed
in data/rfc431. Where the RFC contradicts itself, the test says what castwise follows;
docs/evidence/documents.md lists these places, and where TensorFlow does something else.

Without a check, as they say nothing about behaviour: status, authors and sponsor; links; what the
document is and is not; what users complained of; that TF-NumPy is a strategic project; "Our current
plan does not involve adding this flag"; Dependencies; Engineering Impact (binary size, startup,
build and test time, which directory is refactored); Platforms and Environments.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rfc431_tables import SCALARS, meant, operand, read_table
from ways import Way

import castwise as cw
from asking import result, run
from castwise.vocab.dtypes import dtype

ROOT = Path(__file__).parents[2]
TODAY = "tensorflow"
MODES = ("tensorflow:all", "tensorflow:safe", "tensorflow:none")
ALL, SAFE, NONE = MODES
DTYPES = [d.name for d in cw.dialect(ALL).dtypes]
NUMBERS: dict[str, Any] = {"i*": 1, "f*": 1.5, "c*": 1 + 1j}
OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "**": operator.pow, "%": operator.mod,
}  # fmt: skip


def tf_add(first: Any, second: Any) -> Any:
    return cw.apply("tf.add", first, second)


def answers(question: str) -> list[str]:
    """What ALL, SAFE and NONE answer; "!" for a refusal, "!range" for one because of a value."""
    return [result(question, mode) for mode in MODES]


def in_mode(cell: str, mode: str) -> str:
    """What a mode answers: S marks the cells SAFE and ALL allow, A those of ALL alone."""
    short, _, needed = cell.partition(" ")
    allowed = {"": MODES, "S": MODES[:2], "A": MODES[:1]}[needed]
    return meant(short).name if short != "-" and mode in allowed else "!"


def value(way: Way, short: str, dialect: str) -> Any:
    """A row or column of a table: a tensor of ones, or a Python number."""
    return NUMBERS.get(short) or way.tensor([1, 1, 1], meant(short), dialect=dialect)


def numpy_ones(short: str) -> Any:
    """A column of a table: a NumPy array of ones, or a Python number."""
    return NUMBERS.get(short) or cw.asarray([1, 1, 1], dtype=meant(short)).numpy()


# "Objective"


def test_more_similar_to_numpy() -> None:
    """ "make TF APIs more similar to NumPy, with some differences": ALL joins tensors as NumPy
    does; NumPy has no bfloat16 of its own, and takes numbers that ALL refuses"""
    for a, b in itertools.product([name for name in DTYPES if name != "bfloat16"], repeat=2):
        assert result(f"{a}[3] + {b}[3]", ALL) == result(f"{a}[3] + {b}[3]", "numpy")
    assert result("float16[3] + 1e5", "numpy") == "float16"
    assert result("float16[3] + 1e5", ALL) == "!range"


OPS = ("add", "sub", "mul", "div", "pow", "mod")


def test_the_binary_ops() -> None:
    """ "the binary ops including add, sub, mul, div, pow and mod" """
    for name in OPS:
        assert answers(f"tf.{name}(float16[3], float32[3])") == ["float32", "float32", "!"]


# "Motivation"


def test_tf_is_broken_compared_to_jax_or_numpy() -> None:
    """ "dtype promotion is very broken compared to JAX or NumPy" """
    question = "float16[3] + float32[3]"
    assert [result(question, d) for d in ("jax", "numpy", TODAY)] == ["float32", "float32", "!"]


# "User Benefit"


def test_switching_the_inputs_positions_affects_the_outcome(way: Way) -> None:
    """ "tf.add(c, 3)  # tf.Tensor(4.0, shape=(), dtype=float32)"; "tf.add(3, c)  #
    InvalidArgumentError" """
    c = way.tensor(1.0, dialect=TODAY)
    found = way.run(lambda c: tf_add(c, 3), c, dialect=TODAY)
    assert (found.tolist(), found.shape, found.dtype.name) == (4.0, (), "float32")
    with pytest.raises(cw.PromotionError, match=r"add\(3, float32\[\]\) is not defined"):
        way.run(lambda c: tf_add(3, c), c, dialect=TODAY)


def test_the_shortened_terms() -> None:
    """ "`b` means tf.bool", "`u8` means tf.uint8", ... "`c*` means python complex"; castwise
    the terms that NumPy reads otherwise"""
    shorts = {"b": "bool", "u8": "uint8", "i16": "int16", "bf16": "bfloat16", "f64": "float64",
              "c64": "complex64"}  # fmt: skip
    for short, name in shorts.items():
        if short in ("b", "u8"):
            with pytest.raises(cw.UsageError, match=f"'{short}' has two readings: {name}, "):
                cw.dtype(short)
        else:
            assert cw.dtype(short).name == cw.dtype(f"tf.{name}").name == name
    assert [type(NUMBERS[short]) for short in ("i*", "f*", "c*")] == [int, float, complex]


# A dash in the tables of today is any error, a missing kernel among them, so these tests `run`.
ADD_TODAY = read_table("add-current")
FORMS = {"operator": "{} + {}", "function": "tf.add({}, {})"}
OTHER = {"operator": "fn", "function": "op"}  # the mark of cells that the other form alone has


def today(form: str, cell: str) -> str:
    """What a cell of today says of a form: red ones (op) and yellow ones (fn) have one alone."""
    short, _, only = cell.partition(" ")
    return "!" if short == "-" or only == OTHER[form] else meant(short).name


def cells_of(form: str) -> dict[tuple[str, str], str]:
    """The cells that speak of a form. A blank one says nothing, and of two Python numbers `+` is
    Python's own."""
    return {
        (row, column): today(form, cell)
        for row, cells in ADD_TODAY.items()
        for column, cell in cells.items()
        if cell and (form == "function" or not {row, column} <= SCALARS.keys())
    }


@pytest.mark.parametrize("form", FORMS)
def test_the_table_of_add_today(form: str) -> None:
    """ "Table: TF dtype promotion result of dunder method `__add__` and `tf.add`"; "`-` means
    unsupported"; red is "only supported in `__add__`", yellow "only supported in `tf.add`" """
    for (row, column), expected in cells_of(form).items():
        question = FORMS[form].format(operand(row), operand(column))
        assert run(question, TODAY) == expected, question


@pytest.mark.parametrize("form", FORMS)
def test_the_table_of_add_today_executed(way: Way, form: str) -> None:
    for (row, column), expected in cells_of(form).items():
        if {row, column} <= NUMBERS.keys():
            continue  # two Python numbers leave no tensor to run on
        operands = [value(way, short, TODAY) for short in (row, column)]
        add = operator.add if form == "operator" else tf_add
        try:
            found = way.run(add, *operands, dialect=TODAY).dtype.name
        except cw.PromotionError:
            found = "!"
        assert found == expected, (row, column)


def test_boolean_dtypes_are_not_supported() -> None:
    """ "1. Boolean dtypes are not supported" """
    assert {*ADD_TODAY["b"].values(), *(cells["b"] for cells in ADD_TODAY.values())} == {"-"}


def test_conversion_between_two_tf_dtypes_is_disallowed() -> None:
    """ "2. Implicit conversion between two TF dtypes are strictly disallowed" """
    for a, b in itertools.permutations(DTYPES, 2):
        assert run(f"{a}[3] + {b}[3]", TODAY) == "!"


def test_conversion_from_some_python_dtypes_is_disallowed() -> None:
    """ "3. Implicit conversion from some python dtypes to some TF dtypes are disallowed" """
    assert run("int32[3] + 1", TODAY) == "int32"
    assert run("int32[3] + 1.5", TODAY) == run("float32[3] + 1j", TODAY) == "!"


def test_tf_add_is_not_even_commutative() -> None:
    """ "4. `tf.add` is not even commutative" """
    assert run("tf.add(int8[3], 1)", TODAY) == "int8"
    assert run("tf.add(1, int8[3])", TODAY) == "!"
    assert run("1 + int8[3]", TODAY) == "int8"


def test_numpy_inputs_can_be_even_more_broken() -> None:
    """ "When the inputs involve NumPy arrays, the behaviors can be even more broken." """
    assert run("int32[3] + np.float64[3]", TODAY) == "int32"


def test_the_aim_is_commutative_predictable_and_correct() -> None:
    """ "We aim to make the system commutative, predictable and correct." """
    assert all(ADD[row][column] == ADD[column][row] for row in ADD for column in ADD)
    assert all(cw.dialect(mode).evidence.laws.is_commutative for mode in MODES)
    assert answers("tf.add(float32[], 3)") == answers("tf.add(3, float32[])") == ["float32"] * 3


# "Design Proposal"

ADD = read_table("add-proposed")


@pytest.mark.parametrize(("name", "mode"), [("ALL", ALL), ("SAFE", SAFE), ("NONE", NONE)])
def test_the_modes_are_chosen_by_the_rfcs_names(name: str, mode: str) -> None:
    """ "`tf.ImplicitPromotion.ALL`", "`tf.ImplicitPromotion.SAFE`",
    "`tf.ImplicitPromotion.NONE`" """
    member = cw.ImplicitPromotion[name]
    assert member == mode
    assert cw.dialect(member) is cw.dialect(mode)
    with cw.use(member) as chosen:
        assert chosen is cw.current() is cw.dialect(mode)
    assert cw.resolve("add", "int8[3]", 1, dialect=member).result.name == "int8"
    assert cw.result_type("int8[3]", 1, dialect=member).name == "int8"


def test_there_are_three_modes() -> None:
    """ "We propose introducing three dtype promotion modes" """
    assert [mode.value for mode in cw.ImplicitPromotion] == list(MODES)


def test_the_modes_determine_how_often_promotions_happen() -> None:
    """ "The three modes determine how often implicit dtype promotions happen": 72 pairs of tensors
    promote in ALL alone, 138 in SAFE too"""
    promoted = [
        {(a, b) for a, b in itertools.permutations(DTYPES, 2) if result(f"{a} + {b}", mode) != "!"}
        for mode in MODES
    ]
    assert [len(pairs) for pairs in promoted] == [210, 138, 0]
    assert promoted[0] > promoted[1]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", FORMS)
def test_the_proposed_table_of_add(mode: str, form: str) -> None:
    """ "Table: TF dtype promotion result of `tf.add` after the proposed changes"; "`__add__` is
    expected to have the same behavior" """
    for row, column in itertools.product(ADD, repeat=2):
        question = FORMS[form].format(operand(row), operand(column))
        assert result(question, mode) == in_mode(ADD[row][column], mode), question


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("add", [operator.add, tf_add])
def test_the_proposed_table_of_add_executed(way: Way, mode: str, add: Any) -> None:
    shorts = [short for short in ADD if short not in NUMBERS]
    expected = {
        (row, column): in_mode(ADD[row][column], mode)
        for row, column in itertools.product(ADD, repeat=2)
        if not {row, column} <= NUMBERS.keys()
    }
    allowed = [pair for pair, answer in expected.items() if answer != "!"]

    def every_pair(*tensors: cw.Tensor) -> list[cw.Tensor]:
        by_name = {**NUMBERS, **dict(zip(shorts, tensors, strict=True))}
        return [add(by_name[a], by_name[b]) for a, b in allowed]

    given = [value(way, short, mode) for short in shorts]
    found = way.run(every_pair, *given, dialect=mode)
    assert [each.dtype.name for each in found] == [expected[pair] for pair in allowed]
    operands = dict(zip(shorts, given, strict=True)) | NUMBERS
    for a, b in expected.keys() - set(allowed):
        with pytest.raises(cw.PromotionError):
            way.run(add, operands[a], operands[b], dialect=mode)


def test_numpy_inputs_are_treated_as_tensors() -> None:
    """ "will treat the np array inputs in the same way as the tensor inputs" """
    for mode, tensor in itertools.product(MODES, ("np.{}[3]", "np.{}[]", "np.{}(1)", "{}[]")):
        for row, column in itertools.product(ADD, repeat=2):
            question = f"{operand(row)} + {operand(column, tensor)}"
            assert result(question, mode) == in_mode(ADD[row][column], mode), question


def test_each_mode_allows_what_the_stricter_allows() -> None:
    """ "`NONE` only allows the unhighlighted cells. `SAFE` allows all `NONE` cases plus ... green.
    `ALL` allows all `SAFE` cases plus ... yellow." """
    for row, column in itertools.product(ADD, repeat=2):
        all_, safe, none = (in_mode(ADD[row][column], mode) for mode in MODES)
        assert none in (safe, "!")
        assert safe in (all_, "!")


# "Mode 1: tf.ImplicitPromotion.ALL"


def test_all_implicit_promotions_happen() -> None:
    """ "we allow all implicit promotions to happen in the op, even if both inputs have TF
    dtypes" """
    assert "!" not in {result(f"{a} + {b}", ALL) for a, b in itertools.product(DTYPES, repeat=2)}


def lowest(a: str, b: str) -> str:
    """The dtype of the fewest bits that has every value of both, of equal ones the integer; the
    widest float or complex where none has."""
    both = [d for d in cw.dialect(ALL).dtypes if d.holds_all(dtype(a)) and d.holds_all(dtype(b))]
    if not both:
        kinds = {dtype(a).kind, dtype(b).kind}
        return "complex128" if "complex" in kinds else "float64"
    return min(both, key=lambda d: (d.bits, d.kind != "int")).name


def tensors(way: Way, mode: str, *dtypes: str) -> list[cw.Tensor]:
    """tf.constant([1], dtype), for each dtype."""
    return [way.tensor([1], name, dialect=mode) for name in dtypes]


def summed(way: Way, mode: str, *dtypes: str) -> str:
    """The dtype of the sum of two tensors, when it runs."""
    found: cw.Tensor = way.run(operator.add, *tensors(way, mode, *dtypes), dialect=mode)
    return found.dtype.name


def test_the_lowest_width_that_guarantees_precisions_and_ranges() -> None:
    """ "promoted to the lowest width dtype that guarantees the precisions and ranges of the
    inputs"; "widths are capped at 64, 64 and 128 bits respectively" """
    for a, b in itertools.product(DTYPES, repeat=2):
        assert result(f"{a}[3] + {b}[3]", ALL) == lowest(a, b), (a, b)


def test_the_summation_of_bfloat16_and_uint8(way: Way) -> None:
    """ "The summation of `tf.bfloat16` and `tf.uint8` will be type `tf.bfloat16`." """
    assert summed(way, ALL, "tf.bfloat16", "tf.uint8") == "bfloat16"


def test_the_summation_of_int64_and_float64(way: Way) -> None:
    """ "`tf.int64` and `tf.float64` will be capped at type `tf.float64` despite precision loss" """
    assert summed(way, ALL, "tf.int64", "tf.float64") == "float64"
    assert "loses-precision" in cw.resolve("add", "int64", "float64", dialect=ALL).hazards


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("bool[3] + 1", "int64"),
        ("uint16[3] + 1", "uint16"),
        ("int16[3] + 1", "int16"),
        ("int16[3] + 1.5", "float64"),
        ("float16[3] + 1.5", "float16"),
        ("float16[3] + 1j", "complex64"),
        ("complex64[3] + 1j", "complex64"),
    ],
)
def test_the_promotion_direction_of_python_scalars(question: str, answer: str) -> None:
    """ "TF bool -> python integer -> TF signed/unsigned integers -> python float -> TF float ->
    python complex/TF complex" """
    assert result(question, ALL) == answer


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("int8[1] + 1", "int8"),
        ("int8[1] + 1000", "!range"),
        ("add_(int8[1], 1000)", "!range"),
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
def test_a_scalar_must_be_within_the_range(question: str, answer: str, mode: str) -> None:
    """ "allowed only if the python scalar is within the range of the determined dtype. Otherwise,
    an exception is raised." """
    assert result(question, mode) == answer


def test_int8_with_1_and_with_1000(way: Way) -> None:
    """ "`tf.constant([1], tf.int8) + 1` produces a `tf.int8` Tensor, while `tf.constant([1],
    tf.int8) + 1000` raises an error" """
    constant = way.tensor([1], "tf.int8", dialect=ALL)
    found = way.run(lambda c: c + 1, constant, dialect=ALL)
    assert (found.dtype.name, found.tolist()) == ("int8", [2])
    with pytest.raises(cw.ScalarRangeError, match=r"1000 is out of range for int8.*-128 to 127"):
        way.run(lambda c: c + 1000, constant, dialect=ALL)


def test_somewhat_similar_to_numpy() -> None:
    """ "a user experience somewhat similar to NumPy behaviors": NumPy 2 refuses 1000 too"""
    assert [result("int8[1] + 1", d) for d in ("numpy", ALL)] == ["int8", "int8"]
    assert [result("int8[1] + 1000", d) for d in ("numpy", ALL)] == ["!range", "!range"]


# "Mode 2: tf.ImplicitPromotion.SAFE"


def test_safe_follows_the_rules_of_all_but_disallows() -> None:
    """ "Mode `SAFE` follows the same rules as mode `ALL`, but disallows “unsafe” dtype
    promotions." Both kinds of unsafe ones, and nothing else, are disallowed."""
    for a, b in itertools.product(DTYPES, repeat=2):
        found = result(f"{a}[3] + {b}[3]", ALL)
        is_wider = found not in (a, b)
        is_lossy = not all(dtype(found).holds_all(dtype(name)) for name in (a, b))
        safe = result(f"{a}[3] + {b}[3]", SAFE)
        assert safe == ("!" if is_wider or is_lossy else found), (a, b)


def test_wider_than_all_the_inputs(way: Way) -> None:
    """ "the summation of `tf.uint8` and `tf.int8` would be type `tf.i16`" """
    assert summed(way, ALL, "tf.uint8", "tf.int8") == "int16"
    with pytest.raises(cw.PromotionError, match="wider than both or loses precision"):
        summed(way, SAFE, "tf.uint8", "tf.int8")
    assert answers("bfloat16[3] + float16[3]") == ["float32", "!", "!"]


def test_they_risk_increasing_memory() -> None:
    """ "risk increasing the model's memory consumption": the hazard of such a cast"""
    assert "widens" in cw.resolve("add", "uint8", "int8", dialect=ALL).hazards


def test_cannot_preserve_all_the_precisions(way: Way) -> None:
    """ "the summation of `tf.uint64` and `tf.float32` would be type `tf.float64`" """
    assert summed(way, ALL, "tf.uint64", "tf.float32") == "float64"
    with pytest.raises(cw.PromotionError, match="wider than both or loses precision"):
        summed(way, SAFE, "tf.uint64", "tf.float32")
    assert answers("int64[3] + float64[3]") == ["float64", "!", "!"]


def test_safe_casts_have_no_hazard_but_width() -> None:
    for a, b in itertools.product(DTYPES, repeat=2):
        if result(f"{a}[3] + {b}[3]", SAFE) != "!":
            hazards = cw.resolve("add", a, b, dialect=SAFE).hazards
            assert set(hazards) <= {"widens", "not-on-device"}


def test_a_scalar_must_fit_into_the_tensors_dtype() -> None:
    """ "we only allow implicit promotion if the scalar can fit into the Tensor's dtype"

    The table has one exception, which is followed: a bool tensor and a Python int are int64, in
    SAFE and NONE too, though no bool holds an int.
    """
    for mode, column in itertools.product((SAFE, NONE), NUMBERS):
        for row in ADD.keys() - NUMBERS.keys():
            found = result(f"{operand(row)} + {operand(column)}", mode)
            is_exception = (row, column) == ("b", "i*")
            assert found in (["int64"] if is_exception else [meant(row).name, "!"]), (row, column)


def test_int32_and_a_python_float_is_always_disallowed(way: Way) -> None:
    """ "The summation between a `tf.int32` and a python float is always disallowed" """
    constant = way.tensor([1], "tf.int32", dialect=SAFE)
    for number in (1.5, 1.0, 0.0):
        with pytest.raises(cw.PromotionError, match="a Python float does not fit into int32"):
            way.run(lambda c, number=number: c + number, constant, dialect=SAFE)
    assert answers("float32[3] + 1j") == ["complex64", "!", "!"]


def test_uint8_and_an_int_between_0_and_255(way: Way) -> None:
    """ "allowed only if the python int is between 0 and 255" """
    constant = way.tensor([0], "tf.uint8", dialect=SAFE)
    for number in (0, 255):
        found = way.run(lambda c, number=number: c + number, constant, dialect=SAFE)
        assert (found.dtype.name, found.tolist()) == ("uint8", [number])
    for number in (-1, 256):
        with pytest.raises(cw.ScalarRangeError, match="is out of range for uint8"):
            way.run(lambda c, number=number: c + number, constant, dialect=SAFE)


def test_users_are_required_to_cast(way: Way) -> None:
    """ "For these disallowed dtype promotions, we require the users to explicitly cast them." """
    with pytest.raises(cw.PromotionError, match=r"Cast both: x.astype\('int16'\)"):
        cw.resolve("add", "uint8[3]", "int8[3]", dialect=SAFE)
    with pytest.raises(cw.PromotionError, match="Cast the arrays"):
        cw.resolve("add", "int32[3]", 1.5, dialect=SAFE)

    def cast_and_add(a: cw.Tensor, b: cw.Tensor) -> Any:
        return cw.apply("tf.cast", a, "tf.int16") + b.astype("int16")

    found = way.run(cast_and_add, *tensors(way, SAFE, "tf.uint8", "tf.int8"), dialect=SAFE)
    assert (found.dtype.name, found.tolist()) == ("int16", [2])


def bracketings(a: str, b: str, c: str, mode: str) -> tuple[str, str]:
    """(a + b) + c and a + (b + c)."""
    left, right = result(f"{a}[3] + {b}[3]", mode), result(f"{b}[3] + {c}[3]", mode)
    return (
        result(f"{left}[3] + {c}[3]", mode) if left != "!" else "!",
        result(f"{a}[3] + {right}[3]", mode) if right != "!" else "!",
    )


TRIPLE = ("uint8", "int8", "float16")


def zeros(way: Way, mode: str) -> list[cw.Tensor]:
    return [way.tensor(0, name, dialect=mode) for name in TRIPLE]


def test_all_can_be_silently_nonassociative(way: Way) -> None:
    """ "(tf.zeros(tf.uint8) + tf.zeros(tf.int8)) + tf.zeros(tf.float16)" is float32, with the
    other brackets float16"""
    given = zeros(way, ALL)
    assert way.run(lambda a, b, c: (a + b) + c, *given, dialect=ALL).dtype.name == "float32"
    assert way.run(lambda a, b, c: a + (b + c), *given, dialect=ALL).dtype.name == "float16"


def test_safe_avoids_it_by_not_allowing_any_widening(way: Way) -> None:
    """ "mode `SAFE` avoids it by not allowing any dtype widening"

    No triple has two answers. But where one bracketing widens on the way, it is refused and the
    other may be allowed.
    """
    with pytest.raises(cw.PromotionError):
        way.run(lambda a, b, c: (a + b) + c, *zeros(way, SAFE), dialect=SAFE)
    found = way.run(lambda a, b, c: a + (b + c), *zeros(way, SAFE), dialect=SAFE)
    assert found.dtype.name == "float16"


def test_safe_never_has_two_answers() -> None:
    found = [bracketings(*triple, SAFE) for triple in itertools.product(DTYPES, repeat=3)]
    assert all(len({*pair} - {"!"}) <= 1 for pair in found)
    assert sum(len({*pair}) == 2 for pair in found) == 260


# "Mode 3: tf.ImplicitPromotion.NONE"


def test_none_promotes_nothing_between_tensors() -> None:
    """ "the most conservative: no dtype promotion is allowed between Tensors" """
    for a, b in itertools.product(DTYPES, repeat=2):
        assert result(f"{a}[3] + {b}[3]", NONE) == (a if a == b else "!")


@pytest.mark.parametrize("scalar", ["1", "300", "1.5", "1e39", "1j", "True"])
def test_none_takes_scalars_as_safe_does(scalar: str) -> None:
    """ "When the inputs include python scalars, it follows the same rule as mode `SAFE`." """
    for name in DTYPES:
        question = f"{name}[3] + {scalar}"
        assert result(question, NONE) == result(question, SAFE)


# "Alternatives Considered: Capping the promotion system at float32"


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
def test_allow_float64(question: str, answer: str) -> None:
    """ "When disabled, it caps the converted floating numbers to 32 bits, and complex numbers to 64
    bits." """
    assert result(question, "tensorflow:all:cap_float=32") == answer


def test_the_cap_is_orthogonal_to_the_modes() -> None:
    """ "it's orthogonal to the proposed modes" """
    questions = ["float16[3] + float32[3]", "int32[3] + 1.5", "uint8[3] + int8[3]"]
    for mode, question in itertools.product(MODES, questions):
        is_refused = result(question, mode) == "!"
        assert (result(question, f"{mode}:cap_float=32") == "!") == is_refused


# "Alternatives Considered: A dtype promotion “lattice”"


def test_a_lattice_ensures_associativity_and_commutativity() -> None:
    """ "The lattice can ensure associativity as well as commutativity." """
    assert cw.dialect("jax").evidence.laws.is_commutative
    assert cw.dialect("jax").evidence.laws.associativity_witness is None
    assert bracketings(*TRIPLE, "jax") == ("float16", "float16")


def test_the_proposal_is_not_associative() -> None:
    """ "the promotion behaviors in this proposal is not associative": of 3,375 triples 40 have
    two answers, and "we can avoid such usage scenarios in the proposed SAFE mode" """
    assert bracketings(*TRIPLE, ALL) == ("float32", "float16")
    assert cw.dialect(ALL).evidence.laws.associativity_witness == TRIPLE
    for mode in (SAFE, NONE):
        assert cw.dialect(mode).evidence.laws.associativity_witness is None
    found = [bracketings(*triple, ALL) for triple in itertools.product(DTYPES, repeat=3)]
    assert sum(left != right for left, right in found) == 40


# "Alternatives Considered: Value-dependent promotion"


def test_numpys_result_type_depends_on_the_value(way: Way) -> None:
    """ "np.result_type(np.int8, 200) # dtype('int16')", "np.result_type(np.int8, 100) #
    dtype('int8')" """
    assert cw.result_type(cw.dtype(np.int8), 200, dialect="numpy@1").name == "int16"
    assert cw.result_type(cw.dtype(np.int8), 100, dialect="numpy@1").name == "int8"
    array = way.tensor([1], np.int8, dialect="numpy@1")
    assert way.run(lambda a: a + 200, array, dialect="numpy@1").dtype.name == "int16"
    assert way.run(lambda a: a + 100, array, dialect="numpy@1").dtype.name == "int8"


def test_numpy_is_considering_removing_this() -> None:
    """ "NumPy is considering removing this feature in a future release": NumPy 2 has"""
    assert result("int8[3] + 100", "numpy") == "int8"
    assert result("int8[3] + 200", "numpy") == "!range"


def test_jax_did_not_adopt_it() -> None:
    """ "JAX did not adopt this feature either." """
    assert result("int8[3] + 200", "jax") == result("int8[3] + 100", "jax") == "int8"


def test_we_omit_it_in_this_design() -> None:
    """ "We omit it in this design." """
    assert answers("result_type(int8[3], 200)") == ["!range"] * 3
    assert answers("result_type(int8[3], 100)") == ["int8"] * 3


# "Performance Implications"


def changed_cells(name: str, proposed: str) -> list[tuple[str, str]]:
    """The cells in which something is allowed today, and proposed with another result or none."""
    after = read_table(proposed)
    return [
        (row, column)
        for row, cells in read_table(name).items()
        for column, cell in cells.items()
        if cell not in ("-", "") and cell.split()[0] != after[row][column].split()[0]
    ]


def test_all_the_allowed_promotions_stay_unchanged() -> None:
    """ "This is because all the allowed implicit dtype promotions in TF will stay unchanged."

    Between tensors, and between a tensor and a Python number, they do. The RFC's own tables change
    three sums of two Python numbers, from 32 bits to 64, and 114 cells of a NumPy array beside a
    tensor, and as many beside a variable. The tables are followed.
    """
    assert changed_cells("add-current", "add-proposed") == [
        ("i*", "i*"),
        ("f*", "i*"),
        ("f*", "f*"),
    ]
    assert changed_cells("assign_add-current", "assign_add-proposed") == []
    assert changed_cells("add_np_tensor-current", "add-proposed") == []
    assert len(changed_cells("add_tensor_np-current", "add-proposed")) == 114
    assert len(changed_cells("assign_add_np-current", "assign_add-proposed")) == 114
    assert answers("tf.add(1.5, 1.5)") == ["float64"] * 3
    assert run("tf.add(1.5, 1.5)", TODAY) == "float32"


def test_what_is_allowed_in_no_mode_is_what_a_number_out_of_range_was() -> None:
    """And a number out of range, which wraps today, is refused."""
    assert result("int8[3] + 300", TODAY) == "int8"
    assert answers("int8[3] + 300") == ["!range"] * 3


def test_performance_does_not_change(way: Way) -> None:
    """ "For an existing piece of TF code in python, we do not expect the performance to change":
    what needs no promotion today is cast in no mode"""
    for mode in MODES:
        with cw.count_casts() as casts:
            way.run(lambda a, b: a * b + 1, *tensors(way, mode, "float32", "float32"), dialect=mode)
        assert not casts.by, mode


def test_explicit_promotions_are_not_affected(way: Way) -> None:
    """ "users must have used explicit dtype promotions which are not affected by the change" """
    for mode in (TODAY, *MODES):
        a, b = tensors(way, mode, "int32", "float32")
        found = way.run(lambda a, b: a.astype("float32") + b, a, b, dialect=mode)
        assert found.dtype.name == "float32", mode


def test_all_has_higher_chances_of_slowdown(way: Way) -> None:
    """ "the mode `ALL` has higher chances of computation slowdown due to implicit promotions to
    wider types" """
    with cw.count_casts() as casts:
        way.run(operator.add, *tensors(way, ALL, "int32", "float32"), dialect=ALL)
    assert {target for _, _, target, _ in casts.by} == {"float64"}
    assert answers("int32[3] + float32[3]") == ["float64", "!", "!"]


def test_the_steps_to_mitigate_user_surprises() -> None:
    """ "Add benchmark tests to verify that the new modes won't affect the performance"; "Publish
    tutorials that help users select the most appropriate dtype promotion modes" """
    assert (ROOT / "benchmarks" / "modes.py").exists()
    assert (ROOT / "docs" / "how-to" / "choose-a-mode.md").exists()


def test_an_api_that_instruments_conversions(way: Way) -> None:
    """ "[optional] Add an API that instruments the number of implicit, unsafe dtype conversions in
    the program (e.g. promotions from 32 bits to 64 bits)." """
    given = tensors(way, ALL, "int32", "float32")
    with cw.count_casts() as casts:
        way.run(lambda a, b: (a + b) * b, *given, dialect=ALL)
    from_32_to_64 = {
        (op, source): counted.casts
        for (op, source, target, _), counted in casts.by.items()
        if target == "float64"
    }
    assert {source for _, source in from_32_to_64} == {"int32", "float32"}
    assert sum(from_32_to_64.values()) == 3


# "Compatibility/User Impact"


def test_existing_code_is_expected_to_continue_working() -> None:
    """ "existing code is expected to continue working": what two tensors, or a tensor and a number
    in range, give today, they give in every mode"""
    for (row, column), found in cells_of("operator").items():
        if found != "!":
            assert answers(f"{operand(row)} + {operand(column)}") == [found] * 3, (row, column)


def test_some_tests_will_fail() -> None:
    """ "some tests will fail because more implicit dtype conversions are allowed": those that
    expect an error"""
    assert run("int8[3] + int16[3]", TODAY) == "!"
    assert answers("int8[3] + int16[3]") == ["int16", "int16", "!"]


def test_the_stages() -> None:
    """ "1. Default behaviors stay unchanged", with flags; "2. Default behaviors switched to one of
    the modes above, while the old behaviors can be re-enabled via a flag"; "adding a flag that
    sticks to the existing dtype promotion behaviors" """
    question = ("add", "int8[3]", "int16[3]")
    with cw.use(TODAY):
        with pytest.raises(cw.PromotionError):
            cw.resolve(*question)
        with cw.use(cw.ImplicitPromotion.SAFE):
            assert cw.resolve(*question).result.name == "int16"
    try:
        cw.set_default(SAFE)
        assert cw.resolve(*question).result.name == "int16"
        with cw.use(TODAY), pytest.raises(cw.PromotionError):
            cw.resolve(*question)
    finally:
        cw.set_default(None)


# "Are there changes expected in tf.Variable?"


def outcome(way: Way, variable: cw.Variable, added: Any, dialect: str) -> str:
    """The dtype after `assign_add`, "!" where it is refused; neither changes the variable's."""
    before = variable.dtype

    def assign(variable: Any, tensor: Any = None) -> Any:
        return variable.assign_add(added if tensor is None else tensor)

    given = [added] if isinstance(added, cw.Tensor) else []  # the rest is part of the function
    try:
        found = way.run(assign, variable, *given, dialect=dialect)
    except cw.PromotionError:
        assert variable.tolist() == [1, 1, 1]
        return "!"
    assert found.dtype == variable.dtype == before
    assert found.tolist() == variable.tolist()
    return before.name


def test_a_variable_is_first_read_into_a_tensor(way: Way) -> None:
    """ "these methods first read the Variable into a Tensor, then carry out the Tensor-to-Tensor
    computations" """
    for mode, expected in zip(MODES, ("float32", "float32", "!"), strict=True):
        v = way.variable([1, 2], "int16", dialect=mode)
        other = way.tensor([0.5, 0.5], "float32", dialect=mode)
        for add in (operator.add, tf_add):
            if expected == "!":
                with pytest.raises(cw.PromotionError):
                    way.run(add, v, other, dialect=mode)
                continue
            found = way.run(add, v, other, dialect=mode)
            assert (type(found), found.dtype.name) == (cw.Tensor, expected)
        assert v.tolist() == [1, 2]


def test_a_tensor_is_not_converted_today() -> None:
    """ "When the input is a Tensor, no dtype conversion is allowed." """
    for a, b in itertools.permutations(DTYPES, 2):
        assert run(f"add_({a}[3], {b}[3])", TODAY) == "!"


def test_a_python_scalar_defers_to_the_variables_dtype_today() -> None:
    """ "When the input is a python scalar, it defers to the variable's dtype. However, python float
    cannot be converted to int, and complex cannot be converted to either int or float dtypes." """
    assert run("add_(int8[3], 1)", TODAY) == "int8"
    assert run("add_(float16[3], 1.5)", TODAY) == "float16"
    assert run("add_(int32[3], 1.5)", TODAY) == "!"
    assert run("add_(int32[3], 1j)", TODAY) == run("add_(float32[3], 1j)", TODAY) == "!"


def test_a_numpy_array_gets_converted_regardless_today(way: Way) -> None:
    """ "it always gets converted to the variable's dtype regardless of any precision loss (for
    example `tf.Variable(1) + np.array(1.5)` returns 2)"

    The sentence is about `assign_add`, the example about `+`; both give 2.
    """
    array = np.array(1.5)
    v = way.variable(1, dialect=TODAY)
    found = way.run(lambda v: v + array, v, dialect=TODAY)
    assert (found.dtype.name, found.tolist()) == ("int32", 2)
    found = way.run(lambda v: v.assign_add(array), v, dialect=TODAY)
    assert (v.dtype.name, v.tolist()) == ("int32", 2)


ASKED = {
    "assign_add-current": ("add_({}, {})", "{}[3]", "{}[3]"),
    "assign_add_np-current": ("add_({}, {})", "{}[3]", "np.{}[3]"),
    "add_tensor_np-current": ("tf.add({}, {})", "{}[3]", "np.{}[3]"),
    "add_np_tensor-current": ("tf.add({}, {})", "np.{}[3]", "{}[3]"),
}


def is_numpy_bfloat16(name: str, row: str, column: str) -> bool:
    """Whether a NumPy array of bfloat16 is among the operands of a cell."""
    return "bf16" in [
        short
        for short, tensor in zip((row, column), ASKED[name][1:], strict=True)
        if tensor.startswith("np")
    ]


@pytest.mark.parametrize("name", ASKED)
def test_the_tables_of_variables_and_numpy_arrays_today(name: str) -> None:
    """ "Table: Result of tf.Variable (rows) inplace op `assign_add` with a Tensor or python scalar
    as the argument (columns)", "with a NumPy array as the argument"; "`tf.add` with a Tensor as the
    first argument (rows) and np array in the second argument", and the other way round

    The RFC's '-' for NumPy's bfloat16 no longer holds, in 29 cells: it is an array like any other.
    """
    asked, first, second = ASKED[name]
    differing = set()
    for row, cells in read_table(name).items():
        for column, cell in cells.items():
            question = asked.format(operand(row, first), operand(column, second))
            if run(question, TODAY) != today("function", cell):
                differing.add((row, column))
    assert all(is_numpy_bfloat16(name, *cell) for cell in differing)
    count = {"assign_add_np-current": 14, "add_tensor_np-current": 14, "add_np_tensor-current": 1}
    assert len(differing) == count.get(name, 0)


@pytest.mark.parametrize("name", ["assign_add-current", "assign_add_np-current"])
def test_assign_add_today_executed(way: Way, name: str) -> None:
    """TensorFlow promotes a bool variable, and then has no kernel for it; castwise needs none, and
    computes. With NumPy's bfloat16 these are the cells that differ: 45, with the 16 of bool."""
    differing = set()
    for row, cells in read_table(name).items():
        for column, cell in cells.items():
            given = numpy_ones(column) if "np" in name else value(way, column, TODAY)
            variable = way.variable([1, 1, 1], meant(row), dialect=TODAY)
            if outcome(way, variable, given, TODAY) != today("function", cell):
                differing.add((row, column))
    of_bool = {cell for cell in differing if cell[0] == "b"}
    of_bfloat16 = {cell for cell in differing - of_bool if is_numpy_bfloat16(name, *cell)}
    assert differing == of_bool | of_bfloat16
    assert (len(of_bool), len(of_bfloat16)) == ((15, 14) if "np" in name else (1, 0))


@pytest.mark.parametrize("name", ["add_tensor_np-current", "add_np_tensor-current"])
def test_add_with_a_numpy_array_today_executed(way: Way, name: str) -> None:
    is_first = name == "add_np_tensor-current"
    for row, cells in read_table(name).items():
        for column, cell in cells.items():
            if is_numpy_bfloat16(name, row, column):
                continue
            of_numpy, of_tensor = (row, column) if is_first else (column, row)
            array = numpy_ones(of_numpy)
            tensor = way.tensor([1, 1, 1], meant(of_tensor), dialect=TODAY)

            def add(tensor: cw.Tensor, array: Any = array) -> Any:
                return tf_add(array, tensor) if is_first else tf_add(tensor, array)

            try:
                found = way.run(add, tensor, dialect=TODAY).dtype.name
            except cw.PromotionError:
                found = "!"
            assert found == today("function", cell), (row, column)


ASSIGN_ADD = read_table("assign_add-proposed")


@pytest.mark.parametrize("mode", MODES)
def test_the_variables_dtype_cannot_change(mode: str) -> None:
    """ "any dtype promotion that results in a dtype different from the Variable's dtype is
    disabled" """
    for row, column in itertools.product(ASSIGN_ADD, ADD):
        cell = ADD[row][column]
        expected = cell if cell.split()[0] == row else "-"
        assert ASSIGN_ADD[row][column] == expected
    assert result("add_(int32[], np.float64[])", mode) == "!"
    assert result("add_(float32[], int32[])", mode) == "!"
    assert result("add_(float32[], 1)", mode) == "float32"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tensor", ["{}[3]", "np.{}[3]"])
def test_the_proposed_table_of_assign_add(mode: str, tensor: str) -> None:
    """ "Table: Result of tf.Variable (rows) inplace op `assign_add` ... after the proposed
    changes"; NumPy arrays count as tensors here too"""
    for row, cells in ASSIGN_ADD.items():
        for column, cell in cells.items():
            question = f"add_({operand(row)}, {operand(column, tensor)})"
            assert result(question, mode) == in_mode(cell, mode), question


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("is_numpy", [False, True])
def test_the_proposed_table_of_assign_add_executed(way: Way, mode: str, is_numpy: bool) -> None:
    for row, cells in ASSIGN_ADD.items():
        for column, cell in cells.items():
            given = numpy_ones(column) if is_numpy else value(way, column, mode)
            variable = way.variable([1, 1, 1], meant(row), dialect=mode)
            assert outcome(way, variable, given, mode) == in_mode(cell, mode), (row, column)


# "Are there also issues in conversions between Tensor and numpy arrays?"


def test_wrong_results_can_appear_silently(way: Way) -> None:
    """ "print(tf.add(a, c))  # InvalidArgumentError"; "print(tf.add(c, a))  # tf.Tensor(4,
    shape=(), dtype=int32) - Even worse than exceptions" """
    a = np.array(3.1)
    c = way.tensor(1, dialect=TODAY)
    with pytest.raises(cw.PromotionError, match="add needs operands of the same dtype"):
        way.run(lambda c: tf_add(a, c), c, dialect=TODAY)
    found = way.run(lambda c: tf_add(c, a), c, dialect=TODAY)
    assert (found.tolist(), found.shape, found.dtype.name) == (4, (), "int32")


def test_bfloat16_and_bool_are_poorly_supported() -> None:
    """ "1. dtypes `tf.bfloat16` and `tf.bool` are poorly supported": so the tables have it; of
    NumPy's bfloat16 it is no longer true"""
    for name in ("add_tensor_np-current", "add_np_tensor-current"):
        cells = read_table(name)
        assert set(cells["b"].values()) == {"-"}
        of_numpy = cells["bf16"].values() if name.startswith("add_np") else (
            row["bf16"] for row in cells.values()
        )  # fmt: skip
        assert set(of_numpy) == {"-"}
    assert run("tf.add(float32[3], np.bfloat16[3])", TODAY) == "float32"


def test_a_numpy_array_in_second_place_takes_the_tensors_dtype() -> None:
    """ "2. If the first input is a tensor, the second input (the np array) is always converted to
    the tensor's dtype, resulting into significant precision loss" """
    for a, b in itertools.product([name for name in DTYPES if name != "bool"], DTYPES):
        assert run(f"tf.add({a}[3], np.{b}[3])", TODAY) == a
    assert "changes-kind" in cw.resolve("add", "int32[3]", "np.float64[3]", dialect=TODAY).hazards


def test_a_numpy_array_in_first_place_is_not_converted() -> None:
    """ "3. If the first input is a np array ... TF then does not attempt any implicit dtype
    conversion, causing `InvalidArgumentError` whenever the two inputs have mismatching dtypes" """
    for a, b in itertools.permutations(DTYPES, 2):
        assert run(f"tf.add(np.{a}[3], {b}[3])", TODAY) == "!"
    assert run("tf.add(np.int32[3], int32[3])", TODAY) == "int32"


def test_the_first_tensors_dtype_is_used_to_promote_all() -> None:
    """ "incorrectly uses the dtype of the first Tensor in its list of arguments to promote all
    arguments to" """
    assert run("tf.add(float32[3], 3)", TODAY) == "float32"
    assert run("tf.add(int32[3], np.float64[3])", TODAY) == "int32"


def test_the_modes_treat_numpy_arrays_as_tensors(way: Way) -> None:
    """ "The proposed modes in this RFC will treat the np array inputs in the same way as the tensor
    inputs": in both places"""
    a = np.array(3.1)
    for mode, expected in zip(MODES, ("float64", "float64", "!"), strict=True):
        c = way.tensor(1, "int32", dialect=mode)
        for add in (lambda c: tf_add(a, c), lambda c: tf_add(c, a)):
            if expected == "!":
                with pytest.raises(cw.PromotionError):
                    way.run(add, c, dialect=mode)
                continue
            found = way.run(add, c, dialect=mode)
            assert (found.dtype.name, found.tolist()) == ("float64", 4.1)
    assert answers("int32[] + np.float64[]") == ["float64", "float64", "!"]


# "What happens to truediv operations?"


def divided(way: Way, mode: str, first: str, second: str) -> str:
    """The dtype of a quotient, when it runs; "!" where it is refused."""
    operands = [value(way, short, mode) for short in (first, second)]
    try:
        found: cw.Tensor = way.run(operator.truediv, *operands, dialect=mode)
    except cw.PromotionError:
        return "!"
    return found.dtype.name


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("i16", "i16", ("float32", "float32", "float32")),
        ("i32", "i32", ("float64", "float64", "float64")),
        ("i8", "i16", ("float32", "float32", "!")),
        ("u8", "u32", ("float64", "float64", "!")),
        ("i8", "i*", ("float32", "float32", "float32")),
        ("i8", "u16", ("float64", "!", "!")),
    ],
)
def test_truediv(way: Way, first: str, second: str, expected: tuple[str, str, str]) -> None:
    """ "16-bit integral types are promoted to `f32`, and 32-bit integral types are promoted to
    `float64`"; "`int8` and `int16` -> both `int16` -> `f32` (allowed in `SAFE/ALL` modes)", and the
    other three"""
    assert tuple(divided(way, mode, first, second) for mode in MODES) == expected
    if first == second:
        assert divided(way, TODAY, first, second) == expected[0]


def test_the_first_arrow_is_the_promotion_and_the_second_truediv() -> None:
    """ "the first arrow represents the dtype promotion in this proposal, and the second arrow
    represents the promotion in op truediv": for any two dtypes"""
    lifted = {"bool": "!", **dict.fromkeys(("int8", "uint8", "int16", "uint16"), "float32")}
    lifted |= dict.fromkeys(("int32", "uint32", "int64", "uint64"), "float64")
    for mode in MODES:
        for a, b in itertools.product(DTYPES, repeat=2):
            first_arrow = result(f"{a}[3] + {b}[3]", mode)
            expected = lifted.get(first_arrow, first_arrow)
            assert result(f"{a}[3] / {b}[3]", mode) == expected, (a, b)
    assert answers("int8[3] / 1.5") == ["float64", "!", "!"]


def test_f64_turns_out_to_be_an_overkill() -> None:
    """ "the result of `int8` and `uint16`, `f64`, turns out to be an overkill": float32 has every
    value of both"""
    assert all(dtype("float32").holds_all(dtype(name)) for name in ("int8", "uint16"))
    assert result("int8[3] / uint16[3]", ALL) == "float64"


# What the RFC does not say, and castwise chose.


@pytest.mark.parametrize("symbol", ["-", "*", "**", "%"])
def test_sub_mul_pow_and_mod_promote_as_add(symbol: str) -> None:
    """The tables are of add. Complex numbers have no remainder, so `%` refuses them."""
    for mode, row, column in itertools.product(MODES, ADD, ADD):
        is_complex = row[0] == "c" or column[0] == "c"
        expected = in_mode(ADD[row][column], mode)
        found = result(f"{operand(row)} {symbol} {operand(column)}", mode)
        assert found == ("!" if symbol == "%" and is_complex else expected), (row, column)


def test_sub_mul_pow_and_mod_executed(way: Way) -> None:
    for symbol in ("-", "*", "**", "%"):
        found = way.run(OPERATORS[symbol], *tensors(way, ALL, "uint8", "int8"), dialect=ALL)
        assert found.dtype.name == "int16"


@pytest.mark.parametrize("symbol", ["==", "!=", "<", ">="])
def test_comparisons_promote_as_add_and_return_bool(symbol: str) -> None:
    for mode, row, column in itertools.product(MODES, ADD, ADD):
        found = result(f"{operand(row)} {symbol} {operand(column)}", mode)
        is_refused = in_mode(ADD[row][column], mode) == "!"
        assert found == ("!" if is_refused else "bool"), (row, column)


def test_a_python_bool_is_a_bool_tensor_in_all_and_safe() -> None:
    """NONE promotes no tensors, and takes Python scalars as SAFE does."""
    for mode, name in itertools.product(MODES, DTYPES):
        as_tensor = SAFE if mode == NONE else mode
        assert result(f"{name}[3] + True", mode) == result(f"{name}[3] + bool[3]", as_tensor)
        assert result(f"True + {name}[3]", mode) == result(f"{name}[3] + True", mode)


@pytest.mark.parametrize("mode", MODES)
def test_truediv_of_a_variable_of_integers_is_refused(mode: str) -> None:
    assert result("div_(int32[3], int32[3])", mode) == "!"
    assert result("div_(float32[3], float32[3])", mode) == "float32"


@pytest.mark.parametrize("mode", MODES)
def test_a_constant_is_as_tf_constant_makes_it(mode: str) -> None:
    """tf.constant(1.0) is float32, tf.constant(1) int32, in every mode; so is a Variable."""
    assert cw.asarray([1.0], dialect=mode).dtype.name == "float32"
    assert cw.asarray([1], dialect=mode).dtype.name == "int32"
    assert cw.Variable([1.0], dialect=mode).dtype.name == "float32"
    assert cw.Variable([1], dialect=mode).dtype.name == "int32"


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
def test_ops_beyond_arithmetic_are_as_in_tensorflow(question: str, answer: str, mode: str) -> None:
    assert result(question, mode) == answer


# What TensorFlow ships instead: NumPy behaviour, in the modes "all" and "safe".


@pytest.mark.parametrize(
    ("shipped", "mode", "count"), [("tensorflow:np-all", ALL, 45), ("tensorflow:np-safe", SAFE, 21)]
)
def test_the_cells_of_add_that_shipped_otherwise(shipped: str, mode: str, count: int) -> None:
    differing = [
        (row, column)
        for row, column in itertools.product(ADD, repeat=2)
        if not {row, column} <= NUMBERS.keys()
        and run(f"tf.add({operand(row)}, {operand(column)})", shipped)
        != in_mode(ADD[row][column], mode)
    ]
    assert len(differing) == count


@pytest.mark.parametrize(
    ("question", "proposed", "shipped"),
    [
        ("uint16[3] + float16[3]", ["float32", "!"], ["float16", "!"]),
        ("int32[3] + float32[3]", ["float64", "!"], ["float32", "!"]),
        ("int64[3] + complex64[3]", ["complex128", "!"], ["complex64", "!"]),
        ("bool[3] + 1", ["int64", "int64"], ["int32", "int32"]),
        ("bool[3] + 1.5", ["float64", "!"], ["float32", "float32"]),
        ("bool[3] + bool[3]", ["bool", "bool"], ["!", "!"]),
        ("int32[3] + 1j", ["complex128", "!"], ["complex128", "complex128"]),
        ("int8[3] + 300", ["!range", "!range"], ["int8", "int8"]),
        ("int64[3] + 2147483648", ["int64", "int64"], ["!", "!"]),
        ("add_(float16[3], int64[3])", ["!", "!"], ["float16", "!"]),
        ("int8[3] != float32[3]", ["bool", "bool"], ["!", "!"]),
        ("bool[3] * float32[3]", ["float32", "float32"], ["bool", "bool"]),
    ],
)
def test_what_shipped_is_something_else(
    question: str, proposed: list[str], shipped: list[str]
) -> None:
    assert [result(question, mode) for mode in (ALL, SAFE)] == proposed
    assert [run(question, f"tensorflow:np-{mode}") for mode in ("all", "safe")] == shipped


def test_what_shipped_is_associative() -> None:
    assert bracketings(*TRIPLE, "tensorflow:np-all") == ("float16", "float16")
