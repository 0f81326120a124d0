"""Answers to questions: as JSON, in words with their steps, and line by line.

The commands are `castwise explain`, which also reads tracebacks, and `castwise resolve`. The same
words make the cards of notebooks.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from castwise.catalog import nearest_named
from castwise.comparing.table import Outcome, outcome_of
from castwise.engine.ask import question_about
from castwise.engine.decide import decide
from castwise.engine.decision import HAZARDS, Cast, Decision, Question, Refusal
from castwise.engine.explain import (
    Explained,
    Part,
    Taken,
    failing_part,
    part_head,
    part_steps,
    single_part,
)
from castwise.errors import (
    CastwiseError,
    NearestVersionWarning,
    PromotionError,
    ScalarRangeError,
    UsageError,
    did_you_mean,
)
from castwise.report.blocks import card, dtype_html, hazards_html, items
from castwise.report.terminal import Paint, folded, plain
from castwise.vocab.dtypes import DType
from castwise.vocab.notation import parse_operand

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from castwise.engine.tracebacks import Read

# Decisions and refusals as JSON, the same for every command.

_REFUSALS = (ScalarRangeError, PromotionError)  # the more specific one first


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """A decision or a refusal as a JSON object."""
    return decision_json(outcome) if isinstance(outcome, Decision) else _error_json(outcome)


def decision_json(decision: Decision) -> dict[str, Any]:
    """A decision as a JSON object; `casts` has one entry per operand, null if it is not cast.
    `program` is there if the op is computed by others."""
    return {
        "result": decision.result.name,
        "compute": decision.compute.name,
        "weak": decision.is_weak,
        "casts": [_cast_json(cast) for cast in decision.casts],
        **({"program": decision.program} if decision.program else {}),
        "hazards": list(decision.hazards),
        "notes": list(decision.notes),
    }


def _cast_json(cast: Cast | None) -> dict[str, Any] | None:
    """A cast as a JSON object; `from` is null if a Python scalar is cast, and `read` is true if
    nothing is copied."""
    if cast is None:
        return None
    source = cast.source.name if cast.source else None
    entry: dict[str, Any] = {"from": source, "to": cast.target.name, "hazards": list(cast.hazards)}
    return {**entry, "read": True} if cast.is_read else entry


def _error_json(error: CastwiseError) -> dict[str, Any]:
    """A refusal, or a question that makes no sense, as a JSON object."""
    kind = next((c.__name__ for c in _REFUSALS if isinstance(error, c)), "UsageError")
    return {"error": {"type": kind, "message": str(error)}}


# A decision with its steps: `castwise explain`.

_REFUSED = "Refused: "  # the start of the step that gives the reason; advice may follow it


@dataclass(frozen=True, slots=True)
class Explanation:
    """An expression, the steps to its answer, and the decision or the refusal they end in."""

    taken: Taken
    outcome: Outcome  # of the last part
    has_steps: bool = True

    @property
    def question(self) -> Question:
        return self.taken.last

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the last part, which gives the answer or fails."""
        return tuple(part_steps(self.taken.parts[-1])) if self.has_steps else ()

    @property
    def is_refused(self) -> bool:
        return isinstance(self.outcome, PromotionError)

    @property
    def is_run(self) -> bool:
        """Whether the framework runs it: it is not refused, and there is a kernel."""
        return isinstance(self.outcome, Decision) and self.outcome.has_kernel

    def __str__(self) -> str:
        return explanation_text(self)


def explained(asked: Question | Taken) -> Explanation:
    """The explanation of a question, or of an expression of several.

    Raises UsageError if the question makes no sense.
    """
    taken = single_part(asked) if isinstance(asked, Question) else asked
    return Explanation(taken, outcome_of(taken.last))


def explained_decision(decision: Decision) -> Explanation:
    """The explanation of a decision; one that was saved or observed has no steps."""
    return Explanation(single_part(decision.question), decision, decision.tell is not None)


def decision_text(decision: Decision) -> str:
    """A decision as its explanation."""
    return str(explained_decision(decision))


