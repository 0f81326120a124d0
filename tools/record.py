"""Records what an installed framework answers: `python tools/record.py torch -o FILE`."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from castwise.conformance.questions import FORMS, OPS, GridQuestion, is_about, is_of_form
from castwise.conformance.recorder import Cell, Header, ValueRecorder, count
from castwise.conformance.recorders import find_value_recorder, frameworks
from castwise.conformance.values import CAST, ZERO_DIVISION, read_held, value_questions
from castwise.conformance.values import OPS as VALUE_OPS
from castwise.vocab.notation import OUT_OF_RANGE
from cell_files import header, header_of_both, read_cells, value_header, write_cells
from own_process import Part, Unanswered, asked_apart

_EVERY = 1000  # questions between two updates of the progress line
_MOST_GROUPS = 60  # of calls that told nothing


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses the command line, asks, and writes the cell file."""
    parser = argparse.ArgumentParser(prog="python tools/record.py", description=__doc__)
    parser.add_argument("framework", choices=frameworks())
    parser.add_argument("--mode", default="", help="such as default_float=float64 (torch)")
    parser.add_argument(
        "--op", action="append", choices=sorted({*OPS, *VALUE_OPS}), metavar="OP",
        help="only this op; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--without", action="append", choices=sorted(OPS), metavar="OP",
        help="all ops but this one; may be repeated",
    )  # fmt: skip
    parser.add_argument("--form", choices=FORMS, help="only this form, such as augmented")
    parser.add_argument(
        "--dtype", action="append", metavar="DTYPE",
        help='only questions that name this dtype, or "list" for lists; may be repeated',
    )  # fmt: skip
    parser.add_argument(
        "--add", action="store_true",
        help="keep what the file has about other ops, forms and dtypes; the versions must be the"
        " same, except for the last number of Python's",
    )  # fmt: skip
    parser.add_argument("--values", action="store_true", help="what it computes, not only dtypes")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    if chosen.op and chosen.without:
        parser.error("--op and --without exclude each other")

    record = _record_values if chosen.values else _record_dtypes
    ops = [op for op in OPS if op not in chosen.without] if chosen.without else chosen.op
    try:
        limits = Limits(ops, chosen.form, chosen.dtype)
        first, recorded, total = record(chosen.framework, chosen.mode, limits)
        asked = len(recorded)
        if chosen.add:
            first, recorded = added(chosen.output, first, recorded, limits)
    except (ImportError, ValueError) as error:
        parser.error(str(error))
    write_cells(chosen.output, first, recorded)
    sys.stderr.write(f"{chosen.output}: {asked} cells of {total} questions\n")


class Limits(NamedTuple):
    """Which part of the questions is asked; None means all."""

    ops: Sequence[str] | None = None
    form: str | None = None
    dtypes: Sequence[str] | None = None

    def holds(self, cell: Cell) -> bool:
        """Whether a cell is of that part."""
        is_of_dtypes = self.dtypes is None or is_about(cell.operands, self.dtypes)
        is_of_ops = self.ops is None or cell.op in self.ops
        return is_of_ops and is_of_form(cell.form, self.form) and is_of_dtypes


Recorded = tuple[Header, list[Cell], int]


def _record_dtypes(framework: str, mode: str, limits: Limits) -> Recorded:
    """The header, the cells and how many questions were asked."""
    part = Part(framework, mode, *limits)
    recorder = part.recorder()
    total = count(recorder, limits.ops)
    recorded, unanswered = [], []
    for found in asked_apart(part, _progress(total)):
        if isinstance(found, Cell):
            recorded.append(found)
        elif isinstance(found, Unanswered):
            unanswered.append(found)
        else:
            op, form, operands = found.question
            sys.stderr.write(f"no answer, and the process ended: {op} {form} {operands}\n")
    sys.stderr.write(unanswered_text(unanswered, {(c.op, _kind(c.form)) for c in recorded}))
    first = header(recorder)
    if limits.ops is not None:
        first["ops"] = " ".join(limits.ops)
    return first, recorded, total


