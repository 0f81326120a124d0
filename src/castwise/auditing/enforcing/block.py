"""A scope that lasts as long as a block of the program."""

from __future__ import annotations

from types import FrameType, TracebackType
from typing import TypeVar

from castwise.auditing.enforcing.instrumented import refuse_if_blind
from castwise.auditing.noting.log import Log, PendingOperation
from castwise.auditing.observing import switching
from castwise.auditing.observing.modes import enter_modes, leave_modes

Entered = TypeVar("Entered", bound="Block")


class Block:
    """A context manager that watches its thread or task while it is entered."""

    name: str  # the name users know it by
    log: Log | None
    is_checking: bool

    def check(self, pending: PendingOperation, frame: FrameType) -> None:
        """Judges an operation that is about to run."""
        raise NotImplementedError

    def __enter__(self: Entered) -> Entered:
        refuse_if_blind(self.name, for_checks=self.is_checking)
        switching.enter(self)
        enter_modes()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        leave_modes()
        switching.leave(self)
