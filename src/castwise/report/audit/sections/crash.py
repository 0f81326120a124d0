"""Why a program ended with an error about dtypes."""

from __future__ import annotations

from castwise.auditing.fixing.applying import fixed_lines
from castwise.auditing.judging.crashes import ExplainedCrash
from castwise.auditing.rewriting.source import lines_at
from castwise.report.amounts import place_text
from castwise.report.terminal.colour import Paint, plain
from castwise.report.terminal.folding import folded

_MARGIN = " " * 3
_MOST_LINES = 6  # of a message


def crash_text(crash: ExplainedCrash, paint: Paint = plain, width: int = 80) -> str:
    """What raised the error, why, and what to write."""
    lines = [paint(f"The program ended at {place_text(crash.place)}: a dtype error.", "title")]
    lines += [folded(s, width, len(_MARGIN), _MARGIN) for s in crash_sentences(crash)]
    lines.append("")
    if crash.fix is None:
        lines += [f"{_MARGIN}  {line}" for line in lines_at(crash.place)]
        return "\n".join(lines)
    lines += [paint(f"{_MARGIN}- {line}", "refused") for line in lines_at(crash.fix.place)]
    new = fixed_lines(crash.fix)
    lines += [paint(f"{_MARGIN}+ {line}", "float") for line in new]
    return "\n".join(lines)


def crash_sentences(crash: ExplainedCrash) -> list[str]:
    """The same in sentences, without the source."""
    inside = f", inside {crash.inside}" if crash.inside else ""
    if crash.why:
        sentences = [f"{crash.operation}{inside} is refused in {crash.dialect}: {crash.why}."]
    else:
        sentences = [f"{crash.operation}{inside}: castwise has no rule for it."]
        if not crash.operation:
            sentences = [f"Raised{inside}."] if inside else []
    if crash.advice:
        sentences.append(crash.advice)
    if crash.fix:
        sentences.append(f"What to write: {crash.fix.does}, {crash.result}.")
    return [*_message(crash), *sentences]


def _message(crash: ExplainedCrash) -> list[str]:
    """The framework's own words: their first line if castwise explains them."""
    lines = [line.strip() for line in crash.error.splitlines() if line.strip()]
    return lines[: 1 if crash.why else _MOST_LINES]
