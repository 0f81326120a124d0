"""What was seen of a program besides its operations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class HeldState:
    """Arrays of one name and dtype that an optimizer keeps from step to step."""

    mark: int  # of the line of its step
    owner: str  # the optimizer's type
    name: str
    dtype: str
    arrays: int
    elements: int


@dataclass(frozen=True, slots=True)
class Beyond:
    """What was seen besides operations."""

    states: tuple[HeldState, ...] = ()

    @property
    def marks(self) -> set[int]:
        """The marks of its sites."""
        return {state.mark for state in self.states}


def together(parts: Iterable[Beyond]) -> Beyond:
    """What several processes have seen."""
    found = list(parts)
    names = [field.name for field in fields(Beyond)]
    return Beyond(**{n: tuple(o for part in found for o in getattr(part, n)) for n in names})
