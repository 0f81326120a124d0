"""Recordings become layers, each a difference from the next."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from castwise.catalog import dialect_named
from castwise.conformance.recorder import Cell
from cell_files import write_cells
from layers import chained, main, read_recording, recorded_layer


def written(path: Path, version: str, **answers: str) -> Path:
    """A file of answers to `int8[3]` in an op, and to two arrays of uint16 in add."""
    cells = [Cell(op, "function", ("int8[3]",), answer) for op, answer in answers.items()]
    write_cells(path, {"dialect": "numpy", "framework": "numpy", "version": version}, cells)
    return path


def test_a_release_is_stored_as_its_difference_from_the_next(tmp_path: Path) -> None:
    rules = written(
        tmp_path / "cells" / "numpy.tsv.gz", "2.4.6", abs="int8", sign="int8", exp="float16"
    )
    assert rules.exists()
    written(tmp_path / "numpy@2.3.tsv.gz", "2.3.5", abs="int8", sign="!", exp="float16")
    written(tmp_path / "numpy@2.2.tsv.gz", "2.2.6", abs="int16", sign="!", exp="float16")
    written(tmp_path / "numpy@2.5.tsv.gz", "2.5.0", abs="int8", sign="int8", exp="no-kernel")
    output = tmp_path / "layers"
    output.mkdir()
    main([str(tmp_path), "--cells", str(tmp_path / "cells"), "-o", str(output)])
    rows = (output / "index.tsv").read_text().splitlines()[1:]
    assert [row.split("\t")[:4] for row in rows] == [
        ["numpy@2.3", "numpy", "2.3.5", "1"],
        ["numpy@2.2", "numpy@2.3", "2.2.6", "1"],
        ["numpy@2.5", "numpy", "2.5.0", "1"],
    ]
    text = gzip.decompress((output / "numpy@2.2.tsv.gz").read_bytes()).decode()
    assert text == "abs\tfunction\tint8[3]\tint16\tint8\n"


def test_what_lies_between_is_taken_from_the_layers(tmp_path: Path) -> None:
    """So that one release can be recorded again without those nearer to the rules."""
    cells, output = tmp_path / "cells", tmp_path / "layers"
    output.mkdir()
    written(cells / "numpy.tsv.gz", "2.4.6", abs="int8", sign="int8", exp="float16", square="int8")
    written(tmp_path / "all" / "numpy@2.3.tsv.gz", "2.3.5", abs="int16", sign="!", exp="float16")
    written(tmp_path / "all" / "numpy@2.2.tsv.gz", "2.2.6", abs="int16", sign="!", exp="float32")
    main([str(tmp_path / "all"), "--cells", str(cells), "-o", str(output)])
    before = {path.name: path.read_bytes() for path in output.iterdir()}

    shutil.copytree(tmp_path / "all", tmp_path / "one", ignore=lambda *_: ["numpy@2.3.tsv.gz"])
    main([str(tmp_path / "one"), "--cells", str(cells), "-o", str(output)])
    assert {path.name: path.read_bytes() for path in output.iterdir()} == before


def test_what_lies_over_a_recorded_release_is_recorded_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells, output = tmp_path / "cells", tmp_path / "layers"
    output.mkdir()
    written(cells / "numpy.tsv.gz", "2.4.6", abs="int8")
    newer = written(tmp_path / "all" / "numpy@2.3.tsv.gz", "2.3.5", abs="int16")
    older = written(newer.with_name("numpy@2.2.tsv.gz"), "2.2.6", abs="int8")
    arguments = [str(newer.parent), "--cells", str(cells), "-o", str(output)]
    main(arguments)
    older.unlink()
    with pytest.raises(SystemExit):
        main(arguments)
    assert "numpy@2.2 lies over numpy@2.3: record it, too." in capsys.readouterr().err


def test_versions_of_a_standard_are_in_order_whatever_implements_them(tmp_path: Path) -> None:
    made = []
    for standard in ("2023.12", "2024.12", "2025.12"):
        header = {"framework": "array-api-strict", "version": "2.6.1", "standard": standard}
        path = tmp_path / standard
        write_cells(path, header, [Cell("abs", "function", ("int8[3]",), "int8")])
        made.append(read_recording(standard, path))
    pairs = list(chained(made[2], made[:2]))
    assert [(a.name, b.name) for a, b in pairs] == [("2024.12", "2025.12"), ("2023.12", "2024.12")]
    layer, _ = recorded_layer(*pairs[0], dialect_named("array-api"))
    assert (layer.recorded, layer.source) == (
        "2024.12",
        "array-api-strict 2.6.1, standard 2024.12",
    )


def test_the_chain_goes_both_ways_from_the_rules(tmp_path: Path) -> None:
    made = {
        version: read_recording(version, written(tmp_path / version, version, abs="int8"))
        for version in ("1.9.1", "1.10.0", "2.0.0", "2.1.0")
    }
    others = [recording for version, recording in made.items() if version != "2.0.0"]
    pairs = [(a.name, b.name) for a, b in chained(made["2.0.0"], others)]
    assert pairs == [("1.10.0", "2.0.0"), ("1.9.1", "1.10.0"), ("2.1.0", "2.0.0")]


def test_where_a_release_gave_no_answer_the_one_below_it_counts(tmp_path: Path) -> None:
    new, middle, old = (
        read_recording(name, written(tmp_path / name, name, **answers))
        for name, answers in {
            "2.4.0": {"abs": "int8", "sign": "int8", "square": "int8"},
            "2.3.0": {"abs": "int16"},
            "2.2.0": {"abs": "int8", "sign": "int8", "square": "int16"},
        }.items()
    )
    layers = [
        recorded_layer(*pair, dialect_named("numpy"))[1] for pair in chained(new, [middle, old])
    ]
    told = [[(cell.op, cell.answer, cell.below) for cell in cells] for cells in layers]
    assert told == [
        [("abs", "int16", "int8")],
        [("abs", "int8", "int16"), ("square", "int16", "")],
    ]


def test_what_a_release_lacks_is_no_difference(tmp_path: Path) -> None:
    def recording(name: str, cells: list[Cell]) -> Path:
        write_cells(tmp_path / name, {"framework": "numpy", "version": "2.0.0"}, cells)
        return tmp_path / name

    every = [Cell("abs", "function", (f"{d}[3]",), d) for d in ("int8", "uint16")]
    every += [Cell(op, "function", ("int8[3]",), "int8") for op in ("sign", "square")]
    # An array of NumPy's is no array of the framework that is asked.
    every.append(Cell("add", "function", ("int8[3]", "np.uint16[3]"), "int32"))
    old = [cell for cell in every if "uint16[3]" not in cell.operands and cell.op != "square"]
    below, found = (
        read_recording(name, recording(name, cells)) for name, cells in (("b", every), ("a", old))
    )
    layer, cells = recorded_layer(found, below, dialect_named("numpy"))
    assert (layer.lacks, layer.has, cells) == ("uint16 square", "", [])


def test_a_dtype_that_was_not_asked_about_is_not_lacking(tmp_path: Path) -> None:
    header = {"framework": "numpy", "version": "1.0"}
    every = [Cell("abs", "function", (f"{d}[3]",), d) for d in ("int8", "bfloat16")]
    write_cells(tmp_path / "below", header, every)
    write_cells(tmp_path / "found", {**header, "unasked": "bfloat16"}, every[:1])
    below, found = (read_recording(name, tmp_path / name) for name in ("below", "found"))
    assert recorded_layer(found, below, dialect_named("numpy"))[0].lacks == ""


def test_an_op_that_was_not_asked_about_is_not_lacking(tmp_path: Path) -> None:
    answers = {"abs": "int8", "sign": "int8", "exp": "float16", "sqrt": "float16"}
    below = read_recording("b", written(tmp_path / "b", "2.4.0", **answers))
    header = {"framework": "numpy", "version": "2.3.0", "ops": "abs sign exp"}
    cells = [Cell(op, "function", ("int8[3]",), "int8") for op in ("abs", "sign")]
    write_cells(tmp_path / "a", header, cells)
    layer, _ = recorded_layer(read_recording("a", tmp_path / "a"), below, dialect_named("numpy"))
    assert (layer.lacks, layer.source) == ("exp", "numpy 2.3.0 (2 ops)")


def test_a_dtype_that_a_release_added_is_told(tmp_path: Path) -> None:
    header = {"framework": "numpy", "version": "2.0.0"}
    every = [Cell("abs", "function", (f"{d}[3]",), d) for d in ("int8", "int4")]
    write_cells(tmp_path / "new", header, every)
    write_cells(tmp_path / "old", header, every[:1])
    new, old = (read_recording(name, tmp_path / name) for name in ("new", "old"))
    layer, cells = recorded_layer(new, old, dialect_named("numpy"))
    assert (layer.lacks, layer.has, len(cells)) == ("", "int4", 1)


def test_what_a_transformation_changes_becomes_a_layer(tmp_path: Path) -> None:
    changed = [
        {
            "op": "add",
            "form": "operator",
            "operands": ["int8[3]", "1"],
            "framework": "int8",
            "through": "int16",
        },
        {
            "op": "sub",
            "form": "operator",
            "operands": ["int8[3]", "1"],
            "framework": "int8",
            "through": "fails:KeyError",
        },
        {  # a Python number, say, which has no dtype
            "op": "mul",
            "form": "operator",
            "operands": ["int8[3]", "1"],
            "framework": "int8",
            "through": "fails",
        },
    ]
    content = {
        "framework": "numpy",
        "through": "mine",
        "installed": {"version": "2.4.6"},
        "differences": changed,
    }
    (tmp_path / "found.json").write_text(json.dumps(content))
    main(["--through", "numpy:mine", "numpy", str(tmp_path / "found.json"), "-o", str(tmp_path)])
    text = gzip.decompress((tmp_path / "numpy-mine.tsv.gz").read_bytes()).decode()
    assert text.splitlines() == [
        "add\toperator\tint8[3];1\tint16\tint8",
        "sub\toperator\tint8[3];1\t!\tint8",
    ]
    assert "numpy 2.4.6 through mine" in (tmp_path / "index.tsv").read_text()


@pytest.mark.parametrize("words", [[], ["--mode", "a", "b"]])
def test_without_files_nothing_is_written(words: list[str], tmp_path: Path) -> None:
    if words:
        with pytest.raises(SystemExit):
            main(words)
    else:
        main(["-o", str(tmp_path)])
        assert list(tmp_path.iterdir()) == []
