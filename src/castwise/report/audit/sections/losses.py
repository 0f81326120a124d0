"""The values that a program lost, for every kind of report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from castwise.auditing.judging.losses import LostValues
from castwise.auditing.rewriting.source import columns_of
from castwise.report.amounts import counted, place_text
from castwise.report.terminal.colour import Paint
from castwise.report.terminal.folding import folded

_MOST = 20  # lines in a short report


def losses_summary(losses: tuple[LostValues, ...]) -> str:
    """The values that were lost, in a sentence."""
    if not losses:
        return "No values were lost, where castwise looked at them."
    lost = counted(sum(loss.lost for loss in losses), "value")
    lines = counted(len({(loss.place.file, loss.place.line) for loss in losses}), "line")
    return f"{lost} lost, on {lines}."


def losses_text(losses: tuple[LostValues, ...], paint: Paint, width: int) -> str:
    """The values that were lost, one operation per line."""
    lines = [paint("Lost values", "title"), folded(losses_summary(losses), width, 2, "  ")]
    for loss in losses[:_MOST]:
        text = f"{place_text(loss.place)}: {sentence(loss)}"
        lines.append(folded(text, width, 4, "  "))
    if len(losses) > _MOST:
        lines.append(f"  and {len(losses) - _MOST:,} more: --json FILE lists them all")
    return "\n".join(lines)


def sentence(loss: LostValues) -> str:
    """What an operation lost."""
    times = f", in {loss.count:,} runs" if loss.count > 1 else ""
    share = f"{loss.lost:,} of {counted(loss.elements, 'element')} {loss.how}"
    return f"{loss.what}: {share}{times}, such as {loss.example}"


def losses_html(losses: Iterable[LostValues]) -> Iterator[str]:
    """A table of them."""
    yield "<h2>Lost values</h2>"
    rows = [
        f"<tr><td>{escape(place_text(loss.place))}</td>"
        f"<td>{escape(loss.code)}</td><td>{escape(sentence(loss))}</td></tr>"
        for loss in losses
    ]
    yield f'<div class="wide"><table><tbody>{"".join(rows)}</tbody></table></div>'


def losses_json(losses: Iterable[LostValues]) -> list[dict[str, Any]]:
    """A JSON object for each."""
    return [
        {
            "file": loss.place.file,
            "line": loss.place.line,
            "column": columns_of(loss.place)[0],
            "code": loss.code,
            "operation": loss.what,
            "how": loss.how,
            "count": loss.count,
            "lost": loss.lost,
            "elements": loss.elements,
            "example": loss.example,
        }
        for loss in losses
    ]
