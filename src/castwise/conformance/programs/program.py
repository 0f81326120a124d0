"""What a program is: steps on named arrays, written down without a word of any framework."""

from __future__ import annotations

from types import EllipsisType
from typing import NamedTuple

from castwise.conformance.values.notation import Held

# The steps that are not ops of the vocabulary.
MAKE, ALIAS, INDEX, ASSIGN, CAST = "make", "alias", "index", "assign", "cast"
WRITING = ("augmented", "inplace", "assigned")  # forms in which an array may change

Operand = str | Held  # a name, or the number or array itself
KeyPart = int | slice | EllipsisType | None | Held


class Step(NamedTuple):
    """One line of a program.

    >>> Step("c", "add", "operator", ("a", "b")).names
    ('a', 'b')
    """

    name: str  # what the result is bound to, or the array that is written into
    op: str
    form: str = "function"  # function, operator, augmented, inplace or assigned
    operands: tuple[Operand, ...] = ()
    key: tuple[KeyPart, ...] = ()  # of an index or an assignment
    axis: int | None = None
    keeps_axis: bool = False
    dtype: str = ""  # of a cast
    instead: Held | None = None  # what the name holds where the framework gives nothing

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its operands."""
        return tuple(operand for operand in self.operands if isinstance(operand, str))

    @property
    def is_writing(self) -> bool:
        """Whether it may change an array that has other names too."""
        return self.form in WRITING


Program = tuple[Step, ...]


def made(name: str, held: Held) -> Step:
    """The step that makes an array."""
    return Step(name, MAKE, operands=(held,), instead=held)


def signature(step: Step) -> str:
    """The operands without what arrays hold, as cells have them.

    >>> signature(Step("b", "add", operands=(Held("int8", (2,), (1, 2)), Held(None, (), (300,)))))
    'int8[2];300'
    """
    return ";".join(map(_described, step.operands))


def _described(operand: Operand) -> str:
    if isinstance(operand, str) or operand.dtype is None:
        return str(operand)
    return f"{operand.dtype}[{','.join(map(str, operand.shape))}]"
