"""Dialects by name, with versions and options; the current dialect of a thread or task."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

import castwise as cw
from castwise.catalog import to_dialect
from castwise.rules.dialect import Dialect, Evidence, check, parse_edges, rule_for
from castwise.rules.rule import Accepts, Joins, NumPyOperands, Range, Rule, Writes
from castwise.vocab.dtypes import dtype, dtypes_named
from castwise.vocab.ops import op

FIRST_FIVE = {"torch", "torch@2.1", "numpy", "numpy@1", "array-api"}


def test_the_dialects_of_the_first_release_are_there() -> None:
    assert set(cw.dialects()) >= FIRST_FIVE
    assert len(set(cw.dialects())) == len(cw.dialects())


@pytest.mark.parametrize("name", cw.dialects())
def test_a_dialect_is_found_by_its_own_name(name: str) -> None:
    found = cw.dialect(name)
    assert found.name == name
    assert cw.dialect(name) is found
    assert found.about
    assert found.evidence.source
    check(found)


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("numpy@2", "numpy"),
        ("torch@2.13", "torch"),
        ("numpy@1", "numpy@1"),
        ("torch@2.1", "torch@2.1"),
    ],
)
def test_the_newest_version_is_what_the_bare_name_means(spelled: str, name: str) -> None:
    assert cw.dialect(spelled) is cw.dialect(name)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [("toch", "torch"), ("numpi", "numpy"), ("torch:x", "torch"), ("torch@", "torch"),
     ("torch ", "torch")],
)  # fmt: skip
def test_an_unknown_name_gets_a_did_you_mean(wrong: str, hint: str) -> None:
    with pytest.raises(cw.UsageError, match=f"unknown dialect '{wrong}'.*Did you mean .*'{hint}"):
        cw.dialect(wrong)


@pytest.mark.parametrize("wrong", ["", "os", "catalog", "dialect", "..torch", "é", "x" * 9999])
def test_a_name_like_none_is_refused_briefly(wrong: str) -> None:
    with pytest.raises(cw.UsageError, match="unknown dialect") as refused:
        cw.dialect(wrong)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("name", "real", "twin"),
    [
        ("torch:default_float=float64", "float64", "complex128"),
        ("torch:default_float=float16", "float16", "complex32"),
        ("torch:default_float=bfloat16", "bfloat16", "complex64"),
        ("torch:default_float=f64", "float64", "complex128"),
        ("torch@2.13:default_float=float64", "float64", "complex128"),
        ("torch@2.1:default_float=float64", "float64", "complex128"),
        ("numpy:default_float=float32", "float32", "complex64"),
    ],
)
def test_default_float_moves_the_default_complex_with_it(name: str, real: str, twin: str) -> None:
    found = cw.dialect(name)
    assert (found.python["float"], found.python["complex"]) == (real, twin)
    assert found.name.endswith(f":default_float={real}")
    assert cw.dialect(found.name).python == found.python


@pytest.mark.parametrize(
    ("default", "by_float", "by_complex", "by_division"),
    [
        ("float32", "float32", "complex64", "float32"),
        ("float64", "float64", "complex128", "float64"),
        ("float16", "float16", "complex32", "float16"),
        ("bfloat16", "bfloat16", "complex64", "bfloat16"),
    ],
)
def test_default_float_decides_scalars_and_division(
    default: str, by_float: str, by_complex: str, by_division: str
) -> None:
    chosen = f"torch:default_float={default}"
    assert cw.resolve("add", "int32[3]", 1.5, dialect=chosen).result.name == by_float
    assert cw.resolve("add", "int32[3]", 1j, dialect=chosen).result.name == by_complex
    assert cw.resolve("div", "int32[3]", "int32[3]", dialect=chosen).result.name == by_division


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("torch:default_float=int8", "float.*int8"),
        ("torch:default_float=complex64", "float.*complex64"),
        ("torch:default_float=flaot32", "Did you mean 'float32'"),
        ("torch:default_float=", "unknown dtype"),
        ("torch:default=float64", "unknown option 'default'"),
        ("array-api:default_float=float16", "float16"),  # the standard has none
        ("torch@2.1:default_float=float8_e5m2", "float8_e5m2"),
    ],
)
def test_a_bad_option_is_refused(name: str, reason: str) -> None:
    with pytest.raises(cw.UsageError, match=reason):
        cw.dialect(name)


def test_vary_changes_the_copy_alone() -> None:
    torch = cw.dialect("torch")
    varied = torch.vary(default_float="float64")
    assert varied.python["float"] == "float64"
    assert torch.python["float"] == "float32"
    assert varied.framework == "torch"
    narrow = torch.vary(becomes=replace(torch.becomes, index="int32"))
    assert narrow.becomes.index == "int32"
    assert cw.resolve("argmax", "float32[3]", dialect=narrow).result.bits == 32
    assert torch.becomes.index == "int64"
    assert cw.resolve("argmax", "float32[3]", dialect="torch").result.bits == 64


def test_vary_refuses_what_is_no_field() -> None:
    with pytest.raises((TypeError, cw.UsageError), match="nonsense"):
        cw.dialect("torch").vary(nonsense=1)
    with pytest.raises(cw.UsageError, match=r"vary\(becomes=replace\(.*index="):
        cw.dialect("torch").vary(index="int32")


def test_a_dialect_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        cw.dialect("torch").casts = "any"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        cw.dialect("torch").becomes.index = "int8"  # type: ignore[misc]


def test_to_dialect_takes_a_name_a_dialect_or_nothing() -> None:
    torch = cw.dialect("torch")
    assert to_dialect("torch") is torch
    assert to_dialect(torch) is torch
    assert to_dialect(None) is cw.current()


def test_numpy_is_the_default() -> None:
    assert cw.current().name == "numpy"


def test_use_nests_and_gives_back() -> None:
    with cw.use("torch") as outer:
        assert outer is cw.dialect("torch")
        assert cw.current() is outer
        with cw.use(cw.dialect("numpy@1")):
            assert cw.current().name == "numpy@1"
        assert cw.current().name == "torch"
    assert cw.current().name == "numpy"


def test_use_decides_every_question_without_a_dialect() -> None:
    with cw.use("torch"):
        assert cw.resolve("add", "int64[3]", "float32[3]").result.name == "float32"
        assert cw.result_type("int64[3]", "float32[3]").name == "float32"
        assert cw.promote_types("int64", "float32").name == "float32"
        assert cw.can_cast("int64", "uint8")
        assert "in torch" in cw.explain("add", "int64[3]", "float32[3]")
    assert cw.resolve("add", "int64[3]", "float32[3]").result.name == "float64"
    assert cw.result_type("int64[3]", "float32[3]").name == "float64"
    assert not cw.can_cast("int64", "uint8")


def test_use_gives_back_after_an_exception() -> None:
    with pytest.raises(RuntimeError), cw.use("torch"):
        raise RuntimeError
    assert cw.current().name == "numpy"


def test_use_of_an_unknown_name_changes_nothing() -> None:
    with pytest.raises(cw.UsageError, match="unknown dialect"), cw.use("nope"):
        pass
    assert cw.current().name == "numpy"


def test_an_explicit_dialect_wins_over_use() -> None:
    with cw.use("torch"):
        assert cw.result_type("int64[3]", "float32[3]", dialect="numpy").name == "float64"


def test_use_is_per_thread() -> None:
    entered, leave = threading.Event(), threading.Event()
    seen = {}

    def other() -> None:
        with cw.use("torch"):
            entered.set()
            leave.wait(10)
            seen["other"] = cw.current().name

    thread = threading.Thread(target=other)
    thread.start()
    assert entered.wait(10)
    seen["here"] = cw.current().name
    leave.set()
    thread.join(10)
    assert seen == {"here": "numpy", "other": "torch"}


def test_use_is_per_asyncio_task() -> None:
    async def task(name: str) -> str:
        with cw.use(name):
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return cw.current().name

    async def all_tasks() -> list[str]:
        names = ["torch", "numpy@1", "array-api"]
        return await asyncio.gather(*(task(name) for name in names))

    assert asyncio.run(all_tasks()) == ["torch", "numpy@1", "array-api"]
    assert cw.current().name == "numpy"


def test_a_dialects_dtypes_stand_in_its_own_order() -> None:
    names = [d.name for d in cw.dialect("array-api").dtypes]
    assert names == cw.dialect("array-api").order.split()


def test_parse_edges_reads_kinds_arrows_and_lines() -> None:
    own = dtypes_named("bool int8 int16 float32")
    b, i8, i16, f32 = own
    assert list(parse_edges("bool -> int8; int8 int16 => float32", own)) == [
        (b, i8, True),
        (i8, f32, False),
        (i16, f32, False),
    ]
    assert not parse_edges("", own)


def test_a_mapping_reads_kinds_and_the_dtypes_of_python_numbers() -> None:
    dialect = cw.dialect("torch").vary(order="bool int8 float32")
    b, i8, f32 = dialect.dtypes
    assert dialect.mapping("bool int -> default_float") == {b: f32, i8: f32}


def test_an_edge_without_an_arrow_is_refused() -> None:
    with pytest.raises(cw.UsageError, match="an edge is written 'int8 -> int16'"):
        parse_edges("int8 int16", dtypes_named("int8 int16"))


def varied(**changes: object) -> Dialect:
    return replace(cw.dialect("torch"), **changes)  # type: ignore[arg-type]


def test_rules_are_laid_over_one_another_from_general_to_particular() -> None:
    given = varied(
        ops={
            "*": Rule(scalars="tiers", writes=Writes("any")),
            "add sub": Rule(scalars="weak"),
            "add/inplace": Rule(writes=Writes("safe")),
        }
    )
    assert rule_for(given, op("mul"), "function") == Rule(scalars="tiers", writes=Writes("any"))
    assert rule_for(given, op("add"), "function") == Rule(scalars="weak", writes=Writes("any"))
    assert rule_for(given, op("add"), "inplace") == Rule(scalars="weak", writes=Writes("safe"))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"order": "int8 flaot32"}, "flaot32"),
        ({"reaches": "int8 int16"}, "an edge is written"),
        ({"reaches": "int8 -> nope"}, "nope"),
        ({"python": dict.fromkeys(("bool", "int", "float", "complex"), "nope")}, "nope"),
        ({"ops": {"ad": Rule()}}, "'ad' is not an op.*Did you mean"),
        ({"ops": {"add/x": Rule()}}, "'x' is not a form of add"),
        ({"ops": {"add": Rule(scalars="none")}}, "'none' is not a choice for add"),
        ({"ops": {"add": Rule(joins=Joins("none"))}}, "'none' is not a choice for add"),
        ({"ops": {"add": Rule(writes=Writes("none"))}}, "'none' is not a choice for add"),
        ({"ops": {"add": Rule(range=Range(beyond="none"))}}, "'none' is not a choice for add"),
        ({"ops": {"add": Rule(numpy=NumPyOperands("none"))}}, "'none' is not a choice for add"),
        ({"ops": {"add": Rule(otherwise="none")}}, "'none' is not a choice for add"),
        ({"ops": {"add": Rule(computes="flaot")}}, "flaot"),
        ({"ops": {"add": Rule(accepts=Accepts(refuses="flaot"))}}, "flaot"),
        ({"ops": {"add": Rule(converts="int8 int16")}}, "an edge is written"),
        ({"ops": {"add": Rule(result="nope")}}, "nope"),
    ],
    ids=lambda v: str(v)[:40],
)  # fmt: skip
def test_data_that_is_not_well_formed_is_refused(bad: dict[str, object], reason: str) -> None:
    with pytest.raises(cw.UsageError, match=reason):
        check(varied(**bad))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"reaches": "int16 -> int8"}, "comes before it"),
        ({"reaches": "int8 -> float8_e3m4"}, "is not in order"),
    ],
)
def test_an_edge_against_the_order_is_refused(bad: dict[str, object], reason: str) -> None:
    with pytest.raises(cw.UsageError, match=reason):
        cw.resolve("add", "int8[3]", "int8[3]", dialect=varied(**bad))


def test_a_custom_dialect_decides() -> None:
    mine = Dialect(
        framework="mine",
        about="Two dtypes.",
        evidence=Evidence("this test"),
        order="int8 float32",
        reaches="int8 -> float32",
        python={"bool": "int8", "int": "int8", "float": "float32", "complex": "float32"},
        ops={"*": Rule(scalars="weak", writes=Writes("safe"))},
        casts="safe",
    )
    assert cw.resolve("add", "int8[3]", "float32[3]", dialect=mine).result is dtype("float32")
    with cw.use(mine):
        assert cw.result_type("int8", "int8").name == "int8"
        with pytest.raises(
            cw.PromotionError, match="not defined in mine: this dialect has no dtype int16"
        ):
            cw.resolve("add", "int8[3]", "int16[3]")
