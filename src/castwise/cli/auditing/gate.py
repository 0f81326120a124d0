"""A run that audited nothing fails, because a gate on it would pass whatever the program does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from castwise.auditing.records.beyond import DIFFERS
from castwise.auditing.records.losses import LOST
from castwise.cli.statuses import WRONG_USAGE
from castwise.errors import UsageError

if TYPE_CHECKING:
    from castwise.auditing.judging.audited import Audit
    from castwise.auditing.records.runs import Options
    from castwise.auditing.records.seen import Seen

_INCLUDE = "--include"


def check_include(include: Sequence[str], command: Sequence[str]) -> None:
    """Raises UsageError for a package that the command's program cannot import; before it runs,
    because a run may take hours."""
    from castwise.auditing.running.packages import check_found, check_names

    if not include:
        return
    check_names(include, _INCLUDE)
    check_found(include, _INCLUDE, [_place_of(command)])


def check_value_options(options: Options, is_enforcing: bool, hazards: Sequence[str]) -> None:
    """Raises UsageError for options that --check-values does not go with, or that need it or
    --compiled."""
    if options.checks_values and is_enforcing:
        raise UsageError("--check-values does not work together with --enforce and --enforceable.")
    if LOST in hazards and not options.checks_values:
        raise UsageError(f"--fail-on {LOST} needs --check-values.")
    if DIFFERS in hazards and not options.compares:
        raise UsageError(f"--fail-on {DIFFERS} needs --compiled.")


def _place_of(command: Sequence[str]) -> str:
    """The directory that Python puts first on the path of a program."""
    is_module = command[0] == "-m"
    return os.getcwd() if is_module else os.path.dirname(os.path.abspath(command[0]))


def with_include(status: int, seen: Seen, include: Sequence[str], command: Sequence[str]) -> int:
    """The exit status of a command: its own, or that of wrong usage if a package that was asked for
    was not audited. A program that failed may not have come that far, and a package named in
    pyproject.toml need not be used by every program of a project."""
    from castwise.auditing.running.packages import reasons_not_audited

    source = click.get_current_context().get_parameter_source("include")
    if status or source is not ParameterSource.COMMANDLINE:
        return status
    return _failed(status, reasons_not_audited(include, _INCLUDE, seen, [_place_of(command)]))


def with_gate(status: int, audit: Audit, hazards: Sequence[str]) -> int:
    """The exit status: the given one, or that of wrong usage if --fail-on judged no operation."""
    is_empty = bool(hazards) and not status and not _has_seen(audit)
    return _failed(status, [_nothing(hazards)] if is_empty else [])


def _has_seen(audit: Audit) -> bool:
    of_libraries = audit.inside.seen if audit.inside else 0
    return bool(audit.coverage.seen or audit.coverage.not_understood or of_libraries)


def _nothing(hazards: Sequence[str]) -> str:
    return (f"--fail-on {','.join(hazards)} had nothing to judge: no operation on arrays was seen. "
            "If an installed package computes, name it: --include PACKAGE.")  # fmt: skip


def _failed(status: int, reasons: Sequence[str]) -> int:
    for reason in reasons:
        click.echo(f"\ncastwise: {reason}", err=True)
    return status or (WRONG_USAGE if reasons else 0)
