"""One side of a comparison: something that runs steps, and tells what came of them."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import CodeType
from typing import Any, NamedTuple, Protocol, cast

from castwise.conformance.programs import speakers
from castwise.conformance.programs.program import Step
from castwise.conformance.programs.spelling import Language, statement
from castwise.conformance.values.notation import Held


class Menu(NamedTuple):
    """What programs may be made of, for a framework."""

    dtypes: tuple[str, ...]
    forms: Mapping[str, tuple[str, ...]]  # by op; an op the framework lacks is not there
    literals: tuple[str, ...]  # Python numbers, out of range too
    along_axes: Sequence[str]  # the reductions that take an axis
    need_axes: Sequence[str]  # the ops that take nothing else
    has_axis_of_0d: bool = False  # 0-d arrays take the axis -1 too
    has_assignment: bool = True
    has_array_keys: bool = True  # masks, and arrays of places
    is_left_out: Callable[[Step], bool] | None = None  # a step that would end the process


class Raised(NamedTuple):
    """An error, and whether it does not answer the question."""

    error: Exception
    is_no_answer: bool = False

    def __str__(self) -> str:
        first = str(self.error).strip().partition("\n")[0]
        return f"{type(self.error).__name__}: {first}" if first else type(self.error).__name__


class Speaker(Language, Protocol):
    """A framework, or castwise in its place, that runs steps."""

    prelude: str  # the imports the source needs

    def session(self) -> AbstractContextManager[None]:
        """The settings the steps run under, undone at its end."""

    def bound(self, result: Any) -> Any:
        """What a name is bound to where a step gave this."""

    def read(self, array: Any) -> Held | None:
        """What an array holds, a weak one's dtype with a star; None of anything else."""

    def is_no_answer(self, error: Exception) -> bool:
        """Whether an error refuses nothing: a kernel is missing, or a call is written otherwise."""


class Framework(Speaker, Protocol):
    """A framework's own speaker."""

    name: str
    dialect: str
    menu: Menu

    def handed(self, held: Held) -> str:
        """An array that castwise reads as a weak one, because it cannot make one itself."""

    def versions(self) -> dict[str, str]:
        """The versions the answers depend on."""


class Side:
    """The names of a program and what they are bound to, on one side."""

    def __init__(self, speaker: Speaker) -> None:
        self.speaker = speaker
        self._names: dict[str, Any] = dict(_imported(speaker.prelude))

    def run(self, step: Step) -> Held | Raised | None:
        """What a step's name holds afterwards, or what it raised; None where it is no array."""
        try:
            exec(_compiled(statement(self.speaker, step)), self._names)
            self._names[step.name] = self.speaker.bound(self._names[step.name])
            return self.read(step.name)
        except Exception as error:  # whatever is raised is an answer to judge
            return Raised(error, self.speaker.is_no_answer(error))

    def has(self, name: str) -> bool:
        """Whether a name is bound."""
        return name in self._names

    def read(self, name: str) -> Held | None:
        """What a name holds."""
        return self.speaker.read(self._names[name])


@functools.lru_cache(maxsize=4096)
def _compiled(source: str) -> CodeType:
    return compile(source, "<step>", "exec")


@functools.cache
def _imported(prelude: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(prelude, names)
    return names


def spoken_frameworks() -> tuple[str, ...]:
    """The frameworks in which programs can run, installed or not."""
    return tuple(file.name for file in pkgutil.iter_modules(speakers.__path__))


def find_speaker(framework: str, mode: str = "") -> Framework:
    """The speaker of a framework in a mode.

    Raises ImportError where it is not installed, ValueError where no programs run in it.
    """
    known = spoken_frameworks()
    if framework not in known:
        raise ValueError(f"no programs run in {framework!r}, only in {', '.join(known)}.")
    module = importlib.import_module(f"{speakers.__name__}.{framework}")
    return cast(Framework, module.speaker(mode))
