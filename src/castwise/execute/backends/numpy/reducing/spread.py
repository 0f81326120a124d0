"""The squared distances from the mean, which a variance adds."""

from __future__ import annotations

from typing import Any

import numpy as np

from castwise.execute.backends.numpy.reducing.memory import Runs, Subtracted


class Squares:
    """The squared distances of elements from their means, read in runs."""

    def __init__(self, runs: Runs, means: Any, shape: tuple[int, ...]) -> None:
        self.order = runs.order
        self._runs = runs
        self._means = Subtracted(np.broadcast_to(means, shape), runs)

    def read(self, start: int, stop: int) -> Any:
        """The squares from one place to another, computed as NumPy's own variance does."""
        away = self._runs.read(start, stop)
        self._means.subtract_from(away, start)
        if away.dtype.kind != "c":
            return np.square(away, out=away)
        parts = away.view(away.real.dtype).reshape(-1, 2)
        np.square(parts, out=parts)
        return np.add(parts[:, 0], parts[:, 1])