def explanation_json(explanation: Explanation, note: str = "") -> dict[str, Any]:
    """The answer as `castwise resolve` gives it, with the question and the steps. Where there are
    inner ops, `inner` has the answers to them, and `failed` the one that fails, if one does. `note`
    is about the dialect."""
    taken = explanation.taken
    answer = outcome_json(explanation.outcome)
    if note and "notes" in answer:
        answer["notes"] = [*answer["notes"], note]
    inner = {"inner": [_part_json(part) for part in taken.parts[:-1]]} if taken.is_nested else {}
    if not taken.is_whole:  # a result of the failed part is not that of the whole
        told = {name: said for name, said in answer.items() if name in ("error", "notes")}
        answer = {"failed": taken.parts[-1].text, **told}
    return {
        "question": taken.text,
        "dialect": taken.dialect.name,
        **inner,
        **answer,
        "steps": list(explanation.steps),
    }


def _part_json(part: Part) -> dict[str, Any]:
    """An inner op: its answer, and the operand that its result is."""
    answer = outcome_json(outcome_of(part.question)) if part.question else {}
    return {"question": part.text, **answer, "operand": str(part.result), "steps": part_steps(part)}


def explanation_text(explanation: Explanation, paint: Paint = plain, width: int = 80) -> str:
    """The answer on the first line, then the steps, then what the casts may cost."""
    taken = explanation.taken
    asked = f"{paint(taken.text, 'title')} in {taken.dialect.name}"
    refused, shown = lambda text: paint(text, "refused"), lambda d, text: paint(text, d.kind)
    lines = [_headline(explanation, asked, refused, shown)]
    for number, part in enumerate(taken.parts if explanation.has_steps else (), 1):
        if taken.is_nested:
            lines += ["", part_head(number, part, taken.dialect)]
        lines += ["", *_numbered(part_steps(part), paint, width)]
    hazards = _all_hazards(taken)
    if hazards and isinstance(explanation.outcome, Decision):
        longest = max(map(len, hazards))
        lines += ["", "What the casts may cost:"]
        for hazard in hazards:
            lines.append(f"  {paint(hazard.ljust(longest), 'hazard')}  {HAZARDS[hazard]}")
    return "\n".join(lines)


def _numbered(steps: list[str], paint: Paint, width: int) -> list[str]:
    lines = []
    for number, step in enumerate(steps, 1):
        is_reason = step.startswith(_REFUSED)
        for place, line in enumerate(folded(step, width - 5).splitlines()):
            start = f"{number:3}. " if place == 0 else " " * 5
            lines.append(start + (paint(line, "refused") if is_reason else line))
    return lines


def _all_hazards(taken: Taken) -> list[str]:
    """The hazards of all parts, each once."""
    outcomes = [outcome_of(part.question) for part in taken.parts if part.question]
    found = {h for outcome in outcomes if isinstance(outcome, Decision) for h in outcome.hazards}
    return [hazard for hazard in HAZARDS if hazard in found]


def _headline(
    found: Explanation,
    asked: str,
    refused: Callable[[str], str],
    shown: Callable[[DType, str], str],
) -> str:
    """What was asked, and what becomes of it; given how words of refusal and dtypes look."""
    taken, outcome = found.taken, found.outcome
    if not isinstance(outcome, Decision):
        return f"{asked} is {refused('refused')}{failing_part(taken)}"
    result = shown(outcome.result, f"{outcome.result}{'*' * outcome.is_weak}")
    if outcome.has_kernel:
        return f"{asked} is {result}"
    fails = f"{refused('fails to run')}{failing_part(taken)}"
    return f"{asked} {fails}: it promotes to {result}, then has no kernel"


# The answer to a question, in a notebook.


def decision_card(decision: Decision) -> str:
    """What a decision says, and how it came about."""
    return _card(explained_decision(decision))


def explained_card(text: Explained) -> str:
    """What an explanation says."""
    return _card(explained(text.taken))


def _card(found: Explanation) -> str:
    costs = [
        f"<p>{hazards_html([hazard])} {escape(HAZARDS[hazard])}</p>"
        for hazard in _all_hazards(found.taken)
        if isinstance(found.outcome, Decision)
    ]
    asked = f"<code>{escape(found.taken.text)}</code> in {escape(found.taken.dialect.name)}"
    head = _headline(found, asked, '<span class="refused">{}</span>'.format, dtype_html)
    return card(head, *(_steps(found.taken) if found.has_steps else ()), *costs)


