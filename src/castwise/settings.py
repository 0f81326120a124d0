"""The settings of a project: the keys of [tool.castwise], and the value that each has here."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from castwise.catalog import VARIABLE, dialect_named
from castwise.errors import UsageError, did_you_mean

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# What a key takes, and how to say so.
TEXT, TEXTS, FLAG, FILE, AMOUNT = "a text", "a list of texts", "true or false", "a file", "a size"


class Key(NamedTuple):
    """A key, and the commands whose default it is. Others leave it alone."""

    name: str
    takes: str
    commands: tuple[str, ...]
    about: str
    default: str | bool | int | tuple[str, ...] | None = None


_AUDIT = ("audit",)
ASKING = ("explain", "resolve", "table", "lattice")  # the commands that are about one dialect

KEYS = {
    key.name: key
    for key in (
        Key("include", TEXTS, ("audit", "port"), "packages to audit too", ()),
        Key("dialect", TEXT, ASKING, "the dialect of a command that names none"),
        Key("target", TEXT, _AUDIT, "what the program is meant to compute in"),
        Key("fail-on", TEXTS, _AUDIT, "hazards that make an audit fail; any is every finding", ()),
        Key("ignore", TEXTS, _AUDIT, "hazards that are accepted everywhere", ()),
        Key("baseline", FILE, _AUDIT, "the file with the findings that are accepted"),
        Key("min-bytes", AMOUNT, _AUDIT, "findings with smaller results are hidden", 0),
        Key("all", FLAG, _AUDIT, "whether expected casts are listed too", False),
        Key("deep", FLAG, _AUDIT, "whether libraries and backward passes are audited", False),
        Key("check-values", FLAG, _AUDIT, "whether lost values are looked for", False),
        Key("compiled", FLAG, _AUDIT, "whether compiled functions run uncompiled, too", False),
        Key("try-fixes", FLAG, _AUDIT, "whether fixes are tried in further runs", False),
        Key("json", FILE, _AUDIT, "where the findings go as JSON"),
        Key("sarif", FILE, _AUDIT, "where the findings go as SARIF"),
        Key("html", FILE, _AUDIT, "where the findings go as a web page"),
        Key("save", FILE, _AUDIT, "where the operations go for castwise port"),
        Key("enforce", TEXT, _AUDIT, "the dialect whose refusals are raised"),
        Key("differs", TEXT, _AUDIT, "raise or report, where it gives another dtype", "report"),
        Key("allow", TEXTS, _AUDIT, "ops and lines that are not enforced", ()),
        Key("enforceable", FLAG, _AUDIT, "whether cw.enforce checks imported modules", False),
    )
}

# The file of a project that has [tool.castwise], and the values in it, checked.

FILE_NAME = "pyproject.toml"
TABLE = "castwise"


class Project(NamedTuple):
    """The file of a project, and its values by key."""

    file: Path
    values: Mapping[str, Any]


def _directories(start: Path) -> tuple[Path, ...]:
    """Where the file is looked for: a directory and those above it, the nearest first."""
    return (start, *start.parents)


def find_project(start: Path) -> Project | None:
    """The nearest file, from a directory upwards, that has the table; None without one.

    Raises UsageError that names the file for an unknown key, a value of the wrong type, or a file
    that is not TOML.
    """
    for directory in _directories(start):
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


# The value of each key, and where it comes from.

DEFAULT, IN_FILE, ENVIRONMENT = "default", "file", "environment"
_VARIABLES = {"dialect": VARIABLE}  # key -> the environment variable that wins over the file


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


def project_settings(start: Path) -> Settings:
    """The settings in a directory.

    Raises UsageError for a file or a variable that makes no sense.
    """
    project = find_project(start)
    found = tuple([_setting(key, project) for key in KEYS.values()])
    return Settings(project.file if project else None, _directories(start), found)


def command_dialect(start: Path) -> str | None:
    """The dialect of a command that names none: that of the environment, or of the file.

    Raises UsageError for a file or a variable that makes no sense.
    """
    project = None if os.environ.get(VARIABLE) else find_project(start)
    found = _setting(KEYS["dialect"], project).value
    return None if found is None else str(found)


def _setting(key: Key, project: Project | None) -> Setting:
    variable = _VARIABLES.get(key.name, "")
    if value := os.environ.get(variable):
        found = Setting(key, value, ENVIRONMENT, variable)
        where = f"the environment variable {variable}"
    elif project and key.name in project.values:
        found = Setting(key, project.values[key.name], IN_FILE)
        where = f"{project.file}: {key.name}"
    else:
        return Setting(key, key.default, DEFAULT)
    if key.name == "dialect":
        try:
            dialect_named(found.value)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
    return found
