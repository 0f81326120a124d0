"""Updates the printed output in README.md and docs/, and the pages that are generated.

python docs/refresh.py           writes what the examples print now
python docs/refresh.py --check   exits with 1 if something would change

Two kinds of examples are run: Python after `>>>`, and commands after `$` in ```console blocks.
The pages in docs/dialects/ are generated from the dialects, those in docs/history/ from the
recorded releases, docs/evidence/onnx-support.md by trying what can be exported. That page is valid
for the versions it names. If other versions are installed, or none, it is left unchanged unless you
request it: `python docs/refresh.py onnx`.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

from house_map import house_map

from castwise.catalog import dialect_named, dialects, layers
from castwise.comparing.diff import distances
from castwise.comparing.table import lattice
from castwise.report.diff import distances_svg
from castwise.report.lattice import lattice_svg

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from pages import (  # noqa: E402 -- beside what only we run
    dialect_page,
    history_index,
    history_page,
    index_page,
    installed_versions,
    onnx_page,
    page_name,
    value_tables,
    versions_of,
)

DIALECTS = ROOT / "docs" / "dialects"
HISTORY = ROOT / "docs" / "history"
ONNX = ROOT / "docs" / "evidence" / "onnx-support.md"
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if page.parent not in (DIALECTS, HISTORY) and page != ONNX
]
CONSOLE = re.compile(r"```console\n(.*?)\n```", re.DOTALL)
TABLES = re.compile(
    "(<!-- value rules -->\n).*(<!-- end -->)", re.DOTALL
)  # in docs/reference/values.md
MAP = re.compile("(<!-- map -->\n).*(<!-- end of map -->)", re.DOTALL)  # in docs/how-it-works.md
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)", re.MULTILINE)  # a backslash continues it


def refreshed(text: str) -> str:
    """The page with what its examples print now."""
    names: dict[str, Any] = {"__name__": "__main__"}  # shared by a page's examples, as in pytest
    text = CONSOLE.sub(_console_block, text)
    text = TABLES.sub(lambda found: f"{found[1]}\n{_value_tables()}\n{found[2]}", text)
    text = MAP.sub(lambda found: f"{found[1]}\n{house_map()}\n\n{found[2]}", text)
    parts = doctest.DocTestParser().parse(text)
    return "".join(p if isinstance(p, str) else _python_example(p, names) for p in parts)


def _value_tables() -> str:
    return value_tables([dialect_named(name) for name in (*dialects(), *layers())])


def _console_block(block: re.Match[str]) -> str:
    printed = [f"$ {command}\n{_shell_output(command)}" for command in COMMAND.findall(block[1])]
    return "\n".join(["```console", *printed, "```"])


def _shell_output(command: str) -> str:
    here = Path(sys.executable).parent  # where the castwise of this environment is
    environment = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", f"{{ {command}\n}} 2>&1"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.rstrip()


def _python_example(example: doctest.Example, names: dict[str, Any]) -> str:
    first, *more = example.source.splitlines()
    code = "\n".join([f">>> {first}", *(f"... {line}".rstrip() for line in more)])
    printed = _python_output(example.source, names).rstrip("\n").splitlines()
    lines = [line if line.strip() else "<BLANKLINE>" for line in printed]
    return "\n".join([code, *lines]) + "\n"


def _python_output(source: str, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    shown, sys.displayhook = sys.displayhook, _show
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, "<example>", "single"), names)
    except Exception as error:  # an example that raises prints its traceback
        last = traceback.format_exception_only(error)
        return "".join(["Traceback (most recent call last):\n    ...\n", *last])
    finally:
        sys.displayhook = shown
    return printed.getvalue()


def _show(value: object) -> None:
    if value is not None:
        print(repr(value))


def dialect_files() -> dict[Path, str]:
    """The files of docs/dialects/: a page and a picture of each, an index, the distances."""
    every = [dialect_named(name) for name in dialects()]
    files = {
        "README.md": index_page(every),
        "distances.svg": distances_svg(distances(every)) + "\n",
    }
    for dialect in every:
        files[f"{page_name(dialect)}.md"] = dialect_page(dialect)
        files[f"{page_name(dialect)}.svg"] = lattice_svg(lattice(dialect)) + "\n"
    return {DIALECTS / name: text for name, text in files.items()}


def history_files() -> dict[Path, str]:
    """The files of docs/history/: what the releases of each framework changed, and an index."""
    frameworks = sorted({layer.framework for layer in layers().values() if layer.version})
    files = {f"{name}.md": history_page(name) for name in frameworks}
    files["README.md"] = history_index(frameworks)
    return {HISTORY / name: text for name, text in files.items()}


def onnx_files(is_requested: bool) -> dict[Path, str]:
    """docs/evidence/onnx-support.md, if the versions it was written for are installed."""
    here, there = (
        installed_versions(),
        versions_of(ONNX.read_text("utf-8")) if ONNX.exists() else (),
    )
    if here and (is_requested or here == there):
        return {ONNX: onnx_page()}
    print(
        f"{ONNX.relative_to(ROOT)}: left unchanged, as it is about {there}, and {here} is installed"
    )
    return {}


def main(arguments: list[str]) -> int:
    """Writes the files that changed, or only names them; 1 if a check found some."""
    is_check = "--check" in arguments
    wanted = dialect_files() | history_files()
    wanted |= {page: refreshed(page.read_text("utf-8")) for page in PAGES}
    wanted |= onnx_files("onnx" in arguments)
    generated = (*DIALECTS.glob("*"), *HISTORY.glob("*"))
    gone = [file for file in generated if file not in wanted]
    stale = [
        file
        for file, text in wanted.items()
        if not file.exists() or file.read_text("utf-8") != text
    ]
    for file in (*stale, *gone):
        print(f"{file.relative_to(ROOT)}: {'stale' if is_check else 'refreshed'}")
    if not is_check:
        DIALECTS.mkdir(exist_ok=True)
        HISTORY.mkdir(exist_ok=True)
        for file in stale:
            file.write_text(wanted[file], "utf-8")
        for file in gone:
            file.unlink()
    return int(is_check and bool(stale or gone))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