def unanswered_text(unanswered: Sequence[Unanswered], answered: Collection[tuple[str, str]]) -> str:
    """Which calls told nothing about dtypes, with the first of each op, form and error.

    An op in a form of which no call did comes first: the recorder may call it in a wrong way.
    """
    if not unanswered:
        return ""
    groups = defaultdict[tuple[str, str, str], list[Unanswered]](list)
    for each in unanswered:
        groups[each.question.op, _kind(each.question.form), each.why.error].append(each)
    ordered = sorted(groups.items(), key=lambda group: (group[0][:2] in answered, -len(group[1])))
    lines = [f"no answer: {len(unanswered)} questions, not for their dtypes\n"]
    for (op, form, error), group in ordered[:_MOST_GROUPS]:
        first, why = group[0].question, group[0].why.text.partition("\n")[0]
        mark = "" if (op, form) in answered else " (no answer at all)"
        call = f"{op} {first.form} {', '.join(first.operands)}"
        lines.append(f"  {len(group):6}{mark}  {call}: {f'{error}: ' * bool(error)}{why}\n")
    if len(ordered) > _MOST_GROUPS:
        lines.append(f"  and {len(ordered) - _MOST_GROUPS} more kinds\n")
    return "".join(lines)


def _kind(form: str) -> str:
    return form.partition("=")[0]


def added(
    path: Path, first: Header, recorded: list[Cell], limits: Limits
) -> tuple[Header, list[Cell]]:
    """What a file has beyond some limits, with what was recorded now within them.

    Raises ValueError where the file was recorded from other versions.
    """
    before, kept = read_cells(path)
    ops = [each.pop("ops", "").split() for each in (before, first)]
    both = header_of_both(before, first)
    if both is None:
        raise ValueError(f"{path} was recorded from {before}, and this is {first}: record it anew.")
    if ops[0]:  # a recording of some ops only
        both["ops"] = " ".join(dict.fromkeys([*ops[0], *ops[1]]))
    return both, [*(cell for cell in kept if not limits.holds(cell)), *recorded]


def _record_values(framework: str, mode: str, limits: Limits) -> Recorded:
    """The same of values."""
    if limits.form is not None or limits.dtypes is not None:
        raise ValueError("--form and --dtype limit what is asked about dtypes; values have --op.")
    recorder = find_value_recorder(framework, mode)
    asked = list(value_questions(recorder.scope.forms, recorder.dtypes, limits.ops))
    on_question, recorded = _progress(len(asked)), []
    with recorder.session():
        for question in asked:
            if on_question is not None:
                on_question(question)
            answer = ask_values(recorder, question)
            if answer is not None:
                recorded.append(Cell(*question, answer))
    return value_header(recorder), recorded, len(asked)


def ask_values(recorder: ValueRecorder, question: GridQuestion) -> str | None:
    """What the framework computes, or None where it refuses or fails for another reason."""
    try:
        operands = [recorder.hold(read_held(notation)) for notation in question.operands]
        if question.op == CAST:
            result = recorder.cast(operands[0], question.form.removeprefix("to="))
        else:
            result = recorder.compute(question.op, question.form, operands)
    except Exception as error:  # whatever a framework raises is an answer to judge
        if recorder.is_division_by_zero(error):
            return ZERO_DIVISION
        return OUT_OF_RANGE if recorder.classify(error) == OUT_OF_RANGE else None
    held = recorder.held_by(result)
    return None if held is None else str(held)


def _progress(total: int) -> Callable[[GridQuestion], None] | None:
    """A line on the terminal that counts the questions; None where nobody would see it."""
    if not sys.stderr.isatty():
        return None
    asked = 0

    def show(question: GridQuestion) -> None:
        nonlocal asked
        asked += 1
        if asked % _EVERY == 0 or asked == total:
            end = "\n" if asked == total else ""
            sys.stderr.write(f"\r{asked / total:4.0%}  {asked} of {total}  {question.op:24}{end}")
            sys.stderr.flush()

    return show


if __name__ == "__main__":
    main()
