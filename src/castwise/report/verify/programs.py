"""The result of random programs, for the terminal and as JSON."""

from __future__ import annotations

from typing import Any

from castwise.compare.programs.checking import CauseGroup, Checked
from castwise.report.terminal.colour import Paint, plain

_FORMS = {
    "function": "",
    "operator": " as an operator",
    "augmented": " by augmented assignment",
    "inplace": " in place",
    "assigned": "",
}


def checked_text(found: Checked, paint: Paint = plain) -> str:
    """The versions, how many steps differ on each backend, and each cause with a line to paste."""
    installed = ", ".join(
        f"{found.framework if part == 'version' else part} {version}"
        for part, version in found.versions.items()
    )
    lines = [
        f"Installed: {installed}.",
        f"{found.programs:,} programs of {found.dialect.name} from seed {found.seed}.",
        *[_rate(found, backend) for backend in found.backends],
    ]
    unlisted = found.unlisted
    for group in unlisted:
        lines += ["", *_group_lines(found, group, paint)]
    listed = [group for group in found.by_count() if group.reason]
    if listed:
        lines += ["", "Known differences, with their reasons:"]
        lines += [f"{group.count:7,}  {_title(group)}: {group.reason}" for group in listed]
    if unlisted:
        first = found.preludes[unlisted[0].cause.backend]
        lines += ["", f"Before pasting: {'; '.join(first.splitlines())}"]
    return "\n".join(lines)


def _rate(found: Checked, backend: str) -> str:
    steps, differ = found.steps[backend], found.differing(backend)
    rate = differ / steps if steps else 0.0
    return f"On {backend}: {steps:,} steps compared, {differ:,} differ ({rate:.2%})."


def _title(group: CauseGroup) -> str:
    cause = group.cause
    return f"{cause.op}{_FORMS[cause.form]} on {cause.backend}, {cause.what}"


def _group_lines(found: Checked, group: CauseGroup, paint: Paint) -> list[str]:
    example = group.example
    width = max(len(found.framework), len("castwise")) + 1
    rows = [
        (found.framework, example.framework, example.expected, plain),
        ("castwise", example.castwise, example.computed, paint),
    ]
    lines = [f"{group.count:7,}  {paint(_title(group), 'title')}"]
    for name, source, outcome, style in rows:
        lines += [
            f"         {name + ':':{width}} {source}",
            f"         {'':{width}} -> {style(outcome, 'refused')}",
        ]
    return lines


def checked_json(found: Checked) -> dict[str, Any]:
    """The same as a JSON object."""
    return {
        "dialect": found.dialect.name,
        "framework": found.framework,
        "installed": found.versions,
        "seed": found.seed,
        "programs": found.programs,
        "backends": {
            name: {
                "steps": found.steps[name],
                "differing": found.differing(name),
                "imports": found.preludes[name],
            }
            for name in found.backends
        },
        "causes": [_group_json(group) for group in found.by_count()],
    }


def _group_json(group: CauseGroup) -> dict[str, Any]:
    example = group.example
    return {
        **group.cause._asdict(),
        "count": group.count,
        "reason": group.reason or None,
        "framework": {"source": example.framework, "answer": example.expected},
        "castwise": {"source": example.castwise, "answer": example.computed},
    }
