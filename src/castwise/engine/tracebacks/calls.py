"""The op that a line of code calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from castwise.engine.tracebacks.data import Data
from castwise.engine.tracebacks.frames import Frame

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?j?"
_TOKEN = re.compile(
    r"\"[^\"]*\"|'[^']*'|" + _NUMBER + r"|[A-Za-z_][\w.]*|\*\*=?|//=?|<<=?|>>=?|[-+*/%@&|^]=?"
    r"|[=!<>]=|[~<>()\[\]{},:=.]",
    re.ASCII,
)
_LITERAL = re.compile(rf"-?{_NUMBER}|True|False")
_NAME = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
_KEYWORD = re.compile(r"(?:return|and|or|not|in|is|if|else|await|yield|assert|lambda|for|while)")
_OPERATOR = re.compile(r"[-+*/%@&|^~<>=!]+")
_ENDS_OPERAND = re.compile(r"[\w)\]}'\"]$", re.ASCII)
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Call:
    """A call in a line of code."""

    op: str | None  # None: it is none that castwise knows
    form: str  # "operator", "augmented", "function", "inplace" or "out"
    numbers: tuple[str | None, ...] = ()  # its operands that are numbers in the code, in place


def call_in(frames: list[Frame], data: Data, wanted: list[str], framework: str) -> Call | None:
    """The call that failed. `wanted` are the ops that the message speaks of, if it names some.

    The user's last line of code tells it, or else the framework's lines that it led to.
    """
    # From Python 3.11 on a line without marks failed as a whole.
    has_marks = any(frame.marks for frame in frames)
    start = next((i for i in reversed(range(len(frames))) if not _is_inside(frames[i], data)), 0)
    for frame in frames[start:]:
        calls = _calls_of(frame, data, framework, has_marks)
        if frame is frames[-1]:  # a function written in Python would have a frame of its own
            calls = [call for call in calls if call.op]
        fitting = [call for call in calls if not wanted or call.op in wanted]
        if len(fitting) == 1 and fitting[0].op:
            # Where it is one of several, what stands beside it may be part of another.
            return fitting[0] if len(calls) == 1 else Call(fitting[0].op, fitting[0].form)
    return None


def _is_inside(frame: Frame, data: Data) -> bool:
    return framework_of_file(frame.file, data) is not None


def framework_of_file(file: str, data: Data) -> str | None:
    """The framework that a file is of."""
    found = re.search(r"[\\/](?:site|dist)-packages[\\/](\w+)[\\/]", file)
    return data["packages"].get(found[1]) if found else None


def _calls_of(frame: Frame, data: Data, framework: str, has_marks: bool) -> list[Call]:
    """The ops and other calls of a line of code; the failed one alone, where it is marked."""
    marked = _marked_operator(frame, data)
    if marked:
        return [marked]
    start = len(frame.marks) - len(frame.marks.lstrip())
    text = frame.code[start : len(frame.marks)] if frame.marks else frame.code
    tokens = _TOKEN.findall(text)
    outer = _outer_call(tokens, data, framework) if has_marks else None
    if outer:
        return [outer]
    found = [_call_at(tokens, place, data, framework) for place in range(len(tokens))]
    return [call for call in found if call]


def _marked_operator(frame: Frame, data: Data) -> Call | None:
    """The operator that the marks point at: `a @ b` with `~~^~~` below it."""
    marks = frame.marks
    if "~" not in marks:
        return None
    start, end = marks.index("^"), marks.rindex("^") + 1
    symbol = frame.code[start:end].strip()
    left = frame.code[len(marks) - len(marks.lstrip()) : start]
    return _operator(symbol, 2, (left.strip(), frame.code[end : len(marks)].strip()), data)


def _operator(symbol: str, count: int, operands: tuple[str, ...], data: Data) -> Call | None:
    form = "operator"
    op = data["symbols"].get(f"{symbol}{count}")
    if op is None and symbol.endswith("="):
        form, op = "augmented", data["symbols"].get(f"{symbol[:-1]}{count}")
    return Call(op, form, tuple(map(_number, operands))) if op else None


def _number(text: str) -> str | None:
    return text if _LITERAL.fullmatch(text) else None


def _call_at(tokens: list[str], place: int, data: Data, framework: str) -> Call | None:
    """The operator or call that a token is; None where it is neither."""
    token, before = tokens[place], tokens[place - 1] if place else ""
    after = tokens[place + 1] if place + 1 < len(tokens) else ""
    if _OPERATOR.fullmatch(token):
        is_operand = _ENDS_OPERAND.search(before) and not _KEYWORD.fullmatch(before)
        if is_operand:
            return _operator(token, 2, (before, after), data)
        return None if _number(after) else _operator(token, 1, (after,), data)
    if after == "(" and _NAME.fullmatch(token) and not _KEYWORD.fullmatch(token):
        return _named_call(tokens, place, data, framework)
    return None


def _outer_call(tokens: list[str], data: Data, framework: str) -> Call | None:
    """The call that the code as a whole is."""
    depth, last = 0, None
    for place, token in enumerate(tokens):
        if depth == 0 and (_OPERATOR.fullmatch(token) or _KEYWORD.fullmatch(token)):
            return None
        if depth == 0 and token in _OPEN:
            last = place
        depth += (token in _OPEN) - (token in _CLOSE)
    if not last or tokens[last] != "(" or not _NAME.fullmatch(tokens[last - 1]):
        return None
    return _named_call(tokens, last - 1, data, framework) if tokens[-1] == ")" else None


def _named_call(tokens: list[str], place: int, data: Data, framework: str) -> Call:
    """A call by name: a framework's function, or a method of an array."""
    receiver, _, name = tokens[place].rpartition(".")
    owner = next((f for f, own in data["frameworks"].items() if receiver in own["prefixes"]), None)
    is_method = owner is None and (bool(receiver) or (place > 0 and tokens[place - 1] == "."))
    if (owner is None and not is_method) or receiver in ("self", "super"):
        return Call(None, "function")
    own = data["frameworks"].get(framework or owner, {"calls": {}})
    op, form = _op_called(name, own["calls"], data)
    given = _arguments(tokens, place + 1)
    is_out = any(words[:2] == ["out", "="] for words in given)
    numbers = [_number("".join(words)) for words in given if "=" not in words]
    if any(words[0] == "[" for words in given):
        numbers = []  # cat([a, b], 0): its operands are those of the list
    in_place = (None, *numbers) if is_method else tuple(numbers)
    return Call(op, "out" if is_out else form, in_place)


def _op_called(name: str, calls: Mapping[str, str], data: Data) -> tuple[str | None, str]:
    """The op of a function's name, and its form; a name such as add_ is in place."""
    op, form = calls.get(name, name), "function"
    if op not in data["ops"] and op.endswith("_"):
        op, form = calls.get(op[:-1], op[:-1]), "inplace"
    return op if op in data["ops"] else None, form


def _arguments(tokens: list[str], start: int) -> list[list[str]]:
    """The tokens of each argument of the call whose bracket opens here."""
    given: list[list[str]] = [[]]
    depth = 1
    for token in tokens[start + 1 :]:
        depth += (token in _OPEN) - (token in _CLOSE)
        if depth == 0:
            break
        if token == "," and depth == 1:
            given.append([])
        else:
            given[-1].append(token)
    return [words for words in given if words]
