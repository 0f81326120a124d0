"""`castwise table`: its cells are the engine's, and each format is what it says."""

from __future__ import annotations

import csv
import importlib
import json
from html import escape
from xml.etree import ElementTree

import pytest

import cells
from castwise.catalog import dialects
from castwise.comparing.table import table
from castwise.engine.ask import resolve
from castwise.engine.decision import Decision, answer_text
from castwise.errors import PromotionError, UsageError
from castwise.report.table import (
    FORMATS,
    hover_text,
    short_name,
    table_csv,
    table_html,
    table_json,
    table_markdown,
    table_png,
    table_svg,
    table_text,
)
from castwise.report.terminal import coloured
from castwise.vocab.dtypes import DTYPES, DType, find_dtype
from castwise.vocab.live import to_dtype
from castwise.vocab.ops import declare_op, ops

SVG = "{http://www.w3.org/2000/svg}"


def answer(op: str, *operands: object, dialect: str) -> str:
    """The decision or the refusal as a line."""
    try:
        return answer_text(resolve(op, *operands, dialect=dialect))
    except PromotionError as refusal:
        return str(refusal)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_short_name_is_notation_or_refused_with_its_reading(dtype: DType) -> None:
    short = short_name(dtype)
    if short in ("i8", "u8"):
        with pytest.raises(UsageError, match=f"'{short}' has two readings: {dtype}, in bits"):
            to_dtype(short)
    else:
        assert find_dtype(short) is dtype


def test_the_text_of_a_small_table() -> None:
    assert str(table("lt", "array-api", columns=["scalars"])) == (
        "row < column in array-api\n"
        "\n"
        "      True     1   1.5    1j\n"
        "bool     -     -     -     -\n"
        "i8       -  bool     -     -\n"
        "u8       -  bool     -     -\n"
        "i16      -  bool     -     -\n"
        "u16      -  bool     -     -\n"
        "i32      -  bool     -     -\n"
        "u32      -  bool     -     -\n"
        "i64      -  bool     -     -\n"
        "u64      -  bool     -     -\n"
        "f32      -  bool  bool  bool\n"
        "f64      -  bool  bool  bool\n"
        "c64      -     -     -     -\n"
        "c128     -     -     -     -\n"
        "\n"
        "- refused"
    )


def test_one_narrow_dtype_stands_for_those_alike() -> None:
    whole = table("add", "jax")
    lines = str(whole).splitlines()
    rows = [line.split()[0] for line in lines if line and line[0] != " "]
    assert "uint4" in rows
    assert "int2" not in rows
    assert (
        "uint4 stands for int4, uint2, int2, uint1', int1' as well; no two of them join." in lines
    )
    assert "e4m3fn stands for e5m2, e4m3fnuz," in lines[-2]
    assert " int2 " not in table_markdown(whole).splitlines()[0]
    for whole_format in (table_csv, table_json):
        assert "int2[3]" in whole_format(whole)


@pytest.mark.parametrize(("op", "rows"), [("exp", "uint4 int4 uint2"), ("abs", "uint4 int4")])
def test_dtypes_that_differ_have_rows_of_their_own(op: str, rows: str) -> None:
    """exp refuses the integers below four bits; abs has int4 and int2 refused, and only them."""
    shown = [line.split()[0] for line in str(table(op, "jax")).splitlines()[3:] if line]
    assert [name for name in shown if "int" in name][: len(rows.split())] == rows.split()


def test_those_that_join_each_other_are_all_shown() -> None:
    """tinygrad's 8-bit floats promote to float16, which a table of only numbers does not show."""
    for columns in (["arrays"], ["scalars"]):
        lines = str(table("add", "tinygrad", columns=columns)).splitlines()
        assert {"e4m3fn", "e5m2", "e4m3fnuz"} <= {line.split()[0] for line in lines if line}


def test_of_one_operand_nothing_is_said_of_joining() -> None:
    assert "uint4 stands for int4 as well." not in str(table("neg", "jax"))
    assert "as well." in str(table("neg", "jax"))
    assert "join" not in str(table("neg", "jax"))


def test_two_alike_are_both_shown() -> None:
    lines = str(table("add", "keras")).splitlines()
    assert {"e4m3fn", "e5m2"} <= {line.split()[0] for line in lines if line}


def test_a_unary_op_has_one_column() -> None:
    lines = str(table("sum", "numpy")).splitlines()
    assert lines[:4] == ["sum(row) in numpy", "", "      result", "bool     i64"]


@pytest.mark.parametrize(
    ("op", "title"),
    [
        ("add", "row + column in torch"),
        ("neg", "-row in torch"),
        ("where", "where(condition, row, column) in torch"),
        ("addcmul", "addcmul(row, column, column) in torch"),
        ("concat", "concat(row, column) in torch"),
        ("torch.arctan2", "atan2(row, column) in torch"),
    ],
)
def test_the_title_says_what_is_asked(op: str, title: str) -> None:
    assert table(op, "torch").title == title


