"""Checks that the arrays of a declared op are on one device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.errors import UsageError
from castwise.vocab.ops import Op


def check_devices(row: Op, arrays: Sequence[Any]) -> None:
    """Raises UsageError if a declared op that needs one device gets arrays on two.

    castwise's own ops are left to the backend, which knows what it can combine. Numbers have no
    device, and neither do arrays that do not name one.
    """
    if row.family != "declared" or not row.switches.same_device:
        return
    found = dict.fromkeys(str(a.device) for a in arrays if getattr(a, "device", None) is not None)
    if len(found) > 1:
        first, second = list(found)[:2]
        raise UsageError(
            f"{row.name} got arrays on {first} and on {second}: move them to one device, or "
            "declare it with same_device=False."
        )
