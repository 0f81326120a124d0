"""How a framework's error messages about dtypes are written down, and where they are found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FOLDER = "castwise.frameworks.messages"
# What stands in the braces of a template, and what it means.
PLACEHOLDERS = {
    "op": "the op, as the framework calls it",
    "left": "the dtype of the first operand",
    "right": "the dtype of the second operand",
    "third": "the dtype of the third operand",
    "each": "the dtype of every operand",
    "operands": "the dtypes of all operands, in a list",
    "place": "the place of the operand that has the dtype `found`, counted from 0",
    "found": "the dtype of the operand at `place`",
    "expected": "the dtype of the operands before `place`",
    "computed": "the dtype that the op computes in; that of its operand where it has only one",
    "result": "the dtype of the result",
    "target": "the dtype of the array that is written to",
    "dtype": "the dtype that was asked for, as in add(x, y, dtype=int8)",
    "number": "the second operand, a Python number",
    "kind": "the second operand, a Python number of this type",
    "any": "a word that tells nothing",
}


@dataclass(frozen=True, slots=True)
class Message:
    """An error message. Text is literal, `{...}` is one of PLACEHOLDERS, `...` skips some text."""

    template: str
    example: str = ""  # a real one; "": the recorded tracebacks have one
    op: str = ""  # the ops that raise it, the likeliest first, where the message names none
    form: str = ""  # "inplace" or "out", where the message says so
    mode: str = ""  # the mode that the message is of: "strict"
    operands: str = ""  # the operands, where the message implies them: "bool bool"
    is_in_order: bool = True  # False: the message does not tell which operand is the first


@dataclass(frozen=True, slots=True)
class Messages:
    """What is known of a framework's errors."""

    framework: str
    messages: tuple[Message, ...]
    dtypes: Mapping[str, str] = field(default_factory=dict)  # as errors spell them
    ops: Mapping[str, str] = field(default_factory=dict)  # as errors name them -> castwise's
    calls: Mapping[str, str] = field(default_factory=dict)  # as programs call them -> castwise's
    packages: str = ""  # the folders that its Python files are in
    signs: Mapping[str, str] = field(default_factory=dict)  # a text that only it has -> the dialect
    runs_on: str = ""  # the frameworks whose errors are its own where it was called
