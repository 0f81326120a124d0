"""What resolve answers: dtypes, casts, hazards, notes, errors; its cache is correct."""

from __future__ import annotations

import gc
import itertools
import re
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import castwise as cw
import cells
from castwise.engine import ask
from castwise.engine.ask import find_op, question_about
from castwise.engine.decide import decide
from castwise.engine.decision import (
    HAZARDS,
    Decision,
    Refusal,
    answer_text,
    cast_between,
    cast_text,
)
from castwise.vocab.dtypes import dtype
from castwise.vocab.ops import OPS

DIALECTS = cw.dialects()

ANSWERS = [
    # dialect, op, operands, result, compute
    ("torch", "add", ("int32[3]", 5.5), "float32", "float32"),
    ("torch", "add", ("int64[3]", "float16[3]"), "float16", "float16"),
    ("torch", "add", ("int8[3]", "int64[]"), "int8", "int8"),
    ("torch", "add", ("int8[3]", "float64[]"), "float64", "float64"),
    ("torch", "add", ("float16[3]", "float64[]"), "float16", "float16"),
    ("torch", "add", ("float16[3]", 1j), "complex32", "complex32"),
    ("torch", "add", ("uint8[3]", 300), "uint8", "uint8"),
    ("torch", "lt", ("int8[3]", "float16[3]"), "bool", "float16"),
    ("torch", "div", ("int64[3]", "int64[3]"), "float32", "float32"),
    ("torch", "sum", ("int8[3]",), "int64", "int64"),
    ("torch", "abs", ("complex64[3]",), "float32", "complex64"),
    ("torch", "argmax", ("float32[3]",), "int64", "float32"),
    ("torch", "huber_loss", ("float16[3]", "float64[3]"), "float16", "float64"),
    ("torch", "where", ("bool[3]", "int8[3]", "float32[3]"), "float32", "float32"),
    ("torch", "float_power", ("int8[3]", 2), "float64", "float64"),
    ("torch@2.1", "add", ("bfloat16[3]", "float16[3]"), "float32", "float32"),
    ("numpy", "add", ("int32[3]", 5.5), "float64", "float64"),
    ("numpy", "add", ("int8[3]", "int64[]"), "int64", "int64"),
    ("numpy", "add", ("float32[3]", 1e300), "float32", "float32"),
    ("numpy", "add", ("int8[3]", 5), "int8", "int8"),
    ("numpy", "add", ("float16[3]", 1j), "complex64", "complex64"),
    ("numpy", "sqrt", ("int8[3]",), "float16", "float16"),
    ("numpy", "div", ("int8[3]", "int8[3]"), "float64", "float64"),
    ("numpy", "add", (5, 6), "int64", "int64"),
    ("numpy@1", "add", ("int8[3]", "int64=300[]"), "int16", "int16"),
    ("numpy@1", "add", ("uint8[3]", 300), "uint16", "uint16"),
    ("numpy@1", "add", ("uint8[3]", -1), "int16", "int16"),
    ("numpy@1", "add", ("float32[3]", 1e300), "float64", "float64"),
    ("numpy@1", "add", ("int8[3]", "int64[]"), "int8", "int8"),  # not shown: taken as 1
    ("array-api", "add", ("int8[3]", "uint8[3]"), "int16", "int16"),
    ("array-api", "add", ("float32[3]", 1j), "complex64", "complex64"),
    ("array-api", "sum", ("uint8[3]",), "uint64", "uint64"),
]


def answered(asked: tuple[Any, ...], dialect: str, **parts: Any) -> Decision | Exception:
    """The decision, or any error."""
    try:
        return cw.resolve(*asked, dialect=dialect, **parts)
    except Exception as error:
        return error


@pytest.mark.parametrize(("dialect", "op", "operands", "result", "compute"), ANSWERS)
def test_result_and_compute(
    dialect: str, op: str, operands: tuple[Any, ...], result: str, compute: str
) -> None:
    decision = cw.resolve(op, *operands, dialect=dialect)
    assert (decision.result, decision.compute) == (dtype(result), dtype(compute))
    assert len(decision.casts) == len(operands)


