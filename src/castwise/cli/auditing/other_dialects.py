"""The options of `castwise audit` for other dialects: enforce one now, or ask one later."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from castwise.cli.completing import complete_dialects, complete_ops

if TYPE_CHECKING:
    from castwise.auditing.records.runs import EnforcedDialect


class OtherDialects(NamedTuple):
    """What to do with dialects other than the one that runs."""

    save: Path | None  # the file for castwise port
    enforce: str | None
    differs: str
    allow: tuple[str, ...]
    enforceable: bool

    @property
    def enforced(self) -> EnforcedDialect | None:
        """The arguments of the enforcement, or None without --enforce.

        Raises UsageError if they make no sense.
        """
        from castwise.auditing.enforcing.enforce import enforced_dialect

        if not self.enforce:
            return None
        return enforced_dialect(self.enforce, self.differs, self.allow)


_OPTIONS = (
    click.option(
        "--save",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write the recorded operations to a file for castwise port.",
    ),
    click.option(
        "--enforce",
        metavar="DIALECT",
        shell_complete=complete_dialects,
        help="Raise an error before an operation that this dialect refuses. "
        "`strict` refuses every implicit cast.",
    ),
    click.option(
        "--differs",
        type=click.Choice(["raise", "report"]),
        default="report",
        show_default=True,
        help="What to do if the enforced dialect gives another dtype.",
    ),
    click.option(
        "--allow",
        multiple=True,
        metavar="OP|FILE:LINE",
        shell_complete=complete_ops,
        help="Do not enforce this op, or this line. Can be repeated.",
    ),
    click.option(
        "--enforceable",
        is_flag=True,
        help="Let cw.enforce inside the program also check the modules it imports.",
    ),
)


def other_dialects(command: Callable[..., int]) -> Callable[..., int]:
    """Adds these options to a command as one argument, `others`."""

    @functools.wraps(command)
    def collected(**given: Any) -> int:
        own = {name: given.pop(name) for name in OtherDialects._fields}
        return command(others=OtherDialects(**own), **given)

    for option in reversed(_OPTIONS):
        collected = option(collected)
    return collected
