"""Defaults for a command's options, from [tool.castwise] in pyproject.toml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from castwise.errors import UsageError
from castwise.settings.keys import KEYS
from castwise.settings.project import Project, project_of


class ConfiguredCommand(click.Command):
    """A command whose options have their defaults in [tool.castwise]; the command line wins."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the file first, unless --no-config or --help is given."""
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        help_option = self.get_help_option(ctx)
        is_help = help_option is not None and given.get(str(help_option.name))
        is_off = given.get("no_config") or is_help
        project = None if is_off else project_of(Path.cwd())
        if project is None:
            return super().parse_args(ctx, args)
        ctx.default_map = _defaults(self, given, project)
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            raise _with_file(error, ctx, project) from None


no_config_option = click.option(
    "--no-config",
    is_flag=True,
    expose_value=False,
    help="Ignore [tool.castwise] in pyproject.toml.",
)


def _defaults(command: click.Command, given: Mapping[str, Any], project: Project) -> dict[str, Any]:
    """The defaults of a command's parameters, by their names. It leaves keys of others alone."""
    own = {key: v for key, v in project.values.items() if command.name in KEYS[key].commands}
    defaults = {_parameter(command, key): value for key, value in own.items()}
    if given.get("write_baseline"):
        defaults.pop("baseline", None)  # the file is about to be written, and may not exist yet
    return defaults


def _parameter(command: click.Command, key: str) -> str:
    (name,) = [option.name for option in command.params if f"--{key}" in option.opts]
    return str(name)


def _with_file(error: click.BadParameter, ctx: click.Context, project: Project) -> Exception:
    """An error about a value of the file names the file; one about an argument stays as it is."""
    name = error.param.name if error.param else None
    if name is None or ctx.get_parameter_source(name) is not ParameterSource.DEFAULT_MAP:
        return error
    (key,) = [key for key in project.values if f"--{key}" in error.param.opts]  # type: ignore[union-attr]
    return UsageError(f"{project.file}: {key}: {error.message}")
