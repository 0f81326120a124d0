"""The pages on dialects: all is said in words, and what they say is what the engine answers."""

from __future__ import annotations

import functools
import re
from dataclasses import fields, replace

import pytest

from castwise.catalog import dialect_named, dialects
from castwise.engine.ask import question_in
from castwise.engine.decision import Decision
from castwise.engine.scalars import POLICIES
from castwise.report.answers import explained
from castwise.report.blocks import markdown_row
from castwise.rules.dialect import Dialect, Laws
from castwise.rules.rule import SCALARS, Accepts, Composed, Joins, Numbers, Range, Rule
from pages import (
    dialect_page,
    general_rules,
    index_page,
    op_rules,
    other_rules,
    page_name,
    phrases,
)

page_of = functools.cache(dialect_page)


@pytest.fixture(scope="module", params=dialects())
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return dialect_named(request.param)


def test_names_of_pages_are_file_names_and_differ() -> None:
    names = [page_name(dialect_named(name)) for name in dialects()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9.\-_=]+", name) for name in names)


def test_a_page_has_its_parts(dialect: Dialect) -> None:
    page = page_of(dialect)
    assert page.startswith(f"# {dialect.name}\n")
    for part in (
        "## Surprises",
        "## Lattice",
        "## Table",
        "## Rules",
        "## Laws",
        "## Augmented assignment",
    ):
        assert f"\n\n{part}\n\n" in page
    assert f"({page_name(dialect)}.svg)" in page
    assert dialect.evidence.source in page
    assert page.endswith("\n")
    assert not page.endswith("\n\n")


def test_tables_are_whole(dialect: Dialect) -> None:
    for block in page_of(dialect).split("\n\n"):
        rows = [
            re.findall(r"(?<!\\)\|", line) for line in block.splitlines() if line.startswith("|")
        ]
        assert len({len(bars) for bars in rows}) <= 1


def test_surprises_are_explained(dialect: Dialect) -> None:
    page = page_of(dialect)
    for text in dialect.evidence.surprises:
        (row,) = re.findall(rf"^\| `{re.escape(text)}` \| (\S+) \| (.+) \|$", page, re.MULTILINE)
        outcome = explained(question_in(text, dialect)).outcome
        assert row[0] == (str(outcome.result) if isinstance(outcome, Decision) else "refused")
        assert row[1].endswith(".")


def test_a_page_of_a_mode_has_only_the_rules_of_its_own() -> None:
    page = page_of(dialect_named("jax:x64"))
    assert "Those of [jax](jax.md), and these, which override them:" in page
    assert "| `cumsum`, `cumprod` | before computing, `bool -> int64`" in page
    assert "| `relu` |" not in page
    assert "| `relu` |" in page_of(dialect_named("jax"))
    old = page_of(dialect_named("torch@2.1"))
    assert old.count("Those of [torch](torch.md).") == 2
    assert "<details" not in old
    other = page_of(dialect_named("tensorflow:all"))  # most rules of tensorflow do not hold there
    assert "Those of [tensorflow]" not in other


def test_the_laws_are_worked_out() -> None:
    assert (
        "- Not associative: int8 with uint8 is int16, and int16 with float16 is float32;"
        " but uint8 with float16 is float16, and int8 with float16 is float16.\n"
    ) in dialect_page(dialect_named("numpy"))
    page = dialect_page(dialect_named("torch"))
    assert "- Commutative: `a + b` has the same dtype as `b + a`.\n- Associative: " in page


def test_a_dialect_that_is_not_commutative_shows_where() -> None:
    laws = Laws(is_commutative=False, associativity_witness=None)
    left = dialect_named("numpy").vary(
        mode="left",
        evidence=replace(dialect_named("numpy").evidence, laws=laws),
        ops={"*": Rule(joins=Joins("first operand", others="same kind"))},
    )
    assert (
        "- Not commutative: `int8[3] + uint8[3]` is int8, but `uint8[3] + int8[3]` is uint8.\n"
        in dialect_page(left)
    )


def test_a_switch_is_told_both_ways() -> None:
    """A field without a phrase is shown by its name, so that nothing is left out."""
    for name in [f.name for f in fields(Rule) if f.type == "bool | None"]:
        (on,), (off,) = phrases(Rule(**{name: True})), phrases(Rule(**{name: False}))
        assert on
        assert off
        assert on != off


def test_rules_in_words() -> None:
    rule = Rule(computes="int float", accepts=Accepts(refuses="bool"), because="why not")
    assert phrases(rule) == ["computes in int and float", "refuses bool (why not)"]
    composed = Composed("square(x)", "bool int", "ARRAY ZERO_D", (2,), "int")
    assert phrases(Rule(composes=(composed,))) == [
        "is `square(x)` for bool and int arrays or 0-d arrays if the last operand is: int, 2"
    ]
    assert phrases(Rule(numbers=Numbers(dtypes_by_array={"bfloat16": {"int": "int8"}}))) == [
        "with bfloat16 a Python int counts as int8"
    ]
    counts = {"int": "int64", "float": "float32"}
    assert phrases(Rule(numbers=Numbers(dtypes_by_array={"uint16": counts, "uint32": counts}))) == [
        "with uint16 and uint32 a Python int counts as int64 and a Python float counts as float32"
    ]
    assert phrases(Rule(range=Range(limit="int64"))) == [
        "a Python number is out of range beyond int64, whatever the dtype"
    ]
    assert phrases(Rule(range=Range(limit="none"))) == ["any number is accepted"]
    assert phrases(Rule(range=Range(beyond="raises"))) == [
        "a Python number out of range: it is refused"
    ]
    assert phrases(Rule(range=Range("int64", "raises"))) == [
        "a Python number out of range: beyond int64, whatever the dtype, it is refused"
    ]
    assert phrases(Rule(joins=Joins("by category")))[0].startswith("joins by category: ")
    assert phrases(Rule(numbers=Numbers(adapts=""))) == ["every Python number is accepted"]
    assert phrases(Rule(accepts=Accepts(refuses=""))) == ["refuses nothing"]


def test_every_rule_is_told(dialect: Dialect) -> None:
    assert all(ops and said for ops, said in op_rules(dialect))
    assert all(subject and said for subject, said in general_rules(dialect))
    assert all(other_rules(dialect))


def test_many_other_rules_are_a_list() -> None:
    numpy, torch = dialect_named("numpy"), dialect_named("torch")
    listed = "".join(f"  - {text}\n" for text in other_rules(numpy))
    assert f"\n- **Also**:\n{listed}\n" in page_of(numpy)
    assert f"\n- **Also**: {'; '.join(other_rules(torch))}.\n" in page_of(torch)


def test_ops_of_one_form_stand_together() -> None:
    rows = dict(op_rules(dialect_named("torch")))
    assert rows["`any`, `all` with `out=`"].startswith("what may be written: ")
    assert rows["`eq` as an operator"] == "a NumPy array: it counts as an array of the framework"


def test_every_policy_has_words() -> None:
    assert SCALARS.keys() == POLICIES.keys()


def test_the_index_links_every_page() -> None:
    page = index_page([dialect_named(name) for name in dialects()])
    for name in dialects():
        assert f"| [`{name}`]({page_name(dialect_named(name))}.md) |" in page


def test_markdown_keeps_what_is_code() -> None:
    assert markdown_row(["a*b", "`int*`", "a|b"]) == r"| a\*b | `int*` | a\|b |"
