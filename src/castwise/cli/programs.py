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
    """What to run, and on which backends."""

    amount: str
    seed: int
    backends: tuple[str, ...]  # empty: every installed one


_OPTIONS = (
    click.option(
        "--programs", "amount", metavar="60s|500",
        help="Run random programs for this long, or this many of them.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="The programs' seed."),
    click.option(
        "--backend", "backends", multiple=True, metavar="NAME",
        help="The backend that runs the programs. Default: every installed one.",
    ),
)  # fmt: skip


def program_options(command: Callable[..., int]) -> Callable[..., int]:
    """Adds these options to a command as one argument, `programs`: None without --programs."""

    @functools.wraps(command)
    def collected(**given: Any) -> int:
        chosen = Programs(*(given.pop(name) for name in Programs._fields))
        if not chosen.amount and (chosen.seed or chosen.backends):
            raise UsageError("--seed and --backend need --programs: add --programs 60s.")
        return command(programs=chosen if chosen.amount else None, **given)

    for option in reversed(_OPTIONS):
        collected = option(collected)
    return collected


def verify_programs(dialect: str, programs: Programs, *, as_json: bool) -> int:
    """Runs the programs, prints what they found and returns the command's exit status."""
    from castwise.compare.programs.checking import check_programs, speaker_for
    from castwise.report.terminal.progress import progress_to
    from castwise.report.verify.programs import checked_json, checked_text
    from castwise.rules.catalog import dialect_named

    budget = budget_of(programs.amount)
    chosen = dialect_named(dialect)
    speaker = speaker_for(chosen)
    backends = programs.backends or installed_backends()
    with progress_to(f"Running programs in {speaker.name}", budget.total) as on_progress:
        found = check_programs(chosen, speaker, backends, budget, programs.seed, on_progress)
    if as_json:
        echo_json(checked_json(found))
    else:
        click.echo(checked_text(found, paint_for_stdout()))
    return int(bool(found.unlisted))


def budget_of(amount: str) -> Budget:
    """How many programs, or for how long.

    >>> budget_of("2m")
    Budget(programs=None, seconds=120)

    Raises UsageError if it is neither.
    """
    from castwise.compare.programs.checking import Budget

    read = _AMOUNT.fullmatch(amount)
    if read is None or not int(read[1]):
        raise UsageError(f"--programs takes a time (60s, 5m) or a count (500), not {amount!r}.")
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
