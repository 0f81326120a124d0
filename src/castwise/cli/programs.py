"""The options of `castwise verify` that are about random programs."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from castwise.errors import UsageError
from castwise.report.terminal.colour import paint_for_stdout
from castwise.report.terminal.printing import echo_json

if TYPE_CHECKING:
    from castwise.compare.programs.checking import Budget

_AMOUNT = re.compile(r"(\d+)(s|m)?")
_SECONDS = {"s": 1, "m": 60}


class Programs(NamedTuple):
    """What to run, and on what."""

    amount: str
    seed: int
    backends: tuple[str, ...]  # none: every one that is installed


_OPTIONS = (
    click.option(
        "--programs", "amount", metavar="60s|500",
        help="Run random programs, so long or so many, instead of asking.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Which programs."),
    click.option(
        "--backend", "backends", multiple=True, metavar="NAME",
        help="What computes the programs; by default every one that is installed.",
    ),
)  # fmt: skip


def program_options(command: Callable[..., int]) -> Callable[..., int]:
    """Gives a command these options as one argument, `programs`; None without --programs."""

    @functools.wraps(command)
    def collected(**given: Any) -> int:
        chosen = Programs(*(given.pop(name) for name in Programs._fields))
        if not chosen.amount and (chosen.seed or chosen.backends):
            raise UsageError("--seed and --backend are about programs: add --programs 60s.")
        return command(programs=chosen if chosen.amount else None, **given)

    for option in reversed(_OPTIONS):
        collected = option(collected)
    return collected


def verify_programs(dialect: str, programs: Programs, *, as_json: bool) -> int:
    """Runs the programs and prints what they found; the exit status of the command."""
    from castwise.compare.programs.checking import check_programs, speaker_for
    from castwise.report.terminal.progress import progress_to
    from castwise.report.verify.programs import checked_json, checked_text
    from castwise.rules.catalog import dialect_named

    budget = budget_of(programs.amount)
    spoken = dialect_named(dialect)
    speaker = speaker_for(spoken)
    backends = programs.backends or installed_backends()
    with progress_to(f"Running programs in {speaker.name}", budget.total) as on_progress:
        found = check_programs(spoken, speaker, backends, budget, programs.seed, on_progress)
    if as_json:
        echo_json(checked_json(found))
    else:
        click.echo(checked_text(found, paint_for_stdout()))
    return int(bool(found.unlisted))


def budget_of(amount: str) -> Budget:
    """How many programs, or for how long.

    >>> budget_of("2m")
    Budget(programs=None, seconds=120)

    Raises UsageError where it is neither.
    """
    from castwise.compare.programs.checking import Budget

    read = _AMOUNT.fullmatch(amount)
    if read is None or not int(read[1]):
        raise UsageError(f"--programs takes a time, 60s or 5m, or a count, 500; not {amount!r}.")
    number, unit = int(read[1]), read[2]
    return Budget(seconds=number * _SECONDS[unit]) if unit else Budget(programs=number)


def installed_backends() -> tuple[str, ...]:
    """The backends whose libraries are installed here."""
    from castwise.execute.backend import backend_named
    from castwise.execute.backends import EAGER

    found = []
    for name in EAGER:
        try:
            backend_named(name)
        except UsageError:
            continue
        found.append(name)
    return tuple(found)
