"""The records of what frameworks compute where arithmetic leaves a choice."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from castwise.errors import UsageError
from castwise.report.pages.values import value_tables
from castwise.rules.catalog import dialect_named, dialects, load_dialect
from castwise.rules.default import to_dialect
from castwise.rules.values import CHOICES, WRAPS_ON, Values


def test_every_field_but_the_lists_of_ops_names_its_choices() -> None:
    others = {
        "correction", "wide_scalars", "reciprocal_first", "reciprocal_second", "shares_memory",
        "needs_dimension", "needs_elements", "needs_vectors", "stepwise", "retyped_first",
    }  # fmt: skip
    assert {f.name for f in fields(Values)} == set(CHOICES) | others


# Ways of processors, which a dialect of one's own may name; the frameworks take what is at hand.
PROCESSORS = set(WRAPS_ON.values())


def test_every_choice_is_some_dialect_s() -> None:
    chosen = [dialect_named(name).values for name in dialects()]
    for field, choices in CHOICES.items():
        assert {getattr(values, field) for values in chosen} == set(choices) - PROCESSORS, field


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shifts": "shifted"}, "'shifted' is not a choice for shifts. Did you mean 'shifted out'"),
        ({"wide_scalars": "times"}, "'times' is not an op"),
        ({"reciprocal_first": "div/opertor"}, "'opertor' is not a form of div"),
        ({"correction": 2}, "correction is 0 or 1, not 2"),
    ],
)
def test_an_unknown_choice_is_refused(change: dict[str, object], message: str) -> None:
    numpy = dialect_named("numpy")
    varied = numpy.vary(values=replace(numpy.values, **change))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=message):
        to_dialect(varied)


def test_a_dialect_of_one_s_own_chooses_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    head = "name = 'mine'\nbase = 'torch'\nabout = 'mine'\n"
    file.write_text(head + "[values]\nfloat_to_int = 'saturates'\n", encoding="utf-8")
    torch = dialect_named("torch").values
    assert load_dialect(file).values == replace(torch, float_to_int="saturates")
    file.write_text(head + "[values]\nfloats = 'saturate'\n", encoding="utf-8")
    with pytest.raises(UsageError, match="has no field 'floats'"):
        load_dialect(file)


def test_modes_compute_as_their_framework_does() -> None:
    assert dialect_named("jax:x64").values == dialect_named("jax").values
    assert dialect_named("tensorflow:safe").values == dialect_named("tensorflow").values


def test_the_page_on_values_tells_every_rule_as_it_is() -> None:
    page = Path(__file__).parents[2] / "docs" / "values.md"
    told = value_tables([dialect_named(name) for name in dialects()])
    assert told in page.read_text("utf-8"), "run `python docs/refresh.py`"
