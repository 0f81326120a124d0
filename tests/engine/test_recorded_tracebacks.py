"""Tracebacks that real frameworks raised are read as they were meant."""

from __future__ import annotations

import re

from castwise.catalog import framework_messages
from castwise.comparing.table import outcome_of
from castwise.engine.decision import Decision
from castwise.engine.explain import taken_apart
from castwise.engine.tracebacks import Read, read_traceback, traceback_data
from loops import each
from recorded_messages import FOLDER, Recorded, recorded

CASES = recorded()
MARKS = re.compile(r"^ *[~^]+ *\n", re.MULTILINE)
FRAMES = re.compile(r"^Traceback .*\n(?:  .*\n)+", re.MULTILINE)
# Refused by the framework and not by its dialect, and why.
NOT_REFUSED = {
    "jax: lax.exp(i)": "jax.lax converts nothing; the dialect is that of jax.numpy",
    "torch: F.layer_norm": "the message does not name the dtype of the weight",
    "mindspore: z % z": "MindSpore has a kernel for its function remainder alone",
    "mindspore: ops.conv2d": "it was not asked about this op",
    "paddle: F.conv2d": "it was not asked about this op",
}


def test_there_are_messages_of_every_framework() -> None:
    texts = {case.traceback.strip().rpartition("\n")[2] for case in CASES}
    assert len(texts) >= 60
    told = {case.dialect.partition(":")[0].partition("@")[0] for case in CASES}
    # OneFlow's is from its issues: it cannot be installed any more.
    assert told == set(traceback_data()["frameworks"]) - {"oneflow"}


@each("case", CASES)
def test_a_traceback_is_read(case: Recorded) -> None:
    read = read_traceback(case.traceback)
    assert (read.dialect, read.question) == (case.dialect, case.question)


@each("case", CASES)
def test_the_recorded_cases_are_those_of_the_programs(case: Recorded) -> None:
    texts = "\n\n".join(file.read_text("utf-8").strip() for file in FOLDER.glob("*.txt"))
    assert f"# {case.dialect}: {case.question}\n{case.program}\n" in f"{texts}\n"


def differences(less: Read, whole: Read) -> list[tuple[object, object]]:
    """What one reading tells otherwise than another. Telling less is no difference."""
    names = ("dialect", "op", "form", "computed")
    pairs = [(getattr(less, name), getattr(whole, name)) for name in names]
    if less.op == whole.op:
        pairs += zip(less.operands, whole.operands, strict=True)
    return [(one, other) for one, other in pairs if one is not None and one != other]


@each("case", CASES)
def test_without_marks_a_traceback_tells_the_same_or_less(case: Recorded) -> None:
    """As in Python 3.10."""
    bare = read_traceback(MARKS.sub("", case.traceback))
    assert differences(bare, read_traceback(case.traceback)) == []


@each("case", [case for case in CASES if "keras" not in case.dialect])
def test_a_message_alone_tells_the_same_or_less(case: Recorded) -> None:
    """But for a number, of which the message tells the type, and the code the value."""
    alone = read_traceback(FRAMES.split(case.traceback)[-1])
    whole = read_traceback(case.traceback)
    told = [pair for pair in differences(alone, whole) if pair[0] not in ("f*", "i*")]
    assert told == [] or not alone.in_order


@each("case", CASES)
def test_the_dialect_refuses_what_its_framework_refused(case: Recorded) -> None:
    """The reader reads, `resolve` decides, and the framework is the judge of both."""
    read = read_traceback(case.traceback)
    if read.nearest is None or str(case).startswith(tuple(NOT_REFUSED)):
        return
    outcome = outcome_of(taken_apart(read.nearest, read.dialect).last)
    assert not (isinstance(outcome, Decision) and outcome.has_kernel), read.nearest


def test_every_message_has_an_example() -> None:
    """A template that none of the recorded tracebacks has needs an example of its own."""
    texts = [case.traceback for case in CASES]
    patterns = iter(traceback_data()["patterns"])
    lacking = []
    for own in framework_messages():
        for message in own.messages:
            pattern = re.compile(next(patterns)["pattern"])
            examples = [message.example] if message.example else texts
            if not any(map(pattern.search, examples)):
                lacking.append((own.framework, message.template))
    assert lacking == []
