"""The names in the event log are what users have on disk, and records come back as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from under_audit import audited, write

from castwise.auditing.records import (
    CodeSpot,
    Counts,
    EnforcedDialect,
    Event,
    LocatedSite,
    Options,
    RunFacts,
    Seen,
    SeenArray,
    SeenCall,
    SeenInside,
    SeenList,
    SeenNumber,
    Site,
    SourceEdit,
    UnobservedFunction,
)
from castwise.auditing.saved import options_from_json, options_to_json, seen_from_json, seen_to_json

ARRAY = SeenArray("numpy", "float32", False, False, False, False, 7, (2, 3))
ARRAY_JSON = (
    '{"framework": "numpy", "dtype": "float32", "zero_d": false, "scalar": false, '
    '"traced": false, "weak": false, "maker": 7, "shape": [2, 3], "low": null, "high": null}'
)
SCALAR = SeenArray("numpy", None, True, True, True, True, 0, None, -1, 2.5)
SCALAR_JSON = (
    '{"framework": "numpy", "dtype": null, "zero_d": true, "scalar": true, '
    '"traced": true, "weak": true, "maker": 0, "shape": null, "low": -1, "high": 2.5}'
)
CALL = SeenCall("numpy", "add", False, True, "int8", True, 2, ("out",))
CALL_JSON = (
    '"callee": {"module": "numpy", "name": "add", "method": false}, "dtype_given": true, '
    '"dtype": "int8", "complete": true, "positional": 2, "keywords": ["out"]'
)
INSIDE = SeenInside("mul", "bfloat16", CodeSpot("/a.py", 1, 0, 2, 5))
EVENTS = {
    "an operator": (
        Event(7, (ARRAY, SeenNumber("int", 1, True)), 3, 18, SCALAR),
        f'{{"mark": 7, "operands": [{ARRAY_JSON}, {{"python": "int", "low": 1, "high": true}}], '
        f'"count": 3, "elements": 18, "result": {SCALAR_JSON}}}',
    ),
    "a call": (
        Event(7, (SeenList((ARRAY, None)), None), 1, 0, call=CALL),
        f'{{"mark": 7, "operands": [{{"list": [{ARRAY_JSON}, null]}}, null], "count": 1, '
        f'"elements": 0, "result": null, {CALL_JSON}}}',
    ),
    "inside a library": (
        Event(7, (), 1, 1, ARRAY, CALL, INSIDE),
        f'{{"mark": 7, "operands": [], "count": 1, "elements": 1, "result": {ARRAY_JSON}, '
        f'{CALL_JSON}, "inside": {{"backward_of": "mul", "autocast": "bfloat16", '
        '"spot": ["/a.py", 1, 0, 2, 5]}}',
    ),
    "in backward": (
        Event(7, (), 1, 1, call=CALL, inside=SeenInside("mul", "", None)),
        '{"mark": 7, "operands": [], "count": 1, "elements": 1, "result": null, '
        f'{CALL_JSON}, "inside": {{"backward_of": "mul", "autocast": "", "spot": null}}}}',
    ),
    "allowed by a test": (
        Event(7, (), 1, 1, allowed=("widens",)),
        '{"mark": 7, "operands": [], "count": 1, "elements": 1, "result": null, '
        '"allowed": ["widens"]}',
    ),
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_written_as_it_always_was_and_comes_back(name: str) -> None:
    event, text = EVENTS[name]
    seen = Seen(events=(event,))
    data = seen_to_json(seen)
    assert json.dumps(data["events"]) == f"[{text}]"
    assert seen_from_json(json.loads(json.dumps(data))) == seen


def test_all_that_was_seen_is_written_as_it_always_was_and_comes_back() -> None:
    seen = Seen(
        sites={5: LocatedSite("/a.py", Site(1, 2, 3, 4, "operator", "+", (None, 1.5)))},
        files=("/a.py",),
        unobserved=(UnobservedFunction("/a.py", 9, "kernel", "numba.njit"),),
        counts=Counts(1, 2, 3, {"ValueError: x": 4}),
        facts=RunFacts({"numpy": "numpy"}, {"numpy": "2.4"}, True, 2, 1024),
    )
    text = json.dumps(seen_to_json(seen))
    assert text == (
        '{"events": [], "inside": [], "attempts": [], "sites": {"5": {"file": "/a.py", '
        '"line": 1, "column": 2, "end_line": 3, "end_column": 4, "kind": "operator", "name": "+", '
        '"literals": [null, 1.5], "arguments": 0}}, "files": ["/a.py"], '
        '"unobserved": [["/a.py", 9, "kernel", "numba.njit"]], "is_deep": true, "plain": 1, '
        '"quiet": 2, "late": 3, "failures": {"ValueError: x": 4}, "running": {"numpy": "numpy"}, '
        '"versions": {"numpy": "2.4"}, "processes": 2, "peak_memory": 1024}'
    )
    assert seen_from_json(json.loads(text)) == seen


def test_what_stands_next_to_a_complex_number_is_not_lost(tmp_path: Path) -> None:
    """JSON has no complex numbers, and the log of the whole process could not be written."""
    script = write(tmp_path, script="import numpy as np\ny = np.ones(3, np.float32) + 2j\n")
    outcome, seen = audited(script.name, cwd=tmp_path)
    assert outcome.status == 0
    assert seen.counts.failures == {}
    (event,) = [event for event in seen.events if event.call is None]
    assert seen.site(event).site.literals == (None, 2j)
    assert event.result is not None
    assert event.result.dtype == "complex64"


def test_the_options_reach_the_processes_of_a_program() -> None:
    edits = {"/a.py": [SourceEdit(1, 2, 3, 4, "x")]}
    held = EnforcedDialect("numpy", False, "report", ("add",))
    options = Options(("mine",), edits=edits, checks=True, enforce=held)
    text = json.dumps(options_to_json(options, "/a.py"))
    assert options_from_json(json.loads(text)) == (options, "/a.py")
