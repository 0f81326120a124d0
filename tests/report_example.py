"""The audit of examples/image_pipeline.py and of small programs, for the tests of the reports."""

from __future__ import annotations

import functools
import textwrap
from pathlib import Path

from castwise.auditing.launch import run_audited
from castwise.auditing.origins import Audit, make_audit

PIPELINE = Path(__file__).parents[1] / "examples" / "image_pipeline.py"


@functools.cache
def pipeline() -> Audit:
    return make_audit(run_audited([str(PIPELINE)]).seen)


def audited(program: str, directory: Path) -> Audit:
    return make_audit(run_audited([str(script(program, directory))]).seen)


def script(program: str, directory: Path) -> Path:
    """A file with a program that knows NumPy, two arrays and a wide one."""
    head = """
    import numpy as np
    x = np.ones((100, 100), dtype=np.float32)
    image = np.ones((100, 100), dtype=np.uint8)
    """
    place = directory / "program.py"
    place.write_text(textwrap.dedent(head) + textwrap.dedent(program), encoding="utf-8")
    return place


def line_of(text: str, place: Path) -> int:
    """The number of the first line that has a text in it."""
    lines = place.read_text(encoding="utf-8").splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)