@pytest.mark.parametrize("op", ["result_type", "concat", "stack"])
def test_many_operands_are_joined_at_once_and_not_folded(op: str) -> None:
    """int8 with uint8 is int16, and int16 with float16 float32; all three fit float16."""
    for order in itertools.permutations(("int8[3]", "uint8[3]", "float16[3]")):
        assert cw.resolve(op, *order, dialect="numpy").result.name == "float16"


def test_the_condition_of_where_takes_no_part() -> None:
    decision = cw.resolve("where", "bool[3]", "int8[3]", "int16[3]", dialect="numpy")
    assert decision.casts[0] is None
    assert str(decision.casts[1]) == "int8 -> int16"
    assert decision.casts[2] is None


CASTS = [
    # dialect, op, operands, casts (source, target, hazards)
    ("torch", "add", ("int32[3]", "float32[3]"), [("int32", "float32", "loses-precision"), None]),
    ("torch", "add", ("int8[3]", "int8[3]"), [None, None]),
    ("torch", "add", ("int32[3]", 5), [None, None]),
    (
        "torch",
        "add",
        ("int64[3]", "float16[3]"),
        [("int64", "float16", "loses-precision loses-range"), None],
    ),
    ("torch", "add", ("uint8[3]", 300), [None, (None, "uint8", "wraps")]),
    ("torch", "add", ("uint8[3]", -1), [None, (None, "uint8", "wraps")]),
    (
        "numpy",
        "add",
        ("int32[3]", "float32[3]"),
        [
            ("int32", "float64", "widens not-on-device"),
            ("float32", "float64", "widens not-on-device"),
        ],
    ),
    ("numpy", "add", ("bool[3]", "int8[3]"), [("bool", "int8", "widens"), None]),
    (
        "numpy",
        "add",
        ("float64[3]", "complex64[3]"),
        [
            ("float64", "complex128", "widens not-on-device"),
            ("complex64", "complex128", "widens not-on-device"),
        ],
    ),
    ("numpy", "sum", ("int8[3]",), [("int8", "int64", "widens")]),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "op", "operands", "casts"), CASTS)
def test_casts_and_their_hazards(
    dialect: str, op: str, operands: tuple[Any, ...], casts: list[Any]
) -> None:
    decision = cw.resolve(op, *operands, dialect=dialect)
    found = [
        cast and (cast.source and cast.source.name, cast.target.name, " ".join(cast.hazards))
        for cast in decision.casts
    ]
    assert found == casts


def test_the_hazards_of_a_decision_are_those_of_its_casts_each_once() -> None:
    decision = cw.resolve("add", "int64[3]", "float16[3]", dialect="numpy")
    assert decision.hazards == ("widens", "loses-precision", "not-on-device")
    assert cw.resolve("add", "int8[3]", "int8[3]", dialect="numpy").hazards == ()


@pytest.mark.parametrize(
    ("dialect", "asked"),
    [
        ("numpy", ("eq", "uint8[3]", 300)),
        ("numpy", ("lt", "uint8[3]", -1)),
        ("numpy", ("clamp", "uint8[3]", -300, 300)),
        ("array-api", ("clamp", "uint8[3]", -300, 300)),
    ],
)
def test_a_scalar_that_is_compared_as_it_is_does_not_wrap(
    dialect: str, asked: tuple[Any, ...]
) -> None:
    assert cw.resolve(*asked, dialect=dialect).hazards == ()


