"""Everything seen of a program, as its processes leave it."""

from __future__ import annotations

from dataclasses import dataclass, field

from castwise.auditing.records.beyond import Beyond
from castwise.auditing.records.crashes import Crash
from castwise.auditing.records.events import Event
from castwise.auditing.records.losses import SeenLoss
from castwise.auditing.records.places import LocatedSite, UnobservedFunction
from castwise.showing import counted, line_of


@dataclass(frozen=True, slots=True)
class Counts:
    """What is only counted."""

    plain: int = 0  # operations inside libraries whose arrays were all of one dtype
    quiet: int = 0  # sites no longer observed, because they only saw plain numbers
    late: int = 0  # results missed at such sites
    failures: dict[str, int] = field(default_factory=dict)  # the auditor's internal errors


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What ran: the frameworks, and the processes."""

    # framework -> its version and mode, as a dialect is named: torch@2.13.0
    running: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    is_deep: bool = False  # whether what runs inside libraries was watched
    processes: int = 1
    peak_memory: int = 0  # bytes, of the largest process
    checks_values: bool = False  # whether values were looked at
    used_gpu: bool = False
    included: tuple[str, ...] = ()  # the packages asked for of which some source was audited
    compares: bool = False  # whether compiled functions also ran without their compilers

    @property
    def dialects(self) -> dict[str, str]:
        """Framework -> the recorded dialect that answers for it."""
        # Imported here: a program under audit loads no rules.
        from castwise.loaded.dialects import nearest_on_gpu, nearest_recorded

        nearest = nearest_on_gpu if self.used_gpu else nearest_recorded
        return {name: nearest(found).dialect.name for name, found in self.running.items()}


@dataclass(frozen=True, slots=True, repr=False)
class Seen:
    """Everything seen of a program."""

    events: tuple[Event, ...] = ()
    inside: tuple[Event, ...] = ()  # those inside libraries and in backward
    attempts: tuple[Event, ...] = ()  # operations that were refused before they ran
    losses: tuple[SeenLoss, ...] = ()  # values that were lost, if they were checked
    sites: dict[int, LocatedSite] = field(default_factory=dict)  # by mark
    files: tuple[str, ...] = ()  # whose source was observed
    unobserved: tuple[UnobservedFunction, ...] = ()
    counts: Counts = field(default_factory=Counts)
    facts: RunFacts = field(default_factory=RunFacts)
    digests: dict[str, str] = field(default_factory=dict)  # of the files, as they were read
    crashes: tuple[Crash, ...] = ()  # errors that ended its processes
    beyond: Beyond = field(default_factory=Beyond)

    def __repr__(self) -> str:
        return line_of("Seen", counted(len(self.events), "event"), counted(len(self.files), "file"))

    def site(self, event: Event) -> LocatedSite:
        """Where an event happened."""
        return self.sites[event.mark]
