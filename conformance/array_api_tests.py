"""Runs the public suite array-api-tests on castwise.array_api, or on another namespace.

    python conformance/array_api_tests.py SUITE [--module array_api_strict] [pytest options...]

SUITE is a checkout of data-apis/array-api-tests with its submodule array-api; the suite's own
requirements must be installed. array_api_tests_exceptions.txt, in the same folder, lists what may
fail. The exit status is pytest's: 0 where nothing else fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXCEPTIONS = HERE / "array_api_tests_exceptions.txt"
OPTIONS = (
    "--max-examples 20 --derandomize --disable-deadline -q -p no:cacheprovider -rfE "
    "-W ignore::UserWarning -W ignore::RuntimeWarning"
)


def command(options: list[str]) -> list[str]:
    """The suite as pytest runs it; of an option that is given twice the last counts."""
    paths = [option for option in options if option.startswith("array_api_tests")]
    others = [option for option in options if option not in paths]
    return [sys.executable, "-m", "pytest", *(paths or ["array_api_tests/"]), *OPTIONS.split(),
            "--xfails-file", str(EXCEPTIONS), *others]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("suite", type=Path)
    parser.add_argument("--module", default="castwise.array_api")
    known, options = parser.parse_known_args()
    source = str(HERE.parent / "src")
    path = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "ARRAY_API_TESTS_MODULE": known.module, "PYTHONPATH": path}
    return subprocess.run(
        command(options), cwd=known.suite, env=environment, check=False
    ).returncode


if __name__ == "__main__":
    raise SystemExit(main())