def _steps(taken: Taken) -> list[str]:
    """The steps of each part, under its head if there are several."""
    shown = []
    for number, part in enumerate(taken.parts, 1):
        if taken.is_nested:
            shown.append(f"<p>{escape(part_head(number, part, taken.dialect))}</p>")
        shown.append(items(part_steps(part), "ol"))
    return shown


# What was read from a traceback, in words: `castwise explain --traceback`.

_COMMAND = "castwise explain"


def asked_in(read: Read, dialect: str) -> str:
    """The question to explain.

    Raises UsageError where the traceback does not tell enough, which says what it tells.
    """
    if read.sentence is None and read.op is None:
        raise UsageError(
            "this text has no message about dtypes that castwise knows. Give the whole traceback, "
            f'with its last lines, or ask yourself: {_COMMAND} {dialect} "float32[3] + int64[3]".'
        )
    if read.nearest is not None:
        return read.nearest
    from castwise.engine.tracebacks import UNKNOWN  # most explanations read none

    told = f"read from {read.sentence!r}" if read.sentence else "read from the line of code"
    if read.op is None:
        known = [operand for operand in read.operands if operand] or [read.computed or UNKNOWN]
        known += [f"out={read.out}"] if read.out else []
        raise UsageError(
            f"{told}: the op is not told. Write it in place of OP: "
            f'{_COMMAND} {dialect} "OP({", ".join(known)})".'
        )
    raise UsageError(
        f"{told}: the operands are not told. Write dtypes in place of {UNKNOWN}: "
        f'{_COMMAND} {dialect} "{read.question}".'
    )


def read_text(read: Read, paint: Paint = plain, width: int = 80) -> str:
    """The words that were read, and what they do not tell."""
    from castwise.engine.tracebacks import UNKNOWN

    notes = []
    if read.question != read.nearest:
        notes.append(
            f"It reads {read.question}. The op computes in {read.computed}, so that is what is "
            f"explained for {UNKNOWN}."
        )
    if not read.in_order:
        notes.append("The message does not tell which operand comes first.")
    if read.other_ops:
        notes.append(f"The op may also be {' or '.join(read.other_ops)}.")
    lines = [f"Read from: {paint(read.sentence or 'the line of code', 'title')}"]
    return "\n".join([*lines, *(folded(note, width) for note in notes)])


def accepted_text(dialect: str, width: int = 80) -> str:
    """What to think of an error that the dialect does not raise."""
    text = (
        f"{dialect} accepts this. The error has another cause: operands on two devices, an operand "
        "that the message does not name, or another version."
    )
    return folded(text, width)


# JSON lines in, one JSON answer per line out, in order: `castwise resolve`.

MAX_LINE = 1 << 20  # bytes; a longer line is refused, and never kept in memory whole
_LONGEST_KEPT = 256  # bytes; longer lines are rare and would make the cache large
_MOST_KEPT = 1 << 15
_CHUNK = 1 << 20
_ARGUMENTS = frozenset({str, bool, int, float, type(None)})
_NULL = type(None)
_TEXT, _NUMBER = (_NULL, str), (_NULL, bool, int, str, float)
# The fields of a line and their types. Errors name the last type. null counts as left out.
_FIELDS: dict[str, tuple[type, ...]] = {
    "dialect": _TEXT, "op": _TEXT, "args": (_NULL, list), "form": _TEXT, "inplace": (_NULL, bool),
    "out": _TEXT, "alpha": _NUMBER, "dtype": _TEXT, "casting": _TEXT,
    "where": (_NULL, bool, int, float, str), "initial": _NUMBER, "rounding_mode": _TEXT,
    "value": _NUMBER, "delta": _NUMBER,
}  # fmt: skip
_NUMBERS = ("alpha", "value", "delta")
_OPERANDS = ("where", "initial")
_WORDS = ("dtype", "casting", "rounding_mode")
_TYPE_NAMES = {str: "string", list: "list", bool: "boolean", float: "number"}
_decode = json.JSONDecoder().raw_decode
_decision_jsons: dict[object, str] = {}


class Reply(NamedTuple):
    """The JSON answers to some lines, and whether all of the lines made sense."""

    text: str
    is_well_formed: bool


