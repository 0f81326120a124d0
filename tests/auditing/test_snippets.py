"""Every fix of many small programs is applied and run: none crashes, changes values beyond the
precision of its dtype, or does less than it promises."""

from __future__ import annotations

import json
import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from snippets import NUMPY, TORCH, Parts, snippets

import cells
from castwise.auditing.detect import make_steps
from castwise.auditing.launch import run_audited
from castwise.auditing.origins import Audit, DtypeOrigin, make_audit
from castwise.auditing.records import Event, Seen
from castwise.auditing.source import edits_by_file, with_edits
from castwise.vocab.dtypes import dtype

SHARE = 40  # one snippet in so many, unless all are asked for
PRECISION = {"float32": 1e-5, "bfloat16": 0.05}
# A program within the program, which is not observed.
RUNNER = """
exec('''
import json, sys, warnings
warnings.simplefilter("ignore")
def values(made):
    if hasattr(made, "detach"):
        made = made.detach().double().numpy()
    return np.asarray(made, dtype="float64").ravel().tolist()
outcomes = []
for number in range({count}):
    try:
        outcomes.append(values(globals()[f"snippet_{{number}}"]()))
    except Exception as error:
        outcomes.append(f"{{type(error).__name__}}: {{error}}")
with open({path!r}, "w") as file:
    json.dump(outcomes, file)
''')
"""


class Ran(NamedTuple):
    """Snippets as one program, audited."""

    source: str
    places: list[range]  # the lines of each snippet
    outcomes: list[Any]  # its values, or its error
    audit: Audit
    seen: Seen
    operations: list[tuple[Event, str]]

    def size(self, number: int, ops: set[str]) -> int:
        """The bytes of the results of some ops in a snippet."""
        return sum(
            event.elements * dtype(event.result.dtype).itemsize
            for event, op in self.operations
            if op in ops
            and self.seen.site(event).line in self.places[number]
            and event.result is not None
            and event.result.dtype is not None
        )


def operations(seen: Seen) -> list[tuple[Event, str]]:
    """What was understood, with the names of the ops."""
    steps = make_steps(seen.events, seen)
    return [(s.event, s.operation.question.op.name) for s in steps if s.operation]


def ran(bodies: Sequence[str], head: str, directory: Path) -> Ran:
    directory.mkdir()
    text, places = head, []
    for number, body in enumerate(bodies):
        function = f"def snippet_{number}():\n{textwrap.indent(body, '    ')}\n"
        first = text.count("\n") + 1
        text += function
        places.append(range(first, text.count("\n") + 1))
    path = directory / "outcomes.json"
    text += RUNNER.format(count=len(bodies), path=str(path))
    program = directory / "program.py"
    program.write_text(text)
    run = run_audited([str(program)])
    assert run.status == 0
    outcomes, seen = json.loads(path.read_text()), run.seen
    return Ran(text, places, outcomes, make_audit(seen), seen, operations(seen))


def within(items: Sequence[Any], places: range) -> list[Any]:
    return [item for item in items if item.place.line in places]


def fixed_body(origin: DtypeOrigin, source: str, places: range) -> str:
    """The body of a snippet with the fixes of an origin."""
    (edits,) = edits_by_file(origin.fixes).values()
    lines = with_edits(source.encode(), edits).decode().splitlines()
    longer = len(lines) - len(source.splitlines())
    return textwrap.dedent("\n".join(lines[places.start : places.stop - 1 + longer]))


def are_near(before: list[float], after: list[float], precision: float) -> bool:
    size = max([abs(v) for v in before if math.isfinite(v)], default=1.0)
    pairs = zip(before, after, strict=True)
    return all(a == b or abs(a - b) <= precision * size or a != a for a, b in pairs)


def check(parts: Parts, directory: Path, target: str, stride: int) -> Counter[str]:
    """Applies each fix of each snippet on its own, and counts what was wrong."""
    chosen = snippets(parts)[::stride]
    head = f"{parts.head}D = {parts.dtypes[1]}\n"
    first = ran([str(snippet) for snippet in chosen], head, directory / "before")
    works = [not isinstance(outcome, str) for outcome in first.outcomes]
    plans = [
        (number, origin)
        for number, places in enumerate(first.places)
        for origin in within(first.audit.origins, places)
        if works[number] and origin.fixes
    ]
    bodies = [fixed_body(o, first.source, first.places[n]) for n, o in plans]
    second = ran(bodies, head, directory / "after")
    wrong: dict[str, list[str]] = {"crashes": [], "values": [], "promises": [], "bytes": []}
    for place, (number, origin) in enumerate(plans):
        shown = f"{chosen[number]}\n=>\n{bodies[place]}"
        outcome = second.outcomes[place]
        if isinstance(outcome, str):
            wrong["crashes"].append(f"{shown}\n{outcome}")
            continue
        if not are_near(first.outcomes[number], outcome, PRECISION[target]):
            wrong["values"].append(shown)
        before = within(first.audit.findings, first.places[number])
        after = within(second.audit.findings, second.places[place])
        expected = len(before) - len(origin.plan.removed) + len(origin.plan.added)
        if len(after) > expected:
            wrong["promises"].append(f"{shown}\n{len(before)} -> {after}, not {expected}")
        ops = {finding.op for finding in before}
        saved = first.size(number, ops) - second.size(place, ops)
        if saved < origin.plan.bytes:
            wrong["bytes"].append(f"{shown}\n{saved} bytes, not {origin.plan.bytes}")
    assert {kind: texts[:3] for kind, texts in wrong.items() if texts} == {}
    return Counter(snippets=sum(works), fixes=len(plans))


def test_each_fix_of_numpy_programs_runs_and_does_what_it_says(tmp_path: Path) -> None:
    counts = check(NUMPY, tmp_path, "float32", 1 if cells.takes_all else SHARE)
    assert counts["fixes"] > counts["snippets"] / 2


def test_each_fix_of_torch_programs_runs_and_does_what_it_says(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    counts = check(TORCH, tmp_path, "bfloat16", 1 if cells.takes_all else SHARE // 4)
    assert counts["fixes"] > counts["snippets"] / 3
