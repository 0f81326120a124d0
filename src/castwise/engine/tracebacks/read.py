"""The question that a pasted traceback asks: the op, its operands, and the dialect that refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from castwise.engine.tracebacks.calls import Call, call_in, framework_of_file
from castwise.engine.tracebacks.data import Data, traceback_data
from castwise.engine.tracebacks.frames import Frame, cleaned, frames_of
from castwise.engine.tracebacks.names import dtype_named, operands_named, ops_named

MOST = 200_000  # characters: of a longer text the end is read, where the error is
UNKNOWN = "?"  # an operand that the traceback does not tell
_OPERANDS = ("left", "right", "third")
_DTYPES = (*_OPERANDS, "each", "found", "expected", "computed", "result", "target", "dtype")
_LONGEST = 250
_WRITES = ("augmented", "inplace")


@dataclass(frozen=True, slots=True)
class Read:
    """What a traceback tells. What it does not tell is None: nothing is guessed."""

    sentence: str | None  # the words of the message that it was read from
    dialect: str | None
    op: str | None
    form: str | None = None  # "operator", "augmented", "function", "inplace" or "out"
    operands: tuple[str | None, ...] = ()  # in notation: a dtype, or a Python number
    out: str | None = None  # the dtype of the array that the result is written to
    computed: str | None = None  # the dtype that the op computes in, or gives
    dtype: str | None = None  # the dtype that was asked for: dtype=
    in_order: bool = True  # False: the operands may be the other way round
    other_ops: tuple[str, ...] = ()  # which it may be instead, as far as the message tells

    @property
    def question(self) -> str | None:
        """The op with its operands, in notation; `?` stands for one that is not told."""
        return self._expression([operand or UNKNOWN for operand in self.operands])

    @property
    def nearest(self) -> str | None:
        """A question that a dialect refuses for the same reason: operands that are not told have
        the dtype that the op computes in. None where that is not told either."""
        operands = [operand or self.computed for operand in self.operands]
        return None if None in operands else self._expression([str(o) for o in operands])

    def _expression(self, operands: Sequence[str]) -> str | None:
        if self.op is None:
            return None
        symbol = traceback_data()["ops"][self.op]["symbol"]
        if self.form == "augmented" and symbol:
            return f"{operands[0]} {symbol}= {operands[1]}"
        named = {"out": self.out, "dtype": self.dtype}
        given = [f"{name}={dtype}" for name, dtype in named.items() if dtype]
        if self.form in ("operator", None) and symbol and not given:
            left = f"{operands[0]} " if len(operands) > 1 else ""
            return f"{left}{symbol}{' ' if left else ''}{operands[-1]}"
        name = f"{self.op}_" if self.form == "inplace" else self.op
        return f"{name}({', '.join([*operands, *given])})"

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON, as the interactive page has it."""
        return {
            "sentence": self.sentence,
            "dialect": self.dialect,
            "op": self.op,
            "form": self.form,
            "operands": list(self.operands),
            "out": self.out,
            "computed": self.computed,
            "dtype": self.dtype,
            "in_order": self.in_order,
            "other_ops": list(self.other_ops),
            "question": self.question,
            "nearest": self.nearest,
        }


