"""How a decision reports its steps, where a caller wants them."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], None] | None  # takes one sentence per step
