"""The file of a project that has [tool.castwise], and the values in it, checked."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from castwise.errors import UsageError, did_you_mean
from castwise.settings.keys import AMOUNT, FILE, FLAG, KEYS, TEXTS, Key

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = "pyproject.toml"
TABLE = "castwise"


class Project(NamedTuple):
    """The file of a project, and its values by key."""

    file: Path
    values: Mapping[str, Any]


def directories(start: Path) -> tuple[Path, ...]:
    """Where the file is looked for: a directory and those above it, the nearest first."""
    return (start, *start.parents)


def project_of(start: Path) -> Project | None:
    """The nearest file, from a directory upwards, that has the table; None without one.

    Raises UsageError that names the file for an unknown key, a value of the wrong type, or a file
    that is not TOML.
    """
    for directory in directories(start):
        file = directory / FILE_NAME
        if file.is_file() and (table := _table(file)) is not None:
            return Project(file, {key: _checked(file, key, value) for key, value in table.items()})
    return None


def _table(file: Path) -> dict[str, Any] | None:
    try:
        text = file.read_text(encoding="utf-8")
        if TABLE not in text:  # most files: reading them further takes longer than a command
            return None
        tool = tomllib.loads(text).get("tool")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is not TOML: {error}. Correct it, or add --no-config to a command"
                         " that runs a program.") from None  # fmt: skip
    table = tool.get(TABLE) if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{file}: tool.{TABLE} is a table of keys, not {table!r}.")
    return table


def _checked(file: Path, name: str, value: Any) -> Any:
    """A value of its key's type; names of files are relative to the file that has them."""
    if name not in KEYS:
        raise UsageError(f"{file}: [tool.{TABLE}] has no key {name!r}.{did_you_mean(name, KEYS)} "
                         f"Keys: {', '.join(KEYS)}.")  # fmt: skip
    wrong = _wrong(KEYS[name], value)
    if wrong:
        raise UsageError(f"{file}: {name} takes {wrong}, not {value!r}.")
    if KEYS[name].takes == TEXTS:
        return tuple(value) if isinstance(value, list) else (value,)
    is_dialect_file = name in ("dialect", "enforce") and value.endswith(".toml")
    is_file = KEYS[name].takes == FILE or is_dialect_file
    return str(file.parent / value) if is_file else value


def _wrong(key: Key, value: Any) -> str | None:
    """What a key takes, where the value is something else."""
    if key.takes == FLAG:
        return None if isinstance(value, bool) else key.takes
    if key.takes == TEXTS:
        values = value if isinstance(value, list) else [value]
        return None if all(isinstance(v, str) for v in values) else f"a text or {key.takes}"
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return "one value"
    if isinstance(value, str) or (key.takes == AMOUNT and isinstance(value, int)):
        return None
    return key.takes
