"""The result of a verification as a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from castwise.compare.verify import Drift, Verification
from castwise.report.amounts import counted
from castwise.report.look.card import folded_html, paragraph, table_html
from castwise.report.look.page import page
from castwise.report.verify.text import (
    answer_words,
    by_op,
    kernels_sentence,
    question_text,
    sentences,
)


def verification_html(found: Verification) -> str:
    """The page: whether all answers agree, and every answer that differs, op by op."""
    kernels = [paragraph(kernels_sentence(found))] if found.kernels else []
    return page(
        f"{found.dialect.name} and {found.framework}",
        *map(paragraph, sentences(found)),
        *_of_ops(found, found.drift),
        *kernels,
        *_of_ops(found, found.kernels),
    )


def _of_ops(found: Verification, drift: Iterable[Drift]) -> Iterator[str]:
    for op, drifted in by_op(drift).items():
        heads = ["question", found.framework, "castwise"]
        table = table_html(heads, map(_row, drifted))
        yield folded_html(f"{op}: {counted(len(drifted), 'answer')}", table)


def _row(drift: Drift) -> list[str]:
    answers = map(answer_words, (drift.cell.answer, drift.answer))
    return [escape(text) for text in (question_text(drift.cell), *answers)]
