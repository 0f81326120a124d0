"""What a transformation changes, for the terminal, as JSON and as a page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from castwise.compare.through import KINDS, Difference, ThroughComparison
from castwise.conformance.recorder import Cell
from castwise.conformance.through.asking import FAILED
from castwise.conformance.values.apart import Apart, first_apart
from castwise.conformance.values.notation import read_held, written
from castwise.report.amounts import counted
from castwise.report.look.card import folded_html, paragraph, table_html
from castwise.report.look.page import page
from castwise.report.terminal.colour import Paint, plain
from castwise.report.verify.text import answer_words, question_text

_EXAMPLES = 2  # of each op
_REASONS = 3  # of each op, where it fails for several
_VALUES = re.compile(r"=[^\[]*\[")  # what an array in notation holds
_NAMES = re.compile(r"'[^']*'|\([^)]*\)|\d+")  # what tells errors apart that say the same


def through_text(found: ThroughComparison, paint: Paint = plain) -> str:
    """How many answers differ, and the differences by kind and op, with a line to paste each."""
    lines = sentences(found)
    for kind, differences in by_kind(found.differences).items():
        lines += ["", f"{paint(kind.capitalize(), 'title')}: {KINDS[kind]}."]
        for op, some in by_op(differences).items():
            lines.append(f"{len(some):7,}  {op}")
            for one in _examples(some):
                lines += _example(found, one, paint)
    if found.imports and any(one.line for one in found.differences):
        lines += ["", "The lines need:", *[f"    {line}" for line in found.imports.splitlines()]]
    return "\n".join(lines)


def sentences(found: ThroughComparison) -> list[str]:
    """What was asked, and how many answers differ."""
    installed = ", ".join(
        f"{found.framework if part == 'version' else part} {version}"
        for part, version in found.versions.items()
    )
    count = len(found.differences)
    first = f"{found.framework} through {found.through}, beside {found.framework} itself."
    told = f"{count:,} of {found.asked:,} answers differ."
    if not count:
        told = f"All {found.asked:,} answers agree."
    if found.left_out:
        told += f" {counted(found.left_out, 'question')} cannot be asked so."
    return [first, f"Installed: {installed}.", told]


def by_kind(differences: Iterable[Difference]) -> dict[str, list[Difference]]:
    """The differences of each kind, in the order of KINDS."""
    grouped: dict[str, list[Difference]] = {kind: [] for kind in KINDS}
    for one in differences:
        grouped[one.kind].append(one)
    return {kind: some for kind, some in grouped.items() if some}


def by_op(differences: Iterable[Difference]) -> dict[str, list[Difference]]:
    """The differences of each op, the op with the most first."""
    grouped: dict[str, list[Difference]] = {}
    for one in differences:
        grouped.setdefault(one.found.question.op, []).append(one)
    return dict(sorted(grouped.items(), key=lambda item: -len(item[1])))


def _examples(differences: Iterable[Difference]) -> list[Difference]:
    """Some differences of an op: those that say the same thing only once, if there are others."""
    said: dict[str, Difference] = {}
    again = []
    for one in differences:
        reason = _NAMES.sub("", one.found.error) or one.found.question.form
        if said.setdefault(reason, one) is not one:
            again.append(one)
    return [*said.values(), *again][: max(_EXAMPLES, min(len(said), _REASONS))]


def _example(found: ThroughComparison, one: Difference, paint: Paint) -> list[str]:
    plain, answer = _answers(one)
    answers = f"{found.framework}: {plain}, {found.through}: {paint(answer, 'refused')}"
    lines = [f"         {_question(one)}", f"           {answers}{_more(one)}"]
    return [*lines, *([f"           {one.line}"] if one.line else [])]


def _question(one: Difference) -> str:
    """The question, without the values that its operands hold."""
    op, form, operands = one.found.question
    return question_text(Cell(op, form, tuple(_VALUES.sub("[", o) for o in operands), ""))


def _answers(one: Difference) -> tuple[str, str]:
    """What the framework and the transformed function answer, with its error where it has no
    dtype, and with all dtypes where it declares another than it has."""
    apart = _apart(one)
    if apart:
        return written(apart.one), written(apart.other)
    plain, answer = (_VALUES.sub("[", text) for text in (one.found.plain, one.found.answer))
    if one.found.dtypes:
        return answer_words(plain), _declared(one.found.dtypes)
    word = answer.replace(f"{FAILED}:", "fails with ") if FAILED in answer else answer_words(answer)
    return answer_words(plain), f"{word} ({one.found.error})" if one.found.error else word


def _more(one: Difference) -> str:
    """Of which numbers values differ, in how many elements and how far."""
    apart = _apart(one)
    if apart is None:
        return ""
    numbers = f" of {', '.join(map(written, apart.operands))}" if apart.operands else ""
    return (
        f"{numbers}; {counted(apart.differing, 'element')} of the result, {far_words(apart.ulps)}"
    )


def far_words(ulps: float) -> str:
    """How far apart the numbers of two results are, in words.

    >>> far_words(0), far_words(1), far_words(2500)
    ('in the sign of zero', 'by at most 1 ulp', 'by at most 2,500 ulps')
    """
    if not ulps:
        return "in the sign of zero"
    if math.isinf(ulps):
        return "finite in only one of them"
    return f"by at most {counted(int(ulps), 'ulp')}"


def _apart(one: Difference) -> Apart | None:
    if one.kind != "values":
        return None
    plain, answer = read_held(one.found.plain), read_held(one.found.answer)
    return first_apart(list(map(read_held, one.found.question.operands)), plain, answer)


def _declared(dtypes: tuple[tuple[str, str], ...]) -> str:
    """What a result declares, and what it has where.

    >>> _declared((("declared", "int32"), ("rank 0", "int32"), ("rank 1", "int64")))
    'declares int32, has int32 (rank 0), int64 (rank 1)'
    """
    (_, declared), *parts = dtypes
    places: dict[str, list[str]] = {}
    for where, dtype in parts:
        places.setdefault(dtype, []).append(where)
    has = [f"{answer_words(dtype)} ({', '.join(at)})" for dtype, at in places.items()]
    return f"declares {answer_words(declared)}, has {', '.join(has)}"


def through_json(found: ThroughComparison) -> dict[str, Any]:
    """The comparison as a JSON object, with every difference."""
    return {
        "framework": found.framework,
        "dialect": found.dialect,
        "installed": found.versions,
        "through": found.through,
        "asked": found.asked,
        "left_out": found.left_out,
        "imports": found.imports.splitlines(),
        "differences": [
            {
                "kind": one.kind,
                "op": one.found.question.op,
                "form": one.found.question.form,
                "operands": list(one.found.question.operands),
                "framework": one.found.plain,
                "through": one.found.answer,
                "dtypes": dict(one.found.dtypes),
                "error": one.found.error,
                "line": one.line,
            }
            for one in found.differences
        ],
    }


def through_html(found: ThroughComparison) -> str:
    """The comparison as a page: every difference, by kind and op."""
    parts = [paragraph(line) for line in sentences(found)[1:]]
    for kind, differences in by_kind(found.differences).items():
        parts += [f"<h2>{escape(kind.capitalize())}</h2>", paragraph(f"{KINDS[kind]}.")]
        for op, some in by_op(differences).items():
            heads = ["question", found.framework, found.through, "line"]
            table = table_html(heads, map(_row, some))
            parts.append(folded_html(f"{op}: {counted(len(some), 'answer')}", table))
    return page(f"{found.framework} through {found.through}", *parts)


def _row(one: Difference) -> list[str]:
    texts = (_question(one), *_answers(one))
    line = f"<code>{escape(one.line)}</code>" if one.line else ""
    return [*map(escape, texts), line]
