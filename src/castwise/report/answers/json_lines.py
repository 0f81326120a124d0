"""JSON lines in, one JSON answer per line out, in order: `castwise resolve`."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from castwise.engine.ask import question_of
from castwise.engine.decide import decide
from castwise.engine.decision import Decision, Question, Refusal
from castwise.errors import CastwiseError, UsageError, did_you_mean
from castwise.report.answers.as_json import decision_json, error_json
from castwise.rules.catalog import nearest_named
from castwise.vocab.notation import parse_operand

MAX_LINE = 1 << 20  # bytes; a longer line is refused, and never kept in memory whole
_LONGEST_KEPT = 256  # bytes; longer lines are rare and would make the cache large
_MOST_KEPT = 1 << 15
_CHUNK = 1 << 20
_ARGUMENTS = frozenset({str, bool, int, float, type(None)})
_NULL = type(None)
# The fields of a line and their types. Errors name the last type. null counts as left out.
_FIELDS: dict[str, tuple[type, ...]] = {
    "dialect": (_NULL, str),
    "op": (_NULL, str),
    "args": (_NULL, list),
    "form": (_NULL, str),
    "inplace": (_NULL, bool),
    "out": (_NULL, str),
    "alpha": (_NULL, bool, int, str, float),
    "dtype": (_NULL, str),
    "casting": (_NULL, str),
    "where": (_NULL, bool, int, float, str),
    "initial": (_NULL, bool, int, str, float),
    "rounding_mode": (_NULL, str),
    "value": (_NULL, bool, int, str, float),
    "delta": (_NULL, bool, int, str, float),
}
_NUMBERS = ("alpha", "value", "delta")
_OPERANDS = ("where", "initial")
_WORDS = ("dtype", "casting", "rounding_mode")
_TYPE_NAMES = {str: "string", list: "list", bool: "boolean", float: "number"}
_decode = json.JSONDecoder().raw_decode
_texts: dict[object, str] = {}


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
    return _answer(line, dialect)


def _answer(line: bytes, dialect: str | None) -> Reply:
    try:
        fields = _fields(line)
        question = _question(fields, dialect)
        decision = decide(question)  # cached by the text of the line, not by the engine
    except Refusal as refusal:
        return Reply(json.dumps(error_json(refusal.as_error(question))), True)
    except CastwiseError as error:
        return Reply(json.dumps(error_json(error)), False)
    except Exception as bug:  # a bug in castwise must not stop the other lines
        return Reply(json.dumps(_internal_error(bug)), False)
    note = _note_on(fields.get("dialect") or dialect)
    if note:
        found = decision_json(decision)
        return Reply(json.dumps({**found, "notes": [*found["notes"], note]}), True)
    return Reply(_decision_text(decision), True)


def _note_on(dialect: str | None) -> str:
    """A sentence on a dialect's version that another one answers for."""
    return nearest_named(dialect).note if dialect and "@" in dialect else ""


def _internal_error(bug: Exception) -> dict[str, Any]:
    message = f"castwise failed with {bug!r}. Please report it with this line."
    return {"error": {"type": "InternalError", "message": message}}


_kept_answer = functools.lru_cache(maxsize=_MOST_KEPT)(_answer)


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
        if type(value) not in _FIELDS.get(name, ()):
            raise _bad_field(name)
    return fields


def _bad_field(name: str) -> UsageError:
    if name not in _FIELDS:
        hint = did_you_mean(name, _FIELDS)
        return UsageError(f"unknown field {name[:64]!r}.{hint} There are {', '.join(_FIELDS)}.")
    return UsageError(f"the field {name!r} is not a {_TYPE_NAMES[_FIELDS[name][-1]]}.")


def _question(fields: dict[str, Any], dialect: str | None) -> Question:
    """The question in the fields.

    Raises UsageError if a field is missing or makes no sense.
    """
    name, args, own_dialect = fields.get("op"), fields.get("args"), fields.get("dialect")
    if name is None or args is None:
        raise UsageError("a question needs the fields 'op' and 'args'.")
    if not _ARGUMENTS.issuperset(map(type, args)):
        raise UsageError("an argument must be notation in a string, a number, a boolean or null.")
    if own_dialect is None and dialect is None:
        raise UsageError("no dialect: give the field 'dialect', or --dialect for all lines.")
    return question_of(
        name,
        *[_operand(arg) for arg in args],
        dialect=dialect if own_dialect is None else own_dialect,
        form=fields.get("form"),
        inplace=fields.get("inplace") or False,
        out=fields.get("out"),
        **{name: fields[name] for name in _WORDS if fields.get(name) is not None},
        **{name: _operand(fields[name]) for name in _OPERANDS if fields.get(name) is not None},
        **{name: _number(name, fields[name]) for name in _NUMBERS if fields.get(name) is not None},
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


def _decision_text(decision: Decision) -> str:
    """The JSON of a decision; different questions often get the same one."""
    d = decision
    key = (d.result, d.compute, d.casts, d.result_cast, d.is_weak, d.notes)
    text = _texts.get(key)
    if text is None:
        if len(_texts) >= _MOST_KEPT:
            _texts.clear()
        text = _texts[key] = json.dumps(decision_json(decision))
    return text
