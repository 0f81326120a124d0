"""What was read from a traceback, in words: `castwise explain --traceback`."""

from __future__ import annotations

import textwrap

from castwise.engine.tracebacks.read import UNKNOWN, Read
from castwise.errors import UsageError
from castwise.report.terminal.colour import Paint, plain

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
    for note in notes:
        lines += textwrap.wrap(note, width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def accepted_text(dialect: str, width: int = 80) -> str:
    """What to think of an error that the dialect does not raise."""
    text = (
        f"{dialect} accepts this. The error has another cause: operands on two devices, an operand "
        "that the message does not name, or another version."
    )
    return textwrap.fill(text, width, break_long_words=False)
