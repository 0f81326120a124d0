"""--fix writes the fixes, --diff shows them, and --min-bytes hides small findings."""

from __future__ import annotations

import io
import json
import tokenize
from pathlib import Path
from typing import Any

import pytest

from castwise.cli.audit import parse_size
from castwise.cli.main import main
from processes import finished

# Every kind of file in one program: each module has one fix.
FILES = {
    "crlf.py": b"import numpy as np\r\nx = np.ones(9, np.float32) * np.ones(9)  # \xc3\xa9\r\n"
    b"y = 1",
    "latin.py": b"# coding: latin-1\nimport numpy as np\nn = '\xe9'; x = np.ones(9, np.float32) * "
    b"np.ones(9)\n",
    "bom.py": b"\xef\xbb\xbfimport numpy as np; x = np.ones(9, np.float32) * np.ones(9)\n",
    "several.py": b"import numpy as np\nw = np.array(\n    [0.5, 1.5],  # kept\n)\n"
    b"x = np.ones(2, np.float32) * w\n",
    "changed.py": b"import numpy as np\nx = np.ones(9, np.float32) * np.ones(9)\n"
    b"open(__file__, 'a').write('# new\\n')\n",
}
FIXED = {
    "crlf.py": (b"np.ones(9)", b"np.ones(9, dtype=np.float32)"),
    "latin.py": (b"np.ones(9)", b"np.ones(9, dtype=np.float32)"),
    "bom.py": (b"np.ones(9)", b"np.ones(9, dtype=np.float32)"),
    "several.py": (b"[0.5, 1.5],", b"[0.5, 1.5], dtype=np.float32"),
    "changed.py": (b"write('# new\\n')\n", b"write('# new\\n')\n# new\n"),
}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    imports = "".join(f"import {Path(name).stem}\n" for name in FILES)
    (tmp_path / "program.py").write_text(f"{imports}print('ran')\n")
    (tmp_path / "crlf.py").chmod(0o640)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audited(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(["audit", "--no-config", *arguments])
    return (exit_.value.code, *capfd.readouterr())


def test_fixes_are_written_and_the_rest_of_each_file_stays(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, out, said = audited(capfd, "--fix", "--json", "report.json", "program.py")
    assert (status, out) == (0, "ran\n")
    for name, content in FILES.items():
        assert (program / name).read_bytes() == content.replace(*FIXED[name]), name
    assert (program / "crlf.py").stat().st_mode & 0o777 == 0o640
    assert "Wrote 4 fixes to 4 files:\n  bom.py: line 1\n  crlf.py: line 2\n" in said
    assert "changed.py stays as it is: it has changed since the program read it." in said
    left = {p.name for p in program.iterdir() if p.is_file()}
    assert left == {*FILES, "program.py", "report.json"}  # and no file besides
    assert "1 finding in" in audited(capfd, "program.py")[2]
    report = json.loads((program / "report.json").read_text(encoding="utf-8"))
    fixes = [fix for finding in report["findings"] for fix in finding["fixes"]]
    assert len(fixes) == len(FILES)
    for fix in fixes:  # a script that applies them writes the same
        name = Path(fix["file"]).name
        if name != "changed.py":
            assert with_fix(FILES[name], fix) == text_of((program / name).read_bytes())


def with_fix(content: bytes, fix: dict[str, Any]) -> str:
    lines = text_of(content).splitlines(keepends=True)
    before = lines[fix["line"] - 1][: fix["column"] - 1]
    after = lines[fix["end_line"] - 1][fix["end_column"] - 1 :]
    lines[fix["line"] - 1 : fix["end_line"]] = [before + fix["text"] + after]
    return "".join(lines)


def text_of(content: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    return io.TextIOWrapper(io.BytesIO(content), encoding).read()


def test_a_diff_can_be_applied_and_writes_nothing(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (program / "changed.py").write_text("")
    _, out, said = audited(capfd, "--diff", "program.py")
    assert "Wrote" not in said
    assert (program / "several.py").read_bytes() == FILES["several.py"]
    ran, diff = out.split("\n", 1)
    assert ran == "ran"
    assert "\x1b" not in diff
    (program / "latin.py").write_text("", "utf-8")  # a diff is in one encoding
    parts = [part for part in diff.split("--- a/") if part and not part.startswith("latin")]
    patch = "".join(f"--- a/{part}" for part in parts)
    finished(["git", "apply", "-"], input=patch, cwd=program, check=True)
    for name in ("crlf.py", "bom.py", "several.py"):
        assert (program / name).read_bytes() == FILES[name].replace(*FIXED[name]), name


def test_only_fixes_that_passed_are_written_and_none_after_a_failure(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = program / "script.py"
    text = (
        "import numpy as np\nx = np.ones(9, np.float32)\na = np.ones(9)\nb = np.zeros(9)\n"
        "c, d = x * a, x * b\nif c.dtype == x.dtype:\n    raise ValueError\n"
    )
    script.write_text(text)
    assert (
        "b = np.zeros(9, dtype=np.float32)"
        in audited(capfd, "--try-fixes", "--fix", "script.py")[1] + script.read_text()
    )
    assert "a = np.ones(9)\n" in script.read_text()
    script.write_text(f"{text}raise SystemExit(3)\n")
    status, _, said = audited(capfd, "--fix", "script.py")
    assert status == 3
    assert "No fix was written: the program ended with status 3" in said
    assert script.read_text() == f"{text}raise SystemExit(3)\n"
    assert audited(capfd, "--fix", "--diff", "script.py")[0] == 2


def test_small_findings_are_hidden_and_do_not_fail(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, _, said = audited(capfd, "--min-bytes", "70", "--fail-on", "any", "bom.py")
    assert status == 1
    status, _, said = audited(capfd, "--min-bytes", "0.1kB", "--fail-on", "any", "bom.py")
    assert status == 0
    assert "Hidden: 1 finding with results smaller than 100 bytes." in said
    assert audited(capfd, "--min-bytes", "1X", "bom.py")[0] == 2
    with pytest.raises(ValueError, match="many"):
        parse_size("many")
