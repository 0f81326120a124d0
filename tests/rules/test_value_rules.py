"""The records of what frameworks compute where arithmetic leaves a choice."""

from __future__ import annotations

from dataclasses import fields, replace
from operator import attrgetter
from pathlib import Path

import pytest

from castwise.catalog import dialect_named, dialects, layers, load_dialect, to_dialect
from castwise.errors import UsageError
from castwise.rules.values import CHOICES, WRAPS_ON, Arithmetic, Dividing, Reducing, Values
from pages import value_tables


def test_every_field_but_the_lists_of_ops_names_its_choices() -> None:
    others = {
        "reducing.correction", "arithmetic.wide_scalars", "arithmetic.wide_numbers",
        "arithmetic.stepwise",
        "dividing.reciprocal_first", "dividing.reciprocal_second", "memory.shares_memory",
        "memory.gives_arrays", "memory.retyped_first", "needs.dimension", "needs.elements",
        "needs.vectors",
    }  # fmt: skip
    found = {
        f"{p.name}.{f.name}" for p in fields(Values) for f in fields(getattr(Values(), p.name))
    }
    assert found == set(CHOICES) | others


# Behaviour of processors that a custom dialect may name; frameworks use the current processor's.
PROCESSORS = set(WRAPS_ON.values())


def test_every_choice_is_some_dialect_s() -> None:
    chosen = [dialect_named(name).values for name in (*dialects(), *layers())]
    for field, choices in CHOICES.items():
        assert {attrgetter(field)(values) for values in chosen} == set(choices) - PROCESSORS, field


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"arithmetic": Arithmetic(shifts="shifted")},
            "'shifted' is not a choice for arithmetic.shifts. Did you mean 'shifted out'",
        ),
        ({"arithmetic": Arithmetic(wide_scalars="times")}, "'times' is not an op"),
        ({"dividing": Dividing(reciprocal_first="div/opertor")}, "'opertor' is not a form of div"),
        ({"reducing": Reducing(correction=2)}, "correction is 0 or 1, not 2"),
    ],
)
def test_an_unknown_choice_is_refused(change: dict[str, object], message: str) -> None:
    numpy = dialect_named("numpy")
    varied = numpy.vary(values=replace(numpy.values, **change))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=message):
        to_dialect(varied)


def test_a_custom_dialect_chooses_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    head = "name = 'mine'\nbase = 'torch'\nabout = 'mine'\n"
    file.write_text(head + "[values.casting]\nfloat_to_int = 'saturates'\n", encoding="utf-8")
    torch = dialect_named("torch").values
    assert load_dialect(file).values == replace(
        torch, casting=replace(torch.casting, float_to_int="saturates")
    )
    file.write_text(head + "[values]\nfloats = 'saturate'\n", encoding="utf-8")
    with pytest.raises(UsageError, match="has no field 'floats'"):
        load_dialect(file)


def test_modes_compute_as_their_framework_does() -> None:
    assert dialect_named("jax:x64").values == dialect_named("jax").values
    assert dialect_named("tensorflow:safe").values == dialect_named("tensorflow").values


def test_the_page_on_values_tells_every_rule_as_it_is() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "values.md"
    told = value_tables([dialect_named(name) for name in (*dialects(), *layers())])
    assert told in page.read_text("utf-8"), "run `python docs/refresh.py`"
