"""The options of `castwise audit` that are about other dialects: to hold to one, to ask later."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from castwise.auditing.records.runs import EnforcedDialect


class OtherDialects(NamedTuple):
    """What is to be done about other dialects than the one that runs."""

    save: Path | None  # where what was seen goes, for castwise port
    enforce: str | None
    differs: str
    allow: tuple[str, ...]
    enforceable: bool

    @property
    def held(self) -> EnforcedDialect | None:
        """The arguments of the enforcement, None where there is none.

        Raises UsageError where they make no sense.
        """
        from castwise.auditing.enforcing.enforce import held_to

        return held_to(self.enforce, self.differs, self.allow) if self.enforce else None


_OPTIONS = (
    click.option(
        "--save",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write what was seen, for castwise port.",
    ),
    click.option(
        "--enforce",
        metavar="DIALECT",
        help="Raise what it refuses, before it runs; strict: every implicit cast.",
    ),
    click.option(
        "--differs",
        type=click.Choice(["raise", "report"]),
        default="report",
        show_default=True,
        help="What to do where the enforced dialect gives another dtype.",
    ),
    click.option(
        "--allow", multiple=True, metavar="OP|FILE:LINE", help="Let this through --enforce."
    ),
    click.option(
        "--enforceable", is_flag=True, help="Let cw.enforce in the program see its modules."
    ),
)


def other_dialects(command: Callable[..., int]) -> Callable[..., int]:
    """Gives a command these options as one argument, `others`."""

    @functools.wraps(command)
    def collected(**given: Any) -> int:
        own = {name: given.pop(name) for name in OtherDialects._fields}
        return command(others=OtherDialects(**own), **given)

    for option in reversed(_OPTIONS):
        collected = option(collected)
    return collected
