"""Which way imports go: between rooms and between files, also where a module is named in a text."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import grimp
import pytest

from processes import finished

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


def test_imports_go_one_way() -> None:
    """The contracts of pyproject.toml, by import-linter itself."""
    lint = Path(sys.executable).with_name("lint-imports")
    done = finished([lint, "--no-cache", "--no-logo"], cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Contracts: [1-9]\d* kept, 0 broken", done.stdout)


class TextImport(NamedTuple):
    """A module that a text names. The text ends with a dot where only the folder is known, and is
    None where the source does not tell."""

    module: str  # that imports
    function: str  # in which it does
    text: str | None


IMPORTS = re.compile(r"(.*\.)?(import_module|__import__)")


@functools.cache
def text_imports(source: Path, package: str) -> list[TextImport]:
    """All imports by text in the files of a package."""
    found = []
    for file in sorted((source / package).rglob("*.py")):
        parts = file.relative_to(source).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        text = file.read_text(encoding="utf-8")
        if "import_module" in text or "__import__" in text:
            found += list(_in_file(file, module))
    return found


def _in_file(file: Path, module: str) -> Iterator[TextImport]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    known = {"__name__": module, "__package__": package}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                known[node.targets[0].id] = node.value.value
        elif isinstance(node, ast.ImportFrom):
            known |= {
                f"{alias.asname or alias.name}.__name__": f"{node.module}.{alias.name}"
                for alias in node.names
            }
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and IMPORTS.fullmatch(ast.unparse(node.func)):
            inside = [f.name for f in functions if f.lineno <= node.lineno <= (f.end_lineno or 0)]
            yield TextImport(module, (inside or [""])[-1], _text(node.args[0], known))


def _text(node: ast.expr, known: Mapping[str, str]) -> str | None:
    """A text, or its beginning up to the last dot that the source tells."""
    if not isinstance(node, ast.JoinedStr):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        return str(node.value) if is_text else known.get(ast.unparse(node))
    text = ""
    for part in node.values:
        inner = part.value
        known_part = inner if isinstance(part, ast.Constant) else known.get(ast.unparse(inner))
        if known_part is None:
            return f"{text.rpartition('.')[0]}." if "." in text else None
        text += str(known_part)
    return text


Imports = dict[str, set[str]]  # module -> the modules that it imports


def import_graph(source: Path, package: str) -> Imports:
    """The imports of a package, in functions and by text, too."""
    graph = grimp.build_graph(package, cache_dir=None, exclude_type_checking_imports=True)
    imports = {m: set(graph.find_modules_directly_imported_by(m)) for m in graph.modules}
    imports[package] = set()  # the top stands above all its rooms, and loads what it is asked for
    for module, _, text in text_imports(source, package):
        if text is None or module == package:
            continue
        is_folder = text.endswith(".")
        named = {m for m in graph.modules if m == text or (is_folder and m.startswith(text))}
        imports.setdefault(module, set()).update(named - {module})
    return imports


def in_loops(imports: Imports) -> set[str]:
    """The modules that import each other in a loop, and those on a way between two loops."""
    left: set[str] = set()
    while left != imports.keys():  # what imports nothing that is left, or is imported by nothing
        left = set(imports)
        imported = set().union(*imports.values())
        imports = {
            m: found & left for m, found in imports.items() if found & left and m in imported
        }
    return left


def test_no_two_files_import_each_other_in_a_loop() -> None:
    """Imports inside functions count, and those by text."""
    assert in_loops(import_graph(SOURCE, "castwise")) == set()


def test_a_loop_by_text_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "planted/__init__.py": "",
        "planted/discovery.py": "import importlib\n_PARTS = 'planted.parts'\n"
        "def part(name):\n    return importlib.import_module(f'{_PARTS}.{name}')\n",
        "planted/parts/__init__.py": "",
        "planted/parts/one.py": "from planted.discovery import part\n",
        "planted/parts/two.py": "",
        "planted/user.py": "from planted import discovery\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    found = in_loops(import_graph(tmp_path, "planted"))
    assert found == {"planted.discovery", "planted.parts.one"}


# Texts that only a run tells. None of them names a module of castwise.
UNREAD = {
    "castwise.vocab.spellings": "the module of a framework's dtypes",
    "castwise.conformance.recorders": "the module of a transformation, such as jax.vmap",
}


def test_what_is_imported_by_text_can_be_read() -> None:
    unread = {found.module for found in text_imports(SOURCE, "castwise") if found.text is None}
    assert unread == UNREAD.keys()


def room_levels() -> dict[str, int]:
    """The rooms of pyproject.toml, by how high they stand."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return {
        room: -depth
        for depth, layer in enumerate(layers)
        for room in re.split(r"\s*[|:]\s*", layer)
    }


def rooms_above(found: TextImport, levels: Mapping[str, int]) -> bool:
    """Whether a text names a room above that of the module."""
    room, named = (".".join(m.split(".")[:2]) for m in (found.module, found.text or ""))
    return levels.get(named, -len(levels)) > levels[room]


def test_no_import_by_text_goes_to_a_higher_room() -> None:
    """The top stands above all rooms."""
    levels = room_levels()
    texts = [found for found in text_imports(SOURCE, "castwise") if found.module != "castwise"]
    assert [found for found in texts if rooms_above(found, levels)] == []
    planted = TextImport("castwise.engine.decision", "cast_inputs", "castwise.arrays.calls")
    assert rooms_above(planted, levels)


# What modules know of the rooms above their own; the top of the package sets it.
FROM_ABOVE = {
    "castwise.showing": {"report_text", "report_html"},
    "castwise.engine.decision": {"cast_inputs"},
    "castwise.arrays.operators": {"array_namespace"},
}


def test_who_knows_what_of_higher_rooms() -> None:
    known: dict[str, set[str]] = {}
    for file in sorted((SOURCE / "castwise").rglob("*.py")):
        module = ".".join(file.relative_to(SOURCE).with_suffix("").parts)
        text = file.read_text(encoding="utf-8")
        if "from castwise import above" in text:
            nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Attribute)]
            known[module] = {n.attr for n in nodes if ast.unparse(n.value) == "above"}
    assert known.pop("castwise.__init__") == set().union(*FROM_ABOVE.values())
    assert known == FROM_ABOVE


def test_no_module_imports_the_top() -> None:
    """Some take its version, which stands in a module of its own."""
    graph = grimp.build_graph("castwise", cache_dir=None, exclude_type_checking_imports=True)
    assert graph.find_modules_that_directly_import("castwise") == set()
