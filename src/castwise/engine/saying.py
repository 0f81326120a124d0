"""How a decision tells its steps, where somebody listens."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], None] | None  # takes one sentence per step