def answer_stream(
    source: BinaryIO, target: BinaryIO, reply: Callable[[list[bytes]], Reply]
) -> bool:
    """Answers line by line, flushing when input is idle; returns whether all were well formed.

    `reply` is answer_lines, or does the same in another process. A line that the dialect refuses
    is still well formed. Blank lines are skipped.
    """
    is_well_formed = True
    for lines in _lines(source):
        found = reply(lines)
        target.write(found.text.encode())
        target.flush()
        is_well_formed = is_well_formed and found.is_well_formed
    return is_well_formed


def answer_lines(lines: Iterable[bytes], dialect: str | None = None) -> Reply:
    """The answers to some lines, one line each; `dialect` is for lines that name none."""
    answers = [answer_line(line, dialect) for line in lines]
    text = "".join([f"{found.text}\n" for found in answers])
    return Reply(text, all(found.is_well_formed for found in answers))


def _lines(source: BinaryIO) -> Iterator[list[bytes]]:
    """The available lines, whenever some arrive; the very last one may lack its newline."""
    rest = b""
    while data := source.read1(_CHUNK):  # type: ignore[attr-defined]
        *lines, rest = (rest + data).split(b"\n")
        rest = rest[: MAX_LINE + 1]  # enough to know that the line is too long
        yield [line for line in lines if line.strip()]
    if rest.strip():
        yield [rest]


def answer_line(line: bytes, dialect: str | None = None) -> Reply:
    """The answer to one line, in the given dialect if the line names none.

    >>> answer_line(b'{"op": "sub", "args": ["bool[3]", true], "dialect": "numpy"}').text[:36]
    '{"error": {"type": "PromotionError",'
    """
    if len(line) <= _LONGEST_KEPT:
        return _kept_answer(line, dialect)
    return _new_answer(line, dialect)


def _new_answer(line: bytes, dialect: str | None) -> Reply:
    try:
        fields = _fields(line)
        question = _question(fields, dialect)
        decision = decide(question)  # cached by the text of the line, not by the engine
    except Refusal as refusal:
        return Reply(json.dumps(_error_json(refusal.as_error(question))), True)
    except CastwiseError as error:
        return Reply(json.dumps(_error_json(error)), False)
    except Exception as bug:  # a bug in castwise must not stop the other lines
        message = f"castwise failed with {bug!r}. Please report it with this line."
        internal = {"error": {"type": "InternalError", "message": message}}
        return Reply(json.dumps(internal), False)
    name = str(fields.get("dialect") or dialect)
    if "@" in name and (note := nearest_named(name).note):  # another version answers
        found = decision_json(decision)
        return Reply(json.dumps({**found, "notes": [*found["notes"], note]}), True)
    return Reply(_kept_decision_json(decision), True)


_kept_answer = functools.lru_cache(maxsize=_MOST_KEPT)(_new_answer)


def _fields(line: bytes) -> dict[str, Any]:
    """The fields of a line, checked for their types.

    Raises UsageError if the line is not such an object.
    """
    if len(line) > MAX_LINE:
        raise UsageError(f"a line has more than {MAX_LINE} bytes.")
    try:
        text = line.strip().decode()
        fields, end = _decode(text)
    except RecursionError:
        raise UsageError("cannot read this JSON: it is nested too deeply.") from None
    except ValueError as error:  # bad UTF-8, bad JSON, an integer of thousands of digits
        raise UsageError(f"not JSON: {error}.") from None
    if end != len(text) or not isinstance(fields, dict):
        raise UsageError("a line must be one JSON object and nothing else.")
    for name, value in fields.items():
        if name not in _FIELDS:
            hint = did_you_mean(name, _FIELDS)
            raise UsageError(f"unknown field {name[:64]!r}.{hint} There are {', '.join(_FIELDS)}.")
        if type(value) not in _FIELDS[name]:
            raise UsageError(f"the field {name!r} is not a {_TYPE_NAMES[_FIELDS[name][-1]]}.")
    return fields


