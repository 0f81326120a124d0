"""Options of castwise written after the program, which gets them."""

from __future__ import annotations

from collections.abc import Sequence

import click


def misplaced_note(command: click.Command, program: Sequence[str]) -> str | None:
    """A sentence on the program's arguments that are also options of castwise, or None."""
    own = {name for option in command.params for name in option.opts if name.startswith("--")}
    script, *arguments = program
    if "--" in arguments:
        arguments = arguments[: arguments.index("--")]
    given = [argument.partition("=")[0] for argument in arguments]
    names = " ".join(dict.fromkeys(name for name in given if name in own))
    if not names:
        return None
    return (f"Note: {names} after {script} went to the program. Options of castwise stand before "
            f"it: castwise {command.name} {names} ... {script}")  # fmt: skip
