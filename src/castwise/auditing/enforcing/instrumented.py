"""Checks that a scope has something to observe."""

from __future__ import annotations

from castwise.auditing.hook import all_hooks
from castwise.auditing.noting.callees import has_observed
from castwise.auditing.observing.modes import available_modes
from castwise.auditing.running.loading import CHECKED
from castwise.errors import UsageError


def refuse_if_blind(name: str, *, for_checks: bool) -> None:
    """Raises UsageError, with advice, if a scope would see nothing."""
    if available_modes() or has_observed(only_functions=for_checks) or (for_checks and CHECKED):
        return
    option = "--enforceable " if for_checks else ""
    watched = " or ".join(hook.framework for hook in all_hooks() if hook.watching.mode)
    raise UsageError(
        f"{name} would see nothing here: no module was loaded for it. Run the program with "
        f"`castwise audit {option}script.py`, the tests with `pytest --castwise PACKAGE`, or put "
        f"@cw.audited on the function. Otherwise only {watched} is watched, once it is imported."
    )
