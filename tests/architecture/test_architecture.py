"""The shape of the source: what an import loads, the names, and where frameworks are named."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loops import each
from processes import finished

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "castwise"
FILES = sorted(SOURCE.rglob("*.py"))
TESTS = [file for file in sorted((ROOT / "tests").rglob("*.py")) if file.stem != "processes"]
FRAMEWORKS = [
    "torch", "numpy", "jax", "tensorflow", "paddle", "oneflow", "megengine", "keras", "mlx",
    "tinygrad", "mindspore", "dask", "cupy",
]  # fmt: skip
# The files of arrays/ that register tensors with a library, which they import.
REGISTERING = ("torch_compiled", "jax_pytrees", "dask_collections")


def place(file: Path) -> str:
    return file.relative_to(SOURCE).as_posix()


@functools.cache
def parsed(file: Path) -> ast.Module:
    """A file, which several tests look at."""
    return ast.parse(file.read_text(encoding="utf-8"))


def run(code: str) -> str:
    done = finished([sys.executable, "-c", code], check=True)
    return done.stdout.strip()


def test_the_source_is_found() -> None:
    assert {"__init__.py", "engine/decide.py", "vocab/dtypes.py"} <= {place(f) for f in FILES}


HEAVY = ["numpy", "ml_dtypes", "torch", "jax", "dask", "click", "rich", "array_api_strict"]


def loaded_by(statement: str) -> str:
    return run(f"import sys; {statement}; print(sorted(set({HEAVY}) & set(sys.modules)))")


def test_importing_castwise_loads_no_framework() -> None:
    assert loaded_by("import castwise") == "[]"


def test_importing_castwise_loads_none_of_its_rooms() -> None:
    code = "import castwise, sys; print([m for m in sys.modules if m.startswith('castwise.')])"
    assert run(code) == "['castwise.above']"


def test_explaining_loads_no_audit_and_reads_no_traceback() -> None:
    code = (
        "import sys; from castwise.cli.main import main\n"
        "sys.argv[1:] = ['explain', 'torch', '1 + 2']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = ['castwise.auditing', 'castwise.engine.tracebacks', 'multiprocessing', 'rich']\n"
        "print([module for module in heavy if module in sys.modules])"
    )
    assert run(code).splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "statement",
    [
        "import castwise; castwise.resolve('add', 'int32[3]', 5.5, dialect='torch')",
        "import castwise; castwise.explain('np.int8[3] + 5', dialect='array-api')",
        "import castwise; castwise.promote_types('torch.half', 'bf16', dialect='torch')",
        "import castwise; [getattr(castwise, name) for name in dir(castwise)]",
    ],
)
def test_answering_from_notation_loads_no_framework(statement: str) -> None:
    assert loaded_by(statement) == "[]"


def test_no_module_loads_a_framework_when_it_is_imported() -> None:
    frameworks = [name for name in HEAVY if name not in ("click", "rich")]
    code = (
        "import importlib, pkgutil, sys, castwise\n"
        "heavy = ('.backends.', '.kernels.llvm', '.kernels.processor', '.kernels.triton',"
        f" *{REGISTERING})\n"
        "for found in pkgutil.walk_packages(castwise.__path__, 'castwise.'):\n"
        "    is_heavy = found.name.endswith('__main__') or any(p in found.name for p in heavy)\n"
        "    if not is_heavy:\n"
        "        importlib.import_module(found.name)\n"
        f"print(sorted(set({frameworks}) & set(sys.modules)))"
    )
    assert run(code) == "[]"


def names_that_are_modules(load: str) -> str:
    """The public names that are a module once others are loaded."""
    return run(
        "import importlib, pkgutil, types, castwise\n"
        f"{load}\n"
        "names = [*castwise.__all__, 'audit', 'compare', 'tune']\n"
        "modules = [n for n in names if isinstance(getattr(castwise, n, None), types.ModuleType)]\n"
        "get = castwise.__getattr__\n"
        "others = [n for n in castwise._NAMES if getattr(castwise, n) is not get(n)]\n"
        "print(modules, others)"
    )


def test_no_room_bears_a_public_name() -> None:
    """castwise.table must stay a function after castwise.report.table was imported."""
    everything = (
        "for found in pkgutil.walk_packages(castwise.__path__, 'castwise.'):\n"
        "    if not found.name.endswith('__main__'):\n"
        "        try:\n"
        "            importlib.import_module(found.name)\n"
        "        except ImportError as error:\n"
        "            assert not (error.name or '').startswith('castwise')"
    )
    assert names_that_are_modules(everything) == "['array_api'] []"


def test_a_room_that_bears_a_public_name_is_found() -> None:
    planted = "castwise.tune = castwise.table = types.ModuleType('castwise.tune')"
    assert names_that_are_modules(planted) == "['table', 'array_api', 'tune'] ['table']"


def test_no_module_is_a_drawer_for_everything() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "base", "misc"}
    names = {file.stem for file in FILES} | {file.parent.name for file in FILES}
    assert names & drawers == set()


def may_name_frameworks(file: Path) -> bool:
    name = place(file)
    return (
        name.startswith("frameworks/")
        or name in ("vocab/live.py", "vocab/spellings.py")
        or name in [f"arrays/{stem}.py" for stem in REGISTERING]
        or name.startswith("conformance/recorders/")
        or name.startswith(("auditing/hooks/", "auditing/patches/", "arrays/backends/"))
    )


# NumPy is also a role of the vocabulary: a NumPy array, 0-d array or scalar in an op of another
# framework. Identifiers such as is_numpy and NUMPY_SCALAR, and sentences, mean that role.
ROLE_IN_CODE = re.compile(r"_?(is_|to_)?numpy(_[a-z_]+)?|_?NUMPY_[A-Z_]+|NumPyOperands(Plan)?")
ROLE_IN_TEXT = re.compile(r"NumPy (0-d )?(array|scalar)s?|^numpy\.[a-z_]+$")  # and a rule's field
# file -> the strings in it that name a framework, and why
ALLOWED = {
    "vocab/operands.py": {"is_numpy"},  # the name of a field
    "vocab/notation.py": {"numpy."},  # how the np. mark of the role is written in full
    "catalog/toml.py": {"base = 'numpy'"},  # an example in messages
    "catalog/__init__.py": {"numpy"},  # the default dialect
}  # fmt: skip


def words(tree: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """Line, text and whether it is a string: every identifier and every string but docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and id(node) not in docstrings:
                yield line, node.value, True
            continue
        for field in ("id", "attr", "name", "asname", "arg", "module"):
            text = getattr(node, field, None)
            if isinstance(text, str):
                yield line, text, False