@pytest.mark.parametrize("dialect", dialects())
@pytest.mark.parametrize(
    "op", ["add", "div", "where", "bitwise_not"][:: 1 if cells.takes_all else 2]
)
def test_cells_are_what_resolve_answers(op: str, dialect: str) -> None:
    made = table(op, dialect, columns=["0-d", "scalars"])
    columns = [[right] for group in made.columns for right in group] or [[]]
    condition = ["bool[3]"] if op == "where" else []
    for left, row in zip(made.rows, made.cells, strict=True):
        for right, cell in zip(columns, row, strict=True):
            shown = answer_text(cell) if isinstance(cell, Decision) else str(cell)
            assert shown == answer(op, *condition, left, *right, dialect=dialect)


@pytest.mark.parametrize(("number", "dialect"), [*enumerate(dialects())])
def test_each_table_fits_eighty_columns(number: int, dialect: str) -> None:
    """Without --all-cells those of one op in 53, in each dialect others."""
    for op in ops() if cells.takes_all else ops()[number % 53 :: 53]:
        assert all(len(line) <= 80 for line in str(table(op, dialect)).splitlines())


def test_a_group_of_columns_is_not_broken() -> None:
    blocks = str(table("add", "jax")).split("\n\n")[1:-1]
    assert [block.splitlines()[0].split()[0] for block in blocks] == ["bool", "i64", "True"]


def test_a_declared_op_has_a_table() -> None:
    declare_op("smooth_clip", computes="float", integers_become_float=True)
    cell = table("smooth_clip", "torch").cells[1][1]
    assert isinstance(cell, Decision)
    assert cell.result.name == "float32"


def test_a_kernel_that_is_missing_is_marked() -> None:
    told = str(table("add", "torch"))
    assert "u16'" in told
    assert "- refused, ' promoted, but no kernel runs it" in told.splitlines()


def test_colours_are_by_kind() -> None:
    painted = table_text(table("add", "numpy"), coloured)
    for code, cell in ((35, "bool"), (36, "  i8"), (32, " f16"), (94, " c64")):
        assert f"\x1b[{code}m{cell}\x1b[0m" in painted


def test_names_that_make_no_table() -> None:
    with pytest.raises(UsageError, match="columns are arrays, 0-d, scalars; not 'lists'"):
        table("add", "torch", columns=["lists"])
    with pytest.raises(UsageError, match="sum has no operator"):
        table("sum", "torch", form="operator")
    with pytest.raises(UsageError, match="unknown op 'ad'"):
        table("ad", "torch")


def test_markdown() -> None:
    lines = table_markdown(table("mul", "array-api", columns=["scalars"])).splitlines()
    assert lines[0] == r"| row \* column in array-api | True | 1 | 1.5 | 1j |"
    assert lines[1] == "| --- | ---: | ---: | ---: | ---: |"
    assert lines[3] == "| i8 | - | i8 | - | - |"
    or_ = table_markdown(table("bitwise_or", "numpy", columns=["scalars"]))
    assert or_.startswith(r"| row \| column in numpy |")


def test_csv_has_the_full_names() -> None:
    rows = list(csv.reader(table_csv(table("add", "torch")).splitlines()))
    assert rows[0][:3] == ["row + column in torch", "bool[3]", "uint8[3]"]
    assert rows[2][:3] == ["uint8[3]", "uint8", "uint8"]
    assert len({len(row) for row in rows}) == 1


def test_json_has_whole_answers() -> None:
    made = json.loads(table_json(table("sub", "numpy", columns=["scalars"])))
    assert made["columns"] == ["True", "1", "1.5", "1j"]
    assert made["cells"][0][0]["error"]["type"] == "PromotionError"
    assert made["cells"][1][2]["result"] == "float64"


@pytest.mark.parametrize("op", ["add", "sum"])
def test_the_picture_is_well_formed(op: str) -> None:
    root = ElementTree.fromstring(table_svg(table(op, "torch")))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "bf16" in texts
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for text in root.iter(f"{SVG}text"):
        assert 0 < float(text.attrib["x"]) < width
        assert 0 < float(text.attrib["y"]) < height


def test_a_pointer_over_a_cell_of_the_picture_shows_what_the_page_shows() -> None:
    made = table("add", "torch")
    root = ElementTree.fromstring(table_svg(made))
    cells = [g for g in root.iter(f"{SVG}g") if g.find(f"{SVG}title") is not None]
    words = [g.findtext(f"{SVG}title") for g in cells]
    assert words == [hover_text(cell) for row in made.cells for cell in row]
    assert words[5] == "bool[3] + int64[3] -> int64; bool -> int64 (widens)"
    assert "uint16[3] + uint8[3]" in str(words[6 * 25 + 1])
    page = table_html(made)
    assert all(f'title="{escape(str(word))}"' in page for word in words)


def test_the_page_needs_nothing_else() -> None:
    page = table_html(table("lt", "torch"))
    assert "row &lt; column in torch" in page
    assert "http" not in page
    assert "<script" not in page
    assert 'title="int32[3] &lt; float16[3] -&gt; bool' in page


def test_png_says_what_it_needs() -> None:
    try:
        importlib.import_module("cairosvg")
    except (ImportError, OSError):
        with pytest.raises(UsageError, match="pip install cairosvg"):
            table_png(table("sum", "torch"))
    else:
        assert table_png(table("sum", "torch")).startswith(b"\x89PNG")


def test_every_format_ends_without_a_newline() -> None:
    for name, render in FORMATS.items():
        if name != "png":
            written = render(table("sum", "numpy"))
            assert isinstance(written, str)
            assert written
            assert not written.endswith("\n")