@pytest.mark.parametrize(
    ("source", "target", "hazards", "text"),
    [
        ("int32", "float32", "loses-precision", "int32 -> float32 is exact up to 2**24"),
        ("int64", "float16", "loses-precision loses-range",
         "int64 -> float16 is exact up to 2**11"),
        ("int8", "int16", "widens", "int8 -> int16 is exact"),
        ("float32", "float16", "loses-precision loses-range",
         "float32 -> float16 rounds to fewer digits and overflows beyond 65504"),
        ("float32", "bfloat16", "loses-precision loses-range", None),
        ("float16", "bfloat16", "loses-precision", "float16 -> bfloat16 rounds to fewer digits"),
        ("int64", "int8", "loses-range", "int64 -> int8 overflows beyond 127"),
        ("uint8", "int8", "loses-range", "uint8 -> int8 overflows beyond 127"),
        ("int8", "uint8", "loses-range", None),
        ("float32", "int64", "widens loses-range changes-kind", None),
        ("complex64", "float32", "drops-imaginary",
         "complex64 -> float32 drops the imaginary part"),
        ("complex128", "float32", "loses-range drops-imaginary", None),
        ("float32", "float64", "widens not-on-device", "float32 -> float64 is exact"),
        ("int8", "bool", "changes-kind", None),
        ("bool", "int8", "widens", "bool -> int8 is exact"),
        ("int32", "complex64", "widens loses-precision", None),
    ],
)  # fmt: skip
def test_what_a_cast_costs(source: str, target: str, hazards: str, text: str | None) -> None:
    cast = cast_between(dtype(source), dtype(target))
    assert cast is not None
    assert " ".join(cast.hazards) == hazards
    if text:
        assert cast_text(cast) == text


def test_a_cast_to_the_same_dtype_is_none() -> None:
    assert cast_between(dtype("int8"), dtype("int8")) is None


def test_hazards_are_words_of_the_glossary() -> None:
    words = {"widens", "loses-precision", "loses-range", "wraps", "changes-kind", "drops-imaginary"}
    assert set(HAZARDS) == words | {"not-on-device"}


def test_a_missing_kernel_is_a_note_and_not_a_refusal() -> None:
    decision = cw.resolve("add", "uint16[3]", "uint16[3]", dialect="torch")
    assert decision.result.name == "uint16"
    assert len(decision.notes) == 1
    assert re.search("no CPU kernel for uint16", decision.notes[0])
    assert cw.resolve("add", "int16[3]", "int16[3]", dialect="torch").notes == ()


WRITES = [
    # dialect, operands, in place or out=, result or None where refused
    ("torch", ("uint8[3]", "int64[3]"), "inplace", "uint8"),
    ("torch", ("float16[3]", "float64[3]"), "inplace", "float16"),
    ("torch", ("int32[3]", 1.5), "inplace", None),
    ("torch", ("bool[3]", 5), "inplace", None),
    ("torch", ("int8[3]", "float32[3]"), "float64", "float64"),
    ("torch", ("int8[3]", "float32[3]"), "float16", "float16"),
    ("torch", ("int8[3]", "float32[3]"), "int64", None),
    ("torch", ("int8[3]", "int8[3]"), "complex64", "complex64"),
    ("numpy", ("int8[3]", "int64[3]"), "inplace", "int8"),
    ("numpy", ("int8[3]", "float32[3]"), "inplace", None),
    ("numpy", ("uint8[3]", "int8[3]"), "inplace", None),  # int16 into uint8 is not same_kind
    ("numpy", ("float32[3]", "float64[3]"), "inplace", "float32"),
    ("numpy", ("int8[3]", "int8[3]"), "bool", None),
    ("numpy", ("int8[3]", "int8[3]"), "float16", "float16"),
    ("numpy@1", ("uint8[3]", -1), "inplace", None),
    ("numpy@1", ("uint8[3]", 300), "inplace", "uint8"),
    ("array-api", ("int16[3]", "int8[3]"), "inplace", "int16"),
    ("array-api", ("int8[3]", "int16[3]"), "inplace", None),
]


@pytest.mark.parametrize(("dialect", "operands", "where", "result"), WRITES)
def test_in_place_and_out_follow_the_frameworks_own_rule(
    dialect: str, operands: tuple[Any, ...], where: str, result: str | None
) -> None:
    parts: dict[str, Any] = {"inplace": True} if where == "inplace" else {"out": where}
    if result is None:
        with pytest.raises(cw.PromotionError, match=r"cannot be written into .*Cast the result"):
            cw.resolve("add", *operands, dialect=dialect, **parts)
    else:
        assert cw.resolve("add", *operands, dialect=dialect, **parts).result.name == result


def test_writing_a_result_into_a_narrower_dtype_is_a_hazard_too() -> None:
    """The cast of the result is as implicit as those of the operands."""
    assert (
        "loses-range"
        in cw.resolve("add", "int8[3]", "int64[3]", dialect="torch", inplace=True).hazards
    )
    assert "loses-range" in cw.resolve(
        "add", "float64[3]", "float64[3]", dialect="numpy", out="float16"
    ).hazards  # fmt: skip


