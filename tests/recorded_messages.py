"""The tracebacks that were recorded from real frameworks, and what a reader should make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "conformance" / "messages"


class Recorded(NamedTuple):
    """A program that a framework refused."""

    program: str
    dialect: str
    question: str
    traceback: str

    def __str__(self) -> str:
        return f"{self.dialect}: {self.program}"


def recorded() -> list[Recorded]:
    files = sorted(FOLDER.glob("*.json"))
    cases = [case for file in files for case in json.loads(file.read_text("utf-8"))["recorded"]]
    return [Recorded(**case) for case in cases]
