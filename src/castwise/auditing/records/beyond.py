"""What was seen of a program besides its operations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

DIFFERS = "compiled-differs"  # accepted by --fail-on and comments, next to the hazards


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
class AutocastOp:
    """An op that ran while autocast was on, and that is on one of its lists."""

    mark: int
    module: str  # the path of the module that ran it, "" outside modules
    op: str
    rule: str  # the list it is on
    autocast: str  # the dtype of lower precision
    device: str
    changes: tuple[str, ...]  # the casts of its operands, such as "float32 -> bfloat16"
    result: str  # its dtype
    count: int
    casts: int
    bytes: int  # of the copies


@dataclass(frozen=True, slots=True)
class RepeatedCast:
    """An array that autocast cast more than once."""

    mark: int
    name: str  # its path, if a module holds it
    source: str
    target: str
    shape: tuple[int, ...]
    casts: int
    blocks: int  # in how many autocast blocks
    is_cached: bool  # the framework keeps its copy until the block ends


@dataclass(frozen=True, slots=True)
class SeenArgument:
    """An argument of a compiled function, or a part of one, as its compiler sees it."""

    place: str  # of the argument: its position or keyword
    label: str  # its parameter, and the path within it
    dtype: str  # "static": a part of the program
    is_weak: bool
    shape: tuple[int, ...]
    number: str = ""  # the value of a Python number
    is_scalar: bool = False  # a scalar object, such as a NumPy scalar
    maker: int = 0  # the mark of the site that made it, 0 if unknown


@dataclass(frozen=True, slots=True)
class Compilation:
    """A call for which a function was compiled."""

    mark: int
    function: str
    file: str  # where it is defined, "" if unknown
    line: int
    arguments: tuple[SeenArgument, ...]


@dataclass(frozen=True, slots=True)
class CompiledDifference:
    """What a compiled function gives otherwise than the function itself."""

    what: str  # which of its results, or the operation that one of the two refuses
    plain: str  # the dtype without the compiler; "" if it raises an error
    compiled: str  # the dtype of the compiled function; "" if it raises an error
    file: str = ""  # the line from which on they differ, "" if unknown
    line: int = 0
    error: str = ""  # the first line of what one of them raised


@dataclass(frozen=True, slots=True)
class ComparedCompilation:
    """A compiled function that also ran without its compiler, on the same arguments."""

    compiler: str
    function: str
    file: str  # where it is defined, "" if unknown
    line: int
    differences: tuple[CompiledDifference, ...] = ()
    skipped: str = ""  # why it did not run without its compiler


@dataclass(frozen=True, slots=True)
class Beyond:
    """What was seen besides operations."""

    states: tuple[HeldState, ...] = ()
    autocast_ops: tuple[AutocastOp, ...] = ()
    repeats: tuple[RepeatedCast, ...] = ()
    compilations: tuple[Compilation, ...] = ()
    compared: tuple[ComparedCompilation, ...] = ()

    @property
    def marks(self) -> set[int]:
        """The marks of its sites."""
        of_autocast = {o.mark for o in self.autocast_ops} | {r.mark for r in self.repeats}
        compiled = {c.mark for c in self.compilations}
        compiled |= {a.maker for c in self.compilations for a in c.arguments if a.maker}
        return of_autocast | compiled | {state.mark for state in self.states}


def together(parts: Iterable[Beyond]) -> Beyond:
    """What several processes have seen."""
    found = list(parts)
    names = [field.name for field in fields(Beyond)]
    return Beyond(**{n: tuple(o for part in found for o in getattr(part, n)) for n in names})
