"""What a transformation changes, for the terminal, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from castwise.compare.through import KINDS, Difference, ThroughComparison
from castwise.conformance.recorder import Cell
from castwise.conformance.through.asking import FAILED
from castwise.report.amounts import counted
from castwise.report.look.card import folded_html, paragraph, table_html
from castwise.report.look.page import page
from castwise.report.terminal.colour import Paint, plain
from castwise.report.verify.text import answer_words, question_text

_EXAMPLES = 2  # of each op


def through_text(found: ThroughComparison, paint: Paint = plain) -> str:
    """How many answers differ, and the differences by kind and op, with a line to paste each."""
    lines = sentences(found)
    for kind, differences in by_kind(found.differences).items():
        lines += ["", f"{paint(kind.capitalize(), 'title')}: {KINDS[kind]}."]
        for op, some in by_op(differences).items():
            lines.append(f"{len(some):7,}  {op}")
            for one in some[:_EXAMPLES]:
                lines += _example(found, one, paint)
    if found.imports and found.differences:
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
    if not count:
        return [first, f"Installed: {installed}.", f"All {found.asked:,} answers agree."]
    told = f"{count:,} of {found.asked:,} answers differ."
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


def _example(found: ThroughComparison, one: Difference, paint: Paint) -> list[str]:
    question = question_text(Cell(*one.found.question, one.found.plain))
    answers = f"{found.framework}: {answer_words(one.found.plain)}"
    through = f"{found.through}: {paint(_answer(one), 'refused')}"
    lines = [f"         {question}", f"           {answers}, {through}"]
    return [*lines, *([f"           {one.line}"] if one.line else [])]


def _answer(one: Difference) -> str:
    """What the transformed function answers, with its error where it has no dtype, and with all
    dtypes where it declares another than it has."""
    if one.found.dtypes:
        return _declared(one.found.dtypes)
    answer = one.found.answer
    word = answer.replace(f"{FAILED}:", "fails with ") if FAILED in answer else answer_words(answer)
    return f"{word} ({one.found.error})" if one.found.error else word


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
    question = question_text(Cell(*one.found.question, one.found.plain))
    texts = (question, answer_words(one.found.plain), _answer(one))
    line = f"<code>{escape(one.line)}</code>" if one.line else ""
    return [*map(escape, texts), line]
