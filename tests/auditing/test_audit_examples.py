"""The audits and ports that pages print of the examples are what castwise prints."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from processes import finished

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "docs" / "evidence" / "audit-examples.md",
    ROOT / "docs" / "how-to" / "port-torch-to-jax.md",
    ROOT / "docs" / "how-to" / "port-torch-to-paddle.md",
]
AUDIT = re.compile(r"<!-- castwise (?P<command>[^>]*) -->\n```text\n(?P<printed>.*?)```", re.DOTALL)
NEEDS = {
    "examples/train_mixed.py": "torch",
    "examples/weak_types.py": "jax",
    "examples/autocast.py": "torch",
    "examples/centroids.py": "torch",
}


def audits() -> list[tuple[str, str]]:
    found = [match for page in PAGES for match in AUDIT.finditer(page.read_text(encoding="utf-8"))]
    return [(match["command"], match["printed"]) for match in found]


def test_every_example_is_there() -> None:
    assert list(dict.fromkeys(command.split()[-1] for command, _ in audits())) == list(NEEDS)


@pytest.mark.parametrize(("command", "printed"), audits(), ids=lambda text: text.split("\n")[0])
def test_the_page_shows_what_is_printed(command: str, printed: str) -> None:
    pytest.importorskip(NEEDS[command.split()[-1]])
    audit = [sys.executable, "-m", "castwise", *command.split()]
    # torch itself warns if a processor has no instructions for a dtype.
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = finished(audit, cwd=ROOT, env=quiet)
    assert done.stderr == printed
    assert done.returncode == int(command.startswith("port"))  # something changes
