"""Audits a block: what its thread or task does, as findings or for other dialects."""

from __future__ import annotations

from types import FrameType

from castwise.auditing.accepting.accepted import without_expected
from castwise.auditing.enforcing.block import Block
from castwise.auditing.judging.audited import Audit, audit_of
from castwise.auditing.noting.log import Log, PendingOperation
from castwise.auditing.noting.seen import seen_in
from castwise.auditing.porting.port import Port, port_of
from castwise.auditing.records.findings import Coverage, Finding
from castwise.auditing.records.seen import Seen
from castwise.rules.dialect import Dialect
from castwise.showing import Shown, line_of


def audit() -> AuditLog:
    """Watches what runs in a block.

    `with cw.audit() as log: ...` and then `log.findings`, `log.audit.origins`,
    `log.port("paddle")`.

    It sees this thread or asyncio task: functions under @cw.audited, modules that `castwise audit`,
    `pytest --castwise` or %%audit load, and frameworks with a mode that reports every call. Raises
    UsageError on entry if there is none of these.
    """
    return AuditLog()


class AuditLog(Shown, Block):
    """What was seen in a block; made by audit."""

    name = "cw.audit()"
    is_checking = False

    def __init__(self) -> None:
        self.log: Log | None = Log()

    def __repr__(self) -> str:
        return line_of("AuditLog", self.audit.in_short)

    def check(self, pending: PendingOperation, frame: FrameType) -> None:
        """Refuses nothing."""

    @property
    def seen(self) -> Seen:
        """What was seen so far."""
        assert self.log is not None  # the constructor sets it
        return seen_in(self.log)

    @property
    def audit(self) -> Audit:
        """The findings so far by origin, worst first, with the coverage; those that are expected
        are apart, in `expected`."""
        return without_expected(audit_of(self.seen))

    @property
    def findings(self) -> list[Finding]:
        """The findings so far, without those that are expected."""
        return self.audit.findings

    @property
    def coverage(self) -> Coverage:
        """How much was seen so far."""
        return self.audit.coverage

    def port(self, target: str | Dialect, source: str | Dialect | None = None) -> Port:
        """What the operations seen so far would compute in the dialect `target`. `source` is the
        dialect they are written for: by default the one that ran most of them."""
        return port_of(self.seen, target, source)
