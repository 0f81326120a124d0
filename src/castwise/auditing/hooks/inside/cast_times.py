"""How long casts take on a GPU: PyTorch's CUDA events around them, for which nothing waits."""

from __future__ import annotations

from typing import Any

from castwise.auditing.noting.log import LOG, Tally

_MOST_PENDING = 4096
_MILLISECONDS = 1000


class CastTimes:
    """Pairs of events around casts; a pair counts once the GPU has passed it."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._pending: list[tuple[Tally, Any, Any]] = []

    def begin(self, tensor: Any) -> Any:
        """An event before a cast; None if the tensor is not on a GPU, or if a graph of kernels is
        being captured, which would contain the event."""
        try:
            # Not cuda.is_available(): asking may start CUDA, and a process that forks must not.
            if not tensor.is_cuda or self._cuda.is_current_stream_capturing():
                return None
            return self._recorded()
        except Exception as error:
            LOG.failed(error)
            return None

    def end(self, began: Any) -> Any:
        """An event after a cast that was just started; None if there was none before it."""
        return None if began is None else self._recorded()

    def add(self, tally: Tally, began: Any, ended: Any) -> None:
        """Adds the time between two events to a tally as soon as it is known."""
        self._pending.append((tally, began, ended))
        if len(self._pending) > _MOST_PENDING:
            self.settle()

    def settle(self) -> None:
        """Adds up the casts that the GPU has finished."""
        pending, self._pending = self._pending, []
        for tally, began, ended in pending:
            if ended.query():
                tally.seconds += began.elapsed_time(ended) / _MILLISECONDS
            else:
                self._pending.append((tally, began, ended))

    def _recorded(self) -> Any:
        event = self._cuda.Event(enable_timing=True)
        event.record()
        return event
