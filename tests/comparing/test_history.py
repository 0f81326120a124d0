"""What releases changed."""

from __future__ import annotations

import json

import pytest

import castwise as cw
from castwise.catalog import LayerCell
from castwise.comparing.history import KINDS, Change, history, released_after
from castwise.report.diff import HISTORY_FORMATS, history_json, history_text


def test_the_newest_release_is_first() -> None:
    found = history("numpy")
    versions = [release.version for release in found]
    assert versions[:2] == ["2.5.4", "2.4"]
    assert [found[0].before.name, found[1].dialect.name] == ["numpy", "numpy"]


def test_numpy_2_5_refuses_numbers_out_of_range_in_where() -> None:
    (release,) = [r for r in history("numpy", "where") if r.version == "2.5.4"]
    assert {group.kind for group in release.groups} == {"refused"}
    assert release.groups[0].text == "int with a Python int"
    assert "refused by value" in history_text([release])


def test_numpy_2_1_keeps_integers_in_floor() -> None:
    (release,) = [r for r in history("numpy", "floor") if r.version == "2.1.3"]
    examples = [str(group.example.cell.operands) for group in release.groups]
    assert any(example == "int32[3]" for example in examples)


def test_other_rules_are_compared_by_diff() -> None:
    (release,) = [r for r in history("numpy") if r.dialect.name == "numpy@2.0"]
    assert release.is_other_rules
    assert "castwise diff numpy@1.26 numpy@2.0" in history_text([release])


def test_rules_that_were_not_recorded_are_left_out() -> None:
    """As torch@2.1 is not, beside torch@2.1.2."""
    *_, release = history("torch", "where")
    assert (release.before.name, release.dialect.name) == ("torch@1.11", "torch@2.1.2")
    taken = [c.cell.operands for g in release.groups if g.kind == "taken" for c in g.changes]
    assert "bool[3];int32[3];float32[3]" in taken


def test_what_a_change_is_to_a_user() -> None:
    def kind(before: str, after: str) -> str:
        return Change(LayerCell("add", "function", "int8[3]", "", ""), before, after).kind

    assert kind("int8", "int16") == "another dtype"
    assert kind("int8", "!range") == "refused"
    assert kind("!", "int8") == "taken"
    assert kind("no-kernel:int8", "int8") == "runs"
    assert kind("int8", "no-kernel") == "does not run"
    assert [kind("!", "!range"), kind("", "int8"), kind("no-kernel", "!")] == ["", "", ""]
    assert {kind(a, b) for a in ("int8", "!", "no-kernel") for b in ("int16", "!")} <= {*KINDS, ""}


@pytest.mark.parametrize("format_", list(HISTORY_FORMATS))
def test_every_format_has_every_release(format_: str) -> None:
    found = history("numpy", "pow")
    text = str(HISTORY_FORMATS[format_](found))
    assert all(release.version in text for release in found)


def test_json_has_every_changed_cell() -> None:
    found = history("numpy", "where")
    made = json.loads(json.dumps(history_json(found)))
    assert [each["changed"] for each in made] == [release.count for release in found]
    cells = made[0]["groups"][0]["cells"]
    assert {*cells[0]} == {"op", "form", "operands", "before", "after"}


def test_releases_after_one() -> None:
    assert [r.version for r in released_after(history("numpy"), "2.3")] == ["2.5.4", "2.4"]
    with pytest.raises(cw.UsageError, match=r"no release after 2.5 is recorded"):
        released_after(history("numpy"), "2.5")
    with pytest.raises(cw.UsageError, match="'two' is no version"):
        released_after(history("numpy"), "two")


def test_a_framework_without_releases() -> None:
    with pytest.raises(cw.UsageError, match="no releases of 'oneflow' are recorded"):
        history("oneflow")
