"""Names at the shell: either order, other names, lists of what there is, and completion."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest
from click.shell_completion import BashComplete
from ran import Ran

from castwise import dialects, ops
from castwise.cli.main import cli
from castwise.report.answers import answer_line
from processes import finished


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "torch", "int32[3] + 5.5"),
        ("explain", "int32[3] + 5.5", "torch"),
        ("explain", "-d", "torch", "int32[3] + 5.5"),
        ("explain", "int32[3] + 5.5", "--dialect", "pytorch"),
        ("explain", "torch", "int32[3]", "+", "5.5"),  # without quotes
        ("explain", "int32[3]", "+", "5.5", "torch"),
    ],
)
def test_explain_takes_both_in_either_order(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    ran = Ran(capsys, *arguments)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("int32[3] + 5.5 in torch is float32\n")


def test_explain_without_a_dialect_takes_that_of_the_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = Ran(capsys, "explain", "int32[3] + 5.5")
    assert ran.status == 2
    assert "Name one, as in castwise explain numpy 'int32[3] + 5.5', or set `dialect`" in ran.err
    monkeypatch.setattr("castwise.catalog.process_default", [])
    monkeypatch.setenv("CASTWISE_DIALECT", "torch")
    assert Ran(capsys, "explain", "int32[3] + 5.5").out.startswith("int32[3] + 5.5 in torch is")


def test_a_minus_is_no_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert Ran(capsys, "explain", "torch", "-halv[3]").err.startswith(
        "castwise: unknown dtype 'halv'."
    )
    assert Ran(capsys, "explain", "torch", "-dtypes.half[3]").status == 0
    assert Ran(capsys, "explain", "torch", "-(int8[3] + 1)").status == 0


@pytest.mark.parametrize(
    "arguments",
    [("torch", "div"), ("div", "torch"), ("torch", "--op", "div"), ("pytorch", "true_divide")],
)
def test_table_takes_both_in_either_order(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert Ran(capsys, "table", *arguments).out.startswith("row / column in torch\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain"], "Missing argument 'EXPRESSION'."),
        (["explain", "int8[3] + 1", "torhc"], "unknown dialect 'torhc'. Did you mean 'torch'?"),
        (["explain", "-d", "torch", "jax", "int8[3] + 1"], "the dialect is given twice"),
        (
            ["explain", "torch", "--jsn", "int8[3] + 1"],
            "No such option '--jsn'. Did you mean '--json'",
        ),
        (["table", "torch", "plus"], "unknown op 'plus'. Did you mean 'add'?"),
        (["table", "torch", "add", "--op", "add"], "the op is given twice"),
        (["table", "add"], "Name one, as in castwise table numpy add, or set"),
        (["ops", "torch", "--dialect", "jax"], "the dialect is given twice"),
        (["dtypes", "--dialect", "torhc"], "unknown dialect 'torhc'."),
        (["lattice", "torch:strict"], "strict is an option: write torch:strict=True."),
        (["lattice", "torch@banana"], "'torch@banana' names no version"),
    ],
)
def test_a_wrong_name_says_what_to_write(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    ran = Ran(capsys, *arguments)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err


def test_nested_expressions(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "torch", "(int8[3] + int16[3]) * 1.5")
    assert ran.status == 0
    assert ran.out.startswith("(int8[3] + int16[3]) * 1.5 in torch is float32\n\nPart 1: int8[3] +")
    assert "\nPart 2: int16[3] * 1.5\n" in ran.out
    made = json.loads(Ran(capsys, "explain", "torch", "(int8[3] + 1).mean()", "--json").out)
    assert made["question"] == "(int8[3] + 1).mean()"
    assert [inner["operand"] for inner in made["inner"]] == ["int8[3]"]
    assert made["error"]["type"] == "PromotionError"
    made = json.loads(Ran(capsys, "explain", "torch", "(1 + 2) * int8[3]", "--json").out)
    assert made["inner"] == [
        {"question": "1 + 2", "operand": "3", "steps": ["Python computes it, and gets 3."]}
    ]
    assert made["result"] == "int8"


def test_what_fails_is_said_first_and_by_the_status(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "torch", "softmax(int32[3])")
    assert ran.status == 1
    assert ran.out.startswith(
        "softmax(int32[3]) in torch fails to run: it promotes to int32, then has no kernel\n"
    )
    inside = ("explain", "torch", "(bool[3] - bool[3]) * 2")
    ran = Ran(capsys, *inside)
    assert ran.status == 1
    assert ran.out.startswith("(bool[3] - bool[3]) * 2 in torch is refused in part 1\n")
    made = json.loads(Ran(capsys, *inside, "--json").out)
    assert (made["inner"], made["failed"]) == ([], "bool[3] - bool[3]")
    made = json.loads(Ran(capsys, "explain", "torch", "softmax(int32[3]) + 1", "--json").out)
    assert made["failed"] == "softmax(int32[3])"
    assert "result" not in made


def test_the_nearest_version_is_one_line_and_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    nearest = "torch@2.15 (recorded from 2.15.0) answers, the nearest that is."
    said = f"torch@2.99 is not recorded: {nearest}"
    ran = Ran(capsys, "explain", "torch@2.99", "int8[3] + 1", "--json")
    assert (ran.status, ran.err) == (0, f"castwise: {said}\n")
    assert json.loads(ran.out)["notes"] == [said]
    assert Ran(capsys, "explain", "torch@2.13.0", "int8[3] + 1").err == ""


@pytest.mark.filterwarnings("ignore::castwise.errors.NearestVersionWarning")
def test_a_line_of_json_has_it_as_a_note() -> None:
    line = b'{"dialect": "torch@2.99", "op": "+", "args": ["uint16[3]", "uint16[3]"]}'
    notes = json.loads(answer_line(line).text)["notes"]
    assert [note.partition(" ")[0] for note in notes] == ["add", "torch@2.99"]


def test_resolve_tells_a_person_what_it_waits_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    for arguments, example in (
        (["resolve"], '{"dialect": "numpy", "op": "add", "args": ["int32[3]", 5.5]}'),
        (["resolve", "-d", "torch"], '{"op": "add", "args": ["int32[3]", 5.5]}'),
    ):
        monkeypatch.setattr("sys.stdin", Terminal(io.BytesIO(example.encode())))
        ran = Ran(capsys, *arguments)
        assert ran.status == 0
        assert ran.err == (
            f"castwise: waiting for questions, a line of JSON each: {example}. Ctrl-D ends.\n"
        )
        assert '"result"' in ran.out


def test_ops(capsys: pytest.CaptureFixture[str]) -> None:
    text = Ran(capsys, "ops").out
    assert all(f"\n  {name} " in text for name in ops())
    assert all(len(line) <= 80 for line in text.splitlines())
    assert re.search(r"\n  pow +\*\* +2 +all\n", text)
    own = Ran(capsys, "ops", "torch").out
    assert own == Ran(capsys, "ops", "--dialect", "torch").out
    assert re.search(r"\n  div +/ +2 +divide true_divide\n", own)
    assert "\n  div_no_nan" not in own
    made = {row["name"]: row for row in json.loads(Ran(capsys, "ops", "--json").out)}
    assert made["concat"]["operands"] == [1, None]
    assert made["div_no_nan"]["dialects"] == [d for d in dialects() if d.startswith("tensorflow")]
    assert made["mul"]["aliases"]["torch"] == ["multiply"]
    assert made["add"].keys() == {
        "name", "symbol", "family", "operands", "aliases", "dialects",
    }  # fmt: skip


def test_dtypes(capsys: pytest.CaptureFixture[str]) -> None:
    text = Ran(capsys, "dtypes").out
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "\n  float16             f16          16    +-65504  " in text
    made = json.loads(Ran(capsys, "dtypes", "--json", "--dialect", "array-api").out)
    assert [row["name"] for row in made][:2] == ["bool", "int8"]
    assert made[1] == {
        "name": "int8", "short": None, "kind": "int", "bits": 8, "min": -128, "max": 127,
        "dialects": ["array-api"],
    }  # fmt: skip
    by_name = {row["name"]: row for row in json.loads(Ran(capsys, "dtypes", "--json").out)}
    assert by_name["int128"]["dialects"] == ["oneflow", "oneflow:article"]
    assert by_name["int4"]["short"] is None


def completed(*words: str) -> list[str]:
    """What the shell offers after these words, the last of which is not complete."""
    shell = BashComplete(cli, {}, "castwise", "_CASTWISE_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("exp",), ["explain", "explorer"]),
        (("d",), ["dialects", "diff", "doctor", "dtypes"]),
        (("explain", "num"), ["numpy", "numpy@1"]),
        (("explain", "pyt"), ["pytorch"]),
        (("explain", "int32[3] + 5.5", "megengine"), ["megengine", "megengine:mep3"]),
        (("explain", "--dialect", "ml"), ["mlx"]),
        (("table", "key"), []),
        (("table", "ker"), ["keras"]),
        (("table", "torch", "softm"), ["softmax"]),
        (("table", "torch", "--op", "softm"), ["softmax"]),
        (("diff", "torch", "ti"), ["tinygrad"]),
        (("diff", "--op", "softm"), ["softmax"]),
        (("lattice", "ti"), ["tinygrad"]),
        (("verify", "ti"), ["tinygrad"]),
        (("verify", "torch", "--op", "softm"), ["softmax"]),
        (("resolve", "--dialect", "ti"), ["tinygrad"]),
        (("ops", "ti"), ["tinygrad"]),
        (("dtypes", "-d", "ti"), ["tinygrad"]),
        (("port", "--to", "ti"), ["tinygrad"]),
        (("port", "--from", "ti"), ["tinygrad"]),
        (("audit", "--enforce", "ti"), ["tinygrad"]),
    ],
)
def test_the_shell_completes_dialects_and_ops(words: tuple[str, ...], found: list[str]) -> None:
    assert completed(*words) == found


def test_completion_loads_nothing_heavy() -> None:
    code = (
        "import os, sys\n"
        "os.environ.update(_CASTWISE_COMPLETE='bash_complete', COMP_WORDS='castwise table t',"
        " COMP_CWORD='2')\n"
        "from castwise.cli.main import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n"
        "    heavy = {'numpy', 'torch', 'rich', 'castwise.engine.decide', 'castwise.arrays'}\n"
        "    print(sorted(heavy & set(sys.modules)))\n"
    )
    lines = finished([sys.executable, "-c", code], check=True).stdout.splitlines()
    assert "plain,torch" in lines
    assert "plain,trunc" in lines
    assert lines[-1] == "[]"
