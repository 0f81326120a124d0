"""Defaults for a command's options, from [tool.castwise] in pyproject.toml."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from castwise.errors import UsageError, did_you_mean

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE = "pyproject.toml"
_TABLE = "castwise"
_OF_ONE_RUN = frozenset(
    {"write-baseline", "no-config", "fix", "diff"}
)  # these would make no sense as defaults


class ConfiguredCommand(click.Command):
    """A command whose options have their defaults in [tool.castwise]; the command line wins."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the file first, unless --no-config or --help is given."""
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        help_option = self.get_help_option(ctx)
        is_help = help_option is not None and given.get(str(help_option.name))
        if not given.get("no_config") and not is_help:
            ctx.default_map = _defaults(self, given)
        return super().parse_args(ctx, args)


no_config_option = click.option(
    "--no-config",
    is_flag=True,
    expose_value=False,
    help="Ignore [tool.castwise] in pyproject.toml.",
)


def _defaults(command: click.Command, given: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of a command's parameters, by their names."""
    found = _configuration(Path.cwd())
    if found is None:
        return {}
    file, table = found
    options = {
        name.removeprefix("--"): option
        for option in command.params
        if isinstance(option, click.Option)
        for name in option.opts
        if name.startswith("--")
    }
    known = {name: option for name, option in options.items() if name not in _OF_ONE_RUN}
    defaults = {}
    for key, value in table.items():
        if key not in known:
            raise UsageError(f"{file}: [tool.{_TABLE}] has no key {key!r}."
                             f"{did_you_mean(key, known)} Keys: {', '.join(known)}.")  # fmt: skip
        defaults[str(known[key].name)] = _value(known[key], value, f"{file}: {key}", file.parent)
    if given.get("write_baseline"):
        defaults.pop("baseline", None)  # the file is about to be written, and may not exist yet
    return defaults


def _configuration(start: Path) -> tuple[Path, dict[str, Any]] | None:
    """The nearest pyproject.toml, from a directory upwards, that has the table, with the table."""
    for directory in (start, *start.parents):
        file = directory / _FILE
        if not file.is_file():
            continue
        try:
            tool = tomllib.loads(file.read_text(encoding="utf-8")).get("tool")
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{file} is not TOML: {error}. --no-config ignores it.") from None
        table = tool.get(_TABLE) if isinstance(tool, dict) else None
        if isinstance(table, dict):
            return file, table
    return None


def _value(option: click.Option, value: Any, where: str, directory: Path) -> Any:
    """A value as click takes it; file names are relative to the file that names them."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{where} takes true or false, not {value!r}.")
        return value
    if option.multiple:
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(part, str) for part in values):
            raise UsageError(f"{where} takes a text or a list of texts, not {value!r}.")
        return values
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"{where} takes one value, not {value!r}.")
    return str(directory / str(value)) if isinstance(option.type, click.Path) else value
