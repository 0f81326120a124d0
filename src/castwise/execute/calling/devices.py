"""Checks that the arrays of a declared op are on one device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.errors import UsageError
from castwise.vocab.ops import Op


def check_devices(row: Op, arrays: Sequence[Any]) -> None:
    """Raises UsageError if a declared op that wants one device is given arrays of two.

    Castwise's own ops are left to the backend, which knows what it can bring together. A number has
    no device, nor does an array that does not say where it is.
    """
    if row.family != "declared" or not row.same_device:
        return
    found = dict.fromkeys(str(a.device) for a in arrays if getattr(a, "device", None) is not None)
    if len(found) > 1:
        first, second = list(found)[:2]
        raise UsageError(
            f"{row.name} got arrays on {first} and on {second}: move them to one device, or "
            "declare it with same_device=False."
        )
