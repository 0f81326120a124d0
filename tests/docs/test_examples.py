"""Examples of the documentation that are no sessions: Python without `>>>`, and commands.

Sessions and their output are run by pytest and docs/refresh.py.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import castwise as cw
from castwise.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LIBRARIES = ("torch", "jax", "dask", "cupy", "onnx", "onnxruntime")
# What the text around an example has said, by page: names that its code uses.
GIVEN: dict[str, dict[str, Any]] = {
    "enforce.md": {
        "weights": np.ones(3, "float32"),
        "gradient": np.ones(3, "float32"),
    },
    "export-to-onnx.md": {
        "graph": cw.trace(lambda x: x * 2, "float32[3]"),
    },
}
# Large arrays, made small; a device and a compiler that not every machine has.
ELSEWHERE = {
    "20_000": "20",
    "20000": "20",
    "4_000": "4",
    '"cuda"': '"cpu"',
    "compile(fullgraph=True)": 'compile(fullgraph=True, backend="eager")',
}


def blocks(page: Path, language: str) -> list[str]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [code for name, code in found if name == language and ">>> " not in code]


def python(text: str) -> str:
    """The code of a text that is no session."""
    found = [code for name, code in BLOCK.findall(text) if name == "python"]
    return "\n".join(code for code in found if ">>> " not in code)


def libraries(code: str) -> list[str]:
    return [name for name in LIBRARIES if re.search(rf"\b{name}\b|\.to_{name}\(", code)]


def parts(page: Path) -> Iterator[tuple[str, str]]:
    """The code of a page, or of each of its parts where these use different libraries."""
    text = page.read_text(encoding="utf-8")
    several = len(libraries(python(text))) > 2
    for part in re.split(r"^## ", text, flags=re.MULTILINE) if several else [text]:
        if code := python(part):
            yield part.partition("\n")[0], code


EXAMPLES = [
    pytest.param(page, code, id=f"{page.stem}: {heading}")
    for page in PAGES
    for heading, code in parts(page)
]


@pytest.mark.parametrize(("page", "code"), EXAMPLES)
def test_an_example_runs_and_prints_what_it_says(
    page: Path, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = libraries(code)
    for name in needed:
        if not find_spec(name):
            pytest.skip(f"{name} is not installed")
    monkeypatch.chdir(tmp_path)
    for there, here in ELSEWHERE.items():
        code = code.replace(there, here)
    names = {"cw": cw, "np": np, **GIVEN.get(page.name, {})}
    names |= {name: import_module(name) for name in needed if name in ("torch", "jax")}
    file = tmp_path / "example.py"  # where castwise reads a function's source
    file.write_text(code, encoding="utf-8")
    with redirect_stdout(StringIO()):
        run(file, names)


def run(file: Path, names: dict[str, Any]) -> None:
    """Runs statements; a comment after a value that could be how it prints must be that."""
    code = file.read_text(encoding="utf-8")
    for statement in ast.parse(code).body:
        said = code.splitlines()[(statement.end_lineno or 0) - 1].partition("  # ")[2]
        if isinstance(statement, ast.Expr) and re.fullmatch(r"True|Tensor\(.*\)|float16", said):
            value = ast.Expression(statement.value)
            assert repr(eval(compile(value, str(file), "eval"), names)) == said
        else:
            exec(compile(ast.Module([statement], []), str(file), "exec"), names)


COMMANDS = [
    pytest.param(line, id=f"{page.stem}: {line[:60]}")
    for page in PAGES
    for code in blocks(page, "sh")
    for line in code.splitlines()
    if line.startswith("castwise ")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_has_the_options_that_it_is_given(line: str) -> None:
    """It is not run: it names programs that nobody has."""
    words = shlex.split(line, comments=True)[1:]
    words = words[: next((at for at, word in enumerate(words) if word in "<>|"), len(words))]
    group = cli.make_context("castwise", words)
    name, command, rest = cli.resolve_command(group, [*group._protected_args, *group.args])
    assert command is not None
    try:
        command.make_context(name, rest, parent=group).close()
    except click.BadParameter as error:
        if "does not exist" not in str(error):  # a program that nobody has
            raise