@pytest.mark.parametrize("out", ["float64", "f64", "torch.double", np.float64])
def test_out_is_any_spelling_of_a_dtype(out: object) -> None:
    assert cw.resolve("add", "int8[3]", "float32[3]", dialect="torch", out=out).result.bits == 64


def test_a_python_scalar_cannot_be_changed_in_place() -> None:
    with pytest.raises(cw.UsageError, match="cannot be changed in place"):
        cw.resolve("add", 5, "int8[3]", dialect="torch", inplace=True)


@pytest.mark.parametrize(
    ("operands", "alpha", "allowed"),
    [
        (("int8[3]", "int8[3]"), 2, True),
        (("int8[3]", "int8[3]"), 2.0, False),
        (("int8[3]", "int8[3]"), True, False),
        (("int8[3]", "int8[3]"), 2j, False),
        (("float32[3]", "int8[3]"), 2, True),
        (("float32[3]", "int8[3]"), 2.5, True),
        (("float32[3]", "float32[3]"), 2j, False),
        (("complex64[3]", "float32[3]"), 2j, True),
        (("complex64[3]", "float32[3]"), 2.5, True),
        (("bool[3]", "bool[3]"), True, True),
        (("bool[3]", "bool[3]"), 2.5, False),
        (("int8[3]", 1.5), 2.5, True),
    ],
)
def test_alpha_may_not_be_of_a_higher_kind_than_the_result(
    operands: tuple[Any, ...], alpha: Any, allowed: bool
) -> None:
    if allowed:
        assert cw.resolve("add", *operands, dialect="torch", alpha=alpha)
        torch = pytest.importorskip("torch")
        live = [
            torch.ones(3, dtype=getattr(torch, o[:-3])) if isinstance(o, str) else o
            for o in operands
        ]
        torch.add(*live, alpha=alpha)  # torch agrees
    else:
        with pytest.raises(cw.PromotionError, match="alpha is a"):
            cw.resolve("add", *operands, dialect="torch", alpha=alpha)  # fmt: skip


def test_an_alpha_of_another_type_is_not_answered_from_the_cache() -> None:
    """1, 1.0 and True are equal, and not the same alpha."""
    ask.answer(question_about("add", "int16[3]", "int16[3]", dialect="torch", alpha=1))
    for alpha in (1.0, True):
        with pytest.raises(cw.PromotionError, match="alpha is a"):
            cw.resolve("add", "int16[3]", "int16[3]", dialect="torch", alpha=alpha)


@pytest.mark.parametrize("alpha", [10**400, -(10**400), 2**70], ids=["huge", "-huge", "2**70"])
def test_an_alpha_out_of_range_is_a_scalar_range_error(alpha: int) -> None:
    with pytest.raises(cw.ScalarRangeError, match="alpha"):
        cw.resolve("add", "int8[3]", "int8[3]", dialect="torch", alpha=alpha)


@pytest.mark.parametrize("alpha", ["2", [2], None.__class__, "int8[3]"])
def test_an_alpha_that_is_no_number_is_a_usage_error(alpha: Any) -> None:
    with pytest.raises(cw.UsageError, match="alpha"):
        cw.resolve("add", "int8[3]", "int8[3]", dialect="torch", alpha=alpha)


@pytest.mark.parametrize("alpha", [np.int64(2), np.float64(2)])
def test_an_alpha_that_is_a_numpy_scalar_is_the_number_it_is(alpha: Any) -> None:
    decision = cw.resolve("add", "float32[3]", "float32[3]", dialect="torch", alpha=alpha)
    assert decision.result.name == "float32"


@pytest.mark.parametrize("op", ["mul", "div", "exp", "pow"])
def test_only_add_and_sub_take_alpha(op: str) -> None:
    operands = ["float32[3]"] * OPS[op].arity[0]
    with pytest.raises(cw.UsageError, match="takes no alpha"):
        cw.resolve(op, *operands, dialect="torch", alpha=2)


