"""The page reads tracebacks as Python does."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

import castwise
from castwise.catalog import framework_messages
from castwise.engine.tracebacks import read_traceback, traceback_data
from processes import finished
from recorded_messages import recorded

SCRIPT = Path(castwise.__file__).parent / "report" / "explorer" / "tracebacks.js"
READING = """
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(given.texts.map((text) => Tracebacks.read(text, given.data))));
"""


# As rich, IPython and pytest show lines of code.
OTHERS = [
    "",
    "❱ 1 │ x @ y",
    "-> 3 a.add_(1)\ra",
    ">       x @ y\n          ^",
    "a.py:3: in f\n    x @ y",
]


def read_by_page(texts: list[str]) -> list[object]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node, which runs the page's script, is not installed")
    script = SCRIPT.read_text(encoding="utf-8") + READING
    given = json.dumps({"texts": texts, "data": traceback_data()})
    done = finished([node, "-e", script], input=given, check=True)
    found: list[object] = json.loads(done.stdout)
    return found


def mixed(texts: list[str]) -> list[str]:
    """Lines of several tracebacks, in an order that makes no sense."""
    lines = [line for text in texts for line in text.splitlines()]
    chance = random.Random(0)
    return ["\n".join(chance.choices(lines, k=chance.randint(1, 12))) for _ in range(1000)]


def test_the_page_reads_the_same() -> None:
    whole = [case.traceback for case in recorded()]
    examples = [m.example for own in framework_messages() for m in own.messages if m.example]
    bare = [text.strip().rpartition("\n")[2] for text in whole]
    texts = [*whole, *examples, *bare, *mixed(whole), "", *OTHERS]
    found = read_by_page(texts)
    expected = [read_traceback(text).as_json() for text in texts]
    assert [pair for pair in zip(texts, found, expected, strict=True) if pair[1] != pair[2]] == []
