"""The worked examples of CONTRIBUTING.md, carried out in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from processes import finished

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "castwise"
TOOLS = ROOT / "tools"
# Where the lines of an example belong: below this line of the file, or above it.
BELOW = {
    "in aliases": "        aliases={\n",
    "in _NO_KERNEL": "_NO_KERNEL = {\n",
    "": "_ROWS = [\n",
}
# An array library that is none of castwise's.
ACMEARRAYS = """
import numpy as np

class AcmeArray:
    def __init__(self, data, dtype=None):
        self.data = np.asarray(data, dtype)
        self.dtype, self.shape = self.data.dtype, self.data.shape

    def __mul__(self, other):
        return AcmeArray(np.multiply(self.data, other.data))

    def cast(self, dtype):
        return AcmeArray(self.data, dtype)

def ones(shape, dtype="float64"):
    return AcmeArray(np.ones(shape, dtype))
"""
ABOVE = "# A recipe has the name of its op"


def examples() -> list[tuple[str, str, str]]:
    """The file, the place in it and the lines of each part of an example."""
    blocks = re.findall(r"^( *)```python\n(.*?)^ *```$", TEXT, re.DOTALL | re.MULTILINE)
    found = []
    for indent, block in blocks:
        lines = (
            textwrap.dedent(block)
            if not indent
            else re.sub(f"^{indent}", "", block, flags=re.MULTILINE)
        )
        for part in re.split(r"^(?=# src/)", lines, flags=re.MULTILINE):
            first, _, rest = part.partition("\n")
            if first.startswith("# src/castwise/"):
                file, _, place = first.removeprefix("# src/castwise/").partition(", ")
                found.append((file, place, rest))
    return found


def dialect_example() -> str:
    (block,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    return str(block)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the op, of which torch is said to be recorded, and the dialect."""
    root = tmp_path_factory.mktemp("contributing")
    shutil.copytree(PACKAGE, root / "castwise", ignore=shutil.ignore_patterns("__pycache__"))
    for name, place, lines in examples():
        file = root / "castwise" / name
        text = file.read_text(encoding="utf-8")
        anchor = ABOVE if name.endswith("functions.py") else BELOW[place]
        assert text.count(anchor) == 1, (name, anchor)
        both = f"{lines}\n\n{anchor}" if anchor == ABOVE else f"{anchor}{lines}"
        file.write_text(text.replace(anchor, both), encoding="utf-8")
    recorded = root / "castwise" / "rules" / "recorded_cells.tsv"
    recorded.write_text(
        f"{recorded.read_text('utf-8')}torch:some-mode\tlog_sigmoid:1\n", encoding="utf-8"
    )
    (root / "castwise" / "frameworks" / "acme.py").write_text(dialect_example(), encoding="utf-8")
    return root


def run(copy: Path, code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", f"import castwise as cw\n{code}", *arguments]
    path = os.pathsep.join([str(copy), str(TOOLS)])
    done = finished(command, cwd=copy, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    return str(done.stdout).strip()


def test_an_op_stands_in_three_files() -> None:
    files = {name for name, *_ in examples()}
    assert files == {"vocab/ops.py", "arrays/functions.py", "frameworks/torch.py"}


def test_the_op_is_decided(copy: Path) -> None:
    asked = "torch.nn.functional.logsigmoid"
    code = f"""
found = cw.resolve({asked!r}, "float16[3]", dialect="torch")
print(found.result, found.has_kernel)
print(cw.resolve("log_sigmoid", "int32[3]", dialect="torch").has_kernel)
"""
    assert run(copy, code).splitlines() == ["float16 True", "False"]


def test_the_op_is_computed_by_its_recipe(copy: Path) -> None:
    code = """
from castwise import array_api as xp
with cw.use("torch"):
    x = xp.asarray([0.0, -1000.0, 1000.0], dtype="float32")
    found = xp.log_sigmoid(x)
    print(found.dtype, [round(v, 3) for v in found.tolist()])
    print(x.log_sigmoid_() is x)
"""
    assert run(copy, code).splitlines() == ["float32 [-0.693, -1000.0, 0.0]", "True"]


def test_the_op_is_exported_by_its_recipe(copy: Path) -> None:
    pytest.importorskip("onnx")
    code = """
graph = cw.trace(lambda x: cw.apply("log_sigmoid", x), "float32[3]", dialect="torch")
graph.to_onnx("model.onnx")
import onnx
print(len(onnx.load("model.onnx").graph.node) > 3)
"""
    assert run(copy, code) == "True"


def test_the_op_is_recorded_by_one_command(copy: Path) -> None:
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    code = """
import pathlib
from add_op import main
from castwise.conformance.recorders import find_recorder
from cell_files import header, read_cells, write_cells
cells, index = pathlib.Path("cells"), pathlib.Path("index.tsv")
file = cells / "torch.tsv.gz"
write_cells(file, header(find_recorder("torch")), [])
print(main(["log_sigmoid", "--cells", str(cells), "--index", str(index)]))
print({cell.answer for cell in read_cells(file)[1] if cell.operands == ("float16[3]",)})
print([line for line in index.read_text().splitlines() if "torch" in line])
"""
    told = ["0", "{'float16'}", "['torch\\tlog_sigmoid:42']"]  # cells of each op, by dialect
    assert run(copy, code).splitlines()[-3:] == told


def test_the_dialect_is_found_and_decides(copy: Path) -> None:
    code = """
dialect = cw.dialect("acme")
print(len(dialect.dtypes), "acme" in cw.dialects())
for op, *operands in (("add", "int8[3]", 1.5), ("subtract", "int64[3]", "float16[3]")):
    print(cw.resolve(op, *operands, dialect="acme").result)
try:
    cw.resolve("sub", "bool[3]", "bool[3]", dialect="acme")
except cw.PromotionError as error:
    print("has no minus of booleans" in str(error))
"""
    assert run(copy, code).splitlines() == ["20 True", "float32", "float16", "True"]


def test_the_hook_is_found_and_its_arrays_are_audited(copy: Path) -> None:
    (block,) = re.findall(r"^  ```python\n(.*?)^  ```$", TEXT, re.DOTALL | re.MULTILINE)
    hook = copy / "castwise" / "auditing" / "hooks" / "acmearrays.py"
    hook.write_text(textwrap.dedent(block), encoding="utf-8")
    env = {**os.environ, "PYTHONUSERBASE": str(copy / "user")}
    asked = [sys.executable, "-c", "import site; print(site.getusersitepackages())"]
    installed = Path(finished(asked, cwd=copy, env=env).stdout.strip())
    installed.mkdir(parents=True)
    (installed / "acmearrays.py").write_text(ACMEARRAYS, encoding="utf-8")
    (copy / "program.py").write_text(
        "import acmearrays as acme\n"
        "x = acme.ones(9, 'float32') * acme.ones(9)\n"
        "y = x.cast('float32') * acme.ones(9, 'float32')\n",
        encoding="utf-8",
    )
    done = finished(
        [sys.executable, "-m", "castwise", "audit", "program.py"],
        cwd=copy,
        env={**env, "PYTHONPATH": os.pathsep.join([str(copy), str(installed)])},
    )
    assert done.returncode == 0, done.stderr
    assert "float32[9] * float64[9] -> float64" in done.stderr, done.stderr
    assert "program.py:2" in done.stderr
    assert "program.py:3" not in done.stderr
    assert "acme.ones(9, dtype='float32')" in done.stderr, done.stderr  # it has no float32
    assert "No rule for these" not in done.stderr
