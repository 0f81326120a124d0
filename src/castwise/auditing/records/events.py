"""What was seen of a program: its operations on arrays, each distinct one once, with a count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from castwise.auditing.records.places import CodeSpot

Number: TypeAlias = "bool | int | float"


@dataclass(frozen=True, slots=True)
class SeenNumber:
    """A Python number as an operand."""

    kind: str  # "bool", "int", "float" or "complex"
    low: Number | None  # the lowest value of all runs, None if they have no order
    high: Number | None


@dataclass(frozen=True, slots=True)
class SeenArray:
    """An array as an operand or a result."""

    framework: str
    dtype: str | None  # castwise's name for it; None if unknown to castwise
    is_zero_d: bool
    is_scalar: bool  # a scalar object of the framework, such as a NumPy scalar
    is_traced: bool  # a placeholder while a function is traced
    is_weak: bool
    maker: int  # the mark of the site that made it, 0 if unknown
    shape: tuple[int, ...] | None  # in the first run
    low: Number | None = None  # of a 0-d array, if its value is free to read
    high: Number | None = None
    # The framework's own names of its dtypes, if castwise's name does not say it: of a column that
    # may miss values, or of columns of several dtypes.
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SeenList:
    """A list or tuple of arrays, or of numbers, as one argument."""

    elements: tuple[SeenOperand | None, ...]


# None stands for an operand that is neither an array nor a number.
SeenOperand: TypeAlias = "SeenArray | SeenNumber | SeenList"
Operands: TypeAlias = "tuple[SeenOperand | None, ...]"


@dataclass(frozen=True, slots=True)
class SeenCall:
    """What was called, and how its arguments were given."""

    module: str  # the top-level module of the callee
    name: str
    is_method: bool
    gives_dtype: bool  # dtype= was given
    dtype: str | None  # castwise's name for it; None if only the framework knows
    is_complete: bool  # False: some arguments could not be seen, or are functions
    positional: int  # how many of the operands are positional arguments
    keywords: tuple[str, ...]  # the names of the other operands
    hides: bool = False  # an object that takes part may hold arrays or name a dtype
    returns: str = ""  # the type of a result that is a number, a text, or a list of arrays


@dataclass(frozen=True, slots=True)
class SeenInside:
    """How the program reached an operation that the user's source does not name."""

    backward_of: str  # the operation whose gradient it computes, "" in forward
    autocast: str  # the autocast dtype, "" if autocast was off or does not matter
    spot: CodeSpot | None  # the innermost Python expression; None in backward


@dataclass(frozen=True, slots=True)
class Event:
    """An operation at a site with one signature, over all its runs."""

    mark: int  # of its site
    operands: Operands
    count: int
    elements: int  # of all results together
    result: SeenArray | None = None
    call: SeenCall | None = None  # None: an operator
    inside: SeenInside | None = None  # None: it is in the user's source
    allowed: tuple[str, ...] = ()  # hazards that a test's marker allows
    alive: int = 0  # the most bytes of its results at one time, if it casts to new arrays
    seconds: float = 0.0  # on the device, if measured

    @property
    def arrays(self) -> list[SeenArray]:
        """The input and output arrays."""
        return arrays_in((*self.operands, self.result))


def arrays_in(operands: Iterable[SeenOperand | None]) -> list[SeenArray]:
    """The arrays among operands, those in lists included."""
    found: list[SeenArray] = []
    for operand in operands:
        if isinstance(operand, SeenList):
            found += arrays_in(operand.elements)
        elif isinstance(operand, SeenArray):
            found.append(operand)
    return found