def test_the_two_forms_may_differ() -> None:
    """torch's operator hands a NumPy array on the right to NumPy; its function refuses it."""
    operands = ("float32[3]", "np.float64[3]")
    assert cw.resolve("add", *operands, dialect="torch", form="operator").result.name == "float64"
    with pytest.raises(cw.PromotionError, match=r"add does not accept np\.float64\[3\] here"):
        cw.resolve("add", *operands, dialect="torch", form="function")


def test_the_operator_is_the_default_form_where_there_is_one() -> None:
    assert answer_text(cw.resolve("add", "int8[3]", 5, dialect="torch")) == "int8[3] + 5 -> int8"
    assert answer_text(cw.resolve("neg", "int8[3]", dialect="torch")) == "-int8[3] -> int8"
    assert str(cw.resolve("maximum", "int8[3]", "int8", dialect="torch")).startswith("maximum(")
    assert str(cw.resolve("add", "int8[3]", 5, dialect="torch", form="function")).startswith("add(")


@pytest.mark.parametrize("form", ["inplace", "out", "", "FUNCTION"])
def test_another_form_is_a_usage_error(form: str) -> None:
    with pytest.raises(cw.UsageError, match="form is 'function', 'operator' or 'augmented'"):
        cw.resolve("add", "int8[3]", 5, dialect="torch", form=form)


@pytest.mark.parametrize("form", ["function", "operator"])
@pytest.mark.parametrize("dialect", ["numpy", "numpy@1"])
def test_in_numpy_both_spellings_of_an_array_are_equal(dialect: str, form: str) -> None:
    arrays = [
        "bool[3]",
        "int8[3]",
        "int64[]",
        "int64=300[]",
        "float32",
        "bfloat16[]",
        "complex64[3]",
    ]
    others = ["uint8[3]", True, 0, 2, 300, -1, 0.5, 2.0, 1j]
    differing = []
    for op, array in itertools.product(OPS, arrays):
        rest = {1: [()], 2: [(o,) for o in others], 3: [("int8[3]", o) for o in others]}
        for more in rest.get(OPS[op].arity[0], []):
            results = {
                getattr(answered((op, spelled, *more), dialect, form=form), "result", None)
                for spelled in (array, f"np.{array}")
            }
            if len(results) > 1:
                differing.append((op, array, *more))
    assert differing == []


@pytest.mark.parametrize(
    ("name", "dialect", "op"),
    [
        ("torch.true_divide", "numpy", "div"),
        ("np.arctan2", "torch", "atan2"),
        ("numpy.true_divide", "torch", "div"),
        ("torch.nn.functional.relu", "numpy", "relu"),
        ("true_divide", "torch", "div"),
        ("arctan2", "numpy", "atan2"),
        ("np.add", "torch", "add"),
        ("xp.bitwise_invert", "numpy", "bitwise_not"),
        ("np.concatenate", "torch", "concat"),
        ("torch.cat", "numpy", "concat"),
        ("paddle.remainder", "torch", "remainder"),
        ("add", "array-api", "add"),
    ],
)
def test_a_frameworks_own_name_finds_the_op(name: str, dialect: str, op: str) -> None:
    assert find_op(name, cw.dialect(dialect)).name == op


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_alias_of_a_dialect_finds_its_op(dialect: str) -> None:
    spoken = cw.dialect(dialect)
    assert spoken.naming.aliases
    for op, words in spoken.naming.aliases.items():
        for word in words.split():
            assert find_op(word, spoken).name == op
            assert (
                find_op(f"{spoken.naming.prefixes.split()[0]}.{word}", cw.dialect("numpy")).name
                == op
            )


LIVE_MODULES = {
    "torch": ("torch", "torch.linalg", "torch.special", "torch.nn.functional"),
    "numpy": ("numpy", "numpy.linalg"),
}