def is_allowed(file: Path, text: str, is_string: bool) -> bool:
    if not is_string:
        return ROLE_IN_CODE.fullmatch(text.rpartition(".")[2]) is not None
    rest = ROLE_IN_TEXT.sub("", text)
    for allowed in sorted(ALLOWED.get(place(file), ()), key=len, reverse=True):
        rest = rest.replace(allowed, "")
    return not NAMED.search(rest)


NAMED = re.compile("|".join(FRAMEWORKS), re.IGNORECASE)


@each("file", [f for f in FILES if not may_name_frameworks(f)])
def test_frameworks_are_named_only_where_they_may_be(file: Path) -> None:
    found = [
        (line, text)
        for line, text, is_string in words(parsed(file))
        if NAMED.search(text) and not is_allowed(file, text, is_string)
    ]
    assert found == []


def test_the_allow_list_is_not_longer_than_it_need_be() -> None:
    for name, strings in ALLOWED.items():
        tree = parsed(SOURCE / name)
        texts = [text for _, text, is_string in words(tree) if is_string]
        assert {s for s in strings if not any(s in text for text in texts)} == set(), name


def test_python_files_of_the_engine_import_the_standard_library_and_castwise_alone() -> None:
    foreign = set()
    for file in FILES:
        if place(file).split("/")[0] not in ("vocab", "rules", "frameworks", "engine", "errors.py"):
            continue
        for node in ast.walk(parsed(file)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            foreign |= {n.partition(".")[0] for n in names}
    reader = {"tomli"}  # the standard library's TOML reader, for Python 3.10
    assert foreign - sys.stdlib_module_names - {"castwise"} - reader == set()


def test_every_folder_tells_what_it_holds() -> None:
    """The map in docs/how-it-works.md is made of these."""
    inits = [file for file in FILES if file.name == "__init__.py"]
    assert [f for f in inits if not ast.get_docstring(parsed(f))] == []


STARTS = re.compile(
    r"subprocess\.(run|call|check_call|check_output|Popen)\(|os\.(system|spawn\w+|popen)\("
)


@each("file", TESTS)
def test_what_a_test_starts_has_a_time_limit(file: Path) -> None:
    """tests/processes.py gives it one; code in a string is run by it."""
    calls = [node for node in ast.walk(parsed(file)) if isinstance(node, ast.Call)]
    unlimited = [node for node in calls if "timeout" not in [k.arg for k in node.keywords]]
    starting = [node for node in unlimited if STARTS.match(f"{ast.unparse(node.func)}(")]
    assert [ast.unparse(node) for node in starting] == []
