"""What an audit reports beside its findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from castwise.auditing.judging.sections import Sections
from castwise.report.audit.sections.autocast import autocast_json, autocast_lines
from castwise.report.audit.sections.compiled import compiled_json, compiled_lines
from castwise.report.audit.sections.retraces import retrace_lines, retraces_json
from castwise.report.audit.sections.sixteen_bits import sixteen_bits_json, sixteen_bits_lines
from castwise.report.terminal.folding import folded


def section_texts(sections: Sections, width: int = 80) -> Iterator[str]:
    """The sections after the findings, for the terminal."""
    for lines in section_lines(sections):
        yield "\n".join(_line(line, width) for line in lines)


def _line(line: str, width: int) -> str:
    """A line, folded unless it is one of the source."""
    if line.startswith(("     -", "     +")):
        return line
    return folded(line, width, 5 if line[0] == " " else 2)


def section_lines(sections: Sections) -> Iterator[list[str]]:
    """The same, one list of lines per section."""
    for lines in (
        autocast_lines(sections.autocasts),
        retrace_lines(sections.retraces),
        sixteen_bits_lines(sections.sixteen_bits),
        compiled_lines(sections.compared),
    ):
        found = list(lines)
        if found:
            yield found


def sections_json(sections: Sections) -> dict[str, Any]:
    """The same for programs; a section without content is left out."""
    found = {
        "autocast": autocast_json(sections.autocasts),
        "sixteen_bits": sixteen_bits_json(sections.sixteen_bits),
    }
    shown = {name: section for name, section in found.items() if any(section.values())}
    return {
        **shown,
        **({"retraces": retraces_json(sections.retraces)} if sections.retraces else {}),
        **({"compiled": compiled_json(sections.compared)} if sections.compared else {}),
    }
