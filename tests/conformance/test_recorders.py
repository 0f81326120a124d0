"""The recorders: their grid, their files, and a few answers everybody knows."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from castwise.comparing.verify import difference_at
from castwise.conformance.questions import (
    GridQuestion,
    Scope,
    Spec,
    chosen_operands,
    is_about,
    questions,
    read_operand,
)
from castwise.conformance.recorder import Cell, Recorder, ask, cells, count
from castwise.conformance.recorders import find_recorder, frameworks
from cell_files import header, read_cells, write_cells
from cells import FILES, Recorded, recorded
from record import main


def installed(framework: str, mode: str = "") -> Recorder:
    try:
        return find_recorder(framework, mode)
    except ImportError as error:
        pytest.skip(str(error))


@pytest.fixture(params=frameworks())
def recorder(request: pytest.FixtureRequest) -> Recorder:
    return installed(request.param)


def test_every_form_that_is_asked_about_is_recorded(cell_file: Recorded) -> None:
    name, _, mode = cell_file.dialect.partition(":")
    recorder = installed(name.partition("@")[0], mode)
    if recorder.dialect != cell_file.dialect:
        pytest.skip(f"{recorder.dialect} is installed")
    asked = {(each.op, each.form.partition("=")[0]) for each in questions(recorder.scope)}
    recorded = {(group.op, group.form.partition("=")[0]) for group in cell_file.groups}
    assert asked - recorded == set()


def answer(recorder: Recorder, op: str, form: str, *operands: str) -> str | None:
    with recorder.session():
        return ask(recorder, GridQuestion(op, form, operands))


@pytest.mark.parametrize(
    ("notation", "spec"),
    [
        ("int32[3]", Spec("int32", (3,), 1)),
        ("float8_e4m3fn[]", Spec("float8_e4m3fn", (), 1)),
        ("int32*[3]", Spec("int32", (3,), 1, is_weak=True)),
        ("int64=-300[]", Spec("int64", (), -300)),
        ("np.int32[3]", Spec("int32", (3,), 1, is_numpy=True)),
        ("np.complex64(1.5+1j)", Spec("complex64", (), 1.5 + 1j, is_numpy=True, is_scalar=True)),
        ("True", Spec(None, (), True, is_scalar=True)),
        ("1e39j", Spec(None, (), 1e39j, is_scalar=True)),
        ("18446744073709551616", Spec(None, (), 2**64, is_scalar=True)),
    ],
)
def test_notation_is_read(notation: str, spec: Spec) -> None:
    read = read_operand(notation)
    assert read == spec
    assert type(read.value) is type(spec.value)


def test_chosen_values_fit_their_dtype() -> None:
    assert "int8=127[]" in chosen_operands(["int8"])
    assert "int8=128[]" not in chosen_operands(["int8"])
    assert "np.float32(3.4e38)" in chosen_operands(["float32"])
    assert "np.float32(1e39)" not in chosen_operands(["float32"])
    assert "complex64=infj[]" in chosen_operands(["complex64"])


def test_no_question_is_asked_twice(recorder: Recorder) -> None:
    asked = Counter(questions(recorder.scope))
    assert max(asked.values()) == 1
    assert count(recorder) == len(asked)


def test_torch_is_asked_every_op_it_was_recorded_with() -> None:
    torch = installed("torch")
    (file,) = [path for path in FILES if path.name == "torch.tsv.gz"]
    assert set(recorded(file).counts()) == set(torch.scope.forms)


@pytest.mark.parametrize(
    ("op", "form", "operands", "expected"),
    [
        ("add", "operator", "uint8[3];int8[3]", "int16"),
        ("add", "operator", "int32[3];1.5", "float32"),
        ("add", "function", "bool[3];uint16[3]", "!"),
        ("add", "function", "uint16[3];uint16[3]", "no-kernel:uint16"),
        ("add", "operator", "int32[3];18446744073709551616", "!range"),
        ("add", "operator", "int32[3];np.float32[3]", "float64"),
        ("add", "operator", "np.float32[3];int32[3]", "!"),
        ("add", "function", "int32[3];np.float32[3]", None),
        ("add", "inplace", "int32[3];1.5", "!"),
        ("add", "inplace", "int32[];int32[3]", None),
        ("add", "augmented", "int32[3];1.5", "!"),
        ("add", "augmented", "int32[];int32[3]", None),
        ("add", "augmented", "int32[3];np.float32[3]", "float64"),
        ("matmul", "augmented", "float32[3];float32[3]", "float32"),
        ("add", "alpha=1.5", "int32[3];int32[3]", "!"),
        ("add", "out=int32", "int64[3];int64[3]", "int32"),
        ("lt", "operator", "complex64[3];1", "no-kernel:bool"),
        ("maximum", "function", "complex64[3];complex64[3]", "!"),
        ("pow", "operator", "int32[3];-1", "!range"),
        ("where", "function", "bool[3];uint8[3];300", "!range"),
        ("floor_divide", "operator", "uint8[3];256", None),
        ("huber_loss", "function", "float16[3];float64[3]", "float16"),
        ("huber_loss", "function", "int32[3];int32[3]", "no-kernel"),
        ("concat", "function", "int8[3];uint8[3];float16[3]", "float16"),
        ("concat", "function", "int8[];uint8[]", None),
        ("sum", "function", "uint8[3]", "int64"),
        ("can_cast", "function", "float32[3];int32[3]", "!"),
        ("can_cast", "function", "int32[3];float32[3]", "bool"),
    ],
)
def test_torch(op: str, form: str, operands: str, expected: str | None) -> None:
    assert answer(installed("torch"), op, form, *operands.split(";")) == expected


def test_default_dtype_of_torch_is_set_and_restored() -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_default_dtype()
    recorder = installed("torch", "default_float=float64")
    assert recorder.dialect == "torch:default_float=float64"
    assert answer(recorder, "add", "operator", "int32[3]", "1.5") == "float64"
    assert torch.get_default_dtype() == before


@pytest.mark.parametrize(
    ("op", "form", "operands", "numpy_2", "numpy_1"),
    [
        ("add", "function", "int8[3];uint8[3]", "int16", "int16"),
        ("add", "function", "float32[3];float64[]", "float64", "float32"),
        ("add", "operator", "uint8[3];300", "!range", "uint16"),
        ("add", "operator", "float16[3];float64=65000.0[]", "float64", "float32"),
        ("add", "operator", "float32[3];np.float64(1e39)", "float64", "float64"),
        ("floor_divide", "operator", "uint8[3];300", "!range", "int16"),
        ("add", "function", "int8[3];18446744073709551616", "!range", None),
        ("add", "operator", "bfloat16[3];float16[3]", "float32", "float32"),
        ("result_type", "function", "bfloat16[3];float16[3]", "!", "!"),
        ("result_type", "function", "int8[3];uint8[3];float16[3]", "float16", "float16"),
        ("pow", "operator", "float32[];int64[]", "float64", "float32"),
        ("pow", "function", "int64[3];-1", "!range", "!range"),
        ("div", "augmented", "int8[3];int8[3]", "!", "!"),
        ("add", "augmented", "int8[];int8[3]", None, None),
        ("add", "augmented", "np.int8(1);int16[3]", "int16", "int16"),
        ("matmul", "augmented", "float32[3,3];float32[3,3]", "float32", "!"),
        ("add", "out=int8", "int64[3];int64[3]", "int8", "int8"),
        ("floor", "function", "int8[3]", "int8", "float16"),
    ],
)
def test_numpy(op: str, form: str, operands: str, numpy_2: str | None, numpy_1: str | None) -> None:
    recorder = installed("numpy")
    expected = {"numpy": numpy_2, "numpy@1": numpy_1}[recorder.dialect]
    assert answer(recorder, op, form, *operands.split(";")) == expected


@pytest.mark.parametrize(
    ("op", "form", "operands", "expected"),
    [
        ("add", "operator", "int8[3];uint8[3]", "int16"),
        ("add", "operator", "int8[3];float32[3]", "!"),
        ("add", "operator", "int8[3];128", "!range"),
        ("add", "operator", "float32[3];1+1j", "complex64"),
        ("add", "operator", "int8[3];np.int8[3]", "!"),
        ("add", "operator", "np.int8[3];int8[3]", None),
        ("add", "function", "int8[3];np.int8[3]", None),
        ("add", "augmented", "int8[3];int16[3]", "!"),
        ("bitwise_left_shift", "function", "int8[3];-1", "!range"),
        ("sum", "function", "uint8[3]", "uint64"),
        ("can_cast", "function", "int64[3];float64[3]", "!"),
    ],
)
def test_array_api(op: str, form: str, operands: str, expected: str | None) -> None:
    assert answer(installed("array-api"), op, form, *operands.split(";")) == expected


def test_array_api_at_an_older_version_of_the_standard() -> None:
    newest, older = installed("array-api"), installed("array-api", "standard=2023.12")
    assert (newest.versions()["standard"], older.versions()["standard"]) == ("2025.12", "2023.12")
    assert answer(newest, "add", "function", "int8[3]", "1") == "int8"
    assert answer(older, "add", "function", "int8[3]", "1") == "!"
    assert answer(older, "add", "operator", "int8[3]", "1") == "int8"
    with pytest.raises(ValueError, match="Unsupported standard version"):
        find_recorder("array-api", "standard=1999.12")
    with pytest.raises(ValueError, match="array-api has no mode 'x64'"):
        find_recorder("array-api", "x64")


def test_progress_is_told_of_every_question(recorder: Recorder) -> None:
    asked: list[GridQuestion] = []
    answered = list(cells(recorder, ["neg", "can_cast"], asked.append))
    assert len(asked) == count(recorder, ["neg", "can_cast"])
    assert {cell[:3] for cell in answered} <= set(asked)


def test_cells_are_written_and_read(tmp_path: Path) -> None:
    some = [
        Cell("sub", "operator", ("int8[3]", "1"), "int8"),
        Cell("add", "function", ("int8[3]", "np.int8(1)", "nan"), "!range"),
    ]
    write_cells(tmp_path / "new" / "a.tsv.gz", {"dialect": "numpy"}, some)
    write_cells(tmp_path / "b.tsv.gz", {"dialect": "numpy"}, reversed(some))
    assert read_cells(tmp_path / "b.tsv.gz") == ({"dialect": "numpy"}, sorted(some))
    assert (tmp_path / "new" / "a.tsv.gz").read_bytes() == (tmp_path / "b.tsv.gz").read_bytes()


def test_command_line_records(recorder: Recorder, tmp_path: Path) -> None:
    framework = recorder.dialects[0]
    path = tmp_path / "cells.tsv.gz"
    main([framework, "--op", "neg", "-o", str(path)])
    first, recorded = read_cells(path)
    assert first == {**header(recorder), "ops": "neg"}
    assert {cell.op for cell in recorded} == {"neg"}


def test_a_form_of_an_op_is_recorded_into_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cells.tsv.gz"
    first = header(find_recorder("numpy"))
    kept = [Cell("neg", "operator", ("int8[3]",), "int8"), Cell("exp", "function", ("1",), "?")]
    write_cells(path, first, [*kept, Cell("neg", "function", ("int8[3]",), "float64")])
    main(["numpy", "--op", "neg", "--form", "function", "--add", "-o", str(path)])
    after = read_cells(path)[1]
    assert set(kept) <= set(after)
    assert Cell("neg", "function", ("int8[3]",), "int8") in after
    assert {cell.form for cell in after if cell.op == "neg"} == {"function", "operator"}


def test_cells_of_another_patch_release_of_python_are_added_to(tmp_path: Path) -> None:
    path = tmp_path / "cells.tsv.gz"
    first = header(find_recorder("numpy"))
    minor = first["python"].rpartition(".")[0]
    write_cells(path, first | {"python": f"{minor}.99"}, [Cell("exp", "function", ("1",), "?")])
    main(["numpy", "--op", "neg", "--form", "function", "--add", "-o", str(path)])
    after, recorded = read_cells(path)
    assert after == first | {"python": f"{first['python']} {minor}.99"}
    assert {cell.op for cell in recorded} == {"exp", "neg"}


@pytest.mark.parametrize("other", [{"version": "0.1"}, {"python": "3.2.1"}])
def test_cells_of_another_version_are_not_added_to(
    other: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cells.tsv.gz"
    write_cells(path, header(find_recorder("numpy")) | other, [])
    with pytest.raises(SystemExit):
        main(["numpy", "--op", "neg", "--add", "-o", str(path)])
    assert "was recorded from" in capsys.readouterr().err
    assert read_cells(path)[1] == []


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="no recorder for 'caffe'"):
        find_recorder("caffe")
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="default_float=int8"):
        find_recorder("torch", "default_float=int8")


def test_recorded_cells_are_what_is_answered_here(cell_file: Recorded) -> None:
    framework, _, mode = cell_file.dialect.partition(":")
    recorder = installed(framework.partition("@")[0], mode)
    if header(recorder) != cell_file.header:
        pytest.skip("recorded with other versions than are installed")
    with recorder.session():
        for cell in random.Random(0).sample([*cell_file.asked()], 300):
            # C++ leaves an order to the compiler, and so a listed difference to the processor.
            is_listed = difference_at(cell_file.dialect, cell.op, cell.form, cell.operands)
            assert is_listed or ask(recorder, GridQuestion(*cell[:3])) == cell.answer, cell


def test_rare_dtypes_are_asked_with_a_few_others() -> None:
    scope = Scope(
        dtypes=("bool", "int8", "int16"),
        forms={op: ("function",) for op in ("abs", "add", "mul", "where", "concat", "clamp")},
        rare=("int2", "uint2"),
    )
    asked = {op: [q.operands for q in questions(scope) if q.op == op] for op in scope.forms}
    assert ("uint2[]",) in asked["abs"]
    assert ("int2[3]", "uint2[3]") in asked["add"]
    assert ("int16[3]", "int2[3]") in asked["add"]
    assert ("int2[3]", "1.5") in asked["mul"]
    assert ("int16[3]", "int2[3]") not in asked["mul"]  # int8 tells as much
    assert ("bool[3]", "int2[3]", "int8[3]") in asked["where"]
    assert ("int2[3]", "int8[3]") in asked["concat"]
    assert ("int2[3]", "bool[3]", "bool[3]") in asked["clamp"]


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        (("int2[3]", "int8[3]"), True),
        (("1", "np.int2(1)"), True),
        (("int2*[]",), True),
        (("int2",), True),
        (("int2=1[]",), True),
        (("int8[3]", "uint2[3]"), False),
        (("2", "True"), False),
    ],
)
def test_what_is_about_a_dtype(operands: tuple[str, ...], expected: bool) -> None:
    assert is_about(operands, ("int2",)) is expected


def test_a_dtype_can_be_recorded_by_itself(tmp_path: Path) -> None:
    recorder = installed("numpy")
    path = tmp_path / "numpy.tsv.gz"
    main(["numpy", "--op", "neg", "-o", str(path)])
    _, whole = read_cells(path)
    stale = [c._replace(answer="!") if "int8[3]" in c.operands else c for c in whole]
    write_cells(path, header(recorder), stale)
    main(["numpy", "--op", "neg", "--dtype", "int8", "--add", "-o", str(path)])
    assert read_cells(path)[1] == whole
    with pytest.raises(SystemExit):
        main(["numpy", "--values", "--dtype", "int8", "-o", str(path)])


def test_all_ops_but_one_are_asked_about(tmp_path: Path) -> None:
    installed("numpy")
    output = tmp_path / "numpy.tsv.gz"
    limits = ["--form", "augmented", "--dtype", "uint64", "-o", str(output)]
    main(["numpy", "--without", "add", *limits])
    first, found = read_cells(output)
    assert {"sub", "mul"} <= {cell.op for cell in found} <= set(first["ops"].split())
    assert "add" not in first["ops"].split()
    with pytest.raises(SystemExit):
        main(["numpy", "--without", "add", "--op", "sub", *limits])