@pytest.mark.parametrize("dialect", LIVE_MODULES)
def test_every_alias_is_a_name_the_framework_has(dialect: str) -> None:
    words = [w for words in cw.dialect(dialect).naming.aliases.values() for w in words.split()]
    modules = [pytest.importorskip(name) for name in LIVE_MODULES[dialect]]
    missing = [w for w in words if not any(hasattr(m, w) for m in modules)]
    assert missing == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ad", "unknown op 'ad'.*Did you mean"),
        ("torch.ad", "unknown op.*Did you mean"),
        ("nowhere.add", "unknown op 'nowhere.add'"),
        ("", "unknown op"),
        (".", "unknown op"),
    ],
)
def test_an_unknown_op_is_a_usage_error(name: str, reason: str) -> None:
    with pytest.raises(cw.UsageError, match=reason):
        cw.resolve(name, "int8[3]", "int8[3]", dialect="torch")


def test_errors_are_the_python_errors_people_catch() -> None:
    assert issubclass(cw.PromotionError, TypeError)
    assert issubclass(cw.ScalarRangeError, (OverflowError))
    assert issubclass(cw.ScalarRangeError, cw.PromotionError)
    assert issubclass(cw.UsageError, ValueError)
    assert not issubclass(cw.UsageError, cw.PromotionError)
    for error in (cw.PromotionError, cw.ScalarRangeError, cw.UsageError):
        assert issubclass(error, cw.CastwiseError)


