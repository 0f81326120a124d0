"""Steps as Python source. What is run is what is shown, so that a finding can be pasted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from castwise.conformance.grid import JOINS
from castwise.conformance.operand import Scalar
from castwise.conformance.programs.program import (
    ALIAS,
    ASSIGN,
    CAST,
    INDEX,
    MAKE,
    KeyPart,
    Operand,
    Step,
)
from castwise.conformance.values.notation import Held
from castwise.vocab.ops import OPS

_SYMBOLS = {(op.name, op.arity[0]): op.symbol for op in OPS.values() if op.symbol}


class Language(Protocol):
    """How a framework writes what frameworks write differently."""

    def array(self, held: Held) -> str:
        """An array that holds these values."""

    def cast(self, array: str, dtype: str) -> str:
        """An array in another dtype, asked for."""

    def called(self, step: Step, operands: Sequence[str]) -> str:
        """A call of an op, as a function or, in place, as a method."""


def statement(language: Language, step: Step) -> str:
    """A step as a line of Python."""
    value = expression(language, step)
    if step.op == ASSIGN:
        return f"{step.name}[{_key(language, step.key)}] = {value}"
    if step.form == "augmented":
        return f"{step.name} {_SYMBOLS[step.op, 2]}= {value}"
    return value if step.form == "inplace" else f"{step.name} = {value}"


def expression(language: Language, step: Step) -> str:
    """The right-hand side of a step, or all of it where it is a method in place."""
    given = [_operand(language, operand) for operand in step.operands]
    if step.op in (MAKE, ALIAS, ASSIGN) or step.form == "augmented":
        return given[-1]
    if step.op == INDEX:
        return f"{given[0]}[{_key(language, step.key)}]"
    if step.op == CAST:
        return language.cast(given[0], step.dtype)
    if step.form == "operator":
        return _operator(step, given)
    return language.called(step, given)


def _operator(step: Step, given: Sequence[str]) -> str:
    if len(given) == 1:
        return f"{_SYMBOLS[step.op, 1]}{given[0]}"
    return f"{given[0]} {_SYMBOLS[step.op, 2]} {given[1]}"


def _operand(language: Language, operand: Operand) -> str:
    if isinstance(operand, str):
        return operand
    if operand.dtype is None:
        text = number(operand.values[0])
        return f"({text})" if text.startswith("-") else text  # -1 ** x is -(1 ** x)
    return language.array(operand)


def _key(language: Language, key: Sequence[KeyPart]) -> str:
    parts = ", ".join(_key_part(language, part) for part in key)
    return parts or "()"


def _key_part(language: Language, part: KeyPart) -> str:
    if isinstance(part, Held):
        return language.array(part)
    if isinstance(part, slice):
        ends = [("" if end is None else str(end)) for end in (part.start, part.stop)]
        step = f":{part.step}" if part.step is not None else ""
        return f"{':'.join(ends)}{step}"
    return "..." if part is ... else repr(part)


def number(value: Scalar) -> str:
    """A number as Python reads it back, where nan and inf have a name.

    >>> number(complex(-0.0, 1.0)), number(1 + 2j), number(-0.0)
    ('complex(-0.0, 1.0)', '(1+2j)', '-0.0')
    """
    if not isinstance(value, complex):
        return repr(value)
    parts = (value.real, value.imag)
    is_plain = all(math.isfinite(p) and math.copysign(1, p) > 0 for p in parts)
    return repr(value) if is_plain else f"complex({value.real!r}, {value.imag!r})"


def numbers(held: Held) -> str | None:
    """What an array holds as nested lists; None where lists cannot tell its shape.

    >>> numbers(Held("int8", (2, 2), (1, 2, 3, 4)))
    '[[1, 2], [3, 4]]'
    """
    if 0 in held.shape[:-1]:
        return None
    texts = [number(value) for value in held.values]
    if held.shape[-1:] == (0,):
        texts, outer = ["[]"] * math.prod(held.shape[:-1]), held.shape[:-1]
    else:
        outer = held.shape
    for length in reversed(outer):
        rows = [texts[place : place + length] for place in range(0, len(texts), length)]
        texts = [f"[{', '.join(row)}]" for row in rows]
    return texts[0]


class AxisWords(NamedTuple):
    """What a framework calls the arguments of a reduction."""

    axis: str = "axis"
    keeps: str = "keepdims"


def arguments(step: Step, operands: Sequence[str], axis_words: AxisWords, *more: str) -> str:
    """The text between the parentheses of a call."""
    given = [*operands, *more]
    if step.axis is not None:
        given.append(f"{axis_words.axis}={step.axis}")
    if step.keeps_axis:
        given.append(f"{axis_words.keeps}=True")
    return ", ".join(given)


def in_list(step: Step, operands: Sequence[str]) -> Sequence[str]:
    """The operands, as one list where the op takes them so."""
    return [f"[{', '.join(operands)}]"] if step.op in JOINS else operands
