"""`castwise config`, and the settings that commands take when they are not told."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import click
import pytest

from castwise.cli.audit import audit, port
from castwise.cli.main import main
from castwise.settings import FLAG, KEYS, TEXTS

OF_ONE_RUN = {"write-baseline", "no-config", "fix", "diff"}  # these make no sense as defaults


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that works in a directory below its file."""
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.delenv("CASTWISE_DIALECT", raising=False)
    return tmp_path


def configure(project: Path, text: str) -> Path:
    file = project / "pyproject.toml"
    file.write_text(f"[tool.castwise]\n{text}\n", encoding="utf-8")
    return file


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    out, err = capsys.readouterr()
    return exit_.value.code, out + err


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    status, said = ran(capsys, "config", "--json")
    assert status == 0, said
    return dict(json.loads(said))


def test_the_keys_are_the_options_of_the_commands_that_have_them() -> None:
    options = {
        name.removeprefix("--"): option
        for option in audit.params
        if isinstance(option, click.Option)
        for name in option.opts
        if name.startswith("--")
    }
    assert {key.name for key in KEYS.values() if "audit" in key.commands} == (
        options.keys() - OF_ONE_RUN
    )
    for key in KEYS.values():
        if "audit" in key.commands:
            assert options[key.name].is_flag == (key.takes == FLAG), key.name
            assert options[key.name].multiple == (key.takes == TEXTS), key.name
    of_port = {name for option in port.params for name in option.opts}
    assert {f"--{key.name}" for key in KEYS.values() if "port" in key.commands} <= of_port


def test_a_value_is_shown_with_where_it_comes_from(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = configure(project, 'dialect = "torch"\nfail-on = "wraps"\nbaseline = "known.json"')
    found = shown(capsys)
    keys = found["keys"]
    assert isinstance(keys, dict)
    assert (found["file"], keys.keys()) == (str(file), KEYS.keys())
    known = str(project / "known.json")
    assert (keys["baseline"]["value"], keys["baseline"]["source"]) == (known, "file")
    assert (keys["fail-on"]["value"], keys["fail-on"]["source"]) == (["wraps"], "file")
    assert (keys["target"]["value"], keys["target"]["source"]) == (None, "default")
    monkeypatch.setenv("CASTWISE_DIALECT", "jax")
    status, said = ran(capsys, "config")
    assert status == 0
    assert said.startswith(f"Settings: [tool.castwise] in {file}\n")
    assert "dialect   jax " in said
    assert "from CASTWISE_DIALECT\n" in said
    assert "  target        -       what the program is meant to compute in\n" in said


def test_without_a_file_it_says_where_it_looked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = shown(capsys)
    assert found["file"] is None
    looked_in = found["looked_in"]
    assert isinstance(looked_in, list)
    assert looked_in[:2] == [str(project / "below"), str(project)]
    assert "No settings: no pyproject.toml in" in ran(capsys, "config")[1]


def test_the_dialect_of_the_settings_answers_where_none_is_named(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolved() -> str:
        question = b'{"op": "add", "args": ["int32[3]", 5.5]}\n'
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(question)))
        return ran(capsys, "resolve")[1]

    assert '"UsageError"' in resolved()
    assert "Missing argument 'DIALECT'. Name one" in ran(capsys, "explain", "int32[3] + 5.5")[1]
    configure(project, 'dialect = "torch"\nhtml = "r.html"')  # html is for another command
    assert '"result": "float32"' in resolved()
    assert "in torch is float32" in ran(capsys, "explain", "int32[3] + 5.5")[1]
    assert "in numpy is float64" in ran(capsys, "explain", "numpy", "int32[3] + 5.5")[1]
    assert "in torch\n" in ran(capsys, "table")[1]
    assert "Missing argument 'EXPRESSION'" in ran(capsys, "explain", "torch")[1]
    monkeypatch.setenv("CASTWISE_DIALECT", "numpy")
    assert '"result": "float64"' in resolved()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('dialekt = "torch"', "has no key 'dialekt'. Did you mean 'dialect'?"),
        ('dialect = "torhc"', "dialect: unknown dialect 'torhc'. Did you mean 'torch'?"),
        ("dialect = 2", "dialect takes a text, not 2."),
        ("deep = 'yes'", "deep takes true or false, not 'yes'."),
    ],
)
def test_an_error_names_the_file(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    file = configure(project, text)
    for command in ("config", "lattice"):
        status, said = ran(capsys, command)
        assert status == 2
        assert said.startswith(f"castwise: {file}: ")
        assert says in said
    assert ran(capsys, "explain", "torch", "int32[3] + 5.5")[0] == 0  # it needs no setting


def test_a_dialect_of_a_file_is_found_from_the_project(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "mine.toml").write_text('name = "mine"\nbase = "torch"\n', encoding="utf-8")
    configure(project, 'dialect = "mine.toml"')
    assert "in mine is float32" in ran(capsys, "explain", "int32[3] + 5.5")[1]


def test_python_does_not_read_the_file(project: Path) -> None:
    import castwise

    configure(project, 'dialect = "torch"')
    assert castwise.current().name == "numpy"
