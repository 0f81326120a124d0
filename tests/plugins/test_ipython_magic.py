"""%load_ext castwise, %%audit."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from processes import finished

pytest.importorskip("IPython")

BEGIN = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
shell.run_line_magic("load_ext", "castwise")
shell.run_cell("import numpy as np\\nx = np.ones(3, np.float32)")
"""


def ran(tmp_path: Path, *cells: str) -> str:
    """The output of a session in its own process, because a process can have only one shell."""
    code = BEGIN + "".join(f"shell.run_cell({cell!r})\n" for cell in cells)
    done = finished(
        [sys.executable, "-c", code],
        env={"PATH": "", "PYTHONPATH": ":".join(sys.path), "IPYTHONDIR": str(tmp_path),
             "HOME": str(tmp_path)},
    )  # fmt: skip
    return done.stdout + done.stderr


def test_a_cell_is_audited_with_its_source(tmp_path: Path) -> None:
    said = ran(tmp_path, "%%audit\ny = x * np.ones(3)\ny += x")
    assert "1 finding in" not in said  # there are two: y is float64, x is float32
    assert re.search(r"2 findings in \d+ operations, caused by 1 line", said)
    assert "- y = x * np.ones(3)" in said
    assert "float64[3] += float32[3]" in said
    assert "Not understood" not in said


def test_the_last_value_is_shown_as_without(tmp_path: Path) -> None:
    assert "array([0.5, 0.5, 0.5], dtype=float32)" in ran(tmp_path, "%%audit\nx / 2")
    assert "array(" not in ran(tmp_path, "%%audit\nx = x / 2\nx /= 2")


def test_names_and_errors_are_the_cells_own(tmp_path: Path) -> None:
    said = ran(tmp_path, "%%audit\nz = x + 1\ndef f(a):\n    return a + np.ones(4)", "print(z[0])",
               "%%audit\nf(x)")  # fmt: skip
    assert "2.0" in said
    assert "----> 1 f(x)" in said
    assert "operands could not be broadcast" in said


def test_other_cells_are_not_audited(tmp_path: Path) -> None:
    said = ran(tmp_path, "%%audit log\ny = x * np.ones(3)", "w = x * np.ones(3)",
               "print(len(log.findings), log.findings[0].count)",
               "%%audit\ny = np.ones(3) * np.arange(3)")  # fmt: skip
    assert "1 1" in said
    assert "%%audit NAME keeps it in NAME.audit.expected_findings." in " ".join(said.split())
    assert said.count("finding in") == 1


DEFINITIONS = """
import functools
def scaled(a):
    return a * np.ones(3)
class Model:
    bias = np.zeros(3)
    @staticmethod
    def static(a): return a - np.ones(3)
    @property
    def half(self): return x / np.full(3, 2.0)
    def __call__(self, a): return a + self.bias
@functools.lru_cache
def cached(n):
    return x ** np.full(3, float(n))
def logged(function):
    def inner(*args):
        return function(*args)
    return inner
@logged
def wrapped(a):
    a += np.arange(3)
    return a
"""


def test_functions_of_earlier_cells_are_audited(tmp_path: Path) -> None:
    said = ran(
        tmp_path,
        DEFINITIONS,
        "before = scaled.__code__",
        "%%audit log\nm = Model()\nz = scaled(x), m(x), m.static(x), m.half, cached(2)\n"
        "try:\n    wrapped(x)\nexcept TypeError: pass",
        "print(sorted(f.op for f in log.findings), scaled.__code__ is before)",
        "%%audit again\nz = scaled(x)",
        "print([(f.op, f.count) for f in again.findings], len(log.findings))",
        "scaled(x)",
        "print(len(log.findings), again.findings[0].count)",
    )
    assert "['add', 'add', 'div', 'mul', 'pow', 'sub'] True" in said
    assert "return a * np.ones(3)" in said
    assert "[('mul', 1)] 6" in said
    assert "6 1" in said


def test_functions_of_a_compiler_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "numba.py").write_text(
        "import functools\n"
        "def njit(f):\n"
        "    assert not any('@cw' in name for name in f.__code__.co_names)\n"
        "    def g(*args):\n"
        "        assert not any('@cw' in name for name in f.__code__.co_names)\n"
        "        return f(*args)\n"
        "    return functools.wraps(f)(g)\n"
    )
    said = ran(
        tmp_path,
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})",
        "import numba as nb\nfrom numba import njit as compiled",
        "@compiled\ndef f(a): return a * np.ones(3)\ndef h(a): return a * np.ones(3)",
        "%%audit\n@nb.njit\ndef g(a): return a * np.ones(3)\nz = f(x), g(x)\nk = compiled(h)\nk(x)",
    )
    assert "Not observed: 3 pieces of code" in said
    assert "AssertionError" not in said


def test_a_cell_with_await_is_audited_later(tmp_path: Path) -> None:
    said = ran(
        tmp_path,
        "import asyncio\nawait asyncio.sleep(0)\nasync def f(a): return a * np.ones(3)",
        "%%audit\nz = await f(x)",
    )
    assert "1 finding in" in said


def test_the_audit_is_kept_under_a_name(tmp_path: Path) -> None:
    said = ran(tmp_path, "%%audit log\ny = x + np.arange(3)",
               "print(log.port('torch').changes[0].after)")  # fmt: skip
    assert said.rstrip().endswith("float32")


def test_wrong_usage_is_said(tmp_path: Path) -> None:
    assert "takes a name for the audit" in ran(tmp_path, "%%audit --all\nx")


def test_functions_of_a_cell_are_saved_without_observers(tmp_path: Path) -> None:
    cell = "%%audit\nimport asyncio\nawait asyncio.sleep(0)\ntotal = 1\ntotal += 2\n"
    cell += "def f(a):\n    return [b + 1 for b in a * total]\n"
    said = ran(tmp_path, cell, "import marshal\nsaved = marshal.loads(marshal.dumps(f.__code__))",
               "print(f(x), 'total' in saved.co_names, '_@cw' in str(saved.co_names))")  # fmt: skip
    assert "True False" in said
