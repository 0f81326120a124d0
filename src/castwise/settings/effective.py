"""The value of each key here, and where it comes from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from castwise.errors import UsageError
from castwise.rules.catalog import dialect_named
from castwise.rules.default import VARIABLE
from castwise.settings.keys import KEYS, Key
from castwise.settings.project import Project, directories, project_of

DEFAULT, IN_FILE, ENVIRONMENT = "default", "file", "environment"
_OF_ENVIRONMENT = {"dialect": VARIABLE}


class Setting(NamedTuple):
    """A key with its value."""

    key: Key
    value: Any
    source: str  # DEFAULT, IN_FILE or ENVIRONMENT
    variable: str = ""  # that of the environment it comes from


class Settings(NamedTuple):
    """All keys, the file that has some of them, and where it was looked for."""

    file: Path | None
    looked_in: tuple[Path, ...]
    settings: tuple[Setting, ...]


def settings_of(start: Path) -> Settings:
    """The settings in a directory.

    Raises UsageError for a file or a variable that makes no sense.
    """
    project = project_of(start)
    found = tuple([_setting(key, project) for key in KEYS.values()])
    return Settings(project.file if project else None, directories(start), found)


def chosen_dialect(start: Path) -> str | None:
    """The dialect of a command that names none: that of the environment, or of the file.

    Raises UsageError for a file or a variable that makes no sense.
    """
    if os.environ.get(VARIABLE):
        return str(_setting(KEYS["dialect"], None).value)
    found = _setting(KEYS["dialect"], project_of(start)).value
    return None if found is None else str(found)


def _setting(key: Key, project: Project | None) -> Setting:
    variable = _OF_ENVIRONMENT.get(key.name, "")
    if value := os.environ.get(variable):
        found = Setting(key, value, ENVIRONMENT, variable)
    elif project and key.name in project.values:
        found = Setting(key, project.values[key.name], IN_FILE)
    else:
        return Setting(key, key.default, DEFAULT)
    if key.name == "dialect":
        _check_dialect(found, project)
    return found


def _check_dialect(setting: Setting, project: Project | None) -> None:
    try:
        dialect_named(setting.value)
    except UsageError as error:
        of_file = f"{project.file}: dialect" if project else ""
        where = f"the environment variable {setting.variable}" if setting.variable else of_file
        raise UsageError(f"{where}: {error}") from None
