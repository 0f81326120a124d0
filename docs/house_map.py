"""The map of the source in docs/how-it-works.md, generated from the folders' docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "castwise"
LAYERS = re.compile(r'name = "imports go one way".*?layers = \[(.*?)\]', re.DOTALL)


def house_map() -> str:
    """Every folder with the first sentence of its docstring, the lowest layer first.

    The order is that of the import contract in pyproject.toml.
    """
    lines = [line for layer in reversed(_layers()) for line in _lines(SOURCE / layer, 0)]
    return "\n".join(["```text", *lines, "```"])


def _layers() -> list[str]:
    """The folders and files directly in castwise, the highest layer first."""
    contract = LAYERS.search((ROOT / "pyproject.toml").read_text("utf-8"))
    assert contract
    return re.findall(r"castwise\.(\w+)", contract[1])


def _lines(place: Path, depth: int) -> Iterator[str]:
    """The line for a folder or file, and for the folders in it."""
    is_folder = place.is_dir()
    file = place / "__init__.py" if is_folder else place.with_suffix(".py")
    name = f"{place.name}/" if is_folder else file.name
    yield f"{'  ' * depth + name:<20} {_first_sentence(file)}"
    for inner in sorted(place.iterdir()) if is_folder else ():
        if (inner / "__init__.py").exists():
            yield from _lines(inner, depth + 1)


def _first_sentence(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    assert text, f"{file} needs a docstring that says what it holds"
    return " ".join(text.partition("\n\n")[0].split())
