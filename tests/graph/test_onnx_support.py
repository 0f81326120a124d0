"""The page on what can be exported to ONNX."""

from __future__ import annotations

from pathlib import Path

import pytest

from castwise.report.table import short_name
from castwise.vocab.dtypes import dtype
from onnx_support import (
    REFERENCE_DIFFERS,
    RUNTIME_DIFFERS,
    cells,
    computing_ops,
    support,
)
from pages import installed_versions, versions_of

pytest.importorskip("onnx", minversion="1.23")
PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "onnx-support.md"


@pytest.mark.parametrize(
    ("name", "held", "how", "is_widened"),
    [
        ("add", "float32", "one op", False),
        ("add", "float8_e5m2", "one op", True),
        ("add", "bfloat16", "one op", False),
        ("hypot", "float64", "composed", False),
        ("hypot", "float16", "composed", True),
        ("mul", "bool", "one op", False),
        ("mul", "complex64", "composed", False),
        ("mul", "complex128", "none", False),
        ("where", "complex128", "one op", False),
        ("mse_loss", "float32", "composed", False),
        ("add", "float6_e2m3fn", "none", False),
    ],
)
def test_how_an_op_is_written(name: str, held: str, how: str, is_widened: bool) -> None:
    found = support(name, dtype(held), 26)
    assert (found.how, found.is_widened) == (how, is_widened)
    assert bool(found.why) == (how == "none")


def test_a_later_opset_has_more() -> None:
    assert support("add", dtype("float6_e2m3fn"), 28).how == "one op"


def test_whether_a_runtime_has_kernels() -> None:
    pytest.importorskip("onnxruntime")
    assert support("add", dtype("float32"), 21, asks_runtime=True).has_kernels
    assert not support("add", dtype("complex64"), 26, asks_runtime=True).has_kernels


def test_every_op_that_computes_has_a_row_on_the_page() -> None:
    rows = [line.split("|")[1].strip() for line in PAGE.read_text("utf-8").splitlines()
            if line.startswith("| ")]  # fmt: skip
    assert rows == ["op", *computing_ops()]


def test_the_page_leaves_nothing_out_that_can_be_written() -> None:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    marks = {(row[0], name): mark for row in map(_cells, lines[1:])
             for name, mark in zip(_cells(lines[0])[1:], row[1:], strict=True)}  # fmt: skip
    for name, held in cells():
        how = support(name, held, 28 if held.bits == 6 else 26).how
        assert (how == "none") == (marks[name, short_name(held)] == "-"), (name, held)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_says_what_it_was_written_for() -> None:
    there = versions_of(PAGE.read_text("utf-8"))
    assert there is not None
    here = installed_versions()
    assert here is None or len(here) == len(there)
    assert versions_of("nothing") is None


def test_listed_differences_are_of_cells() -> None:
    known = {(name, held.name) for name, held in cells()}
    assert known >= REFERENCE_DIFFERS.keys() | RUNTIME_DIFFERS.keys()
