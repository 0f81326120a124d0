"""Runs the public suite array-api-tests on castwise.array_api, or on another namespace.

    python conformance/array_api_tests.py SUITE [--module array_api_strict] [pytest options...]

SUITE is a checkout of data-apis/array-api-tests with its submodule array-api, or a folder that is
not there yet: then git clones COMMIT into it. The suite's own requirements must be installed.
array_api_tests_exceptions.txt, in the same folder, lists what may fail.

What passed, failed, may fail and was skipped is held against the table of
docs/reference/array-api.md. The exit status is pytest's where that is not 0; 1 where the table says
something else; and 3 where the suite cannot be cloned.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXCEPTIONS = HERE / "array_api_tests_exceptions.txt"
PAGE = HERE.parent / "docs" / "reference" / "array-api.md"
# Newer than the release 2026.02.26, the last one, and with its submodule.
URL = "https://github.com/data-apis/array-api-tests"
COMMIT = "55fcc60179efa2680ddd6cd926ddf17b83530e2b"
OPTIONS = (
    "--max-examples 20 --derandomize --disable-deadline -q -p no:cacheprovider -rfE "
    "-W ignore::UserWarning -W ignore::RuntimeWarning"
)
# The columns of the page's table. What may fail passes now and then: it depends on numbers drawn.
OUTCOMES = {
    "passed": ["passed"], "failed": ["failed", "error"], "exceptions": ["xfailed", "xpassed"],
    "skipped": ["skipped"],
}  # fmt: skip
_LIMIT = 300  # seconds for each step of git


def clone(suite: Path) -> None:
    """Clones the suite at COMMIT, with its submodule."""
    for step in (
        ["clone", "--quiet", URL, str(suite)],
        ["-C", str(suite), "checkout", "--quiet", COMMIT],
        ["-C", str(suite), "submodule", "update", "--quiet", "--init", "--depth", "1"],
    ):
        subprocess.run(["git", *step], check=True, timeout=_LIMIT)


def run(suite: Path, module: str, more: list[str]) -> tuple[int, dict[str, int]]:
    """pytest's exit status, and how many tests had each outcome. Of an option that is given twice
    the last counts."""
    paths = [option for option in more if option.startswith("array_api_tests")]
    others = [option for option in more if option not in paths]
    source = str(HERE.parent / "src")
    path = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "ARRAY_API_TESTS_MODULE": module, "PYTHONPATH": path}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        options = f"{OPTIONS} --json-report --json-report-omit collectors tests --json-report-file"
        command = [sys.executable, "-m", "pytest", *(paths or ["array_api_tests/"])]
        command += ["--xfails-file", str(EXCEPTIONS), *options.split(), str(report), *others]
        done = subprocess.run(command, cwd=suite, env=environment, check=False)
        summary = json.loads(report.read_text("utf-8"))["summary"] if report.exists() else {}
    counts = {name: sum(summary.get(word, 0) for word in words) for name, words in OUTCOMES.items()}
    return done.returncode, counts


def told(module: str) -> dict[str, int]:
    """What the page's table says of a module."""
    row = rf"^\| {re.escape(module)}\b[^|]*((?:\| *\d+ *)+)\|$"
    (found,) = re.findall(row, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(zip(OUTCOMES, map(int, re.findall(r"\d+", found)), strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite", type=Path)
    parser.add_argument("--module", default="castwise.array_api")
    known, options = parser.parse_known_args()
    if not known.suite.exists():
        try:
            clone(known.suite)
        except (OSError, subprocess.SubprocessError) as error:
            sys.stderr.write(f"The suite cannot be cloned: {error}\n")
            return 3
    status, counts = run(known.suite, known.module, options)
    sys.stdout.write(f"{known.module}: {counts}\n")
    if status == 0 and not options and counts != told(known.module):
        sys.stderr.write(f"{PAGE.name} says otherwise: {told(known.module)}\n")
        return 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
