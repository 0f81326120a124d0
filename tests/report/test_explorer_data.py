"""The data of the explorer: what is asked, what is told apart, and how it is packed."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from castwise.catalog import dialect_named
from castwise.cli.main import cli
from castwise.engine.decide import decision_steps
from castwise.errors import UsageError
from castwise.report.explorer import build_explorer, packed_chunk, packed_dialect
from castwise.report.explorer.questions import (
    Answers,
    Asked,
    Tables,
    Templates,
    alike,
    array_kinds,
    classes_of,
    every_asked,
    every_value,
    forms_of,
    marked,
    number_kind,
    representatives,
)
from castwise.vocab.dtypes import dtype
from castwise.vocab.notation import parse_operand
from castwise.vocab.operands import array_operand, real_class
from castwise.vocab.ops import op

SMALL = "megengine:mep3"  # the dialect with the fewest dtypes


def of(*names: str) -> list[Asked]:
    return [one for one in every_asked() if one.op.name in names]


def test_ops_with_the_same_rules_are_one_group() -> None:
    groups = alike(dialect_named("numpy"), of("add", "mul"))
    assert [(one.op.name, one.form) for one in groups[0]] == [
        ("add", "operator"),
        ("add", "function"),
        ("mul", "operator"),
        ("mul", "function"),
    ]


def test_ops_with_other_rules_are_apart() -> None:
    # torch subtracts no bools.
    groups = alike(
        dialect_named("torch"), [Asked(op("add"), "operator"), Asked(op("sub"), "operator")]
    )
    assert len(groups) == 2


def test_every_form_of_an_op_is_asked() -> None:
    assert forms_of(op("add")) == ["operator", "function", "augmented", "inplace"]
    assert forms_of(op("exp")) == ["function"]


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_values_are_told_apart_where_a_dtype_ends(name: str) -> None:
    dialect = dialect_named(name)
    asked = [Asked(op("add"), "operator")]
    of_ints = classes_of(dialect, asked)[dtype("uint8")].numbers["int"]
    assert of_ints[real_class(255)] != of_ints[real_class(256)]
    assert of_ints[real_class(300)] == of_ints[real_class(40000)]


def test_a_class_is_represented_by_one_of_its_values() -> None:
    values = every_value("int")
    classes = {place: int(abs(value) > 255) for place, value in values.items()}
    found = representatives("int", classes)
    assert {number: abs(value) > 255 for number, value in found.items()} == {0: False, 1: True}


def test_there_is_a_value_of_every_class() -> None:
    for kind in ("int", "float"):
        assert all(real_class(value) == place for place, value in every_value(kind).items())  # type: ignore[arg-type]


def test_a_sentence_becomes_a_template() -> None:
    templates = Templates((array_operand(dtype("int32"), ("\ue000",)), parse_operand("67")))
    assert templates.of("int32[\ue000] is an array of int32.") == "{role 0}"
    assert templates.of("67 is out of range for int32, not for 255.") == (
        "{1} is out of range for {dtype 0}, not for 255."
    )
    assert (
        templates.of("It casts float16[\ue000] to 67.0.")
        == "It casts float16{size 0} to {float 1}."
    )


def test_a_marked_op_is_the_same_op_in_all_but_sentences() -> None:
    one = marked(op("add"))
    assert (one.name, one.symbol) == ("add", "+")
    assert f"{one.name}{one.symbol}" == "\ue010\ue011"


def test_every_number_has_a_class() -> None:
    near = [sign * 2**power + off for power in range(200) for sign in (1, -1) for off in (-1, 0, 1)]
    assert {real_class(number) for number in [*range(-5000, 5000), *near]} <= set(
        every_value("int")
    )
    halves = [number / 2 for number in range(-5000, 5000)]
    assert {real_class(number) for number in halves} <= set(every_value("float"))


def unpacked(data: bytes) -> tuple[dict[str, Any], list[list[int]], list[int]]:
    """What the page reads: the head, the columns of the answers, and the cells."""
    packed = packed_chunk({"another": b"before it", "this": data, "the same": data})
    assert packed["places"]["this"] == packed["places"]["the same"]
    start, length = packed["places"]["this"]
    whole = zlib.decompress(base64.b64decode(packed["data"]), -zlib.MAX_WBITS)
    raw = whole[start : start + length]
    assert len(whole) == len("before it") + length
    (length,) = struct.unpack_from("<I", raw)
    head, rest = json.loads(raw[4 : 4 + length]), raw[4 + length :]
    end = 2 * head["answers"] * head["columns"]
    columns = [rest[at : at + 2 * head["answers"]] for at in range(0, end, 2 * head["answers"])]
    return head, [numbers(column) for column in columns], numbers(rest[end:])


def numbers(column: bytes) -> list[int]:
    half = len(column) // 2
    return [low | high << 8 for low, high in zip(column[:half], column[half:], strict=True)]


def test_packed_answers_are_those_of_the_engine() -> None:
    dialect = dialect_named(SMALL)
    values, chunks = packed_dialect(dialect)
    head, columns, cells = unpacked(chunks["arithmetic"])
    tells_zero_d, first, *_ = head["groups"][head["ops"]["add"]["operator"]]
    assert tells_zero_d == 1  # scalars are below tensors there, and so are 0-d ones
    left, right = (head["axes"][axis] for axis in first)
    place = left.index("array int32") * len(right) + right.index("array float16")
    said, result, _, compute, written, *casts = [column[cells[place]] for column in columns]
    assert (head["results"][result], head["results"][compute], written) == ("float16",) * 2 + (0,)
    assert head["casts"][casts[0] - 1][:2] == ["int32", "float16"]
    assert set(casts[1:]) == {0}
    steps = [head["sentences"][number] for number in head["steps"][said]]
    assert len(steps) == len(
        decision_steps(
            Asked(op("add"), "operator").question(
                dialect, (parse_operand("int32[3]"), parse_operand("float16[3]"))
            )
        )
    )
    assert values["beside"].keys() == {d.name for d in dialect.dtypes}


def test_tables_leave_out_0d_arrays_where_they_change_nothing() -> None:
    asked = Asked(op("add"), "operator")
    for name, is_told in (("jax", False), ("torch", True)):
        dialect = dialect_named(name)
        assert Tables(dialect, {}).tells_zero_d(asked) is is_told


def test_a_table_has_a_cell_for_every_combination() -> None:
    dialect = dialect_named(SMALL)
    arrays = array_kinds(dialect, op("add"))
    numbers = [number_kind("int", 0, 67)]
    table = Answers(dialect).table(Asked(op("add"), "operator"), [arrays, numbers])
    assert len(table.cells) == len(arrays)


def test_the_explorer_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "explorer"
    done = CliRunner().invoke(
        cli, ["explorer", "-o", str(folder), "-d", SMALL, "--docs", "../a.html"]
    )
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{folder / 'index.html'}: 1 dialects, ")
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert 'href="../a.html"' in page
    scripts = {file.name for file in folder.glob("*.js")}
    assert all(f'src="{name}"' in page for name in scripts)
    facts = json.loads(
        (folder / "data" / "facts.js").read_text("utf-8").partition("= ")[2].rstrip(";\n")
    )
    assert list(facts["dialects"]) == [SMALL]
    assert all((folder / file).exists() for file in facts["chunks"].values())


def test_recorded_answers_are_not_in_it(tmp_path: Path) -> None:
    """Their cells are of single questions, and the page answers for whole classes of them."""
    with pytest.raises(UsageError, match="The explorer has no torch"):
        build_explorer(tmp_path / "page", ["torch@2.8"])
    assert not (tmp_path / "page").exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds other files: name a new folder"):
        build_explorer(tmp_path, [SMALL])
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("")
    with pytest.raises(UsageError, match="is a file: name a folder"):
        build_explorer(tmp_path / "site", [SMALL])
