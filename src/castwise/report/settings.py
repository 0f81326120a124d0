"""The settings of a project: `castwise config`."""

from __future__ import annotations

import textwrap
from typing import Any

from castwise.report.terminal.colour import Paint, plain
from castwise.settings.effective import DEFAULT, Setting, Settings
from castwise.settings.project import FILE_NAME, TABLE

_UNSET = "-"


def settings_json(found: Settings) -> dict[str, Any]:
    """The file, where it was looked for, and every key."""
    return {
        "file": str(found.file) if found.file else None,
        "looked_in": [str(directory) for directory in found.looked_in],
        "keys": {setting.key.name: _key_json(setting) for setting in found.settings},
    }


def _key_json(setting: Setting) -> dict[str, Any]:
    key = setting.key
    return {
        "value": list(setting.value) if isinstance(setting.value, tuple) else setting.value,
        "source": setting.source,
        **({"variable": setting.variable} if setting.variable else {}),
        "takes": key.takes,
        "commands": list(key.commands),
        "about": key.about,
    }


def settings_text(found: Settings, paint: Paint = plain, width: int = 80) -> str:
    """The file, the keys that someone chose a value for, and the others with their defaults."""
    chosen = [s for s in found.settings if s.source != DEFAULT]
    rest = [s for s in found.settings if s.source == DEFAULT]
    blocks = [file_text(found, width)]
    if chosen:
        rows = [
            (s.key.name, _value_text(s.value), f"from {s.variable or 'the file'}") for s in chosen
        ]
        blocks.append("\n".join(_aligned(rows, paint)))
    rows = [(s.key.name, _value_text(s.value), s.key.about) for s in rest]
    blocks.append("\n".join([paint("Keys with their defaults", "title"), *_aligned(rows, paint)]))
    return "\n\n".join(blocks)


def _aligned(rows: list[tuple[str, str, str]], paint: Paint) -> list[str]:
    names, values = (max([len(row[n]) for row in rows], default=0) + 2 for n in (0, 1))
    return [
        f"  {paint(name.ljust(names), 'title')}{value:{values}}{paint(rest, 'faint')}"
        for name, value, rest in rows
    ]


def file_text(found: Settings, width: int) -> str:
    """A sentence on the file that has the settings, or where there is none."""
    if found.file:
        return f"Settings: [tool.{TABLE}] in {found.file}"  # on one line: a path can be copied
    nearest, *above = found.looked_in
    also = " or a directory above it" if above else ""
    said = f"No settings: no {FILE_NAME} in {nearest}{also} has the table [tool.{TABLE}]."
    return "\n".join(textwrap.wrap(said, width, break_long_words=False, break_on_hyphens=False))


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value) or _UNSET
    return _UNSET if value is None else str(value)