def _question(fields: dict[str, Any], dialect: str | None) -> Question:
    """The question in the fields.

    Raises UsageError if a field is missing or makes no sense.
    """
    op, args, own_dialect = fields.get("op"), fields.get("args"), fields.get("dialect")
    if op is None or args is None:
        raise UsageError("a question needs the fields 'op' and 'args'.")
    if not _ARGUMENTS.issuperset(map(type, args)):
        raise UsageError("an argument must be notation in a string, a number, a boolean or null.")
    if own_dialect is None and dialect is None:
        raise UsageError("no dialect: give the field 'dialect', or --dialect for all lines.")
    return question_about(
        op,
        *[_operand(arg) for arg in args],
        dialect=dialect if own_dialect is None else own_dialect,
        form=fields.get("form"),
        inplace=fields.get("inplace") or False,
        out=fields.get("out"),
        **{key: fields[key] for key in _WORDS if fields.get(key) is not None},
        **{key: _operand(fields[key]) for key in _OPERANDS if fields.get(key) is not None},
        **{key: _number(key, fields[key]) for key in _NUMBERS if fields.get(key) is not None},
    )


def _operand(argument: Any) -> Any:
    return parse_operand(argument) if isinstance(argument, str) else argument


def _number(name: str, given: Any) -> Any:
    """A number, or the value of a literal such as "1+2j", which JSON has no form for."""
    if not isinstance(given, str):
        return given
    operand = parse_operand(given)
    if not operand.is_scalar:
        raise UsageError(f"{name} must be a number, not {given[:64]!r}.")
    return operand.value


def _kept_decision_json(decision: Decision) -> str:
    """The JSON of a decision, kept: different questions often get the same one."""
    d = decision
    key = (d.result, d.compute, d.casts, d.result_cast, d.is_weak, d.notes, d.program, d.inside)
    text = _decision_jsons.get(key)
    if text is None:
        if len(_decision_jsons) >= _MOST_KEPT:
            _decision_jsons.clear()
        text = _decision_jsons[key] = json.dumps(decision_json(decision))
    return text


# The same lines answered by two processes, when many arrive at a time.

MANY = 256  # available lines; for fewer, sending half away costs more than it saves
_READY = "ready"


class TwoProcesses:
    """Answers lines here, and half of many lines in a second process.

    The second process starts with the first large batch. Nothing waits for it: until it is ready,
    this process answers every line. It ends when this one does, for whatever reason.
    """

    def __init__(self, dialect: str | None) -> None:
        _collect_seldom()
        self._dialect = dialect
        self._second: Connection | None = None
        self._is_alone = (os.cpu_count() or 1) < 2
        self._is_ready = False

    def answer_lines(self, lines: list[bytes]) -> Reply:
        """The answers in the order of the lines."""
        if len(lines) < MANY or not self._has_second():
            return answer_lines(lines, self._dialect)
        assert self._second is not None
        half = len(lines) // 2
        try:
            self._second.send(lines[half:])
            first = answer_lines(lines[:half], self._dialect)
            second: Reply = self._second.recv()
        except (EOFError, OSError):  # something else ended the second process
            self._is_alone = True
            return answer_lines(lines, self._dialect)
        return Reply(first.text + second.text, first.is_well_formed and second.is_well_formed)

    def _has_second(self) -> bool:
        """Whether the second process can take work now; starts it if there is none."""
        if self._is_alone:
            return False
        if self._second is None:
            self._second = _started(self._dialect)
        if not self._is_ready and self._second.poll():
            self._is_ready = self._second.recv() == _READY
        return self._is_ready


def _collect_seldom() -> None:
    """Makes the garbage collector run less often: it took half the time, only to scan the cached
    answers, which are not garbage."""
    gc.set_threshold(100_000, 20, 20)


def _started(dialect: str | None) -> Connection:
    """This process's end of a pipe to a new process that answers lines."""
    # A forked process would keep this one's end of the pipe open and never see it closed.
    import multiprocessing  # for many lines of JSON only

    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    context.Process(target=_serve, args=(far, dialect), daemon=True).start()
    far.close()
    return near


def _serve(requests: Connection, dialect: str | None) -> None:
    """Answers requests until the other end is closed."""
    _collect_seldom()
    warnings.simplefilter("ignore", NearestVersionWarning)  # the answers have it as a note
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides when to stop
    requests.send(_READY)
    try:
        while True:
            requests.send(answer_lines(requests.recv(), dialect))
    except (EOFError, OSError):
        return
