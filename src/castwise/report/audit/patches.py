"""Fixes in files: as a diff, and what was written."""

from __future__ import annotations

import difflib
import io
import os
import tokenize
from collections.abc import Sequence

from castwise.auditing.fixing.writing import Patch, Unpatched
from castwise.report.amounts import counted
from castwise.report.terminal.colour import Paint, plain

_STYLES = {"-": "refused", "+": "float", "@": "faint"}
_NO_END = "\\ No newline at end of file\n"


def diff_text(patch: Patch, paint: Paint = plain) -> str:
    """A patch as `patch -p1` and `git apply` take it, if the file is below this directory."""
    before, after = (_lines(content) for content in (patch.before, patch.after))
    name = _name(patch.file)
    old, new = (f"a/{name}", f"b/{name}") if not os.path.isabs(name) else (name, name)
    lines = list(difflib.unified_diff(before, after, old, new))
    return "".join(_line(line, paint, is_head=n < 2) for n, line in enumerate(lines))


def _line(line: str, paint: Paint, *, is_head: bool) -> str:
    text, end = (line[:-1], "\n") if line.endswith("\n") else (line, f"\n{_NO_END}")
    style = "title" if is_head else _STYLES.get(line[:1])
    return (paint(text, style) if style else text) + end


def _lines(content: bytes) -> list[str]:
    """The lines with their ends, so that a diff keeps them."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    text = content.decode("utf-8" if encoding == "utf-8-sig" else encoding, "replace")
    return list(io.StringIO(text, newline="\n"))


def written_text(written: Sequence[Patch]) -> str:
    """Which files were written, and where."""
    if not written:
        return "No fix was written."
    fixes = counted(sum(len(patch.fixes) for patch in written), "fix", "es")
    lines = [f"Wrote {fixes} to {counted(len(written), 'file')}:"]
    for patch in written:
        numbers = ", ".join(str(n) for n in sorted({fix.place.line for fix in patch.fixes}))
        lines.append(f"  {_name(patch.file)}: {'lines' if ',' in numbers else 'line'} {numbers}")
    return "\n".join(lines)


def refused_text(refused: Sequence[Unpatched]) -> str:
    """Which files stay as they are, and why."""
    return "\n".join(f"{_name(file)} stays as it is: {why}." for file, why in refused)


def _name(file: str) -> str:
    near = os.path.relpath(file)
    return file if near.startswith("..") else near