@pytest.mark.parametrize(
    ("dialect", "asked", "error", "message"),
    [
        ("array-api", ("add", "int32[3]", "float32[3]"), cw.PromotionError,
         r"int32\[3\] \+ float32\[3\] is not defined in array-api: .*Cast both: x.astype..float64"),
        ("torch", ("add", "uint16[3]", "int8[3]"), cw.PromotionError,
         r"is not defined in torch: .*uint16.*Cast both"),
        ("numpy", ("add", "uint8[3]", 300), cw.ScalarRangeError,
         r"uint8\[3\] \+ 300 is not defined in numpy: 300 is out of range for uint8\."
         r" Use a value from 0 to 255"),
        ("torch", ("pow", "int32[3]", -1), cw.ScalarRangeError,
         r"negative integer power.*Make the base a float"),
        ("torch", ("matmul", "float16[3]", "float32[3]"), cw.PromotionError,
         r"needs operands of the same dtype\. Cast one to the other"),
        ("torch", ("sub", "bool[3]", "bool[3]"), cw.PromotionError, r"boolean.*use \^"),
        ("array-api", ("add", "float16[3]", "float32[3]"), cw.PromotionError,
         r"has no dtype float16"),
    ],
)  # fmt: skip
def test_an_error_says_what_why_and_what_to_do(
    dialect: str, asked: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as refused:
        cw.resolve(*asked, dialect=dialect)
    assert type(refused.value) is error


SAMPLE: list[Any] = [
    "bool[3]", "int8[3]", "uint8[]", "int64[3]", "uint16[3]", "float16[]", "float32[3]",
    "bfloat16[3]", "complex64[3]", True, 5, 300, -1, 2**63, 2**70, 1.5, 1e39, 2j,
    "np.int8(3)", "np.float64(1.5)", "np.float32[3]", "int64=300[]", "float8_e5m2[3]", "int128[3]",
]  # fmt: skip


def questions(step: int, share: int) -> list[tuple[Any, ...]]:
    """Every op with a sample of operands it can be asked with: of these one in so many, with
    --all-cells and without it."""
    asked: list[tuple[Any, ...]] = []
    for row in OPS.values():
        low, high = row.arity
        for count in {low, min(high, 3)}:
            if count == 1:
                asked += [(row.name, a) for a in SAMPLE]
            elif count == 2:
                asked += [(row.name, a, b) for a in SAMPLE[::2] for b in SAMPLE]
            else:
                asked += [(row.name, "bool[3]", a, b) for a in SAMPLE[1::3] for b in SAMPLE[::2]]
    return asked[:: step if cells.takes_all else share]


Answer = tuple[tuple[Any, ...], Decision | Exception]
Answers = list[Answer]
PARTS: list[dict[str, Any]] = [{}, {"form": "function"}, {"inplace": True}, {"out": "float32"}]


# With module scope pytest runs the tests of one dialect together, and then frees its answers.
@pytest.fixture(scope="module", params=DIALECTS)
def all_answers(request: pytest.FixtureRequest) -> tuple[str, Answers]:
    """A dialect, and every question with its answer there."""
    return request.param, [(asked, answered(asked, request.param)) for asked in questions(1, 41)]


def crashes_in(found: Iterable[Answer]) -> dict[Any, Any]:
    """An example of each op and error that is not castwise's own."""
    return {
        (asked[0], type(answer).__name__): asked
        for asked, answer in found
        if not isinstance(answer, (Decision, cw.CastwiseError))
    }


def test_every_question_gets_a_decision_or_an_error_of_castwise(
    all_answers: tuple[str, Answers],
) -> None:
    assert crashes_in(all_answers[1]) == {}


@pytest.mark.parametrize("parts", PARTS[1:], ids=str)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_so_it_does_in_every_form_and_when_written_somewhere(
    dialect: str, parts: dict[str, Any]
) -> None:
    asked = questions(4, 149)
    assert crashes_in((q, answered(q, dialect, **parts)) for q in asked) == {}


ADVICE = re.compile(r"\b([Cc]ast|[Uu]se|[Mm]ake|[Gg]ive|[Ww]rite|[Tt]ake|[Cc]hoose|[Pp]ass)\b")


def test_every_refusal_names_the_question_the_dialect_and_a_way_out(
    all_answers: tuple[str, Answers],
) -> None:
    wrong = {}
    dialect, found = all_answers
    refusals = [(asked, error) for asked, error in found if isinstance(error, cw.PromotionError)]
    assert refusals
    for asked, error in refusals:
        question, said, why = str(error).partition(f" is not defined in {dialect}: ")
        if not said or question != str(question_about(*asked, dialect=dialect)):
            wrong[f"what: {error}"] = asked
        elif not ADVICE.search(why):
            wrong[f"no way out: {re.sub('[0-9]+', '#', why)}"] = asked  # one example of each
    assert wrong == {}


def told(asked: tuple[Any, ...], dialect: str) -> tuple[Any, ...]:
    """All that resolve says, or the error with its text."""
    found = answered(asked, dialect)
    if isinstance(found, Exception):
        return type(found), str(found)
    return found.result, found.compute, found.casts, found.notes, answer_text(found)


def decided(asked: tuple[Any, ...], dialect: str) -> tuple[Any, ...]:
    """The same, with nothing cached."""
    question = question_about(*asked, dialect=dialect)
    try:
        found = decide(question)
    except Refusal as refusal:
        error = refusal.as_error(question)
        return type(error), str(error)
    except Exception as error:
        return type(error), str(error)
    return found.result, found.compute, found.casts, found.notes, answer_text(found)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_repeated_question_gets_the_same_answer(dialect: str) -> None:
    for asked in questions(7, 149):
        assert told(asked, dialect) == told(asked, dialect) == decided(asked, dialect)


LIMITS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 127, 128, 255, 256, 2**15, 2**16, 2**31, 2**32]
near_limits = st.builds(
    lambda limit, by, sign: sign * (limit + by),
    st.sampled_from([*LIMITS, 2**63, 2**64, 2**127, 10**38, 10**39, 10**309]),
    st.integers(-2, 2),
    st.sampled_from([1, -1]),
)
floats = st.floats() | st.sampled_from([65503.9, 65504.0, 65519.9, 65520.0, 3.4e38, 3.4028235e38])
scalars = st.one_of(near_limits, st.integers(), floats, st.complex_numbers(), st.booleans())


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=200 if cells.takes_all else 20)
@given(
    op=st.sampled_from(["add", "pow", "maximum", "clamp", "eq", "logical_and", "result_type"]),
    name=st.sampled_from(["bool[3]", "int8[3]", "uint8[]", "int64[3]", "float16[3]", "float32[]"]),
    value=scalars,
)
def test_the_cache_never_answers_with_another_values_words(
    dialect: str, op: str, name: str, value: Any
) -> None:
    assert told((op, name, value), dialect) == decided((op, name, value), dialect)


@pytest.mark.parametrize("dialect", ["numpy", "array-api"])
def test_the_message_names_the_value_asked_about(dialect: str) -> None:
    for value in (300, 301, 300, 302):
        with pytest.raises(cw.ScalarRangeError, match=rf"\+ {value} .* {value} is out of range"):
            cw.resolve("add", "uint8[3]", value, dialect=dialect)