def read_traceback(text: str) -> Read:
    """What an error message, or the traceback that ends in it, tells of an op and its dtypes.

    >>> read = read_traceback("mat1 and mat2 must have the same dtype, but got Float and Half")
    >>> read.dialect, read.question
    ('torch', 'float32 @ float16')
    """
    data = traceback_data()
    text = cleaned(text[-MOST:])
    frames = frames_of(text)
    found = _first_message(text, data)
    framework = _framework(found, frames, text, data)
    wanted = found.ops if found else []
    call = call_in(frames, data, wanted, framework or "")
    op = call.op if call else next(iter(wanted), None)
    form = (found.pattern["form"] if found else None) or (call.form if call else None)
    operands, out = _operands(found, op, form, call, data)
    if op and len(operands) > data["ops"][op]["most"]:
        op = form = None  # the line of code has one op, and the message is about another
    told = found.dtypes if found else {}
    return Read(
        found.sentence if found else None,
        _dialect(found, framework, text, data),
        op,
        form,
        operands,
        out,
        told.get("computed") or told.get("result"),
        told.get("dtype"),
        found is None or found.pattern["in_order"] or (call is not None and any(call.numbers)),
        () if call else tuple(wanted[1:]),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A message in a text, and what its groups are."""

    pattern: Data
    sentence: str
    groups: dict[str, str]
    dtypes: dict[str, str | None]
    ops: list[str]


def _first_message(text: str, data: Data) -> _Found | None:
    """The first of the patterns that the text has, where it stands last."""
    for pattern in data["patterns"]:
        for match in reversed(list(re.finditer(pattern["pattern"], text, re.ASCII))):
            found = _found(pattern, match, data)
            if found:
                return found
    return None


def _found(pattern: Data, match: re.Match[str], data: Data) -> _Found | None:
    """What a match means; None where its words are no dtypes or ops, so that it means nothing."""
    groups = dict(zip(pattern["groups"], match.groups(), strict=True))
    framework = pattern["framework"]
    dtypes = {n: dtype_named(w, framework, data) for n, w in groups.items() if n in _DTYPES}
    ops = pattern["ops"]
    if "op" in groups:
        ops = ops_named(groups["op"], framework, data)
        if not ops and not dtypes:
            return None
    if dtypes and not any(dtypes.values()):
        return None
    return _Found(pattern, _shortened(match[0]), groups, dtypes, ops)


def _shortened(message: str) -> str:
    """A message on one line. Some list every dtype that a kernel has."""
    line = " ".join(message.split())
    return line if len(line) <= _LONGEST else f"{line[:120]} ... {line[-80:]}"


def _framework(found: _Found | None, frames: list[Frame], text: str, data: Data) -> str | None:
    """Whose rules refused: the framework that the user's code called, where that runs on the one
    whose message it is."""
    inside: list[str] = []
    for frame in reversed(frames):
        framework = framework_of_file(frame.file, data)
        if framework is None:
            break
        inside.append(framework)
    called = inside[-1] if inside else None
    if found is None:
        sign = next((d for t, d in data["signs"].items() if t in text), None)
        return called or (sign.partition("@")[0] if sign else None)
    own: str = found.pattern["framework"]
    return called if called and own in data["frameworks"][called]["runs_on"] else own


def _dialect(found: _Found | None, framework: str | None, text: str, data: Data) -> str | None:
    """The dialect: that of the message, or that of which the traceback has a sign."""
    if found and framework == found.pattern["framework"] != found.pattern["dialect"]:
        return str(found.pattern["dialect"])
    signs = [d for t, d in data["signs"].items() if t in text and d.partition("@")[0] == framework]
    return signs[0] if signs else framework


def _operands(
    found: _Found | None, op: str | None, form: str | None, call: Call | None, data: Data
) -> tuple[tuple[str | None, ...], str | None]:
    """The operands, as many as the op has, and the dtype of what is written to."""
    row = data["ops"][op] if op else {"operands": 0, "condition_first": False}
    slots = _slots(found, row, data) if found else []
    target = found.dtypes.get("target") if found else None
    if target and form in _WRITES:
        slots = [target, *slots[1:]]
    if row["condition_first"] and len(slots) > 1:
        # The condition takes no part, and a wrong one has a message of its own.
        slots = ["bool", *slots[-2:]]
    slots += [None] * (row["operands"] - len(slots))
    _put_numbers(slots, call.numbers if call else (), data)
    return tuple(slots), None if form in _WRITES else target


def _slots(found: _Found, row: Data, data: Data) -> list[str | None]:
    """What a message tells of the operands, from the first on."""
    groups, dtypes = found.groups, found.dtypes
    count: int = row["operands"]
    slots: list[str | None] = [None if o == UNKNOWN else o for o in found.pattern["operands"]]
    if "operands" in groups:
        slots = operands_named(groups["operands"], found.pattern["framework"], data)
    elif "each" in dtypes:
        slots = [dtypes["each"]] * count
    elif "place" in groups:
        place, first = int(groups["place"]), int(row["condition_first"])
        slots = [None] * min(first, place)
        slots += [dtypes["expected"]] * (place - len(slots))
        slots.append(dtypes["found"])
    elif "computed" in dtypes and count == 1:
        slots = [dtypes["computed"]]
    for place, name in enumerate(_OPERANDS):
        if name in dtypes:
            slots += [None] * (place + 1 - len(slots))
            slots[place] = dtypes[name]
    number = data["kinds"].get(groups.get("kind")) or groups.get("number")
    if number:
        slots += [None] * (2 - len(slots))
        slots[1] = number
    return slots


def _put_numbers(slots: list[str | None], numbers: tuple[str | None, ...], data: Data) -> None:
    """Puts the numbers of the code in their places. A dtype that the message tells stays: some
    frameworks have made an array of the number."""
    for place, number in enumerate(numbers[: len(slots)]):
        if number is None:
            continue
        told = [q for q, slot in enumerate(slots) if _is_number(slot, data)]
        if told and told[0] != place and told[0] < len(numbers) and numbers[told[0]] is None:
            slots[told[0]], slots[place] = slots[place], slots[told[0]]
        if slots[place] not in data["dtypes"]:
            slots[place] = number


def _is_number(operand: str | None, data: Data) -> bool:
    return operand is not None and operand not in data["dtypes"]
