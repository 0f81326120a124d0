"""Runs the test suites of installed packages with and without an audit, and compares outcomes.

    python tests/auditing/package_suites.py

The packages themselves are observed (--include), and their tests run as pytest loads them. It
prints the rows of the table in docs/evidence/audit-evidence.md. The exit status is 1 if an outcome
differs.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree


class Suite(NamedTuple):
    """A package, and which of its tests run in a minute or two."""

    package: str  # as it is installed
    module: str  # as it is imported
    tests: tuple[str, ...]  # below the module; none: all


SUITES = (
    Suite("PyWavelets", "pywt", ("tests/test_dwt_idwt.py", "tests/test_multilevel.py",
                                 "tests/test_wp.py", "tests/test_thresholding.py",
                                 "tests/test_cwt_wavelets.py", "tests/test_multidim.py")),
    Suite("einops", "einops", ()),
    Suite("networkx", "networkx", ("linalg", "drawing", "algorithms/link_analysis")),
    Suite("xarray", "xarray", ("tests/test_ufuncs.py", "tests/test_nputils.py",
                               "tests/test_rolling.py", "tests/test_duck_array_ops.py")),
)  # fmt: skip
ENVIRONMENT = {"EINOPS_TEST_BACKENDS": "numpy"}  # einops' tests want to be told


class Result(NamedTuple):
    """How a suite went."""

    outcomes: dict[str, str]  # by test
    seconds: float


def run(suite: Suite, *before: str) -> Result:
    """The outcome of every test of a suite, run by a command."""
    place = Path(next(iter(__import__(suite.module).__path__)))
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory, "report.xml")
        command = [
            sys.executable, *before, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p",
            "no:randomly", f"--junitxml={report}", *(str(place / t) for t in suite.tests or ("",)),
        ]  # fmt: skip
        began = time.monotonic()
        environment = {**os.environ, **ENVIRONMENT}
        subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, check=False, timeout=3600
        )
        seconds = time.monotonic() - began
        return Result(_outcomes(report), seconds)


def _outcomes(report: Path) -> dict[str, str]:
    cases = ElementTree.parse(report).iter("testcase")
    found: dict[str, str] = {}
    for case in cases:
        name = f"{case.get('classname')}::{case.get('name')}"
        while name in found:
            name += "'"
        found[name] = case[0].tag if len(case) and case[0].tag != "system-out" else "passed"
    return found


def audited(suite: Suite) -> tuple[Result, int]:
    """The same under audit, and how many operations on arrays were seen."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory, "audit.json")
        options = ("audit", "--include", suite.module, "--json", str(report))
        result = run(suite, "-m", "castwise", *options)
        return result, json.loads(report.read_text(encoding="utf-8"))["coverage"]["seen"]


def compare(suite: Suite) -> list[str]:
    """Prints a suite's line, and names the tests whose outcomes differ."""
    plain = run(suite)
    under, seen = audited(suite)
    names = sorted({*plain.outcomes, *under.outcomes})
    differing = [n for n in names if plain.outcomes.get(n) != under.outcomes.get(n)]
    counts = [sum(o == kind for o in plain.outcomes.values()) for kind in _KINDS]
    version = importlib.metadata.version(suite.package)
    parts = (suite.package, version, ", ".join(suite.tests) or "all", *counts, len(differing),
             f"{seen:,}", f"{plain.seconds:.0f} s", f"{under.seconds:.0f} s")  # fmt: skip
    print("|", " | ".join(map(str, parts)), "|", flush=True)  # noqa: T201
    return differing


_KINDS = ("passed", "skipped", "failure", "error")


def main() -> int:
    """Compares the suites that are named, or all."""
    wanted = sys.argv[1:]
    differing = []
    for suite in SUITES:
        if not wanted or suite.package in wanted:
            differing += [f"{suite.package}: {name}" for name in compare(suite)]
    sys.stderr.write("".join(f"differs: {name}\n" for name in differing))
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