def test_the_words_of_a_decision_name_the_operands_asked_about() -> None:
    for value in ("5", "6", "0.0", "-0.0", "0.0"):
        asked = f"float32[3] + {value}"
        number = float(value) if "." in value else int(value)
        decision = cw.resolve("add", "float32[3]", number, dialect="torch")
        assert answer_text(decision) == f"{asked} -> float32"
    for shape in ("[3]", "[2,3]", "[n]"):
        assert str(cw.resolve("exp", f"float32{shape}", dialect="torch")).startswith(
            f"exp(float32{shape})"
        )


def test_a_repeated_question_is_not_decided_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "_answers", {})
    decisions = []
    monkeypatch.setattr(
        ask, "decide", lambda question: decisions.append(question) or decide(question)
    )
    for shape in ("[3]", "[3]", "[2,3]", "[n]", ""):
        assert cw.resolve("add", f"int8{shape}", 5, dialect="torch").result.name == "int8"
    assert len(decisions) == 1


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "CACHE_SIZE", 50)
    monkeypatch.setattr(ask, "_answers", {})
    names = ["bool", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "uint8"]
    for op, a, b in itertools.product(("add", "mul", "maximum"), names, names):
        cw.resolve(op, f"{a}[3]", f"{b}[3]", dialect="numpy")
        assert len(ask._answers) <= 50
    assert ask._answers


def test_the_cache_does_not_grow_with_values_no_rule_looks_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ask, "_answers", {})
    for value in range(1000, 30_000, 7):
        cw.resolve("add", "int64[3]", value, dialect="numpy")
    assert len(ask._answers) < 10


def in_eight_threads(work: Callable[[int], None]) -> None:
    """Runs work(0) to work(7) at once, switching threads as often as Python can.

    Python code that runs during garbage collection lets threads switch inside C calls too.
    """

    def pause(phase: str, info: dict[str, int]) -> None:
        sum(range(50))

    start = threading.Barrier(8)

    def one(number: int) -> None:
        start.wait()
        work(number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    gc.callbacks.append(pause)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        gc.callbacks.remove(pause)
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads)


def test_eight_threads_get_the_answers_one_gets() -> None:
    asked = questions(37, 997)
    alone = {dialect: [decided(q, dialect) for q in asked] for dialect in DIALECTS}
    ask._answers.clear()
    wrong: list[Any] = []

    def work(number: int) -> None:
        for dialect in (*DIALECTS[number % len(DIALECTS) :], *DIALECTS):
            with cw.use(dialect):
                for question, expected in zip(asked, alone[dialect], strict=True):
                    found = told(question, cw.current().name)
                    if found != expected:
                        wrong.append((dialect, question, found))

    in_eight_threads(work)
    assert wrong == []


def test_eight_threads_decide_ops_made_of_other_ops() -> None:
    asked = [
        ("l1_loss", "complex64[3]", "float32[3]"),
        ("poisson_nll_loss", "bool[3]", "float16[3]"),
        ("div", 5.5, "int8[3]"),
    ]
    expected = [decided(question, "torch") for question in asked]
    wrong: list[Any] = []

    def work(number: int) -> None:
        for _ in range(100):
            found = [decided(question, "torch") for question in asked]
            if found != expected:
                wrong.append(found)

    in_eight_threads(work)
    assert wrong == []


def test_live_arrays_notation_and_operands_are_one_question() -> None:
    torch = pytest.importorskip("torch")
    live = cw.resolve("add", torch.zeros(3, dtype=torch.int32), 5.5, dialect="torch")
    written = cw.resolve("add", "int32[3]", 5.5, dialect="torch")
    described = cw.resolve("add", cw.describe("int32[3]"), cw.describe(5.5), dialect="torch")
    assert str(live) == str(written) == str(described)
    assert live.result is written.result is described.result


def test_a_decision_cannot_be_changed_and_tells_its_steps() -> None:
    decision = cw.resolve("add", "int32[3]", 5.5, dialect="torch")
    assert isinstance(decision, Decision)
    with pytest.raises(AttributeError):
        decision.result = dtype("int8")  # type: ignore[misc]
    assert decision.steps[-1] == "The result is float32."
    assert not decision.is_weak
